#!/usr/bin/env python3
"""Token verification of a chain of drafts behind an adapter, in JSON Lines. It needs only Python. For a verifier of
your own, copy the file and replace `verify`.

    draftproof check --adapter 'exec:python3 examples/adapter/verifier_json.py'
"""
import json
import math
import os
import random
import sys


class BadInput(Exception):
    status = 1


class NoMass(Exception):
    status = 4


class TapeShort(Exception):
    status = 5


class Tape:
    """The random numbers of one row, and the log of what was drawn. `values` come from the host or from a generator."""

    def __init__(self, values):
        self.values, self.log = iter(values), []

    def take(self, kind, size, bits, stream, *weights):
        value = next(self.values, None)
        if value is None:
            raise TapeShort
        self.log.append([kind, size, bits, stream, *weights])
        return value

    def forced(self, value, n):
        if -value > n:
            raise ValueError(f"place {len(self.log) - 1} of the tape: got cell {-value - 1}, expected 0 .. {n - 1}")
        return int(-value) - 1

    def uniform(self, bits=24, stream=None):
        """Returns a multiple of 2^-bits in [0, 1); 0 for a forced value, which is meant for a draw of another kind."""
        return math.floor(max(self.take("coin", 0, bits, stream), 0.0) * 2**bits) / 2**bits

    def pick(self, weights, stream=None):
        """Draws a cell with probability in proportion to its weight."""
        finite = [w if math.isfinite(w) else None for w in weights]
        value, total = self.take("pick", len(weights), 0, stream, finite), sum(weights)
        if min(weights) < 0 or not 0 < total < math.inf:
            raise NoMass(f"weights of total {total}, the least is {min(weights)}")
        if value < 0:
            return self.forced(value, len(weights))
        sums = 0.0
        for cell, weight in enumerate(weights):
            sums += weight
            if value * total < sums:
                return cell
        return max(cell for cell, weight in enumerate(weights) if weight > 0)  # value * total was rounded up to the sum

    def exponentials(self, n, stream=None):
        """Draws n exponential variates of rate 1, for a race."""
        values = [self.take("clock", n, 0, stream) for _ in range(n)]
        return [-value if value < 0 else -math.log1p(-value) for value in values]

    def integer(self, n, stream=None):
        """Draws one of 0 .. n - 1, all equally likely."""
        value = self.take("integer", n, 0, stream)
        return self.forced(value, n) if value < 0 else min(n - 1, int(value * n))


def verify(p, q, drafts, tape):
    """Returns accepted drafts and one more token. `p` has the rows after 0, 1, .. drafts, `q` a row for each draft."""
    for n, x in enumerate(drafts):
        if not tape.uniform(24, "accept") * q[n][x] < p[n][x]:
            residual = [max(target - proposal, 0.0) for target, proposal in zip(p[n], q[n])]
            # If p is nearly q, rounding can reject a draft although the residual is zero everywhere.
            return drafts[:n] + [tape.pick(residual if any(residual) else p[n], "residual")]
    return drafts + [tape.pick(p[len(drafts)], "bonus")]


def answer(request, verify):
    """Returns the result of a batch. A row that raises an exception has failed; the other rows are not affected."""
    scripted = request["randomness"] == "scripted"
    result = {"type": "result", "id": request["id"], "tokens": [], "counts": [], "status": [], "messages": {}}
    for row, n in enumerate(request["lengths"]):
        tape = Tape(request["tape"][row] if scripted else iter(random.Random(request["seeds"][row]).random, None))
        tokens, status = [], 0
        try:
            p, q = request["p"][row][: n + 1], request["q"][row][:n]
            if not all(x is not None and 0 <= x < math.inf for distribution in p + q for x in distribution):
                raise BadInput("an entry that is not a probability")
            tokens = verify(p, q, request["drafts"][row][:n], tape)
        except Exception as error:
            status = getattr(error, "status", 3)
            result["messages"][str(row)] = f"{type(error).__name__} {error}"
        result["tokens"].append(tokens)
        result["counts"].append(len(tokens))
        result["status"].append(status)
        if scripted:
            result.setdefault("draws", []).append(tape.log)
    return result


def serve(verify, name, **declared):
    """Speaks the protocol: hello first, then one reply to each request."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # from here on prints go to stderr
    message = {"protocol": "draftproof-adapter", "version": [1, 0], "name": name, **declared}
    while True:
        replies.write(json.dumps(message) + "\n")
        replies.flush()
        line = sys.stdin.readline()
        request = json.loads(line) if line else {"type": "bye"}
        if request["type"] == "bye":
            return
        message = {"type": "error", "id": request["id"], "message": f"no answer to {request['type']}"}
        if request["type"] == "verify":
            message = answer(request, verify)


if __name__ == "__main__":
    serve(verify, "token_path", randomness=["scripted", "seeded"], most_vocabulary=64)
