"""accepted_lengths: how many drafts a Python function accepts on given rows, exactly or by simulation."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof.acceptance.lengths import Lengths, Number
from draftproof.acceptance.planning import check_error
from draftproof.arrays import UNCHANGED
from draftproof.call_numbers import OK
from draftproof.deadline import deadline_of
from draftproof.declare import subject_of
from draftproof.explore import outcomes_of, rows_in, tokens_in
from draftproof.program import is_finite
from draftproof.rehearsal import rehearse
from draftproof.results import Table
from draftproof.subject import FunctionFailed, Subject
from draftproof.wire import Arrays

MOST_TUPLES = 256  # number of draft tuples up to which rows are enumerated
MOST_VOCABULARY = 32  # vocabulary up to which rows are enumerated
_CELLS = 1 << 22  # entries of p and q in one batch of simulated steps

Rows = tuple[Any, Any]
Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


class TooFewAccepted(AssertionError):
    """A function accepts fewer drafts than expected. `got` and `expected` are mean numbers of accepted drafts of a
    step, without the bonus token. `acceptance` and `accepted_lengths` raise it."""

    def __init__(self, message: str, got: float, expected: float) -> None:
        super().__init__(message)
        self.got, self.expected = got, expected


@dataclass(frozen=True)
class AcceptedLengths(Table):
    """Accepted drafts of a step of the function `name`, on rows that are chosen with equal probability.

    lengths       the lengths over all rows
    by_rows       the lengths on each pair of rows
    exact         `fractions`: every probability is an exact fraction, for the rows as the function gets them;
                  `doubles`: exact up to `rounding`; `no`: simulated
    low, high     bounds of the mean, in accepted drafts of a step. For simulated lengths, each is wrong with at most
                  the probability `false_alarm`
    rounding      largest error of the mean by rounding and by branches that were not enumerated, for `doubles`
    steps         number of simulated steps, 0 if exact
    calls         number of calls of the function
    """

    name: str
    lengths: Lengths
    by_rows: tuple[Lengths, ...]
    exact: str
    low: float
    high: float
    rounding: float = 0.0
    steps: int = 0
    calls: int = 0

    @property
    def mean(self) -> Number:
        """Mean number of accepted drafts of a step, without the bonus token."""
        return self.lengths.mean

    @property
    def variance(self) -> Number:
        """Variance of the number of accepted drafts of one step."""
        return self.lengths.variance

    @property
    def sensitivity(self) -> float:
        """The smallest share of the mean whose loss would have been detected with probability 0.99: 0 if the lengths
        are exact, infinite if nothing was accepted."""
        if not self.steps:
            return 0.0
        if not float(self.mean) > 0:
            return math.inf
        spread = 2.326 * math.sqrt(float(self.variance) / self.steps)
        return (self.high - float(self.mean) + spread) / float(self.mean)

    def records(self) -> list[dict[str, Any]]:
        """Returns the marginal and the conditional rate of each draft, over all rows."""
        return [{"name": self.name, **record} for record in self.lengths.records()]

    def plot(self, axes: Any = None) -> Any:
        """Draws a bar for each accepted length, as `Lengths.plot`."""
        return self.lengths.plot(axes)

    def __str__(self) -> str:
        if self.exact == "no":
            how = f"{self.steps:,} simulated steps, mean {self.low:.5g} to {self.high:.5g}"
            loss = f"of {100 * self.sensitivity:.3g} % would" if self.sensitivity < 1 else "could not"
            how += f"; a loss {loss} have been found in 99 of 100 runs"
        else:
            how = f"exact in {self.exact}" + (f", rounding {self.rounding:.1g}" if self.rounding else "")
        return f"{self.name}: {len(self.by_rows)} rows, {how}\n{self.lengths}"


def accepted_lengths(
    fn: Callable[..., Any] | Subject,
    rows: Rows | Sequence[Rows],
    drafts: str = "iid",
    *,
    k: int = 1,
    at_least: Number | None = None,
    count: Callable[[Any], int] | None = None,
    parents: Sequence[int] | None = None,
    exact: bool | None = None,
    steps: int = 20_000,
    false_alarm: float = 1e-6,
    seed: int = 1,
    **declared: Any,
) -> AcceptedLengths:
    """Returns how many drafts `fn` accepts on rows, with drafts that are drawn from the proposal rows.

    fn            the function, or a result of `adapter`
    rows          (p, q) in the shapes of `adapter`, or a list of such pairs. The rows do not depend on the drafts
    drafts        `iid`: drafts are drawn from the proposal rows
    k             number of drafts of a function of level position; 1 at other levels
    at_least      the mean number of accepted drafts that is required, without the bonus token
    count         a function that returns the number of accepted drafts in a result of fn. None, for a chain or a tree:
                  its tokens less one. A function of level position needs `count`, and a result with more than its
                  token, because a token that equals a draft may have been drawn from the target
    parents       for a function of level tree, the parent of each draft, -1 for the root
    exact         True: enumerate all drafts and random numbers; False: simulate; None: enumerate if there are at most
                  256 draft tuples, at most 32 tokens in the vocabulary, and fewer drafts than tokens
    steps         number of simulated steps of all rows together
    false_alarm   probability that a simulated function fails although its mean is `at_least`
    seed          seed of the simulated steps
    declared      arguments of `adapter`

    Raises: TooFewAccepted, an AssertionError with both numbers, if the exact mean, or the upper bound of a simulated
    mean, is below `at_least`. ValueError for invalid arguments; FunctionFailed, ProgramError, UnknownRandomness.
    Cost: `steps` calls of fn, in batches of up to 4 Mi entries of rows; if enumerated, some hundred calls for each
    tuple of drafts.
    Source: derived here, docs/acceptance.md; the bounds of a simulated mean are Chernoff bounds, Hoeffding 1963,
    theorem 1.
    """
    check_error("false_alarm", false_alarm)
    if drafts not in ("iid", "iid_paths"):
        raise ValueError(f"drafts: got {drafts!r}, expected iid, whose drafts are drawn from the proposal rows")
    if declared.get("level") == "tree":
        drafts = "iid_paths"  # iid at level tree
    subject = subject_of("acceptance", fn, drafts, declared)
    level = subject.declaration.level
    if level == "position" and count is None:
        raise ValueError(
            "count: got None for a function of level position, expected a function that returns the number of accepted "
            "drafts: its token may equal a draft that it rejected"
        )
    if not isinstance(rows, Iterable) or isinstance(rows, bytes):
        raise ValueError(f"rows: got {rows!r:.60}, expected a pair (p, q) or a list of pairs")
    given = list(rows) if isinstance(rows, Iterator) else rows
    pairs = [_pair(one, i, level) for i, one in enumerate([given] if _is_pair(given) else given)]
    for name, value, least in (("k", k, 1), ("steps", steps, 1), ("seed", seed, 0)):
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name}: got {value!r:.60}, expected an integer of at least {least}")
    if not pairs:
        raise ValueError("rows: got none, expected a pair (p, q) or a list of pairs")
    if level == "tree" and parents is None:
        raise ValueError("parents: got None for a function of level tree, expected the parent of each draft, -1: root")
    if k != 1 and level != "position":
        raise ValueError(f"k: got {k} for a function of level {level}, expected 1: the rows state its drafts")
    width = {k if level == "position" else len(q) for _, q in pairs}
    if len(width) != 1:
        raise ValueError(f"rows: got {', '.join(map(str, sorted(width)))} drafts, expected the same number in all rows")
    n, vocabulary = width.pop(), max(q.shape[1] for _, q in pairs)
    small = n < vocabulary <= MOST_VOCABULARY and vocabulary**n <= MOST_TUPLES
    if exact and not small:
        raise ValueError(
            f"exact: got {vocabulary}^{n} draft tuples, expected at most {MOST_TUPLES} tuples, from more than {n} and "
            f"at most {MOST_VOCABULARY} tokens"
        )
    if parents is not None:
        parents = tokens_in("parents", parents, "the parent of each draft, -1 for the root")
    depths = _depths(parents or ()) if level == "tree" else [1] if level == "position" else list(range(1, n + 1))
    if level == "tree" and len(depths) != n:
        raise ValueError(f"parents: got {len(depths)}, expected one for each of {n} drafts")
    question = _Question(_counting(subject, count), count is not None, pairs, n, max(depths, default=0), parents)
    found = (
        _enumerated(question, seed) if small and exact is not False else _simulated(question, steps, false_alarm, seed)
    )
    require(found, at_least)
    return found


@dataclass(frozen=True)
class _Question:
    """counts: whether the only token of the subject is its number of accepted drafts. pairs: rows p [n + 1, V] and
    q [n, V], or one row of each for level position. n: number of drafts. longest: the most drafts that a call can
    accept."""

    subject: Subject
    counts: bool
    pairs: list[Pair]
    n: int
    longest: int
    parents: Sequence[int] | None

    def length(self, tokens: Sequence[int]) -> int:
        length = int(tokens[0]) if self.counts else len(tokens) - 1
        if not 0 <= length <= self.longest:
            raise ValueError(f"accepted drafts: got {length}, expected 0 to {self.longest}")
        return length

    def proposals(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the row that each draft is drawn from, [n, V]."""
        return q if len(q) == self.n else np.repeat(q, self.n, axis=0)


