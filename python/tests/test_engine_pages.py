"""Tests of results of engines: versions and their differences, the pages, and measurements of texts."""

from __future__ import annotations

import itertools
import json
import math
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from draftproof.engines import command, discover, findings, module_of
from draftproof.engines import pages as engine_pages
from draftproof.engines import results as engine_results
from draftproof.engines.engine import Missing

ROOT = Path(__file__).resolve().parents[2]


def _result(version: str, status: str, **finding: Any) -> dict[str, Any]:
    tier = {
        "tier": "proof",
        "status": status,
        "note": "",
        "models": 7,
        "predictions": 9,
        "findings": [{"check": "exact_distribution", "status": status, "distance": 0.25, "limit": 1e-7, **finding}],
    }
    adapter = {
        "name": "chain",
        "status": status,
        "level": "chain",
        "draft_sampling": "iid",
        "dtype": "float32",
        "calls": 11,
        "randomness": ["scripted"],
        "draws": [],
        "tiers": [tier],
        "notes": [],
    }
    return {
        "schema": engine_results.SCHEMA,
        "engine": "small",
        "version": version,
        "replaces": "nothing",
        "adapters": [adapter],
    }


def test_versions_are_in_order_and_differences_are_named(tmp_path: Path) -> None:
    old, new = _result("0.9.2", "passed"), _result("0.10.0", "failed", counterexample="p=(1 1)/2")
    for one in (new, old):
        engine_results.write(one, tmp_path)
    assert [one["version"] for one in engine_results.results(tmp_path)] == ["0.9.2", "0.10.0"]
    changes = engine_results.difference(old, new)
    assert "chain / proof / exact_distribution: passed -> failed on p=(1 1)/2" in changes
    assert engine_results.difference(old, old) == []


def test_the_page_shows_the_newest_result(checkout: Path) -> None:
    kept = checkout / "python" / "engines" / "results"
    engine_results.write(_result("0.9.2", "passed"), kept)
    engine_results.write(_result("0.10.0", "failed", counterexample="p=(1 1)/2"), kept)
    text = engine_pages.write_page(checkout).read_text()
    assert "| small | 0.10.0 | `chain` |" in text and "0.25 (1e-07)" in text and "failed: `exact_distribution`" in text
    assert "    p=(1 1)/2" in text
    assert "- small: 0.9.2, 0.10.0" in text


def test_the_page_tells_processor_time_from_older_seconds(checkout: Path) -> None:
    for version, given, shown in (("1", {"seconds": 3.5}, "~3.5"), ("2", {"processor_seconds": 2.5}, "2.5")):
        result = _result(version, "passed")
        result["adapters"][0] |= given
        engine_results.write(result, checkout / "python" / "engines" / "results")
        assert f"| 11 | {shown} |" in engine_pages.write_page(checkout).read_text()


def test_stored_results_have_no_path_of_the_checkout(tmp_path: Path) -> None:
    path = engine_results.write(_result("1", "failed", evidence=f"fails ({ROOT}/python/one.py, line 2)"), tmp_path)
    assert "fails (python/one.py, line 2)" in path.read_text() and str(ROOT) not in path.read_text()


def test_a_kept_instance_that_is_violated_is_told_beside_the_verdict(checkout: Path) -> None:
    result = _result("1", "passed")
    result["adapters"][0]["replays"] = {
        "p=(1 0)": ["  exact_distribution     passed", "  zero_support  failed  emits token 1"]
    }
    engine_results.write(result, checkout / "python" / "engines" / "results")
    text = engine_pages.write_page(checkout).read_text()
    assert "| passed; failed on a kept instance: `zero_support` |" in text
    assert "zero_support*, on a kept instance: emits token 1\n\n    p=(1 0)\n" in text


def test_the_page_has_the_measured_acceptance(checkout: Path) -> None:
    (checkout / "python" / "engines" / "measured").mkdir()
    row = {
        "capture": "rows",
        "verifier": "small 1",
        "draft_sampling": "iid",
        "drafts": 2,
        "rate": 0.5,
        "low": 0.25,
        "high": 0.75,
    }
    row |= {"optimum": 0.625, "tuples": 8, "microseconds": 12.34}
    (checkout / "python" / "engines" / "measured" / "acceptance.json").write_text(json.dumps([row]))
    cut = {"engine": "small", "version": "1", "function": "cut", "dtype": "float16", "vocabulary": 32000, "kept": 7218}
    cut |= {"wanted": 7219, "distance": 0.00012}
    (checkout / "python" / "engines" / "measured" / "half_precision.json").write_text(json.dumps([cut]))
    text = engine_pages.write_page(checkout).read_text()
    assert "| rows | 2 | small 1 | `iid` | 0.5000 (0.2500 to 0.7500) | 0.6250 | 12.3 |" in text
    assert "| small 1 | `cut` | float16 | 32,000 | 7,218 | 7,219 | 0.0001 |" in text


