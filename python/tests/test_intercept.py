"""Tests of numpy and random under a tape: values, logs, refusals, generators made during a call, and objects that a
function reaches."""

from __future__ import annotations

import copy
import functools
import math
import random
import secrets
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from intercepted import kinds, run

import draftproof.torch
from draftproof import intercept
from draftproof.arrays import kind_of
from draftproof.tape import CLOCK, COIN, INTEGER, PICK, NoMass, RowsUnclear, UnknownRandomness

P = [0.0, 0.25, 0.75]


def rng() -> Any:
    return np.random.default_rng(1)


GRID = 1 - 2.0**-24
OF_NUMPY: list[tuple[str, Callable[[], Any], list[float], Any, list[tuple[int, int, int]]]] = [
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
    ("choice narrow", lambda: rng().choice(3, p=np.float32(P) * np.float32(1.0001)), [0.2499], 1, [(PICK, 3, 0)]),
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
    ("binomial", lambda: rng().binomial(1, 0.25), [0.8], 1, [(PICK, 2, 0)]),
    ("binomials", lambda: np.random.binomial(2, [0.25, 1.0]), [0.8, 0.7, 0, 0], [1, 2], [(PICK, 2, 0)] * 4),
    ("binomial 0", lambda: rng().binomial(0, 0.5, 2), [], [0, 0], []),
    ("legacy randint", lambda: np.random.randint(1, 5), [0.5], 3, [(INTEGER, 4, 0)]),
    ("legacy state", lambda: np.random.RandomState(3).uniform(), [0.5], 0.5, [(COIN, 0, 53)]),
    ("own bits", lambda: np.random.Generator(np.random.PCG64(3)).random(), [0.5], 0.5, [(COIN, 0, 53)]),
    ("seeded", lambda: (np.random.seed(3), np.random.random())[1], [0.5], 0.5, [(COIN, 0, 53)]),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "values", "wanted", "log"), [c[1:] for c in OF_NUMPY], ids=[c[0] for c in OF_NUMPY])
def test_a_method_is_a_function_of_the_tape(fn: Any, values: Any, wanted: Any, log: Any) -> None:
    result, tape = run(fn, [*values, 0.5])
    assert np.asarray(result).tolist() == wanted
    assert kinds(tape) == log


def test_a_probability_of_a_binomial_is_checked() -> None:
    for p in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="got p below 0, above 1 or NaN"):
            run(lambda p=p: rng().binomial(1, p), [0.5])
    with pytest.raises(UnknownRandomness, match="got n = 65, expected one number up to 64"):
        run(lambda: rng().binomial(65, 0.5), [0.5])


def test_shuffle_permutes_arrays_and_lists() -> None:
    x, y = np.arange(3), [0, 1, 2]
    run(lambda: rng().shuffle(x), [0.9, 0.9])
    run(lambda: np.random.shuffle(y), [0.9, 0.9])
    assert x.tolist() == y == [2, 0, 1]


def test_all_methods_are_answered_or_refused() -> None:
    """No method of the installed numpy draws without the tape."""
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


def test_rows_of_a_batch_of_numpy() -> None:
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
    narrow = np.array([0.5, 0.5001], np.float32)  # within numpy's tolerance for float32
    assert np.random.default_rng(1).choice(2, p=narrow) in (0, 1)
    assert run(lambda: rng().choice(2, p=narrow), [0.9])[0] == 1
    for p in ([0.5, 0.4], [0.5, 0.5, 0.0], np.array([0.5, 0.5001])):
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
    assert kept[0].random() == np.random.default_rng(1).random()  # after the call a stand-in draws like its original


def test_seeds_repeat() -> None:
    drawn = []
    for seed in (3, 3, 2**62 + 3):
        with intercept.seeded(seed):
            drawn.append(np.random.random())
    assert drawn[0] == drawn[1] != drawn[2]


# Tests of the module random.


def shuffled() -> list[int]:
    x = [0, 1, 2]
    random.shuffle(x)
    return x


