"""CUDA kernels of released engines, compiled from their sources, behind doors that call them on a device.

Rows come from the CPU and go to the device inside each function. Coins are drawn by torch, so that the gate scripts
them, and are arguments of the kernels. Each .cu file here is a C interface of a kernel.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from draftproof.declare import door
from draftproof.engines import Missing

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Kernel:
    """What a library is compiled from.

    file       in this folder
    includes   folders of the sources that have the headers
    defines    names that are defined for it
    """

    file: str
    includes: tuple[str, ...]
    defines: tuple[str, ...] = ()


FLASHINFER = "flashinfer/include"
KERNELS = {
    "sglang_tree": Kernel("sglang_tree.cu", (FLASHINFER, "sglang/sglang/kernels/jit/include")),
    "flashinfer_chain_coins": Kernel("flashinfer_chain.cu", (FLASHINFER,), ("DRAFTPROOF_COINS",)),
    "flashinfer_chain": Kernel("flashinfer_chain.cu", (FLASHINFER,)),
}


def compiler() -> str:
    """nvcc. Raises: Missing."""
    for place in (os.environ.get("CUDACXX"), shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
        if place and Path(place).is_file():
            return place
    raise Missing("no nvcc to compile kernels with")


def architecture() -> str:
    """That of torch's device, as in sm_90."""
    import torch

    return "sm_{}{}".format(*torch.cuda.get_device_capability()) if torch.cuda.is_available() else "sm_90"


def build(name: str, sources: Path) -> Path:
    """The library of a kernel beside its sources; one of the same file, defines and architecture is kept. Raises:
    Missing."""
    kernel, wanted = KERNELS[name], architecture()
    made_of = (FOLDER / kernel.file).read_bytes() + repr((kernel, wanted)).encode()
    result = sources / f"{name}-{hashlib.sha256(made_of).hexdigest()[:12]}.so"
    if result.is_file():
        return result
    lacking = [one for one in kernel.includes if not (sources / one).is_dir()]
    if lacking:
        raise Missing(f"{name}: no folder {lacking[0]} in {sources}")
    part = result.with_suffix(f".{os.getpid()}.part")
    command = [compiler(), f"-arch={wanted}", "-O2", "-std=c++20", "-shared", "-Xcompiler", "-fPIC"]
    command += ["--compress-mode=size", "-Xlinker", "-s", "-cudart", "static", *(f"-D{one}" for one in kernel.defines)]
    command += [f"-I{sources / one}" for one in kernel.includes]
    said = subprocess.run([*command, str(FOLDER / kernel.file), "-o", str(part)], capture_output=True, text=True)
    if said.returncode != 0:
        raise Missing(f"{name} does not compile: {(said.stderr or said.stdout).strip()[-400:]}")
    part.replace(result)
    return result


