"""Tests of the file to vendor: its verdicts on the catalogue, that its distribution equals the package's, the
command."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

import catalogue
import numpy as np
import pytest
from catalogue import Entry
from catalogue.written import right_functions

import draftproof
from draftproof import vendor, vendored
from draftproof.vendored import Model, Refuted, Undecided, Verifier, gate

pytestmark = pytest.mark.usefixtures("one_thread")
needs_torch = pytest.mark.skipif(not catalogue.torch_there(), reason="torch is not installed")
FOLDER = Path(__file__).resolve().parents[2]

# Names of wrong functions from all modules of the catalogue; each must be refuted.
WRONG = set(
    re.findall(
        r"\w+",
        (
            "accept_equal ratio_inverted greedy_test accept_always proposal_forgotten test_turned_round coin_in_half"
            " lenient typical epsilon_in_ratio first_draft_unchecked coin_reused_in_residual one_coin_for_all_positions"
            " residual_is_target residual_absolute residual_argmax residual_floor residual_half bonus_of_last_draft"
            " correction_forgotten stops_one_late counts_all_accepted searchsorted_left coin_rounded_to_one"
            " temperature_twice ratio_of_logits every_third_call weights_of_zero writes_p sometimes_key_error"
            " returns_float_tensor gumbel_noise_reused numpy_residual_is_target numpy_accept_equal numpy_coin_narrowed"
            " python_coin_reused python_bonus_of_last_draft subtracts_in_numpy pops_drafts proposal_one_row_late"
            " residual_of_last_proposal rejected_drafts_left_out"
        ),
    )
)
CHAINS = (
    "torch chain",
    "numpy chain",
    "list chain",
    "vectors",
    "padded batch",
    "packed batch",
    "batch by depths",
    "numpy batch",
)
NOT_ENUMERATED = "expovariate", "-u.log()"  # texts with clocks drawn one by one, or Gumbel noise


def declared(known: dict[str, Any]) -> dict[str, Any]:
    return {key: known[key] for key in ("arrays", "batched", "logits") if key in known}


def libraries() -> tuple[str, ...]:
    return ("torch", "numpy", "list") if catalogue.torch_there() else ("numpy", "list")


@pytest.mark.parametrize("entry", [e for e in catalogue.entries(wrong=True) if e.name in WRONG], ids=lambda e: e.name)
def test_a_wrong_function_is_refuted(entry: Entry) -> None:
    with pytest.raises(Refuted) as refuted:
        gate(entry.fn, **declared(entry.declared))
    if entry.on and entry.one_line:  # the counterexample is at most as large as instances found by hand
        shown = re.search(r"on     (L=.*?)(?:, drafts.*)?$", str(refuted.value), re.MULTILINE)
        assert shown is not None
        assert Model(shown[1]).length <= 2
        assert Model(shown[1]).vocabulary <= 3


@needs_torch
def test_the_names_of_wrong_functions_exist() -> None:
    assert {entry.name for entry in catalogue.entries(wrong=True)} >= WRONG
    assert len(WRONG) >= 20


def styles(seed: int, count: int) -> list[Any]:
    found = []
    for written in islice(right_functions(seed), count):
        there = written.declared["arrays"] in libraries()
        if written.style in CHAINS and there and not any(word in written.text for word in NOT_ENUMERATED):
            number = sum(one.id.startswith(written.style) for one in found)
            found.append(pytest.param(written, id=f"{written.style} {number}"))
    return found


@pytest.mark.parametrize("written", styles(4, 36))
def test_a_right_style_passes(written: Any) -> None:
    assert gate(written.fn, **declared(written.declared)).startswith("passed")


@pytest.mark.parametrize(
    "entry",
    [
        e
        for e in catalogue.entries(wrong=False)
        if e.level == "chain" and "gumbel_of_uniforms" not in e.name and "_" in e.name
    ],
    ids=lambda e: e.name,
)
def test_right_functions_of_the_catalogue_pass(entry: Entry) -> None:
    assert gate(entry.fn, **declared(entry.declared)).startswith("passed")


def test_a_tree_is_refused_by_name() -> None:
    tree = next(written for written in right_functions(1) if written.style == "tree")
    with pytest.raises(Undecided, match="it verifies trees, which draftproof"):
        gate(tree.fn, arrays="numpy")


@needs_torch
def test_uniforms_as_gumbel_noise_are_undecided() -> None:
    entry = next(e for e in catalogue.entries(wrong=False) if e.name == "gumbel_of_uniforms")
    with pytest.raises(Undecided, match="random numbers in a role that is not enumerated"):
        gate(entry.fn)


# Small functions on lists, for which torch is not required.


def ratio(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    for i, x in enumerate(drafts):
        if not rng.random() * q[i][x] < p[i][x]:
            rest = np.maximum(np.subtract(p[i], q[i], dtype=np.float64), 0)
            rest = rest if rest.any() else np.array(p[i], np.float64)
            return [*drafts[:i], int(rng.choice(len(rest), p=rest / rest.sum()))]
    last = np.array(p[-1], np.float64)
    return [*drafts, int(rng.choice(len(last), p=last / last.sum()))]


def lenient(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    return ratio(p, [[0.8 * x for x in row] for row in q], drafts, rng)


def late_race(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    tokens = ((rng.exponential(size=np.shape(p)) + 1e-30) / (np.asarray(p, np.float64) + 1e-300)).argmin(1).tolist()
    n = next((i for i, x in enumerate(drafts) if tokens[i] != x), len(drafts))
    return tokens[: n + 1]


@pytest.mark.parametrize("fn", [ratio, lenient, late_race], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize(
    "text",
    [
        "L=1 K=1 [] p=(1 2)/3 q=(2 1)/3 [0] p=(1 3)/4 q=(1 1)/2",
        "L=2 K=1 [] p=(1 2 2)/5 q=(3 0 1)/4 [0] p=(0 1 1)/2 q=(1 1 0)/2",
    ],
)
def test_the_distribution_is_the_package_s(in_a_folder: Path, fn: Any, text: str) -> None:
    model, verifier = Model(text), Verifier(fn, "list", False, False)
    drafts = (0,) * model.length
    p, q = model.arrays(drafts)
    verifier.on(p, q, drafts, text)
    with ExitStack() as stack:
        for owner, name, new in vendored._replaced(verifier.torch, verifier.rng):
            stack.enter_context(mock.patch.object(owner, name, new))
        found = verifier.distribution(vendored.TAPES)
    expected = draftproof.distribution(fn, p, q, drafts, arrays="list")
    assert set(found) == {outcome.tokens for outcome in expected.outcomes}
    for outcome in expected.outcomes:
        assert found[outcome.tokens] == pytest.approx(outcome.probability, abs=1e-6)
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)


def test_a_finding_replays_in_the_package(in_a_folder: Path) -> None:
    with pytest.raises(Refuted) as refuted:
        gate(lenient, arrays="list")
    text = re.search(
        r"again  draftproof.check\(lenient, arrays='list', batched=False, logits=False, instance='(.*)'\)",
        str(refuted.value),
    )
    assert text is not None
    verdict = draftproof.check(lenient, arrays="list", instance=text[1], tier="proof", raises=False, keep=False)
    assert verdict.status == "failed"
    assert "exact_distribution" in str(refuted.value)


# Functions that cannot be judged, or fail.


def seeds(p: Any, q: Any, drafts: Any) -> list[int]:
    np.random.seed(1)
    return ratio(p, q, drafts, np.random)


def permutes(p: Any, q: Any, drafts: Any) -> list[int]:
    np.random.permutation(3)
    return ratio(p, q, drafts, np.random)


def raises(p: Any, q: Any, drafts: Any) -> list[int]:
    raise KeyError("no block")


def nothing_left(p: Any, q: Any, drafts: Any) -> list[int]:
    rest = np.full(len(p[0]), np.nan)
    return [int(np.random.choice(len(rest), p=rest))]


def two_dimensions(p: Any, q: Any, drafts: Any) -> Any:
    return np.zeros((1, 1), int)


def too_many(p: Any, q: Any, drafts: Any) -> list[int]:
    return [0] * (len(drafts) + 2)


def numbers_without_end(p: Any, q: Any, drafts: Any) -> list[int]:
    while np.random.random() < 2:
        pass
    return [0]


def overwrites(p: Any, q: Any, drafts: Any) -> list[int]:
    p[0][0] = 0.5
    return [0]


def catches(p: Any, q: Any, drafts: Any) -> list[int]:
    try:
        return numbers_without_end(p, q, drafts)
    except Exception:
        return [0]


def seeds_a_generator(p: Any, q: Any, drafts: Any) -> list[int]:
    return ratio(p, q, drafts, np.random.default_rng(7))


def other_function_of_rng(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    return [int(rng.integers(2))]


def exception_with_a_number(p: Any, q: Any, drafts: Any) -> list[int]:
    COUNTED.append(0)
    raise RuntimeError(f"request {len(COUNTED)} failed")


COUNTED: list[int] = []


def grows(p: Any, q: Any, drafts: Any) -> list[int]:
    if isinstance(p, np.ndarray):
        p[0] = 0.5
    else:
        p[0].append(0.0)
    return [0]


def wrong_interval(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    class Shifted:
        choice = rng.choice

        @staticmethod
        def random() -> float:
            u = float(rng.random())
            return 2.0 if 0.71 < u < 0.75 else u

    return ratio(p, q, drafts, Shifted)


@pytest.mark.parametrize(
    ("fn", "kind", "words"),
    [
        (seeds_a_generator, Undecided, r"undecided: default_rng\(seed\)"),
        (other_function_of_rng, Undecided, "seeds numpy.random, or draws from it by a function that is not replaced"),
        (exception_with_a_number, Refuted, r"answers: .* raised RuntimeError: request \d+ failed"),
        (grows, Refuted, "inputs_unchanged: it overwrites p"),
        (wrong_interval, Undecided, "random numbers in a role that is not enumerated"),
        (seeds, Undecided, "seeds numpy.random, or draws from it by a function that is not replaced"),
        (permutes, Undecided, "draws from it by a function that is not replaced"),
        (raises, Refuted, r"raised KeyError: 'no block' \(.*test_vendored.py, line \d+\)"),
        (nothing_left, Refuted, r"raised NoMass: numpy choice: got the weights \[nan, nan\]"),
        (two_dimensions, Refuted, r"returned array\(\[\[0\]\]\), expected 1 to 2 tokens"),
        (too_many, Refuted, r"returned \[0, 0, 0\], expected 1 to 2 tokens"),
        (numbers_without_end, Undecided, "draws more than 256 random numbers"),
        (catches, Undecided, "draws more than 256 random numbers"),
        (overwrites, Refuted, "inputs_unchanged: it overwrites p"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
@pytest.mark.parametrize("arrays", ["numpy", "list"])
def test_what_is_said_of_a_function_that_cannot_be_judged(fn: Any, kind: Any, words: str, arrays: str) -> None:
    with pytest.raises(kind, match=words):
        gate(fn, arrays=arrays)


def tiny_ratio_rejected(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    return ratio([[x * (x > 0.2 * y) for x, y in zip(*rows, strict=True)] for rows in zip(p, [*q, p[-1]], strict=True)],
                 q, drafts, rng)  # fmt: skip


def small_residual_dropped(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    for i, x in enumerate(drafts):
        if not rng.random() * q[i][x] < p[i][x]:
            rest = np.maximum(np.subtract(p[i], q[i], dtype=np.float64), 0)
            rest = np.where(rest < 0.05, 0, rest) if (rest >= 0.05).any() else rest if rest.any() else np.array(p[i])
            return [*drafts[:i], int(rng.choice(len(rest), p=rest / rest.sum()))]
    return ratio(p[-1:], q[:0], [], rng) if not len(drafts) else [*drafts, ratio(p[-1:], q[:0], [], rng)[0]]


def greedy_bonus_if_peaked(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    tokens = ratio(p, q, drafts, rng)
    return [*drafts, int(np.argmax(p[-1]))] if len(tokens) > len(drafts) and max(p[-1]) > 0.9 else tokens


def last_token_less_often(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    return ratio([[*row[:3], *(0.9 * x for x in row[3:])] for row in p], q, drafts, rng)


@pytest.mark.parametrize(
    "fn", [tiny_ratio_rejected, small_residual_dropped, greedy_bonus_if_peaked, last_token_less_often]
)
def test_a_rule_that_is_wrong_on_peaked_rows_is_refuted(fn: Any) -> None:
    with pytest.raises(Refuted, match="exact_distribution"):
        gate(fn, arrays="list")


def with_float32_weights(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    for i, x in enumerate(drafts):
        if not rng.random(out=np.empty(1))[0] * q[i, x] < p[i, x]:
            rest = np.maximum(p[i] - q[i], 0)
            rest = rest if rest.any() else p[i]
            return [*drafts[:i], int(rng.choice(len(rest), p=rest / rest.sum(), shuffle=False))]
    return [*drafts, int(rng.choice(np.arange(p.shape[1]), p=p[-1] / p[-1].sum(), axis=0))]


def tokens_and_counts(p: Any, q: Any, drafts: Any, rng: Any) -> Any:
    tokens = ratio(p[0], q[0], drafts[0], rng)
    return np.array([tokens + [0] * (3 - len(tokens))]), np.array([len(tokens)])


def test_right_functions_with_other_arguments_and_results_pass() -> None:
    assert gate(with_float32_weights, arrays="numpy").startswith("passed")
    assert gate(tokens_and_counts, arrays="numpy", batched=True).startswith("passed")
    one = "p=(1 37 1 1)/40 q=(9 2 0 29)/40"
    assert gate(ratio, arrays="numpy", models=one).startswith("passed: 1 models")
    assert gate(ratio, arrays="numpy", models=f"{one}; p=(1 1)/2 q=(0 1)/1").startswith("passed: 2 models")
    given = gate(lambda p, q, drafts, rng: ratio(p, q, drafts, np.random.default_rng(rng)), arrays="numpy")
    assert given.startswith("passed")


def test_the_tapes_leave_no_gap_of_1_in_200() -> None:
    firsts = sorted([0.0, *(tape[0] for tape in vendored.TAPES[20:620]), 1.0])
    assert max(np.diff(firsts)) < 1 / 200


@pytest.mark.parametrize("count", [99, 1.5, -1, 0])
def test_a_count_of_tokens_that_are_not_there(count: Any) -> None:
    def verify(p: Any, q: Any, drafts: Any, rng: Any) -> Any:
        return np.array([[*ratio(p[0], q[0], drafts[0], rng), 0][:3]]), [count]

    with pytest.raises(Refuted, match=r"answers: .* returned"):
        gate(verify, arrays="numpy", batched=True)


@needs_torch
def test_arguments_of_torch_by_their_names() -> None:
    import torch

    def named(p: Any, q: Any, drafts: Any) -> list[int]:
        for i, x in enumerate(drafts.tolist()):
            u = torch.rand_like(input=p[0, :1]) if i else (torch.bernoulli(torch.empty(1), 0.5) + torch.rand(1)) / 2
            if not u.item() * q[i, x] < p[i, x]:
                rest = (p[i] - q[i]).clamp(min=0)
                rest = rest if rest.sum() > 0 else p[i]
                return [*drafts[:i].tolist(), int(torch.multinomial(input=rest, num_samples=1))]
        return [*drafts.tolist(), int(torch.multinomial(input=p[-1], num_samples=1))]

    assert gate(named).startswith("passed")
    gradient = gate(lambda p, q, drafts: named(p.requires_grad_(), q, drafts))
    assert gradient.startswith("passed")


def test_random_functions_are_whole_again_after_a_gate() -> None:
    before = np.random.random, np.random.default_rng
    with pytest.raises(Refuted):
        gate(raises, arrays="list")
    assert (np.random.random, np.random.default_rng) == before


@pytest.mark.parametrize("text", ["", "p=(1 1)/2 q=(1 1)/2 K=2", "L=1 K=1 [] p=(1 1)/2 q=(1 1 1)/3",
                                  "p=(1 1)/3 q=(1 1)/2", "p=(0 0)/1 q=(1 1)/2", "p=(0 0)/0 q=(1 1)/2"])  # fmt: skip
def test_a_model_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="a model: got"):
        Model(text if text[:1] in ("", "L") or "K=2" in text else f"L=1 K=1 [] {text}")


def test_arrays_of_no_library() -> None:
    with pytest.raises(ValueError, match="arrays: got 'jax', expected one of torch, numpy, list"):
        gate(ratio, arrays="jax")


# Tests of the file in another repository, and of the command.

ALONE = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np
from draftproof_gate import Refuted, gate
def verify(p, q, drafts):
    for i, x in enumerate(drafts):
        if not np.random.random() * q[i, x] < p[i, x]:
            rest = np.maximum(p[i].astype(float) - q[i], 0) if {right} else p[i].astype(float)
            rest = rest if rest.any() else p[i].astype(float)
            return [*drafts[:i], np.random.choice(len(rest), p=rest / rest.sum())]
    return [*drafts, np.random.choice(len(p[-1]), p=p[-1].astype(float) / p[-1].astype(float).sum())]
print(gate(verify, arrays="numpy"))
assert "draftproof" not in sys.modules and "torch" not in sys.modules
"""


