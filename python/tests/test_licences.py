"""Wheels and the source archive contain the licences of the libraries and data that they bundle."""

from __future__ import annotations

import base64
import fnmatch
import hashlib
import re
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "cmake"))
import add_licences  # noqa: E402

ABOUT = "draftproof-0.dist-info"
LIBRARIES = ["draftproof.libs/libfmt-4f700944.so.9.1.0", "draftproof.libs/libbz2-e4f501c8.so.1.0.4"]
#: Development packages. auditwheel copies the libraries of LINKED into a wheel. The licences of OTHERS require no
#: notice, or only tests use them.
LINKED = {"coinor-libclp-dev", "libfmt-dev", "libzip-dev"}
OTHERS = {"libboost-dev", "libbenchmark-dev", "libgtest-dev", "librapidcheck-dev"}


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a wheel with two libraries; the folder `doc` beside it has the licence texts of both."""
    monkeypatch.setattr(add_licences, "package_of", lambda name: re.findall(r"lib(\w+)-", name)[0])
    for package in ("fmt", "bz2", *add_licences.HEADERS):
        (tmp_path / "doc" / package).mkdir(parents=True)
        (tmp_path / "doc" / package / "copyright").write_text(f"licence of {package}\n")
    path = tmp_path / "draftproof-0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as made:
        for name in LIBRARIES:
            made.writestr(name, "ELF")
        made.writestr(f"{ABOUT}/METADATA", "Name: draftproof\nLicense-File: LICENSE\n\nThe body\n\nof it\n")
        made.writestr(f"{ABOUT}/licenses/LICENSE", "ours")
        made.writestr(f"{ABOUT}/RECORD", "")
    return path


def run(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["add_licences.py", str(wheel), "--doc", str(wheel.parent / "doc")])
    return add_licences.main()


def test_each_library_gets_its_licence(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert add_licences.without_licence(wheel) == [*sorted(LIBRARIES), *add_licences.HEADERS]
    assert run(wheel, monkeypatch) == 0
    assert add_licences.without_licence(wheel) == []
    with zipfile.ZipFile(wheel) as made:
        assert made.read(f"{ABOUT}/licenses/fmt/copyright") == b"licence of fmt\n"
        metadata = made.read(f"{ABOUT}/METADATA").decode()
        assert metadata.endswith("\n\nThe body\n\nof it\n")
        for name in re.findall(r"License-File: (.*)", metadata):
            assert f"{ABOUT}/licenses/{name}" in made.namelist()
        rows = [line.split(",") for line in made.read(f"{ABOUT}/RECORD").decode().splitlines()]
        assert {row[0] for row in rows} == set(made.namelist())
        for name, digest, size in rows:
            if digest:
                data = made.read(name)
                assert int(size) == len(data)
                assert (
                    digest == f"sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')}"
                )


def test_a_text_that_the_wheel_lost_is_found(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(wheel, monkeypatch) == 0
    with zipfile.ZipFile(wheel) as made:
        kept = {name: made.read(name) for name in made.namelist() if name != f"{ABOUT}/licenses/bz2/copyright"}
    with zipfile.ZipFile(wheel, "w") as made:
        for name, data in kept.items():
            made.writestr(name, data)
    assert add_licences.without_licence(wheel) == [LIBRARIES[1]]


def test_a_library_without_a_text_stops_the_release(
    wheel: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (wheel.parent / "doc/bz2/copyright").unlink()
    before = wheel.read_bytes()
    assert run(wheel, monkeypatch) == 1
    assert f"{LIBRARIES[1]}: got no licence" in capsys.readouterr().err
    assert wheel.read_bytes() == before


def test_every_dependency_of_the_build_has_a_place() -> None:
    named = {line.partition("#")[0].strip() for line in (ROOT / "packages.txt").read_text().splitlines()}
    assert {name for name in named if name.endswith("-dev")} == {*add_licences.HEADERS, *LINKED, *OTHERS}


def test_the_release_adds_them() -> None:
    script = (ROOT / "cmake/release.sh").read_text()
    assert script.index("auditwheel repair") < script.index("cmake/add_licences.py") < script.index("sha256sum")


def test_each_data_set_has_its_licence() -> None:
    page = (ROOT / "data/README.md").read_text()
    rows = re.findall(r"^\| (`[^|]*`) \| ([^|]*) \|$", page.partition("## Provenance and licences")[2], re.M)
    texts = {pattern: re.findall(r"`(licences/[^`]+)`", text) for names, text in rows for pattern in names.split("`")}
    for file in (ROOT / "data").iterdir():
        if file.is_file() and file.name not in ("README.md", "reference.json"):
            found = [name for pattern, names in texts.items() if fnmatch.fnmatch(file.name, pattern) for name in names]
            assert found, file
            read = [(ROOT / "data" / name).read_text() for name in found]
            assert all("Copyright (c)" in text or "Apache License" in text for text in read)
