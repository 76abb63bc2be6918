"""The gate on the catalogue, and the catalogue by enumeration, which uses no part of draftproof."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path
from typing import Any

import catalogue
import numpy as np
import pytest
from catalogue import Entry, judge
from catalogue.exact import Deviation, coupled, simplest, two_answers
from catalogue.instance import Instance
from catalogue.run import in_processes
from catalogue.written import STYLES, Written, right_functions

pytestmark = pytest.mark.usefixtures("one_thread")

# Instances for each level: rows with zeros, equal rows, rows with one possible token, rows that change with the prefix.
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
# Number of probes of a coin for functions whose result changes in many or narrow intervals of the coin.
STRETCHES = {"one_uniform": 65, "k-seq": 13}
# Right functions that resemble others and take seconds each. They are judged in a nightly run.
LIKE_OTHERS = "numpy_batch_8", "numpy_batch_12", "numpy_batch_14", "numpy_chain_2", "numpy_chain_9"
# These functions do not end, and judging each takes many seconds. Only run.py judges them.
ENDLESS = "draws_without_bound", "draws_until_it_is_zero", "draws_until_nothing_is_rejected", "hash_of_python_open"
WRONG, RIGHT = catalogue.entries(wrong=True), catalogue.entries(wrong=False)
needs_torch = pytest.mark.skipif(not catalogue.torch_there(), reason="torch is not installed")


def instances(level: str) -> list[Instance]:
    return [Instance.parse(text) for text in OF_LEVEL[level]]


def each(entries: list[Entry], gaps: bool = True) -> Any:
    """Returns a parametrization over entries. Tests of entries with a gap are expected to fail, so that a gate without
    the gap is noticed."""
    marks = {e.name: [pytest.mark.xfail(strict=True, reason=e.gap)] if gaps and e.gap else [] for e in entries}
    for name in marks.keys() & set(LIKE_OTHERS):
        marks[name].append(pytest.mark.nightly)
    return pytest.mark.parametrize("entry", [pytest.param(e, id=e.name, marks=marks[e.name]) for e in entries])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@each([entry for entry in WRONG if entry.name not in ENDLESS])
def test_what_is_said_of_a_wrong_function(in_a_folder: Path, entry: Entry) -> None:
    said, verdict = judge(entry)
    assert said == ""
    if entry.on and entry.status == "failed":
        shown = next(f.counterexample for f in verdict.findings if f.check == entry.check)
        counterexample = Instance.parse(shown)
        assert (counterexample.vocabulary <= 3, counterexample.length <= 2, counterexample.drafts <= 2) == (True,) * 3
        assert shown in str(verdict)


@each(RIGHT)
def test_right_function_holds(in_a_folder: Path, entry: Entry) -> None:
    said, verdict = judge(entry)
    assert said == "", entry.why
    assert {finding.check for finding in verdict.findings} >= {"exact_distribution", "zero_support", "row_alone"}


@each([entry for entry in WRONG if entry.on], gaps=False)
def test_wrong_function_departs_from_the_target(entry: Entry) -> None:
    instance = Instance.parse(entry.on)
    assert instance.vocabulary <= 3
    assert instance.length <= 2
    found = Deviation(entry, instance)
    assert found.distance > found.error or found.impossible
    strings = [isinstance((*string, "")[0], int) for string in found.impossible]
    if entry.check == "zero_support":
        assert any(strings)
    if entry.check == "answers":
        assert not all(strings)


@each([entry for entry in WRONG if entry.one_line and entry.batched], gaps=False)
def test_wrong_batch_couples_rows_but_not_one(entry: Entry) -> None:
    instance = Instance.parse(OF_LEVEL["chain"][2])
    assert coupled(entry, instance)
    alone = Deviation(entry, instance)
    assert alone.distance <= alone.error
    assert not alone.impossible


@each([entry for entry in WRONG if entry.state], gaps=False)
def test_function_with_a_state_has_two_answers(entry: Entry) -> None:
    assert two_answers(entry, instances("chain"))


@each(RIGHT, gaps=False)
def test_right_function_has_the_target_distribution(entry: Entry) -> None:
    points = next((points for name, points in STRETCHES.items() if entry.name.startswith(name)), 6)
    for instance in instances(entry.level):
        found = Deviation(entry, instance, points)
        assert found.distance <= found.error, instance
        assert not found.impossible, instance
        if (
            entry.batched and "coins[inside]" not in entry.why
        ):  # one draw has the coins of several rows, which `replaced` cannot tell apart
            assert not coupled(entry, instance)
    assert entry.sampled or not two_answers(entry, instances(entry.level))


@pytest.mark.parametrize(("low", "high", "wanted"), [(0.3, 0.34, (1, 3)), (0.5, 0.52, (13, 25)), (0.49, 0.5, (1, 2))])
def test_simplest_fraction(low: float, high: float, wanted: tuple[int, int]) -> None:
    assert simplest(low, high).as_integer_ratio() == wanted


@needs_torch
def test_catalogue_is_as_large_as_promised() -> None:
    one_line = [entry for entry in WRONG if entry.one_line]
    assert all(entry.on or entry.state or entry.batched for entry in one_line)
    assert sum(entry.declared["arrays"] == "torch" for entry in one_line) >= 30
    assert sum(entry.status == "passed" for entry in WRONG) >= 5
    assert {entry.declared["arrays"] for entry in RIGHT} == {"torch", "numpy", "list"}
    assert {one.style for one in catalogue.covering()} == {one.style for one in islice(right_functions(), len(STYLES))}


def test_a_seed_gives_a_thousand_functions_of_every_style() -> None:
    found = list(islice(right_functions(3), 1000))
    assert len({(written.text, str(written.declared)) for written in found}) == 1000
    assert [one.text for one in islice(right_functions(3), 20)] == [one.text for one in found[:20]]
    assert len({written.style for written in found}) == len(STYLES)
    every = "\n".join(written.text for written in found)
    for word in (
        "bernoulli",
        "exponential_",
        "gumbel",
        "searchsorted",
        "choices",
        "rng",
        "generator",
        "softmax",
        "break",
    ):
        assert word in every
    assert {written.declared["dtype"] for written in found} == {"float32", "float64", "float16", "bfloat16"}


def given(written: Written, generator: np.random.Generator) -> list[Any]:
    """Returns arguments with q = 2 p: a draft is rejected with probability 1/2, and (p - q)+ is all zero."""
    import torch

    level, batched, k, v = written.declared.get("level", "chain"), "batched" in written.declared, 2, 4
    p = generator.dirichlet(np.ones(v), k + 1)
    p, q = (p[0], 2 * p[0]) if level == "position" else (p, 2 * p[:-1])
    if written.declared["logits"]:
        p, q = np.log(p), np.log(q)
    arrays = [p, q, generator.permutation(v)[:k]]
    arrays += [np.array([-1, -1])] if level == "tree" else []
    if batched:
        arrays = [np.stack([array] * 3) for array in arrays]
        arrays += [np.array([2, 1, 0])] if "lengths" in written.text.split("def verify(")[1].split(")")[0] else []
    kind = written.declared["arrays"]
    if kind == "torch":
        wide = getattr(torch, written.declared["dtype"])
        return [torch.tensor(a, dtype=wide if a.dtype.kind == "f" else torch.int64) for a in arrays]
    return [a.tolist() for a in arrays] if kind == "list" else arrays


@needs_torch
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_every_function_draws_from_p_where_nothing_is_left() -> None:
    import torch

    torch.manual_seed(1)
    np.random.seed(1)
    random.seed(1)
    for written in islice(right_functions(5), 240):
        fn, generator = written.fn, np.random.default_rng(2)
        for _ in range(4):
            named = {"rng": generator} if "rng" in written.text else {}
            named |= {"generator": torch.Generator().manual_seed(3)} if "generator=" in written.text else {}
            tokens = np.asarray(fn(*given(written, generator), **named)).reshape(-1)
            assert ((tokens >= -1) & (tokens < 4)).all(), written.text


def test_a_function_without_an_end_is_given_up() -> None:
    def work(item: int) -> int:
        while item == 1:
            pass
        return item + 10

    found = dict(in_processes(work, range(4), 2, 2.0))
    assert found == {0: 10, 1: "no end in 2 s", 2: 12, 3: 13}
