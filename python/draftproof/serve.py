"""Runs the program with a Python function as its adapter: the program connects to a socket and sends requests."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from draftproof import program
from draftproof.deadline import Deadline, Ended, deadline_of
from draftproof.subject import FunctionFailed, Subject
from draftproof.wire import Arrays, Fields, WireError, frame, read_frame


def ask(
    subject: Subject,
    arguments: Sequence[str],
    *,
    input: str = "",
    deadline: Deadline | None = None,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Runs the program with `arguments` and `--adapter`, answers its requests by `subject`, and returns its document.

    Requests are answered by the calling thread, one after another.

    Raises: ProgramError, ProgramNotFound; UnknownRandomness and FunctionFailed of the function.
    """
    exit_code, text, errors = _served(subject, ["--json", *arguments], input, deadline, progress)
    document = program.document_of(exit_code, text, errors)
    if not document:
        said = errors.strip() or "nothing on standard error"
        raise program.ProgramError(exit_code, f"standard output: got nothing, expected a JSON object; {said}")
    return document


def tell(subject: Subject, arguments: Sequence[str], *, deadline: Deadline | None = None) -> str:
    """Runs the program like `ask` but without `--json`, and returns the text that it prints."""
    exit_code, text, errors = _served(subject, arguments, "", deadline, None)
    if not text:
        program.document_of(exit_code, text, errors)
    return text


def _served(
    subject: Subject, arguments: Sequence[str], input: str, deadline: Deadline | None, progress: bool | None
) -> tuple[int, str, str]:
    """Runs the program and returns its exit code, standard output and standard error."""
    deadline = deadline or deadline_of(subject, None)
    with tempfile.TemporaryDirectory(prefix="draftproof-") as folder, contextlib.ExitStack() as open_things:
        place = Path(folder) / "adapter"
        listener = open_things.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        listener.bind(str(place))
        listener.listen(1)
        listener.settimeout(0.05)
        output, errors, asked = ((Path(folder) / name).open("w+b") for name in ("output", "errors", "input"))
        for file in (output, errors, asked):
            open_things.callback(file.close)
        asked.write(input.encode())
        asked.seek(0)
        command = [str(program.find()), "-q", "--adapter", f"socket:{place}", *arguments]
        try:
            run = subprocess.Popen(command, stdin=asked, stdout=output, stderr=errors)
        except OSError as error:
            raise program.cannot_start(command[0], error) from error
        open_things.callback(_end, run, listener)
        open_things.enter_context(deadline.watching(lambda: _stop(run)))
        shown = open_things.enter_context(_Progress(subject, progress))
        while True:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                if run.poll() is not None:
                    break
                continue
            # Closing flushes the rest of an answer, which fails if the program has closed the connection.
            gone = contextlib.suppress(BrokenPipeError, ConnectionResetError)
            with gone, connection, connection.makefile("rwb") as stream:
                connection.settimeout(None)
                _converse(subject, cast(BinaryIO, stream), deadline, shown)
        for file in (output, errors):
            file.seek(0)
        said = output.read().decode(errors="replace")
        if deadline.over and run.returncode < 0 and not said:  # SIGINT came before the program had set its handler
            raise Ended(deadline.over)
        return run.returncode, said, errors.read().decode(errors="replace")


def _converse(subject: Subject, stream: BinaryIO, deadline: Deadline, shown: _Progress) -> None:
    """Answers requests until the program sends `bye` or closes the connection."""
    try:
        message: tuple[Fields, Arrays] = subject.declaration.hello(), {}
        while True:
            stream.write(frame(*message))
            stream.flush()
            request = read_frame(stream)
            if request is None or request[0]["type"] == "bye":
                return
            try:
                message = deadline.call(subject.answer, *request)
            except Ended as ended:
                message = {"type": "error", "id": request[0]["id"], "message": ended.reason, "stopped": True}, {}
            except FunctionFailed as failed:  # on a text or a selection; the program reports it as a finding
                message = {"type": "error", "id": request[0]["id"], "message": str(failed)}, {}
            shown.update()
    except (BrokenPipeError, ConnectionResetError, WireError):
        return  # The program closed the connection; it has printed its results.


def _stop(run: subprocess.Popen[bytes]) -> None:
    """Sends SIGINT. The program then ends and prints its results so far."""
    with contextlib.suppress(OSError):
        run.send_signal(signal.SIGINT)


def _end(run: subprocess.Popen[bytes], listener: socket.socket) -> None:
    listener.close()  # so that the program cannot connect again and wait for an answer
    if run.poll() is None:
        run.terminate()
        try:
            run.wait(5)
        except subprocess.TimeoutExpired:
            run.kill()
    run.wait()


class _Progress:
    """Shows the calls and seconds so far in a line on standard error, from the first second on. If `wanted` is None,
    the line is shown only if standard error is a terminal."""

    def __init__(self, subject: Subject, wanted: bool | None) -> None:
        self._subject, self._wanted = subject, sys.stderr.isatty() if wanted is None else wanted
        self._start = self._next = time.monotonic()
        self._next += 1.0
        self._shown = ""

    def __enter__(self) -> _Progress:
        return self

    def update(self) -> None:
        now = time.monotonic()
        if not self._wanted or now < self._next:
            return
        self._next = now + 0.25
        name, calls = self._subject.declaration.name, self._subject.calls
        self._show(f"draftproof: {name}: {calls:,} calls, {now - self._start:.0f} s")

    def _show(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(len(self._shown)) + ("" if text else "\r"))
        sys.stderr.flush()
        self._shown = text

    def __exit__(self, *error: object) -> None:
        if self._shown:
            self._show("")
