"""Tests that a verifier of speculative decoding is lossless: one file to copy into a repository, without draftproof.

    from draftproof_gate import gate

    def test_verify_is_lossless():
        gate(verify)                # verify(p [L + 1, V], q [L, V], drafts [L]) -> tokens

p is the target and q the proposal; draft i was drawn from row i of q. A verifier is lossless if its tokens, continued
by draws from p, have the target's distribution. The gate replaces the random functions of torch, numpy and `random`,
finds by bisection which random numbers lead to which tokens, and so computes the distribution of the output on models
of 2 to 4 tokens, some with zeros or next to p = q. It requires Python 3.10 and numpy, and torch if the verifier does.

This file does not judge trees, several drafts of one token, effects between rows of a batch, CUDA tensors, half
precision, uniforms as Gumbel noise or large vocabularies; `draftproof.check` does.
"""

from __future__ import annotations

import inspect
import math
import random
import re
import sys
import traceback
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from fractions import Fraction
from itertools import accumulate, pairwise, product
from typing import Any, NamedTuple, cast
from unittest import mock

import numpy as np

Tokens = tuple[int, ...]
Numbers = tuple[float, ...]
Outcome = Tokens | str  # the tokens of a call, or the reason why it has no tokens
MOST_DRAWS, MOST_CALLS = 256, 5_000  # most draws of one call, and most calls on one input
STEP, PROBES = 2.0**-24, (0.1875, 0.53125, 0.8125)  # values of a uniform that are tried; changes are located up to STEP
# A continuation is repeated after the numbers under test, which count as equal if all of these give equal calls.
CONTINUATIONS = (0.5, 0.47), (0.04, 0.06), (0.96, 0.93), (0.1, 0.9), (0.9, 0.1), (0.3, 0.7, 0.55)
EARLY, MIDDLE, LATE = 2.0**-20, 2.0**-2, 16.0  # times in a race, as exponential numbers
TORCH_SEED = 20261130
# Models with zeros, rows of one token, rows next to p = q, small p / q and p - q, and rows that change after a draft.
MODELS = """p=(0 1)/1 q=(1 0)/1; p=(0 1)/1 q=(0 1)/1; p=(0 1)/1 q=(1 33554431)/33554432; p=(1 1)/2 q=(0 1)/1
p=(1 2)/3 q=(2 1)/3; p=(1 0)/1 q=(1 0)/1 [0] p=(0 1)/1 q=(1 0)/1; p=(0 1)/1 q=(1 0)/1 [0] p=(1 0)/1 q=(1 0)/1
p=(1 7)/8 q=(8388609 58720255)/67108864; p=(2 3)/5 q=(3 1)/4 [0] p=(1 2)/3 q=(1 0)/1 [1] p=(3 1)/4 q=(1 0)/1
p=(0 1 1)/2 q=(1 0 1)/2; p=(1 1 1)/3 q=(0 0 1)/1; p=(2 3 0)/5 q=(0 0 1)/1; p=(1 2 0 3)/6 q=(2 0 1 1)/4
p=(1 37 1 1)/40 q=(9 2 0 29)/40
L=2 K=1 [] p=(0 1 1)/2 q=(1 0 1)/2 [0] p=(1 0 0)/1 q=(1 0 0)/1 [2] p=(0 1 1)/2 q=(1 0 0)/1 [2 0] p=(0 1 0)/1 q=(1 0 0)/1
L=2 K=1 [] p=(1 2 1)/4 q=(2 1 1)/4 [0] p=(1 1 1)/3 q=(1 1 2)/4 [1] p=(0 1 2)/3 q=(1 1 0)/2 [2] p=(1 1 0)/2 q=(0 1 1)/2
"""


class Refuted(AssertionError):
    """The verifier is not lossless, fails, changes its inputs, or does not depend on its arguments and draws alone."""


class Undecided(RuntimeError):
    """The verifier cannot be judged: it seeds a generator, or draws in a way that is not replaced or enumerated."""


class NoMass(RuntimeError, ValueError):
    """A draw by weights that are all zero, negative or not finite. torch raises RuntimeError, numpy ValueError."""


