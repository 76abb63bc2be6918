"""srep-moe: the decision of its driver, which does not take q."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, functions_of, judged


def speculative_sampling() -> Any:
    import torch

    path, scope = ENGINE.root() / "srep_moe" / "sd_engine.py", {"torch": torch}
    (method,) = functions_of(path, ["EAGLE3SDDriver.speculative_sampling"], scope)

    def srep_moe_speculative_sampling(p: Any, q: Any, drafts: Any) -> Any:
        own = SimpleNamespace(gamma=len(drafts), device="cpu")
        return method(own, drafts.tolist(), p[None], 1.0)[1]

    return adapter(srep_moe_speculative_sampling, logits=True, arrays="torch", races=False)


ENGINE = Engine(
    packages=("srep-moe==0.1.0",),
    adapters=(
        judged(
            "speculative_sampling",
            speculative_sampling,
            change="draw a rejected draft's replacement from p without the draft, and take the drafts as certain",
        ),
    ),
)
