"""Children that do wrong. Arguments: the kind of wrong; a row with p[0][0] = 0.75 is the one that triggers it."""
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
    """Children that ignore SIGTERM, and a grandchild whose parent is gone."""
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
    """A fork bomb of bounded depth: every process leaves its session and its parent."""
    for _ in range(2):
        if depth > 0 and os.fork() == 0:
            os.setsid()
            multiply(depth - 1)
            time.sleep(0.01)
            if depth > 1:
                os._exit(0)
            time.sleep(1000)


def start():
    if KIND == "silent":
        time.sleep(1000)
    if KIND == "dies at start":
        print("no such model", file=sys.stderr)
        sys.exit(3)
    if KIND == "prints first":
        os.write(1, b"Loading the model ..\n")
    if KIND == "short silence":
        os.write(1, b"hi\n")
        time.sleep(1000)
    if KIND == "endless hello":
        while True:
            os.write(1, b"x" * 65536)
    if KIND == "huge hello":
        os.write(1, struct.pack("<Q", 1 << 60))
    if KIND == "ignores SIGTERM":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if KIND in ("forks", "forks away"):
        leave_processes(KIND == "forks away")
    if KIND == "multiplies":
        multiply(6)
    if KIND == "loud":
        os.write(2, b"noise " * 200000 + b"the end\n")


def spoil(request, fields, arrays):
    """Changes a right result in place; an array is [type, shape, flat list]."""
    if KIND == "token out of range":
        arrays["tokens"][2][0] = 4
    if KIND == "negative token":
        arrays["tokens"][2][0] = -2
    if KIND == "no padding":
        arrays["tokens"][2][-1] = 0
        arrays["counts"][2][0] = 1
    if KIND == "counts beyond":
        arrays["counts"][2][0] = arrays["tokens"][1][1] + 1
    if KIND == "no tokens":
        arrays["counts"][2][0] = 0
        arrays["tokens"][2][:arrays["tokens"][1][1]] = [-1] * arrays["tokens"][1][1]
    if KIND == "wrong shape":
        arrays["counts"][1][0] -= 1
        arrays["counts"][2].pop()
    if KIND == "wrong type":
        arrays["tokens"][0] = "F32"
    if KIND == "unknown status":
        arrays["status"][2][0] = 6
    if KIND == "nan weights":
        arrays["weights"][2][0] = float("nan")
    if KIND == "negative weights":
        arrays["weights"][2][0] = -1.0
    if KIND == "too few weights":
        arrays["weights"][1][0] -= 1
        arrays["weights"][2].pop()
    if KIND == "unknown kind":
        arrays["draws"][2][0] = 9
    if KIND == "unknown stream":
        arrays["draws"][2][3] = 2
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


def on_request(link, request):
    struck = any(p[0][0] == 0.75 for p in request["p"])
    if KIND == "refuses" and struck:
        return link.send({"type": "error", "id": request["id"], "message": "cannot serve 0.75"})
    if KIND == "stops" and struck:
        return link.send({"type": "error", "id": request["id"], "stopped": True, "message": "interrupted"})
    if KIND == "overwrites":
        link.overwrote = {str(i): "p, drafts" for i, p in enumerate(request["p"]) if p[0][0] == 0.75}
    if KIND == "crashes" and struck:
        print("about to die", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if KIND == "exits" and struck:
        os._exit(7)
    if KIND == "always exits":
        os._exit(7)
    if KIND == "exits with company" and len(request["p"]) > 1:
        os._exit(7)
    if KIND == "hangs" and struck or KIND == "hangs in company" and len(request["p"]) > 1:
        time.sleep(1000)
    if KIND == "garbage" and struck:
        return link.raw(b"\x10\0\0\0\0\0\0\0" + b"no safetensors..")
    if KIND == "closes stdout":
        link.out.close()
        time.sleep(1000)
    if KIND == "endless":
        while True:
            link.raw(b"\1" * 65536)
    if KIND == "endless frame":
        link.raw(struct.pack("<Q", 1 << 40))
        while True:
            link.raw(b"\0" * 65536)
    if KIND == "huge length":
        link.raw(struct.pack("<Q", 1 << 60))
    if KIND == "drips":
        link.raw(struct.pack("<Q", 100000))
        while True:
            link.raw(b"\0")
            time.sleep(0.001)
    link.request = request
    link.result(request, *chain.answer(request))
    link.request = None


def main():
    start()
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
