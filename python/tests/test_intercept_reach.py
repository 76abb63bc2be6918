"""What a function reaches: an attribute is not the global of its name, and is followed to its own value."""

from __future__ import annotations

import random
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from draftproof import intercept

g = np.random.default_rng(0)  # what no function below loads
state = random.Random(0)


class Settings:
    """Attributes of the class, of which `vars` of an object has none."""

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
