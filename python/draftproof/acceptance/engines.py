"""The numbers that engines print about acceptance, and their settings for acceptance without a test."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass

from draftproof.acceptance.lengths import Lengths

# The meaning of the acceptance numbers that each engine writes to its log and metrics.
PRINTED = {
    "vLLM": "`Mean acceptance length` is the mean with the bonus token, `Per-position acceptance rate` the marginal "
    "rates, `Avg Draft acceptance rate` accepted drafts per draft; all pooled over the calls of an interval",
    "SGLang": "`accept len` is the mean with the bonus token, `accept rate` accepted drafts per draft; both pooled "
    "over the calls of an interval",
}


@dataclass(frozen=True)
class Setting:
    """`line` is the option that makes `engine` accept drafts without a test, with the same mean as the given lengths;
    it is empty if the engine has no such option. `note` states how the engine's lengths differ from the given ones."""

    engine: str
    line: str
    note: str


def synthetic(lengths: Lengths) -> list[Setting]:
    """Returns a setting for each engine of this module. The settings are for measurements of speed only, because the
    generated text does not have the target's distribution."""
    return [make(lengths) for make in _ENGINES.values()]


def _vllm(lengths: Lengths) -> Setting:
    rates = [math.floor(1e6 * float(rate) + 0.5) / 1e6 for rate in lengths.marginal]
    options = {
        "num_speculative_tokens": lengths.longest,
        "rejection_sample_method": "synthetic",
        "synthetic_acceptance_rates": rates,
    }
    return Setting(
        "vLLM",
        f"--speculative-config '{json.dumps(options)}'",
        "marginal rates, so that the whole distribution of lengths is this one; add the keys of the draft model. "
        f'"synthetic_acceptance_length": {float(lengths.mean_with_bonus):.6g} in their place gives the mean alone, '
        "with the smallest variance",
    )


def _sglang(lengths: Lengths) -> Setting:
    return Setting(
        "SGLang",
        f"SGLANG_SIMULATE_ACC_LEN={float(lengths.mean_with_bonus):.6g} SGLANG_SIMULATE_ACC_METHOD=match-expected",
        "with the bonus token; every call accepts the mean rounded down or up, one number for its whole batch. "
        "The method multinomial draws from a normal distribution around the mean, cuts and rounds it, so that the mean "
        "differs",
    )


def _tensorrt(lengths: Lengths) -> Setting:
    mean = float(lengths.mean)
    if mean == 0:
        return Setting("TensorRT-LLM", "", "the value 0 means that acceptance is not forced")
    return Setting(
        "TensorRT-LLM",
        f"TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS={mean:.6g}",
        "without the bonus token; releases that parse an integer, and the path with two models in any release, "
        f"take {round(mean)} at best",
    )


def _atom(lengths: Lengths) -> Setting:
    return Setting(
        "ATOM",
        f"--spec-decode-acceptance-length {float(lengths.mean_with_bonus):.6g}",
        "with the bonus token; the mean alone",
    )


_ENGINES: dict[str, Callable[[Lengths], Setting]] = {
    "vllm": _vllm,
    "sglang": _sglang,
    "tensorrt-llm": _tensorrt,
    "atom": _atom,
}