class Library:
    """Kernels as functions of tensors, on torch's current stream."""

    def __init__(self, path: Path) -> None:
        self._functions = ctypes.CDLL(str(path))

    def call(self, name: str, *given: Any) -> None:
        """Tensors must be contiguous, and are given by their addresses. Raises: RuntimeError with a status of CUDA."""
        import torch

        def as_c(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                if not value.is_contiguous():
                    raise RuntimeError(f"{name}: found a tensor of strides {value.stride()}, wanted a contiguous one")
                return ctypes.c_void_p(value.data_ptr())
            return ctypes.c_float(value) if isinstance(value, float) else value

        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        status = getattr(self._functions, name)(*map(as_c, given), stream)
        if status != 0:
            raise RuntimeError(f"{name}: found status {status} of CUDA, wanted 0")


@dataclass(frozen=True)
class Place:
    """Where kernels run, and where their coins are drawn: names of torch's devices."""

    device: str = "cuda"
    draws: str = "cuda"

    def coins(self, *shape: int) -> Any:
        import torch

        drawn = torch.rand(*shape) if self.draws == "cpu" else torch.rand(*shape, device=self.draws)
        return drawn.to(self.device)

    def picks(self, rows: Any) -> Any:
        """A token of each row [B, V], by its weights."""
        import torch

        return torch.multinomial(rows.to(self.draws), 1)[:, 0].to(self.device)


def links(parents: Any) -> tuple[Any, Any, int]:
    """First child and next sibling of each slot [B, n + 1], -1 for none, and the most depth. Slot 0 is the root, slot
    i + 1 node i, whose parent comes before it."""
    import torch

    b, n = parents.shape
    above, nodes = parents.long() + 1, torch.arange(1, n + 1)

    def first_of(which: Any) -> Any:
        found = torch.where(which, nodes, n + 1).amin(-1)
        return torch.where(found > n, -1, found)

    child = first_of(above[:, None, :] == torch.arange(n + 1)[None, :, None])
    sibling = first_of((above[:, :, None] == above[:, None, :]) & (nodes[:, None] < nodes)[None])
    depth = torch.zeros(b, n + 1, dtype=torch.int64)
    for i in range(n):
        depth[:, i + 1] = depth.gather(1, above[:, i : i + 1])[:, 0] + 1
    none = torch.full((b, 1), -1)
    return child, torch.cat([none, sibling], 1), int(depth.max())


class Tree:
    """The arguments that SGLang's kernels of trees share, and the tokens out of what they write."""

    def __init__(self, p: Any, drafts: Any, parents: Any, place: Place) -> None:
        import torch

        self.batch, self.slots, self.vocabulary = p.shape
        child, sibling, depth = links(parents)
        self.steps = depth + 1
        ints = {"dtype": torch.int32, "device": place.device}
        self.predicts = torch.full((self.batch * self.slots,), -1, **ints)
        self.index_out = torch.full((self.batch, self.steps), -1, **ints)
        self.count = torch.zeros(self.batch, **ints)
        candidates = torch.cat([torch.zeros(self.batch, 1, dtype=torch.int64), drafts.long()], 1)
        index = torch.arange(self.batch * self.slots).reshape(self.batch, self.slots)
        self.inputs = [one.to(place.device).contiguous() for one in (candidates, index, child, sibling)]

    @property
    def first(self) -> list[Any]:
        return [self.predicts, self.index_out, self.count, *self.inputs]

    def tokens(self) -> Any:
        """[B, steps], -1 behind the end."""
        import torch

        predicts, index, count = (one.cpu().long() for one in (self.predicts, self.index_out, self.count))
        tokens = predicts[index.clamp(0, len(predicts) - 1)]
        return torch.where(torch.arange(self.steps)[None] <= count[:, None], tokens, -1)


def tree_sample(library: Any, place: Place, p: Any, drafts: Any, parents: Any) -> Any:
    """A draft is accepted by the sum of its target probability and those of its siblings before it."""
    import torch

    tree = Tree(p, drafts, parents, place)
    target = p.to(place.device).contiguous()
    coins = place.coins(tree.batch, tree.slots)
    last = place.coins(tree.batch)
    sizes = (tree.batch, tree.steps, tree.slots, tree.vocabulary)
    library.call("sglang_tree_sample", *tree.first, coins, last, target, torch.zeros_like(target), *sizes, 1.0, 1.0)
    return tree.tokens()


def sglang_tree(library: Any, place: Place, law: str, name: str) -> Any:
    """Trees of the draft law `law`, whose siblings are distinct."""

    def verify(p: Any, q: Any, drafts: Any, parents: Any) -> Any:
        del q  # the rule asks the target alone
        return tree_sample(library, place, p, drafts, parents)

    return door(verify, drafts=law, level="tree", arrays="torch", batched=True, races=False, name=name)


def sglang_chain(library: Any, place: Place, name: str) -> Any:
    """A chain as a tree of one path."""
    import torch

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        del q
        parents = torch.arange(-1, drafts.shape[1] - 1).expand(len(drafts), -1)
        return tree_sample(library, place, p, drafts, parents)

    return door(verify, arrays="torch", batched=True, races=False, name=name)


def sglang_greedy(library: Any, place: Place, law: str, name: str) -> Any:
    """The kernel for greedy targets: drafts are accepted while they equal the target's token. Here this token is drawn
    from p behind every node, so that the law is p whatever the tree."""

    def verify(p: Any, q: Any, drafts: Any, parents: Any) -> Any:
        del q
        tree = Tree(p, drafts, parents, place)
        chosen = place.picks(p.flatten(0, 1)).reshape(tree.batch, tree.slots).contiguous()
        library.call("sglang_tree_greedy", *tree.first, chosen, tree.batch, tree.steps, tree.slots)
        return tree.tokens()

    return door(verify, drafts=law, level="tree", arrays="torch", batched=True, races=False, name=name)


def flashinfer(
    library: Any, place: Place, seed_of: Callable[[int, int], tuple[Any, int]], replaced: bool, **declared: Any
) -> Any:
    """seed_of(rows, drafts) gives the seed and the offset of the kernel's generator. `replaced`: the token of a row
    whose residual is empty is the target's likeliest one instead of the kernel's, so that all else is judged."""
    import torch

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        b, n = drafts.shape
        ints = {"dtype": torch.int32, "device": place.device}
        tokens = torch.full((b, n + 1), -1, **ints)
        accepted, emitted = torch.zeros(b, **ints), torch.zeros(b, **ints)
        target, draft = (one.to(place.device).contiguous() for one in (p, q))
        seed, offset = seed_of(b, n)
        address = seed.data_ptr() if isinstance(seed, torch.Tensor) else seed
        library.call(
            "flashinfer_chain",
            draft,
            drafts.to(**ints).contiguous(),
            target,
            tokens,
            accepted,
            emitted,
            b,
            n,
            p.shape[-1],
            ctypes.c_uint64(address),
            ctypes.c_uint64(offset),
        )
        found, counts = tokens.cpu().long(), emitted.cpu().long()
        if replaced:
            rows, ends = torch.arange(b), counts.clamp(0, n)
            here = p[rows, ends]
            empty = (counts < n) & ~(here > q[rows, ends.clamp(max=n - 1)]).any(-1)
            found[rows[empty], ends[empty]] = here[empty].argmax(-1)
        kept = (found >= 0).sum(1)
        if bool((kept != counts + 1).any()):
            wrong = int((kept != counts + 1).nonzero()[0])
            raise RuntimeError(f"found tokens {found[wrong].tolist()}, wanted {int(counts[wrong])} drafts and one more")
        return found

    return door(verify, arrays="torch", batched=True, races=False, **declared)


def flashinfer_chain_coins(library: Any, place: Place, name: str, replaced: bool = False) -> Any:
    """The kernel on coins of the gate. Its generator gives uniforms above 0 up to 1, so a coin is 1 - a draw of torch:
    on the grid of 2^-24, where the generator has 1 at 2^-25 and a finer grid near 0."""

    def coins(rows: int, drafts: int) -> tuple[Any, int]:
        # one for each draft, one more for the draft that is rejected, one for the token behind them
        return 1.0 - place.coins(rows, drafts + 2), drafts + 2

    return flashinfer(library, place, coins, replaced, name=name)


def flashinfer_chain(library: Any, place: Place, name: str, replaced: bool = False) -> Any:
    """The kernel with the generator that it was released with, on trials."""
    import torch

    def seed(rows: int, drafts: int) -> tuple[Any, int]:
        del rows, drafts
        return int(torch.randint(2**62, ())), 0

    return flashinfer(library, place, seed, replaced, name=name, scripted=False)
