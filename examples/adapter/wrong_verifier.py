#!/usr/bin/env python3
"""Token verification of a chain with one bug, named by the argument; a gate refutes it with any of the bugs.

    draftproof check --adapter 'exec:python3 examples/adapter/wrong_verifier.py residual_of_p'

  residual_of_p         a rejected draft is replaced by a draw from p, not from (p - q)+
  accept_equal          u <= p / q in place of u < p / q: a token with p = 0 is accepted once in 2^24 decisions
  residual_not_clipped  the residual is p - q, with its negative entries
  bonus_of_last_draft   the token after the last draft comes from the target before it
  coin_reused           the coin of the last test is also the uniform of the final draw
"""
import sys

sys.dont_write_bytecode = True  # no __pycache__ beside the examples
from verifier_json import serve, verify  # noqa: E402

BUGS = "residual_of_p", "accept_equal", "residual_not_clipped", "bonus_of_last_draft", "coin_reused"


def inverse_cdf(weights, u):
    sums, total = 0.0, sum(weights)
    for cell, weight in enumerate(weights):
        sums += weight
        if u * total < sums:
            return cell
    return max(cell for cell, weight in enumerate(weights) if weight > 0)


def verifier_with(bug):
    def accepted(u, p, q):
        return u * q <= p if bug == "accept_equal" else u * q < p

    def residual(p, q):
        if bug == "residual_of_p":
            return p
        if bug == "residual_not_clipped":
            return [a - b for a, b in zip(p, q)]
        rest = [max(a - b, 0.0) for a, b in zip(p, q)]
        return rest if any(rest) else p  # if p is nearly q, rounding may leave no residual

    def final(weights, u, tape, stream):
        return inverse_cdf(weights, u) if bug == "coin_reused" else tape.pick(weights, stream)

    def wrong_verify(p, q, drafts, tape):
        if not drafts:
            return verify(p, q, drafts, tape)
        for n, x in enumerate(drafts):
            u = tape.uniform(24, "accept")
            if not accepted(u, p[n][x], q[n][x]):
                return drafts[:n] + [final(residual(p[n], q[n]), u, tape, "residual")]
        bonus = p[len(drafts) - 1 if bug == "bonus_of_last_draft" else len(drafts)]
        return drafts + [final(bonus, u, tape, "bonus")]

    return wrong_verify


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in BUGS:
        sys.exit("usage: wrong_verifier.py " + "|".join(BUGS))
    serve(verifier_with(sys.argv[1]), sys.argv[1], randomness=["scripted", "seeded"], most_vocabulary=64)
