"""A chain verifier whose law is odd. Argument: endless, which draws as long as coins are below 1/2, or counts, whose
answer depends on the number of the call, or stops, which answers no more after 200 calls."""
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
    rows = 0
    chain.verify = {"endless": endless, "counts": counts, "stops": chain.verify}[sys.argv[1]]
    link = wire.Frames()
    link.send(wire.hello(name=sys.argv[1], coin_bits=53))
    while (request := link.receive()) and request["type"] != "bye":
        rows += len(request["p"])
        if sys.argv[1] == "stops" and rows > 200:
            link.send({"type": "error", "id": request["id"], "stopped": True, "message": "the time limit is over"})
        else:
            link.result(request, *chain.answer(request))
