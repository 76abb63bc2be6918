"""dflash: the decision of its loop for PyTorch, with q dense or on the most likely tokens."""

from __future__ import annotations

from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, functions_of, judged


def decide(sparse: bool) -> Any:
    import torch
    from torch.nn import functional

    path, scope = ENGINE.root() / "dflash" / "model.py", {"torch": torch, "F": functional}
    fn, _ = functions_of(path, ["_rejection_sample", "_sample_probs"], scope)

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        rows, at = q, None
        if sparse:  # columns in the order of `at`, not of token ids
            at = q.argsort(-1)
            rows, at = q.gather(-1, at)[None], at[None]
        accepted, token = fn(drafts[None], p[None], rows if sparse else q[None], at)
        return [*drafts[:accepted].tolist(), int(token)]

    return adapter(verify, arrays="torch", races=False, name="dflash_sparse" if sparse else "dflash_dense")


ENGINE = Engine(
    packages=("dflash==0.1.0",),
    adapters=(
        judged("rejection_sample", lambda: decide(False)),
        judged("rejection_sample_sparse", lambda: decide(True), note="q on the drafter's most likely tokens"),
    ),
)
