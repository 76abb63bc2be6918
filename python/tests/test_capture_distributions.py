"""Tests of rows as distributions: checks, filters, truncation, draws."""

from __future__ import annotations

import numpy as np
import pytest

from draftproof.capture import CaptureError, Filter
from draftproof.capture.distributions import (
    draw,
    filtered,
    kept_tokens,
    log_distribution,
    looks_like_probabilities,
    padded,
    stored,
    truncated,
)


def test_logits_and_probabilities_become_the_same_distribution() -> None:
    p = np.array([0.5, 0.0, 0.3, 0.2])
    with np.errstate(divide="ignore"):
        logits = np.log(p) + 700
    np.testing.assert_allclose(np.exp(log_distribution(logits, "logit", "row")), p, atol=1e-13)
    np.testing.assert_allclose(np.exp(log_distribution(p, "probability", "row")), p, atol=1e-15)


@pytest.mark.parametrize(
    ("row", "values", "words"),
    [
        ([0.0, np.nan], "logit", "row, token 1: got nan"),
        ([np.inf, 0.0], "logit", "row, token 0: got inf"),
        ([-np.inf, -np.inf], "logit", "got -inf for every token"),
        ([0.5, -0.1], "probability", "row, token 1: got -0.1"),
        ([0.5, 0.2], "probability", "sum to 0.7"),
        ([np.inf, 0.2], "probability", "row, token 0: got inf"),
    ],
)
def test_rows_that_are_no_distributions_are_refused(row: list[float], values: str, words: str) -> None:
    with pytest.raises(CaptureError, match=words):
        log_distribution(np.array(row), values, "row")


@pytest.mark.parametrize(
    ("by", "wanted"),
    [
        (Filter(), [0.4, 0.2, 0.4, 0.0]),
        (Filter(temperature=0), [1, 0, 0, 0]),
        (Filter(temperature=0.5), [0.16 / 0.36, 0.04 / 0.36, 0.16 / 0.36, 0]),
        (Filter(top_k=1), [1, 0, 0, 0]),
        (Filter(top_k=2), [0.5, 0, 0.5, 0]),
        (Filter(top_p=0.4), [1, 0, 0, 0]),
        (Filter(top_p=0.41), [0.5, 0, 0.5, 0]),
        (Filter(top_k=2, top_p=0.6), [0.5, 0, 0.5, 0]),
    ],
)
def test_filters(by: Filter, wanted: list[float]) -> None:
    distribution = log_distribution(np.array([0.4, 0.2, 0.4, 0.0]), "probability", "row")
    np.testing.assert_allclose(filtered(distribution, by), wanted, atol=1e-12)


@pytest.mark.parametrize("change", [{"temperature": -1.0}, {"temperature": np.inf}, {"top_k": -1}, {"top_p": 0.0}])
def test_filters_out_of_range_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(CaptureError):
        Filter(**change)  # type: ignore[arg-type]


def test_half_precision_keeps_the_order_of_small_probabilities() -> None:
    distribution = log_distribution(np.array([0.0, -30.0, -40.0, -1e5]), "logit", "row")
    row = stored([distribution], "float16")[0]
    assert row[1] > row[2] > row[3] == -np.inf


def test_padding_has_probability_zero() -> None:
    distribution = padded(log_distribution(np.zeros(3), "logit", "row"), 5)
    np.testing.assert_allclose(np.exp(distribution), [1 / 3, 1 / 3, 1 / 3, 0, 0])


@pytest.mark.parametrize("mass", [0.5, 0.9, 0.999, 1.0])
def test_a_partial_sort_keeps_the_tokens_of_a_whole_sort(mass: float) -> None:
    """Rows with many equal entries; the runs are shorter and longer than the 4,096 tokens that are sorted first."""
    random = np.random.default_rng(5)
    for spread in (1.0, 4.0):
        row = np.round(random.normal(size=20_000) * spread, 1)
        row -= np.log(np.exp(row).sum())
        order = np.argsort(-row, kind="stable")
        sums = np.cumsum(np.exp(row[order]))
        wanted = order[: int(np.searchsorted(sums, mass * sums[-1])) + 1]
        assert kept_tokens([row], mass, len(row)).tolist() == sorted(wanted.tolist())


def test_kept_tokens_hold_the_mass_of_every_distribution() -> None:
    p = log_distribution(np.array([0.5, 0.3, 0.1, 0.06, 0.04]), "probability", "p")
    q = log_distribution(np.array([0.05, 0.05, 0.1, 0.7, 0.1]), "probability", "q")
    assert kept_tokens([p, q], 0.75, 5).tolist() == [0, 1, 2, 3]
    assert kept_tokens([p, q], 0.5, 5).tolist() == [0, 3]
    assert kept_tokens([p, q], 0.75, 2).tolist() == [0, 3]


