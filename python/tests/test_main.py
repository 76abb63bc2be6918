"""Tests of `python -m draftproof`: the program's arguments, exit codes and streams, and the verbs of the package."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from draftproof import __main__, program

REFUTED = ["--json", "prove", "kseq_rho_one", "--instance", "p=(1 1)/2 q=(0 1)/1 K=2"]


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(Path(__main__.__file__).parents[1])}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment)


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "draftproof", *arguments)


@pytest.mark.parametrize("arguments, code", [(["list", "--json"], 0), (REFUTED, 1), (["prove", "nobody"], 2)])
def test_is_the_program(arguments: list[str], code: int) -> None:
    direct = subprocess.run([program.find(), *arguments], capture_output=True, text=True, check=False)
    through = call(*arguments)
    assert (through.returncode, through.stdout, through.stderr) == (code, direct.stdout, direct.stderr)


def test_without_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAFTPROOF_PROGRAM", "/nowhere")
    ended = call("list")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "draftproof: DRAFTPROOF_PROGRAM=/nowhere: got nothing, expected the draftproof program\n"


def test_a_verb_without_its_library(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError('No module named numpy', name='numpy')\n")
    paths = os.pathsep.join([str(tmp_path), str(Path(__main__.__file__).parents[1])])
    ended = subprocess.run(
        [sys.executable, "-m", "draftproof", "acceptance", "judge"],
        capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": paths},
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("draftproof: acceptance: got no module numpy, expected it to be installed in ")


HARDWARE = "bandwidth=3.35e12,flops=9.9e14,target_bytes=1.4e11,draft_bytes=2e9"


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("place", ["a full device", "a pipe without a reader"])
@pytest.mark.parametrize(
    "verb",
    [
        "acceptance judge --marginal 0.9 --steps 100000 --got 0.9",
        f"tune zipf:vocabulary=20,positions=2 --hardware {HARDWARE} --verifier ladder -K 1 --samples 64",
    ],
)
def test_a_result_that_cannot_be_written_is_no_verdict(verb: str, place: str, unbuffered: str) -> None:
    if place == "a full device":
        output = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, output = os.pipe()
        os.close(reader)
    paths = {"PYTHONPATH": str(Path(__main__.__file__).parents[1]), "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-m", "draftproof", *verb.split()]
    ended = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, check=False,
                           env=os.environ | paths)  # fmt: skip
    os.close(output)
    (line,) = ended.stderr.splitlines()
    assert ended.returncode == 2 and ("No space left" in line or "Broken pipe" in line)


def test_the_program_says_that_standard_output_is_closed() -> None:
    ended = python("-c", "import os, sys; os.close(1); os.execv(sys.executable, sys.argv)", "-m", "draftproof", "list")
    assert (ended.returncode, ended.stderr) == (4, "draftproof: standard output cannot be written\n")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a folder that replaces the package's folder."""
    monkeypatch.setattr(__main__, "__file__", str(tmp_path / "__main__.py"))
    (tmp_path / "__main__.py").write_text("def main(argv): return 0\n")
    return tmp_path


@pytest.mark.parametrize(
    "text, found",
    [
        ('"""Does it.\n\nMore."""\ndef main(argv): return 3\n', "Does it."),
        ('"""Does it."""\nfrom .other import start as main\n', "Does it."),
        ("from .main import main, more\n", ""),
        ("def start(argv): return 3\n", None),
        ("from .main import main as start\n", None),
        ("class Verb:\n    def main(self): return 3\n", None),
    ],
)
def test_one_file_is_a_verb(text: str, found: str | None, package: Path) -> None:
    (package / "in_one_file.py").write_text(text)
    (package / "in_a_folder").mkdir()
    (package / "in_a_folder" / "__init__.py").write_text(text)
    (package / "_private.py").write_text(text)
    assert __main__.verbs() == ({} if found is None else {"in-a-folder": found, "in-one-file": found})


def test_a_verb_gets_its_arguments(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    def verb(argv: list[str]) -> int:
        given.extend(argv)
        return 3

    module = ModuleType("draftproof.some_verb")
    module.__dict__["main"] = verb
    monkeypatch.setitem(sys.modules, "draftproof.some_verb", module)
    (package / "some_verb.py").write_text("def main(argv): return 0\n")
    assert __main__.main(["some-verb", "--flag", "file"]) == 3
    assert given == ["--flag", "file"]


def test_arguments_that_name_no_file_are_the_programs(package: Path) -> None:
    for word in ("list", "--json", "../in_one_file", "__main__", "", "-h", "in.one"):
        assert __main__.verb_source(word) is None


def test_no_verb_hides_a_command_of_the_program() -> None:
    ended = subprocess.run([program.find(), "--help"], capture_output=True, text=True, check=True)
    commands = re.findall(r"^  ([a-z-]+) ", ended.stdout.partition("Subcommands:")[2], re.MULTILINE)
    assert "survey-paths" in commands
    assert not set(commands) & set(__main__.verbs())


def test_help_lists_the_verbs() -> None:
    ended = call("--help")
    assert ended.returncode == 0
    assert "survey-paths" in ended.stdout
    for name in __main__.verbs():
        assert f"\n  {name} " in ended.stdout


def test_a_call_of_the_program_imports_little() -> None:
    code = "import sys, draftproof.__main__; import json; print(json.dumps(list(sys.modules)))"
    ended = python("-c", code)
    assert ended.returncode == 0, ended.stderr
    assert not {"numpy", "torch", "pytest"} & set(json.loads(ended.stdout))
