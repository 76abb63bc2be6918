"""Children that misbehave. Argument: the kind of fault. Some kinds act only on rows with p[0][0] = 0.75."""
import json
import os
import signal
import struct
import sys
import time

import chain
import wire

KIND = sys.argv[1]
SLEEPER = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)"


def leave_processes(own_session):
    """Starts children that ignore SIGTERM, and a grandchild whose parent has exited."""
    import subprocess
    for _ in range(3):
        subprocess.Popen([sys.executable, "-c", SLEEPER], start_new_session=own_session)
    if os.fork() == 0:
        if own_session:
            os.setsid()
        if os.fork() == 0:
            if own_session:
                os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(1000)
        os._exit(0)


def multiply(depth):
    """Forks repeatedly, up to a depth; every child starts a new session and outlives its parent."""
    for _ in range(2):
        if depth > 0 and os.fork() == 0:
            os.setsid()
            multiply(depth - 1)
            time.sleep(0.01)
            if depth > 1:
                os._exit(0)
            time.sleep(1000)


def endless(write, data):
    while True:
        write(data)


def sleep():
    time.sleep(1000)


STARTS = {
    "silent": sleep,
    "dies at start": lambda: sys.exit(print("no such model", file=sys.stderr) or 3),
    "prints first": lambda: os.write(1, b"Loading the model ..\n"),
    "short silence": lambda: (os.write(1, b"hi\n"), sleep()),
    "endless hello": lambda: endless(lambda data: os.write(1, data), b"x" * 65536),
    "huge hello": lambda: os.write(1, struct.pack("<Q", 1 << 60)),
    "ignores SIGTERM": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    "forks": lambda: leave_processes(False),
    "forks away": lambda: leave_processes(True),
    "multiplies": lambda: multiply(6),
    "loud": lambda: os.write(2, b"noise " * 200000 + b"the end\n"),
}

#: For each fault: the name of an array of a correct result. An array is [type, shape, flat list]; the next fields are
#: the index in this list of three, the entry to change there, and its new value. None lowers the first extent of the
#: shape by one and drops the last entry of the flat list.
SPOILS = {
    "token out of range": ("tokens", 2, 0, 4),
    "negative token": ("tokens", 2, 0, -2),
    "unknown status": ("status", 2, 0, 6),
    "nan weights": ("weights", 2, 0, float("nan")),
    "negative weights": ("weights", 2, 0, -1.0),
    "unknown kind": ("draws", 2, 0, 9),
    "unknown stream": ("draws", 2, 3, 2),
    "wrong shape": ("counts", 1, 0, None),
    "too few weights": ("weights", 1, 0, None),
}


def spoil(request, fields, arrays):
    """Changes a correct result in place."""
    width = arrays["tokens"][1][1]
    if KIND in SPOILS:
        name, part, entry, value = SPOILS[KIND]
        if value is None:
            arrays[name][1][0] -= 1
            arrays[name][2].pop()
        else:
            arrays[name][part][entry] = value
    if KIND == "no padding":
        arrays["tokens"][2][-1] = 0
        arrays["counts"][2][0] = 1
    if KIND == "counts beyond":
        arrays["counts"][2][0] = width + 1
    if KIND == "no tokens":
        arrays["counts"][2][0] = 0
        arrays["tokens"][2][:width] = [-1] * width
    if KIND == "wrong type":
        arrays["tokens"][0] = "F32"
    if KIND == "log sum":
        arrays["draw_counts"][2][-1] -= 1
    if KIND == "log beyond":
        arrays["draw_counts"][2][0] = len(request["tape"][0]) + 1
    if KIND == "wrong id":
        fields["id"] += 1
    if KIND == "no type":
        del fields["type"]
    if KIND == "no tensor":
        del arrays["tokens"]


class Spoiled(wire.Frames):
    request = None
    overwrote = {}

    def send(self, fields, arrays=()):
        named = {array[0]: list(array[1:]) for array in arrays}
        if self.request is not None:
            spoil(self.request, fields, named)
            fields["overwrote"] = self.overwrote
        super().send(fields, [(name, *rest) for name, rest in named.items()])


def die():
    print("about to die", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)


def drip(link):
    link.raw(struct.pack("<Q", 100000))
    endless(lambda data: (link.raw(data), time.sleep(0.001)), b"\0")


#: Actions in place of an answer. Actions in STRUCK are taken if a row of the request has p[0][0] = 0.75, actions in
#: IN_COMPANY if the request has several rows, actions in ALWAYS for every request.
STRUCK = {
    "refuses": lambda link, id: link.send({"type": "error", "id": id, "message": "cannot serve 0.75"}),
    "stops": lambda link, id: link.send({"type": "error", "id": id, "stopped": True, "message": "interrupted"}),
    "crashes": lambda link, id: die(),
    "exits": lambda link, id: os._exit(7),
    "hangs": lambda link, id: sleep(),
    "garbage": lambda link, id: link.raw(b"\x10\0\0\0\0\0\0\0" + b"no safetensors.."),
}
IN_COMPANY = {
    "exits with company": lambda link, id: os._exit(7),
    "hangs in company": lambda link, id: sleep(),
    "refuses company": lambda link, id: link.send({"type": "error", "id": id, "message": "out of memory"}),
}
ALWAYS = {
    "always exits": lambda link, id: os._exit(7),
    "closes stdout": lambda link, id: (link.out.close(), sleep()),
    "endless": lambda link, id: endless(link.raw, b"\1" * 65536),
    "endless frame": lambda link, id: (link.raw(struct.pack("<Q", 1 << 40)), endless(link.raw, b"\0" * 65536)),
    "drips": lambda link, id: drip(link),
}


def on_request(link, request):
    struck = [p[0][0] == 0.75 for p in request["p"]]
    for acts, now in (STRUCK, any(struck)), (IN_COMPANY, len(struck) > 1), (ALWAYS, True):
        if now and KIND in acts:
            return acts[KIND](link, request["id"])
    if KIND == "overwrites":
        link.overwrote = {str(i): "p, drafts" for i, row in enumerate(struck) if row}
    if KIND == "huge length":
        link.raw(struct.pack("<Q", 1 << 60))
    link.request = request
    link.result(request, *chain.answer(request))
    link.request = None


def main():
    STARTS.get(KIND, lambda: None)()
    link = Spoiled()
    version = [2, 0] if KIND == "version 2" else [1, 7]
    link.send(wire.hello(version=version, name=KIND, coin_bits=53, surprise=json.loads('{"a": [1]}')))
    while True:
        request = link.receive()
        if request is None or request["type"] == "bye":
            if KIND == "stays":
                time.sleep(1000)
            return
        on_request(link, request)


if __name__ == "__main__":
    main()
