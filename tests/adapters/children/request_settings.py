"""Sample-and-match at one position, at the temperature and top-k of the request. Argument: right, or top_k_first, which
keeps one token less where the temperature is not 1.
"""

import sys

import wire

(rule,) = sys.argv[1:]
talk = wire.Lines()
talk.send(
    wire.hello(version=[1, 6], name=rule, level="position", draft_sampling="iid", settings=["temperature", "top_k"])
)


def decide(request, row):
    """Returns the tokens of a row, its status and its draws."""
    tape = wire.Tape(request["tape"][row])
    if not tape.values:
        return [], 5, tape.log
    temperature, top_k, _, _ = request["request_settings"][row]
    weights = [p ** (1 / temperature) if p > 0 else 0.0 for p in request["p"][row][0]]
    order = sorted(range(len(weights)), key=lambda x: -weights[x])
    most = int(top_k) or len(weights)
    for x in order[max(1, most - (rule == "top_k_first" and temperature != 1)) :]:
        weights[x] = 0.0
    return [tape.pick(weights, "target")], 0, tape.log


wire.verify_all(talk, decide)
