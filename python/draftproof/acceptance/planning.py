"""Computes how many steps show a loss of accepted length, and the bound that a measured mean is compared with.

The number of accepted drafts of n independent steps is a sum, whose distribution is computed exactly, by a product of
discrete Fourier transforms. The error probabilities of a bound are computed from this distribution, without a safety
margin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from draftproof.acceptance.lengths import Lengths
from draftproof.program import is_finite, short

MOST_CELLS = 1 << 24  # most entries of a transform; longer sums are approximated by a normal distribution
MOST_STEPS = 10**15  # most steps that can be planned; no measurement has more
_MORE_CELLS = 1 << 22  # entries of the transforms with which a planned number of steps is lowered one by one
LEAST_ERROR = 1e-9  # rounding of a transform in double precision stays below this


def check_error(name: str, value: float) -> None:
    """Raises: ValueError for an error probability outside of LEAST_ERROR to 0.5."""
    if not isinstance(value, Real) or not LEAST_ERROR <= value <= 0.5:
        raise ValueError(f"{name}: got {short(value)}, expected {LEAST_ERROR:g} to 0.5")


def _check(lengths: object, between: object) -> None:
    if not isinstance(lengths, Lengths):
        raise ValueError(f"lengths: got {short(lengths)}, expected Lengths")
    if not (isinstance(between, Real) and is_finite(between) and float(between) >= 0):
        raise ValueError(f"between: got {short(between)}, expected a variance of at least 0")


def distribution_of_sum(lengths: Lengths, steps: int) -> NDArray[np.float64]:
    """Returns P(t accepted drafts in all), t = 0 .. steps * L, for independent steps."""
    cells = steps * lengths.longest + 1
    size = 1 << (cells - 1).bit_length() if cells > 1 else 1
    spectrum = np.fft.rfft([float(one) for one in lengths.probabilities], max(size, 2 * (lengths.longest + 1)))
    return np.clip(np.fft.irfft(spectrum**steps, max(size, 2 * (lengths.longest + 1)))[:cells], 0.0, None)


@dataclass(frozen=True)
class Bound:
    """The bound `least`: a measured mean of `steps` steps fails if it is below `least` accepted drafts.

    false_alarm  probability that a rule with the expected lengths fails
    miss         probability that a rule whose mean is smaller by the share `loss` does not fail
    exact        whether both were computed from the distribution of the sum, else by a normal approximation
    """

    expected: float
    least: float
    steps: int
    false_alarm: float
    loss: float
    miss: float
    exact: bool


def bound(
    lengths: Lengths, steps: int, *, loss: float = 0.01, false_alarm: float = 1e-5, between: float = 0.0
) -> Bound:
    """Returns the largest bound whose probability of a false alarm is at most `false_alarm`, for `steps` steps.

    between   variance that is added to the variance of a step, because its prompt is drawn at random (`between_steps`);
              0 if every measurement has the same rows. Above 0 the normal approximation is used.
    Raises: ValueError for numbers out of range.
    """
    check_error("false_alarm", false_alarm)
    _check(lengths, between)
    if not (isinstance(steps, Integral) and 1 <= steps <= MOST_STEPS):
        raise ValueError(f"steps: got {short(steps)}, expected an integer of 1 to {MOST_STEPS:.0e}")
    return _bound(lengths, lengths.shortened(loss), int(steps), loss, false_alarm, between)[0]


def _bound(
    lengths: Lengths, worse: Lengths, steps: int, loss: float, false_alarm: float, between: float
) -> tuple[Bound, float]:
    """Returns the bound, and the upper envelope of `miss`, which falls with the number of steps.

    The sum of accepted drafts is a whole number, and so is its bound. So `miss` rises and falls with `steps`. The
    envelope is the miss if the bound were a fraction: the one at which the probability of a false alarm, interpolated
    between neighbouring sums, is `false_alarm`, lowered by one distance between sums, the most that rounding takes.
    """
    mean = float(lengths.mean)
    if between == 0 and steps * lengths.longest < MOST_CELLS:
        below = np.cumsum(distribution_of_sum(lengths, steps))  # below[t] = P(sum <= t)
        least = int(np.searchsorted(below, false_alarm, side="right"))  # P(sum < least) <= false_alarm
        if least == 0:
            return Bound(mean, 0.0, steps, 0.0, loss, 1.0, True), 1.0
        alarm = float(below[least - 1])
        of_worse = distribution_of_sum(worse, steps)
        miss = max(0.0, 1.0 - float(np.cumsum(of_worse)[least - 1]))
        share = (false_alarm - alarm) / (float(below[least]) - alarm)
        # The distance between sums that occur. Lengths of 10 steps or fewer, on average, hardly fill the gaps between
        # the other sums, so they are left out; with them the distance, and so the envelope, would be smaller.
        usual = [i for i, one in enumerate(lengths.probabilities) if one * steps > 10]
        apart = math.gcd(*(i - usual[0] for i in usual)) or (lengths.longest if lengths.variance > 0 else 0)
        passed_over = float(of_worse[max(0, least - apart) : least].sum())
        return Bound(mean, least / steps, steps, alarm, loss, miss, True), miss + (1 - share) * passed_over
    normal = NormalDist()
    error = math.sqrt((float(lengths.variance) + between) / steps)
    error_of_worse = math.sqrt((float(worse.variance) + between) / steps)
    least_mean = mean + normal.inv_cdf(false_alarm) * error
    miss = 1 - normal.cdf((least_mean - float(worse.mean)) / error_of_worse) if error_of_worse else 0.0
    return Bound(mean, least_mean, steps, false_alarm, loss, miss, False), miss


def steps_for(
    lengths: Lengths,
    *,
    loss: float = 0.01,
    false_alarm: float = 1e-5,
    miss: float = 0.01,
    between: float = 0.0,
    steps_per_prompt: int = 1,
) -> Bound:
    """Returns the bound for a number of whole prompts whose steps miss a loss of the share `loss` with at most the
    probability `miss`, as those of every larger number of prompts do.

    The number of prompts is the smallest such number. Some smaller numbers can suffice although a number above them
    does not, because the bound of a sum of drafts is a whole number. Where a search of every number would take long,
    the result is up to 0.03 % and 2 L / (loss * mean) steps above the smallest.

    Raises: ValueError for numbers out of range, or lengths of mean 0.
    Cost: 10 to 20 transforms of steps * L entries, and as many more as have 4 Mi entries in all.
    """
    check_error("miss", miss)
    check_error("false_alarm", false_alarm)
    _check(lengths, between)
    if not (isinstance(steps_per_prompt, Integral) and 1 <= steps_per_prompt <= MOST_STEPS):
        wanted = f"an integer of 1 to {MOST_STEPS:.0e}"
        raise ValueError(f"steps_per_prompt: got {short(steps_per_prompt)}, expected {wanted}")
    if not float(lengths.mean) > 0:
        raise ValueError("lengths: got a mean of 0, expected a rule that accepts drafts")
    normal, worse = NormalDist(), lengths.shortened(loss)
    reach = -normal.inv_cdf(false_alarm) * math.sqrt(float(lengths.variance) + between)
    reach -= normal.inv_cdf(miss) * math.sqrt(float(worse.variance) + between)
    if not reach < math.sqrt(MOST_STEPS) * loss * float(lengths.mean):  # true if the product underflows to 0
        raise ValueError(
            f"loss: got a share of {loss:g} of a mean of {float(lengths.mean):g}, expected a loss that "
            f"{MOST_STEPS:.0e} steps show"
        )
    first = max(1, math.ceil((reach / (loss * float(lengths.mean))) ** 2))

    def found(prompts: int) -> tuple[Bound, float]:
        return _bound(lengths, worse, prompts * int(steps_per_prompt), loss, false_alarm, between)

    low, high, share = 0, -(-first // int(steps_per_prompt)), 0.01
    while found(high)[1] > miss:
        low, high, share = high, max(high + 1, math.ceil(high * (1 + share))), 2 * share
    if low == 0:
        low = math.floor(high * (1 - share))
        while low > 0 and found(low)[1] <= miss:
            share = min(0.5, 2 * share)
            low, high = math.floor(low * (1 - share)), low
    while high - low > max(1, high // 4000):
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle)[1] <= miss else (middle, high)
    best = found(high)[0]
    for prompts in range(high - 1, max(0, high - 1 - _MORE_CELLS // (best.steps * lengths.longest + 1)), -1):
        lower = found(prompts)[0]
        if lower.miss > miss:
            break
        best = lower
    return best


def between_steps(deviation: float, steps: int) -> float:
    """Returns the variance to add to the variance of a step for prompts whose mean lengths have the standard deviation
    `deviation`, if each prompt gives `steps` steps. It grows with `steps`, because more steps of a prompt do not reduce
    the error by the choice of prompts."""
    if not (0 <= deviation <= 1e9 and 1 <= steps <= MOST_STEPS):
        found = f"a deviation of {short(deviation)} and {short(steps)} steps"
        raise ValueError(f"prompts: got {found}, expected 0 to 1e9 and 1 to {MOST_STEPS:.0e}")
    return deviation**2 * steps
