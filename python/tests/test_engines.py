"""Engines: discovery, loading of functions, results and pages. No engine is needed here."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from draftproof.engines import Engine, Missing, command, discover, functions_of, install, load, module_of
from draftproof.engines import pages as engine_pages
from draftproof.engines import results as engine_results

ROOT = Path(__file__).resolve().parents[2]

CHAIN = """
import numpy as np
from draftproof.declare import door
from draftproof.engines import Engine, EngineDoor, Missing

def right():
    def verify(p, q, drafts):
        for i, x in enumerate(drafts):
            if not np.random.random() * q[i][x] < p[i][x]:
                return [*drafts[:i], np.random.choice(len(q[i]), p=residual(p[i], q[i]))]
        return [*drafts, np.random.choice(p.shape[1], p=p[-1].astype(np.float64) / p[-1].astype(np.float64).sum())]
    return door(verify, arrays="numpy", name="verify")

def residual(p, q):
    left = np.maximum(p.astype(np.float64) - q, 0)
    left = left if left.sum() > 0 else p.astype(np.float64)
    return left / left.sum()

def absent():
    raise Missing("no such kernel")

CHAIN = EngineDoor("chain", right, models=3, predictions=32, tiers=("proof",))
ENGINE = Engine(doors=(CHAIN, EngineDoor("gone", absent)), packages=("numpy",))
"""

# In the process that runs the gates alone.
DIES_LATER = """
import os, sys
import draftproof.engines.results as kept

if "--into" in sys.argv:
    ask, left = kept.check, [1, 1]
    kept.check = lambda *given, **named: ask(*given, **named) if left and left.pop() else os._exit(9)
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one engine, which is numpy's generator."""
    (tmp_path / "engines" / "results").mkdir(parents=True)
    (tmp_path / "docs" / "findings").mkdir(parents=True)
    (tmp_path / "build" / "engines" / "small").mkdir(parents=True)
    (tmp_path / "engines" / "small.py").write_text(CHAIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DRAFTPROOF_ENGINE_PACKAGES", raising=False)
    return tmp_path


def test_every_file_of_the_folder_is_an_engine_with_doors() -> None:
    known = discover(ROOT / "engines")
    files = {path.stem.replace("_", "-") for path in (ROOT / "engines").glob("[a-z]*.py")}
    assert set(known) == files and len(files) >= 8
    for engine in known.values():
        assert engine.doors and len({door.name for door in engine.doors}) == len(engine.doors)
        assert bool(engine.packages) + bool(engine.sdist) + bool(engine.sources) == 1
        assert bool(engine.sources) == (len(engine.commit) == 40 and bool(engine.parts))


def test_an_engine_that_is_not_installed_says_so(checkout: Path) -> None:
    with pytest.raises(Missing, match="not installed"):
        Engine(doors=(), packages=("no-such-engine==1",), name="nothing").version()
    with pytest.raises(Missing, match="DRAFTPROOF_ENGINE_SOURCES"):
        Engine(doors=(), sources="nobody/nothing", name="nothing").version()


def test_an_engine_without_a_package_is_fetched_at_its_commit(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = tmp_path / "host"
    (host / "model" / "deep").mkdir(parents=True)
    (host / "model" / "deep" / "rule.py").write_text("first = 1\n")
    (host / "large.bin").write_bytes(bytes(1000))
    config = tmp_path / "gitconfig"
    address = f'[url "file://{host}"]\n insteadOf = https://github.com/some/one\n'
    config.write_text("[user]\n name = n\n email = e\n[uploadpack]\n allowFilter = true\n" + address)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(host), *words], check=True, capture_output=True, text=True).stdout

    git("init", "-q"), git("add", "."), git("commit", "-q", "-m", "first")
    first = git("rev-parse", "HEAD").strip()
    (host / "model" / "deep" / "rule.py").write_text("second = 2\n")
    git("commit", "-q", "-a", "-m", "second")
    engine = Engine(doors=(), sources="some/one", commit=first, parts=("model",), name="one")
    install(engine)
    assert engine.version() == first[:7] and engine.root() == checkout / "build" / "engines" / "one"
    assert (engine.root() / "model" / "deep" / "rule.py").read_text() == "first = 1\n"
    assert not (engine.root() / "large.bin").exists()
    gone = Engine(doors=(), sources="some/one", commit="0" * 40, parts=("model",), name="gone")
    with pytest.raises(Missing, match="git could not fetch some/one at 0000000: "):
        install(gone)
    assert sorted(path.name for path in (checkout / "build" / "engines").iterdir()) == ["one", "small"]


