"""The distribution of a small verifier by enumeration, without draftproof.

The calls of torch, numpy and `random` that the catalogue uses are replaced by stand-ins that take their values from a
list of choices. If a function draws more than the list has, it is run again with each value of the next draw.

    pick       one branch for each cell with weight; the weight is its share
    integer    one branch for each number
    coin       one branch for each interval of values with equal outcomes; its ends are found by bisection

The end of an interval is the simplest fraction between two probes if the outcome changes within 2^-20 of it; otherwise
the bisection goes on to the grid of the coin. Outcomes of two values are equal if runs on a few fixed continuations
agree.
"""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np

from catalogue import Entry
from catalogue.instance import Input, Instance
from catalogue.stand_ins import NoMass, Script, SharedDraw, Source, Wanted, replaced

Tokens = tuple[Any, ...]
Distribution = dict[Tokens, float]

WITNESSES = (0.5, 0.5), (0.04, 0.04), (0.96, 0.96), (0.1, 0.9), (0.9, 0.1), (0.3, 0.7)
FAR, NEAR = 2.0**-12, 2.0**-20


class Arguments:
    """Converts inputs to arguments of a function: rows in float32, batches padded with zeros and -1."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.arrays = entry.declared["arrays"]

    def tokens(self, given: Input) -> tuple[int, ...]:
        if self.entry.batched:
            return self.batch([given])[0]
        row = self._row(given, len(given.drafts))
        if self.entry.level == "position":
            row = [row[0][0], row[1], row[2]]
        return as_tokens(self._call(row))

    def batch(self, rows: list[Input]) -> list[tuple[int, ...]]:
        longest = max(len(given.drafts) for given in rows)
        columns = zip(*(self._row(given, longest) for given in rows), strict=True)
        arrays = [np.stack(column) for column in columns]
        if self.entry.level == "position":
            arrays = [arrays[0][:, 0], arrays[1], arrays[2]]
        if "lengths" in inspect.signature(self.entry.fn).parameters:
            arrays.append(np.array([len(given.drafts) for given in rows]))
        drawn = self._call(arrays)
        return [tuple(x for x in as_tokens(row) if x >= 0) for row in drawn]

    def seed(self, value: int) -> None:
        random.seed(value)
        np.random.seed(value)
        if self.arrays == "torch":
            import torch

            torch.manual_seed(value)

    def _row(self, given: Input, longest: int) -> list[Any]:
        count = len(given.drafts)
        p = np.zeros((longest + 1, len(given.p[0])), np.float32)
        q = np.zeros((longest, len(given.p[0])), np.float32)
        p[: len(given.p)], q[: len(given.q)] = given.p, np.array(given.q, np.float64).reshape(-1, q.shape[1])[:longest]
        if self.entry.level == "position":
            q = np.array(given.q[0], np.float32)
        if self.entry.declared.get("logits", False):
            with np.errstate(divide="ignore"):
                p, q = np.log(p), np.log(q)
        rest = [-1] * (longest - count)
        row = [p, q, np.array(given.drafts + rest, np.int64)]
        return [*row, np.array(given.parents + rest, np.int64)] if self.entry.level == "tree" else row

    def _call(self, arrays: list[Any]) -> Any:
        extra: dict[str, Any] = {}
        names = inspect.signature(self.entry.fn).parameters
        if "rng" in names:
            extra["rng"] = np.random.default_rng(random.getrandbits(64))
        if self.arrays == "list":
            return self.entry.fn(*(array.tolist() for array in arrays), **extra)
        if self.arrays == "numpy":
            return self.entry.fn(*arrays, **extra)
        import torch

        if "generator" in names:
            extra["generator"] = torch.Generator().manual_seed(random.getrandbits(32))
        return self.entry.fn(*(torch.from_numpy(array.copy()) for array in arrays), **extra)


def as_tokens(drawn: Any) -> tuple[int, ...]:
    if hasattr(drawn, "tolist"):
        drawn = drawn.tolist()
    return tuple(int(x) for x in drawn) if isinstance(drawn, list | tuple) else (int(drawn),)


def call(arguments: Arguments, given: Input, script: Script, source: Source) -> Tokens:
    """Returns the emitted tokens, or a name for the failure of a call without tokens."""
    source.script = script
    try:
        return arguments.tokens(given)
    except NoMass:
        return ("no mass",)
    except (RuntimeError, ValueError, IndexError, ZeroDivisionError) as error:
        return (type(error).__name__,)


def simplest(low: float, high: float) -> Fraction:
    """Returns the fraction with the smallest denominator in (low, high]."""
    whole = math.floor(low) + 1
    if whole <= high:
        return Fraction(whole)
    base = math.floor(low)
    if low == base:
        return base + 1 / Fraction(math.ceil(1 / (high - base)))
    inner = _simplest_from(1 / (high - base), 1 / (low - base))
    return base + 1 / inner


def _simplest_from(low: float, high: float) -> Fraction:
    """Returns the fraction with the smallest denominator in [low, high)."""
    if low == math.floor(low):
        return Fraction(int(low))
    if math.floor(low) + 1 < high:
        return Fraction(math.floor(low) + 1)
    base = math.floor(low)
    return base + 1 / simplest(1 / (high - base), 1 / (low - base))


class Enumeration:
    """The distribution of `run`, a function of a list of choices that raises Wanted if it draws beyond the list."""

    def __init__(self, run: Callable[[Script], Tokens], points: int = 6) -> None:
        self.run, self.points = run, points

    def distribution(self, choices: tuple[float, ...] = ()) -> Distribution:
        try:
            return {self.run(Script(choices)): 1.0}
        except Wanted as wanted:
            distribution: Distribution = {}
            for share, value in self._branches(choices, wanted):
                for tokens, mass in self.distribution((*choices, value)).items():
                    distribution[tokens] = distribution.get(tokens, 0.0) + share * mass
            return distribution

    def _branches(self, choices: tuple[float, ...], wanted: Wanted) -> list[tuple[float, float]]:
        if wanted.weights is None:
            return self._stretches(choices, wanted.bits)
        total = math.fsum(wanted.weights)
        return [(weight / total, cell) for cell, weight in enumerate(wanted.weights) if weight > 0]

    def _signature(self, choices: tuple[float, ...], value: float) -> tuple[Any, ...]:
        return tuple(self.run(Script((*choices, value), after=witness)) for witness in WITNESSES)

    def _stretches(self, choices: tuple[float, ...], bits: int) -> list[tuple[float, float]]:
        cell = 2.0**-bits
        inner = [math.floor((k + 0.5) / self.points / cell) * cell for k in range(self.points)]
        probes = [(value, self._signature(choices, value)) for value in (0.0, *inner, 1.0 - cell)]
        stretches, begin, value = [], 0.0, 0.0
        for (low, before), (high, after) in pairwise(probes):
            if before != after:
                end = self._end(choices, low, high, before, cell)
                stretches.append((end - begin, value))
                begin, value = end, high
        return [*stretches, (1.0 - begin, value)]

    def _end(self, choices: tuple[float, ...], low: float, high: float, before: Any, cell: float) -> float:
        """Returns the first value above `low` whose signature differs from `before`, the signature of `low`. Requires
        that the signature changes only once between `low` and `high`."""
        tried = False
        while high - low > cell:
            if not tried and high - low <= FAR and low > 0.0 and high < 1 - cell:
                tried = True
                guess = float(simplest(low, high))
                if (
                    self._signature(choices, max(low, guess - NEAR))
                    == before
                    != self._signature(choices, min(high, guess + NEAR))
                ):
                    return guess
            middle = math.floor((low + high) / 2 / cell) * cell
            if self._signature(choices, middle) == before:
                low = middle
            else:
                high = middle
        return high


def enumerated_distribution(entry: Entry, given: Input, points: int) -> Distribution:
    arguments = Arguments(entry)
    with replaced() as source:
        return Enumeration(lambda script: call(arguments, given, script, source), points).distribution()


def sampled_distribution(entry: Entry, given: Input) -> Distribution:
    """Returns the shares of tokens among trials, with the function's generators seeded once. The number of trials is in
    proportion to the probability of the input."""
    arguments, distribution = Arguments(entry), {}
    arguments.seed(1)
    trials = max(1, round(entry.sampled * given.probability))
    for _ in range(trials):
        tokens = arguments.tokens(given)
        distribution[tokens] = distribution.get(tokens, 0.0) + 1 / trials
    return distribution


class Deviation:
    """The distance of an entry's distribution from the target on an instance, after the target completed short strings.

    distance     total variation
    error        the part of the distance that enumeration or sampling explains
    impossible   strings that have probability 0 in the target, and names of failures, with their probabilities. If the
                 distribution was sampled, strings from numbers at the ends of their range are included, with 0
    """

    def __init__(self, entry: Entry, instance: Instance, points: int = 6) -> None:
        longest = 1 if entry.level == "position" else instance.length + 1
        target = instance.target(entry.level)
        whole: Distribution = {}
        for given in instance.inputs(entry.level, entry.drafts):
            if entry.sampled:
                distribution = dict.fromkeys(corners(entry, given), 0.0) | sampled_distribution(entry, given)
            else:
                distribution = enumerated_distribution(entry, given, points)
            for tokens, mass in distribution.items():
                answered = tokens and isinstance(tokens[0], int)
                for string, share in (instance.completed({tokens: 1}, longest) if answered else {tokens: 1}).items():
                    whole[string] = whole.get(string, 0.0) + float(given.probability * share) * mass
        keys = {*whole, *target}
        self.distance = sum(abs(whole.get(key, 0.0) - float(target.get(key, 0))) for key in keys) / 2
        # If the distribution was sampled, this is the mean distance for nine strings plus McDiarmid's bound, which the
        # distance exceeds with probability at most 1e-6. Otherwise it is a bound for rounding.
        self.error = 4 / math.sqrt(entry.sampled) if entry.sampled else 2e-6
        self.impossible = {string: mass for string, mass in whole.items() if not target.get(string)}


def corners(entry: Entry, given: Input) -> set[Tokens]:
    """Returns the outcomes of calls whose random numbers repeat four values, each of which is 0, 0.5 or 1 - 2^-53."""
    ends = 0.0, 0.5, 1 - 2.0**-53
    arguments = Arguments(entry)
    with replaced() as source:
        return {call(arguments, given, Script(after=values), source) for values in product(ends, repeat=4)}


def coupled(entry: Entry, instance: Instance, batches: int = 60, rows: int = 3) -> str:
    """Describes a row of a random batch whose tokens differ if it is run alone; empty if there is none."""
    dice, arguments = random.Random(1), Arguments(entry)
    inputs = list(instance.inputs(entry.level, entry.drafts))
    with replaced() as source:
        for _ in range(batches):
            some = [dice.choice(inputs) for _ in range(rows)]
            numbers = [[dice.random() for _ in range(64)] for _ in some]
            scripts = [Script(after=own) for own in numbers]
            source.script = Script(rows=scripts)
            try:
                together = arguments.batch(some)
            except SharedDraw as error:
                return str(error)
            for given, own, tokens in zip(some, numbers, together, strict=True):
                if (alone := call(arguments, given, Script(after=own), source)) != tokens:
                    return f"drafts {given.drafts}: {tokens}, alone {alone}"
    return ""


def two_answers(entry: Entry, instances: list[Instance], calls: int = 400) -> str:
    """Describes an input for which two calls with equal random numbers returned different tokens; empty if there is
    none."""
    dice, arguments = random.Random(1), Arguments(entry)
    inputs = [given for instance in instances for given in instance.inputs(entry.level, entry.drafts)]
    asked = [(given, [dice.random() for _ in range(64)]) for given in inputs for _ in range(8)]
    answers: dict[int, Tokens] = {}
    with replaced() as source:
        for _ in range(calls):
            n = dice.randrange(len(asked))
            given, numbers = asked[n]
            tokens = call(arguments, given, Script(after=numbers), source)
            if answers.setdefault(n, tokens) != tokens:
                return f"drafts {given.drafts}: {answers[n]}, then {tokens}"
    return ""
