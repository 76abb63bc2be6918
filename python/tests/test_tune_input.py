"""Tests of the messages of tune for bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cost_tables import TREES

from draftproof.tune.command import run_command

FEW = ["--samples", "256", "-K", "1,2", "-L", "2,4", "--verifier", "token_path,block,recursive_rejection_tree"]


def test_bad_input_is_refused_with_a_place(costs_file: Path, tmp_path: Path, capsys: Any) -> None:
    text = tmp_path / "text.json"
    text.write_text("no json")
    wrong = tmp_path / "wrong.npz"
    wrong.write_text("no capture")
    known = ["--costs", str(costs_file)]
    hardware = "bandwidth=1e12,flops=1e14,target_bytes=1e11"
    for arguments, said in (
        ([TREES, "--costs", str(text)], "got text that is not JSON"),
        ([TREES, "--costs", "/dev/zero"], "/dev/zero: got more than 16777216 bytes"),
        ([TREES, "--costs", str(tmp_path / "none.json")], "No such file"),
        ([TREES], "one of the arguments --costs --hardware is required"),
        (known, "capture: got nothing"),
        ([str(wrong), *known], "wrong.npz"),
        ([str(tmp_path / "none.npz"), *known], "none.npz"),
        ([TREES, *known, "--batch", "3"], "--batch: got 3, expected one of 1"),
        ([TREES, *known, "--context", "7"], "--context: got 7, expected one of 128"),
        ([TREES, *known, "-K", "0"], "got '0', expected integers of at least 1"),
        ([TREES, *known, "-K", "9", "-L", "2"], "tune: --paths: got 9, expected at most 4"),
        ([TREES, *known, "-L", "9"], "tune: --lengths: got 9, expected at most 8"),
        ([TREES, *known, "--samples", "99999999999999999999"], "tune: --samples: got "),
        (["zipf:vocabulary=50", *known, "-K", "800"], "tune: --paths: got "),
        (["zipf:vocabulary=50", *known, "--samples", "99999999999999999999"], "tune: --samples: got "),
        ([TREES, *known, "--verifier", "blok"], "blok"),
        (
            [TREES, *known, "--verifier", ","],
            "--verifier: got ',', expected names with commas between them, none empty",
        ),
        ([TREES, *known, "--policy", "row_maximum,"], "--policy: got 'row_maximum,', expected names with commas"),
        (
            [TREES, *known, "--verifier", "mars_tree,greedy_block"],
            "settings: got none (greedy_block: its later steps depend on earlier ones, and captured trees have the "
            "first step only; mars_tree: not lossless), expected at least one",
        ),
        (
            ["zipf:vocabulary=50,positions=4", *known, "--verifier", "mars", "--samples", "64"],
            "settings: got none (mars: not lossless), expected at least one",
        ),
        ([TREES, *known, *FEW, "--policy", "row_maximun"], "--policy: got 'row_maximun', expected none or some of "),
        # Also where no policy is ranked: other numbers of paths, other verifiers, captured positions.
        ([TREES, *known, "-K", "2", "--policy", "no,none"], "--policy: got 'no', expected none or some of confidence_"),
        ([TREES, *known, "--verifier", "ladder_block", "--policy", "no"], "--policy: got 'no', expected none or some"),
        (["zipf:vocabulary=50", *known, "--policy", "no"], "--policy: got 'no', expected none or some of "),
        ([TREES, *known, "--confidence", "1"], "--confidence: got 1.0"),
        ([TREES, *known, "--samples", "1"], "--samples: got 1, expected at least 16"),
        ([TREES, *known, "--best", "0"], "--best: got 0, expected at least 1"),
        ([TREES, *known, *FEW, "--default", "blok"], "--default: got 'blok'"),
        ([TREES, *known, *FEW, "--default", "block:x"], "--default: got 'block:x'"),
        (
            [TREES, *known, *FEW, "--default", "block:1:7"],
            "got 'block:1:7', expected block with one of 1:2, 1:4",
        ),
        ([TREES, "--hardware", hardware], "hardware: got no draft_bytes"),
        ([TREES, "--hardware", hardware + ",draft_bytes=-1"], "hardware: draft_bytes: got '-1', expected a number"),
        ([TREES, "--hardware", hardware + ",draft_bytes=nan"], "hardware: draft_bytes: got 'nan'"),
        ([TREES, "--hardware", "speed=1"], "hardware: got 'speed', expected one of bandwidth"),
    ):
        assert run_command(arguments) == 2, arguments
        errors = capsys.readouterr().err
        assert said in errors and "Traceback" not in errors, errors
