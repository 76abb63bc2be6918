"""random under a tape, and objects that no context can replace."""

from __future__ import annotations

import functools
import random
import secrets
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from draftproof import intercept
from draftproof.tape import CLOCK, COIN, INTEGER, PICK, NoMass, RowsUnclear, Tape, UnknownRandomness


def run(fn: Callable[[], Any], *rows: list[float]) -> tuple[Any, Tape]:
    tape = Tape(rows, 3)
    with intercept.intercepting(tape):
        result = fn()
    return result, tape


def shuffled() -> list[int]:
    x = [0, 1, 2]
    random.shuffle(x)
    return x


CASES: list[tuple[str, Callable[[], Any], list[float], Any, list[tuple[int, int, int]]]] = [
    ("random", lambda: random.random(), [0.5], 0.5, [(COIN, 0, 53)]),
    ("uniform", lambda: random.uniform(2, 4), [0.25], 2.5, [(COIN, 0, 53)]),
    ("choice", lambda: random.choice("abcd"), [0.5], "c", [(INTEGER, 4, 0)]),
    ("choices", lambda: random.choices("ab", [1, 3], k=2), [0.2499, 0.25], ["a", "b"], [(PICK, 2, 0)] * 2),
    ("choices sums", lambda: random.choices("ab", cum_weights=[1, 4]), [-1.0], ["a"], [(PICK, 2, 0)]),
    ("choices alike", lambda: random.choices("ab"), [0.5], ["b"], [(INTEGER, 2, 0)]),
    ("randint", lambda: random.randint(1, 4), [-4.0], 4, [(INTEGER, 4, 0)]),
    ("randrange", lambda: random.randrange(0, 10, 2), [0.5], 4, [(INTEGER, 5, 0)]),
    ("getrandbits", lambda: random.getrandbits(3), [0.5], 4, [(INTEGER, 8, 0)]),
    ("getrandbits 40", lambda: random.getrandbits(40), [0.5], 2**39, [(COIN, 0, 40)]),
    ("expovariate", lambda: random.expovariate(2), [-3.0], 1.5, [(CLOCK, 1, 53)]),
    ("shuffle", shuffled, [0.0, 0.0], [1, 2, 0], [(INTEGER, 3, 0), (INTEGER, 2, 0)]),
    ("a generator", lambda: random.Random(3).random(), [0.5], 0.5, [(COIN, 0, 53)]),
    ("seeded", lambda: (random.seed(3), random.random())[1], [0.5], 0.5, [(COIN, 0, 53)]),
]


@pytest.mark.parametrize(("fn", "values", "wanted", "log"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_function_of_random_is_a_function_of_the_tape(fn: Any, values: Any, wanted: Any, log: Any) -> None:
    result, tape = run(fn, [*values, 0.5])
    assert result == wanted
    assert [(kind, size, bits) for kind, size, bits, _ in tape.log()[1].tolist()] == log


def test_sample_has_no_repetition() -> None:
    for v in np.linspace(0, 0.999, 17):
        assert len(set(run(lambda: random.sample(range(4), 3), [float(v)] * 9)[0])) == 3


@pytest.mark.parametrize("name", ["gauss", "normalvariate", "betavariate", "randbytes", "gammavariate"])
def test_other_functions_are_refused_by_name(name: str) -> None:
    with pytest.raises(UnknownRandomness, match=name):
        run(lambda: getattr(random, name)(1, 1), [0.5])
    with pytest.raises(UnknownRandomness, match=name):
        run(lambda: getattr(random.Random(1), name)(1, 1), [0.5])


def test_the_systems_numbers_are_refused() -> None:
    with pytest.raises(UnknownRandomness, match="SystemRandom"):
        run(lambda: random.SystemRandom().random(), [0.5])


def test_no_row_no_mass() -> None:
    with pytest.raises(RowsUnclear):
        run(lambda: random.random(), [0.5], [0.5])
    with pytest.raises(NoMass):
        run(lambda: random.choices("ab", [0, 0]), [0.5])
    with pytest.raises(ValueError):
        run(lambda: random.choices("ab", [1]), [0.5])


def test_after_the_call_random_is_as_before() -> None:
    names = {name: getattr(random, name) for name in dir(random)}
    random.seed(3)
    wanted = [random.random(), random.random()]
    random.seed(3)
    drawn = [random.random()]
    run(lambda: random.random(), [0.25])
    assert [*drawn, random.random()] == wanted
    assert {name: getattr(random, name) for name in dir(random)} == names


def test_a_module_that_is_imported_by_the_call_draws_nothing_from_the_tape(tmp_path: Any, monkeypatch: Any) -> None:
    (tmp_path / "draws_when_imported.py").write_text("import random\nx = random.Random().randint(1, 6)\n")
    monkeypatch.syspath_prepend(tmp_path)

    def fn() -> float:
        import draws_when_imported  # type: ignore[import-not-found]

        assert 1 <= draws_when_imported.x <= 6
        return random.random()

    result, tape = run(fn, [0.5])
    assert result == 0.5 and tape.used.tolist() == [1]
    sys.modules.pop("draws_when_imported")


# What a function reaches.

GLOBAL_RNG = np.random.default_rng(0)
bare_random = random.random
bare_default_rng = np.random.default_rng


class Verifier:
    def __init__(self) -> None:
        self.parts = {"rng": [random.Random(0)]}

    def __call__(self) -> float:
        return self.parts["rng"][0].random()


def by_global() -> float:
    return float(GLOBAL_RNG.random())


def by_helper() -> float:
    return by_global()


def by_bare_name() -> float:
    return bare_random()


def by_bare_generator() -> float:
    return float(bare_default_rng().random())


def by_default(rng: Any = GLOBAL_RNG) -> float:
    return float(rng.random())


def by_secrets() -> int:
    return secrets.randbelow(3)


def in_reach() -> float:
    return random.random() + float(np.random.rand()) + float(np.random.default_rng(0).random())


def by_closure() -> Callable[[], float]:
    state = np.random.RandomState(0)
    return lambda: float(state.rand())


@pytest.mark.parametrize(
    ("fn", "name", "what"),
    [
        (by_global, "global GLOBAL_RNG", "numpy Generator made before"),
        (by_helper, "global GLOBAL_RNG", "numpy Generator"),
        (by_bare_name, "global bare_random", "random.random()"),
        (by_bare_generator, "global bare_default_rng", "imported by itself"),
        (by_default, "default 0", "numpy Generator"),
        (by_secrets, "global secrets", "operating system"),
        (Verifier(), "self.parts['rng'][0]", "random.Random made before"),
        (Verifier().__call__, "self.parts['rng'][0]", "random.Random made before"),
        (by_closure(), "state of the closure", "numpy RandomState"),
        (functools.partial(by_default, GLOBAL_RNG), "argument 0", "numpy Generator"),
        (GLOBAL_RNG.random, "random.self", "numpy Generator"),
    ],
)
def test_generators_out_of_reach_are_named(fn: Any, name: str, what: str) -> None:
    found = intercept.unreachable(fn)
    assert any(what in line for line in found), found
    assert any(name.removeprefix("self") in line for line in found), found


def test_what_can_be_replaced_is_not_named() -> None:
    assert intercept.unreachable(in_reach) == []
    assert intercept.unreachable(lambda: 0.5) == []


def test_every_file_of_the_folder_is_a_source() -> None:
    names = [source.NAME for source in intercept.sources()]
    assert sorted(names) == ["numpy", "random", "torch", "triton"]
    for source in intercept.sources():
        for part in ("present", "replaced", "scripted", "unreachable"):
            assert callable(getattr(source, part))
