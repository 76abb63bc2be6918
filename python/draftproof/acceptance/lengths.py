"""Lengths: the distribution of the number of drafts that a step accepts, and the numbers that engines print of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from typing import Any

from draftproof.program import is_finite, short
from draftproof.results import Table, axes_of

Number = Fraction | float
MOST = 10**15  # largest count of drafts, steps or calls
# Largest amount by which the sum of a row in float32 may exceed 1: a normaliser that adds up to 2^18 entries in pairs
# has 18 roundings, and each quotient one more.
_ROUNDING = 19 * 2.0**-24


@dataclass(frozen=True)
class Lengths(Table):
    """The distribution of the number of accepted drafts of a step, and the numbers that engines print of it.

    probabilities  of 0, 1, .. L accepted drafts, [L + 1]. All are fractions, or all are floats
    drafts         mean number of drafts that a step proposes: all nodes of a tree, all K drafts at a position. None: L,
                   as on a chain

    Raises: ValueError for other things than numbers, entries below 0 or not finite, a sum that is not 1, or fewer
    drafts than are accepted.
    """

    probabilities: tuple[Number, ...]
    drafts: Number | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "probabilities", numbers_in("probabilities of accepted lengths", self.probabilities))
        for i, one in enumerate(self.probabilities):
            if not (is_finite(one) and one >= -1e-12):
                raise ValueError(f"probability of {i} accepted drafts: got {_told(one)}, expected 0 to 1")
        total: Number = sum(self.probabilities, start=Fraction(0))
        if abs(float(total) - 1) > 1e-6:
            raise ValueError(f"probabilities of accepted lengths: got a sum of {float(total)!r}, expected 1")
        if self.drafts is None:
            object.__setattr__(self, "drafts", self.longest)
        elif not (is_finite(self.drafts) and self.drafts >= self.mean * (1 - 1e-6)):
            wanted = f"a number that is at least the mean of {float(self.mean):.6g} accepted drafts"
            raise ValueError(f"drafts: got {_told(self.drafts)}, expected {wanted}")

    @classmethod
    def of_marginal(cls, rates: Sequence[Number]) -> Lengths:
        """Returns the lengths with these P(at least i drafts are accepted), i = 1 .. L, the rates that vLLM prints.

        Raises: ValueError for rates that are not numbers within 0 to 1 or that increase.
        """
        rates = check_rates("marginal rate", rates)
        for i in range(1, len(rates)):
            if rates[i] > rates[i - 1]:
                raise ValueError(
                    f"marginal rate of draft {i + 1}: got {float(rates[i])}, expected at most the rate of draft {i}, "
                    f"{float(rates[i - 1])}, because marginal rates never rise; conditional rates may"
                )
        bounds = [1, *rates, 0]
        return cls(tuple(bounds[i] - bounds[i + 1] for i in range(len(bounds) - 1)))

    @classmethod
    def of_conditional(cls, rates: Sequence[Number]) -> Lengths:
        """Returns the lengths with these P(draft i is accepted, given that all before it are), i = 1 .. L.

        Raises: ValueError for rates that are not numbers within 0 to 1.
        """
        rates = check_rates("conditional rate", rates)
        marginal: list[Number] = []
        for rate in rates:
            marginal.append(rate * (marginal[-1] if marginal else 1))
        return cls.of_marginal(marginal)

    @classmethod
    def of_counts(cls, counts: Sequence[int], drafts: Number | None = None) -> Lengths:
        """Returns the lengths of steps, from the numbers of steps that accepted 0, 1, .. L drafts. `drafts` is the mean
        number that a step proposed, L if None.

        Raises: ValueError for things that are not counts, counts that are all 0, or fewer drafts than were accepted.
        """
        numbers = numbers_in("steps", counts)
        for i, count in enumerate(numbers):
            if not 0 <= count <= MOST or count != int(count):
                found = f"steps that accepted {i} drafts: got {short(count)}"
                raise ValueError(f"{found}, expected a count of at most {MOST:.0e}")
        total = int(sum(numbers))
        if total == 0:
            raise ValueError("steps: got 0, expected at least one")
        return cls(tuple(Fraction(int(count), total) for count in numbers), drafts)

    @classmethod
    def of_rows(cls, p: Any, q: Any) -> Lengths:
        """Returns the lengths of single-draft rejection on a chain with target rows p [L or more, V] and proposal rows
        q [L, V], in fractions if the rows are fractions.

        Draft i is accepted with probability sum min(p_i, q_i), which no lossless rule exceeds at a single position.

        Raises: ValueError for rows that are not numbers, have different lengths, or share more mass than 1; for no
        proposal row, or fewer target rows than proposal rows.
        Cost: a pass over q.
        Source: Leviathan et al. 2023, arXiv:2211.17192, corollary 3.6.
        """
        targets, proposals = (_rows_in(name, rows) for name, rows in (("p", p), ("q", q)))
        if len(targets) < len(proposals):
            raise ValueError(f"p: got {len(targets)} rows, expected at least {len(proposals)}, one for each row of q")
        rates: list[Number] = []
        for i, (target, proposal) in enumerate(zip(targets, proposals, strict=False)):
            if len(target) != len(proposal):
                raise ValueError(f"p, q: row {i}: got {len(target)} and {len(proposal)} entries, expected as many")
            rate = sum(map(min, target, proposal), start=0)
            rates.append(min(rate, 1) if rate <= 1 + _ROUNDING else rate)
        return cls.of_conditional(rates)

    @classmethod
    def mixed(cls, lengths: Iterable[Lengths]) -> Lengths:
        """Returns the lengths of a step that has each of `lengths` with equal probability. Raises: ValueError if
        `lengths` is empty or has an entry of another type."""
        all_lengths = list(lengths) if isinstance(lengths, Iterable) else []
        if not all_lengths or not all(isinstance(one, Lengths) for one in all_lengths):
            raise ValueError(f"lengths: got {short(lengths)}, expected one or more Lengths")
        longest = max(one.longest for one in all_lengths)
        rows = [[*one.probabilities, *[0] * (longest - one.longest)] for one in all_lengths]
        drafts = sum((one.drafts or 0 for one in all_lengths), start=Fraction(0)) / len(rows)
        return cls(tuple(sum(column) / len(rows) for column in zip(*rows, strict=True)), drafts)

    @property
    def longest(self) -> int:
        """L, the most drafts that a step can accept: the depth of a tree, the number of drafts of a chain."""
        return len(self.probabilities) - 1

    @property
    def mean(self) -> Number:
        """Mean number of accepted drafts of a step, without the token that the target adds (the bonus)."""
        return sum((i * one for i, one in enumerate(self.probabilities)), start=0)

    @property
    def mean_with_bonus(self) -> Number:
        """Mean number of emitted tokens of a step, also called block efficiency or acceptance length."""
        return self.mean + 1

    @property
    def variance(self) -> Number:
        """Variance of the number of accepted drafts of one step."""
        mean = self.mean
        return sum(((i - mean) ** 2 * one for i, one in enumerate(self.probabilities)), start=0)

    @property
    def marginal(self) -> tuple[Number, ...]:
        """P(at least i drafts are accepted), i = 1 .. L."""
        return tuple(sum(self.probabilities[i:], start=0) for i in range(1, self.longest + 1))

    @property
    def conditional(self) -> tuple[Number | None, ...]:
        """P(draft i is accepted, given that all before it are); None where draft i is never reached."""
        before = (1, *self.marginal)[: self.longest]
        return tuple(rate / base if base > 0 else None for rate, base in zip(self.marginal, before, strict=True))

    @property
    def draft_rate(self) -> Number:
        """Accepted drafts per proposed draft, both summed over all steps: the mean number of accepted drafts of a step,
        divided by `drafts`. On a tree of more nodes than its depth it stays below 1."""
        return self.mean / self.drafts if self.drafts else 0

    def shortened(self, loss: float) -> Lengths:
        """Returns the lengths of a rule that also rejects each otherwise accepted draft with a constant probability,
        chosen such that the mean falls by the share `loss`. Raises: ValueError for a loss outside of 0 to 1."""
        if not (isinstance(loss, Real) and 0 < loss < 1):
            raise ValueError(f"loss: got {_told(loss)}, expected a share above 0 and below 1")
        rates = [float(rate) for rate in self.marginal]
        wanted = (1 - loss) * sum(rates)
        low, high = 0.0, 1.0
        for _ in range(100):
            keep = (low + high) / 2
            if sum(rate * keep ** (i + 1) for i, rate in enumerate(rates)) < wanted:
                low = keep
            else:
                high = keep
        shorter = Lengths.of_marginal([rate * high ** (i + 1) for i, rate in enumerate(rates)])
        return replace(shorter, drafts=self.drafts)

    def document(self) -> dict[str, Any]:
        """Returns every number as a float, for JSON; `drafts` as an integer if it is whole."""
        drafts = self.drafts or 0
        return {
            "drafts": int(drafts) if drafts == int(drafts) else float(drafts),
            "mean_accepted": float(self.mean),
            "mean_with_bonus": float(self.mean_with_bonus),
            "variance": float(self.variance),
            "draft_acceptance_rate": float(self.draft_rate),
            "marginal": [float(rate) for rate in self.marginal],
            "conditional": [None if rate is None else float(rate) for rate in self.conditional],
            "probabilities": [float(one) for one in self.probabilities],
        }

    def records(self) -> list[dict[str, Any]]:
        """Returns the marginal and the conditional rate of each draft."""
        return [
            {"draft": i + 1, "marginal": float(rate), "conditional": None if given is None else float(given)}
            for i, (rate, given) in enumerate(zip(self.marginal, self.conditional, strict=True))
        ]

    def plot(self, axes: Any = None) -> Any:
        """Draws a bar for each accepted length. Returns matplotlib's axes. Raises: ImportError if matplotlib is not
        installed."""
        axes = axes_of(axes)
        axes.bar(range(self.longest + 1), [float(one) for one in self.probabilities])
        axes.set_xlabel("accepted drafts of a step")
        axes.set_ylabel("probability")
        return axes

    def __str__(self) -> str:
        def row(values: Iterable[Number | None]) -> str:
            return "  ".join("   -  " if one is None else f"{float(one):.4f}" for one in values)

        return "\n".join(
            [
                f"accepted drafts of a step     {shown(self.mean)}",
                f"tokens of a step, with bonus  {shown(self.mean_with_bonus)}",
                f"variance of a step            {shown(self.variance)}",
                f"accepted drafts per draft     {shown(self.draft_rate)}",
                f"marginal rates                {row(self.marginal)}",
                f"conditional rates             {row(self.conditional)}",
            ]
        )


def shown(value: Number) -> str:
    """Returns a number with six digits, followed by its exact fraction if the fraction has at most 24 characters."""
    text = f"{float(value):.6g}"
    exact = isinstance(value, Fraction) and value.denominator > 1 and len(str(value)) <= 24
    return f"{text} = {value}" if exact else text


def numbers_in(name: str, given: Any) -> tuple[Number, ...]:
    """Returns a sequence, or an array of any library, as a tuple of numbers. Raises: ValueError for anything else."""
    if isinstance(given, str | bytes):
        raise ValueError(f"{name}: got {short(given)}, expected a sequence of numbers")
    try:
        found = tuple(given.tolist() if hasattr(given, "tolist") else given)
        found = tuple(one.item() if hasattr(one, "item") else one for one in found)  # numbers of numpy and torch
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{name}: got {short(given)} ({error}), expected a sequence of numbers") from error
    for i, one in enumerate(found):
        if not isinstance(one, Real):
            raise ValueError(f"{name}: entry {i}: got {short(one)}, expected a number")
    return found


def _rows_in(name: str, given: Any) -> list[tuple[Number, ...]]:
    if isinstance(given, str | bytes) or not hasattr(given, "__iter__"):
        raise ValueError(f"{name}: got {short(given)}, expected rows of numbers")
    rows = given.tolist() if hasattr(given, "tolist") else given
    if not hasattr(rows, "__iter__"):  # an array without a dimension
        raise ValueError(f"{name}: got {short(given)}, expected rows of numbers")
    return [numbers_in(f"{name}: row {i}", row) for i, row in enumerate(rows)]


def _told(value: Any) -> str:
    """Returns the text of a number as a float; of other things and of numbers beyond double, the text of `short`."""
    return str(float(value)) if is_finite(value) else short(value)


def check_rates(name: str, given: Any) -> tuple[Number, ...]:
    """Returns the rates as a tuple. Raises: ValueError for an empty sequence, or a rate that is not within 0 to 1."""
    rates = () if given is None else numbers_in(name, given)
    if not rates:
        raise ValueError(f"{name}: got none, expected one for each draft")
    for i, rate in enumerate(rates):
        if not 0 <= rate <= 1:  # False for NaN
            raise ValueError(f"{name} of draft {i + 1}: got {_told(rate)}, expected 0 to 1")
    return rates


@dataclass(frozen=True)
class Pooled:
    """Mean number of accepted drafts per call: over all calls of several requests, and the mean of the requests'
    means."""

    pooled: float
    mean_of_means: float


def pooled(requests: Sequence[tuple[int, int]]) -> Pooled:
    """Returns both means of requests, given (accepted drafts, calls of the target) of each. The two differ, because a
    short request counts as much as a long request in the mean of means. Raises: ValueError for impossible counts."""
    requests = [_request_in(i, one) for i, one in enumerate(requests)] if isinstance(requests, Iterable) else []
    if not requests:
        raise ValueError("requests: got none, expected the accepted drafts and the calls of each request")
    for i, (accepted, calls) in enumerate(requests):
        if not (0 <= accepted <= MOST and 1 <= calls <= MOST):
            found = f"{short(accepted)} drafts in {short(calls)} calls"
            raise ValueError(f"request {i}: got {found}, expected 0 or more in 1 or more, at most {MOST:.0e} each")
    return Pooled(
        sum(accepted for accepted, _ in requests) / sum(calls for _, calls in requests),
        sum(accepted / calls for accepted, calls in requests) / len(requests),
    )


def _request_in(i: int, given: Any) -> tuple[Any, Any]:
    numbers = numbers_in(f"request {i}", given)
    if len(numbers) != 2:
        raise ValueError(f"request {i}: got {len(numbers)} numbers, expected accepted drafts and calls")
    return numbers[0], numbers[1]