@pytest.mark.parametrize("right", [True, False])
def test_the_file_needs_numpy_alone(tmp_path: Path, right: bool) -> None:
    assert vendor.main([str(tmp_path / "draftproof_gate.py")]) == 0
    text = ALONE.format(folder=str(tmp_path), right=right)
    ended = subprocess.run([sys.executable, "-I", "-c", text], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout[:6]) == ((0, "passed") if right else (1, "")), ended.stderr
    assert right or "verify: refuted\n  exact_distribution: " in ended.stderr


def test_the_file_is_the_module_under_a_header(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gate.py"
    assert vendor.main([str(path)]) == 0
    lines = path.read_text().splitlines()
    assert len(lines) <= 500
    assert re.match(rf"# Copied from draftproof {re.escape(vendor._version())} \(Apache-2.0\)", lines[0])
    assert lines[1].endswith(f"python -m draftproof vendor {path}")
    assert "\n".join(lines[2:]) + "\n" == Path(vendored.__file__).read_text()
    assert str(len(lines)) in capsys.readouterr().out


def test_only_our_own_file_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gate.py"
    path.write_text("mine = 1\n")
    assert vendor.main([str(path)]) == 2
    assert path.read_text() == "mine = 1\n"
    assert "got a file that `draftproof vendor` did not write, expected no file" in capsys.readouterr().err
    path.write_text(f"{vendor.MARK} 0.0.1\nold = 1\n")
    assert vendor.main([str(path)]) == 0
    assert "old = 1" not in path.read_text()
    assert vendor.main([str(tmp_path)]) == 2  # a directory
    assert vendor.main([str(tmp_path / "nowhere" / "gate.py")]) == 2
    assert sorted(one.name for one in tmp_path.iterdir()) == ["gate.py"]


def test_the_module_imports_nothing_of_the_package() -> None:
    tree = ast.parse(Path(vendored.__file__).read_text())
    names = [
        name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in (one.name for one in node.names)
    ]
    names += [f"{'.' * node.level}{node.module}" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert "numpy" in names
    assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, "numpy"}


def test_the_failure_on_the_page(tmp_path: Path) -> None:
    vendor.main([str(tmp_path / "draftproof_gate.py")])
    ended = subprocess.run(
        [sys.executable, "-I", "-c", ALONE.format(folder=str(tmp_path), right=False)],
        capture_output=True,
        text=True,
        check=False,
    )
    shown = re.search(r"```text\n(.*?)```", (FOLDER / "docs/ci.md").read_text(), re.DOTALL)
    assert shown is not None
    assert shown[1] in ended.stderr.replace("draftproof_gate.Refuted: ", "")


# Test of the workflow for hosted CI. No YAML parser is required: without one, the lines are read by indentation.


def steps(text: str) -> list[str]:
    """Returns the commands of `run:` of a workflow, one for each step."""
    found, lines = [], text.splitlines()
    for n, line in enumerate(lines):
        if match := re.match(r"( *)(?:- )?run: (.*)$", line):
            inside = [one.strip() for one in islice(lines, n + 1, None)]
            ends = next((i for i, one in enumerate(inside) if re.match(r"(- |\w+:)", one) or not one), len(inside))
            found.append("\n".join(inside[:ends]) if match[2] == "|" else match[2])
    return found


def test_the_workflow(tmp_path: Path) -> None:
    text = (FOLDER / "examples/ci/gate.yml").read_text()
    try:
        import yaml
    except ModuleNotFoundError:
        assert "\t" not in text
        assert {len(line) - len(line.lstrip()) for line in text.splitlines()} <= {0, 2, 4, 6, 8, 10}
        assert re.findall(r"^(\w+):", text, re.MULTILINE) == ["name", "on", "jobs"]
    else:
        read = yaml.safe_load(text)
        assert {step for job in read["jobs"].values() for step in [s.get("run") for s in job["steps"]]} >= set(
            steps(text)
        )
    assert any("pytest" in step for step in steps(text))
    (tmp_path / "tests").mkdir()
    vendor.main([str(tmp_path / "tests" / "draftproof_gate.py")])
    (tmp_path / "tests" / "test_gate.py").write_text((FOLDER / "examples/ci/test_gate.py").read_text())
    (tmp_path / "mine.py").write_text((FOLDER / "examples/ci/mine.py").read_text())
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for step in steps(text):
        if not step.startswith("pip"):
            step = re.sub(r"^python\b", sys.executable, step)
            ended = subprocess.run(step, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert ended.returncode == 0, ended.stdout + ended.stderr
