"""transformers: the verification of assisted generation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter

# After softmax in float32, token 0 has equal probability in p and q, and token 1 is a few ulps more probable in q.
EQUAL_UP_TO_ROUNDING = "L=1 K=1 [] p=(2915 1)/2916 q=(5829 2)/5831"


def speculative_sampling() -> Any:
    import torch
    from transformers.generation.utils import _speculative_sampling

    torch.set_num_threads(1)

    def transformers_speculative_sampling(p: Any, q: Any, drafts: Any) -> Any:
        tokens, _ = _speculative_sampling(drafts[None], q[None], len(drafts), p[None])
        return tokens[0]

    return adapter(transformers_speculative_sampling, logits=True, arrays="torch", races=False)


ENGINE = Engine(
    packages=("transformers==5.24.0",),
    needs=tuple((Path(__file__).parent / "transformers_needs.txt").read_text().split()),
    adapters=(
        EngineAdapter("speculative_sampling", speculative_sampling, models=24, instances=(EQUAL_UP_TO_ROUNDING,)),
    ),
)