# Scripted random numbers: a sequence of numbers in [0, 1), which draws use in order.
class Draw(NamedTuple):
    """One draw: a uniform (`coin`), a cell by `weights` (`pick`), or a race of `width` clocks (`race`)."""

    first: int
    kind: str
    name: str
    width: int = 1
    bits: int = 53  # a coin is a multiple of 2^-bits
    weights: Numbers = ()


class Script:
    """The random numbers of one call: `values`, then `later` repeated; and a record of every draw."""

    def __init__(self, values: Numbers, later: Numbers) -> None:
        self.values, self.later, self.draws = values, later, list[Draw]()
        self.error: Exception | None = None  # kept because a verifier may catch every exception

    def refuse(self, why: str) -> Any:
        self.error = Undecided(f"undecided: {why}")
        raise self.error

    def draw(self, kind: str, name: str, count: int = 1, bits: int = 53, weights: Numbers = ()) -> Numbers:
        first = self.draws[-1].first + self.draws[-1].width if self.draws else 0
        self.draws.append(Draw(first, kind, name, count, bits, weights))
        if first + count > MOST_DRAWS:
            self.refuse(f"a call draws more than {MOST_DRAWS} random numbers")
        known, later = self.values[first : first + count], self.later
        start = max(first - len(self.values), 0)
        return known + tuple(later[(start + i) % len(later)] for i in range(count - len(known)))

    def uniforms(self, name: str, shape: Sequence[int], bits: int) -> list[float]:
        return [_on_grid(self.draw("coin", name, 1, bits)[0], bits) for _ in range(math.prod(shape))]

    def exponentials(self, name: str, shape: Sequence[int]) -> list[float]:
        kind, count = ("race", shape[-1]) if len(shape) and shape[-1] > 1 else ("coin", 1)
        drawn = [x for _ in range(math.prod(shape) // count) for x in self.draw(kind, name, count)]
        return [-math.log1p(-x) for x in drawn]

    def pick(self, name: str, weights: Numbers) -> int:
        if not (min(weights) >= 0 and 0 < sum(weights) < math.inf):  # also true for NaN
            self.draw("coin", name)
            shown = [float(f"{w:.6g}") for w in weights]
            raise NoMass(f"{name}: got the weights {shown}, expected a finite sum above 0")
        sums = list(accumulate(weights))
        (number,) = self.draw("pick", name, weights=weights)
        return min(bisect_right(sums, number * sums[-1]), max(i for i, w in enumerate(weights) if w > 0))


def _on_grid(u: float, bits: int) -> float:
    return min(math.floor(u * 2.0**bits), 2.0**bits - 1) / 2.0**bits


_script: Script = Script((), (0.5,))  # the numbers of the call that runs now


# Replacements of random functions. Any other random function changes a generator's state, which raises Undecided.
class ScriptedGenerator(cast(Any, np.random.Generator)):  # type: ignore[misc]
    """A numpy Generator whose methods below take their numbers from the script."""

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        shape = _shape(size) if out is None else out.shape
        numbers = _script.uniforms("numpy random", shape, 24 if np.dtype(dtype) == np.float32 else 53)
        out = np.empty(shape, dtype) if out is None else out
        out[...] = np.reshape(numbers, shape)
        return out if shape else numbers[0]

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return low + (high - low) * self.random(np.broadcast(low, high).shape if size is None else size)

    def exponential(self, scale: float = 1.0, size: Any = None) -> Any:
        drawn = np.reshape(_script.exponentials("numpy exponential", _shape(size)), _shape(size))
        return scale * (drawn if drawn.shape else drawn.item())

    def gumbel(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        return loc - scale * np.log(self.exponential(1.0, size))

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, **ordered: Any) -> Any:
        values = np.arange(a) if np.ndim(a) == 0 else np.moveaxis(np.asarray(a), ordered.get("axis", 0), 0)
        weights = np.full(len(values), 1 / len(values)) if p is None else np.asarray(p, np.float64)
        count = math.prod(_shape(size))
        if not replace and count > 1:
            _script.refuse("numpy choice draws several values without replacement")
        # The tolerance of numpy, which depends on the type of p.
        atol = np.finfo(p.dtype if isinstance(p, np.ndarray) and p.dtype.kind == "f" else float).eps ** 0.5
        if len(weights) != len(values) or (np.isfinite(weights).all() and abs(weights.sum() - 1) > atol):
            raise ValueError(f"numpy choice: got the probabilities {weights.tolist()}, expected {len(values)}, sum 1")
        picked = values[[_script.pick("numpy choice", tuple(weights.tolist())) for _ in range(count)]]
        return picked[0] if size is None else picked.reshape(_shape(size))

    def default_rng(self, seed: Any = None) -> Any:
        return self if seed is None else seed if hasattr(seed, "choice") else _script.refuse("default_rng(seed)")


class ScriptedRandom(random.Random):
    def random(self) -> float:  # the other functions of `random` call this one
        return _script.uniforms("random.random", (), 53)[0]


def _shape(size: Any) -> tuple[int, ...]:
    return () if size is None else tuple(np.atleast_1d(size).tolist())


def _replaced(torch: Any, generator: Any) -> Iterator[tuple[Any, str, Any]]:
    """Yields owner, name and replacement of each random function."""
    for name in ("random", "uniform", "exponential", "gumbel", "choice"):
        yield np.random, name, getattr(generator, name)
    yield np.random, "random_sample", generator.random
    yield np.random, "rand", lambda *shape: generator.random(shape or None)
    yield np.random, "default_rng", generator.default_rng
    for name in ("random", "uniform", "choice", "choices", "randint", "randrange"):
        yield random, name, getattr(ScriptedRandom(), name)
    if torch is not None:
        yield from _replaced_torch(torch)


def _replaced_torch(torch: Any) -> Iterator[tuple[Any, str, Any]]:
    bits, like = {torch.float64: 53, torch.float16: 11, torch.bfloat16: 8}, torch.empty_like

    def fill(tensor: Any, numbers: Sequence[float], generator: Any) -> Any:
        if generator is not None and generator.initial_seed() != TORCH_SEED:
            _script.refuse("a torch.Generator that the verifier seeds; take a parameter `generator`")
        return tensor.copy_(torch.tensor(numbers, dtype=torch.float64).reshape(tensor.shape))

    def uniform(tensor: Any, low: float = 0.0, high: float = 1.0, *, generator: Any = None) -> Any:
        drawn = _script.uniforms("torch uniform", tensor.shape, bits.get(tensor.dtype, 24))
        return fill(tensor, [low + u * (high - low) for u in drawn], generator)

    def exponential(tensor: Any, lambd: float = 1.0, *, generator: Any = None) -> Any:
        drawn = _script.exponentials("torch exponential", tensor.shape)
        return fill(tensor, [max(x, 2.0**-100) / lambd for x in drawn], generator)  # never 0, as in torch

    def bernoulli(input: Any, p: Any = None, *, generator: Any = None) -> Any:
        return (uniform(like(input), generator=generator) < (input if p is None else p)).to(input.dtype)

    def multinomial(input: Any, num_samples: int, replacement: Any = False, *, generator: Any = None, **to: Any) -> Any:
        if num_samples != 1 or to:
            _script.refuse(f"torch.multinomial draws {num_samples} samples or into `out`, expected 1 that is returned")
        rows = input.reshape(-1, input.shape[-1]).tolist()
        cells = [_script.pick("torch multinomial", tuple(row)) for row in rows]
        return fill(torch.empty(*input.shape[:-1], 1, dtype=torch.int64), cells, generator)

    yield torch, "rand", lambda *size, generator=None, **to: uniform(torch.empty(*size, **to), generator=generator)
    yield torch, "rand_like", lambda input, generator=None, **to: uniform(like(input, **to), generator=generator)
    for owner in (torch, torch.Tensor):
        yield owner, "bernoulli", bernoulli
        yield owner, "multinomial", multinomial
    yield torch.Tensor, "uniform_", uniform
    yield torch.Tensor, "exponential_", exponential


# Small models, in the text form of draftproof: `draftproof.check(fn, instance=TEXT)` judges the same model.
class Model:
    """Rows p and q after prefixes. A prefix without rows has the rows of its longest prefix with rows."""

    def __init__(self, text: str) -> None:
        size = re.fullmatch(r"L=(\d+) K=1(?: \[[\d ]*\] p=\([\d ]+\)/\d+ q=\([\d ]+\)/\d+)+", text)
        entries = re.findall(r"\[([\d ]*)\] p=\(([\d ]+)\)/(\d+) q=\(([\d ]+)\)/(\d+)", text)
        self.text, self.rows = text, dict[Tokens, list[list[Fraction]]]()
        for prefix, p, over_p, q, over_q in ([[int(x) for x in part.split()] for part in entry] for entry in entries):
            self.rows[tuple(prefix)] = [[Fraction(w, n or 1) for w in row] for row, (n,) in ((p, over_p), (q, over_q))]
        rows = [row for pair in self.rows.values() for row in pair]
        if not size or () not in self.rows or len({len(row) for row in rows}) != 1 or {sum(row) for row in rows} != {1}:
            raise ValueError(f"a model: got {text!r}, expected rows of sum 1, as in `L=1 K=1 [] p=(1 2)/3 q=(0 1)/1`")
        self.length, self.vocabulary = int(size[1]), len(self.rows[()][0])

    def after(self, prefix: Tokens) -> list[list[Fraction]]:
        return self.rows[next(prefix[:n] for n in range(len(prefix), -1, -1) if prefix[:n] in self.rows)]

    def probability(self, tokens: Tokens, row: int = 0) -> float:
        """Returns the target's probability of a string, or the proposal's with row=1."""
        inside = all(0 <= x < self.vocabulary for x in tokens)
        return float(inside and math.prod(self.after(tokens[:i])[row][x] for i, x in enumerate(tokens)))

    def arrays(self, drafts: Tokens) -> tuple[Any, Any]:
        rows = np.array([self.after(drafts[:i]) for i in range(len(drafts) + 1)], np.float32)
        return rows[:, 0], rows[:-1, 1]


# A verifier on one input, and the enumeration of its outcomes.

Kinds = tuple[list[float], list[Numbers], Callable[[Numbers], int]]  # of branches: probability, numbers; tape -> branch


class Verifier:
    """A function under test on the input that `on` sets."""

    def __init__(self, fn: Any, arrays: str, batched: bool, logits: bool) -> None:
        self.fn, self.batched, self.logits = fn, batched, logits
        self.name, self.calls, self.draws = getattr(fn, "__name__", "verify"), 0, set[str]()
        self.torch: Any = cast(Any, __import__("torch") if arrays == "torch" else sys.modules.get("torch"))
        kinds: dict[str, Any] = {"torch": lambda a: self.torch.tensor(a), "numpy": np.array, "list": np.ndarray.tolist}
        if arrays not in kinds:
            raise ValueError(f"arrays: got {arrays!r}, expected one of {', '.join(kinds)}")
        self.converted, self.parameters = kinds[arrays], inspect.signature(fn).parameters
        self.error: BaseException | None = None
        self.rng, self.inputs, self.raised = ScriptedGenerator(np.random.PCG64(0)), 0, dict[tuple[Any, ...], str]()
        if "parents" in self.parameters:
            raise Undecided(f"{self.name}: undecided: it verifies trees, which draftproof.check judges")

    def on(self, p: Any, q: Any, drafts: Tokens, where: str) -> None:
        if self.logits:
            with np.errstate(divide="ignore"):
                p, q = np.log(p), np.log(q)
        self.given = [a[None] if self.batched else a for a in (p, q, np.array(drafts, np.int64))]
        self.inputs, self.most, self.where = self.inputs + 1, len(p), f"on     {where}, drafts {drafts}"
        self.known: dict[tuple[Numbers, Numbers], tuple[Outcome, list[Draw]]] = {}
        named = {"rng": self.rng, "lengths": self.converted(np.array([len(drafts)]))}
        named |= {"generator": self.torch.Generator().manual_seed(TORCH_SEED)} if self.torch is not None else {}
        self.named = {name: value for name, value in named.items() if name in self.parameters}

    def refuted(self, *lines: str) -> Refuted:
        draws = f"draws  {', '.join(sorted(self.draws)) or 'no random number, as far as the gate can see'}"
        return Refuted("\n  ".join([f"{self.name}: refuted", *lines, draws]))

    def call(self, values: Numbers, later: Numbers) -> tuple[Outcome, list[Draw]]:
        """Calls the function. Returns the outcome, and the draws that used numbers after `values`."""
        global _script
        given = [self.converted(array) for array in self.given]
        _script = script = Script(values, later)
        self.calls += 1
        try:
            outcome = self.tokens(self.fn(*given, **self.named))
        except (Exception, SystemExit) as error:
            self.error = error
            at = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__][-1:]
            place = "".join(f" ({frame.filename}, line {frame.lineno})" for frame in at)
            text = f"raised {type(error).__name__}: {error}{place}"
            outcome = self.raised.setdefault((type(error), place), text)  # because a text may contain an address
        if script.error is not None:
            raise script.error
        for name, old, new in zip(("p", "q", "drafts"), self.given, given, strict=True):
            if old.tolist() != (new if isinstance(new, list) else new.tolist()):
                raise self.refuted(f"inputs_unchanged: it overwrites {name}", self.where)
        self.draws |= {draw.name for draw in script.draws}
        return outcome, [draw for draw in script.draws if draw.first >= len(values)]

    def states(self) -> dict[str, Any]:
        """Returns the states of the libraries' generators. Draws that are not replaced change these states."""
        of_numpy = str((np.random.get_state(), self.rng.bit_generator.state))
        found: dict[str, Any] = {"random": random.getstate(), "numpy.random": of_numpy}
        return found | ({"torch": self.torch.get_rng_state().tolist()} if self.torch is not None else {})

    def tokens(self, result: Any) -> Outcome:
        """Returns the tokens of a result without the -1 that fill its end, or the reason why it has no tokens."""
        try:
            counted = self.batched and isinstance(result, tuple) and len(result) == 2  # tokens and their counts
            row = result[0] if self.batched else result
            row = row[0][: range(1, len(row[0]) + 1).index(result[1][0]) + 1] if counted else row
            tokens = np.atleast_1d(np.asarray(row))
        except (ValueError, TypeError, IndexError, KeyError):  # for example lists of several lengths
            tokens = np.zeros(0)
        while tokens.ndim == 1 and len(tokens) and tokens[-1] == -1:
            tokens = tokens[:-1]
        good = tokens.ndim == 1 and tokens.dtype.kind in "iu" and 1 <= len(tokens) <= self.most
        return tuple(tokens.tolist()) if good else f"returned {result!r}, expected 1 to {self.most} tokens"

    def run(self, values: Numbers, later: Numbers) -> tuple[Outcome, list[Draw]]:
        if (values, later) not in self.known:
            if len(self.known) >= MOST_CALLS:
                raise Undecided(f"undecided: the enumeration did not end after {MOST_CALLS} calls\n  {self.where}")
            self.known[values, later] = self.call(values, later)
        return self.known[values, later]

    def distribution(self, tapes: Sequence[Numbers]) -> dict[Outcome, float]:
        """Returns the probability of each outcome. Raises: Undecided if a predicted outcome of a tape is wrong."""
        before, leaves = self.states(), list[tuple[float, Outcome]]()
        first = [self.run((), tape) for tape in tapes]
        again = [self.call((), tape) for tape in tapes[::-1]][::-1]
        if changed := [name for name, state in self.states().items() if state != before[name]]:
            text = f"it seeds {changed[0]}, or draws from it by a function that is not replaced"
            raise Undecided(f"{self.name}: undecided: {text}\n  {self.where}")
        for (old, _), (new, _) in zip(first, again, strict=True):
            if old != new:
                text = f"function: equal random numbers give {old} and then {new}: a state between calls"
                raise self.refuted(f"{text}, or a generator that is not replaced", self.where)
        predicted = self.build((), 1.0, leaves)
        for tape, (got, _) in zip(tapes, first, strict=True):
            if got != (expected := predicted(tape)):
                text = f"undecided: got {got}, expected {expected}: random numbers in a role that is not enumerated"
                raise Undecided(f"{self.name}: {text}\n  {self.where}")
        total = defaultdict[Outcome, float](float)
        for mass, outcome in leaves:
            total[outcome] += mass
        return total

    def build(self, values: Numbers, mass: float, leaves: list[tuple[float, Outcome]]) -> Callable[[Numbers], Outcome]:
        """Enumerates the draws after `values`. Returns a function that predicts the outcome of a tape."""
        outcome, draws = self.run(values, CONTINUATIONS[0])
        if not draws:
            leaves.append((mass, outcome))
            return lambda tape: outcome
        first, count = draws[0].first, draws[0].width
        shares, numbers, branch = getattr(self, draws[0].kind)(values, draws[0])
        parts = [self.build(values + more, mass * share, leaves) for share, more in zip(shares, numbers, strict=True)]
        return lambda tape: parts[branch(tuple(tape[i % len(tape)] for i in range(first, first + count)))](tape)

    def difference(self, a: Numbers, b: Numbers) -> Numbers:
        """Returns a continuation with which a and b have different outcomes or draws; empty if there is none."""
        return next((later for later in CONTINUATIONS if self.run(a, later) != self.run(b, later)), ())

    def coin(self, values: Numbers, draw: Draw) -> Kinds:
        """Returns the branches of a uniform: the intervals of [0, 1) with equal outcomes. Both ends of the grid are
        tried."""
        begins = [0.0]
        for low, high in pairwise([0.0, *PROBES, 1 - 2.0**-draw.bits]):
            while later := self.difference((*values, begins[-1]), (*values, high)):
                begins.append(self.first_change(values, max(low, begins[-1]), high, later))
        shares = [end - begin for begin, end in pairwise([*begins, 1.0])]
        return shares, [(x,) for x in begins], lambda u: bisect_right(begins, _on_grid(u[0], draw.bits)) - 1

    def first_change(self, values: Numbers, low: float, high: float, later: Numbers) -> float:
        """Returns a number in (low, high], at most STEP after the last number with the outcome of `low`."""
        before = self.run((*values, low), later)
        while high - low > STEP:
            middle = math.floor((low + high) / 2 / STEP) * STEP
            if 8 * STEP < high - low < 2.0**-8:  # the change is often next to a simple fraction
                near = math.floor(Fraction(middle).limit_denominator(64) / Fraction(STEP)) * STEP
                middle = next((x for x in (near - 2 * STEP, near + 3 * STEP) if low < x < high), middle)
            if not low < middle < high:
                break
            same = self.run((*values, middle), later) == before
            low, high = (middle, high) if same else (low, middle)
        return high

    def pick(self, values: Numbers, draw: Draw) -> Kinds:
        """Returns the branches of a draw by weights: the cells with a weight above 0."""
        sums = list(accumulate(draw.weights))
        live = [(weight, end) for weight, end in zip(draw.weights, sums, strict=True) if weight > 0]
        ends, total = [end for _, end in live], sums[-1]
        numbers: list[Numbers] = [((end - weight / 2) / total,) for weight, end in live]
        return [w / total for w, _ in live], numbers, lambda u: min(bisect_right(ends, u[0] * total), len(live) - 1)

    def race(self, values: Numbers, draw: Draw) -> Kinds:
        """Returns the branches of clocks: the least clock / weight wins. Weights are proportional to `latest_win`."""
        weights = [self.latest_win(values, i, draw.width) for i in range(draw.width)]
        weights = weights if any(weights) else [1.0] * draw.width  # all outcomes are equal
        live = [i for i, weight in enumerate(weights) if weight > 0]
        shares = [weights[i] / sum(weights) for i in live]
        numbers = [_clocks(i, EARLY, draw.width) for i in live]
        return shares, numbers, lambda u: min(range(len(live)), key=lambda m: -math.log1p(-u[live[m]]) / shares[m])

    def latest_win(self, values: Numbers, i: int, count: int) -> float:
        """Returns the latest time, in units of MIDDLE, at which clock i wins against clocks at MIDDLE; 0 if never."""
        early = values + _clocks(i, EARLY, count)
        if not (later := self.difference(early, values + _clocks(i, LATE, count))):
            return 0.0
        low, high = math.log2(EARLY), math.log2(LATE)
        while high - low > STEP:
            middle = (low + high) / 2
            wins = self.run(values + _clocks(i, 2.0**middle, count), later) == self.run(early, later)
            low, high = (middle, high) if wins else (low, middle)
        return float(min(1.0, 2.0**low / MIDDLE))


def _clocks(i: int, time: float, count: int) -> Numbers:  # the other clocks have the time MIDDLE
    return tuple(-math.expm1(-(time if k == i else MIDDLE)) for k in range(count))


def _shown(x: float) -> str:
    near = Fraction(x).limit_denominator(64)
    return str(near) if x == 0 or (near and abs(near - x) < 2e-6) else f"{x:.3g}"


_of = random.Random(1)
# An input has 20 of these tapes. Multiples of the golden ratio leave no gap of 1/200 between 600 first numbers.
TAPES = [(i * 0.6180339887 % 1, *(_of.random() for _ in range(63))) for i in range(1200)]


def _findings(verifier: Verifier, model: Model, thorough: bool) -> list[str]:
    """Returns the faults and then the outcomes on each draft, or nothing if there is no fault."""
    findings, lines, masses = dict[str, str](), list[str](), defaultdict[Tokens, float](float)
    for drafts in product(range(model.vocabulary), repeat=model.length):
        if not (chance := model.probability(drafts, 1)):
            continue
        verifier.on(*model.arrays(drafts), drafts, model.text)
        found = verifier.distribution(TAPES[:300] if thorough else TAPES[20 * verifier.inputs % len(TAPES) :][:20])
        lines.append(f"drafts {drafts}: {', '.join(f'{at} {_shown(mass)}' for at, mass in found.items())[:300]}")
        for outcome, mass in found.items():
            where = f"on drafts {drafts}, probability {_shown(mass)}"
            if isinstance(outcome, str):
                findings.setdefault("answers", f"{where}: {outcome}")
                continue
            masses[outcome] += chance * mass
            if not model.probability(outcome):
                findings.setdefault("zero_support", f"{where}: {outcome}, which has probability 0 in the target")
    limit = 2.0**-20 * (model.length + 1)  # float32 numbers move a decision by some units of 2^-24
    for n in range(1, model.length + 2):
        strings = [*product(range(model.vocabulary), repeat=n)]
        expected, got = [model.probability(s) for s in strings], [0.0] * len(strings)
        for (i, s), (outcome, mass) in product(enumerate(strings), masses.items()):
            if outcome[:n] == s[: len(outcome)]:  # draws from p continue an output of less than n tokens
                got[i] += mass if len(outcome) >= n else mass * expected[i] / (model.probability(outcome) or 1.0)
        distance = sum(abs(a - b) for a, b in zip(got, expected, strict=True)) / 2
        if distance > limit:
            rows = [f"({' '.join(map(_shown, row))})" for row in (got, expected)]
            text = f"tokens {' '.join(str(s) for s in strings)}: got {rows[0]}, expected {rows[1]}"
            findings["exact_distribution"] = f"{text}, TV {_shown(distance)}, rounding explains {limit:.1g}"
            break
    return [f"{name}: {text}" for name, text in findings.items()] + lines[:8] if findings else []


def gate(
    fn: Any, *, arrays: str = "torch", batched: bool = False, logits: bool = False, models: str | Sequence[str] = ()
) -> str:
    """Checks that a verifier of chains is lossless. Returns a line with the counts of models and calls.

    fn         fn(p [L + 1, V], q [L, V], drafts [L]) -> 1 to L + 1 tokens, then -1 if fewer. With `batched` all have a
               leading dimension of 1. Parameters `rng`, `generator`, `lengths` get a numpy Generator, a
               torch.Generator, the number of drafts [1]
    arrays     "torch", "numpy" or "list": the type of p and q, in float32; with `logits` p and q are logarithms
    models     texts of models in place of the fixed ones

    Raises: Refuted, an AssertionError; Undecided.
    """
    __tracebackhide__ = True  # pytest then shows the caller
    verifier = Verifier(fn, arrays, batched, logits)
    given = models if models and not isinstance(models, str) else re.split("; |\n", str(models or MODELS).strip())
    texts = [text if text[:1] == "L" else f"L=1 K=1 [] {text}" for text in given]
    with ExitStack() as stack:
        for owner, name, new in _replaced(verifier.torch, verifier.rng):
            stack.enter_context(mock.patch.object(owner, name, new))
        for model in map(Model, texts):
            # An incomplete enumeration may cause findings. More tapes would show this, so all tapes are used.
            if _findings(verifier, model, False) and (lines := _findings(verifier, model, True)):
                declared = f"arrays={arrays!r}, batched={batched}, logits={logits}"
                again = f"again  draftproof.check({verifier.name}, {declared}, instance={model.text!r})"
                raise verifier.refuted(*lines, f"on     {model.text}", again) from verifier.error
    draws = ", ".join(sorted(verifier.draws)) or "no draws"
    return f"passed{' one row a batch' * batched}: {len(texts)} models, {verifier.calls} calls, {draws}"
