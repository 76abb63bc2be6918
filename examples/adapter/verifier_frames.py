#!/usr/bin/env python3
"""Token verification of a chain of drafts behind an adapter, in frames and on arrays, without a loop over rows. It
needs numpy (Debian: python3-numpy). `read_frame` and `frame` implement the wire format; for your own verifier, replace
`verify`.

    draftproof check --adapter 'exec:python3 examples/adapter/verifier_frames.py'
"""
import json
import os
import struct
import sys

import numpy as np

TYPES = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "I32": "<i4", "I64": "<i8"}
NAMES = {np.dtype(text): name for name, text in TYPES.items()}
COIN, PICK = 1, 2
BAD_INPUT, FAILED, NO_MASS, TAPE_SHORT = 1, 3, 4, 5
STREAMS = ["accept", "residual", "bonus"]


def read_frame(stream):
    """Returns fields and arrays of the next message; None at the end. Arrays are views of the bytes that were read."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    blob = stream.read(struct.unpack("<Q", head)[0])
    start = 8 + struct.unpack_from("<Q", blob)[0]
    header = json.loads(blob[8:start])
    fields = json.loads(header.pop("__metadata__")["message"])
    arrays = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        dtype = np.dtype(TYPES[entry["dtype"]])
        flat = np.frombuffer(blob, dtype, (last - first) // dtype.itemsize, start + first)
        arrays[name] = flat.reshape(entry["shape"])
    return fields, arrays


def frame(fields, arrays):
    """Returns a message as bytes. Wide elements come first, and blanks fill the header, to align each array."""
    header, offset = {"__metadata__": {"message": json.dumps(fields)}}, 0
    arrays = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    for name, array in arrays:
        end = offset + array.nbytes
        header[name] = {"dtype": NAMES[array.dtype], "shape": array.shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    head = struct.pack("<QQ", 8 + len(text) + offset, len(text)) + text
    return b"".join([head, *(np.ascontiguousarray(array).tobytes() for _, array in arrays)])


def numbers_of(seeds, places):
    """Returns for each seed `places` multiples of 2^-53 in [0, 1), which depend on (seed, place), not on other rows."""

    def mixed(x):
        for shift in (30, 27):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(0xD6E8FEB86659FD93)
        return x ^ (x >> np.uint64(31))

    keys = mixed(seeds.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15))[:, None]
    words = mixed(keys + np.arange(1, places + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    return (words >> np.uint64(11)) * 2.0**-53


def pick(weights, value):
    """Returns a cell for each row: -value - 1 if value < 0, else the first whose prefix sum is above value * total."""
    sums = np.cumsum(weights, axis=1)
    drawn = (sums <= (value * sums[:, -1])[:, None]).sum(axis=1)
    last = weights.shape[1] - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)
    return np.where(value < 0, -value - 1, np.minimum(drawn, last)).astype(np.int32)


def verify(p, q, drafts, lengths, numbers):
    """Verifies rows. Shapes: p [b, n + 1, V], q [b, n, V], drafts [b, n], lengths [b], numbers [b, places].

    Returns tokens [b, n + 1], counts [b], status [b], and the arguments of log_of: coins [b], the number of coins that
    a row draws; picks [b], whether a pick follows; weights [b, V] of the pick; rejected [b].
    """
    b, n, places = *drafts.shape, numbers.shape[1]
    row, column = np.arange(b), np.arange(n)
    bad = ~((p >= 0) & (p < np.inf)).all(axis=(1, 2)) | ~((q >= 0) & (q < np.inf)).all(axis=(1, 2))
    x = np.maximum(drafts, 0)
    u = np.full((b, n), np.nan)  # stays NaN beyond the tape; comparisons with NaN are false
    u[:, :places] = np.floor(np.maximum(numbers[:, :n], 0) * 2.0**24) * 2.0**-24
    passed = u * q[row[:, None], column, x] < p[row[:, None], column, x]
    passed &= column < lengths[:, None]
    accepted = np.logical_and.accumulate(passed, axis=1).sum(axis=1)
    rejected = accepted < lengths

    weights = p[row, accepted].astype(np.float64)
    residual = np.maximum(weights[rejected] - q[row[rejected], accepted[rejected]], 0)
    # If p is nearly q, rounding can reject a draft although the residual is zero everywhere; the draw is then from p.
    weights[rejected] = np.where(residual.any(axis=1, keepdims=True), residual, weights[rejected])
    total = weights.sum(axis=1)
    coins = accepted + rejected
    short = coins >= places
    value = np.zeros(b) if places == 0 else numbers[row, np.minimum(coins, places - 1)]
    tokens = np.full((b, n + 1), -1, np.int32)
    tokens[:, :n] = np.where(column < accepted[:, None], drafts, -1)
    tokens[row, accepted] = pick(weights, value)

    faults = [bad, short, ~(total > 0), -value > p.shape[2]]
    status = np.select(faults, [BAD_INPUT, TAPE_SHORT, NO_MASS, FAILED], 0).astype(np.int32)
    coins = np.where(bad, 0, np.minimum(coins, places))
    return tokens, (accepted + 1).astype(np.int32), status, coins, ~bad & ~short, weights, rejected


def log_of(coins, picks, weights, rejected):
    """Returns the log as arrays: for each row its coins, then its pick."""
    counts = coins + picks
    draws = np.tile(np.array([COIN, 0, 24, STREAMS.index("accept")], np.int32), (counts.sum(), 1))
    last = (np.cumsum(counts) - 1)[picks]
    stream = np.where(rejected[picks], STREAMS.index("residual"), STREAMS.index("bonus"))
    draws[last, 0], draws[last, 1], draws[last, 2], draws[last, 3] = PICK, weights.shape[1], 0, stream
    return {"draw_counts": counts.astype(np.int32), "draws": draws, "weights": weights[picks].ravel()}


def answer(fields, arrays):
    drafts = arrays["drafts"]
    scripted = fields["randomness"] == "scripted"
    numbers = arrays["tape"] if scripted else numbers_of(arrays["seeds"], drafts.shape[1] + 1)
    with np.errstate(invalid="ignore"):  # rows with NaN or infinity are computed too, then refused
        tokens, counts, status, *log = verify(arrays["p"], arrays["q"], drafts, arrays["lengths"], numbers)
    reply = {"tokens": tokens, "counts": counts, "status": status}
    if scripted:
        reply |= log_of(*log)
    return {"type": "result", "id": fields["id"], "streams": STREAMS}, reply


def main():
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # from here on prints go to stderr
    hello = {"protocol": "draftproof-adapter", "version": [1, 0], "name": "token_path",
             "engine_version": "numpy " + np.__version__, "randomness": ["scripted", "seeded"], "most_rows": 4096}
    message = hello, {}
    while True:
        replies.write(frame(*message))
        replies.flush()
        request = read_frame(sys.stdin.buffer)
        if request is None or request[0]["type"] == "bye":
            return
        try:
            if request[0]["type"] != "verify":
                raise ValueError(f"no answer to {request[0]['type']}")
            message = answer(*request)
        except Exception as error:
            message = {"type": "error", "id": request[0]["id"], "message": f"{type(error).__name__} {error}"}, {}


if __name__ == "__main__":
    main()
