"""Finds the draftproof program, runs it and reads its JSON.

The program is a C++ executable. A wheel carries it in `draftproof/bin`; a checkout has it in `build/default`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import Any, NoReturn

PASSED, FAILED, BAD_INPUT, UNDECIDED, INTERNAL_ERROR, SKIPPED = 0, 1, 2, 3, 4, 77
_VERDICTS = frozenset({PASSED, FAILED, UNDECIDED, SKIPPED})
_VARIABLE = "DRAFTPROOF_PROGRAM"
_NAME = "draftproof"


def printable(text: str, most: int = 10_000) -> str:
    """Returns at most `most` characters of a text, with `?` for control characters except line feeds and tabs, so that
    a name or a message from outside cannot control the terminal that shows it."""
    kept = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text[:most])
    return kept + (".." if len(text) > most else "")


def on_a_line(text: str, most: int = 100) -> str:
    """Returns at most `most` characters of a name from outside, with `?` for control characters and line feeds."""
    return printable(text, most).replace("\n", "?")


def short(value: object) -> str:
    """Returns at most 60 letters of `repr(value)`, or the type of a value whose `repr` raises."""
    try:
        return printable(repr(value), 60)
    except Exception:
        return type(value).__name__


def is_finite(value: object) -> bool:
    """Whether this is a real number that a finite double can represent."""
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:
        return False


def say(prog: str, words: object) -> None:
    """Prints a line of a command to standard error."""
    print(f"{prog}: {printable(str(words))}", file=sys.stderr, flush=True)


class Parser(argparse.ArgumentParser):
    """Prints a usage error on one line and exits with code 2."""

    def error(self, message: str) -> NoReturn:
        say(self.prog, message)
        raise SystemExit(BAD_INPUT)


class ProgramError(RuntimeError):
    """The program gave no verdict.

    `exit_code` is 2 for usage or bad input, 4 for an internal error, and minus the signal's number if a signal ended
    the program. `message` is what the program wrote to standard error.
    """

    def __init__(self, exit_code: int, message: str) -> None:
        super().__init__(exit_code, message)
        self.exit_code = exit_code
        self.message = message

    def __str__(self) -> str:
        return f"{self.message or 'no message'} ({meaning(self.exit_code)})"


class ProgramNotFound(RuntimeError):
    """`find` found no executable program, or the system cannot start the file that it found. Every function that runs
    the program raises it."""


def cannot_start(program: str | os.PathLike[str], error: OSError) -> ProgramNotFound:
    """Returns the error for a file that the system does not execute."""
    return ProgramNotFound(f"{os.fspath(program)}: got {error.strerror or error}, expected the draftproof program")


def member(document: dict[str, Any], name: str) -> list[Any]:
    """Returns a list of a document that the program printed. Raises: ProgramError if the document has no such list."""
    found = document.get(name)
    if not isinstance(found, list):
        said = f"standard output: got no list {name!r}, expected one; the program has another version"
        raise ProgramError(PASSED, said)
    return found


def meaning(exit_code: int) -> str:
    """Returns the meaning of an exit code of the program in words.

    A negative code is minus the number of the signal that ended the program.
    """
    words = {
        PASSED: "passed",
        FAILED: "failed",
        BAD_INPUT: "usage or bad input",
        UNDECIDED: "undecided or stopped",
        INTERNAL_ERROR: "internal error",
        SKIPPED: "skipped",
    }
    if exit_code < 0:
        try:
            return f"ended by {signal.Signals(-exit_code).name}"
        except ValueError:
            return f"ended by signal {-exit_code}"
    return f"exit code {exit_code}: {words.get(exit_code, 'unknown')}"


def find() -> Path:
    """Returns the path of the program, the first of these files that exists:

    1. the file that the environment variable DRAFTPROOF_PROGRAM names, also a script that starts the program,
    2. `bin/draftproof` in the installed package,
    3. `build/default/draftproof` in the checkout that the package lies in,
    4. `draftproof` in a folder of PATH. Scripts are skipped, because the package installs a script of that name, which
       calls this function.

    Raises: ProgramNotFound with the paths that were tried.
    """
    named = os.environ.get(_VARIABLE)
    if named:
        path = _absolute(os.path.expanduser(named))
        if not _is_executable(path) or b"draftproof.__main__" in _head(path):
            raise ProgramNotFound(f"{_VARIABLE}={named}: got {_what(path)}, expected the draftproof program")
        return path
    looked_at = [*_in_package(), *_in_checkout(), *_in_path()]
    for path in looked_at:
        if _is_program(path):
            return path
    places = "".join(f"\n  {path}: {_what(path)}" for path in looked_at)
    raise ProgramNotFound(
        f"the draftproof program is at none of these places:{places}\n"
        f"`pip install .` from a clone builds it into the package, `./dev run list` into build/default; "
        f"{_VARIABLE} names one elsewhere."
    )


def run(arguments: Sequence[str | os.PathLike[str]], *, check: bool = True, input: str | None = None) -> dict[str, Any]:
    """Runs the program with `--json -q` and the given arguments, and returns the JSON document that it prints.

    Exit codes 0, 1, 3 and 77 are verdicts; the document says which. With `-o FILE` among the arguments the document is
    in the file and the result is empty.

    arguments: a command of the program and its options, as in `["prove", "k_seq"]`.
    check: False returns `{"exit_code": code, "message": text}` where ProgramError would be raised.
    input: text for the program's standard input, empty if None.

    Raises: ProgramError for every exit code that is not a verdict, and for output that does not parse as JSON.
    ProgramNotFound. ValueError for an argument that is not a text.
    """
    command = [os.fspath(find()), "--json", "-q", *(text_of_argument("arguments", one) for one in arguments)]
    ended = _ended(command, input or "")
    try:
        return document_of(ended.returncode, ended.stdout, ended.stderr)
    except ProgramError as error:
        if check:
            raise
        return {"exit_code": error.exit_code, "message": error.message}


def version() -> str:
    """Returns the program's version, as in "0.3.0".

    Raises: ProgramError, ProgramNotFound.
    """
    ended = _ended([os.fspath(find()), "--version"])
    if ended.returncode != PASSED:
        raise ProgramError(ended.returncode, _said(ended.stderr))
    return ended.stdout.strip()


def text_of_argument(name: str, argument: Any) -> str:
    """Returns an argument of the program as text. Raises: ValueError if it contains a null character or half a
    surrogate pair, or is neither a text nor a path, because no program can take it."""
    try:
        text = os.fsdecode(argument)
        if b"\0" not in os.fsencode(text):
            return text
    except (TypeError, UnicodeEncodeError):
        pass
    raise ValueError(f"{name}: got {argument!r:.60}, expected a text that a program can take as an argument")


def _ended(command: list[str], input: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, input=input, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except OSError as error:
        raise cannot_start(command[0], error) from error


def document_of(exit_code: int, output: str, errors: str) -> dict[str, Any]:
    if exit_code not in _VERDICTS:
        raise ProgramError(exit_code, _said(errors))
    if not output.strip():
        return {}
    try:
        document = json.loads(output)
    except (ValueError, RecursionError) as error:
        raise ProgramError(exit_code, f"standard output: got {output[:80]!r}, expected JSON ({error})") from error
    if not isinstance(document, dict):
        raise ProgramError(exit_code, f"standard output: got {output[:80]!r}, expected a JSON object")
    return document


def _said(errors: str) -> str:
    """Returns standard error without the program's name at its start."""
    return errors.strip().removeprefix("draftproof: ")


def _in_package() -> list[Path]:
    # An editable installation has two folders of the package; the second folder has the files that the build made.
    folders = list(getattr(sys.modules[__name__.rpartition(".")[0]], "__path__", []))
    return [Path(folder) / "bin" / _NAME for folder in folders]


def _in_checkout() -> list[Path]:
    root = Path(__file__).resolve().parents[2]
    return [root / "build" / "default" / _NAME] if (root / "CMakePresets.json").is_file() else []


def _in_path() -> list[Path]:
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    found = (shutil.which(_NAME, path=folder) for folder in folders if folder)
    return [_absolute(path) for path in found if path]


def _absolute(path: str) -> Path:
    """Returns an absolute path, or `path` itself if the working folder does not exist any more."""
    try:
        return Path(path).absolute()
    except FileNotFoundError:
        return Path(path)


def _is_program(path: Path) -> bool:
    return _is_executable(path) and not _head(path).startswith(b"#!")


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(1024)


def _what(path: Path) -> str:
    if not path.exists():
        return "nothing"
    if not path.is_file():
        return "a folder" if path.is_dir() else "a device or a pipe"
    return "a script" if _is_executable(path) else "a file that cannot be executed"
