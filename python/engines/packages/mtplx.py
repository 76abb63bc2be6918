"""mtplx: its decision on one draft, in numpy, and draws of its sampler."""

from __future__ import annotations

from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, judged


def verify_one_token() -> Any:
    from mtplx.sampling import sample_from_distribution, verify_one_token

    def mtplx_verify_one_token(p: Any, q: Any, drafts: Any, rng: Any) -> Any:
        decision = verify_one_token(p[0], q[0], int(drafts[0]), rng)
        return [decision.token_id, *([sample_from_distribution(p[1], rng)] if decision.accepted else [])]

    return adapter(mtplx_verify_one_token, arrays="numpy", dtype="float64", races=False, most_drafts=1)


ENGINE = Engine(
    packages=("mtplx==2.12.2",),
    adapters=(
        judged(
            "verify_one_token",
            verify_one_token,
            note="in numpy; the kernels of its runtime need another processor",
            change="compare with <, not with <=",
        ),
    ),
)