def require(found: AcceptedLengths, at_least: Number | None) -> None:
    """Raises: TooFewAccepted if `found` is below `at_least`; ValueError if `at_least` is below 0 or not finite."""
    if at_least is None:
        return
    if not is_finite(at_least) or at_least < 0:
        raise ValueError(f"at_least: got {at_least!r:.60}, expected a mean number of accepted drafts")
    fraction = found.exact == "fractions" and not isinstance(at_least, float)
    too_few = found.mean < at_least if fraction else found.high < float(at_least) * (1 - 1e-12)
    if too_few:
        got = f"{float(found.mean):.6g}" + (f" (at most {found.high:.6g})" if found.exact == "no" else "")
        short = 100 * (1 - float(found.mean) / float(at_least))
        raise TooFewAccepted(
            f"{found.name}: got {got} accepted drafts a step, expected at least {float(at_least):.6g}: "
            f"{short:.3g} % too few\n{found}",
            float(found.mean),
            float(at_least),
        )


def _is_pair(rows: Any) -> bool:
    """Whether `rows` is (p, q), and not a tuple of two such pairs."""
    if not isinstance(rows, tuple):
        return False
    two_pairs = all(isinstance(one, tuple) and len(one) == 2 and not isinstance(one[0], Real) for one in rows)
    return len(rows) == 2 and not two_pairs


