"""SGLang on a device: its CUDA kernels of trees, compiled from their headers, and its Triton kernel of chains.

Rows come from the CPU and go to the device inside each function. Coins are drawn by torch, so that the gate can replace
them, and are arguments of the kernels. _sglang_tree.cu is a C interface to the CUDA kernels.
"""

from __future__ import annotations

from typing import Any

from draftproof.declare import adapter
from draftproof.engines import CHAINS, Engine, EngineAdapter, beside

device = beside(__file__, "_device.py")
cuda_library = beside(__file__, "_cuda_library.py")
triton_chain = beside(__file__, "_sglang_chain.py")

HEADERS = ("flashinfer/data/include", "sglang/kernels/jit/include")


def library() -> Any:
    """Returns the library of the kernels of trees. Raises: Missing."""
    device.want_device()
    return cuda_library.Library(cuda_library.build("_sglang_tree.cu", ENGINE.root(), HEADERS))


def links(parents: Any) -> tuple[Any, Any, int]:
    """Returns the first child and the next sibling of each slot [B, n + 1], -1 if there is none, and the largest depth.
    Slot 0 is the root; slot i + 1 is node i, which comes after its parent."""
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
    """The arguments that SGLang's kernels of trees share, and the tokens in the arrays that they write."""

    def __init__(self, p: Any, drafts: Any, parents: Any) -> None:
        import torch

        self.batch, self.slots, self.vocabulary = p.shape
        child, sibling, depth = links(parents)
        self.steps = depth + 1
        ints = {"dtype": torch.int32, "device": device.DEVICE}
        self.predicts = torch.full((self.batch * self.slots,), -1, **ints)
        self.index_out = torch.full((self.batch, self.steps), -1, **ints)
        self.count = torch.zeros(self.batch, **ints)
        candidates = torch.cat([torch.zeros(self.batch, 1, dtype=torch.int64), drafts.long()], 1)
        index = torch.arange(self.batch * self.slots).reshape(self.batch, self.slots)
        self.inputs = [one.to(device.DEVICE).contiguous() for one in (candidates, index, child, sibling)]

    @property
    def first(self) -> list[Any]:
        return [self.predicts, self.index_out, self.count, *self.inputs]

    def tokens(self) -> Any:
        """Returns the emitted tokens [B, steps], -1 after the end."""
        import torch

        predicts, index, count = (one.cpu().long() for one in (self.predicts, self.index_out, self.count))
        tokens = predicts[index.clamp(0, len(predicts) - 1)]
        return torch.where(torch.arange(self.steps)[None] <= count[:, None], tokens, -1)


def tree_sample(kernels: Any, p: Any, drafts: Any, parents: Any) -> Any:
    """Runs the kernel and returns the emitted tokens. The kernel accepts a draft by comparing a coin with the sum of
    the target probabilities of the draft and its earlier siblings."""
    import torch

    tree = Tree(p, drafts, parents)
    target = p.to(device.DEVICE).contiguous()
    coins = device.uniforms(tree.batch, tree.slots)
    last = device.uniforms(tree.batch)
    sizes = (tree.batch, tree.steps, tree.slots, tree.vocabulary)
    kernels.call("sglang_tree_sample", *tree.first, coins, last, target, torch.zeros_like(target), *sizes, 1.0, 1.0)
    return tree.tokens()


def tree(distribution: str) -> Any:
    """Returns a subject on trees of the draft sampling `distribution`, whose siblings are distinct."""
    kernels = library()

    def verify(p: Any, q: Any, drafts: Any, parents: Any) -> Any:
        del q  # the kernel does not use q
        return tree_sample(kernels, p, drafts, parents)

    return adapter(
        verify, drafts=distribution, level="tree", arrays="torch", batched=True, races=False, name="sglang_tree"
    )


def tree_chain() -> Any:
    """Returns a subject that verifies a chain as a tree of one path."""
    import torch

    kernels = library()

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        del q
        parents = torch.arange(-1, drafts.shape[1] - 1).expand(len(drafts), -1)
        return tree_sample(kernels, p, drafts, parents)

    return adapter(verify, arrays="torch", batched=True, races=False, name="sglang_tree_chain")


def greedy(distribution: str) -> Any:
    """Returns a subject of the kernel for greedy targets, which accepts drafts while they equal the target's token.
    Here the target's token is drawn from p after every node, so that the distribution is p for every tree."""
    kernels = library()

    def verify(p: Any, q: Any, drafts: Any, parents: Any) -> Any:
        del q
        tree = Tree(p, drafts, parents)
        chosen = device.picks(p.flatten(0, 1)).reshape(tree.batch, tree.slots).contiguous()
        kernels.call("sglang_tree_greedy", *tree.first, chosen, tree.batch, tree.steps, tree.slots)
        return tree.tokens()

    return adapter(
        verify, drafts=distribution, level="tree", arrays="torch", batched=True, races=False, name="sglang_tree_greedy"
    )


def chain(block: bool) -> Any:
    device.want_device()
    return triton_chain.chain(ENGINE.root(), block, device.DEVICE)


ENGINE = Engine(
    packages=("sglang==0.5.23",),
    needs=("flashinfer_python==0.7.2",),
    adapters=(
        EngineAdapter("tree_top_k", lambda: tree("top_k_tree"), models=6, predictions=32),
        EngineAdapter("tree_without_replacement", lambda: tree("without_replacement_tree"), models=6, predictions=32),
        EngineAdapter("tree_chain", tree_chain, models=6, predictions=32, instances=CHAINS),
        EngineAdapter("tree_sampled", lambda: tree("without_replacement_tree"), tiers=("sampled",)),
        EngineAdapter(
            "tree_greedy",
            lambda: greedy("without_replacement_tree"),
            models=6,
            predictions=32,
            note="the targets of the kernel are drawn from p",
        ),
        EngineAdapter(
            "chain_token",
            lambda: chain(False),
            models=2,
            predictions=32,
            instances=CHAINS,
            shrinks=False,
            note="compiled; an impossible draft, or the last token behind a sum that is short",
        ),
        EngineAdapter("chain_block", lambda: chain(True), models=2, predictions=32, note="compiled"),
    ),
)
