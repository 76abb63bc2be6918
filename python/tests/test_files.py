"""Tests that written files replace regular files only, and never a part file of another program."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from capture_small_models import TEXTS, draft, named, target
from test_capture_resume import GIVEN
from test_recorder import V, token_loop

from draftproof.capture import CaptureError, Recorder, capture, recover
from draftproof.engines import results as engine_results

KINDS: dict[str, Callable[[Path], object]] = {
    "a FIFO": os.mkfifo,
    "a directory": os.mkdir,
    "a socket": lambda path: socket.socket(socket.AF_UNIX).bind(str(path)),
    "a symbolic link to nothing": lambda path: path.symlink_to("gone"),
    "a character device": lambda path: os.mknod(path, 0o20666, os.makedev(1, 7)),  # /dev/full
}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_a_regular_file_is_replaced(tmp_path: Path, kind: str) -> None:
    with Recorder(tmp_path / "saved.safetensors", V) as record:
        token_loop(record, 1)
        shutil.copytree(tmp_path / "saved.safetensors.part", tmp_path / "kept")
    for name in ("run.safetensors", "run.safetensors.part", "run.safetensors.part.json", "run.npz", "run.json"):
        file = tmp_path / name
        try:
            KINDS[kind](file)
        except PermissionError:
            pytest.skip("making a device takes root")
        before = file.lstat()
        output = tmp_path / ("run.safetensors" if "safetensors" in name else "run.npz")
        with pytest.raises(FileExistsError, match=f"got {kind}, expected a regular file or none"):
            capture(named(target), draft, TEXTS, output, **GIVEN, overwrite=True, restart=True)
        with pytest.raises(FileExistsError, match=kind):
            engine_results.replace(file, "text")
        if name == "run.safetensors":
            with pytest.raises((FileExistsError, CaptureError), match=r"got a symbolic link to nothing|exists"):
                Recorder(file, V)
            shutil.copytree(tmp_path / "kept", tmp_path / "run.safetensors.part")
            with pytest.raises(FileExistsError, match=kind):
                recover(file)
            shutil.rmtree(tmp_path / "run.safetensors.part")
        assert file.lstat() == before
        file.rmdir() if kind == "a directory" else file.unlink()


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "old.safetensors").write_text("old")
    (tmp_path / "link.safetensors").symlink_to("old.safetensors")
    capture(named(target), draft, TEXTS, tmp_path / "link.safetensors", **GIVEN, overwrite=True)
    assert (tmp_path / "link.safetensors").is_symlink()
    assert (tmp_path / "old.safetensors").stat().st_size > 1000


def test_a_file_that_is_no_part_of_this_capture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.safetensors.part").write_text("someone else's")
    with pytest.raises(CaptureError, match=r"run\.safetensors\.part"):
        capture(named(target), draft, TEXTS, tmp_path / "run.safetensors", **GIVEN)
    assert (tmp_path / "run.safetensors.part").read_text() == "someone else's"
