"""Unusual chain verifiers. Argument: `endless`, which draws while coins are below 1/2; `rejects`, which draws from p
until a draw fits the residual; `counts`, whose answers depend on the number of earlier calls; `stops`, which answers
with an error after 200 rows; or `fails`, which reports that every row failed."""
import sys

import chain
import wire

calls = 0


def endless(p, q, drafts, tape):
    while tape.coin("again") < 0.5:
        pass
    return [0]


def rejects(p, q, drafts, tape):
    for i, x in enumerate(drafts):
        if tape.coin("accept") * q[i][x] < p[i][x]:
            continue
        while True:
            y = tape.pick(list(p[i]), "try")
            if tape.coin("keep") * p[i][y] < p[i][y] - q[i][y]:
                return drafts[:i] + [y]
    return drafts + [tape.pick(list(p[len(drafts)]), "bonus")]


def counts(p, q, drafts, tape):
    global calls
    calls += 1
    tape.coin("accept")
    return [calls % 2]


def main(kind):
    verifiers = {"endless": endless, "rejects": rejects, "counts": counts}
    chain.verify = verifiers.get(kind, chain.verify)
    link = wire.Frames()
    link.send(wire.hello(name=kind, coin_bits=53))
    rows = 0
    while (request := link.receive()) and request["type"] != "bye":
        n = len(request["p"])
        rows += n
        if kind == "stops" and rows > 200:
            link.send({"type": "error", "id": request["id"], "stopped": True, "message": "the time limit is over"})
        elif kind == "fails":
            why = {str(i): "ValueError: no table (mine.py line 12)" for i in range(n)}
            link.result(request, [[]] * n, [3] * n, [[]] * n, why)
        else:
            link.result(request, *chain.answer(request))


if __name__ == "__main__":
    main(sys.argv[1])
