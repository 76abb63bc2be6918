"""A chain verifier whose law is odd. Argument: endless, which draws as long as coins are below 1/2, or counts, whose
answer depends on the number of the call."""
import sys

import chain
import wire

calls = 0


def endless(p, q, drafts, tape):
    while tape.coin("again") < 0.5:
        pass
    return [0]


def counts(p, q, drafts, tape):
    global calls
    calls += 1
    tape.coin("accept")
    return [calls % 2]


if __name__ == "__main__":
    chain.verify = {"endless": endless, "counts": counts}[sys.argv[1]]
    link = wire.Frames()
    link.send(wire.hello(name=sys.argv[1], coin_bits=53))
    while (request := link.receive()) and request["type"] != "bye":
        link.result(request, *chain.answer(request))
