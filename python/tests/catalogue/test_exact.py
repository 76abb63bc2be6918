"""The catalogue is what it says, shown by enumeration: no part of draftproof is used here."""

from __future__ import annotations

import pytest

import catalogue
from catalogue.exact import Deviation, coupled, simplest, two_answers
from catalogue.instance import Instance

# Rows with zeros, equal rows, rows of one token, and rows that change with the prefix.
OF_LEVEL = {
    "chain": (
        "L=1 K=1 [] p=(0 1)/1 q=(0 1)/1 [1] p=(1 2)/3 q=(1 0)/1",
        "L=1 K=1 [] p=(1 2 2)/5 q=(3 0 1)/4 [0] p=(0 1 1)/2 q=(1 0 0)/1",
        "L=2 K=1 [] p=(1 2)/3 q=(2 1)/3 [0] p=(1 1)/2 q=(1 3)/4 [1] p=(0 1)/1 q=(1 2)/3 [0 1] p=(1 3)/4 q=(1 0)/1",
        "L=1 K=1 [] p=(0 1 3)/4 q=(1 0 0)/1",
    ),
    "position": ("p=(1 2)/3 q=(2 1)/3 K=2", "p=(0 1 2)/3 q=(2 1 1)/4 K=2", "p=(1 1 1)/3 q=(0 1 3)/4 K=2"),
    "tree": (
        "L=1 K=2 [] p=(0 1 2)/3 q=(2 1 1)/4",
        "L=2 K=2 [] p=(1 2)/3 q=(1 1)/2 [0] p=(1 1)/2 q=(0 1)/1 [1] p=(1 0)/1 q=(1 1)/2 [0 1] p=(0 1)/1 q=(1 0)/1",
    ),
}
STRETCHES = {"one_uniform": 65}  # its one coin has many stretches


@pytest.fixture(autouse=True)
def one_thread():
    torch = pytest.importorskip("torch") if not catalogue.missing() else None
    if torch:
        torch.set_num_threads(1)


def instances(level):
    return [Instance.parse(text) for text in OF_LEVEL[level]]


def name(entry):
    return entry.name


@pytest.mark.parametrize("entry", [e for e in catalogue.entries(wrong=True) if e.on], ids=name)
def test_slip_departs_from_the_target(entry):
    assert entry.instance.vocabulary <= 3
    assert entry.instance.length <= 2
    found = Deviation(entry, entry.instance)
    assert found.distance > found.error or found.impossible
    strings = [isinstance((*string, "")[0], int) for string in found.impossible]
    if entry.check == "zero_support":
        assert any(strings)
    if entry.check == "answers":
        assert not all(strings)


@pytest.mark.parametrize("entry", [e for e in catalogue.entries(wrong=True) if e.batched], ids=name)
def test_slip_couples_rows_but_not_one(entry):
    instance = Instance.parse(OF_LEVEL["chain"][2])
    assert coupled(entry, instance)
    alone = Deviation(entry, instance)
    assert alone.distance <= alone.error
    assert not alone.impossible


@pytest.mark.parametrize("entry", [e for e in catalogue.entries(wrong=True) if e.kind == "state"], ids=name)
def test_slip_has_two_answers(entry):
    assert two_answers(entry, instances("chain"))


@pytest.mark.parametrize("entry", catalogue.entries(wrong=False), ids=name)
def test_right_function_has_the_target_law(entry):
    for instance in instances(entry.level):
        found = Deviation(entry, instance, STRETCHES.get(entry.name, 6))
        assert found.distance <= found.error, instance
        assert not found.impossible, instance
        assert not entry.batched or not coupled(entry, instance)
    assert entry.sampled or not two_answers(entry, instances(entry.level))


def test_slips_without_an_instance_are_of_other_kinds():
    assert {entry.kind for entry in catalogue.entries(wrong=True) if not entry.on} <= {"state", "batches"}


@pytest.mark.parametrize(("low", "high", "wanted"), [(0.3, 0.34, (1, 3)), (0.5, 0.52, (13, 25)), (0.49, 0.5, (1, 2))])
def test_simplest_fraction(low, high, wanted):
    assert simplest(low, high).as_integer_ratio() == wanted
