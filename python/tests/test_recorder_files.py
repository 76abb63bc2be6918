"""Tests of trace files: of recorders that are off, stopped, killed or refused, and of files that a reader refuses."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_recorder import V, distributions, token_loop

from draftproof.capture import CaptureError, Recorder, read_trace, recover


def test_a_recorder_that_is_off_costs_no_file(tmp_path: Path) -> None:
    with Recorder(None, V) as record:
        token_loop(record, 3)
        record.block("anything", None, None, None)
    assert not record.on
    assert list(tmp_path.iterdir()) == []


def test_every_third_block(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.safetensors", V, every=3) as record:
        given = token_loop(record, 10)
    trace = read_trace(tmp_path / "run.safetensors")
    assert trace.blocks == 4
    assert trace.arrays["emitted"].tolist() == [x for block in given[::3] for x in block["emitted"]]


def test_recording_stops_at_the_limit(tmp_path: Path) -> None:
    record = Recorder(tmp_path / "run.safetensors", V, most_bytes=4000)
    with pytest.warns(UserWarning, match="recording stopped after"):
        token_loop(record, 50)
    assert not record.on
    trace = read_trace(tmp_path / "run.safetensors")
    assert 0 < trace.blocks < 50
    assert trace.blocks == record.blocks


def test_several_threads(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.safetensors", V) as record:
        threads = [threading.Thread(target=token_loop, args=(record, 40, seed)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert read_trace(tmp_path / "run.safetensors").blocks == 160


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, None])
def test_a_process_that_ends_without_closing(tmp_path: Path, number: signal.Signals | None) -> None:
    here = Path(__file__).parent
    end = "" if number is None else f"os.kill(os.getpid(), {int(number)})"
    code = (
        f"import os, sys; sys.path.insert(0, {str(here)!r})\n"
        "from test_recorder import V, Recorder, token_loop\n"
        "from draftproof.capture import recorder; recorder._BUFFER = 1 << 14\n"
        f"record = Recorder('run.safetensors', V)\ntoken_loop(record, 300)\n{end}\n"
    )
    variables = {**os.environ, "PYTHONPATH": str(here.parent)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=variables, check=False, stderr=subprocess.DEVNULL)
    file = tmp_path / "run.safetensors"
    if number == signal.SIGKILL:
        assert not file.exists()
        # At most the records since the last flush are lost: 16 KiB of about 90 KiB.
        assert 300 > recover(file) > 200
    trace = read_trace(file)
    with Recorder(tmp_path / "whole.safetensors", V) as record:
        token_loop(record, 300)
    whole = read_trace(tmp_path / "whole.safetensors")
    for name in ("emitted", "drafts", "p_rows", "block_start"):
        assert (trace.arrays[name] == whole.arrays[name][: len(trace.arrays[name])]).all()
    assert list(tmp_path.glob("*.part")) == []


@pytest.mark.parametrize("name", ["p_rows", "q_rows", "emitted", "draft_q", "index"])
def test_recovery_takes_whole_blocks_alone(tmp_path: Path, name: str) -> None:
    record = Recorder(tmp_path / "run.safetensors", V)
    token_loop(record, 10)
    for file in record._files.values():
        file.flush()
    shutil.copytree(tmp_path / "run.safetensors.part", tmp_path / "cut.safetensors.part")
    record.close()
    cut = tmp_path / "cut.safetensors.part" / name
    cut.write_bytes(cut.read_bytes()[:-1])
    assert recover(tmp_path / "cut.safetensors") == 9
    trace, whole = (read_trace(tmp_path / f"{stem}.safetensors") for stem in ("cut", "run"))
    assert trace.blocks == 9
    assert (trace.arrays["p_rows"] == whole.arrays["p_rows"][: trace.records]).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"p": distributions(np.random.default_rng(1), 1)},
            r"block 0: p: got shape \[1, 12\], expected \[2 or more, 12\]",
        ),
        ({"q": np.full((1, V - 1), 1 / (V - 1))}, "block 0: q: got shape"),
        ({"p": np.full((2, V), 0.5)}, "block 0: p, row 0: got probabilities that sum to 6"),
        ({"drafts": [12]}, "block 0: drafts: got 12 at 0, expected a number from 0 to 11"),
        ({"drafts": [3, 4]}, "block 0: draft_rows: got 1 at 1"),
        ({"emitted": []}, "at least one token"),
        ({"emitted": [3, -1]}, "block 0: emitted: got -1 at 1"),
        ({"emitted": [3.0, 1.0]}, "expected integers"),
        ({"accepted": 2}, "block 0: accepted: got 2"),
        ({"parents": [0]}, "parents first"),
        ({"parents": [-1, 0]}, "one for each draft"),
    ],
)
def test_blocks_that_do_not_fit_are_refused_and_not_recorded(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    generator = np.random.default_rng(6)
    good: dict[str, Any] = {
        "p": distributions(generator, 2),
        "q": distributions(generator, 1),
        "drafts": [3],
        "emitted": [3, 4],
    }
    with Recorder(tmp_path / "run.safetensors", V) as record:
        with pytest.raises(CaptureError, match=words):
            record.block(**{**good, **change})
        record.block(**good)
    assert read_trace(tmp_path / "run.safetensors").blocks == 1


def test_files_that_are_in_the_way(tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    with Recorder(file, V), pytest.raises(CaptureError, match="an unfinished trace"):
        Recorder(file, V)
    with pytest.raises(CaptureError, match="exists"):
        Recorder(file, V)
    with pytest.raises(CaptureError, match=r"ends in \.safetensors"):
        Recorder(tmp_path / "run.npz", V)
    with pytest.raises(CaptureError, match="no unfinished trace"):
        recover(tmp_path / "other.safetensors")


@pytest.mark.parametrize("cut", [3, 40, -8])
def test_broken_files_are_refused(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "run.safetensors"
    with Recorder(file, V) as record:
        token_loop(record, 3)
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(CaptureError):
        read_trace(file)


def test_no_warnings_of_rows_with_zeros(tmp_path: Path) -> None:
    p, q = np.eye(V)[:2], np.eye(V)[:1]
    with warnings.catch_warnings(), Recorder(tmp_path / "run.safetensors", V, dtype="float16") as record:
        warnings.simplefilter("error")
        record.block(p, q, [0], [0, 1])
    np.testing.assert_array_equal(read_trace(tmp_path / "run.safetensors").p(0), p[0])
