"""Tests of captures that are interrupted and started again."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from capture_small_models import TEXTS, draft, named, target
from numpy.typing import NDArray
from test_capture_positions import FORMS

from draftproof.capture import CaptureError, Filter, Trees, capture
from draftproof.capture import part as part_module

GIVEN: dict[str, Any] = {"positions": 40, "context": 16, "skip": 3}


class Stops:
    """The target, interrupted at one of its calls. The first call determines V; each piece of text is one more call."""

    def __init__(self, at: int, stop: type[BaseException]) -> None:
        self.calls, self.at, self.stop = 0, at, stop

    def __call__(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        self.calls += 1
        if self.calls == self.at:
            raise self.stop
        return target(ids)


def in_parts(output: Path, at: int, **given: Any) -> int:
    """Runs a capture that is interrupted at call `at`, and starts it again until it is done. Returns how often it was
    interrupted."""
    stopped = 0
    while not output.exists():
        try:
            capture(named(Stops(at, KeyboardInterrupt)), draft, TEXTS, output, **given)
        except KeyboardInterrupt:
            stopped += 1
            assert not output.exists()
    return stopped


@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
@pytest.mark.parametrize("form", FORMS)
def test_interrupted_runs_give_the_same_bytes(tmp_path: Path, form: str, suffix: str) -> None:
    given = {**GIVEN, **FORMS[form]}
    whole, parts = tmp_path / f"whole{suffix}", tmp_path / f"parts{suffix}"
    capture(named(target), draft, TEXTS, whole, **given)
    # A continuation calls the model once per drawn token, nine times, and once for the rows.
    assert in_parts(parts, 13 if "continue_tokens" in given else 3, **given) >= 4
    assert parts.read_bytes() == whole.read_bytes()
    if suffix == ".npz":
        assert parts.with_suffix(".json").read_bytes() == whole.with_suffix(".json").read_bytes()
        with zipfile.ZipFile(parts) as archive:
            assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert {path.stem for path in tmp_path.iterdir()} == {"whole", "parts"}


def test_interrupted_trees_give_the_same_bytes(tmp_path: Path) -> None:
    given = {**GIVEN, "positions": 8, "trees": Trees(4, 3)}
    capture(named(target), draft, TEXTS, tmp_path / "whole.npz", **given)
    assert in_parts(tmp_path / "parts.npz", 14, **given) >= 2
    assert (tmp_path / "parts.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()


def test_a_run_that_fails_goes_on_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_module, "COMMIT_SECONDS", 1e9)
    file = tmp_path / "run.safetensors"
    with pytest.raises(ZeroDivisionError):
        capture(named(Stops(5, ZeroDivisionError)), draft, TEXTS, file, **GIVEN)
    done = capture(named(target), draft, TEXTS, file, **GIVEN)
    assert 0 < done.resumed < 40
    capture(named(target), draft, TEXTS, tmp_path / "whole.safetensors", **GIVEN)
    assert file.read_bytes() == (tmp_path / "whole.safetensors").read_bytes()


def test_rows_behind_the_last_commit_do_not_count(tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        capture(named(Stops(4, KeyboardInterrupt)), draft, TEXTS, file, **GIVEN)
    part = tmp_path / "run.safetensors.part"
    data = bytearray(part.read_bytes())
    data[-4:] = b"\xff\xff\xff\xff"
    part.write_bytes(data)
    capture(named(target), draft, TEXTS, file, **GIVEN)
    capture(named(target), draft, TEXTS, tmp_path / "whole.safetensors", **GIVEN)
    assert file.read_bytes() == (tmp_path / "whole.safetensors").read_bytes()


def test_a_part_of_another_capture_is_refused_and_can_be_discarded(tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        capture(named(Stops(3, KeyboardInterrupt)), draft, TEXTS, file, **GIVEN)
    with pytest.raises(CaptureError, match=r"another capture \(options\.seed: 0, this run: 1\), expected .*restart"):
        capture(named(target), draft, TEXTS, file, **GIVEN, seed=1)
    found = r"\(options\.context: 16, this run: 15; options\.target_filter\.top_k: 0, this run: 5\)"
    with pytest.raises(CaptureError, match=found):
        capture(named(target), draft, TEXTS, file, **{**GIVEN, "context": 15}, target_filter=Filter(top_k=5))
    with pytest.raises(CaptureError, match="texts_sha256"):
        capture(named(target), draft, [*TEXTS[1:], TEXTS[0]], file, **GIVEN)
    done = capture(named(target), draft, TEXTS, file, **GIVEN, seed=1, restart=True)
    assert done.resumed == 0


def test_a_lost_progress_file_starts_again(tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        capture(named(Stops(4, KeyboardInterrupt)), draft, TEXTS, file, **GIVEN)
    progress = tmp_path / "run.safetensors.part.json"
    assert json.loads(progress.read_text())["units"] == 2
    progress.unlink()
    assert capture(named(target), draft, TEXTS, file, **GIVEN).resumed == 0


def test_one_capture_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"

    def meanwhile(_: object) -> None:
        with pytest.raises(CaptureError, match="a lock of another process"):
            capture(named(target), draft, TEXTS, file, **GIVEN)

    capture(named(target), draft, TEXTS, file, **GIVEN, progress=meanwhile)
