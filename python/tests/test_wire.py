"""A frame is read as it was written, and broken frames raise WireError."""

from __future__ import annotations

import io

import numpy as np
import pytest

from draftproof.wire import WireError, frame, read_frame


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
    # BF16 has one letter more than F16, and p one letter less than pp, so the header keeps its length.
    blob = frame({"type": "verify"}, {"pp": halves.view(np.float16)})
    message = read_frame(io.BytesIO(blob.replace(b'"pp"', b'"p"', 1).replace(b'"F16"', b'"BF16"', 1)))
    assert message is not None
    assert message[1]["p"].tolist() == [1.0, 0.25, -0.5]


@pytest.mark.parametrize("cut", [3, 12, 40, -1])
def test_a_message_that_ends_early_is_named(cut: int) -> None:
    blob = frame({"type": "verify"}, {"p": np.zeros((1, 1, 2), np.float32)})
    with pytest.raises(WireError):
        read_frame(io.BytesIO(blob[:cut]))


@pytest.mark.parametrize(
    "blob",
    [
        b"[]",
        b"5",
        b"[" * 100_000,
        b'{"__metadata__": {"message": "5"}}',
        b'{"__metadata__": {"message": "{}"}}',
        b'{"__metadata__": {"message": "{\\"type\\": \\"bye\\"}"}, "p": 5}',
        b'{"__metadata__": {"message": "{\\"type\\": \\"bye\\"}"}, "p": '
        b'{"dtype": "F32", "shape": [1e400], "data_offsets": [0, 4]}}',
    ],
)
def test_a_message_of_another_form_is_named(blob: bytes) -> None:
    text = len(blob).to_bytes(8, "little") + blob
    with pytest.raises(WireError, match="frame: got no message"):
        read_frame(io.BytesIO(len(text).to_bytes(8, "little") + text))


def test_a_length_beyond_memory_is_named() -> None:
    with pytest.raises(WireError, match="frame: got a length of 18446744073709551615, expected at most"):
        read_frame(io.BytesIO(b"\xff" * 8 + b"x" * 100))
