"""`python -m draftproof ARGUMENTS` and the console script `draftproof`: the program, and verbs written in Python.

A module or subpackage of this package is a verb under its name (`_` written as `-`) if its file binds `main` at top
level, by `def` or by `from ... import`. `main(argv)` gets the arguments after the verb and returns an exit code. Files
are parsed to find this out and not imported, so that a start of the program loads no other module.
Every other first argument goes to the program.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import cast

from .program import BAD_INPUT, ProgramNotFound, cannot_start, find, say


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a verb of this package, else the program: by `execv` on POSIX, as a subprocess elsewhere.

    arguments: as in sys.argv[1:], which is used if None.

    Returns: the exit code, as in docs/contents.md.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and (source := verb_source(given[0])) is not None:
        try:
            verb = _verb(_module(source))
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("draftproof"):
                raise
            expected = f"expected it to be installed in {sys.executable}"
            say("draftproof", f"{given[0]}: got no module {error.name}, {expected}")
            return BAD_INPUT
        return _flushed(verb(given[1:]))
    try:
        program = os.fspath(find())
    except ProgramNotFound as error:
        say("draftproof", error)
        return BAD_INPUT
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # as it is if its descriptor was closed at the start
            stream.flush()
    try:
        if given in (["-h"], ["--help"]):
            code = subprocess.run([program, *given], check=False).returncode
            own = "".join(f"  {name:<27} {words}\n" for name, words in verbs().items())
            print(f"\nOf the Python package:\n{own}" if own else "", end="", flush=True)
            return code
        if os.name == "posix":
            os.execv(program, [program, *given])
        return subprocess.run([program, *given], check=False).returncode
    except OSError as error:
        say("draftproof", cannot_start(program, error))
        return BAD_INPUT


def _flushed(code: int) -> int:
    """Returns the exit code of a verb, or BAD_INPUT if standard output cannot be written. Without this the interpreter
    would find that out at its end, and exit with code 120."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # which takes what is left in the buffer
        say(
            "draftproof", f"standard output: got {error.strerror or error}, expected a file or pipe that can be written"
        )
        return BAD_INPUT
    return code


def verb_source(word: str) -> Path | None:
    """Returns the source file of the verb `word`, or None if there is no such verb.

    Cost: reads one file.
    """
    name = word.replace("-", "_")
    if not name.isidentifier() or name.startswith("_"):
        return None
    folder = Path(__file__).parent
    for source in (folder / f"{name}.py", folder / name / "__init__.py"):
        if source.is_file() and _binds_main(_tree(source)):
            return source
    return None


def verbs() -> dict[str, str]:
    """Returns every verb of this package, with the first line of its module's docstring.

    Cost: reads every module of the package.
    """
    folder = Path(__file__).parent
    found = {}
    for name in sorted({path.stem for path in folder.iterdir()}):
        if (source := verb_source(name)) is not None:
            lines = (ast.get_docstring(_tree(source)) or "").splitlines()
            found[name.replace("_", "-")] = lines[0] if lines else ""
    return found


def _tree(source: Path) -> ast.Module:
    return ast.parse(source.read_bytes(), filename=str(source))


def _binds_main(tree: ast.Module) -> bool:
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "main":
            return True
        if isinstance(statement, ast.ImportFrom) and "main" in [name.asname or name.name for name in statement.names]:
            return True
    return False


def _module(source: Path) -> str:
    name = source.parent.name if source.name == "__init__.py" else source.stem
    return f"{__package__}.{name}"


def _verb(module: str) -> Callable[[list[str]], int]:
    return cast("Callable[[list[str]], int]", import_module(module).main)


if __name__ == "__main__":
    raise SystemExit(main())