def test_tokens_without_mass_are_not_kept() -> None:
    p = log_distribution(np.array([0.0, 1.0, 0.0]), "probability", "p")
    assert kept_tokens([p], 1.0, 3).tolist() == [1]


def test_the_rest_is_summed_from_the_other_tokens() -> None:
    distribution = log_distribution(np.array([0.0, -1.0, -50.0]), "logit", "row")
    row, rest = truncated(distribution, np.array([0, 1]))
    assert rest == pytest.approx(np.exp(distribution[2]), rel=1e-12, abs=0)
    assert row.sum() + rest == pytest.approx(1, abs=1e-15)


class Sure:
    """A generator that always returns the same number."""

    def __init__(self, u: float) -> None:
        self.u = u

    def random(self) -> float:
        return self.u


@pytest.mark.parametrize(("u", "wanted"), [(0.0, 1), (0.19, 1), (0.21, 3), (1 - 2**-53, 4)])
def test_draws_at_the_ends(u: float, wanted: int) -> None:
    assert draw(np.array([0.0, 0.2, 0.0, 0.5, 0.3, 0.0]), Sure(u)) == wanted  # type: ignore[arg-type]


def test_draws_follow_the_distribution_and_skip_zeros() -> None:
    distribution = np.array([0.0, 0.2, 0.0, 0.5, 0.3, 0.0])
    generator = np.random.default_rng(5)
    counts = np.bincount([draw(distribution, generator) for _ in range(4000)], minlength=6)
    assert counts[distribution == 0].sum() == 0
    expected = 4000 * distribution[distribution > 0]
    # The 1 - 1e-6 quantile of chi-squared with two degrees of freedom is -2 ln 1e-6.
    assert ((counts[distribution > 0] - expected) ** 2 / expected).sum() < -2 * np.log(1e-6)


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum(dtype=logits.dtype)


def in_type(row: np.ndarray, dtype: str) -> np.ndarray:
    """Returns the row rounded to a type, which may be bfloat16, and converted back."""
    if dtype == "bfloat16":
        bits = row.astype(np.float32).view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return row.astype(dtype).astype(np.float64)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("vocabulary", [2, 3, 8, 100, 32_000])
def test_softmax_of_any_type_is_not_taken_for_logits(dtype: str, vocabulary: int) -> None:
    generator = np.random.default_rng(vocabulary)
    for spread in (0.5, 2.5, 10.0):
        logits = generator.normal(0, spread, vocabulary)
        computed = logits if dtype == "float64" else logits.astype(np.float32)
        given = in_type(softmax(computed), dtype)
        exact = computed - computed.max() - np.log(np.exp(computed - computed.max()).sum())
        for row in (given, in_type(np.exp(in_type(exact, dtype)), dtype)):
            with pytest.raises(CaptureError, match=r"row: got numbers >= 0 of sum .* say values='probability', or"):
                log_distribution(row, None, "row")
            log_distribution(row, "logit", "row")  # accepted if declared as logits
        for row in (in_type(logits, dtype), in_type(exact, dtype), in_type(exact - exact.min(), dtype)):
            np.testing.assert_array_equal(log_distribution(row, None, "row"), log_distribution(row, "logit", "row"))


@pytest.mark.parametrize("row", [[0, 1, 0], [1, 0], [0.5, 0.5, 0], [0.4, 0.3, 0.2, 0.1], [1 - 2**-24, 2**-24]])
def test_one_hot_and_short_rows_are_not_taken_for_logits(row: list[float]) -> None:
    with pytest.raises(CaptureError, match="as probabilities have"):
        log_distribution(np.array(row, np.float32), None, "row")


@pytest.mark.parametrize(
    "row",
    [
        [1.0],  # one token has probability 1, whether the row has logits or probabilities
        [0.0],
        [0.25] * 4,  # equal numbers are the uniform distribution, whether logits or probabilities
        [0.0] * 4,
        [-0.1, 1.1],
        [-np.inf, 1.0],
        [0.0, -1e-9],  # log-probabilities
        [0.3, 0.6],  # a sum of 0.9
        [0.5, 0.5 + 2**-20],  # a sum that differs from 1 by more than rounding
        [1.0, 2.0, 3.0],
    ],
)
def test_logits_are_taken_as_they_are(row: list[float]) -> None:
    np.testing.assert_array_equal(
        log_distribution(np.array(row), None, "row"), log_distribution(np.array(row), "logit", "row")
    )


def test_true_logits_in_many_rows_are_never_taken_for_probabilities() -> None:
    rows = np.random.default_rng(3).normal(0, 1, (100_000, 4)).astype(np.float32)
    assert sum(looks_like_probabilities(row.astype(float)) for row in rows[(rows >= 0).all(1)]) == 0


def test_logits_given_as_probabilities_name_the_way_out() -> None:
    with pytest.raises(CaptureError, match=r"expected a probability \(or values='logit'\)"):
        log_distribution(np.array([-1.5, 2.0]), "probability", "row")
