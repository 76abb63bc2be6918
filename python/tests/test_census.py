"""Tests of the verdicts in docs/census.md, and of the stub models and draws that adapters of packages share."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from draftproof.engines import census, module_of, pages
from draftproof.engines import results as engine_results

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "python" / "engines" / "packages"
STORED = [
    one
    for one in engine_results.results(ROOT / "python" / "engines" / "results")
    if one["engine"] in pages.package_names(ROOT)
]
ADAPTERS = [(one, adapter) for one in STORED for adapter in one["adapters"]]


def _adapter(*findings: tuple[str, str, str], **given: Any) -> dict[str, Any]:
    """Returns the stored result of an adapter with these findings (check, status, counterexample)."""
    told = [{"check": check, "status": status, "counterexample": text} for check, status, text in findings]
    tier = {"tier": "proof", "status": "passed", "note": "", "models": 3, "predictions": 9, "findings": told}
    entry = {"name": "one", "status": "passed", "level": "chain", "draft_sampling": "iid", "calls": 7, "tiers": [tier]}
    return {**entry, "randomness": ["scripted"], "draws": [], "notes": [], "dtype": "float32", **given}


def test_the_kind_of_a_verdict_is_the_worst_of_its_checks() -> None:
    passed, edge = ("exact_distribution", "passed", ""), ("zero_support", "failed", "p=(1 0)/1 q=(0 1)/1 L=1")
    wrong = ("exact_distribution", "failed", "p=(1 2)/3 q=(2 1)/3 and more")
    assert census.kind_of(_adapter(passed)) == "right"
    assert census.kind_of(_adapter(passed, tolerance=1.0)) == "lossy on purpose"
    assert census.kind_of(_adapter(passed, edge)) == "edge faults"
    assert census.kind_of(_adapter(edge, wrong)) == "wrong"
    assert census.instance_of(_adapter(edge, wrong)) == wrong[2]  # the instance of the worse check, though it is longer
    replayed = {"replays": {"p=(1 1)/2 q=(1 0)/1": ["exact_distribution failed  token 0"]}}
    assert census.kind_of(_adapter(passed, **replayed)) == "wrong"
    assert census.instance_of(_adapter(passed, **replayed)) == "p=(1 1)/2 q=(1 0)/1"


def test_packages_have_a_page_of_their_own(checkout: Path) -> None:
    folder = checkout / "python" / "engines" / "packages"
    folder.mkdir()
    (folder / "some_package.py").write_text("")
    left = [{"package": "other", "version": "3", "reason": "a | in its reason"}]
    (folder / "not_judged.json").write_text(json.dumps(left))
    wrong = _adapter(("exact_distribution", "failed", "p=(1 1)/2 q=(1 0)/1"), change="subtract")
    kept = checkout / "python" / "engines" / "results"
    again = {"gates": 50, "passed": 49, "models": 2, "seed": 1, "failed": {"answers": 1}}
    for version, adapter in (("1", wrong), ("2", _adapter(repeated=again))):
        result = {"schema": engine_results.SCHEMA, "engine": "some-package", "version": version, "replaces": "nothing"}
        engine_results.write({**result, "adapters": [adapter]}, kept)
    page = census.write_page(checkout).read_text()
    assert "1 packages, 2 functions and loops: 1 wrong, 0 edge faults, 0 lossy on purpose, 1 right." in page
    assert "| package | adapter | gates |" in page and "| some-package 2 | `one` | 50 | 2 | 49 | `answers` 1 |" in page
    row = "| some-package | 1 | `one` | `exact_distribution` |  | `p=(1 1)/2 q=(1 0)/1` | subtract |"
    assert row in page and "| some-package | 2 | `one` | chain, `iid` | proof | 3 | 7 |  |  |" in page
    assert "| other | 3 | a \\| in its reason |" in page
    assert "some-package" not in pages.write_page(checkout).read_text()


def test_the_page_is_the_stored_results(tmp_path: Path) -> None:
    for part in ("results", "packages"):
        shutil.copytree(ROOT / "python" / "engines" / part, tmp_path / "python" / "engines" / part)
    (tmp_path / "docs").mkdir()
    assert census.write_page(tmp_path).read_text() == (ROOT / "docs" / "census.md").read_text()


def test_adapters_are_short() -> None:
    files = list(PACKAGES.glob("*.py"))
    assert len(files) >= 14
    for path in files:
        most = 120 if path.name.startswith("_") else 40
        assert len(path.read_text().splitlines()) <= most, path.name


def test_enough_packages_are_judged() -> None:
    assert len({one["engine"] for one, adapter in ADAPTERS if adapter["status"] in ("passed", "failed")}) >= 12


@pytest.mark.parametrize("one, adapter", ADAPTERS, ids=[f"{one['engine']}:{a['name']}" for one, a in ADAPTERS])
def test_every_failure_has_an_instance_a_change_and_a_second_route(
    one: dict[str, Any], adapter: dict[str, Any]
) -> None:
    if "tiers" not in adapter or not census.failures(adapter):
        return
    assert census.instance_of(adapter) and adapter.get("change")
    tree = ast.parse((ROOT / "python" / "engines" / "second_route" / "census.py").read_text())
    (route,) = (
        fn for fn in tree.body if isinstance(fn, ast.FunctionDef) and fn.name == one["engine"].replace("-", "_")
    )
    named = {node.value for node in ast.walk(route) if isinstance(node, ast.Constant)}
    assert {one["engine"], adapter["name"]} <= named


def test_models_that_are_tables() -> None:
    torch = pytest.importorskip("torch")
    stubs = module_of(PACKAGES / "_stub_models.py", "census_stub_models")
    rows = torch.arange(6.0).reshape(3, 2)
    model = stubs.Model(rows, by_place=True)
    logits, cache = model(torch.tensor([[0, 1]]))
    assert logits[0].tolist() == rows[:2].tolist() and cache.get_seq_length() == 2
    assert model(torch.tensor([[1, 1]]), past_key_values=cache).logits[0].tolist() == rows[[2, 2]].tolist()
    cache.crop(-1)
    assert cache.get_seq_length() == 3
    cache.crop(1)
    assert model(torch.tensor([[0]]), past_key_values=cache, logits_to_keep=1).logits[0, 0].tolist() == [2.0, 3.0]
    pairs = stubs.Model(torch.arange(8.0).reshape(2, 2, 2))
    logits, kept = pairs.cached(torch.tensor([[0, 1, 0]]), (torch.tensor([[[0], [1]]]), None))
    assert logits[0].tolist() == [[4.0, 5.0]] and kept[0].flatten().tolist() == [0, 1, 0]
    given = stubs.Given()
    given.left = [1, 0, 1]
    assert given.multinomial(torch.ones(2), 1).tolist() == [1]
    assert given.multinomial(torch.ones(2, 3), 1).tolist() == [[0], [1]] and given.left == []
    assert given.multinomial(torch.tensor([0.0, 1.0]), 1).tolist() == [1] and int(given.last) == 1


def test_draws_of_mlx_are_draws_of_torch() -> None:
    torch = pytest.importorskip("torch")
    mlx = module_of(PACKAGES / "_mlx_by_torch.py", "census_mlx").Mlx
    far = torch.tensor([0.0, -46.0])  # logs of 1 and 1e-20; noise in float32, as in mlx, never selects 1e-20
    assert {int(mlx.random.categorical(far)) for _ in range(50)} == {0}
    assert mlx.maximum(torch.tensor([1.0, -1.0]), 0.0).tolist() == [1.0, 0.0]
    assert mlx.minimum(1.0, torch.tensor([0.5, 2.0])).tolist() == [0.5, 1.0]
