"""Ends calls of a function when the time of a check is over, or when its user interrupts it."""

from __future__ import annotations

import contextlib
import ctypes
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any

SILENCE = 60.0  # most seconds of a call if the check has no time limit
AGAIN = 0.05  # seconds between two attempts to end a call that catches every exception


class Ended(BaseException):
    """A call was ended, for `reason`. It is a BaseException, because functions may catch every Exception."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class Deadline:
    """The time limit of a check. `over` is empty while the check runs, then the reason why it ended.

    In the main thread SIGALRM ends a call, also one that sleeps, but not C code that does not check for signals. A
    check in another thread runs its calls in a worker thread, which is abandoned if a call does not end.
    """

    def __init__(self, seconds: float | None, calls: Callable[[], int] = lambda: 0, silence: float = SILENCE) -> None:
        """seconds   limit of the whole check; None: no limit, but `silence` seconds for each call
        calls     returns the number of calls so far; when it changes, a new call has begun
        """
        if seconds is not None and not (isinstance(seconds, Real) and 0 < float(seconds) < float("inf")):
            raise ValueError(f"time_limit: got {seconds!r}, expected a number of seconds above 0")
        self.seconds = seconds
        self._calls, self._silence = calls, silence
        self.over = ""
        self.interrupted = False
        self._main = threading.current_thread() is threading.main_thread()
        self._calling = False
        self._start = time.monotonic()
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] | None = None
        self._worker: threading.Thread | None = None

    def left(self) -> float | None:
        """Returns the seconds that are left; None without a limit."""
        return None if self.seconds is None else max(0.0, self._start + self.seconds - time.monotonic())

    def end_if_over(self) -> None:
        """Raises: Ended if a call runs and the time is over. This method is called after each call of the checked
        function, so that a check also ends if the function has replaced the handler of SIGALRM."""
        if self.over and self._calling:
            raise Ended(self.over)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Returns the result of the function. Raises: Ended if the time is over, or the user interrupts."""
        if self.over:
            raise Ended(self.over)
        if not self._main:
            return self._call_aside(function, arguments)
        self._calling = True
        try:
            return function(*arguments)
        except KeyboardInterrupt:
            self.interrupted, self.over = True, self.over or "interrupted by the user"
            raise Ended(self.over) from None
        finally:
            self._calling = False

    def _call_aside(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        if self._worker is None:
            self._tasks = queue.SimpleQueue()
            self._worker = threading.Thread(target=self._work, args=(self._tasks,), daemon=True)
            self._worker.start()
        assert self._tasks is not None
        result: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

        def task() -> None:
            try:
                result.put((function(*arguments), None))
            except BaseException as error:
                result.put((None, error))

        self._tasks.put(task)
        self._calling = True
        while True:
            with contextlib.suppress(queue.Empty):
                value, error = result.get(timeout=AGAIN)
                break
            if not self.over:
                continue
            self._calling = False
            if self._worker.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._worker.ident), ctypes.py_object(Ended))
            raise Ended(self.over)
        self._calling = False
        if error is not None:
            raise error
        return value

    @staticmethod
    def _work(tasks: queue.SimpleQueue[Callable[[], None] | None]) -> None:
        while (task := tasks.get()) is not None:
            task()

    def _words(self, unanswered: float) -> str:
        """Returns why the check ended. `unanswered`: seconds since the last call began."""
        if not self._over_time():
            return f"a call of the function did not return within {self._silence:g} s; a larger time_limit allows more"
        assert self.seconds is not None
        if self._calling and unanswered >= min(1.0, self.seconds / 4):
            return f"the time limit of {self.seconds:g} s was over, and a call of the function had not returned"
        return (
            f"the time limit of {self.seconds:g} s was over after {self._calls():,} calls; the check was not finished"
        )

    @contextlib.contextmanager
    def watching(self, stop: Callable[[], None]) -> Iterator[None]:
        """Until the context ends, ends calls at the deadline and on an interrupt by the user.

        stop    is called when the time is over, and on an interrupt outside of a call
        """
        before: dict[int, Any] = {}

        def alarm(number: int, frame: Any) -> None:
            if self.over and self._calling:
                raise Ended(self.over)
            if not self.over and callable(before.get(number)):
                before[number](number, frame)

        def interrupt(number: int, frame: Any) -> None:
            if self.interrupted:
                raise KeyboardInterrupt
            self.interrupted, self.over = True, self.over or "interrupted by the user"
            if self._calling:
                raise Ended(self.over)
            stop()

        if self._main:
            if hasattr(signal, "SIGALRM"):
                before[signal.SIGALRM] = signal.signal(signal.SIGALRM, alarm)
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                before[signal.SIGINT] = signal.signal(signal.SIGINT, interrupt)
        done = threading.Event()
        watch = threading.Thread(target=self._watch, args=(stop, done), daemon=True)
        watch.start()
        try:
            yield
        finally:
            done.set()
            if self._tasks is not None:
                self._tasks.put(None)
                self._worker = None
            watch.join()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _over_time(self) -> bool:
        left = self.left()
        return left is not None and left <= 0

    def _watch(self, stop: Callable[[], None], done: threading.Event) -> None:
        calls, since = self._calls(), time.monotonic()
        step = 1.0 if self.seconds is None else min(1.0, self.seconds / 8)
        while not self.over:
            left = self.left()
            if done.wait(step if left is None else min(left, step)):
                return
            now = time.monotonic()
            if not self._calling or self._calls() != calls:
                calls, since = self._calls(), now
            if self._over_time() or (self.seconds is None and now - since > self._silence):
                self.over = self.over or self._words(now - since)
        stop()
        while self._main and not done.wait(AGAIN):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)


def deadline_of(subject: Any, seconds: float | None) -> Deadline:
    """Returns the deadline of the calls of a `Subject`."""
    deadline = Deadline(seconds, lambda: subject.calls)
    subject.after_call = deadline.end_if_over
    return deadline
