"""Tests of discovery of engines, loading of functions, the command and repeated gates. They need no engine."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest

from draftproof.engines import Engine, Missing, command, discover, functions_of, install, load, module_of, repository
from draftproof.engines import pages as engine_pages
from draftproof.engines import results as engine_results

ROOT = Path(__file__).resolve().parents[2]

# Source that makes the third check end the process that runs the gates.
DIES_LATER = """
import os, sys
import draftproof.engines.results as kept

if "--into" in sys.argv:
    ask, left = kept.check, [1, 1]
    kept.check = lambda *given, **named: ask(*given, **named) if left and left.pop() else os._exit(9)
"""

INTERRUPT = """
def interrupt():
    raise KeyboardInterrupt
"""


def test_every_file_of_the_folder_is_an_engine_with_adapters() -> None:
    known = discover(ROOT / "python" / "engines")
    folders = (ROOT / "python" / "engines", ROOT / "python" / "engines" / "packages")
    files = {path.stem.replace("_", "-") for folder in folders for path in folder.glob("[a-z]*.py")}
    assert set(known) == files and len(files) >= 8
    for engine in known.values():
        assert engine.adapters and len({adapter.name for adapter in engine.adapters}) == len(engine.adapters)
        assert bool(engine.packages) + bool(engine.sdist) + bool(engine.sources) == 1
        assert bool(engine.sources) == (len(engine.commit) == 40 and bool(engine.parts))


def test_the_checkout_of_the_package_is_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert repository() == ROOT


def test_an_engine_that_is_not_installed_says_so(checkout: Path) -> None:
    with pytest.raises(Missing, match="not installed"):
        Engine(adapters=(), packages=("no-such-engine==1",), name="nothing").version()
    with pytest.raises(Missing, match="DRAFTPROOF_ENGINE_SOURCES"):
        Engine(adapters=(), sources="nobody/nothing", name="nothing").version()


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
    engine = Engine(adapters=(), sources="some/one", commit=first, parts=("model",), name="one")
    install(engine)
    assert engine.version() == first[:7] and engine.root() == checkout / "build" / "engines" / "one"
    assert (engine.root() / "model" / "deep" / "rule.py").read_text() == "first = 1\n"
    assert not (engine.root() / "large.bin").exists()
    gone = Engine(adapters=(), sources="some/one", commit="0" * 40, parts=("model",), name="gone")
    with pytest.raises(Missing, match="git could not fetch some/one at 0000000: "):
        install(gone)
    assert sorted(path.name for path in (checkout / "build" / "engines").iterdir()) == ["one", "small"]


def test_another_version_leaves_nothing_of_the_old_one(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("1.0", "2.0"):
        about = f"dist_one-{version}.dist-info"
        with zipfile.ZipFile(checkout / f"dist_one-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr("dist_one.py", f"version = {version}")
            wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: dist-one\nVersion: {version}\n")
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(checkout))
    for version in ("1.0", "2.0", "2.0"):
        engine = Engine(adapters=(), packages=(f"dist-one=={version}",), name="one")
        install(engine)
        assert engine.version() == version


def test_functions_are_taken_from_a_file_whose_imports_fail(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    path.write_text(
        "import no_such_kernel\ndef f(x): return g(x) + 1\nclass C(no_such_kernel.Base):\n"
        "    def other(self): return no_such_kernel\n    async def m(self, x): return x * 3\n"
        "LIMIT: int = 7\nOTHER = no_such_kernel\nclass Whole(Base):\n    def limit(self): return LIMIT\n"
    )
    f, m, _, whole = functions_of(path, ["f", "C.m", "LIMIT", "Whole"], {"g": lambda x: 2 * x, "Base": dict})
    assert f(5) == 11 and isinstance(whole(), dict) and whole().limit() == 7
    with pytest.raises(StopIteration, match="6"):
        m(None, 2).send(None)
    with pytest.raises(Missing, match="has no h"):
        functions_of(path, ["h"], {})
    with pytest.raises(Missing, match="no file"):
        module_of(tmp_path / "gone.py", "gone")


def test_the_gate_runs_on_adapters_and_skips_those_that_are_missing(checkout: Path) -> None:
    engine = load(checkout / "python" / "engines" / "small.py")
    assert engine is not None
    result = engine_results.run(engine)
    chain, gone = result["adapters"]
    assert chain["status"] == "passed" and chain["calls"] > 100 and chain["level"] == "chain"
    assert {one["check"] for one in chain["tiers"][0]["findings"]} >= {"exact_distribution", "zero_support"}
    assert gone == {"name": "gone", "status": "skipped", "reason": "no such kernel"}


def test_the_command_keeps_results_and_says_what_changed(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main(["small"]) == command.PASSED
    kept = list((checkout / "python" / "engines" / "results").glob("small-*.json"))
    assert len(kept) == 1 and not list(kept[0].parent.glob("*.part"))
    document = json.loads(kept[0].read_text())
    assert document["schema"] == engine_results.SCHEMA and "processor_seconds" not in document["adapters"][0]
    document["adapters"][0]["status"] = "failed"
    kept[0].write_text(json.dumps(document))
    capfd.readouterr()
    assert command.main(["small:chain"]) == command.PASSED
    assert "chain: failed -> passed" in capfd.readouterr().out
    assert command.main(["small:no"]) == command.BAD_INPUT
    assert command.main(["large"]) == command.BAD_INPUT


def test_a_adapter_that_is_skipped_keeps_its_last_result(tmp_path: Path) -> None:
    def of(**statuses: str) -> dict[str, Any]:
        adapters = [{"name": name, "status": status} for name, status in statuses.items()]
        return {"engine": "small", "version": "1", "adapters": adapters}

    assert not engine_results.write(of(first="skipped", second="skipped"), tmp_path).exists()
    engine_results.write(of(first="passed", second="skipped"), tmp_path)
    path = engine_results.write(of(first="skipped", second="failed"), tmp_path)
    assert json.loads(path.read_text())["adapters"] == of(first="passed", second="failed")["adapters"]
    text = path.read_text()
    engine_results.write(of(first="skipped", second="skipped"), tmp_path)
    assert path.read_text() == text


def test_a_gate_that_reaches_the_limit_of_a_adapter_is_undecided(checkout: Path) -> None:
    assert command.main(["small:chain", "--limit", "0.001"]) == command.UNDECIDED


def test_a_wrong_engine_is_violated(checkout: Path) -> None:
    path = checkout / "python" / "engines" / "small.py"
    path.write_text(path.read_text().replace("q[i][x] < p[i][x]", "q[i][x] < 0.9 * p[i][x]"))
    assert command.main(["small:chain"]) == command.FAILED


def test_without_an_engine_the_command_is_skipped(checkout: Path) -> None:
    path = checkout / "python" / "engines" / "small.py"
    path.write_text(path.read_text().replace('packages=("numpy",)', 'packages=("no-such-engine",)'))
    assert command.main([]) == command.SKIPPED


def test_repeated_gates_are_counted_and_kept(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main(["small:chain"]) == command.PASSED
    assert command.main(["small", "--repeat", "3", "--models", "1"]) == command.PASSED
    assert "3 of 3 gates passed, 1 models each" in capfd.readouterr().out
    assert command.main(["small:chain"]) == command.PASSED  # keeps the earlier count
    (kept,) = (checkout / "python" / "engines" / "results").glob("small-*.json")
    (adapter,) = json.loads(kept.read_text())["adapters"]
    assert adapter["repeated"] == {"gates": 3, "passed": 3, "models": 1, "seed": 1}
    assert command.main(["small", "--repeat", "2", "--models", "1", "--seed", "4"]) == command.PASSED  # seeds go on
    assert json.loads(kept.read_text())["adapters"][0]["repeated"] == {"gates": 5, "passed": 5, "models": 1, "seed": 1}
    assert command.main(["small", "--repeat", "3", "--models", "1"]) == command.PASSED  # begins a new count
    text = engine_pages.write_page(checkout).read_text()
    assert "| `chain` | 3 | 1 | 3 |  |" in text


def test_adapters_that_are_not_proved_repeat_their_trials(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = checkout / "python" / "engines" / "small.py"
    path.write_text(path.read_text().replace('tiers=("proof",)', 'tiers=("sampled",)'))
    asked: list[Any] = []

    def passing(*given: Any, **named: Any) -> Any:
        asked.append((named["tier"], named["seed"], "models" in named, list(named["instance"]), named["time_limit"]))
        return type("Gate", (), {"status": "passed"})()

    monkeypatch.setattr(engine_results, "check", passing)
    engine = discover(checkout / "python" / "engines")["small"]
    counted = engine_results.repeat(engine, ["chain"], 2, seed=5, models=0, limit=9)
    assert asked == [(("sampled",), 5, False, [], 9), (("sampled",), 6, False, [], 9)]
    assert counted == {"chain": {"gates": 2, "passed": 2, "seed": 5}}
    result = {"engine": "small", "version": "1", "adapters": [{"name": "chain", "repeated": counted["chain"]}]}
    assert "| small 1 | `chain` | 2 | trials | 2 |  |" in engine_pages._repeated({"small": result})


def test_a_repeated_gate_that_fails_is_named(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = checkout / "python" / "engines" / "small.py"
    path.write_text(path.read_text().replace("q[i][x] < p[i][x]", "q[i][x] < 0.9 * p[i][x]"))
    assert command.main(["small:chain", "--repeat", "2", "--seed", "7"]) == command.FAILED
    said = capfd.readouterr().out
    assert "2 of 2 gates passed" not in said and "seed 7: " in said and "exact_distribution" in said


def test_the_time_limit_is_that_of_each_repeated_gate(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command.main(["small:chain", "--repeat", "1", "--limit", "0.001"])
    assert "chain: gate 1 of 1, undecided" in capfd.readouterr().err


def test_repeated_gates_of_a_adapter_that_cannot_be_opened_are_skipped(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["small:gone", "--repeat", "2"]) == command.SKIPPED
    assert "skipped, no such kernel" in capfd.readouterr().out


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
    engine = discover(checkout / "python" / "engines")["small"]
    counted = engine_results.repeat(engine, ["chain"], 5, models=1)
    assert counted == {"chain": {"gates": 2, "passed": 2, "models": 1, "seed": 1}}
    said = capsys.readouterr().err
    assert "chain: gate 2 of 5, passed" in said and "chain: stopped after 2 of 5 gates" in said
    assert engine_results.repeat(engine, ["chain"], 5, models=1) == {}


def test_a_repeated_gate_that_raises_is_counted_as_failed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gates = iter([engine_results.check])

    def until_it_raises(*given: Any, **options: Any) -> Any:
        gate = next(gates, None)
        if gate is None:
            raise ValueError("no kernel")
        return gate(*given, **options)

    monkeypatch.setattr(engine_results, "check", until_it_raises)
    engine, kept = discover(checkout / "python" / "engines")["small"], []
    with pytest.raises(ValueError, match="no kernel"):
        engine_results.repeat(engine, ["chain"], 5, models=1, keep=lambda counted: kept.append(dict(counted["chain"])))
    first = {"seed": 2, "says": "no kernel"}
    assert kept[-1] == {"gates": 2, "passed": 1, "models": 1, "seed": 1, "failed": {"raised": 1}, "first": first}
    assert "chain: gate 2 of 5 raised ValueError" in capsys.readouterr().err


@pytest.mark.parametrize("installed", ["1", "2", None])
def test_the_installed_version_of_an_engine_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: str | None
) -> None:
    for folder, version in (("interpreter", installed), ("packages/of_test", "2")):
        if version is not None:
            (tmp_path / folder / f"of_test-{version}.dist-info").mkdir(parents=True)
            (tmp_path / folder / f"of_test-{version}.dist-info" / "METADATA").write_text(
                f"Metadata-Version: 2.1\nName: of-test\nVersion: {version}\n"
            )
            (tmp_path / folder / "of_test.py").write_text(f"version = {version!r}\n")
    monkeypatch.setenv("DRAFTPROOF_ENGINE_PACKAGES", str(tmp_path / "packages"))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "interpreter"), *sys.path])
    engine = Engine(adapters=(), packages=("of-test==2",), name="of_test")
    engine.enter()
    assert engine.version() == "2"
    found = PathFinder.find_spec("of_test")
    assert found is not None and found.origin is not None
    assert Path(found.origin).read_text() == "version = '2'\n"


def test_stored_paths_are_relative_to_the_engine_and_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAFTPROOF_ENGINE_PACKAGES", str(tmp_path / "packages"))
    places = [str(tmp_path / "packages" / "small" / "package" / "x.py"), str(ROOT / "python" / "y.py")]
    result = {"engine": "small", "version": "1", "adapters": [{"name": "a", "status": "failed", "notes": places}]}
    stored = json.loads(engine_results.write(result, tmp_path).read_text())
    assert stored["adapters"][0]["notes"] == ["package/x.py", "python/y.py"]


def test_repeated_gates_that_were_stopped_are_undecided(checkout: Path) -> None:
    path = checkout / "python" / "engines" / "small.py"
    path.write_text(path.read_text() + DIES_LATER.replace("os._exit(9)", "interrupt()") + INTERRUPT)
    assert command.main(["small:chain", "--repeat", "5", "--models", "1"]) == command.UNDECIDED


def test_repeated_gates_of_small_models_are_asked_and_each_is_kept_as_it_comes(checkout: Path) -> None:
    told = [engine_results.small_chain(seed) for seed in range(200)]
    assert len(set(told)) > 190 and any(" p=(0 " in one for one in told)
    rows = [one.split("] ")[1].split(" [")[0].split(" q=") for one in told]
    assert 20 < sum(p == f"p={q}" for p, q in rows) < 60
    engine, kept = discover(checkout / "python" / "engines")["small"], []
    engine_results.repeat(engine, ["chain"], 3, models=0, keep=lambda counted: kept.append(counted["chain"]["gates"]))
    assert kept == [1, 2, 3]
    path = checkout / "python" / "engines" / "small.py"
    path.write_text(path.read_text().replace("q[i][x] < p[i][x]", "q[i][x] < 0.5 * p[i][x]"))
    wrong = engine_results.repeat(discover(checkout / "python" / "engines")["small"], ["chain"], 4, models=0)
    assert (
        wrong["chain"]["passed"] < 4 and wrong["chain"]["failed"]["exact_distribution"] == 4 - wrong["chain"]["passed"]
    )


def test_gates_before_the_death_of_an_engine_are_kept(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main(["small:chain"]) == command.PASSED
    path = checkout / "python" / "engines" / "small.py"
    path.write_text(path.read_text() + DIES_LATER)
    assert command.main(["small:chain", "--repeat", "5", "--models", "1"]) == command.DIED
    assert "earlier results are stored" in capfd.readouterr().err
    (kept,) = (checkout / "python" / "engines" / "results").glob("small-*.json")
    assert json.loads(kept.read_text())["adapters"][0]["repeated"]["gates"] == 2


def test_adapters_before_the_death_of_an_engine_are_kept(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = checkout / "python" / "engines" / "small.py"
    two = path.read_text().replace(
        'EngineAdapter("gone", absent)', 'EngineAdapter("later", right, models=3, predictions=32)'
    )
    path.write_text(two + DIES_LATER.replace("[1, 1]", "[1]"))
    assert command.main(["small"]) == command.DIED
    assert "earlier results are stored" in capfd.readouterr().err
    (kept,) = (checkout / "python" / "engines" / "results").glob("small-*.json")
    assert [adapter["name"] for adapter in json.loads(kept.read_text())["adapters"]] == ["chain"]
