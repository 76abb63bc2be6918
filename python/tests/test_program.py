"""Tests of program.py: the paths where the program is found, and the results of its exit codes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import pytest

import draftproof
from draftproof import program, serve

CONSOLE_SCRIPT = "#!/usr/bin/python3\nimport sys\nfrom draftproof.__main__ import main\nsys.exit(main())\n"


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a folder; the package, the checkout and PATH are folders in it, and none of them has the program."""
    monkeypatch.delenv("DRAFTPROOF_PROGRAM", raising=False)
    monkeypatch.setattr(draftproof, "__path__", [str(tmp_path / "package")])
    monkeypatch.setattr(program, "__file__", str(tmp_path / "checkout" / "python" / "draftproof" / "program.py"))
    monkeypatch.setenv("PATH", str(tmp_path / "one") + os.pathsep + str(tmp_path / "two"))
    return tmp_path


def saying(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    """Replaces the program by a shell script with this text."""
    monkeypatch.setenv("DRAFTPROOF_PROGRAM", str(executable(folder / "script", f"#!/bin/sh\n{text}\n")))


def test_every_place_is_named_when_there_is_no_program(nowhere: Path) -> None:
    with pytest.raises(program.ProgramNotFound) as caught:
        program.find()
    assert str(nowhere / "package" / "bin" / "draftproof") in str(caught.value)
    assert "DRAFTPROOF_PROGRAM" in str(caught.value)


def test_places_in_their_order(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_path = executable(nowhere / "two" / "draftproof", "the program")
    assert program.find() == in_path
    in_checkout = executable(nowhere / "checkout" / "build" / "default" / "draftproof", "the program")
    assert program.find() == in_path, "a folder that is not a checkout of draftproof"
    (nowhere / "checkout" / "CMakePresets.json").touch()
    assert program.find() == in_checkout
    in_package = executable(nowhere / "package" / "bin" / "draftproof", "the program")
    assert program.find() == in_package
    named = executable(nowhere / "named", "the program")
    monkeypatch.setenv("DRAFTPROOF_PROGRAM", str(named))
    assert program.find() == named


def test_the_console_script_is_not_the_program(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = executable(nowhere / "one" / "draftproof", CONSOLE_SCRIPT)
    with pytest.raises(program.ProgramNotFound, match="one/draftproof: a script"):
        program.find()
    assert executable(nowhere / "two" / "draftproof", "the program") == program.find()
    monkeypatch.setenv("DRAFTPROOF_PROGRAM", str(script))
    with pytest.raises(program.ProgramNotFound, match="got a script, expected the draftproof program"):
        program.find()


@pytest.mark.parametrize("made", ["nothing", "a folder", "a file that cannot be executed"])
def test_the_variable_must_name_a_program(made: str, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(nowhere / "two" / "draftproof", "the program")
    path = nowhere / "named"
    if made == "a folder":
        path.mkdir()
    elif made != "nothing":
        path.touch()
    monkeypatch.setenv("DRAFTPROOF_PROGRAM", str(path))
    with pytest.raises(program.ProgramNotFound, match=f"DRAFTPROOF_PROGRAM=.*named: got {made}, expected"):
        program.find()


@pytest.mark.parametrize("exit_code", [0, 1, 3, 77])
def test_verdicts_are_documents(exit_code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saying(monkeypatch, tmp_path, f'echo "{{\\"said\\": \\"$*\\"}}"; exit {exit_code}')
    assert program.run(["prove", Path("k_seq")]) == {"said": "--json -q prove k_seq"}


@pytest.mark.parametrize("exit_code", [2, 4, 5])
def test_other_exit_codes_raise(exit_code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saying(monkeypatch, tmp_path, f"echo '{{}}'; echo 'draftproof: no such thing' >&2; exit {exit_code}")
    with pytest.raises(program.ProgramError, match=f"no such thing \\(exit code {exit_code}") as caught:
        program.run(["list"])
    assert (caught.value.exit_code, caught.value.message) == (exit_code, "no such thing")
    assert program.run(["list"], check=False) == {"exit_code": exit_code, "message": "no such thing"}


def test_a_signal_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saying(monkeypatch, tmp_path, "kill -SEGV $$")
    with pytest.raises(program.ProgramError, match="ended by SIGSEGV"):
        program.run(["list"])


@pytest.mark.parametrize("output", ["no JSON", "[1]"])
def test_output_must_be_a_document(output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saying(monkeypatch, tmp_path, f"echo '{output}'")
    with pytest.raises(program.ProgramError, match=r"standard output: got .*, expected"):
        program.run(["list"])


def test_no_output_is_an_empty_document_and_input_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saying(monkeypatch, tmp_path, f"cat >{tmp_path}/input")
    assert program.run(["list", "-o", "file"], input="p=½") == {}
    assert (tmp_path / "input").read_text(encoding="utf-8") == "p=½"


def test_the_program_itself() -> None:
    refuted = program.run(["prove", "kseq_rho_one", "--instance", "p=(1 1)/2 q=(0 1)/1 K=2"])
    assert refuted["schema"].startswith("draftproof.prove/")
    assert refuted["proofs"][0]["verdict"] == "refuted"
    with pytest.raises(program.ProgramError, match='verifier: got "nobody"'):
        program.run(["prove", "nobody"])
    assert program.version().count(".") == 2


@pytest.mark.parametrize(
    ("body", "words"), [("no program", "Exec format error"), ("#!/nowhere/interpreter\n", "No such file")]
)
def test_a_file_that_the_system_cannot_start(
    body: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = executable(tmp_path / "named", body)
    monkeypatch.setenv("DRAFTPROOF_PROGRAM", str(named))
    for call in (lambda: program.run(["list"]), program.version):
        with pytest.raises(program.ProgramNotFound, match=f"{named}: got {words}.*, expected the draftproof program"):
            call()
    for arguments in (["list"], ["--help"]):
        command = [sys.executable, "-m", "draftproof", *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == 2 and f"{named}: got {words}" in ended.stderr and "Traceback" not in ended.stderr


def test_the_folder_of_an_unknown_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAFTPROOF_PROGRAM", "~no_such_user/draftproof")
    with pytest.raises(program.ProgramNotFound, match="got nothing, expected the draftproof program"):
        program.find()


def test_a_working_folder_that_was_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    monkeypatch.setenv("DRAFTPROOF_PROGRAM", "draftproof")
    with pytest.raises(program.ProgramNotFound, match="got nothing, expected the draftproof program"):
        program.find()


@pytest.mark.parametrize("argument", ["a\0", "\ud800", 5, None])
def test_arguments_that_no_program_takes(argument: Any) -> None:
    with pytest.raises(ValueError, match=r"arguments: got .*, expected a text"):
        program.run(["describe", argument])


def test_a_document_without_a_member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saying(monkeypatch, tmp_path, "echo '{}'")
    wanted = "got no list 'verifiers', expected one; the program has another version"
    with pytest.raises(program.ProgramError, match=wanted):
        program.member(program.run(["list"]), "verifiers")


CONNECTS = """
import socket, sys
adapter = next(word for word in sys.argv if word.startswith("socket:"))
socket.socket(socket.AF_UNIX).connect(adapter.partition(":")[2])
print('{"schema": "draftproof.check/1", "verdict": "undecided"}')
"""


def test_a_host_that_hangs_up_over_an_answer_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def over_an_answer(_: object, stream: BinaryIO, *rest: object) -> None:
        assert stream.read(1) == b""  # the program has closed the connection
        stream.write(b"rest of an answer")

    (tmp_path / "host.py").write_text(CONNECTS)
    saying(monkeypatch, tmp_path, f'exec {sys.executable} {tmp_path / "host.py"} "$@"')
    monkeypatch.setattr(serve, "_converse", over_an_answer)
    nothing: Any = SimpleNamespace(calls=0)
    assert serve.ask(nothing, [])["verdict"] == "undecided"
