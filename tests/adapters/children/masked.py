"""Sample-and-match of trees under a grammar. Arguments: frames or lines, and right, sibling or bonus.

A token is drawn from the masked row of a node; if a draft of that node has this token, that draft is the next node,
else the token is the last one. `sibling` uses the mask of the first draft of a node for all of its drafts; `bonus`
applies no mask to the row of a leaf.
"""
import sys

import wire

form, rule = sys.argv[1:]
talk = wire.Frames() if form == "frames" else wire.Lines()
talk.send(wire.hello(version=[1, 5], name=rule, level="tree", draft_sampling="iid_paths", grammar=True))


def decide(request, row):
    """Returns the tokens of a row, its status and its draws."""
    n, v, tape = request["lengths"][row], request["vocabulary"], wire.Tape(request["tape"][row])
    drafts, parents = request["drafts"][row][:n], request["parents"][row][:n]
    tokens, node, mask = [], -1, 0
    while True:
        if len(tape.log) == len(tape.values):
            return [], 5, tape.log
        children = [i for i in range(n) if parents[i] == node]
        legal = request["legal"][row][mask] if children or rule != "bonus" else [1] * v
        weights = [p * ok for p, ok in zip(request["p"][row][node + 1], legal)]
        token = tape.pick(weights, "target")
        tokens.append(token)
        drafted = [i for i in children if drafts[i] == token]
        if not drafted:
            return tokens, 0, tape.log
        node = drafted[0]
        mask = (children[0] if rule == "sibling" else node) + 1


wire.verify_all(talk, decide)
