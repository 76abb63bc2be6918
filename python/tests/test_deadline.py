"""Tests of the end of a check's time, in calls that sleep, catch all exceptions or use threads, and of interrupts."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import pytest

import draftproof
from draftproof.deadline import Deadline, Ended


def ended(deadline: Deadline, fn: Any) -> str:
    try:
        with deadline.watching(lambda: None):
            deadline.call(fn)
    except Ended as error:
        return error.reason
    return ""


def catches_everything() -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            time.sleep(30)
        except BaseException:
            if time.monotonic() - begun[-1] > 0.35:
                raise


begun: list[float] = []


@pytest.mark.parametrize("fn", [lambda: time.sleep(30), lambda: threading.Event().wait(30), catches_everything])
@pytest.mark.parametrize("main", [True, False])
def test_a_call_ends_with_the_time(fn: Any, main: bool) -> None:
    said: list[str] = []
    begun.append(time.monotonic())

    def run() -> None:
        said.append(ended(Deadline(0.2), fn))

    if main:
        run()
    else:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join(20)
    assert len(said) == 1
    assert "0.2 s was over, and a call of the function had not returned" in said[0]


def test_a_call_within_the_time_returns_and_raises_what_it_does() -> None:
    deadline = Deadline(30)
    with deadline.watching(lambda: None):
        assert deadline.call(lambda: 3) == 3
        with pytest.raises(KeyError, match="gone"):
            deadline.call(dict[str, int]().__getitem__, "gone")
    assert not deadline.over


def test_no_call_begins_after_the_end_and_the_program_is_told_once() -> None:
    told: list[int] = []
    deadline = Deadline(0.1)
    with deadline.watching(lambda: told.append(1)):
        while not deadline.over:
            time.sleep(0.01)
        with pytest.raises(Ended, match="was not finished"):
            deadline.call(lambda: 3)
    assert told == [1]


def test_silent_calls_end_without_a_limit_and_busy_ones_go_on() -> None:
    calls = [0]
    busy = Deadline(None, lambda: calls[0], silence=1.5)

    def many() -> None:
        for _ in range(25):
            calls[0] += 1
            time.sleep(0.1)

    assert ended(busy, many) == ""
    assert "did not return within 0.5 s" in ended(Deadline(None, lambda: 0, silence=0.5), lambda: time.sleep(30))


def test_a_second_part_of_a_check_has_the_rest_of_the_time() -> None:
    deadline = Deadline(0.3)
    assert ended(deadline, lambda: time.sleep(0.1)) == ""
    assert "0.3 s was over" in ended(deadline, lambda: time.sleep(30))


def test_a_function_that_ignores_alarms_ends_after_a_call() -> None:
    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        time.sleep(0.3)
        return [0]

    verdict = draftproof.check(verify, raises=False, keep=False, time_limit=0.2)
    assert verdict.status == "undecided"
    assert verdict.calls <= 2


def test_an_interrupt_ends_the_call_and_handlers_are_as_they_were() -> None:
    # SIGINT is ignored in a background job of a shell without job control.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        before = signal.getsignal(signal.SIGALRM)
        deadline = Deadline(None)
        main = threading.main_thread().ident
        assert main is not None
        threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
        assert ended(deadline, lambda: time.sleep(30)) == "interrupted by the user"
        assert deadline.interrupted
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert signal.getsignal(signal.SIGALRM) == before
    finally:
        signal.signal(signal.SIGINT, inherited)


def test_another_alarm_reaches_its_handler() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(number))
    try:
        with Deadline(30).watching(lambda: None):
            signal.raise_signal(signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert heard == [signal.SIGALRM]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_limit_is_a_positive_number(seconds: float) -> None:
    with pytest.raises(ValueError, match="time_limit"):
        Deadline(seconds)