def test_a_adapter_that_was_not_asked_keeps_its_entry(tmp_path: Path) -> None:
    first = _result("1", "passed")
    second = _result("1", "failed")
    second["adapters"][0]["name"] = "tree"
    engine_results.write(first, tmp_path)
    path = engine_results.write(second, tmp_path)
    assert {adapter["name"]: adapter["status"] for adapter in json.loads(path.read_text())["adapters"]} == {
        "chain": "passed",
        "tree": "failed",
    }


def test_the_page_has_the_long_texts_and_the_recordings(checkout: Path) -> None:
    (checkout / "python" / "engines" / "measured").mkdir()
    one = {"engine": "small", "version": "1", "adapter": "loop", "log10_e": -0.25, "largest_log10_e": 0.5, "seconds": 3}
    text = {"kind": "texts", "proposal": "soft", "texts": 2, "tokens": 10**6, "distance": 0.00125, "least_seen": 0.002}
    recording = {"kind": "recording", "status": "passed", "records": 2000, "blocks": 1000, "accepted": 0.5}
    recording |= {"sum_min_p_q": 0.75, "easiest": 0.001, "hardest": 0.03}
    (checkout / "python" / "engines" / "measured" / "texts.json").write_text(json.dumps([one | text, one | recording]))
    page = engine_pages.write_page(checkout).read_text()
    assert "| small 1 | `loop` | soft | 2 | 1,000,000 | 10^-0.2 | 10^0.5 | 0.0013 | 0.002 | 3 |" in page
    assert "| small 1 | `loop` | 2,000 | 1,000 | 10^-0.2 | 0.5000 | 0.7500 | 0.001 to 0.03 | passed |" in page


def test_the_evidence_of_a_text_is_the_product_of_its_bets() -> None:
    texts = module_of(ROOT / "python" / "engines" / "measured" / "markov.py", "measured_markov")
    rng, target = np.random.default_rng(1), texts.table(2)
    text = [0]
    for _ in range(500):
        text.append(int(rng.choice(len(target), p=target[text[-1]])))
    logs = dict.fromkeys(itertools.product((1, 2, 3), texts.WEIGHTS), 0.0)
    seen: Counter[tuple[int, ...]] = Counter()  # counts of (context, token)
    before: Counter[tuple[int, ...]] = Counter()  # counts of contexts
    history = (0, 0, 0)
    for token in text[1:]:
        for length, c in logs:
            context = history[-length:]
            logs[length, c] += math.log(
                (c + seen[(*context, token)] / target[history[-1], token]) / (c + before[context])
            )
        before.update(history[-n:] for n in (1, 2, 3))
        seen.update((*history[-n:], token) for n in (1, 2, 3))
        history = (*history[1:], token)
    mean = math.log10(sum(math.exp(x) for x in logs.values()) / len(logs))
    assert texts.log_e(texts.counted(text[1:]), target) == pytest.approx(mean, abs=1e-6)  # lgamma near 1e6 is rounded
    assert texts.log_e(texts.counted([5, 5, 5, 5] * 100), target) > 9
    assert texts.log_e(texts.counted([1]), np.eye(6)) == math.inf


def test_the_least_departure_that_a_text_shows_is_found_in_texts_that_have_it() -> None:
    markov = module_of(ROOT / "python" / "engines" / "measured" / "markov.py", "measured_markov")
    target, tokens = markov.table(2), 4000
    share = markov.least_seen(target, tokens, 1)
    assert markov.least_seen(target, 100 * tokens, 1) < share / 5 and markov.least_seen(target, tokens, 4) < share

    def evidence(times: float) -> float:
        """Returns the mean of log10 e over ten texts whose rows depart from the target by `times * share`."""
        likely = markov.likelier(target)
        mass = (target * likely).sum(1, keepdims=True)
        moved = times * share
        distribution = np.where(likely, target * (1 - moved / mass), target * (1 + moved / (1 - mass)))
        found = []
        for seed in range(10):
            rng, text = np.random.default_rng(seed), [0]
            for u in rng.random(tokens):
                text.append(min(int((distribution[text[-1]].cumsum() <= u).sum()), len(distribution) - 1))
            found.append(markov.log_e(markov.counted(text[1:]), target))
        return float(np.mean(found))

    assert evidence(0.5) < 5 < evidence(1.0) and evidence(1.5) > 15


def test_the_page_in_docs_is_written_from_the_stored_results(tmp_path: Path) -> None:
    for part in ("python/engines/results", "python/engines/measured", "python/engines/packages", "docs/findings"):
        shutil.copytree(ROOT / part, tmp_path / part)
    assert engine_pages.write_page(tmp_path).read_text() == (ROOT / "docs" / "engines.md").read_text()


PAGE = """# A bug of small

Version: small 0.9.2, whose version 0.10.0 was not run.

*Mutant.* `one`; `two` is
like `three`.

## Upstream

Reported: owner/small#5, open, for 0.9.2
and `0.8`. Searched: "small".
"""


