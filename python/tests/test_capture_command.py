"""Tests of the command line of captures: exit codes, signals, formats of texts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from capture_small_models import MODULE, TEXTS, run_module

import draftproof.capture
from draftproof.capture.command import quantisation
from draftproof.capture.layout import read
from draftproof.capture.options import skip_list

Here = Callable[..., subprocess.CompletedProcess[str]]

TOYS = ["--target", "python:small_models:target", "--draft", "python:small_models:draft", "--texts", "texts.jsonl"]
SHORT = [*TOYS, "--positions", "40", "--context", "16", "--skip", "3"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with texts as ids."""
    lines = [json.dumps(TEXTS[0]), "", *(json.dumps({"ids": ids}) for ids in TEXTS[1:])]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Here]:
    """Yields a function like `run_module` that runs in this process, because the start of a process takes longer than
    a capture of small_models."""
    (folder / "small_models.py").write_text(MODULE.format(folder=str(Path(__file__).parent)), encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("small_models", "wide"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in ("TQDM_DISABLE", "HF_HUB_DISABLE_PROGRESS_BARS", "TRANSFORMERS_VERBOSITY"):
        monkeypatch.setenv(name, "1")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        capfd.readouterr()
        code = draftproof.capture.main(arguments)
        return subprocess.CompletedProcess(arguments, code, *capfd.readouterr())

    yield run
    for name in ("small_models", "wide"):
        sys.modules.pop(name, None)


def test_a_run_says_where_it_is_on_standard_error_alone(folder: Path) -> None:
    done = run_module(folder, *SHORT, "-o", "run.safetensors")
    assert (done.returncode, done.stdout) == (0, "")
    assert "wrote run.safetensors: 40 of 40 positions, V = 23" in done.stderr
    quiet = run_module(folder, *SHORT, "-o", "quiet.safetensors", "-q")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("number", "at"),
    [*((number, at) for number in (signal.SIGINT, signal.SIGKILL) for at in (1, 4, 7)), (signal.SIGTERM, 4)],
)
def test_a_signal_at_any_call_leaves_what_can_go_on(folder: Path, here: Here, number: signal.Signals, at: int) -> None:
    assert here(*SHORT, "-o", "whole.safetensors").returncode == 0
    command = [*SHORT, "-o", "parts.safetensors"]
    stopped = run_module(folder, *command, AT_CALL=str(at), SIGNAL=str(int(number)))
    assert stopped.returncode == (-9 if number == signal.SIGKILL else 3)
    assert not (folder / "parts.safetensors").exists()
    if number != signal.SIGKILL:
        assert "the same command continues from here" in stopped.stderr
        assert "Traceback" not in stopped.stderr
    again = here(*command)
    assert again.returncode == 0
    # The first call determines V, so call n belongs to unit n - 1 of the capture. After SIGINT or SIGTERM, which can be
    # caught, all complete units are stored; SIGKILL comes before the first commit.
    assert ("resuming" in again.stderr) == (at > 2 and number != signal.SIGKILL)
    assert (folder / "parts.safetensors").read_bytes() == (folder / "whole.safetensors").read_bytes()


def test_a_model_that_never_returns_is_left_at_once(folder: Path) -> None:
    sleeping = "import sys, time\ndef target(ids):\n    print('called', flush=True)\n    time.sleep(3600)\n"
    (folder / "sleeping.py").write_text(sleeping, encoding="utf-8")
    variables = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "draftproof.capture", *SHORT, "-o", "run.safetensors"]
    command[command.index("python:small_models:target")] = "python:sleeping:target"
    command[command.index("python:small_models:draft")] = "python:sleeping:target"
    with subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "called\n"
        child.send_signal(signal.SIGINT)
        assert child.wait() == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--dtype", "float8"], "invalid choice"),
        (["--colour", "red"], "unrecognized arguments"),
        (["--trees", "4"], "PATHSxLENGTH"),
        (["--keep-mass", "2"], "keep_mass: got 2.0"),
        (["--target", "python:small_models:nothing"], "got 'python:small_models:nothing'"),
        (["--target", "python:no_such_module:f"], "No module named 'no_such_module'"),
        (["--texts", "missing.txt"], "missing.txt"),
        (["-o", "run.json"], ".safetensors or .npz"),
        (["-o", "nowhere/run.npz"], "no folder 'nowhere'"),
        (["--draft-skip-layers", "3-1"], "layers as in 20-24,27"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(here: Here, change: list[str], words: str) -> None:
    done = here(*SHORT, "-o", "run.safetensors", "-q", *change)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.startswith("draftproof capture: ")
    assert done.stderr.count("\n") == 1


def test_texts_as_bytes(folder: Path, here: Here) -> None:
    (folder / "wide.py").write_text("import numpy as np\ndef f(ids):\n    return np.zeros((len(ids), 256))\n")
    (folder / "texts.txt").write_text("First text,\ntwo lines.\n\n \nSecond text, näher.\n", encoding="utf-8")
    given = ["--target", "python:wide:f", "--draft", "python:wide:f", "--texts", "texts.txt", "--tokenizer", "bytes"]
    done = here(*given, "--positions", "26", "--skip", "1", "-o", "run.safetensors")
    assert done.returncode == 0, done.stderr
    arrays, metadata = read(folder / "run.safetensors")
    assert metadata["texts"] == "2"
    wanted = (b"First text,\ntwo lines.", "Second text, näher.".encode())
    for text, place, following in zip(arrays["text"], arrays["place"], arrays["next_token"], strict=True):
        assert wanted[text][place] == following


@pytest.mark.parametrize("line", ["{", "3", "[1.5]", "[true, 1]", "[]", '{"id": [1]}', '""', "[[1]]"])
def test_lines_that_are_no_texts_are_refused(folder: Path, here: Here, line: str) -> None:
    (folder / "texts.jsonl").write_text(f"[1, 2, 3]\n{line}\n", encoding="utf-8")
    done = here(*SHORT, "-o", "run.safetensors", "-q")
    assert done.returncode == 2
    assert "texts.jsonl, line 2: got" in done.stderr


def test_ids_beyond_the_vocabulary_are_refused(folder: Path, here: Here) -> None:
    (folder / "texts.jsonl").write_text("[1, 2, 23]\n", encoding="utf-8")
    done = here(*SHORT, "-o", "run.safetensors", "-q")
    assert done.returncode == 2
    assert "texts[0], token 2: got id 23, expected an id below 23" in done.stderr


def test_lists_of_layers() -> None:
    assert skip_list("20-24, 27,3") == (3, 20, 21, 22, 23, 24, 27)


def test_the_package_is_the_function_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "called.py").write_text(MODULE.format(folder=str(Path(__file__).parent)), encoding="utf-8")
    rows = np.zeros(5)
    done = draftproof.capture(  # type: ignore[operator]
        lambda ids: rows, lambda ids: rows, [[1, 2, 3, 4]], "run.npz", positions=1, skip=1
    )
    assert done.acceptance["draft"] == pytest.approx(1)


def test_the_word_for_rows_is_the_same_on_the_command_line(here: Here, folder: Path) -> None:
    with (folder / "small_models.py").open("a") as file:
        file.write(
            "\nfrom capture_small_models import softmax\n\ndef distribution(ids):\n    return softmax(plain(ids))\n"
        )
    asked = ["--target", "python:small_models:distribution", "--draft", "python:small_models:distribution", *SHORT[4:]]
    refused = here(*asked, "-o", "run.safetensors")
    assert refused.returncode == 2 and "values='probability'" in refused.stderr
    for values in ("probability", "logit"):
        assert here(*asked, "--values", values, "-o", f"{values}.safetensors").returncode == 0


@pytest.mark.parametrize(
    ("given", "value"), [(None, None), ("int8", "int8"), ("2", 2), ("8", 8), ("9", "9"), ("23", "23"), ("", "")]
)
def test_bits_of_the_quantised_draft(given: str | None, value: str | int | None) -> None:
    assert quantisation(given) == value
