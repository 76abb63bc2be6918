"""tpu-inference: rejection sampling of its JAX layers on a CPU, one chain whose drafts count as having q = 1."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from draftproof.declare import adapter
from draftproof.engines import (
    EQUAL,
    IMPOSSIBLE,
    OF_TWO,
    WITH_ZERO,
    Engine,
    EngineAdapter,
    functions_of,
    module_of,
    on_one,
)

SIZE = 4  # the numbers of drafts and of tokens are padded to a multiple of 4, because jax compiles every new shape
VERIFICATION = (
    "PLACEHOLDER_TOKEN_ID",
    "_get_segment_info",
    "_compute_probs",
    "_sample_recovered_tokens",
    "_random_rejection_sample_with_segment",
)
SAMPLING = ("_apply_sampling_transforms",)
TOP_P = 1 - 2.0**-8
CUT = 2.0**-10  # weight of the tokens with p = 0, which top-p must remove; the likeliest token has weight 1


class Drawn:
    """Stands for jax in the engine's functions: jax.random returns the numbers in `coins` and `clocks`, every other
    name is jax's."""

    def __init__(self, jax: Any) -> None:
        self.jax, self.coins, self.clocks = jax, None, None
        self.random = SimpleNamespace(
            split=lambda key: (None, None),
            uniform=lambda key, shape: self.coins,
            exponential=lambda key, shape: self.clocks,
            PRNGKey=object,
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.jax, name)


def functions() -> tuple[Any, Any, Any, Any]:
    """Returns the stand-in for jax and three functions of the engine, which compute the rows for verification, verify
    drafts, and compute the rows for ordinary sampling."""
    import jax
    import jax.numpy as jnp

    layers, own = ENGINE.root() / "tpu_inference" / "layers", Drawn(jax)
    search = module_of(layers / "common" / "binary_search.py", "dp_tpu_binary_search")
    scope: dict[str, Any] = {name: getattr(search, name) for name in ("topk_mask", "topp_mask")}
    scope |= {"jax": own, "jnp": jnp, "Optional": dict, "TPUSupportedSamplingMetadata": SimpleNamespace}
    sample = layers / "jax" / "sample"
    *_, rows, _, verify = functions_of(sample / "rejection_sampler.py", VERIFICATION, scope)
    (transform,) = functions_of(sample / "sampling.py", SAMPLING, scope)
    return own, rows, verify, transform


def rejection_sample(with_proposal: bool, temperature: float = 1.0, top_p: float = 1.0) -> Any:
    """Returns a subject of one chain. As in the engine's caller, the bonus token is drawn before the verification, from
    the row of ordinary sampling."""
    import jax
    import jax.numpy as jnp

    own, rows, verify, transform = functions()

    def settings(count: int) -> SimpleNamespace:
        each = {"temperature": temperature, "top_k": 0, "top_p": top_p}
        return SimpleNamespace(do_sampling=True, **{name: jnp.full(count, value) for name, value in each.items()})

    @jax.jit
    def decide(logits: Any, q: Any, drafts: Any, counts: Any, coins: Any, clocks: Any, bonus: Any) -> Any:
        own.coins, own.clocks = coins, clocks
        target = rows(logits, counts, settings(2))
        return verify(drafts, q if with_proposal else None, target, counts, bonus, None)

    ordinary = jax.jit(lambda row: jax.nn.softmax(transform(row[None], settings(1))[0]))

    def tpu_inference_rejection_sample(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        if top_p < 1:
            p = np.where(p > 0, p, p.max(-1, keepdims=True) * np.float32(CUT))
        # As the engine does, the batch is padded with a request without drafts. Padding of the vocabulary has p = 0.
        count, size = len(drafts), -(-p.shape[-1] // SIZE) * SIZE
        empty = -(-count // SIZE) * SIZE - count
        with np.errstate(divide="ignore"):
            logits = np.float32(temperature) * np.log(np.pad(p, [(0, 0), (0, size - p.shape[-1])]))
        q = np.pad(q, [(0, empty), (0, size - q.shape[-1])])
        coins, clocks = rng.random(count, np.float32), rng.standard_exponential((count, size), np.float32)
        last = np.asarray(ordinary(logits[-1]), np.float64)
        bonus = np.array([rng.choice(size, p=last / last.sum()), 0], np.int32)
        padded = [
            np.pad(drafts.astype(np.int32), (0, empty)),
            np.array([count, 0], np.int32),
            np.pad(coins, (0, empty)),
        ]
        clocks = np.pad(clocks, [(0, empty), (0, 0)], constant_values=1)
        rows_given = np.pad(logits[:-1], [(0, empty), (0, 0)])
        out = np.asarray(decide(rows_given, q, *padded, clocks, bonus))
        return [int(x) for x in [*out[:count], out[-2]] if x >= 0]

    name = "certain" if not with_proposal else "proposal"
    return adapter(
        tpu_inference_rejection_sample, arrays="numpy", name=f"tpu_inference_{name}_{temperature:g}_{top_p:g}"
    )


ENGINE = Engine(
    packages=("tpu-inference==0.32.0",),
    needs=("jax==0.10.2", "jaxlib==0.10.2", "ml_dtypes==0.6.0", "opt_einsum==3.4.0", "scipy==1.17.1"),
    environment={"JAX_PLATFORMS": "cpu"},
    replaces="the numbers of jax.random, by the gate's; the draw of the bonus token, by one from the engine's row",
    adapters=(
        EngineAdapter(
            "without_draft_probs",
            lambda: rejection_sample(False),
            models=6,
            predictions=32,
            tiers=("proof",),
            instances=(EQUAL, IMPOSSIBLE),
            note="as the engine's runner calls it: drafts are taken as certain, temperature 1",
        ),
        EngineAdapter(
            "rejection_sample",
            lambda: rejection_sample(True),
            models=6,
            predictions=32,
            tiers=("proof",),
            instances=(EQUAL, IMPOSSIBLE),
            note="with the proposal, which the runner does not pass",
        ),
        on_one("temperature", lambda: rejection_sample(False, 0.7), OF_TWO, "temperature 0.7 alone"),
        on_one(
            "top_p",
            lambda: rejection_sample(False, 0.7, TOP_P),
            WITH_ZERO,
            "temperature 0.7; top-p removes the tokens with p = 0",
        ),
    ),
)
