"""Tests that written files replace regular files only, and never a part file of another program."""

from __future__ import annotations

import argparse
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from capture_small_models import TEXTS, draft, named, target
from test_capture_resume import GIVEN
from test_recorder import V, token_loop

from draftproof import costs
from draftproof.capture import CaptureError, Recorder, capture, recover
from draftproof.decode import command as decode
from draftproof.engines import results as engine_results
from draftproof.files import written

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


def test_no_file_beside_the_output_is_touched_and_nothing_is_left_of_a_failure(tmp_path: Path) -> None:
    output, beside = tmp_path / "out.json", tmp_path / "out.json.new"
    output.write_text("old")
    beside.write_text("of the user")
    with pytest.raises(KeyError), written(output) as file:
        file.write(b"half")
        raise KeyError
    assert output.read_text() == "old"
    with written(output, "w") as file:
        file.write("whole")
    assert output.read_text() == "whole" and beside.read_text() == "of the user"
    assert sorted(tmp_path.iterdir()) == [output, beside]
    assert output.stat().st_mode == beside.stat().st_mode


def test_two_writers_of_one_output_do_not_mix(tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    with written(output, "w") as first, written(output, "w") as second:
        first.write("1" * 100)
        second.write("2" * 10)
    assert output.read_text() == "1" * 100


@pytest.mark.parametrize("command", [decode.run_command, costs.main])
def test_an_output_of_decode_and_costs_is_checked_before_the_work(
    command: Callable[[list[str]], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, link = tmp_path / "texts.txt", tmp_path / "link.json"
    texts.write_text("a text")
    link.symlink_to(texts)
    for output, said in (
        (texts, "got a file that is read here"),
        (link, "got a file that is read here"),
        (tmp_path, "got a directory"),
        (tmp_path / "gone" / "out.json", "got no folder"),
    ):
        assert command(["--target", "no/model", "--texts", str(texts), "-o", str(output)]) == 2
        assert f"{output}: {said}" in capsys.readouterr().err
    assert texts.read_text() == "a text"


@pytest.mark.parametrize("command", [decode.run_command, costs.main])
def test_the_files_of_a_model_are_not_replaced(
    command: Callable[[list[str]], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, model, link = tmp_path / "texts.txt", tmp_path / "model", tmp_path / "linked"
    texts.write_text("a text")
    model.mkdir()
    link.symlink_to(model)
    (model / "config.json").write_text("{}")
    for output in (model / "config.json", link / "config.json"):
        assert command(["--target", str(model), "--texts", str(texts), "-o", str(output)]) == 2
        assert f"{output}: got a file of the folder {model}, which is read here" in capsys.readouterr().err
    assert (model / "config.json").read_text() == "{}"
    assert command(["--target", str(model), "--texts", str(texts), "-o", str(model / "new.json")]) == 2
    assert "new.json" not in capsys.readouterr().err  # only the model is refused


def test_a_result_that_cannot_be_written_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = argparse.Namespace(json=False, output=tmp_path / "gone" / "out.json")
    with pytest.raises(FileNotFoundError):
        decode.show(given, {"tokens": 3}, str)
    assert '"tokens": 3' in capsys.readouterr().out
