"""Commands leave the signal handlers of the calling process as they were, however they end."""

from __future__ import annotations

import importlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from draftproof.capture import command as capture_command
from draftproof.decode.command import guarded
from draftproof.program import Parser

NUMBERS = (signal.SIGINT, signal.SIGTERM)
COMMANDS = {
    "acceptance": ["convert", "--marginal", "0.5"],
    "capture": ["--target", "missing.gguf", "--texts", "missing", "-o", "rows.npz"],
    "costs": ["--target", "missing.gguf", "-q"],
    "decode": ["--target", "missing.gguf", "--texts", "missing", "-q"],
    "tune": ["--costs", "missing.json"],
}


def handlers() -> list[Any]:
    return [signal.getsignal(number) for number in NUMBERS]


@pytest.fixture(autouse=True)
def own_handlers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Gives both signals handlers that are neither Python's nor the system's, in an empty working folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("TQDM_DISABLE", "HF_HUB_DISABLE_PROGRESS_BARS", "TRANSFORMERS_VERBOSITY"):
        monkeypatch.setenv(name, "1")
    before = handlers()
    for number in NUMBERS:
        signal.signal(number, lambda number, frame: None)
    given = handlers()
    yield
    after = handlers()
    for number, handler in zip(NUMBERS, before, strict=True):
        signal.signal(number, handler)
    assert after == given


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("usage", [True, False])
def test_a_command(name: str, usage: bool) -> None:
    if name in ("costs", "decode"):
        pytest.importorskip("torch")
    main = importlib.import_module(f"draftproof.{name}").main
    assert main(["--no-such-option"] if usage else COMMANDS[name]) in (0, 2)


def interrupted(given: object) -> int:
    os.kill(os.getpid(), signal.SIGTERM)
    raise AssertionError("got no KeyboardInterrupt, expected one")


def fails(given: object) -> int:
    raise KeyError("fault")


def leaves(given: object) -> int:
    raise SystemExit(5)


@pytest.mark.parametrize(("work", "code"), [(lambda given: 0, 0), (interrupted, 3), (fails, 4)])
def test_the_ends_of_guarded(work: Callable[[Any], int], code: int) -> None:
    assert guarded(Parser(prog="work"), [], work) == code


def test_an_exit_from_guarded() -> None:
    with pytest.raises(SystemExit):
        guarded(Parser(prog="work"), [], leaves)


@pytest.mark.parametrize(("work", "code"), [(interrupted, 3), (fails, 4), (leaves, 4)])
def test_the_ends_of_capture(monkeypatch: pytest.MonkeyPatch, work: Callable[[Any], int], code: int) -> None:
    monkeypatch.setattr(capture_command, "capture", lambda *given, **named: work(given))
    assert capture_command.run_command(COMMANDS["capture"]) == code


def test_the_second_signal_ends_the_process_and_the_first_one_after_a_command_is_the_callers() -> None:
    with capture_command.stoppable():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    os.kill(os.getpid(), signal.SIGINT)


def test_commands_run_in_other_threads() -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(guarded(Parser(prog="work"), [], lambda given: 7)))
    thread.start()
    thread.join()
    assert codes == [7]
