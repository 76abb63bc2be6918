"""core-deepinfer: its greedy decision on a chain."""

from __future__ import annotations

from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, judged


def verify_greedy() -> Any:
    from core_deepinfer.speculative import verify_greedy

    def core_deepinfer_verify_greedy(p: Any, q: Any, drafts: Any) -> Any:
        return list(verify_greedy(p, drafts.tolist()).tokens)

    return adapter(core_deepinfer_verify_greedy, arrays="numpy", greedy="first")


ENGINE = Engine(
    packages=("core-deepinfer==0.1.0",),
    adapters=(judged("verify_greedy", verify_greedy, note="greedy", instances=()),),
)
