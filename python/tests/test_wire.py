"""Frames: what is written is read, and broken bytes are named."""

from __future__ import annotations

import io
import os
import socket
import sys
import threading
from collections.abc import Iterator
from typing import BinaryIO, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from draftproof.deadline import Deadline
from draftproof.declare import door as declare
from draftproof.serve import _converse, _Progress
from draftproof.wire import Arrays, Fields, SharedMemory, Unmapped, WireError, frame, read_frame


def test_a_message_is_read_as_written() -> None:
    arrays = {
        "p": np.arange(6, dtype=np.float32).reshape(1, 2, 3),
        "drafts": np.array([[1]], np.int32),
        "tape": np.array([[0.5, -1.0]]),
        "empty": np.zeros((0, 4), np.int32),
    }
    stream = io.BytesIO(frame({"type": "verify", "id": 7}, arrays) + frame({"type": "bye"}, {}))
    message = read_frame(stream)
    assert message is not None
    assert message[0] == {"type": "verify", "id": 7}
    assert message[1].keys() == arrays.keys()
    for name, array in arrays.items():
        assert message[1][name].dtype == array.dtype
        assert np.array_equal(message[1][name], array)
    assert read_frame(stream) == ({"type": "bye"}, {})
    assert read_frame(stream) is None


def test_bfloat16_is_read_as_the_number_it_is() -> None:
    halves = np.array([0x3F80, 0x3E80, 0xBF00], np.uint16)  # 1, 1/4, -1/2
    blob = frame({"type": "verify"}, {"p": halves.astype(np.int32)})
    blob = blob.replace(b'"I32"', b'"XXX"')
    with pytest.raises(WireError, match="no message"):
        read_frame(io.BytesIO(blob))
    wide = frame({"type": "verify"}, {"p": halves.view(np.float16)}).replace(b'"F16"', b'"BF16"', 1)
    # The header is one byte longer now: take a blank of its filling.
    at = wide.index(b"}}") + 2 if b"}} " in wide else None
    if at is not None:
        wide = wide[: wide.index(b"}} ") + 2] + wide[wide.index(b"}} ") + 3 :]
        message = read_frame(io.BytesIO(wide))
        assert message is not None
        assert message[1]["p"].tolist() == [1.0, 0.25, -0.5]


@pytest.mark.parametrize("cut", [3, 12, 40, -1])
def test_a_message_that_ends_early_is_named(cut: int) -> None:
    blob = frame({"type": "verify"}, {"p": np.zeros((1, 1, 2), np.float32)})
    with pytest.raises(WireError):
        read_frame(io.BytesIO(blob[:cut]))


@pytest.mark.skipif(sys.platform != "linux", reason="memfd")
class TestSharedMemory:
    """Arrays that lie in a mapped file: found, read-only, and refused where the file is another one."""

    @staticmethod
    def request(file: int, **other: object) -> Fields:
        found = os.fstat(file)
        p, q = {"dtype": "F32", "shape": [1, 2, 3], "offset": 64}, {"dtype": "F16", "shape": [2], "offset": 0}
        shared: Fields = {"path": f"/proc/{os.getpid()}/fd/{file}", "inode": found.st_ino, "bytes": found.st_size}
        return {"type": "verify", "id": 5, "shared": shared | {"arrays": {"p": p, "q": q}} | other}

    @pytest.fixture
    def file(self) -> Iterator[int]:
        file = os.memfd_create("rows")
        os.write(file, np.array([1, 0.5], np.float16).tobytes() + bytes(60) + np.arange(6, dtype=np.float32).tobytes())
        yield file
        os.close(file)

    def test_arrays_are_read_in_place(self, file: int) -> None:
        shared, drafts = SharedMemory(), {"drafts": np.array([[1]], np.int32)}
        stream = io.BytesIO(frame(self.request(file), drafts) * 2)
        first = read_frame(stream, shared)
        assert first is not None
        assert first[1].keys() == {"p", "q", "drafts"}
        assert first[1]["p"].tolist() == [[[0, 1, 2], [3, 4, 5]]]
        assert first[1]["q"].tolist() == [1, 0.5]
        assert not first[1]["p"].flags.writeable
        os.pwrite(file, np.float32(7).tobytes(), 64)
        again = read_frame(stream, shared)
        assert again is not None
        assert again[1]["p"][0, 0, 0] == first[1]["p"][0, 0, 0] == 7  # the same memory, not a copy

    def test_descriptors_and_mappings_go(self, file: int) -> None:
        shared, before = SharedMemory(), len(os.listdir("/proc/self/fd"))
        counts = set()
        for size in range(1, 1001):
            os.ftruncate(file, 4096 * size)
            message = read_frame(io.BytesIO(frame(self.request(file), {})), shared)
            assert message is not None
            del message
            counts.add(len(os.listdir("/proc/self/fd")))
        assert len(counts) == 1
        assert max(counts) <= before + 1  # the mapping's own

    @pytest.mark.parametrize("other", [{"inode": 1}, {"bytes": 4096}, {"path": "/no/such/file"}])
    def test_another_file_is_not_mapped(self, file: int, other: dict[str, object]) -> None:
        stream = io.BytesIO(frame(self.request(file, **other), {}) + frame({"type": "bye"}, {}))
        with pytest.raises(Unmapped, match="wanted a file to map") as caught:
            read_frame(stream, SharedMemory())
        assert caught.value.reply() == {"type": "error", "id": 5, "message": str(caught.value), "unmapped": True}
        assert read_frame(stream) == ({"type": "bye"}, {})  # the next message is whole

    @pytest.mark.parametrize("entry", [{"offset": 4096}, {"offset": 80}, {"dtype": "F31"}, {"shape": [1 << 40]}])
    def test_an_array_beyond_the_memory_is_no_message(self, file: int, entry: dict[str, object]) -> None:
        request = self.request(file)
        request["shared"]["arrays"]["p"] |= entry
        with pytest.raises(WireError, match="no message"):
            read_frame(io.BytesIO(frame(request, {})), SharedMemory())


