"""Tests of stored failing instances: if their folder or file cannot be used, only the stored instances are lost."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest

from draftproof import store

KEPT = Path(".draftproof") / "failures.json"
ONE = "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_instances_are_kept_by_function_newest_first_and_dropped_when_they_hold() -> None:
    assert store.keep("f", [], asked=True) == "" and not KEPT.parent.exists()
    assert store.keep("f", [ONE], asked=True) == store.keep("g", ["other"], asked=True) == ""
    assert store.keep("f", [str(i) for i in range(store.MOST - 1)], asked=True) == ""
    assert store.failures("f") == [*map(str, range(store.MOST - 1)), ONE]
    assert store.keep("f", [], asked=False) == "" and len(store.failures("f")) == store.MOST
    assert store.keep("f", [], asked=True) == store.forget("h") == ""
    assert json.loads(KEPT.read_text()) == {"g": ["other"]}


def expect_not_kept(*words: str) -> None:
    """Checks that a failing run reports the fault of the file, and stores nothing."""
    fault = store.keep("f", [ONE], asked=True)
    assert fault.startswith(f"failing instances are not kept: {KEPT}: got ") and "expected" in fault
    assert all(word in fault for word in words), fault
    assert store.failures("f") == []


def test_a_file_in_the_place_of_the_folder() -> None:
    KEPT.parent.write_text("mine")
    expect_not_kept("Not a directory")
    assert KEPT.parent.read_text() == "mine"


def test_links_to_nothing_and_in_a_circle(tmp_path: Path) -> None:
    KEPT.parent.symlink_to(tmp_path / "gone")
    expect_not_kept("File exists", "expected a folder")
    assert store.keep("f", [], asked=True) == ""  # a run that passed has nothing to store
    KEPT.parent.unlink()
    KEPT.parent.mkdir()
    KEPT.symlink_to(KEPT.name)
    expect_not_kept("symbolic links")
    KEPT.unlink()
    KEPT.symlink_to(tmp_path / "gone" / "failures.json")
    expect_not_kept("No such file")
    assert list(KEPT.parent.iterdir()) == [KEPT]


def test_a_link_to_a_file_stays_a_link(tmp_path: Path) -> None:
    KEPT.parent.mkdir()
    (tmp_path / "shared.json").write_text('{"g": ["other"]}')
    KEPT.symlink_to(tmp_path / "shared.json")
    assert store.keep("f", [ONE], asked=True) == ""
    assert KEPT.is_symlink() and json.loads((tmp_path / "shared.json").read_text()) == {"g": ["other"], "f": [ONE]}


def test_a_pipe_or_a_folder_in_the_place_of_the_file() -> None:
    KEPT.parent.mkdir()
    os.mkfifo(KEPT)
    expect_not_kept("not a file")
    KEPT.unlink()
    KEPT.mkdir()
    expect_not_kept("not a file")


def test_a_folder_that_takes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/proc")
    expect_not_kept("No such file")
    monkeypatch.chdir(tmp_path)
    if os.geteuid():  # root writes everywhere
        tmp_path.chmod(0o500)
        expect_not_kept("Permission denied")
        tmp_path.chmod(0o700)


def test_a_full_disk_leaves_the_file_as_it_was_and_no_part() -> None:
    assert store.keep("f", [ONE], asked=True) == ""
    before, limits = KEPT.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, limits[1]))
    try:
        fault = store.keep("f", ["other"], asked=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "File too large" in fault
    assert KEPT.read_bytes() == before and list(KEPT.parent.iterdir()) == [KEPT]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'["L=1"]', "list ['L=1']"),
        (b"null", "NoneType None"),
        (b'{"f": "L=1"}', "'f': 'L=1'"),
        (b'{"f": [1]}', "'f': [1]"),
        (b'{"f": {"a": 1}}', "'f': {'a': 1}"),
    ],
)
def test_a_file_of_somebody_else_is_named_and_left_as_it_is(content: bytes, words: str) -> None:
    KEPT.parent.mkdir()
    KEPT.write_bytes(content)
    expect_not_kept(words, "left as it is")
    assert words in store.keep("f", [], asked=True) and words in store.forget("f")  # refused even with nothing to store
    assert KEPT.read_bytes() == content


def test_entries_of_another_shape_are_ignored_beside_ours() -> None:
    KEPT.parent.mkdir()
    KEPT.write_text('{"g": [1], "f": ["L=1"]}')
    assert store.failures("f") == ["L=1"] and store.failures("g") == []
    assert "'g': [1]" in store.keep("f", [ONE], asked=True)
