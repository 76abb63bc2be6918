"""Tests that the workflows in examples/ci are YAML of the right form, and that their commands, files and options
exist."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from draftproof import program

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "examples" / "ci").glob("*.yml"))
OPTIONS = {
    "./dev": ["sh", "dev", "help"],
    "try_wheel.py": [sys.executable, "cmake/try_wheel.py", "--help"],
    "pytest": [sys.executable, "-m", "pytest", "-p", "draftproof.pytest_plugin", "--help"],
}


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]


def faults(step: dict[str, Any]) -> list[str]:
    """Returns the faults of a step's command."""
    words = shlex.split(step.get("run", ""))
    wrong = [] if ("run" in step) != ("uses" in step) else ["expected either run or uses"]
    if words[:1] == ["./dev"]:
        usage = subprocess.run(OPTIONS["./dev"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        if not re.search(rf"^  {words[1]}\b", usage, re.M):
            wrong.append(f"./dev has no verb {words[1]}")
    if words[:1] and words[0] not in ("./dev", "python", "python3", "pip"):
        wrong.append(f"got the program {words[0]}, which no step installs")
    wrong += [f"{word} is no file" for word in words if word.startswith("cmake/") and not (ROOT / word).is_file()]
    if "-c" in words:
        compile(words[words.index("-c") + 1], "step", "exec")
        return wrong
    for name, command in OPTIONS.items():
        if any(word.endswith(name) for word in words[:3]):
            known = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
            wrong += [f"{name} has no {word}" for word in words if word.startswith("--") and word not in known]
    return wrong


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_workflow(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["name"] and workflow[True] and len(steps(path)) >= 3  # YAML 1.1 reads `on` as true
    for job in workflow["jobs"].values():
        assert job["runs-on"].startswith("ubuntu-") and job["timeout-minutes"] <= 90
    for step in steps(path):
        assert faults(step) == [], step
        assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/checkout@v4"))


@pytest.mark.parametrize(
    "run",
    ["./dev tset", "./dev release --no-whel", "make", "python3 cmake/none.py", "python -m pytest --draftproof-x 1"],
)
def test_wrong_steps_are_found(run: str) -> None:
    assert faults({"run": run})


def test_the_page_of_the_gates_is_an_artifact(tmp_path: Path) -> None:
    """Runs the workflow's pytest step on a verifier that passes. The step must write the files that the workflow
    uploads as an artifact."""
    path = ROOT / "examples/ci/gate_with_package.yml"
    (run,) = (step["run"] for step in steps(path) if "--draftproof-page" in step.get("run", ""))
    (kept,) = (step for step in steps(path) if "upload-artifact" in step.get("uses", ""))
    assert kept["if"] == "always()"
    (tmp_path / "tests").mkdir()
    (tmp_path / "mine.py").write_text((ROOT / "examples/ci/mine.py").read_text())
    (tmp_path / "tests/test_gate.py").write_text(
        "import draftproof\nfrom mine import verify\n\n"
        "test_verify = draftproof.gates(verify, arrays='numpy', tiers=['edge'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "DRAFTPROOF_PROGRAM": str(program.find())}
    words = [sys.executable, *shlex.split(run)[1:], "-p", "draftproof.pytest_plugin"]
    subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert sorted(file.name for file in tmp_path.glob(kept["with"]["path"])) == ["gate.html", "gate.xml"]


def test_a_failed_gate_becomes_an_annotation(tmp_path: Path) -> None:
    (run,) = (step["run"] for path in FILES for step in steps(path) if "::error" in step.get("run", ""))
    (tmp_path / "gate.xml").write_text(
        '<testsuites><testcase name="good"/><testcase name="bad"><failure message="got 1/2&#10;100 %"/></testcase>'
        "</testsuites>"
    )
    words = [sys.executable, *shlex.split(run)[1:]]
    said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said == "::error title=bad::got 1/2%0A100 %25\n"