@pytest.mark.skipif(sys.platform != "linux", reason="memfd")
def test_a_function_behind_a_door_reads_shared_rows() -> None:
    """The host's side by hand: rows in shared memory, then such as cannot be mapped, then the same in a frame."""
    given: list[list[float]] = []

    def last_token(p: NDArray[np.float32], q: NDArray[np.float32], drafts: NDArray[np.int64]) -> list[int]:
        given.append(p[0].tolist())
        return [2]

    rows: Arrays = {"p": np.array([[[0.25, 0.5, 0.25]] * 2], np.float32), "q": np.array([[[0.5, 0.5, 0]]], np.float32)}
    inline: Arrays = {"drafts": np.array([[1]], np.int32), "lengths": np.array([1], np.int32), "seeds": np.array([3])}
    file = os.memfd_create("rows")
    os.write(file, rows["p"].tobytes() + rows["q"].tobytes())
    offsets = {"p": 0, "q": rows["p"].nbytes}
    places = {name: {"dtype": "F32", "shape": rows[name].shape, "offset": at} for name, at in offsets.items()}
    found = os.fstat(file)
    shared = {"path": f"/proc/{os.getpid()}/fd/{file}", "inode": found.st_ino, "bytes": found.st_size, "arrays": places}
    request: Fields = {"type": "verify", "vocabulary": 3, "kind": "probabilities", "randomness": "seeded"}
    here, there = socket.socketpair()
    with here, there, here.makefile("rwb") as host, there.makefile("rwb") as door:
        subject = declare(last_token, races=False)
        answers = threading.Thread(target=_converse, args=(subject, door, Deadline(None), _Progress(subject, False)))
        answers.start()

        def ask(fields: Fields, arrays: Arrays) -> tuple[Fields, Arrays]:
            host.write(frame(fields, arrays))
            host.flush()
            reply = read_frame(cast(BinaryIO, host))
            assert reply is not None
            return reply

        hello = read_frame(cast(BinaryIO, host))
        assert hello is not None
        assert (hello[0]["version"], hello[0]["shared_memory"]) == ([1, 3], True)
        asked: list[Fields] = [{"shared": shared}, {"shared": shared | {"inode": 1}}, {}]
        for number, more in enumerate(asked):
            fields, reply = ask(request | {"id": number} | more, inline if more else inline | rows)
            assert fields["id"] == number
            assert fields.get("unmapped", False) == (number == 1)
            assert number == 1 or reply["tokens"].tolist() == [[2, -1]]
        host.write(frame({"type": "bye"}, {}))
        host.flush()
        answers.join()
    os.close(file)
    assert given == [[0.25, 0.5, 0.25]] * 2
