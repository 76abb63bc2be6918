"""Rows as laws: checks, filters, truncation, draws."""

from __future__ import annotations

import numpy as np
import pytest

from draftproof.capture import CaptureError, Filter
from draftproof.capture.laws import draw, filtered, kept_tokens, log_law, padded, stored, truncated


def test_logits_and_probabilities_become_the_same_law() -> None:
    p = np.array([0.5, 0.0, 0.3, 0.2])
    with np.errstate(divide="ignore"):
        logits = np.log(p) + 700
    np.testing.assert_allclose(np.exp(log_law(logits, "logit", "row")), p, atol=1e-13)
    np.testing.assert_allclose(np.exp(log_law(p, "probability", "row")), p, atol=1e-15)


@pytest.mark.parametrize(
    ("row", "values", "words"),
    [
        ([0.0, np.nan], "logit", "row, token 1: found nan"),
        ([np.inf, 0.0], "logit", "row, token 0: found inf"),
        ([-np.inf, -np.inf], "logit", "found -inf for every token"),
        ([0.5, -0.1], "probability", "row, token 1: found -0.1"),
        ([0.5, 0.2], "probability", "sum to 0.7"),
        ([np.inf, 0.2], "probability", "row, token 0: found inf"),
    ],
)
def test_rows_that_are_no_laws_are_refused(row: list[float], values: str, words: str) -> None:
    with pytest.raises(CaptureError, match=words):
        log_law(np.array(row), values, "row")


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
    law = log_law(np.array([0.4, 0.2, 0.4, 0.0]), "probability", "row")
    np.testing.assert_allclose(filtered(law, by), wanted, atol=1e-12)


@pytest.mark.parametrize("change", [{"temperature": -1.0}, {"temperature": np.inf}, {"top_k": -1}, {"top_p": 0.0}])
def test_filters_out_of_range_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(CaptureError):
        Filter(**change)  # type: ignore[arg-type]


def test_half_precision_keeps_the_order_of_small_probabilities() -> None:
    law = log_law(np.array([0.0, -30.0, -40.0, -1e5]), "logit", "row")
    row = stored([law], "float16")[0]
    assert row[1] > row[2] > row[3] == -np.inf


def test_padding_has_probability_zero() -> None:
    law = padded(log_law(np.zeros(3), "logit", "row"), 5)
    np.testing.assert_allclose(np.exp(law), [1 / 3, 1 / 3, 1 / 3, 0, 0])


def test_kept_tokens_hold_the_mass_of_every_law() -> None:
    p = log_law(np.array([0.5, 0.3, 0.1, 0.06, 0.04]), "probability", "p")
    q = log_law(np.array([0.05, 0.05, 0.1, 0.7, 0.1]), "probability", "q")
    assert kept_tokens([p, q], 0.75, 5).tolist() == [0, 1, 2, 3]
    assert kept_tokens([p, q], 0.5, 5).tolist() == [0, 3]
    assert kept_tokens([p, q], 0.75, 2).tolist() == [0, 3]


def test_tokens_without_mass_are_not_kept() -> None:
    p = log_law(np.array([0.0, 1.0, 0.0]), "probability", "p")
    assert kept_tokens([p], 1.0, 3).tolist() == [1]


def test_the_rest_is_summed_from_the_other_tokens() -> None:
    law = log_law(np.array([0.0, -1.0, -50.0]), "logit", "row")
    row, rest = truncated(law, np.array([0, 1]))
    assert rest == pytest.approx(np.exp(law[2]), rel=1e-12, abs=0)
    assert row.sum() + rest == pytest.approx(1, abs=1e-15)


class Sure:
    """A generator that gives one number."""

    def __init__(self, u: float) -> None:
        self.u = u

    def random(self) -> float:
        return self.u


@pytest.mark.parametrize(("u", "wanted"), [(0.0, 1), (0.19, 1), (0.21, 3), (1 - 2**-53, 4)])
def test_draws_at_the_ends(u: float, wanted: int) -> None:
    assert draw(np.array([0.0, 0.2, 0.0, 0.5, 0.3, 0.0]), Sure(u)) == wanted  # type: ignore[arg-type]


def test_draws_follow_the_law_and_skip_zeros() -> None:
    law = np.array([0.0, 0.2, 0.0, 0.5, 0.3, 0.0])
    generator = np.random.default_rng(5)
    counts = np.bincount([draw(law, generator) for _ in range(4000)], minlength=6)
    assert counts[law == 0].sum() == 0
    expected = 4000 * law[law > 0]
    # The 1 - 1e-6 quantile of chi-squared with two degrees of freedom is -2 ln 1e-6.
    assert ((counts[law > 0] - expected) ** 2 / expected).sum() < -2 * np.log(1e-6)
