"""The plan of the ladder (docs/ladder.md) in fractions, and the selection of a draft by this plan."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache


class Levels:
    """The ladder's plan by the levels of docs/ladder.md: breaks are removed from G one after another."""

    def __init__(self, p, q, mu, without_replacement=False):
        self.p, self.q = [x / sum(p) for x in p], [x / sum(q) for x in q]
        p, q = self.p, self.q
        self.order = sorted((x for x in range(len(q)) if q[x] > 0), key=lambda x: -p[x] / q[x])
        self.n = len(self.order)
        target = list(itertools.accumulate((p[x] for x in self.order), initial=1 - sum(p[x] for x in self.order)))
        self.s = list(itertools.accumulate((q[x] for x in self.order), initial=Fraction(0)))
        self.f = [1 - sum(w * (1 - s) ** m for m, w in enumerate(mu, 1)) for s in self.s]
        if without_replacement:
            self.f = [hit(self.q, self.order[:i], len(mu)) for i in range(self.n + 1)]
        missed = [max(a - b, Fraction(0)) for a, b in zip(target, self.f, strict=True)]
        peak = missed.index(max(missed))
        held = [max(missed[: i + 1]) if i <= peak else max(missed[i:]) for i in range(self.n + 1)]
        self.slope = [Fraction(0)] * self.n
        self.level = self.peel([a - b for a, b in zip(target, held, strict=True)])

    def kink(self, y, left, i, right):
        s = self.s
        return (y[i] - y[left]) / (s[i] - s[left]) - (y[right] - y[i]) / (s[right] - s[i])

    def peel(self, rest):
        """Returns the levels of the breaks, and sets `slope` to Pr(the selected draft is x) / q(x) in each bin."""
        level, up, time = [Fraction(1)] * (self.n + 1), list(range(self.n + 1)), Fraction(0)
        while time < 1:
            inner = list(zip(up, up[1:], up[2:], strict=False))
            ends = [
                self.kink(rest, *three) / self.kink(self.f, *three) for three in inner if self.kink(self.f, *three) > 0
            ]
            step = min([*ends, 1 - time])
            for a, b in itertools.pairwise(up):
                chord = (self.f[b] - self.f[a]) / (self.s[b] - self.s[a])
                for i in range(a, b):
                    self.slope[i] += step * chord
                for i in range(a + 1, b + 1):
                    rest[i] -= step * (self.f[a] + chord * (self.s[i] - self.s[a]))
            time += step
            gone = {three[1] for three in inner if self.kink(rest, *three) <= 0 and time < 1}
            for i in gone:
                level[i] = time
            up = [i for i in up if i not in gone]
        return level

    def selected(self, x):
        return self.q[x] * self.slope[self.order.index(x)] if self.q[x] > 0 else Fraction(0)

    def group(self, drafts, numbers):
        """Draws a level. Returns the indices of the drafts in the selected group, which has the first bin of a draft,
        and the ends of the group."""
        bins = [self.order.index(x) for x in drafts]
        steps = sorted({c for c in self.level[1 : self.n] if 0 < c < 1})
        cell = numbers.cut(steps)
        a, b = self.ends(min(bins), ([Fraction(0), *steps])[cell])
        return [k for k, i in enumerate(bins) if i < b], a, b

    def groups(self, x):
        """Returns the groups [a, b) that have the bin of x, for levels from 0 to 1: each as (share of the levels, a,
        b)."""
        steps = sorted({Fraction(0), Fraction(1), *(c for c in self.level[1 : self.n] if 0 < c < 1)})
        bin_ = self.order.index(x)
        return [(end - u, *self.ends(bin_, u)) for u, end in itertools.pairwise(steps)]

    def ends(self, bin_, u):
        """Returns the ends of the group that has bin `bin_` at level u."""
        a = b = bin_
        while a > 0 and not u < self.level[a]:
            a -= 1
        b += 1
        while b < self.n and not u < self.level[b]:
            b += 1
        return a, b

    def choose(self, drafts, numbers):
        """Returns the index of the selected draft and the ends of its group."""
        group, a, b = self.group(drafts, numbers)
        size = len(group)
        chosen = group[numbers.cut([Fraction(i, size) for i in range(1, size)])] if size > 1 else group[0]
        return chosen, a, b

    def choose_distinct(self, drafts, numbers):
        """Returns the index of the selected draft among different drafts, which are in draw order."""
        group, a, b = self.group(drafts, numbers)
        if a == 0 or len(group) == 1:
            return group[0]
        inside = [self.q[drafts[k]] for k in group]
        wanted = numbers.cut([s / (self.s[b] - self.s[a]) for s in itertools.accumulate(inside[:-1])])
        left, below = len(group) - 1, [x for x in self.order[b:] if x not in drafts]
        while left > 0 and wanted > 0:
            cell = numbers.pick([self.s[a], *(self.q[x] if x in below else 0 for x in range(len(self.q)))])
            if cell == 0:
                break
            left -= 1
            below.remove(cell - 1)
        return group[min(wanted, left)]


@cache
def levels(p, q, drafts, without_replacement):
    mu = [Fraction(int(m == drafts)) for m in range(1, drafts + 1)]
    return Levels(p, q, mu, without_replacement)


def hit(q, tokens, k):
    """Returns the probability that at least one of `tokens` is among k drafts without replacement."""
    # Maps each set of drawn tokens to its probability and to the sum of q over all other tokens.
    sets = {frozenset(): (Fraction(1), Fraction(1))}
    for _ in range(min(k, sum(x > 0 for x in q))):
        grown = {}
        for drawn, (chance, left) in sets.items():
            for x, mass in enumerate(q):
                if mass > 0 and x not in drawn and x not in tokens:
                    both = drawn | {x}
                    grown[both] = grown.get(both, (0, 0))[0] + chance * mass / left, left - mass
        sets = grown
    return 1 - sum((chance for chance, _ in sets.values()), Fraction(0))
