"""Compares the tree verifiers of draftproof.torch with the verifiers in fractions, branch by branch."""

from __future__ import annotations

import importlib
import itertools
from collections import defaultdict
from fractions import Fraction
from functools import partial

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
import tree_reference as reference  # noqa: E402
from test_torch_reference import branches, distribution_of, ladder_block  # noqa: E402
from test_torch_verifiers import DEVICES, chi_square, ends_of, table  # noqa: E402

import draftproof.torch as verifiers  # noqa: E402


def model_of(seed, v, depth):
    """Returns a function from prefixes of up to `depth` tokens to random rows, with zeros and equal quotients p / q.

    Probabilities are multiples of 1/4 or 1/8, so equal quotients are equal in float64 too.
    """
    generator = torch.Generator().manual_seed(seed)

    def row():
        balls = 4 if torch.rand((), generator=generator) < 0.5 else 8
        counts = torch.bincount(torch.randint(0, v, (balls,), generator=generator), minlength=v)
        return [Fraction(int(x), balls) for x in counts]

    return {prefix: row() for i in range(depth + 1) for prefix in itertools.product(range(v), repeat=i)}.__getitem__


def draws_without_replacement(row, count):
    """Returns (probability, tokens) of every draw of a node's children."""
    found = [(Fraction(1), ())]
    for _ in range(min(count, sum(x > 0 for x in row))):
        found = [
            (chance * row[x] / (1 - sum(row[y] for y in drawn)), (*drawn, x))
            for chance, drawn in found
            for x in range(len(row))
            if row[x] > 0 and x not in drawn
        ]
    return found


def trees_of(children, depth, prefix=()):
    """Yields (probability, tree) of all trees. children(prefix) returns a list of (probability, draws) for a node."""
    if depth == 0:
        yield Fraction(1), {}
        return
    for chance, drawn in children(prefix):
        below = [list(trees_of(children, depth - 1, (*prefix, x))) for x in dict.fromkeys(drawn)]
        for both, parts in reference.product_of(below):
            yield chance * both, {prefix: list(drawn)} | {key: value for part in parts for key, value in part.items()}


def flat(tree):
    """Returns the prefixes of all drafts, level by level, and their parents."""
    prefixes, parents, queue = [], [], [((), -1)]
    for prefix, number in queue:
        for x in tree.get(prefix, []):
            if (*prefix, x) not in prefixes:
                queue.append(((*prefix, x), len(prefixes)))
            prefixes.append((*prefix, x))
            parents.append(number)
    return prefixes, parents


def batch_of(rows, p, q, device):
    """Returns tensors p, q, drafts, parents for rows (probability, tree, ..) whose trees have equally many drafts."""
    shapes = [flat(row[1]) for row in rows]
    return (
        torch.stack([table([p(()), *map(p, prefixes)], device) for prefixes, _ in shapes]),
        torch.stack([table([q(x[:-1]) for x in prefixes], device).reshape(-1, len(p(()))) for prefixes, _ in shapes]),
        torch.tensor([[x[-1] for x in prefixes] for prefixes, _ in shapes], dtype=torch.int64, device=device),
        torch.tensor([parents for _, parents in shapes], dtype=torch.int64, device=device),
    )


def listed(trees, decide, places):
    """Returns rows (probability, tree, numbers, tokens), grouped by the number of drafts. Each branch of
    decide(tree, numbers) has two rows, with random numbers near the two ends of the branch's intervals."""
    rows = defaultdict(list)
    for chance, tree in trees:
        for weight, numbers, tokens in branches(lambda numbers, tree=tree: decide(tree, numbers)):
            n = len(flat(tree)[0])
            rows[n] += [(chance * weight / 2, tree, u, tokens) for u in ends_of(numbers, places(n))]
    return rows.values()


def emitted_by(result):
    tokens, counts = result[0].tolist(), result[1].tolist()
    assert all(set(t[n:]) <= {-1} for t, n in zip(tokens, counts, strict=True))
    return [t[:n] for t, n in zip(tokens, counts, strict=True)]


def distance(emitted, p, v, depth):
    """Returns the total variation distance between the target's distribution of texts and the distribution of
    `emitted`, a list of (probability, tokens) in which the target continues shorter texts."""
    distribution = defaultdict(Fraction)
    for chance, tokens in emitted:
        for rest in itertools.product(range(v), repeat=depth + 1 - len(tokens)):
            text, weight = tuple(tokens), chance
            for x in rest:
                text, weight = (*text, x), weight * p(text)[x]
            distribution[text] += weight
    for text in itertools.product(range(v), repeat=depth + 1):
        wanted = Fraction(1)
        for i, x in enumerate(text):
            wanted *= p(text[:i])[x]
        distribution[text] -= wanted
    return sum(map(abs, distribution.values())) / 2


