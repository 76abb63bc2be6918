"""A correct chain verifier with scripted randomness. Argument: frames or lines."""
import os
import sys

import wire


# If set, p replaces a residual that rounding left empty. Tests that compare this child with C++ do not set it.
ENDS = "CHAIN_ENDS" in os.environ


def verify(p, q, drafts, tape):
    tokens = []
    for i, x in enumerate(drafts):
        if tape.coin("accept") * q[i][x] < p[i][x]:
            tokens.append(x)
            continue
        rest = [max(a - b, 0.0) for a, b in zip(p[i], q[i])]
        return tokens + [tape.pick(list(p[i]) if ENDS and not any(rest) else rest, "last")]
    return tokens + [tape.pick(list(p[len(drafts)]), "last")]


def answer(request):
    tokens, status, logs, messages = [], [], [], {}
    for row, length in enumerate(request["lengths"]):
        tape = wire.Tape(request["tape"][row])
        state, emitted = 0, []
        try:
            emitted = verify(request["p"][row], request["q"][row], request["drafts"][row][:length], tape)
        except wire.Short:
            state = 5
        except wire.NoMass:
            state = 4
            messages[str(row)] = "weights that are all zero"
        tokens.append(emitted)
        status.append(state)
        logs.append(tape.log)
    return tokens, status, logs, messages


def main():
    link = wire.Frames() if sys.argv[1] == "frames" else wire.Lines()
    link.send(wire.hello(name="chain.py", coin_bits=53))
    while True:
        request = link.receive()
        if request is None or request["type"] == "bye":
            return
        link.result(request, *answer(request))


if __name__ == "__main__":
    main()
