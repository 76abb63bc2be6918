"""The host's side of an adapter in pure Python: starts a child, reads its hello and sends requests, as frames or JSON
Lines, as the child does. Arrays are nested lists. Used by try_child.py; draftproof's host is faster and more robust."""
import json
import math
import os
import selectors
import struct
import subprocess
import time

CODES = {"F16": "e", "F32": "f", "F64": "d", "I32": "i", "I64": "q"}
DTYPES = {"float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64"}


class Mistake(Exception):
    """Raised on a breach of the protocol; has the location, the value got and the value expected."""


def want(good, place, found, wanted):
    if not good:
        raise Mistake(f"{place}: got {found}, expected {wanted}")


def flat(value):
    return [x for part in value for x in flat(part)] if isinstance(value, list) else [value]


def shape_of(value):
    return [len(value), *(shape_of(value[0]) if value else [])] if isinstance(value, list) else []


def nested(values, shape):
    if len(shape) == 1:
        return list(values)
    step = math.prod(shape[1:])
    return [nested(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def encode_frame(fields, arrays):
    """`arrays` maps names to (dtype, nested lists); dtypes are named as in a declaration or as in safetensors."""
    header, data = {"__metadata__": {"message": json.dumps(fields)}}, b""
    for name, (dtype, value) in sorted(arrays.items(), key=lambda item: item[1][0] not in ("F64", "I64", "float64")):
        first, values, label = len(data), flat(value), DTYPES.get(dtype, dtype)
        if label == "BF16":
            data += b"".join(struct.pack("<f", x)[2:] for x in values)
        else:
            data += struct.pack(f"<{len(values)}{CODES[label]}", *values)
        header[name] = {"dtype": label, "shape": shape_of(value), "data_offsets": [first, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<QQ", 8 + len(text) + len(data), len(text)) + text + data


def decode_blob(blob, place):
    start = 8 + struct.unpack_from("<Q", blob)[0]
    header = json.loads(blob[8:start])
    want("message" in header.get("__metadata__", {}), place, "no metadata `message`", "a JSON object there")
    fields, arrays, end = json.loads(header.pop("__metadata__")["message"]), {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        (first, last), count = entry["data_offsets"], math.prod(entry["shape"])
        want(entry["dtype"] in CODES, f"{place}: {name}", entry["dtype"], "one of " + ", ".join(CODES))
        size = count * struct.calcsize(CODES[entry["dtype"]])
        want(first == end and last - first == size, f"{place}: {name}",
             f"bytes {first} .. {last} for the shape {entry['shape']}", f"{size} bytes from {end}")
        values = struct.unpack_from(f"<{count}{CODES[entry['dtype']]}", blob, start + first)
        arrays[name], end = nested(values, entry["shape"]), last
    want(start + end == len(blob), place, f"{len(blob) - start} bytes of data", f"the {end} of the arrays")
    return fields, arrays


class Child:
    """A running child. `hello` are the fields of its first message; `frames`: whether it uses frames or JSON Lines."""

    def __init__(self, arguments, limit=20.0):
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.ready = selectors.DefaultSelector()
        self.ready.register(self.process.stdout, selectors.EVENT_READ)
        self.limit, self.id, self.rest, self.place = limit, 0, b"", "hello"
        self.frames = 0 in self.read(8)
        self.hello, _ = self.receive()

    def read(self, size=None):
        """Reads until there are `size` unused bytes, or a whole line if no size is given. Returns the unused bytes."""
        deadline = time.monotonic() + self.limit
        while len(self.rest) < size if size is not None else b"\n" not in self.rest:
            shown = f"{len(self.rest)} bytes {self.rest[:60]!r}"
            late = not self.ready.select(deadline - time.monotonic())
            want(not late, self.place, f"{shown} in {self.limit:g} s", "a message")
            chunk = os.read(self.process.stdout.fileno(), 1 << 20)
            if not chunk:
                raise Mistake(f"{self.place}: got {shown}, then the end with exit code {self.process.wait()}")
            self.rest += chunk
        return self.rest

    def receive(self):
        """Returns the fields and arrays of the next message."""
        if self.frames:
            size = 8 + struct.unpack("<Q", self.read(8)[:8])[0]
            want(size < 1 << 30, self.place, f"a frame of {size} bytes", "less; prints belong on stderr")
            message, self.rest = self.read(size)[8:size], self.rest[size:]
        else:
            message, self.rest = self.read().split(b"\n", 1)
        fields, arrays = decode_blob(message, self.place) if self.frames else self.decode_line(message)
        want(not self.rest, self.place, f"{self.rest[:60]!r} after the message", "nothing until the next request")
        return fields, arrays

    def decode_line(self, line):
        try:
            fields = json.loads(line, parse_constant=lambda name: want(False, self.place, name, "null or 1e999"))
        except ValueError:
            fields = None
        want(isinstance(fields, dict), self.place, repr(line[:80]), "a JSON object; prints belong on stderr")
        return fields, fields

    def send(self, fields, arrays):
        lines = json.dumps(fields | {name: value for name, (_, value) in arrays.items()}).encode() + b"\n"
        self.process.stdin.write(encode_frame(fields, arrays) if self.frames else lines)

    def ask(self, fields, arrays, place):
        """Sends a request. Returns the fields and arrays of the reply; `place` names the request in mistakes."""
        self.id, self.place = self.id + 1, place
        self.send(fields | {"id": self.id}, arrays)
        fields, reply = self.receive()
        want(fields.get("id") == self.id, f"{place}: id", fields.get("id"), self.id)
        found = f"{fields.get('type')}, {fields.get('message')}"
        want(fields.get("type") == "result", f"{place}: type", found, "result")
        return fields, reply

    def bye(self):
        """Sends bye and waits until the child ends."""
        self.send({"type": "bye"}, {})
        self.process.stdin.close()
        try:
            code = self.process.wait(1)
        except subprocess.TimeoutExpired:
            raise Mistake("bye: got a child that runs 1 s later, expected its end")
        want(code == 0, "bye", f"exit code {code}", "0")
