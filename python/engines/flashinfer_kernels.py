"""FlashInfer on a device: its CUDA kernel of chain verification, compiled from its header.

_flashinfer_chain.cu is a C interface to the kernel, as released or with given coins in place of cuRAND's numbers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import CHAINS, EQUAL, Engine, EngineAdapter, beside

device = beside(__file__, "_device.py")
cuda_library = beside(__file__, "_cuda_library.py")

EMPTY = "the token is uninitialised memory where a rejected draft leaves no residual"
REPLACED = "tokens of empty residuals are replaced by the target's likeliest"


def library(*defines: str) -> Any:
    """Returns the kernel's library, compiled with the defined names. Raises: Missing."""
    device.want_device()
    path = cuda_library.build("_flashinfer_chain.cu", ENGINE.root(), ("flashinfer/data/include",), defines)
    return cuda_library.Library(path)


def verifier(kernels: Any, seed_of: Callable[[int, int], tuple[Any, int]], replaced: bool, **declared: Any) -> Any:
    """Returns a subject of the kernel. seed_of(rows, drafts) returns the seed and the offset of the kernel's generator.
    `replaced`: in a row with an empty residual, the kernel's token is wrong and is replaced by the target's likeliest
    token, so that the gate shows other defects."""
    import torch

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        b, n = drafts.shape
        ints = {"dtype": torch.int32, "device": device.DEVICE}
        tokens = torch.full((b, n + 1), -1, **ints)
        accepted, emitted = torch.zeros(b, **ints), torch.zeros(b, **ints)
        target, draft = (one.to(device.DEVICE).contiguous() for one in (p, q))
        seed, offset = seed_of(b, n)
        address = seed.data_ptr() if isinstance(seed, torch.Tensor) else seed
        kernels.call(
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
            raise RuntimeError(f"got tokens {found[wrong].tolist()}, expected {int(counts[wrong])} drafts and one more")
        return found

    return adapter(verify, arrays="torch", batched=True, races=False, **declared)


def chain_of_coins(replaced: bool) -> Any:
    """Returns a subject of the kernel with coins of the gate. Because cuRAND's uniforms are in (0, 1], a coin is 1
    minus a draw of torch, a multiple of 2^-24. cuRAND returns 1 with probability 2^-25, and has a finer grid near 0."""

    def coins(rows: int, drafts: int) -> tuple[Any, int]:
        # n coins test the n drafts; one more draws the token after a rejection, one more the token after all drafts.
        return 1.0 - device.uniforms(rows, drafts + 2), drafts + 2

    return verifier(library("DRAFTPROOF_COINS"), coins, replaced, name="flashinfer_chain")


def own_generator(replaced: bool) -> Any:
    """Returns a subject of the kernel as released, with cuRAND's numbers, which the gate does not replace."""
    import torch

    def seed(rows: int, drafts: int) -> tuple[Any, int]:
        del rows, drafts
        return int(torch.randint(2**62, ())), 0

    return verifier(library(), seed, replaced, name="flashinfer_own_generator", scripted=False)


ENGINE = Engine(
    packages=("flashinfer_python==0.7.2",),
    adapters=(
        EngineAdapter(
            "chain_replaced",
            lambda: chain_of_coins(True),
            models=6,
            predictions=32,
            instances=CHAINS,
            note=f"coins are given; {REPLACED}",
        ),
        EngineAdapter(
            "own_generator_replaced", lambda: own_generator(True), tiers=("sampled",), note=f"as released; {REPLACED}"
        ),
        EngineAdapter(
            "chain",
            lambda: chain_of_coins(False),
            models=6,
            predictions=32,
            instances=(EQUAL,),
            note=f"coins are given; {EMPTY}",
        ),
        EngineAdapter("own_generator", lambda: own_generator(False), tiers=("sampled",), note=f"as released; {EMPTY}"),
    ),
)
