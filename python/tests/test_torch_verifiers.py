"""Compares draftproof.torch with verifiers in fractions: distributions branch by branch, and tokens on random rows."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
import test_torch_reference as reference  # noqa: E402

import draftproof.torch as verifiers  # noqa: E402

POSITIONS = [
    "recursive_rejection",
    "recursive_rejection_without_replacement",
    "ladder",
    "ladder_without_replacement",
]
CHAINS = ["single_draft", "block_verification"]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]


def numbers_of(name, drafts, length=0):
    """Returns the number of random numbers that a row may read."""
    more = {"ladder": 4, "ladder_block": 3 * length + 1, "ladder_without_replacement": drafts + 3}
    return more.get(name, drafts + 1)


def table(rows, device="cpu"):
    return torch.tensor([[float(x) for x in row] for row in rows], dtype=torch.float64, device=device)


def ends_of(stretches, places):
    """Yields two lists of random numbers for one branch: just inside the starts of its intervals, and just inside their
    ends. Numbers that the branch does not read are 0.999.
    """
    for share in (Fraction(1, 2**20), 1 - Fraction(1, 2**20)):
        numbers = [float(start + (end - start) * share) for start, end in stretches]
        yield numbers + [0.999] * (places - len(numbers))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize(("p", "q"), reference.POSITIONS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_distribution_at_a_position(name, p, q, k, device):
    p, q, without = reference.distribution_of(p), reference.distribution_of(q), name.endswith("without_replacement")
    if without:
        k = min(k, sum(x > 0 for x in q))
    places, rows = numbers_of(name, k), []
    for chance, drafts in reference.tuples(q, k, without):
        for weight, numbers, result in reference.branches(
            lambda numbers, drafts=drafts: getattr(reference, name)(p, q, drafts, numbers)
        ):
            for u in ends_of(numbers, places):
                rows.append((chance * weight / 2, drafts, u, result))
    b = len(rows)
    token, accepted = getattr(verifiers, name)(
        table([p] * b, device), table([q] * b, device), torch.tensor([row[1] for row in rows], device=device),
        uniforms=table([row[2] for row in rows], device),
    )  # fmt: skip
    assert list(zip(token.tolist(), accepted.tolist(), strict=True)) == [row[3] for row in rows]
    distribution = [sum(row[0] for row, x in zip(rows, token.tolist(), strict=True) if x == y) for y in range(len(p))]
    assert distribution == p


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("length", [0, 1, 2])
def test_distribution_of_a_chain(name, seed, length, device):
    p, q = reference.path_model(seed), reference.path_model(seed + 2)
    rows = []
    for path in itertools.product(range(2), repeat=length):
        chance = Fraction(1)
        for i, x in enumerate(path):
            chance *= q(path[:i])[x]
        distributions = [p(path[:i]) for i in range(length + 1)], [q(path[:i]) for i in range(length)]
        for weight, numbers, result in reference.branches(
            lambda numbers, path=path, distributions=distributions: getattr(reference, name)(
                *distributions, list(path), numbers
            )
        ):
            for u in ends_of(numbers, length + 1):
                rows.append((chance * weight / 2, path, u, result, *distributions))
    p_rows = torch.stack([table(row[4], device) for row in rows])
    q_rows = torch.stack([table(row[5], device).reshape(length, 2) for row in rows])
    drafts = torch.tensor([row[1] for row in rows], dtype=torch.int32, device=device).reshape(len(rows), length)
    numbers = table([row[2] for row in rows], device)
    tokens, counts = getattr(verifiers, name)(p_rows, q_rows, drafts, uniforms=numbers)
    emitted = [t[:n] for t, n in zip(tokens.tolist(), counts.tolist(), strict=True)]
    assert emitted == [row[3] for row in rows]
    assert all(set(t[n:]) <= {-1} for t, n in zip(tokens.tolist(), counts.tolist(), strict=True))
    check_distribution(emitted, [row[0] for row in rows], p, length)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_distribution_of_paths(seed, k, device):
    p, q, length = reference.path_model(seed), reference.path_model(seed + 2), 2
    rows = []
    for paths in itertools.product(itertools.product(range(2), repeat=length), repeat=k):
        chance = Fraction(1)
        for path in paths:
            for i in range(length):
                chance *= q(path[:i])[path[i]]
        for weight, numbers, result in reference.branches(
            lambda numbers, paths=paths: reference.ladder_block(p, q, paths, numbers)
        ):
            for u in ends_of(numbers, 3 * length + 1):
                rows.append((chance * weight / 2, paths, u, result))
    p_rows = torch.stack([torch.stack([table([p(t[:i]) for i in range(3)], device) for t in row[1]]) for row in rows])
    q_rows = torch.stack([torch.stack([table([q(t[:i]) for i in range(2)], device) for t in row[1]]) for row in rows])
    tokens, counts, index = verifiers.ladder_block(
        p_rows, q_rows, torch.tensor([row[1] for row in rows], device=device),
        uniforms=table([row[2] for row in rows], device),
    )  # fmt: skip
    emitted = [t[:n] for t, n in zip(tokens.tolist(), counts.tolist(), strict=True)]
    assert emitted == [row[3] for row in rows]
    check_distribution(emitted, [row[0] for row in rows], p, length)
    for text, row, i in zip(emitted, rows, index.tolist(), strict=True):
        assert tuple(text[:-1]) == row[1][i][: len(text) - 1]


def check_distribution(emitted, chances, p, length):
    """Checks that the tokens, completed by the target, have the target's distribution."""
    distribution = defaultdict(Fraction)
    for tokens, chance in zip(emitted, chances, strict=True):
        for rest in itertools.product(range(2), repeat=length + 1 - len(tokens)):
            text, weight = tuple(tokens), chance
            for x in rest:
                text, weight = (*text, x), weight * p(text)[x]
            distribution[text] += weight
    for text in itertools.product(range(2), repeat=length + 1):
        wanted = Fraction(1)
        for i, x in enumerate(text):
            wanted *= p(text[:i])[x]
        assert distribution[text] == wanted


