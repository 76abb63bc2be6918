"""Right functions by a seed hold. `functions/run.py` runs as many as one likes, and the table of faults."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import functions.wrong  # noqa: E402
import functions.wrong_batches  # noqa: E402, F401
from functions.fault_table import TABLE, Entry, judge  # noqa: E402
from functions.right import STYLES, Written, right_functions  # noqa: E402
from functions.run import held, in_processes  # noqa: E402

# Only run.py judges these: races of right functions, and faults without an end, take many seconds each.
LEFT_OUT = "expo", "gumbel", ".log()"
ENDLESS = "draws_without_bound", "draws_until_it_is_zero", "draws_until_nothing_is_rejected", "hash_of_python_open"


def sample() -> list[Written]:
    """The first function of each style by turns without what is left out."""
    found: dict[str, Written] = {}
    for written in islice(right_functions(), 400):
        if not any(word in written.text for word in LEFT_OUT):
            found.setdefault(written.style, written)
    return list(found.values())


@pytest.mark.parametrize("written", sample(), ids=lambda written: written.style)
def test_a_right_function_of_each_style_holds(in_a_folder: Path, written: Written) -> None:
    kind = {"position": "p=(1 2)/3 q=(1 1)/2 K=2", "tree": "L=1 K=2 [] p=(1 2)/3 q=(1 1)/2"}
    instance = kind.get(written.declared.get("level", ""), "L=1 K=1 [] p=(1 2)/3 q=(1 1)/2")
    said = held(written, tier="proof", models=0, predictions=16, instance=instance)
    assert not said, f"{written.text}\n{said}"


def test_the_sample_has_every_style() -> None:
    assert len(sample()) == len(STYLES)


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
    """Rows of which q is twice p: half of the drafts are rejected, and no residual is left."""
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


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_every_function_draws_from_p_where_nothing_is_left() -> None:
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


def test_the_table_has_three_faults_of_each_class_and_controls() -> None:
    assert len({entry.name for entry in TABLE}) == len(TABLE)
    assert sum(entry.status == "held" for entry in TABLE) >= 5


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("entry", [one for one in TABLE if one.name not in ENDLESS], ids=lambda entry: entry.name)
def test_what_is_said_of_a_fault(in_a_folder: Path, entry: Entry) -> None:
    assert judge(entry) == ""
