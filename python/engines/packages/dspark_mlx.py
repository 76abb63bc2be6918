"""dspark-mlx: its decision on a block of drafts, which is in numpy."""

from __future__ import annotations

from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, judged, module_of


def speculative_sample_accept() -> Any:
    accept = module_of(ENGINE.root() / "dspark_mlx" / "verify.py", "dspark_mlx_verify").speculative_sample_accept

    def dspark_mlx_accept(p: Any, q: Any, drafts: Any, rng: Any) -> Any:
        return accept(drafts, q, p, rng).tokens

    return adapter(dspark_mlx_accept, arrays="numpy", races=False)


ENGINE = Engine(
    packages=("dspark-mlx==0.1.0",),
    adapters=(judged("speculative_sample_accept", speculative_sample_accept),),
)
