"""numpy under a tape: values, logs, refusals, and generators that are made during the call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from draftproof import intercept
from draftproof.tape import CLOCK, COIN, INTEGER, PICK, NoMass, RowsUnclear, Tape, UnknownRandomness

P = [0.0, 0.25, 0.75]


def run(fn: Callable[[], Any], *rows: list[float], races: bool = False) -> tuple[Any, Tape]:
    tape = Tape(rows, 3, races)
    with intercept.intercepting(tape):
        result = fn()
    return result, tape


def kinds(tape: Tape) -> list[tuple[int, int, int]]:
    return [(kind, size, bits) for kind, size, bits, _ in tape.log()[1].tolist()]


def rng() -> Any:
    return np.random.default_rng(1)


GRID = 1 - 2.0**-24
CASES: list[tuple[str, Callable[[], Any], list[float], Any, list[tuple[int, int, int]]]] = [
    ("random", lambda: rng().random(), [0.5], 0.5, [(COIN, 0, 53)]),
    ("random array", lambda: rng().random((1, 2)), [0.5, 0.25], [[0.5, 0.25]], [(COIN, 0, 53)] * 2),
    ("random float32", lambda: rng().random(1, dtype=np.float32), [1 - 2.0**-53], [GRID], [(COIN, 0, 24)]),
    ("random out", lambda: rng().random(out=np.empty(1)), [0.5], [0.5], [(COIN, 0, 53)]),
    ("uniform", lambda: rng().uniform(2, 4), [0.25], 2.5, [(COIN, 0, 53)]),
    ("uniform arrays", lambda: rng().uniform([0, 2], [1, 4]), [0.25, 0.5], [0.25, 3.0], [(COIN, 0, 53)] * 2),
    ("exponential", lambda: rng().exponential(2.0), [-3.0], 6.0, [(CLOCK, 1, 53)]),
    ("exponential race", lambda: rng().exponential(size=2), [-3.0, -1.0], [3.0, 1.0], [(CLOCK, 2, 53)] * 2),
    ("standard", lambda: rng().standard_exponential(1, np.float32), [-3.0], [3.0], [(CLOCK, 1, 24)]),
    ("gumbel", lambda: rng().gumbel(1.0, 2.0, 1), [-math.e], [-1.0], [(CLOCK, 1, 53)]),
    ("choice", lambda: rng().choice(3, p=P), [0.2499], 1, [(PICK, 3, 0)]),
    ("choice edge", lambda: rng().choice([7, 8, 9], p=P), [0.25], 9, [(PICK, 3, 0)]),
    ("choice size", lambda: rng().choice(3, 2, p=P), [0.9, -1.0], [2, 0], [(PICK, 3, 0)] * 2),
    ("choice without", lambda: rng().choice(3, 2, False, P), [0.9, 0.9], [2, 1], [(PICK, 3, 0)] * 2),
    ("choice alike", lambda: rng().choice(4), [0.75], 3, [(INTEGER, 4, 0)]),
    ("choice subset", lambda: rng().choice(3, 2, False), [0.9, 0.9], [2, 0], [(INTEGER, 3, 0), (INTEGER, 2, 0)]),
    ("integers", lambda: rng().integers(2, 6), [0.5], 4, [(INTEGER, 4, 0)]),
    ("integers end", lambda: rng().integers(3, endpoint=True, size=1), [0.9], [3], [(INTEGER, 4, 0)]),
    ("multinomial", lambda: rng().multinomial(1, P), [0.3], [0, 0, 1], [(PICK, 3, 0)]),
    ("multinomial 2", lambda: rng().multinomial(2, P), [0.3, 0.1], [0, 1, 1], [(PICK, 3, 0)] * 2),
    ("the last is what is left", lambda: rng().multinomial(1, [0.5, 0.1]), [0.6], [0, 1], [(PICK, 2, 0)]),
    ("permutation", lambda: rng().permutation(3), [0.5, 0.0], [1, 0, 2], [(INTEGER, 3, 0), (INTEGER, 2, 0)]),
    ("legacy rand", lambda: np.random.rand(2), [0.5, 0.25], [0.5, 0.25], [(COIN, 0, 53)] * 2),
    ("legacy random", lambda: np.random.random(), [0.5], 0.5, [(COIN, 0, 53)]),
    ("legacy ranf", lambda: np.random.ranf(), [0.5], 0.5, [(COIN, 0, 53)]),
    ("legacy choice", lambda: np.random.choice(3, p=P), [-2.0], 1, [(PICK, 3, 0)]),
    ("legacy randint", lambda: np.random.randint(1, 5), [0.5], 3, [(INTEGER, 4, 0)]),
    ("legacy state", lambda: np.random.RandomState(3).uniform(), [0.5], 0.5, [(COIN, 0, 53)]),
    ("own bits", lambda: np.random.Generator(np.random.PCG64(3)).random(), [0.5], 0.5, [(COIN, 0, 53)]),
    ("seeded", lambda: (np.random.seed(3), np.random.random())[1], [0.5], 0.5, [(COIN, 0, 53)]),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "values", "wanted", "log"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_method_is_a_function_of_the_tape(fn: Any, values: Any, wanted: Any, log: Any) -> None:
    result, tape = run(fn, [*values, 0.5])
    assert np.asarray(result).tolist() == wanted
    assert kinds(tape) == log


def test_shuffle_permutes_arrays_and_lists() -> None:
    x, y = np.arange(3), [0, 1, 2]
    run(lambda: rng().shuffle(x), [0.9, 0.9])
    run(lambda: np.random.shuffle(y), [0.9, 0.9])
    assert x.tolist() == y == [2, 0, 1]


def test_all_methods_are_answered_or_refused() -> None:
    """Whatever this numpy has: nothing draws past the tape."""
    from draftproof.intercept._numpy_draws import METHODS

    quiet = {"bit_generator", "spawn", "get_state", "set_state", "seed"}
    for made, of in ((rng, np.random.Generator), (lambda: np.random.RandomState(1), np.random.RandomState)):
        for name in dir(of):
            if name.startswith("_") or not callable(getattr(of, name)) or name in METHODS or name in quiet:
                continue
            with pytest.raises(UnknownRandomness, match=name):
                run(lambda made=made, name=name: getattr(made(), name)(), [0.5])
    for name in ("randn", "normal", "standard_normal", "poisson", "beta"):
        with pytest.raises(UnknownRandomness, match=name):
            run(lambda name=name: getattr(np.random, name)(), [0.5])


def test_rows_of_a_batch() -> None:
    values = [[0.125, 0.25, 0.375, 0.4375], [0.5, 0.625, 0.75, 0.875]]
    assert run(lambda: np.random.rand(2, 2), *values)[0].tolist() == [[0.125, 0.25], [0.5, 0.625]]
    assert run(lambda: rng().choice(2, 2, p=[0.3, 0.7]), *values)[0].tolist() == [0, 1]
    assert run(lambda: rng().multinomial(1, [[0.5, 0.5], [0.6, 0.4]]), *values)[0].tolist() == [[1, 0], [1, 0]]
    for fn in (lambda: rng().random(), lambda: rng().random(3), lambda: rng().permutation(2), lambda: rng().gumbel(),
               lambda: rng().choice(3, p=P), lambda: rng().choice(3, 2, False, P)):  # fmt: skip
        with pytest.raises(RowsUnclear):
            run(fn, *values)


def test_races() -> None:
    uniform = run(lambda: rng().random(3), [-1.0, -0.5, -(2.0**100)], races=True)
    assert np.allclose(-np.log(uniform[0][:2]), [1.0, 0.5], rtol=1e-14) and uniform[0][2] == 0
    assert kinds(uniform[1]) == [(CLOCK, 3, 45)] * 3
    alone = run(lambda: (lambda one: [one.exponential() for _ in range(3)])(rng()), [-1.0, -0.5, -2.0], races=True)
    assert alone[0] == [1.0, 0.5, 2.0] and kinds(alone[1]) == [(CLOCK, 3, 53)] * 3


def test_probabilities_are_checked_as_by_numpy() -> None:
    for p in ([0.5, 0.4], [0.5, 0.5, 0.0]):
        for fn in (lambda p=p: np.random.default_rng(1).choice(2, p=p), lambda p=p: np.random.choice(2, p=p)):
            with pytest.raises(ValueError):
                fn()
            with pytest.raises(ValueError):
                run(fn, [0.5])
    for p in ([0.0, 0.0], [math.nan, 0.5], [1.5, -0.5]):
        with pytest.raises(NoMass):
            run(lambda p=p: rng().choice(2, p=p), [0.5])


def test_after_the_call_numpy_is_as_before() -> None:
    names = {name: getattr(np.random, name) for name in dir(np.random)}
    np.random.seed(5)
    wanted = np.random.random(2).tolist()
    np.random.seed(5)
    kept: list[Any] = []
    run(lambda: (np.random.seed(1), kept.append(rng())), [0.5])
    assert {name: getattr(np.random, name) for name in dir(np.random)} == names
    assert np.random.random(2).tolist() == wanted
    assert kept[0].random() == np.random.default_rng(1).random()  # a stand-in that was kept draws as what it stands for


def test_seeds_repeat() -> None:
    drawn = []
    for seed in (3, 3, 2**62 + 3):
        with intercept.seeded(seed):
            drawn.append(np.random.random())
    assert drawn[0] == drawn[1] != drawn[2]
