"""Makes the virtual environment that the package's tests run in, and runs Python there. Needs only Python itself.

    environment.py make FOLDER REQUIREMENTS     makes the environment, unless it is up to date
    environment.py run FOLDER ARGUMENTS         runs the environment's Python with these arguments

The package is installed as a link to this checkout, without its program. Exit code 77 stands for an environment that
cannot be made here: an old Python, no venv module, no package index. FOLDER/skipped keeps the reason, and `run` repeats
it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 10)


class Skipped(Exception):
    """The environment cannot be made here, for the reason given."""


def make(folder: Path, requirements: Path) -> None:
    """Makes the environment in `folder` from a file of requirements, unless it is there, made from equal inputs.

    Raises: Skipped; SystemExit if a requirement cannot be installed although the index answers.
    """
    ready = folder / "ready"
    wanted = _inputs(requirements)
    if ready.is_file() and ready.read_text() == wanted:
        return
    ready.unlink(missing_ok=True)
    if sys.version_info < OLDEST:
        raise Skipped(f"got Python {sys.version.split()[0]}, expected {OLDEST[0]}.{OLDEST[1]} or later")
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        raise Skipped("Python's venv module is not installed (Debian package python3-venv)")
    _call([sys.executable, "-m", "venv", "--clear", str(folder)])
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "--retries=1"]
    if _pip([*pip, "install", "-r", str(requirements)]) != 0:
        # numpy is in every package index, so if pip does not find it, the index cannot be reached.
        if _pip([*pip, "install", "--dry-run", "--ignore-installed", "--no-deps", "numpy"]) != 0:
            raise Skipped("the package index cannot be reached")
        raise SystemExit(f"{requirements}: not installed")
    # The editable installation, a link to the sources, adds the package's metadata: version, entry points and pytest
    # plug-in.
    link = ["--no-index", "--no-deps", "--no-build-isolation", "--config-settings", "wheel.cmake=false"]
    _call([*pip, "install", *link, "-e", str(ROOT)])
    ready.write_text(wanted)


def run(folder: Path, arguments: list[str]) -> None:
    """Replaces this process by the environment's interpreter.

    Raises: Skipped if there is no environment.
    """
    if not (folder / "ready").is_file():
        reason = folder / "skipped"
        raise Skipped(reason.read_text() if reason.is_file() else f"{folder}: no environment has been made")
    interpreter = str(folder / "bin" / "python")
    os.execv(interpreter, [interpreter, *arguments])


def _inputs(requirements: Path) -> str:
    """Returns the texts that determine an environment: Python version, package and requirements."""
    texts = [sys.version, str(ROOT), Path(__file__).read_text(), (ROOT / "pyproject.toml").read_text()]
    return "\n".join([*texts, *(path.read_text() for path in sorted(requirements.parent.glob("*.txt")))])


def _pip(command: list[str]) -> int:
    return subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode


def _call(command: list[str]) -> None:
    if (code := _pip(command)) != 0:
        raise SystemExit(f"exit code {code}: {' '.join(command)}")


def main(arguments: list[str]) -> int:
    verb = arguments[0] if arguments else ""
    if (verb, len(arguments)) != ("make", 3) and not (verb == "run" and len(arguments) >= 2):
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[1]).absolute()
    try:
        if verb == "run":
            run(folder, arguments[2:])
        else:
            make(folder, Path(arguments[2]).resolve())
            (folder / "skipped").unlink(missing_ok=True)
    except Skipped as skipped:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "skipped").write_text(str(skipped))
        print(f"skipped: {skipped}", file=sys.stderr)
        return SKIPPED
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
