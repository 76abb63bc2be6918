"""cmake/release.sh makes a source archive without links, and checksums of all its files.

The source distribution and the wheel take minutes; a stand-in for Python makes an empty source distribution.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSION = next(
    line.split("VERSION ")[1].split()[0]
    for line in (ROOT / "CMakeLists.txt").read_text().splitlines()
    if line.startswith("project(draftproof VERSION ")
)
STAND_IN = '#!/bin/sh\nwhile [ "$1" != --outdir ]; do shift; done\ntouch "$2/draftproof-$VERSION.tar.gz"\n'


def release(folder: Path, python: Path) -> subprocess.CompletedProcess[str]:
    words = [str(ROOT / "cmake/release.sh"), str(folder), str(python), sys.executable, "--no-wheel", "--no-site"]
    environment = os.environ | {"VERSION": VERSION}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Returns the folder of a release of the last commit without wheel and site."""
    if subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, check=False).returncode:
        pytest.skip("not in a clone with git")
    folder = tmp_path_factory.mktemp("release")
    python = folder / "python"
    python.write_text(STAND_IN)
    python.chmod(0o755)
    ended = release(folder / "dist", python)
    assert ended.returncode == 0, ended.stderr
    yield folder / "dist"


def test_the_files_and_their_checksums(made: Path) -> None:
    names = {f"draftproof-{VERSION}-source.tar.gz", f"draftproof-{VERSION}.tar.gz"}
    assert {one.name for one in made.iterdir()} == names | {"SHA256SUMS"}
    sums = dict(reversed(line.split()) for line in (made / "SHA256SUMS").read_text().splitlines())
    assert sums == {name: hashlib.sha256((made / name).read_bytes()).hexdigest() for name in names}


def test_the_source_archive_has_files_in_place_of_links(made: Path) -> None:
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-s"], capture_output=True, text=True, check=True)
    links = [line.partition("\t")[2] for line in listed.stdout.splitlines() if line.startswith("120000 ")]
    assert links
    with tarfile.open(made / f"draftproof-{VERSION}-source.tar.gz") as archive:
        members = {one.name.partition("/")[2]: one for one in archive.getmembers()}
        assert not [name for name, one in members.items() if one.issym() or one.islnk()]
        for link in links:
            assert members[link].isdir() == (ROOT / link).is_dir(), link
            headers = [one for one in (ROOT / link).rglob("*.hpp")] if (ROOT / link).is_dir() else []
            assert all(str(one.relative_to(ROOT)) in members for one in headers), link
        assert {"CMakeLists.txt", "LICENSE", "dev", "pyproject.toml"} <= set(members)
        assert {(one.uid, one.gid) for one in members.values()} == {(0, 0)}


def test_a_folder_with_files_is_refused(made: Path, tmp_path: Path) -> None:
    before = sorted(made.iterdir())
    ended = release(made, tmp_path / "python")
    assert ended.returncode == 2 and "expected an empty one" in ended.stderr
    assert sorted(made.iterdir()) == before
