"""Verifiers in fractions, one row at a time, and their distributions: the reference for the batched verifiers.

A verifier here reads its random numbers from `Numbers.cut`, so all of its branches can be listed with exact weights.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction
from math import comb

import pytest
from ladder_reference import Levels, levels


class Numbers:
    """The random numbers of one decision. Either their `values` are given, or `cells` has for each number the cell into
    which it falls."""

    def __init__(self, values=(), cells=None):
        self.values, self.cells, self.read, self.weight, self.widths = values, cells, [], Fraction(1), []

    def cut(self, boundaries):
        """Returns the cell of the next number; cell i ends at boundaries[i], the last cell at 1."""
        ends = [min(max(Fraction(b), Fraction(0)), Fraction(1)) for b in boundaries] + [Fraction(1)]
        starts = [Fraction(0), *ends[:-1]]
        place = len(self.widths)
        self.widths.append([end - start for start, end in zip(starts, ends, strict=True)])
        if self.cells is None:
            u = Fraction(float(self.values[place]))
            cell = next(i for i, end in enumerate(ends) if u < end)
        else:
            cell = self.cells[place] if place < len(self.cells) else next(i for i, w in enumerate(self.widths[-1]) if w)
            self.weight *= ends[cell] - starts[cell]
        self.read.append((cell, starts[cell], ends[cell]))
        return cell

    def flip(self, num, den):
        return self.cut([num / den if den else Fraction(int(num > 0))]) == 0

    def pick(self, weights):
        sums = list(itertools.accumulate(weights))
        return self.cut([s / sums[-1] for s in sums[:-1]])


def branches(decide):
    """Returns (weight, [(start, end) of each number], result) of every branch of decide(numbers); weights sum to 1."""
    found, cells = [], []
    while True:
        numbers = Numbers(cells=cells)
        result = decide(numbers)
        found.append((numbers.weight, [ends for _, *ends in numbers.read], result))
        cells = [cell for cell, *_ in numbers.read]
        while cells:
            widths = numbers.widths[len(cells) - 1]
            later = next((i for i in range(cells[-1] + 1, len(widths)) if widths[i] > 0), None)
            if later is not None:
                cells[-1] = later
                break
            cells.pop()
        if not cells:
            return found


def fractions(row):
    return [Fraction(float(x)) for x in row]


def residual(p, q, c=1, b=1):
    return [max(c * a - b * d, Fraction(0)) for a, d in zip(p, q, strict=True)]


def emit(weights, target, numbers):
    return numbers.pick(weights if sum(weights) > 0 else target)


def single_draft(p, q, drafts, numbers):
    for i, x in enumerate(drafts):
        if not numbers.flip(p[i][x], q[i][x]):
            return [*drafts[:i], emit(residual(p[i], q[i]), p[i], numbers)]
    return [*drafts, numbers.pick(p[len(drafts)])]


def block_verification(p, q, drafts, numbers):
    c = [Fraction(1)]
    for i, x in enumerate(drafts):
        c.append(min(Fraction(1), c[i] * p[i][x] / q[i][x]))
    n = len(drafts)
    if n == 0 or numbers.flip(c[n], Fraction(1)):
        return [*drafts, numbers.pick(p[n])]
    i = n - 1
    while i > 0:
        excess = sum(residual(p[i], q[i], c[i]))
        if c[i] == 1 or (c[i] > 0 and numbers.flip(excess, excess + 1 - c[i])):
            break
        i -= 1
    return [*drafts[:i], emit(residual(p[i], q[i], c[i]), p[i], numbers)]


def recursive_rejection(p, q, drafts, numbers, without_replacement=False):
    b, mass, unseen = Fraction(0), Fraction(1), Fraction(1)
    for k, x in enumerate(drafts):
        if without_replacement:
            unseen = sum(q[y] for y in range(len(q)) if y not in drafts[:k]) / sum(q)
        if numbers.flip((p[x] - b * q[x]) * unseen, mass * q[x]):
            return x, k
        b += mass / unseen
        mass = sum(residual(p, q, 1, b))
    return emit(residual(p, q, 1, b), p, numbers), -1


def recursive_rejection_without_replacement(p, q, drafts, numbers):
    return recursive_rejection(p, q, drafts, numbers, True)


def ladder(p, q, drafts, numbers, without_replacement=False):
    if not drafts:
        return numbers.pick(p), -1
    plan = levels(tuple(p), tuple(q), len(drafts), without_replacement)
    k = plan.choose_distinct(drafts, numbers) if without_replacement else plan.choose(drafts, numbers)[0]
    x = drafts[k]
    if numbers.flip(plan.p[x], plan.selected(x)):
        return x, k
    left = [max(a - plan.selected(y), Fraction(0)) for y, a in enumerate(plan.p)]
    return emit(left, plan.p, numbers), -1


def ladder_without_replacement(p, q, drafts, numbers):
    return ladder(p, q, drafts, numbers, True)


def ladder_block(p, q, paths, numbers, average=False):
    """Returns the tokens of ladder block verification. `p` and `q` are functions of a prefix.

    With `average`, the distribution of the number of active paths is conditioned on the prefix alone. Then no number is
    read for a token that all active paths share, and block verification sorts the tokens of each row but the last by p
    over the distribution of the chosen path's token.
    """
    length, mu = len(paths[0]), [Fraction(int(m == len(paths))) for m in range(1, len(paths) + 1)]
    prefix, active, p_rows, q_rows, orders = (), list(range(len(paths))), [], [], []
    for i in range(length):
        plan, tokens = Levels(p(prefix), q(prefix), mu), [paths[k][i] for k in active]
        index, a, b = 0, 0, plan.n
        if mu[0] != 1 and (len(set(tokens)) > 1 or not average):
            index, a, b = plan.choose(tokens, numbers)
        y, v = tokens[index], range(len(p(prefix)))
        selected = [plan.selected(x) for x in v]
        order = list(v)
        if average and mu[0] != 1:
            order.sort(key=lambda x: -plan.p[x] / selected[x] if selected[x] else -float("inf"))
        p_rows.append([p(prefix)[x] for x in order])
        q_rows.append([selected[x] for x in order])
        orders.append(order)
        groups = plan.groups(y) if average and mu[0] != 1 else [(Fraction(1), a, b)]
        mu = number_after(mu, plan.q[y], [(share, plan.s[b] - plan.s[a], 1 - plan.s[b]) for share, a, b in groups])
        active = [k for k in active if paths[k][i] == y]
        prefix = (*prefix, y)
    p_rows.append(p(prefix))
    orders.append(list(range(len(p(prefix)))))
    places = [order.index(x) for order, x in zip(orders, prefix, strict=False)]
    return [order[x] for order, x in zip(orders, block_verification(p_rows, q_rows, places, numbers), strict=False)]


def number_after(mu, c, groups):
    """Returns the distribution of the number of active paths after a token of q-mass `c`. `groups` has (share, q-mass,
    q-mass below) of each group of the token."""
    k = len(mu)
    weight = [Fraction(0)] * k
    for m, j in itertools.product(range(1, k + 1), range(1, k + 1)):
        for n, (share, width, beta) in itertools.product(range(m - j + 1), groups):
            ways = comb(m, j) * comb(m - j, n) * c**j * (width - c) ** n * beta ** (m - j - n)
            weight[j - 1] += share * mu[m - 1] * ways * Fraction(j, j + n)
    return [w / sum(weight) for w in weight]


POSITIONS = [
    ([3, 1], [1, 1]),
    ([1, 1], [0, 1]),
    ([0, 1, 3], [2, 1, 1]),
    ([1, 2, 1], [1, 2, 1]),
    ([4, 1, 2, 1], [1, 1, 3, 3]),
    ([1, 0, 2, 5], [2, 2, 4, 0]),
    ([3, 3, 1, 1, 2], [1, 2, 3, 3, 1]),
]


def distribution_of(weights):
    return [Fraction(w, sum(weights)) for w in weights]


def tuples(q, k, without_replacement=False):
    """Yields (probability, tokens) of every tuple of `k` drafts."""
    for drafts in itertools.product(range(len(q)), repeat=k):
        weight, left = Fraction(1), Fraction(1)
        for i, x in enumerate(drafts):
            if without_replacement and x in drafts[:i]:
                weight = Fraction(0)
            weight *= q[x] / left if weight else 0
            left -= q[x] if without_replacement else 0
        if weight:
            yield weight, list(drafts)


@pytest.mark.parametrize(
    "verify", [recursive_rejection, recursive_rejection_without_replacement, ladder, ladder_without_replacement]
)
@pytest.mark.parametrize(("p", "q"), POSITIONS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_reference_is_exact(verify, p, q, k):
    p, q, without = distribution_of(p), distribution_of(q), verify.__name__.endswith("without_replacement")
    distribution = [Fraction(0)] * len(p)
    for chance, drafts in tuples(q, min(k, sum(x > 0 for x in q)) if without else k, without):
        for weight, _, (token, _) in branches(lambda numbers, drafts=drafts: verify(p, q, drafts, numbers)):
            distribution[token] += chance * weight
    assert distribution == p


def path_model(seed):
    """Returns a function from prefixes of up to two tokens to distributions of the next token; V = 2."""
    weights = itertools.cycle([*[(3, 1), (1, 1), (1, 7), (5, 3), (2, 2), (1, 3)][seed:], (7, 1), (3, 5)])
    rows = {
        prefix: distribution_of(next(weights)) for i in range(3) for prefix in itertools.product(range(2), repeat=i)
    }
    return rows.__getitem__


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_reference_of_paths_is_exact(seed, k, average):
    p, q, length = path_model(seed), path_model(seed + 2), 2
    distribution = defaultdict(Fraction)
    singles = list(itertools.product(range(2), repeat=length))
    for paths in itertools.product(singles, repeat=k):
        chance = Fraction(1)
        for path in paths:
            for i in range(length):
                chance *= q(path[:i])[path[i]]
        for weight, _, tokens in branches(lambda numbers, paths=paths: ladder_block(p, q, paths, numbers, average)):
            completed = {tuple(tokens): chance * weight}
            while len(next(iter(completed))) <= length:
                completed = {(*t, x): w * p(t)[x] for t, w in completed.items() for x in range(2)}
            for t, w in completed.items():
                distribution[t] += w
    for t in itertools.product(range(2), repeat=length + 1):
        assert distribution[t] == p(())[t[0]] * p(t[:1])[t[1]] * p(t[:2])[t[2]]