def check_tokens(groups, call):
    """Checks that the batched function returns the tokens of every row. Returns (chance, tokens) of all rows."""
    found = []
    for rows in groups:
        result = call(rows)
        emitted = emitted_by(result)
        assert emitted == [row[3] for row in rows]
        for row, tokens, index in zip(rows, emitted, result[2].tolist(), strict=True):
            prefixes = flat(row[1])[0]
            assert index == (prefixes.index(tuple(tokens[:-1])) if len(tokens) > 1 else -1)
        found += [(row[0], tokens) for row, tokens in zip(rows, emitted, strict=True)]
    return found


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("v", "counts"), [(2, (2, 2)), (3, (2, 1)), (3, (1, 2)), (3, (3,)), (2, (1, 1, 1)), (2, ())])
def test_traversal(v, counts, seed, device):
    p, q = model_of(seed, v, len(counts)), model_of(seed + 100, v, len(counts))
    trees = trees_of(lambda prefix: draws_without_replacement(q(prefix), counts[len(prefix)]), len(counts))
    groups = listed(trees, lambda tree, numbers: reference.traversal(p, q, tree, numbers), lambda n: n + 1)

    def call(rows):
        numbers = table([row[2] for row in rows], device)
        return verifiers.traversal(*batch_of(rows, p, q, device), uniforms=numbers)

    assert distance(check_tokens(groups, call), p, v, len(counts)) == 0


def hybrid_of(seed, v, depth, fixed, drawn):
    """Returns p and m of a model, its trees, whose nodes have up to `fixed` fixed and `drawn` drawn children, and the
    prefixes that end with a fixed child. The fixed children are the first tokens of a random order. m is a random row
    that is 0 on the fixed children, and may have other zeros.
    """
    p, weights, generator = (
        model_of(seed, v, depth),
        model_of(seed + 100, v, depth),
        torch.Generator().manual_seed(seed),
    )
    orders = {
        prefix: torch.randperm(v, generator=generator).tolist()
        for i in range(depth)
        for prefix in itertools.product(range(v), repeat=i)
    }

    def kept(prefix):
        return orders[prefix][:fixed]

    def m(prefix):
        row = [Fraction(0) if x in kept(prefix) else y for x, y in enumerate(weights(prefix))]
        return distribution_of(row) if sum(row) > 0 else row

    def children(prefix):
        return [(c, (*kept(prefix), *d)) for c, d in draws_without_replacement(m(prefix), drawn)]

    endings = {(*prefix, x) for prefix in orders for x in kept(prefix)}
    return p, m, list(trees_of(children, depth)), endings


HYBRID = [
    (3, 2, 1, 1),
    (3, 2, 0, 1),
    (3, 1, 2, 1),
    (3, 2, 2, 0),
    (4, 1, 2, 2),
    (4, 1, 2, 1),
    (2, 3, 1, 1),
    (3, 2, 2, 1),
]


def univer_on(p, m, trees, fixed, device="cpu"):
    """Checks that the batched function returns the reference's tokens. Returns (chance, tokens) of all rows."""
    groups = listed(trees, lambda tree, numbers: reference.univer(p, m, tree, fixed, numbers), lambda n: n + 1)

    def call(rows):
        numbers = table([row[2] for row in rows], device)
        kept = [[prefix in fixed for prefix in flat(row[1])[0]] for row in rows]
        given = *batch_of(rows, p, m, device), torch.tensor(kept, dtype=torch.bool, device=device)
        return verifiers.univer(*given, uniforms=numbers)

    return check_tokens(groups, call)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("v", "depth", "fixed", "drawn"), HYBRID)
def test_univer(v, depth, fixed, drawn, seed, device):
    p, m, trees, endings = hybrid_of(seed, v, depth, fixed, drawn)
    assert distance(univer_on(p, m, trees, endings, device), p, v, depth) == 0


def paths_of(q, k, depth):
    """Yields (chance, paths) of every tuple of `k` independent paths."""
    single = [(chance, x) for chance, x in trees_of_paths(q, depth)]
    yield from reference.product_of([single] * k)


