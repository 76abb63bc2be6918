"""MLX-LM: its whole loop of speculative decoding on a CPU, on two models that are tables of next-token
distributions.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter


class Table:
    """A model of the engine whose logits after token t are log(rows[t]), with one cache that has only a length."""

    layers = (None,)

    def __init__(self, mx: Any, rows: Any) -> None:
        self.logits = mx.array(np.log(np.asarray(rows)).astype(np.float32))

    def __call__(self, tokens: Any, cache: Any = None) -> Any:
        cache[0].offset += tokens.shape[1]
        return self.logits[tokens]

    def make_cache(self) -> list[Any]:
        return [Length()]


class Length:
    """The interface that the engine requires of a cache: its length, and trimming."""

    state: tuple[Any, ...] = ()

    def __init__(self) -> None:
        self.offset = 0

    def is_trimmable(self) -> bool:
        return True

    def trim(self, count: int) -> int:
        self.offset -= count
        return count


def speculative(temperature: float) -> Any:
    import mlx.core as mx
    from mlx_lm.generate import speculative_generate_step
    from mlx_lm.sample_utils import make_sampler

    def generate(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        mx.random.seed(random.randrange(2**31))  # the host seeds `random`
        models = [Table(mx, np.asarray(rows, np.float64) ** temperature) for rows in (target, proposal)]
        cache = [one for model in models for one in model.make_cache()]
        steps = speculative_generate_step(
            mx.array([0]),
            *models,
            num_draft_tokens=drafts,
            max_tokens=length,
            sampler=make_sampler(temp=temperature),
            prompt_cache=cache,
        )
        text = [int(token) for token, _, _ in steps]
        if cache[0].offset > length + 1:
            raise RuntimeError(f"the target's cache has {cache[0].offset} tokens, expected at most {length + 1}")
        return text

    name = f"mlx_lm_speculative_at_{temperature:g}"
    return adapter(None, name=name, arrays="numpy", generate=generate)


ENGINE = Engine(
    packages=("mlx-lm==0.32.2",),
    needs=("mlx==0.32.4", "mlx-cpu==0.32.4"),
    replaces="the two models, by tables of next-token distributions; their caches, by a length",
    adapters=(
        EngineAdapter("speculative_generate", lambda: speculative(0.7), tiers=("sampled",), note="temperature 0.7"),
    ),
)