OF_RANDOM: list[tuple[str, Callable[[], Any], list[float], Any, list[tuple[int, int, int]]]] = [
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


@pytest.mark.parametrize(("fn", "values", "wanted", "log"), [c[1:] for c in OF_RANDOM], ids=[c[0] for c in OF_RANDOM])
def test_a_function_of_random_is_a_function_of_the_tape(fn: Any, values: Any, wanted: Any, log: Any) -> None:
    result, tape = run(fn, [*values, 0.5])
    assert result == wanted
    assert kinds(tape) == log


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


# Tests that find the generators which a function can reach.

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


# Tests that an attribute is not confused with a global of the same name.

g = np.random.default_rng(0)  # a global that only Settings.draw loads
state = random.Random(0)


class Settings:
    """A class with class attributes, which `vars` of an object does not have."""

    own = np.random.default_rng(1)
    g = 0.5

    @staticmethod
    def draw() -> float:
        return float(g.random())


class Slots:
    __slots__ = ("g", "state")

    def __init__(self, value: Any) -> None:
        self.g, self.state = value, value


plain = types.SimpleNamespace(g=0.5, inner=types.SimpleNamespace(state=0.25))
slots = Slots(np.random.default_rng(2))
module = types.ModuleType("module_of_the_user")
module.rng = np.random.default_rng(3)  # type: ignore[attr-defined]
module.inner = Slots(random.Random(4))  # type: ignore[attr-defined]


def attribute_of_a_global() -> float:
    return float(plain.g + plain.inner.state + Settings.g)


def attribute_of_an_argument(p: Any = 0.5) -> float:
    return float(p.g * p.state())


def attribute_inside_a_function() -> Callable[..., float]:
    held = plain

    def inner(p: Any) -> float:
        import random as state

        return state.random() + sum(float(x.g) + held.g for x in p)

    return inner


def random_of_numpy() -> float:
    return float(np.random.default_rng(0).random() + Settings.g)


@pytest.mark.parametrize(
    "fn", [attribute_of_a_global, attribute_of_an_argument, attribute_inside_a_function(), random_of_numpy]
)
def test_an_attribute_is_not_the_global_of_its_name(fn: Any) -> None:
    assert intercept.unreachable(fn) == []


def of_a_class() -> float:
    return float(Settings.own.random())


def of_slots() -> float:
    return float(slots.g.random())


def of_a_module() -> float:
    return float(module.rng.random())


def of_a_chain() -> float:
    return float(module.inner.state.random())


def of_a_static_method() -> float:
    return Settings.draw()


def of_a_closure() -> Callable[[], float]:
    held = Slots(np.random.default_rng(5))
    return lambda: float(max(held.g.random() for _ in range(2)))


@pytest.mark.parametrize(
    ("fn", "way"),
    [
        (of_a_class, "global Settings.own: a numpy Generator"),
        (of_slots, "global slots.g: a numpy Generator"),
        (of_a_module, "global module.rng: a numpy Generator"),
        (of_a_chain, "global module.inner.state: a random.Random"),
        (of_a_static_method, "global g: a numpy Generator"),
        (of_a_closure(), "held.g of the closure: a numpy Generator"),
    ],
)
def test_a_generator_that_is_read_through_an_attribute_is_named(fn: Any, way: str) -> None:
    assert [line for line in intercept.unreachable(fn) if line.startswith(way)], intercept.unreachable(fn)


def test_no_code_of_the_object_runs() -> None:
    class Loud:
        @property
        def g(self) -> float:
            raise AssertionError("was run")

    loud = Loud()
    assert intercept.unreachable(lambda: loud.g) == []


def test_functions_of_the_standard_library_are_not_searched() -> None:
    def copies(p: Any, q: Any, drafts: Any) -> int:
        return int(np.argmax(copy.deepcopy(p)))

    assert kind_of(copies) == "numpy"
    assert not intercept.unreachable(copies)
    reached = [thing for _, thing in intercept.objects_of(copies)]
    assert copy.deepcopy in reached and copy.copy not in reached and len(reached) < 8


def test_an_assertion_that_pytest_has_rewritten_reaches_no_other_test() -> None:
    def asserts(p: Any, q: Any, drafts: Any) -> int:
        assert len(p) == len(q) + 1, "rows"
        return int(drafts[0])

    assert not intercept.unreachable(asserts)
    assert len(list(intercept.objects_of(asserts))) < 8


def test_a_verifier_of_draftproof_torch_is_recognised_by_its_whole_name() -> None:
    def dotted(p: Any, q: Any, drafts: Any) -> Any:
        return draftproof.torch.single_draft(p, q, drafts)

    assert kind_of(dotted) == "torch"
    assert kind_of(lambda: draftproof.check) == "numpy"