def test_the_page_of_findings_has_a_row_for_each_engine(checkout: Path) -> None:
    folder = checkout / "docs" / "findings"
    (folder / "engine-small.md").write_text(PAGE)
    several = PAGE.replace("Version: small", "Versions: b, commit 12ef (by torch 2.1), Small").replace("*Mutant.*", "")
    (folder / "engine-several.md").write_text(several)
    (folder / "other.md").write_text("# Another result\n\nVersion: none\n")
    lines = findings.write_page(checkout).read_text().splitlines()
    assert findings.write_page(checkout).read_text().splitlines() == lines  # the page itself is not among the others
    said = "Reported: owner/small#5, open, for 0.9.2 and `0.8`."
    assert [line for line in lines if line.endswith(f" {said} |")] == [
        f"| b | commit 12ef | [A bug of small](engine-several.md) |  | {said} |",
        f"| Small | 0.9.2 | [A bug of small](engine-several.md) |  | {said} |",
        f"| small | 0.9.2 | [A bug of small](engine-small.md) | `one`, `two`, `three` | {said} |",
    ]
    assert [line for line in lines if line.startswith("- ")] == ["- [Another result](other.md)"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("## Upstream", "## Effect", "8: got the last section 'Effect', expected a last section '## Upstream'"),
        ("## Upstream\n\n", "", "1: got no section, expected a last section '## Upstream'"),
        ('"small".\n', '"small".\n\n## Effect\n', "13: got the last section 'Effect', expected a last section"),
        ("Reported: owner/small#5,", "Reported: #5,", "8: got 'Reported: #5, open, for 0.9.2 and `0.8`.' in section"),
        ("Reported", "It is reported", "8: got 'It is reported: owner/small#5, open, for 0.9.2 and `0.8`.' in"),
        (PAGE[PAGE.index("Reported") :], "", "8: got no sentence in section Upstream, expected 'No report was found.'"),
        ("Version: small 0.9.2,", "Version: 0.9.2,", "3: got 'Version: 0.9.2, whose version 0.10.0 was not run.'"),
        ("Version: small", "With small", "1: got no line 'Version:', expected 'Version: ENGINE VERSION'"),
    ],
)
def test_a_page_of_an_engine_in_another_form_is_named(
    old: str, new: str, said: str, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert PAGE.count(old) == 1
    (checkout / "docs" / "findings" / "engine-small.md").write_text(PAGE.replace(old, new))
    assert command.main(["--write-docs"]) == command.BAD_INPUT
    assert f"engine-small.md:{said}" in capsys.readouterr().err
    assert not (checkout / "docs" / "findings" / "README.md").exists()


@pytest.mark.parametrize(
    "said", ["No report of it was found.", "Fixed: a/b.c#1, in 2.0.1.", "Reported: a/b#1, closed.", "By design."]
)
def test_states_of_findings(said: str, tmp_path: Path) -> None:
    path = tmp_path / "engine-small.md"
    path.write_text(PAGE[: PAGE.index("Reported")] + said + " Searched: nothing.\n")
    assert findings.read(path).state == said


def test_the_page_of_findings_in_docs_is_written_from_its_pages(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "findings", tmp_path / "docs" / "findings")
    (tmp_path / "docs" / "findings" / "README.md").unlink()
    assert findings.write_page(tmp_path).read_text() == (ROOT / "docs" / "findings" / "README.md").read_text()
    mutants = (ROOT / "docs" / "mutants.md").read_text()
    for page in sorted((tmp_path / "docs" / "findings").glob("engine-*.md")):
        for name in findings.read(page).mutants:
            assert re.search(rf"\b{name}\b", mutants), f"{page.name}: {name} is not in docs/mutants.md"


def test_stored_remarks_are_those_of_the_adapters() -> None:
    known = discover(ROOT / "python" / "engines")
    for one in engine_results.results(ROOT / "python" / "engines" / "results"):
        engine = known[one["engine"]]
        assert one["replaces"] == engine.replaces, one["engine"]
        notes = {adapter.name: (adapter.note, adapter.change) for adapter in engine.adapters}
        for adapter in one["adapters"]:
            stored = adapter.get("note", ""), adapter.get("change", "")
            assert stored == notes[adapter["name"]], f"{one['engine']}: {adapter['name']}"


@pytest.mark.parametrize(
    "text", ["", "[" * 100_000, "\xff", "5", "{}", '{"engine": "a", "version": "1", "adapters": [5]}']
)
def test_a_stored_result_that_is_damaged_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "a-1.json").write_text(text, encoding="latin-1")
    with pytest.raises(Missing, match=r"a-1\.json: got no .*expected the result of an engine"):
        engine_results.results(tmp_path)
    with pytest.raises(Missing, match=r"a-1\.json: got no"):
        engine_results.write({"engine": "a", "version": "1", "adapters": []}, tmp_path)
    assert (tmp_path / "a-1.json").read_text(encoding="latin-1") == text