def _pair(rows: Any, i: int, level: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not _is_pair(rows):
        raise ValueError(f"rows {i}: got {type(rows).__name__}, expected a pair (p, q)")
    p, q = (rows_in(f"rows {i}: {name}", one) for name, one in zip("pq", rows, strict=True))
    more = 0 if level == "position" else 1
    if p.ndim != 2 or q.ndim != 2 or p.shape[1] != q.shape[1] or (len(p) != len(q) + more):
        raise ValueError(
            f"rows {i}: got p {list(p.shape)} and q {list(q.shape)}, expected "
            + ("[V] each" if level == "position" else "[n + 1, V] and [n, V]")
        )
    for name, values in (("p", p), ("q", q)):
        sums = values.sum(axis=1)
        for at in np.flatnonzero(~(np.isfinite(values).all(axis=1) & (values >= 0).all(axis=1)))[:1].tolist():
            raise ValueError(f"rows {i}: {name}: row {at}: got an entry below 0 or not finite, expected probabilities")
        for at in np.flatnonzero(np.abs(sums - 1) > 1e-4)[:1].tolist():
            raise ValueError(f"rows {i}: {name}: row {at}: got a sum of {sums[at]}, expected 1")
    return p, q


def _counting(subject: Subject, count: Callable[[Any], int] | None) -> Subject:
    """Returns the subject; if `count` is given, a subject whose only token is the number of accepted drafts."""
    if count is None:
        return subject
    if subject.batched:
        raise ValueError("count: got a function with batched=True, expected one that takes one row a call")
    fn = subject.fn

    @wraps(fn)  # keeps the signature, which shows whether fn takes a generator
    def counted(*given: Any, **named: Any) -> list[int]:
        return [int(count(fn(*given, **named)))]

    return replace(subject, fn=counted)


def _depths(parents: Sequence[int]) -> list[int]:
    depths: list[int] = []
    for i, parent in enumerate(parents):
        if not -1 <= parent < i:
            raise ValueError(f"parents: got {parent} for draft {i}, expected -1 or an earlier draft")
        depths.append(1 if parent < 0 else depths[parent] + 1)
    return depths


def _enumerated(question: _Question, seed: int) -> AcceptedLengths:
    inputs, owners, weights = [], [], []
    for i, (p, q) in enumerate(question.pairs):
        rows = [[Fraction(x) for x in row] for row in question.proposals(q).tolist()]
        for tokens in itertools.product(range(q.shape[1]), repeat=question.n):
            weight = math.prod((row[x] for row, x in zip(rows, tokens, strict=True)), start=Fraction(1))
            if weight:
                one = {"p": p.tolist(), "q": q.tolist(), "drafts": list(tokens)}
                inputs.append(one if question.parents is None else one | {"parents": list(question.parents)})
                owners.append(i)
                weights.append(weight)
    documents = outcomes_of(question.subject, inputs, seed=seed)
    name = question.subject.declaration.name
    sums = [[Fraction(0)] * (question.longest + 1) for _ in question.pairs]
    fractions, rounding, unexplored = True, 0.0, 0.0
    for owner, weight, document in zip(owners, weights, documents, strict=True):
        rounding = max(rounding, document["limit"])
        unexplored = max(unexplored, document["unexplored"])
        for outcome in document["outcomes"]:
            if outcome.get("status", "ok") != "ok":
                raise FunctionFailed(
                    f"{name}: got no tokens with probability {outcome['probability']:.3g} ({outcome['status']}), "
                    "expected tokens"
                )
            text = outcome.get("text", "")
            exact = "/" in text or text in ("0", "1")
            fractions = fractions and exact
            probability = Fraction(text) if exact else Fraction(outcome["probability"])
            sums[owner][question.length(outcome["tokens"])] += weight * probability
    if unexplored > 1e-6:
        raise ValueError(
            f"exact: got a probability of {unexplored:.3g} of {name} that was not enumerated, expected at most 1e-6; "
            "exact=False simulates it"
        )
    # The sum of a row of doubles may differ from 1 by rounding, and so may the total weight of the draft tuples.
    by_rows = [[one / sum(row) if fractions else float(one / sum(row)) for one in row] for row in sums]
    found = tuple(Lengths(tuple(row), question.n) for row in by_rows)
    lengths = Lengths.mixed(found)
    slack = 0.0 if fractions else (rounding + unexplored) * question.longest
    return AcceptedLengths(
        name,
        lengths,
        found,
        "fractions" if fractions else "doubles",
        low=float(lengths.mean) - slack,
        high=float(lengths.mean) + slack,
        rounding=slack,
        calls=sum(document["calls"] for document in documents),
    )


def _simulated(question: _Question, steps: int, false_alarm: float, seed: int) -> AcceptedLengths:
    subject = question.subject
    if steps < 1:
        raise ValueError(f"steps: got {steps}, expected at least 1")
    deadline = deadline_of(subject, None)
    with contextlib.suppress(FunctionFailed):  # fn may refuse rows of the rehearsal's sizes
        rehearse(subject, deadline)
    random = np.random.default_rng(seed)
    each = -(-steps // len(question.pairs))
    counts = np.zeros((len(question.pairs), question.longest + 1), np.int64)
    for i, (p, q) in enumerate(question.pairs):
        batch = max(1, min(each, _CELLS // (p.size + q.size)))
        for begin in range(0, each, batch):
            drafts = _drawn(question.proposals(q), min(batch, each - begin), random)
            for tokens in _answers(question, p, q, drafts, random):
                counts[i, question.length(tokens)] += 1
    return of_counts(subject.declaration.name, counts.tolist(), false_alarm, question.n)


def of_counts(
    name: str, counts: Sequence[Sequence[int]], false_alarm: float, drafts: Number | None = None
) -> AcceptedLengths:
    """Returns the lengths, from the numbers of simulated steps that accepted 0, 1, .. L drafts on each of several
    rows, and the mean number of drafts that a step proposed, L if None."""
    total = [sum(column) for column in zip(*counts, strict=True)]
    lengths = Lengths.of_counts(total, drafts)
    error = false_alarm / max(1, lengths.longest)
    ends = [mean_bounds(float(rate), sum(total), error) for rate in lengths.marginal]
    low, high = (sum(end[i] for end in ends) for i in (0, 1))
    by_rows = tuple(Lengths.of_counts(one, drafts) for one in counts)
    return AcceptedLengths(name, lengths, by_rows, "no", low, high, steps=sum(total), calls=sum(total))


def mean_bounds(rate: float, steps: int, error: float) -> tuple[float, float]:
    """Returns bounds of the mean probability of `steps` independent events of which the share `rate` occurred.

    Each is wrong with at most the probability `error`, by the Chernoff bound exp(-steps KL(rate, mean)), which also
    holds for events of different probabilities (Hoeffding 1963, theorem 1).
    """

    def divergence(mean: float) -> float:
        parts = ((rate, mean), (1 - rate, 1 - mean))
        return sum(a * math.log(a / b) if b > 0 else math.inf for a, b in parts if a > 0)

    ends = []
    for end in (0.0, 1.0):
        inside, outside = rate, end
        for _ in range(60):
            middle = (inside + outside) / 2
            if steps * divergence(middle) <= -math.log(error):
                inside = middle
            else:
                outside = middle
        ends.append(outside)
    return ends[0], ends[1]


def _drawn(q: NDArray[np.float64], steps: int, random: np.random.Generator) -> NDArray[np.int32]:
    """Returns drafts [steps, n], of which column i is drawn from row i."""
    columns = [
        np.searchsorted(cumulative, random.random(steps) * cumulative[-1], side="right")
        for cumulative in np.cumsum(q, axis=1)
    ]
    return np.stack(columns, axis=1).astype(np.int32) if columns else np.zeros((steps, 0), np.int32)


def _answers(
    question: _Question,
    p: NDArray[np.float64],
    q: NDArray[np.float64],
    drafts: NDArray[np.int32],
    random: np.random.Generator,
) -> list[list[int]]:
    """Returns the function's tokens for each line of `drafts`. The function is called with a request in the format that
    the program sends."""
    subject = question.subject
    declared, steps = subject.declaration, len(drafts)
    dtype = "float32" if declared.dtype == "bfloat16" else declared.dtype  # requests carry bfloat16 as float32
    with np.errstate(divide="ignore"):
        rows = [np.log(one) if declared.rows == "logits" else one for one in (p, q)]
    arrays: Arrays = {
        **{name: np.repeat(one[None].astype(dtype), steps, axis=0) for name, one in zip("pq", rows, strict=True)},
        "drafts": drafts,
        "lengths": np.full(steps, question.n, np.int32),
    }
    if question.parents is not None:
        arrays["parents"] = np.repeat(np.array(question.parents, np.int32)[None], steps, axis=0)
    if declared.grammar:
        arrays["legal"] = np.ones(arrays["p"].shape, np.int32)
    if declared.settings:
        arrays["request_settings"] = np.tile(np.array(UNCHANGED), (steps, 1))
    seeded = "seeded" in declared.randomness
    if seeded:
        arrays["seeds"] = random.integers(0, 2**62, steps)
    randomness = "seeded" if seeded else "opaque"
    fields = {"type": "verify", "id": 0, "vocabulary": p.shape[1], "randomness": randomness}
    _, reply = subject.answer(fields, arrays)
    for i in np.flatnonzero(reply["status"] != OK)[:1].tolist():
        raise FunctionFailed(f"{declared.name}: got no tokens for drafts {drafts[i].tolist()}") from subject.error
    return [row[:length] for row, length in zip(reply["tokens"].tolist(), reply["counts"].tolist(), strict=True)]
