"""Rules of 2026 in fractions, as their texts or their published code state them: docs/findings/claims-2026.md.

Models are functions of a prefix that return a row. A rule reads its random numbers from `Numbers` of
test_torch_reference, so that `law` lists all of its branches.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from test_torch_reference import branches, emit, residual


def law(decide, target, length):
    """Returns the distribution of texts of `length` tokens: the tokens of decide(numbers), continued by the target."""
    found = defaultdict(Fraction)
    for weight, _, tokens in branches(decide):
        spread(found, tuple(tokens), weight, target, length)
    return found


def spread(found, text, weight, target, length):
    if len(text) >= length:
        found[text[:length]] += weight
        return
    for x, share in enumerate(target(text)):
        if share:
            spread(found, (*text, x), weight * share, target, length)


def targets(target, length):
    found = defaultdict(Fraction)
    spread(found, (), Fraction(1), target, length)
    return found


def departure(found, wanted):
    """Returns the total variation of two distributions."""
    return sum(abs(found.get(x, 0) - wanted.get(x, 0)) for x in {*found, *wanted}) / 2


def drawn(row, count, numbers):
    return [numbers.pick(row) for _ in range(count)]


def path(q, length, numbers):
    """Draws one chain of drafts."""
    prefix = ()
    for _ in range(length):
        prefix = (*prefix, numbers.pick(q(prefix)))
    return prefix


def spectr_gbv(p, q, paths, numbers):
    """Runs SpecTr-GBV as published, commit e399f44, without its epsilons: a quotient 0 / 0 is 0."""
    k, length = len(paths), len(paths[0])

    def kept(x):
        return 1 - (1 - x) ** k

    def products(tokens):
        b = s = Fraction(1)
        for i, x in enumerate(tokens):
            b, s = b * p(tokens[:i])[x], s * q(tokens[:i])[x]
        return b, s

    def capped(s, b):
        return min(Fraction(1), s / b) if b else Fraction(0)

    def below(tokens):
        """Returns for each child of a prefix (m, r): m is its target mass, and r is its draft mass divided by m, at
        most 1."""
        b, s = products(tokens)
        return [(b * x, capped(s * y, b * x)) for x, y in zip(p(tokens), q(tokens), strict=True)]

    chosen, refused = (), set()
    for draft in paths:
        for i in range(len(chosen) + 1, length):
            b, s = products(draft[:i])
            left = sum(mass * (1 - kept(r)) for mass, r in below(draft[:i])) - b * (1 - kept(capped(s, b)))
            all_of = kept(s) - sum(mass * kept(r) for mass, r in below(draft[:i]))
            if draft[:i] in refused:
                continue
            if numbers.flip(left, all_of):
                chosen = draft[:i]
            else:
                refused.add(draft[:i])
        b, s = products(draft)
        if numbers.flip(b * kept(capped(s, b)), kept(s)):
            return [*draft, numbers.pick(p(draft))]
    weights = [mass * (1 - r**k) for mass, r in below(chosen)]
    return [*chosen, emit(weights, p(chosen), numbers)]


class Noise:
    """A uniform number that several draws of one position share. The draws so far show in which interval it lies."""

    def __init__(self):
        self.low, self.high = Fraction(0), Fraction(1)

    def draw(self, row, numbers):
        """Returns token 0 if the shared number is below row[0], else token 1. Shared Gumbel noise has the same effect:
        the likelier token 0 is, the more values of the noise select token 0."""
        split = min(max(row[0], self.low), self.high)
        if numbers.flip(split - self.low, self.high - self.low):
            self.high = split
            return 0
        self.low = split
        return 1


def jacobi(target, start, length, window, numbers, *, later="coupled", record="new", correction="residual"):
    """Runs speculative Jacobi decoding, where the target's rows of earlier steps are the proposal. Returns `length`
    tokens.

    start       the first draft of each position of the text, whose row has all mass on this draft
    later       how a position after the first rejection gets its next draft: `coupled` is the maximal coupling, with
                the test and residual of earlier positions; `noise` shares the noise of a position between steps;
                `anew` draws independently
    record      the row that becomes the proposal of a draft kept by the coupling: `new`, or `old` as in the code for
                Lumina
    correction  the weights that replace a rejected draft: `residual`, or `target` as in the code for Cosmos without its
                coupling
    """
    done, drafts, noise = (), [], defaultdict(Noise)
    points = [(first, [Fraction(int(x == first)) for x in range(len(target(())))]) for first in start]
    while len(done) < length:
        drafts += points[len(done) + len(drafts) : min(length, len(done) + window)]
        kept, text, rejected = [], done, None
        for place, (x, row) in enumerate(drafts):
            new = target(text)
            if rejected is not None and later != "coupled":
                y = noise[len(text)].draw(new, numbers) if later == "noise" else numbers.pick(new)
                kept.append((y, new))
            elif numbers.flip(new[x], row[x]):
                kept.append((x, row if record == "old" else new))
            else:
                left = residual(new, row) if correction == "residual" else new
                kept.append((emit(left, new, numbers), new))
                rejected = place if rejected is None else rejected
            text = (*text, x)
        end = len(drafts) if rejected is None else rejected + 1
        done, drafts = (*done, *(y for y, _ in kept[:end])), kept[end:]
    return done


def chain_of_three(p, middle, q, length, enough, numbers, *, passed="verified", proposal="middle"):
    """The middle model verifies drafts of q, and the target p verifies blocks of at least `enough` tokens of the middle
    model.

    passed    the tokens of the middle model that p verifies: `verified`, all that it emits, or the `accepted` drafts
    proposal  the row that p's test divides by: the row of the `middle` model or of the `draft`
    """
    block, done = (), False
    while len(block) < enough and not done:
        tokens = []
        for _ in range(length):
            text = (*block, *tokens)
            x = numbers.pick(q(text))
            if not numbers.flip(middle(text)[x], q(text)[x]):
                done = passed == "accepted"
                tokens += [] if done else [emit(residual(middle(text), q(text)), middle(text), numbers)]
                break
            tokens.append(x)
        block = (*block, *tokens)
    rows = middle if proposal == "middle" else q
    for i, x in enumerate(block):
        if not numbers.flip(p(block[:i])[x], rows(block[:i])[x]):
            return [*block[:i], emit(residual(p(block[:i]), rows(block[:i])), p(block[:i]), numbers)]
    return [*block, numbers.pick(p(block))]


def atom_coupled(p, roots, atoms, maps, numbers, *, pool=True):
    """Runs atom-coupled tree block verification. `atoms[j]` is the distribution of the number that all branches share
    at depth j, `maps[a][j][h]` the token of branch a if this number is h. With `pool=False` branches get no unused
    capacity of other branches, for comparison. Returns the tokens and the number of accepted drafts.
    """
    length, start = len(atoms), p(())
    inside = sum(start[a] for a in roots)
    if inside == 0 or not numbers.flip(inside, Fraction(1)):
        return [numbers.pick([Fraction(0) if x in roots else y for x, y in enumerate(start)])], 0
    share = [start[a] / inside for a in roots]
    early, w, prefixes = list(share), list(share), [(a,) for a in roots]
    exits = []  # for each depth: the residual and the prefix of each branch
    failing = []
    for j in range(length):
        s, h = atoms[j], numbers.pick(atoms[j])
        rows, flows, taken = [p(x) for x in prefixes], [], []
        for a, row in enumerate(rows):
            token = maps[a][j]
            q = defaultdict(Fraction)
            for atom, x in enumerate(token):
                q[x] += s[atom]
            lift = [row[x] * s[atom] / q[x] if q[x] else Fraction(0) for atom, x in enumerate(token)]
            kept = [min(early[a] * y, share[a] * s[atom]) for atom, y in enumerate(lift)]
            flows.append((kept, [w[a] * y - b for y, b in zip(lift, kept, strict=True)]))
        for atom in range(len(s)):
            rest = s[atom] - sum(kept[atom] for kept, _ in flows)
            more = sum(extra[atom] for _, extra in flows)
            part = min(Fraction(1), rest / more) if more and pool else Fraction(0)
            taken.append([kept[atom] + extra[atom] * part for kept, extra in flows])
        left = [[w[a] * y for y in row] for a, row in enumerate(rows)]
        for a in range(len(roots)):
            for atom, x in enumerate(maps[a][j]):
                left[a][x] -= taken[atom][a]
        exits.append((left, prefixes))
        failing.append(1 - sum(w))
        early = [flows[a][0][h] / s[h] for a in range(len(roots))]
        w = [taken[h][a] / s[h] for a in range(len(roots))]
        prefixes = [(*x, maps[a][j][h]) for a, x in enumerate(prefixes)]
    exits.append(([[w[a] * y for y in p(x)] for a, x in enumerate(prefixes)], prefixes))
    failing.append(1 - sum(w))
    assert all(x >= 0 for left, _ in exits for row in left for x in row)
    for j in range(length, -1, -1):
        left, prefixes = exits[j]
        out = sum(map(sum, left))
        if out and (j == 0 or numbers.flip(out, out + failing[j])):
            a = numbers.pick([sum(row) for row in left])
            return [*prefixes[a], numbers.pick(left[a])], j + 1
    raise AssertionError("no row of an exit has mass")
