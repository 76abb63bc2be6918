"""`./dev` passes the arguments of its verbs to the right programs. CMake, the environments and the scripts that do the
work are replaced by programs that print their arguments."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRINTS = '#!/bin/sh\necho "$(basename "$0") $*"\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Returns a folder with `dev` and, in place of what it calls, programs that print their arguments."""
    shutil.copy(ROOT / "dev", tmp_path / "dev")
    for name in ("python", "docs/site", "cmake", "programs"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "packages.txt").write_text("# none\n")
    (tmp_path / "docs/site/packages.txt").write_text("# none\n")
    for name in ("python/environment.py", "docs/site/build.py"):
        (tmp_path / name).write_text("import sys\nprint(*sys.argv)\n")
    for name in ("cmake/release.sh", "programs/cmake", "programs/apt-get"):
        (tmp_path / name).write_text(PRINTS)
    (tmp_path / "programs/dpkg-query").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "programs/sudo").write_text('#!/bin/sh\nexec "$@"\n')
    for name in ("cmake/release.sh", *(f"programs/{one.name}" for one in (tmp_path / "programs").iterdir())):
        (tmp_path / name).chmod(0o755)
    return tmp_path


def dev(tree: Path, *arguments: str) -> list[str]:
    """Returns the lines that `./dev ARGUMENTS` prints on standard output."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("DRAFTPROOF")}
    environment["PATH"] = f"{tree / 'programs'}{os.pathsep}{environment['PATH']}"
    ended = subprocess.run(
        ["sh", "dev", *arguments], cwd=tree, env=environment, capture_output=True, text=True, check=True
    )
    return ended.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([], "build/release"),
        (["dist"], "dist"),
        (["dist", "--no-site"], "dist"),
        (["--no-wheel", "--no-site"], "build/release"),
    ],
)
def test_release_goes_into_the_named_folder(tree: Path, arguments: list[str], wanted: str) -> None:
    options = [one for one in arguments if one.startswith("-")]
    lines = dev(tree, "release", *arguments)
    environment = "build/default/python/release"
    assert f"python/environment.py make {environment} python/requirements/release.txt" in lines
    assert lines[-1].split() == [
        "release.sh",
        wanted,
        f"{environment}/bin/python",
        "build/default/draftproof",
        *options,
    ]


@pytest.mark.parametrize(("options", "installs"), [([], True), (["dist", "--no-wheel"], True), (["--no-site"], False)])
def test_release_installs_what_the_site_needs(tree: Path, options: list[str], installs: bool) -> None:
    (tree / "docs/site/packages.txt").write_text("mkdocs  # for the pages\n")
    assert ("apt-get update -qq" in dev(tree, "release", *options)) == installs


def test_docs_goes_into_the_build_folder(tree: Path) -> None:
    lines = dev(tree, "docs", "--unmeasured")
    assert lines[-1] == "docs/site/build.py build/default/draftproof build/default/docs --unmeasured"


def test_python_runs_in_the_environment_of_the_tests(tree: Path) -> None:
    lines = dev(tree, "python", "-m", "pytest", "a b")
    assert lines[-1] == "python/environment.py run build/default/python/test -m pytest a b"
