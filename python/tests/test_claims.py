"""Tests the verdicts of docs/findings/claims-2026.md, in fractions, on every branch of each rule."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction as F

import pytest
from claimed_rules import atom_coupled, chain_of_three, departure, jacobi, law, path, spectr_gbv, targets
from ladder_reference import levels
from test_torch_reference import branches

HALF = [F(1, 2), F(1, 2)]


def same(*weights):
    """Returns a model with these weights after every prefix."""
    row = [F(w, sum(weights)) for w in weights]
    return lambda prefix: row


class Table:
    """A model with a random row of small weights after each prefix; some weights are 0."""

    def __init__(self, vocabulary, seed):
        self.vocabulary, self.random, self.rows = vocabulary, random.Random(seed), {}

    def __call__(self, prefix):
        while prefix not in self.rows:
            weights = [self.random.randrange(4) for _ in range(self.vocabulary)]
            if sum(weights):
                self.rows[prefix] = [F(w, sum(weights)) for w in weights]
        return self.rows[prefix]


def off(decide, target, length):
    return departure(law(decide, target, length), targets(target, length))


def spectr(p, q, k, length):
    def decide(numbers):
        return spectr_gbv(p, q, [path(q, length, numbers) for _ in range(k)], numbers)

    return law(decide, p, length + 1)


def test_the_published_spectr_gbv_is_exact_for_one_draft_of_one_token():
    for p, q in itertools.product(itertools.product(range(3), repeat=3), repeat=2):
        if sum(p) and sum(q):
            assert departure(spectr(same(*p), same(*q), 1, 1), targets(same(*p), 2)) == 0


def test_the_published_spectr_gbv_departs_for_two_drafts_and_for_two_tokens():
    found = spectr(same(1, 1), same(0, 1), 2, 1)
    assert [sum(found[x, y] for y in (0, 1)) for x in (0, 1)] == [F(1, 4), F(3, 4)]
    # Here the result also depends on the residual 1 - r^K, which the code has in place of (1 - r)^K.
    found = spectr(same(1, 2, 0), same(0, 1, 2), 2, 1)
    assert [sum(found[x, y] for y in range(3)) for x in range(3)] == [F(49, 250), F(201, 250), 0]
    found = spectr(same(1, 1), same(1, 2), 1, 2)
    assert [found[0, x, 0] + found[0, x, 1] for x in (0, 1)] == [F(7, 36), F(11, 36)]
    assert departure(found, targets(same(1, 1), 3)) == F(1, 18)


def smaller(total):
    """Yields all pairs of rows of two tokens whose weights have this sum."""
    for weights in itertools.product(range(total + 1), repeat=4):
        if sum(weights) == total and sum(weights[:2]) and sum(weights[2:]):
            yield weights[:2], weights[2:]


@pytest.mark.parametrize(("k", "length", "size"), [(2, 1, 3), (1, 2, 5)])
def test_no_smaller_instance_refutes_it(k, length, size):
    for total in range(2, size):
        for p, q in smaller(total):
            assert departure(spectr(same(*p), same(*q), k, length), targets(same(*p), length + 1)) == 0


def claimed(p, q, k):
    return sum(x * (1 - (1 - min(F(1), y / x)) ** k) for x, y in zip(p, q, strict=True) if x)


def test_the_value_of_the_theorem_is_not_the_greatest_for_two_drafts():
    p, q = same(1, 1)(()), same(1, 2)(())
    plan = levels(tuple(p), tuple(q), 2, False)
    assert (claimed(p, q, 2), sum(min(plan.p[x], plan.selected(x)) for x in (0, 1))) == (F(17, 18), 1)
    for first, second in itertools.product(range(1, 5), repeat=2):
        p, q = same(first, 2)(()), same(second, 3)(())
        plan = levels(tuple(p), tuple(q), 2, False)
        assert claimed(p, q, 2) <= sum(min(plan.p[x], plan.selected(x)) for x in (0, 1))


@pytest.mark.parametrize("later", ["coupled", "noise", "anew"])
def test_jacobi_decoding_is_exact_with_each_coupling(later):
    for seed, (length, window) in enumerate([(2, 2), (3, 2), (3, 3), (4, 2)] * 12):
        target, start = Table(2, seed), random.Random(seed).choices((0, 1), k=length)

        def decide(numbers, target=target, start=start, length=length, window=window):
            return jacobi(target, start, length, window, numbers, later=later)

        assert off(decide, target, length) == 0


LUMINA, COSMOS = {"record": "old"}, {"later": "anew", "correction": "target"}


def texts(target, length, start, change):
    """Returns the distribution of texts of speculative Jacobi decoding. If `start` is None, the distribution is
    averaged over uniformly drawn first drafts, which the scripts draw by default."""
    starts = list(itertools.product((0, 1), repeat=length)) if start is None else [start]
    found = [law(lambda n, s=s: jacobi(target, s, length, length, n, **change), target, length) for s in starts]
    return {text: sum(one[text] for one in found) / len(found) for text in itertools.product((0, 1), repeat=length)}


def second_certain_after_1(prefix):
    return [F(1), F(0)] if prefix in ((), (1,)) else HALF


def test_two_of_its_programs_depart():
    assert list(texts(same(1, 1), 2, (0, 0), LUMINA).values()) == [F(n, 8) for n in (2, 2, 1, 3)]
    assert departure(texts(same(2, 1), 3, None, LUMINA), targets(same(2, 1), 3)) == F(1, 243)
    assert list(texts(second_certain_after_1, 2, None, COSMOS).values()) == [F(5, 8), F(3, 8), 0, 0]


def test_first_drafts_drawn_at_random_hide_both_from_rows_without_context():
    for target in (same(1, 1), same(2, 1)):
        for change, length in ((LUMINA, 2), (COSMOS, 2), (COSMOS, 3)):
            assert departure(texts(target, length, None, change), targets(target, length)) == 0


def a_case(seed):
    rng = random.Random(seed)
    vocabulary, depth, count, width = rng.randint(2, 3), rng.randint(1, 2), rng.randint(1, 2), rng.randint(2, 3)
    table, numbers = Table(vocabulary, seed), Table(width, seed + 1)
    roots = rng.sample(range(vocabulary), count)
    atoms = [numbers((j,)) for j in range(depth)]
    return table, roots, atoms, [[[rng.randrange(vocabulary) for _ in range(width)] for _ in atoms] for _ in roots]


@pytest.mark.parametrize("pool", [True, False])
def test_atom_coupled_verification_is_exact(pool):
    for seed in range(120):
        target, roots, atoms, maps = a_case(seed)

        def decide(numbers, target=target, roots=roots, atoms=atoms, maps=maps):
            return atom_coupled(target, roots, atoms, maps, numbers, pool=pool)[0]

        assert off(decide, target, len(atoms) + 2) == 0


def accepted(target, roots, atoms, maps, pool=True):
    """Returns the probability that at least n drafts are accepted, for n from 1 on."""
    found = branches(lambda numbers: atom_coupled(target, roots, atoms, maps, numbers, pool=pool))
    return [sum(w for w, _, (_, count) in found if count >= n) for n in range(1, len(atoms) + 2)]


def test_atom_coupled_verification_accepts_what_its_text_states():
    for seed in range(120):
        assert all(x >= y for x, y in zip(accepted(*a_case(seed)), accepted(*a_case(seed), pool=False), strict=True))

    def tokens(copies, stratified):
        def target(prefix):
            likely = (prefix[0] if copies else 0) if len(prefix) == 1 else None
            return HALF if likely is None else [F(9, 10) if x == likely else F(1, 10) for x in (0, 1)]

        second = [1, 0] if stratified else [0, 1]
        return 1 + sum(accepted(target, [0, 1], [HALF], [[[0, 1]], [second]]))

    assert [tokens(False, False), tokens(False, True)] == [F(13, 5), 3]
    assert [tokens(True, False), tokens(True, True)] == [3, F(13, 5)]


def of_three(p, middle, q, length, enough, **change):
    return off(lambda numbers: chain_of_three(p, middle, q, length, enough, numbers, **change), p, 2 * length + 1)


def test_a_chain_of_three_models_is_exact_if_all_verified_tokens_are_passed_on():
    for seed in range(40):
        assert of_three(*(Table(2, 3 * seed + i) for i in range(3)), 2, 1 + seed % 2) == 0


def test_a_chain_of_three_models_departs_otherwise():
    assert of_three(same(1, 1), same(1, 1), same(0, 1), 1, 1, passed="accepted") == F(1, 4)
    assert of_three(same(1, 1), same(0, 1), same(1, 0), 1, 1, proposal="draft") == F(1, 2)
