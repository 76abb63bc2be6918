"""Verifiers of trees in fractions, one tree at a time: traversal with whole rows, UniVer by the quotients of its paper,
and the greatest of K paths by the products of its definition.

A tree is a dict from each prefix with drafts below it to the list of its draws, in order. p and q are functions of a
prefix, and a result is a list of tokens.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from test_torch_reference import block_verification, emit, residual


def normalised(row):
    return [x / sum(row) for x in row]


def children_of(tree, prefix):
    return list(dict.fromkeys(tree.get(prefix, [])))


def traversal(p, q, tree, numbers):
    return subtree(p, q, tree, (), Fraction(1), numbers)


def subtree(p, q, tree, prefix, weight, numbers):
    """Returns the tokens that are emitted if the node `prefix` of this weight is accepted, None if it is refused.

    The mass of the node is `weight` times `row`, its target row so far; the refusal of a child replaces both by the
    weight and the row of the residual.
    """
    row, left = p(prefix), q(prefix) if prefix in tree else None
    for x in children_of(tree, prefix):
        if weight == 0:
            break
        draft = normalised(left)
        below = min(Fraction(1), weight * row[x] / draft[x])
        if below > 0 and (tokens := subtree(p, q, tree, (*prefix, x), below, numbers)) is not None:
            return tokens
        rest = residual([weight * y for y in row], draft)
        weight = sum(rest) / (sum(rest) + 1 - weight) if sum(rest) > 0 else Fraction(0)
        row = normalised(rest) if sum(rest) > 0 else row
        left = [Fraction(0) if y == x else z for y, z in enumerate(left)]
    if prefix == () or numbers.flip(weight, Fraction(1)):
        return [*prefix, numbers.pick(row)]
    return None


def univer(p, m, tree, fixed, numbers, prefix=(), weight=Fraction(1)):
    """Returns the tokens that are emitted if the node `prefix` of this weight is accepted, None if it is refused. `m`
    is a function of a prefix; `fixed` holds the prefixes whose last token is a fixed child.
    """
    row, children = p(prefix), children_of(tree, prefix)
    kept = [x for x in children if (*prefix, x) in fixed]
    drawn = [x for x in children if (*prefix, x) not in fixed][:1]
    draft = m(prefix) if drawn else [Fraction(0)] * len(row)
    excess = residual(row, draft, weight)
    z = 1 - weight + sum(excess)
    tests = [(x, min(Fraction(1), weight * row[x] / draft[x])) for x in drawn]
    refused = 1 - sum(w for _, w in tests)
    tests += [(k, excess[k] * refused / z if z else Fraction(0)) for k in kept]
    before = Fraction(0)
    for x, share in tests:
        below = share / (1 - before) if before < 1 else Fraction(0)
        if below > 0 and (tokens := univer(p, m, tree, fixed, numbers, (*prefix, x), below)) is not None:
            return tokens
        before += share
    parents = refused * (1 - weight) / z if z else Fraction(0)
    if prefix == () or numbers.flip(1 - parents / (1 - before), Fraction(1)):
        return [*prefix, emit([0 if x in kept else y for x, y in enumerate(excess)], row, numbers)]
    return None


def greedy_multipath_block(p, q, paths, numbers):
    """Verifies the greatest of K paths as a block. The distribution of its tokens is a difference of two powers: the
    probability that all K paths are at most a prefix in the order, minus the probability that all are less. If K > 1,
    rows are sorted in this order, tokens with q = 0 first.
    """
    k, prefix, below, reached, p_rows, q_rows, orders = len(paths), (), Fraction(0), Fraction(1), [], [], []
    for i in range(len(paths[0])):
        row, draft = p(prefix), q(prefix)
        ranks = sorted((x for x in range(len(row)) if draft[x] > 0), key=lambda x: (-row[x] / draft[x], x))
        order = [y for y in range(len(row)) if draft[y] == 0] + ranks if k > 1 else list(range(len(row)))
        x = min((path[i] for path in paths if path[:i] == prefix), key=ranks.index)
        under = {y: below + reached * sum(draft[z] for z in ranks[j + 1 :]) for j, y in enumerate(ranks)}
        powers = [(under[y] + reached * draft[y]) ** k - under[y] ** k if y in under else Fraction(0) for y in order]
        p_rows.append([row[y] for y in order])
        q_rows.append(normalised(powers))
        orders.append(order)
        below, reached, prefix = under[x], reached * draft[x], (*prefix, x)
    p_rows.append(p(prefix))
    orders.append(list(range(len(p(prefix)))))
    places = [order.index(x) for order, x in zip(orders, prefix, strict=False)]
    return [order[y] for order, y in zip(orders, block_verification(p_rows, q_rows, places, numbers), strict=False)]


def product_of(choices):
    """Yields (chance, tuple) of independent choices; each choice is a list of (chance, value)."""
    for picked in itertools.product(*choices):
        chance = Fraction(1)
        for c, _ in picked:
            chance *= c
        yield chance, tuple(value for _, value in picked)
