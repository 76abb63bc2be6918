"""Right verifiers without any library."""

from __future__ import annotations

import random

from catalogue import correct


def left_of(p, q):
    """(p - q)+; p itself where rounding left nothing."""
    rest = [max(a - b, 0.0) for a, b in zip(p, q, strict=True)]
    return rest if any(rest) else p


@correct("Lists, random.random and random.choices.", arrays="list")
def plain_python(p, q, drafts):
    for i, x in enumerate(drafts):
        if random.random() * q[i][x] >= p[i][x]:
            rest = left_of(p[i], q[i])
            return [*drafts[:i], random.choices(range(len(rest)), rest)[0]]
    return [*drafts, random.choices(range(len(p[-1])), p[-1])[0]]


@correct("Recursion over positions, inversion by subtraction.", arrays="list")
def recursive_python(p, q, drafts):
    def inverted(weights):
        left = random.random() * sum(weights)
        for token, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return token
        return max(token for token, weight in enumerate(weights) if weight > 0)

    if not drafts:
        return [inverted(p[0])]
    x = drafts[0]
    if random.random() * q[0][x] < p[0][x]:
        return [x, *recursive_python(p[1:], q[1:], drafts[1:])]
    return [inverted(left_of(p[0], q[0]))]
