"""The wire protocol without dependencies: frames (length, safetensors) and JSON Lines, for children of tests."""
import json
import os
import struct
import sys

CODES = {"F32": "f", "F64": "d", "I32": "i", "I64": "q"}


def nested(flat, shape):
    if len(shape) == 1:
        return list(flat)
    if shape[0] == 0:
        return []
    step = len(flat) // shape[0]
    return [nested(flat[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


class Frames:
    def __init__(self):
        self.out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self.read = sys.stdin.buffer

    def receive(self):
        head = self.read.read(8)
        if len(head) < 8:
            return None
        blob = self.read.read(struct.unpack("<Q", head)[0])
        size = struct.unpack_from("<Q", blob)[0]
        header = json.loads(blob[8:8 + size])
        message = json.loads(header.pop("__metadata__")["message"])
        for name, entry in header.items():
            code = CODES[entry["dtype"]]
            first, last = entry["data_offsets"]
            flat = struct.unpack_from(f"<{(last - first) // struct.calcsize(code)}{code}", blob, 8 + size + first)
            message[name] = nested(flat, entry["shape"])
        return message

    def send(self, fields, arrays=()):
        """Sends a message; `arrays` lists (name, type, shape, flat list)."""
        header = {"__metadata__": {"message": json.dumps(fields)}}
        data = b""
        for name, kind, shape, flat in arrays:
            part = struct.pack(f"<{len(flat)}{CODES[kind]}", *flat)
            header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
            data += part
        text = json.dumps(header).encode()
        self.raw(struct.pack("<QQ", 8 + len(text) + len(data), len(text)) + text + data)

    def raw(self, data):
        self.out.write(data)
        self.out.flush()

    def result(self, request, tokens, status, logs, messages):
        """Sends, for each row, a list of tokens and a list of draws [kind, size, bits, stream, weights?]."""
        width = len(request["drafts"][0]) + 1
        kinds = {"coin": 1, "pick": 2, "clock": 3, "integer": 4}
        streams = sorted({draw[3] for log in logs for draw in log})
        draws = [n for log in logs for d in log for n in (kinds[d[0]], d[1], d[2], streams.index(d[3]))]
        weights = [w for log in logs for d in log if d[0] == "pick" for w in d[4]]
        rows = len(tokens)
        self.send({"type": "result", "id": request["id"], "streams": streams, "messages": messages},
                  [("counts", "I32", [rows], [len(t) for t in tokens]),
                   ("tokens", "I32", [rows, width], [x for t in tokens for x in t + [-1] * (width - len(t))]),
                   ("status", "I32", [rows], status),
                   ("draw_counts", "I32", [rows], [len(log) for log in logs]),
                   ("draws", "I32", [len(draws) // 4, 4], draws), ("weights", "F64", [len(weights)], weights)])


class Lines:
    def receive(self):
        line = sys.stdin.readline()
        return json.loads(line) if line else None

    def send(self, fields, arrays=()):
        assert not arrays
        self.raw((json.dumps(fields) + "\n").encode())

    def raw(self, data):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def result(self, request, tokens, status, logs, messages):
        self.send({"type": "result", "id": request["id"], "tokens": tokens, "counts": [len(t) for t in tokens],
                   "status": status, "draws": logs, "messages": messages})


def hello(**fields):
    return {"protocol": "draftproof-adapter", "version": [1, 0], "name": "child", "level": "chain", **fields}


class Short(Exception):
    pass


class NoMass(Exception):
    pass


class Tape:
    def __init__(self, values):
        self.values = values
        self.log = []

    def take(self, draw):
        if len(self.log) == len(self.values):
            raise Short
        self.log.append(draw)
        return self.values[len(self.log) - 1]

    def coin(self, stream):
        return self.take(["coin", 0, 53, stream])

    def pick(self, weights, stream):
        value = self.take(["pick", len(weights), 0, stream, weights])
        if value < 0:
            return int(-value) - 1
        total = 0.0
        for weight in weights:
            total += weight
        if not total > 0:
            raise NoMass
        bound, prefix, last = value * total, 0.0, 0
        for cell, weight in enumerate(weights):
            prefix += weight
            if weight > 0:
                last = cell
            if bound < prefix:
                return cell
        return last


def verify_all(talk, decide):
    """Answers `verify` requests until the host ends; decide(request, row) returns tokens, status and draws of a row."""
    while True:
        request = talk.receive()
        if request is None or request["type"] == "bye":
            return
        tokens, status, logs = zip(*(decide(request, row) for row in range(len(request["drafts"]))))
        talk.result(request, tokens, status, logs, {})