def test_functions_are_taken_from_a_file_whose_imports_fail(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    path.write_text(
        "import no_such_kernel\ndef f(x): return g(x) + 1\nclass C(no_such_kernel.Base):\n"
        "    def other(self): return no_such_kernel\n    def m(self, x): return x * 3\n"
    )
    f, m = functions_of(path, ["f", "C.m"], {"g": lambda x: 2 * x})
    assert f(5) == 11 and m(None, 2) == 6
    with pytest.raises(Missing, match="has no h"):
        functions_of(path, ["h"], {})
    with pytest.raises(Missing, match="no file"):
        module_of(tmp_path / "gone.py", "gone")


def test_the_gate_runs_on_doors_and_skips_those_that_are_missing(checkout: Path) -> None:
    engine = load(checkout / "engines" / "small.py")
    assert engine is not None
    result = engine_results.run(engine)
    chain, gone = result["doors"]
    assert chain["status"] == "held" and chain["calls"] > 100 and chain["level"] == "chain"
    assert {one["check"] for one in chain["tiers"][0]["findings"]} >= {"exact_law", "zero_support"}
    assert gone == {"name": "gone", "status": "skipped", "reason": "no such kernel"}


def test_the_command_keeps_results_and_says_what_changed(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main(["small"]) == command.HELD
    kept = list((checkout / "engines" / "results").glob("small-*.json"))
    assert len(kept) == 1 and not list(kept[0].parent.glob("*.part"))
    document = json.loads(kept[0].read_text())
    assert document["schema"] == engine_results.SCHEMA and "seconds" not in document["doors"][0]
    document["doors"][0]["status"] = "violated"
    kept[0].write_text(json.dumps(document))
    capfd.readouterr()
    assert command.main(["small:chain"]) == command.HELD
    assert "chain: violated -> held" in capfd.readouterr().out
    assert command.main(["small:no"]) == command.BAD_INPUT
    assert command.main(["large"]) == command.BAD_INPUT


def test_a_wrong_engine_is_violated(checkout: Path) -> None:
    path = checkout / "engines" / "small.py"
    path.write_text(CHAIN.replace("q[i][x] < p[i][x]", "q[i][x] < 0.9 * p[i][x]"))
    assert command.main(["small:chain"]) == command.VIOLATED


def test_without_an_engine_the_command_is_skipped(checkout: Path) -> None:
    path = checkout / "engines" / "small.py"
    path.write_text(CHAIN.replace('packages=("numpy",)', 'packages=("no-such-engine",)'))
    assert command.main([]) == command.SKIPPED


def _result(version: str, status: str, **finding: Any) -> dict[str, Any]:
    tier = {
        "tier": "proof",
        "status": status,
        "note": "",
        "models": 7,
        "predictions": 9,
        "findings": [{"check": "exact_law", "status": status, "distance": 0.25, "limit": 1e-7, **finding}],
    }
    door = {
        "name": "chain",
        "status": status,
        "level": "chain",
        "law": "iid",
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
        "doors": [door],
    }


def test_versions_are_in_order_and_differences_are_named(tmp_path: Path) -> None:
    old, new = _result("0.9.2", "held"), _result("0.10.0", "violated", counterexample="p=(1 1)/2")
    for one in (new, old):
        engine_results.write(one, tmp_path)
    assert [one["version"] for one in engine_results.results(tmp_path)] == ["0.9.2", "0.10.0"]
    changes = engine_results.difference(old, new)
    assert "chain / proof / exact_law: held -> violated on p=(1 1)/2" in changes
    assert engine_results.difference(old, old) == []


def test_the_page_shows_the_newest_result_and_the_findings(checkout: Path) -> None:
    kept = checkout / "engines" / "results"
    engine_results.write(_result("0.9.2", "held"), kept)
    engine_results.write(_result("0.10.0", "violated", counterexample="p=(1 1)/2"), kept)
    (checkout / "docs" / "findings" / "engine-small.md").write_text("# A slip of small\n\ntext\n")
    text = engine_pages.write_page(checkout).read_text()
    assert "| small | 0.10.0 | `chain` |" in text and "0.25 (1e-07)" in text and "violated: `exact_law`" in text
    assert "[A slip of small](findings/engine-small.md)" in text and "    p=(1 1)/2" in text
    assert "- small: 0.9.2, 0.10.0" in text


def test_repeated_gates_are_counted_and_kept(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main(["small:chain"]) == command.HELD
    assert command.main(["small", "--repeat", "3", "--models", "1"]) == command.HELD
    assert "3 of 3 gates held, 1 models each" in capfd.readouterr().out
    assert command.main(["small:chain"]) == command.HELD  # a later result keeps the count
    (kept,) = (checkout / "engines" / "results").glob("small-*.json")
    (door,) = json.loads(kept.read_text())["doors"]
    assert door["repeated"] == {"gates": 3, "held": 3, "models": 1, "seed": 1}
    assert command.main(["small", "--repeat", "2", "--models", "1", "--seed", "4"]) == command.HELD  # the next seeds
    assert json.loads(kept.read_text())["doors"][0]["repeated"] == {"gates": 5, "held": 5, "models": 1, "seed": 1}
    assert command.main(["small", "--repeat", "3", "--models", "1"]) == command.HELD  # counted anew
    text = engine_pages.write_page(checkout).read_text()
    assert "| `chain` | 3 | 1 | 3 |  |" in text


def test_a_repeated_gate_that_fails_is_named(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = checkout / "engines" / "small.py"
    path.write_text(CHAIN.replace("q[i][x] < p[i][x]", "q[i][x] < 0.9 * p[i][x]"))
    assert command.main(["small:chain", "--repeat", "2", "--seed", "7"]) == command.VIOLATED
    said = capfd.readouterr().out
    assert "2 of 2 gates held" not in said and "seed 7: " in said and "exact_law" in said


def test_repeated_gates_that_are_stopped_count_as_far_as_they_came(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gates = iter([engine_results.check, engine_results.check])

    def until_stopped(*given: Any, **options: Any) -> Any:
        gate = next(gates, None)
        if gate is None:
            raise KeyboardInterrupt
        return gate(*given, **options)

    monkeypatch.setattr(engine_results, "check", until_stopped)
    engine = discover(checkout / "engines")["small"]
    counted = engine_results.repeat(engine, ["chain"], 5, models=1)
    assert counted == {"chain": {"gates": 2, "held": 2, "models": 1, "seed": 1}}
    said = capsys.readouterr().err
    assert "chain: gate 2 of 5, held" in said and "chain: stopped after 2 of 5 gates" in said
    assert engine_results.repeat(engine, ["chain"], 5, models=1) == {}


def test_repeated_gates_of_small_models_are_asked_and_each_is_kept_as_it_comes(checkout: Path) -> None:
    told = [engine_results.small_chain(seed) for seed in range(200)]
    assert len(set(told)) > 190 and any(" p=(0 " in one for one in told)
    rows = [one.split("] ")[1].split(" [")[0].split(" q=") for one in told]
    assert 20 < sum(p == f"p={q}" for p, q in rows) < 60
    engine, kept = discover(checkout / "engines")["small"], []
    engine_results.repeat(engine, ["chain"], 3, models=0, keep=lambda counted: kept.append(counted["chain"]["gates"]))
    assert kept == [1, 2, 3]
    path = checkout / "engines" / "small.py"
    path.write_text(CHAIN.replace("q[i][x] < p[i][x]", "q[i][x] < 0.5 * p[i][x]"))
    wrong = engine_results.repeat(discover(checkout / "engines")["small"], ["chain"], 4, models=0)
    assert wrong["chain"]["held"] < 4 and wrong["chain"]["violated"]["exact_law"] == 4 - wrong["chain"]["held"]


def test_gates_before_the_death_of_an_engine_are_kept(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main(["small:chain"]) == command.HELD
    path = checkout / "engines" / "small.py"
    path.write_text(path.read_text() + DIES_LATER)
    command.main(["small:chain", "--repeat", "5", "--models", "1"])
    assert "gates before that are counted" in capfd.readouterr().err
    (kept,) = (checkout / "engines" / "results").glob("small-*.json")
    assert json.loads(kept.read_text())["doors"][0]["repeated"]["gates"] == 2


def test_a_kept_instance_that_is_violated_is_told_beside_the_verdict(checkout: Path) -> None:
    result = _result("1", "held")
    result["doors"][0]["replays"] = {"p=(1 0)": ["  exact_law     held", "  zero_support  violated  emits token 1"]}
    engine_results.write(result, checkout / "engines" / "results")
    text = engine_pages.write_page(checkout).read_text()
    assert "| held; on a kept instance violated: `zero_support` |" in text
    assert "zero_support*, on a kept instance: emits token 1\n\n    p=(1 0)\n" in text


def test_the_page_has_the_measured_acceptance(checkout: Path) -> None:
    (checkout / "engines" / "measured").mkdir()
    row = {"capture": "rows", "verifier": "small 1", "law": "iid", "drafts": 2, "rate": 0.5, "low": 0.25, "high": 0.75}
    row |= {"optimum": 0.625, "tuples": 8, "microseconds": 12.34}
    (checkout / "engines" / "measured" / "acceptance.json").write_text(json.dumps([row]))
    text = engine_pages.write_page(checkout).read_text()
    assert "| rows | 2 | small 1 | `iid` | 0.5000 (0.2500 to 0.7500) | 0.6250 | 12.3 |" in text


def test_a_door_that_was_not_asked_keeps_its_entry(tmp_path: Path) -> None:
    first = _result("1", "held")
    second = _result("1", "violated")
    second["doors"][0]["name"] = "tree"
    engine_results.write(first, tmp_path)
    path = engine_results.write(second, tmp_path)
    assert {door["name"]: door["status"] for door in json.loads(path.read_text())["doors"]} == {
        "chain": "held",
        "tree": "violated",
    }


def test_the_page_has_the_long_texts_and_the_recordings(checkout: Path) -> None:
    (checkout / "engines" / "measured").mkdir()
    one = {"engine": "small", "version": "1", "door": "loop", "log10_e": -0.25, "largest_log10_e": 0.5, "seconds": 3}
    text = {"kind": "texts", "proposal": "soft", "texts": 2, "tokens": 10**6, "distance": 0.00125, "least_seen": 0.002}
    recording = {"kind": "recording", "status": "held", "records": 2000, "blocks": 1000, "accepted": 0.5}
    recording |= {"sum_min_p_q": 0.75, "easiest": 0.001, "hardest": 0.03}
    (checkout / "engines" / "measured" / "texts.json").write_text(json.dumps([one | text, one | recording]))
    page = engine_pages.write_page(checkout).read_text()
    assert "| small 1 | `loop` | soft | 2 | 1,000,000 | 10^-0.2 | 10^0.5 | 0.0013 | 0.002 | 3 |" in page
    assert "| small 1 | `loop` | 2,000 | 1,000 | 10^-0.2 | 0.5000 | 0.7500 | 0.001 to 0.03 | held |" in page


def test_the_evidence_of_a_text_is_the_product_of_its_bets() -> None:
    texts = module_of(ROOT / "engines" / "measured" / "markov.py", "measured_markov")
    rng, target = np.random.default_rng(1), texts.table(2)
    text = [0]
    for _ in range(500):
        text.append(int(rng.choice(len(target), p=target[text[-1]])))
    logs = dict.fromkeys(itertools.product((1, 2, 3), texts.WEIGHTS), 0.0)
    seen: Counter[tuple[int, ...]] = Counter()  # tokens after a context
    before: Counter[tuple[int, ...]] = Counter()  # contexts
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
    assert texts.log_e(texts.counted(text[1:]), target) == pytest.approx(
        mean, abs=1e-6
    )  # of logarithms of gamma at 1e6
    assert texts.log_e(texts.counted([5, 5, 5, 5] * 100), target) > 9
    assert texts.log_e(texts.counted([1]), np.eye(6)) == math.inf


def test_the_least_departure_that_a_text_shows_is_found_in_texts_that_have_it() -> None:
    markov = module_of(ROOT / "engines" / "measured" / "markov.py", "measured_markov")
    target, tokens = markov.table(2), 4000
    share = markov.least_seen(target, tokens, 1)
    assert markov.least_seen(target, 100 * tokens, 1) < share / 5 and markov.least_seen(target, tokens, 4) < share

    def evidence(times: float) -> float:
        """Mean of log10 e over ten texts whose rows have `times` this departure."""
        likely = markov.likelier(target)
        mass = (target * likely).sum(1, keepdims=True)
        moved = times * share
        law = np.where(likely, target * (1 - moved / mass), target * (1 + moved / (1 - mass)))
        found = []
        for seed in range(10):
            rng, text = np.random.default_rng(seed), [0]
            for u in rng.random(tokens):
                text.append(min(int((law[text[-1]].cumsum() <= u).sum()), len(law) - 1))
            found.append(markov.log_e(markov.counted(text[1:]), target))
        return float(np.mean(found))

    assert evidence(0.5) < 5 < evidence(1.0) and evidence(1.5) > 15
