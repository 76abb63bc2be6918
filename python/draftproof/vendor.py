"""Writes one Python file that tests verifiers in a repository without draftproof.

    python -m draftproof vendor tests/draftproof_gate.py

The file is draftproof/vendored.py under a header with the version. An existing file is replaced only if it has such a
header.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from draftproof.files import written
from draftproof.program import BAD_INPUT, Parser, ProgramError, ProgramNotFound, on_a_line, say, version

MARK = "# Copied from draftproof"
HEADER = """{mark} {version} (Apache-2.0), which has more checks. Do not edit it. A newer package updates it:
#     python -m draftproof vendor {name}
"""


def main(argv: Sequence[str]) -> int:
    parser = Parser(prog="draftproof vendor", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="the file to write, for example tests/draftproof_gate.py")
    path = parser.parse_args(argv).path
    try:
        text = vendored(path)
        if path.exists() and path.is_file() and not _is_ours(path):
            raise FileExistsError(f"{path}: got a file that `draftproof vendor` did not write, expected no file")
        with written(path, "w") as file:
            file.write(text)
    except OSError as error:
        say("draftproof vendor", error)
        return BAD_INPUT
    name = on_a_line(str(path), 10_000)
    print(f"{name}: {len(text.splitlines())} lines of draftproof {_version()}")
    return 0


def vendored(path: Path) -> str:
    """Returns the text of the file to vendor at `path`."""
    body = Path(__file__).with_name("vendored.py").read_text(encoding="utf-8")
    name = on_a_line(path.as_posix(), 10_000)  # a line feed would end the comment
    return HEADER.format(mark=MARK, version=_version(), name=name) + body


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK.encode()


def _version() -> str:
    """Returns the version of the installed package, or of the program in a checkout."""
    try:
        return metadata.version("draftproof")
    except metadata.PackageNotFoundError:
        pass
    try:
        return version()
    except (ProgramError, ProgramNotFound):
        return "of an unknown version"