def trees_of_paths(q, depth, prefix=()):
    """Returns (chance, path) of every path."""
    if depth == 0:
        return [(Fraction(1), prefix)]
    return [
        (c * chance, path)
        for x, c in enumerate(q(prefix))
        if c > 0
        for chance, path in trees_of_paths(q, depth - 1, (*prefix, x))
    ]


def check_paths(verify, decide, places, p, q, k, depth, device):
    """Checks that `verify`, given paths or their tree, returns the tokens of decide(p, q, paths, numbers) in every
    branch, and that these tokens have the target's distribution.
    """
    rows = []
    for chance, paths in paths_of(q, k, depth):
        for weight, numbers, tokens in branches(lambda numbers, paths=paths: decide(p, q, paths, numbers)):
            rows += [(chance * weight / 2, paths, u, tokens) for u in ends_of(numbers, places)]
    p_rows = torch.stack(
        [torch.stack([table([p(t[:i]) for i in range(depth + 1)], device) for t in r[1]]) for r in rows]
    )
    q_rows = torch.stack([torch.stack([table([q(t[:i]) for i in range(depth)], device) for t in r[1]]) for r in rows])
    drafts = torch.tensor([row[1] for row in rows], device=device)
    numbers = table([row[2] for row in rows], device)
    result = verify(p_rows, q_rows, drafts, uniforms=numbers)
    emitted = emitted_by(result)
    assert emitted == [row[3] for row in rows]
    for text, row, i in zip(emitted, rows, result[2].tolist(), strict=True):
        assert tuple(text[:-1]) == row[1][i][: len(text) - 1]
    assert distance([(row[0], tokens) for row, tokens in zip(rows, emitted, strict=True)], p, len(p(())), depth) == 0
    n = k * depth
    numbers = torch.nn.functional.pad(numbers, (0, (places - 1) // max(depth, 1) * (n - depth)), value=0.5)
    parents = torch.arange(-1, n - 1).reshape(k, depth).index_fill(1, torch.tensor([0]), -1).flatten()
    after = torch.cat([p_rows[:, :1, 0], p_rows[:, :, 1:].flatten(1, 2)], dim=1)
    tree = verify(after, q_rows.flatten(1, 2), drafts.flatten(1), parents.to(device), uniforms=numbers)
    assert torch.equal(tree[0], result[0]) and torch.equal(tree[1], result[1])
    for text, row, i in zip(emitted, rows, tree[2].tolist(), strict=True):
        path, place = divmod(i, depth)
        assert i == -1 if len(text) == 1 else row[1][path][: place + 1] == tuple(text[:-1])


PATHS = [(2, 2, 1), (2, 2, 2), (2, 2, 3), (3, 1, 3), (3, 2, 2), (4, 1, 2)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("v", "depth", "k"), PATHS)
def test_greedy_multipath_block(v, depth, k, seed, device):
    p, q = model_of(seed, v, depth), model_of(seed + 100, v, depth)
    verify, decide = verifiers.greedy_multipath_block, reference.greedy_multipath_block
    check_paths(verify, decide, depth + 1, p, q, k, depth, device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("v", "depth", "k"), PATHS)
def test_ladder_block(v, depth, k, seed, average, device):
    p, q = model_of(seed, v, depth), model_of(seed + 100, v, depth)
    verify, decide = partial(verifiers.ladder_block, average=average), partial(ladder_block, average=average)
    check_paths(verify, decide, 3 * depth + 1, p, q, k, depth, device)


# Variants with a bug, under which the first token does not have the target's distribution.

B = 20_000
P, Q = [0.125, 0.5, 0.375], [0.5, 0.375, 0.125]


def rows_of(*rows):
    return table(rows).expand(B, -1, -1)


def traversal_of_two(generator):
    """Returns the result of traversal on two draws without replacement."""
    drafts = verifiers.draft_gumbel_top_k(rows_of(Q)[:, 0], 2, generator=generator)
    parents = torch.tensor([-1, -1])
    return verifiers.traversal(rows_of(P, P, P), rows_of(Q, Q), drafts, parents, generator=generator)


def univer_of_two(generator):
    """Returns the result of UniVer; token 1 is fixed, and the other child is drawn from the rest of q."""
    m = [0.8, 0.0, 0.2]
    drafts = torch.cat(
        [torch.ones(B, 1, dtype=torch.int64), verifiers.draft_iid(rows_of(m)[:, 0], 1, generator=generator)], dim=1
    )
    tree = torch.tensor([-1, -1]), torch.tensor([True, False])
    return verifiers.univer(rows_of(P, P, P), rows_of(m, m), drafts, *tree, generator=generator)


def greatest_of_two(generator):
    """Returns the result of greedy multi-path block verification of two paths of one token."""
    drafts = verifiers.draft_iid(rows_of(Q)[:, 0], 2, generator=generator)[:, :, None]
    p, q = rows_of(P, P)[:, None].expand(-1, 2, -1, -1), rows_of(Q)[:, None].expand(-1, 2, -1, -1)
    return verifiers.greedy_multipath_block(p, q, drafts, generator=generator)


def siblings_forgotten(self, rows, nodes, children):
    """Leaves the q-mass of a refused sibling in the proposal of the next sibling, which is drawn without it."""
    type(self).right(self, rows, nodes, children)
    self.unseen[rows, nodes] = 1.0


def weight_forgotten(self, rows, nodes):
    """Returns the two weights of a node's test as if the node had weight 1, so that it is accepted with certainty."""
    return (torch.ones(len(rows), dtype=torch.float64),) * 2


def target_again(self, rows, nodes):
    """Returns p as the weights of the last token."""
    return self.at.p_row(rows, nodes)


def cascade(self, rows, nodes, children):
    """Returns the weights of children: w p for a fixed child, and min(1, w p / q) for a drawn child."""
    weight = self.weight[rows, nodes] * self.p_at[rows, children]
    drawn = (weight / self.q_at[rows, children]).clamp(max=1)
    return torch.where(self.fixed[rows, children], weight, torch.where(weight > 0, drawn, 0.0))


def correction_on_children(self, rows, nodes):
    """Returns weights of the last token that include the fixed children that were refused."""
    fixed, self.fixed = self.fixed, torch.zeros_like(self.fixed)
    weights = type(self).right(self, rows, nodes)
    self.fixed = fixed
    return weights


def as_drawn_from_q(self, paths, high, low):
    """Returns 1 in place of the difference of powers, so that the greatest path is verified like a single draw of q."""
    return torch.ones_like(high)


def only_the_first_group(self, bin_):
    """Yields only the first group of the bin, with share 1, as if the bin were in this group at every level."""
    a, b, share = next(type(self).right(self, bin_))
    yield a, b, torch.ones_like(share)


def worst_ratio_first(self, rows, p, q):
    """Stores the reverse of the order of the weights, so that the index of the correction becomes a wrong token."""
    order = type(self).right(self, rows, p, q)
    self.order[rows] = order.flip(1)
    return order


WRONG = {
    "traversal without the q-mass of siblings": (traversal_of_two, "Traversal", "refused", siblings_forgotten),
    "traversal with certain leaves": (traversal_of_two, "Traversal", "coin", weight_forgotten),
    "traversal with corrections from p": (traversal_of_two, "Traversal", "left", target_again),
    "univer as a cascade": (univer_of_two, "Univer", "weight_of", cascade),
    "univer with corrections on fixed children": (univer_of_two, "Univer", "left", correction_on_children),
    "univer with certain leaves": (univer_of_two, "Univer", "coin", weight_forgotten),
    "the greatest path verified as a draw of q": (greatest_of_two, "GreatestPath", "difference", as_drawn_from_q),
    "the greatest path with a mixed order": (greatest_of_two, "GreatestPath", "reorder", worst_ratio_first),
}
MODULES = {traversal_of_two: "traversal", univer_of_two: "univer", greatest_of_two: "greedy_multipath_block"}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_variants_are_refuted(monkeypatch, wrong):
    """Chi-square with 2 degrees of freedom exceeds 30 with probability 3e-7."""
    sample, owner, method, new = WRONG[wrong]
    module = importlib.import_module(f"draftproof.torch.verifiers.{MODULES[sample]}")
    assert chi_square(sample(torch.Generator().manual_seed(1))[0][:, 0], torch.tensor(P)) < 30
    changed = getattr(module, owner)
    monkeypatch.setattr(changed, "right", getattr(changed, method), raising=False)
    monkeypatch.setattr(changed, method, new)
    assert chi_square(sample(torch.Generator().manual_seed(1))[0][:, 0], torch.tensor(P)) > 60


def test_wrong_number_of_paths_is_refuted(monkeypatch):
    module = importlib.import_module("draftproof.torch.verifiers.ladder_block")
    monkeypatch.setattr(module.Plan, "right", module.Plan.groups, raising=False)
    monkeypatch.setattr(module.Plan, "groups", only_the_first_group)
    with pytest.raises(AssertionError):
        for seed in range(4):
            test_ladder_block(3, 2, 2, seed, True, "cpu")