def random_rows(shape, seed, dtype=torch.float64, zeros=0.2):
    generator = torch.Generator().manual_seed(seed)
    rows = torch.rand(*shape, generator=generator, dtype=torch.float64) ** 3 + 1e-3
    rows = rows * (torch.rand(shape, generator=generator) > zeros)
    rows[..., 0] += 0.01
    return (rows / rows.sum(-1, keepdim=True)).to(dtype)


@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("v", [2, 7, 40])
def test_tokens_at_a_position(name, dtype, v):
    if name == "ladder_without_replacement":
        v = min(v, 9)  # the reference enumerates all sets of 4 tokens
    b, k = 150, 4
    p, q = random_rows((b, v), 1, dtype), random_rows((b, v), 2, dtype)
    # In the first third of the rows p is near q, so that often a late draft or no draft is accepted.
    p[: b // 3] = ((p[: b // 3].double() + 3 * q[: b // 3].double()) / 4).to(dtype)
    without, generator = name.endswith("without_replacement"), torch.Generator().manual_seed(3)
    draw = verifiers.draft_gumbel_top_k if without else verifiers.draft_iid
    drafts = draw(q, min(k, v), generator=generator)
    drafts[::5, 2:] = -1
    u = torch.rand(b, numbers_of(name, drafts.shape[1]), generator=generator, dtype=torch.float64)
    token, accepted = getattr(verifiers, name)(p, q, drafts, uniforms=u)
    verify = getattr(reference, name)
    for i in range(b):
        row = [x for x in drafts[i].tolist() if x >= 0]
        distributions = reference.fractions(p[i]), reference.fractions(q[i])
        assert verify(*distributions, row, reference.Numbers(u[i].tolist())) == (int(token[i]), int(accepted[i])), i
    assert {-1, 0, 1} <= set(accepted.tolist())


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_tokens_of_a_chain(name, dtype):
    b, length, v = 300, 4, 9
    p, q = random_rows((b, length + 1, v), 4, dtype, zeros=0.0), random_rows((b, length, v), 5, dtype)
    q[: b // 2] = ((q[: b // 2].double() + 3 * p[: b // 2, :-1].double()) / 4).to(dtype)
    generator = torch.Generator().manual_seed(6)
    drafts = verifiers.draft_iid(q.flatten(0, 1), 1, generator=generator).reshape(b, length)
    lengths = torch.arange(b) % (length + 1)
    u = torch.rand(b, length + 1, generator=generator, dtype=torch.float64)
    tokens, counts = getattr(verifiers, name)(p, q, drafts, lengths=lengths, uniforms=u)
    for i in range(b):
        n = int(lengths[i])
        distributions = [reference.fractions(row) for row in p[i]], [reference.fractions(row) for row in q[i]]
        wanted = getattr(reference, name)(*distributions, drafts[i, :n].tolist(), reference.Numbers(u[i].tolist()))
        assert tokens[i, : int(counts[i])].tolist() == wanted, i
    padded = torch.where(torch.arange(length) < lengths[:, None], drafts, -1)
    again = getattr(verifiers, name)(p, q, padded, uniforms=u)
    assert torch.equal(again[0], tokens) and torch.equal(again[1], counts)
    assert set(counts.tolist()) == set(range(1, length + 2))


def chi_square(tokens, distribution):
    counts = torch.bincount(tokens, minlength=len(distribution)).double()
    return float(((counts - distribution * len(tokens)) ** 2 / (distribution * len(tokens))).sum())


def test_paths_where_two_are_rare():
    """Tests the case that the ladder skips its plan at a node: V > 64, and two active paths are rare there. The first
    two tokens must have the target's distribution.
    """
    b, v, k, length = 30_000, 80, 3, 2
    generator = torch.Generator().manual_seed(13)
    p, q = [random_rows((n, v), 14 + n, zeros=0.0) for n in (1, v, v)], random_rows((v + 1, v), 20, zeros=0.0)
    p[2] = p[1]
    first = verifiers.draft_iid(q[-1:].expand(b, v), k, generator=generator)
    second = verifiers.draft_iid(q[first.flatten()], 1, generator=generator).reshape(b, k)
    p_rows = torch.stack([p[0].expand(b, k, v), p[1][first], p[2][second]], dim=2)
    q_rows = torch.stack([q[-1].expand(b, k, v), q[first]], dim=2)
    tokens, counts, _ = verifiers.ladder_block(
        p_rows.float(), q_rows.float(), torch.stack([first, second], dim=2), generator=generator, check=False
    )
    assert chi_square(tokens[:, 0], p[0][0]) < 79 + 5 * (2 * 79) ** 0.5
    after = verifiers.draft_iid(p[1][tokens[:, 0]], 1, generator=generator).squeeze(1)
    pairs = torch.where(counts > 1, tokens[:, 1], after)
    assert chi_square(pairs, p[0][0] @ p[1]) < 79 + 5 * (2 * 79) ** 0.5
    assert set(counts.tolist()) == set(range(1, length + 2))
