"""A chain verifier that accepts its first draft, with two numbers of state: the number of calls of a text, and 1/3.
Arguments: the form, frames or lines, and the fault of its states, or right."""
import sys

import wire

FAULTS = {"right": lambda state: state, "missing": lambda state: None, "narrow": lambda state: [row[:1] for row in state],
          "infinite": lambda state: [[1e999, *row[1:]] for row in state]}


def main(form, fault):
    link = {"frames": wire.Frames, "lines": wire.Lines}[form]()
    link.send(dict(wire.hello(name="state", randomness=["seeded"], state_size=2), version=[1, 2]))
    while (request := link.receive()) and request["type"] != "bye":
        rows = len(request["drafts"])
        state = FAULTS[fault]([[calls + 1, 1 / 3] for calls, _ in request["state"]])
        fields = {"type": "result", "id": request["id"]}
        tokens = [[drafts[0]] + [-1] * len(drafts) for drafts in request["drafts"]]
        if form == "lines":
            lists = {"tokens": tokens, "counts": [1] * rows}
            link.send({**fields, **lists, **({"state": state} if state else {})})
            continue
        flat = [token for row in tokens for token in row]
        arrays = [("tokens", "I32", [rows, len(tokens[0])], flat), ("counts", "I32", [rows], [1] * rows)]
        if state:
            arrays.append(("state", "F64", [rows, len(state[0])], [number for row in state for number in row]))
        link.send(fields, arrays)


if __name__ == "__main__":
    main(*sys.argv[1:])
