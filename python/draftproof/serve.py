"""One run of the program with a Python function as its door: the program connects to a socket and asks."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from draftproof import program
from draftproof.subject import Subject
from draftproof.wire import Arrays, Fields, SharedMemory, Unmapped, WireError, frame, read_frame, shares_memory


def ask(subject: Subject, arguments: Sequence[str], *, input: str = "", progress: bool = False) -> dict[str, Any]:
    """Runs the program with `arguments` and `--door`, answers its requests by `subject`, and returns its document.

    Requests are answered by the calling thread, one after another.

    Raises: ProgramError, ProgramNotFound; UnknownRandomness of the function.
    """
    return program.document_of(*_served(subject, ["--json", *arguments], input, progress))


def tell(subject: Subject, arguments: Sequence[str]) -> str:
    """The same, and returns what the program prints for people."""
    exit_code, text, errors = _served(subject, arguments, "", False)
    if not text:
        program.document_of(exit_code, text, errors)
    return text


def _served(subject: Subject, arguments: Sequence[str], input: str, progress: bool) -> tuple[int, str, str]:
    """Exit code, output and errors of the program."""
    with tempfile.TemporaryDirectory(prefix="draftproof-") as folder, contextlib.ExitStack() as open_things:
        place = Path(folder) / "door"
        listener = open_things.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        listener.bind(str(place))
        listener.listen(1)
        listener.settimeout(0.05)
        output, errors, asked = ((Path(folder) / name).open("w+b") for name in ("output", "errors", "input"))
        for file in (output, errors, asked):
            open_things.callback(file.close)
        asked.write(input.encode())
        asked.seek(0)
        command = [str(program.find()), "-q", "--door", f"socket:{place}", *arguments]
        run = subprocess.Popen(command, stdin=asked, stdout=output, stderr=errors)
        open_things.callback(_end, run, listener)
        bar = open_things.enter_context(_bar(progress))
        while True:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                if run.poll() is not None:
                    break
                continue
            # Closing writes what is left of an answer, which a host that hung up does not take.
            gone = contextlib.suppress(BrokenPipeError, ConnectionResetError)
            with gone, connection, connection.makefile("rwb") as stream:
                connection.settimeout(None)
                _converse(subject, cast(BinaryIO, stream), bar)
        for file in (output, errors):
            file.seek(0)
        return run.returncode, output.read().decode(), errors.read().decode(errors="replace")


def _converse(subject: Subject, stream: BinaryIO, bar: Any) -> None:
    """Answers until the host says bye or hangs up."""
    try:
        shared = SharedMemory()
        message: tuple[Fields, Arrays] = {**subject.declaration.hello(), **shares_memory()}, {}
        while True:
            stream.write(frame(*message))
            stream.flush()
            before = subject.calls
            try:
                request = read_frame(stream, shared)
            except Unmapped as error:
                message = error.reply(), {}
                continue
            if request is None or request[0]["type"] == "bye":
                return
            message = subject.answer(*request)
            bar.update(subject.calls - before)
    except (BrokenPipeError, ConnectionResetError, WireError):
        return  # the host hung up; what it found is in its document


def _end(run: subprocess.Popen[bytes], listener: socket.socket) -> None:
    listener.close()  # the program would wait for an answer to another connection
    if run.poll() is None:
        run.terminate()
        try:
            run.wait(5)
        except subprocess.TimeoutExpired:
            run.kill()
    run.wait()


class _NoBar:
    def update(self, count: int) -> None:
        """Shows nothing."""


@contextlib.contextmanager
def _bar(wanted: bool) -> Iterator[Any]:
    if wanted:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            pass
        else:
            with tqdm(unit=" calls", desc="draftproof", leave=False) as bar:
                yield bar
            return
    yield _NoBar()
