"""Tests of the plans of ladders: edges of hulls, the optimum, buckets."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
import ladder_reference  # noqa: E402
from test_torch_verifiers import chi_square, random_rows, table  # noqa: E402

import draftproof.torch as verifiers  # noqa: E402
from draftproof.torch import ladder_plan  # noqa: E402
from draftproof.torch.ladder_race import coverage  # noqa: E402


@pytest.mark.parametrize("n", [1, 2, 17, 1023, 1024, 3000])
@pytest.mark.parametrize("roughness", [0.0, 0.01, 1.0])
def test_hull_edges(n, roughness):
    """Compares edges with the concave hull that a stack of corners builds. At the larger lengths hull_edge first
    searches a coarser hull."""
    b, generator = 40, torch.Generator().manual_seed(n)
    steps = torch.rand(b, n, generator=generator, dtype=torch.float64) ** 4 + 1e-9
    s = torch.nn.functional.pad(steps.cumsum(1), (1, 0))
    s = s / s[:, -1:]
    y = 1 - (1 - s) ** 3 + roughness * torch.rand(b, n + 1, generator=generator, dtype=torch.float64)
    bins = torch.randint(0, n, (b,), generator=generator)
    given = s.clone(), y.clone(), bins.clone()
    left, right = ladder_plan.hull_edge(s, y, bins)
    assert all(torch.equal(x, z) for x, z in zip(given, (s, y, bins), strict=True))
    for row in range(b):
        corners, points = [], list(zip(s[row].tolist(), y[row].tolist(), strict=True))
        for i, (x, height) in enumerate(points):
            while len(corners) > 1:
                (x0, y0), (x1, y1) = points[corners[-2]], points[corners[-1]]
                if (y1 - y0) * (x - x0) > (height - y0) * (x1 - x0):
                    break
                corners.pop()
            corners.append(i)
        bin_ = int(bins[row])
        assert int(left[row]) == max(i for i in corners if i <= bin_)
        assert int(right[row]) == min(i for i in corners if i > bin_)


def one_hot(b, k):
    distribution = torch.zeros(b, k, dtype=torch.float64)
    distribution[:, -1] = 1
    return distribution


@pytest.mark.parametrize("k", [1, 2, 3, 8])
@pytest.mark.parametrize("buckets", [None, 64, 1024])
def test_ladder_is_optimal(k, buckets):
    b, v = 4, 12
    p, q = random_rows((b, v), 10), random_rows((b, v), 11, zeros=0.0)
    selected = ladder_plan.plan(p, q, one_hot(b, k), buckets).selected(torch.arange(b))
    assert torch.allclose(selected.sum(1), torch.ones(b, dtype=torch.float64), rtol=0, atol=2.0**-48)
    sets = torch.tensor(list(itertools.product([0.0, 1.0], repeat=v)), dtype=torch.float64)
    best = 1 + (1 - (1 - q @ sets.T).clamp(min=0) ** k - p @ sets.T).amin(1)
    accepted = torch.minimum(p, selected).sum(1)
    assert bool((accepted <= best + 2.0**-48).all())
    # All tokens of a bucket have the same p_I / q, where p_I is the distribution of the selected draft. Therefore at
    # most w / 4 of the bucket's q-mass is lost, where w is the width of its interval of p / q:
    # w <= (2^(16 / buckets) - 1) p / q.
    loss = 2.0**-48 if buckets is None else (2 ** (16 / buckets) - 1) / 4
    assert bool((accepted >= best - loss).all())


def distinct_plan(p, q, k, buckets=None, singles=0):
    def of_k(*given):
        return coverage(*given, torch.full((len(p),), k))

    return ladder_plan.plan(p, q, one_hot(len(p), k), buckets, singles, of_k)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_ladder_without_replacement_is_optimal(k):
    b, v = 3, 6
    p, q = random_rows((b, v), 10), random_rows((b, v), 11, zeros=0.0)
    q[0] = torch.tensor([1 - 2.0**-20] + [2.0**-23] * 4 + [2.0**-21], dtype=torch.float64)  # a peak
    selected = distinct_plan(p, q, k).selected(torch.arange(b))
    assert torch.allclose(selected.sum(1), torch.ones(b, dtype=torch.float64), rtol=0, atol=2.0**-48)
    sets = [s for n in range(v + 1) for s in itertools.combinations(range(v), n)]
    for row, (target, proposal) in enumerate(zip(p.tolist(), q.tolist(), strict=True)):
        proposal = [Fraction(x) / sum(map(Fraction, proposal)) for x in proposal]
        best = 1 + min(float(ladder_reference.hit(proposal, s, k)) - sum(target[x] for x in s) for s in sets)
        assert abs(float(torch.minimum(p[row], selected[row]).sum()) - best) < 2.0**-48


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("smallest", [60, 300, 958])
def test_peaked_rows_without_replacement_have_their_slopes_of_f(k, smallest):
    """A row with masses from 1 down to 2^-smallest, and a flat row of the same batch."""
    v = 6
    q = table([[2.0 ** -(smallest * i // (v - 1)) for i in range(v)], [1 / v] * v])
    p = random_rows((2, v), 12)
    made = distinct_plan(p, q, k)
    assert made.chords is not None
    order = made.bins.argsort(dim=1, stable=True).tolist()
    for row, tokens in enumerate(order):
        exact = [Fraction(x) for x in q[row].tolist()]
        exact = [x / sum(exact) for x in exact]
        f = [ladder_reference.hit(exact, tokens[:i], k) for i in range(v + 1)]
        for i, token in enumerate(tokens):
            wanted = float((f[i + 1] - f[i]) / exact[token])
            assert float(made.chords[row, i]) == pytest.approx(wanted, rel=1e-9), (row, i)


@pytest.mark.parametrize(("v", "k"), [(1000, 32), (200, 64), (1000, 64), (1000, 100)])
def test_f_of_many_drafts_of_a_uniform_proposal(v, k):
    """f of the first i of V equal tokens is 1 - C(V - i, K) / C(V, K). A running product of V distributions of K
    numbers has some V K roundings."""
    q = table([[1 / v] * v])
    made = distinct_plan(torch.linspace(2, 1, v, dtype=torch.float64)[None], q, k)
    wanted = [1 - Fraction(comb(v - i, k), comb(v, k)) for i in range(v + 1)]
    assert made.f[0].tolist() == pytest.approx([float(x) for x in wanted], rel=0, abs=v * k * 2.0**-53)


def test_peaked_rows_in_buckets_are_as_in_a_batch_of_their_own():
    v, k = 2000, 8
    logits = 2.5 * torch.randn(4, v, generator=torch.Generator().manual_seed(13), dtype=torch.float64)
    logits[:, 0] = logits.amax(1) + 10
    temperature = table([[1.0], [0.15], [0.1], [0.08]])
    p, q = (logits.roll(1, 1) / temperature).softmax(1), (logits / temperature).softmax(1)
    q = torch.where(q < 2.0**-960, 0.0, q)
    chords = distinct_plan(p, q, k, 64, 1024 + k - 1).chords
    assert chords is not None and bool(chords.isfinite().all())
    for row in range(4):
        alone = distinct_plan(p[row : row + 1], q[row : row + 1], k, 64, 1024 + k - 1).chords
        assert alone is not None and torch.allclose(chords[row], alone[0], rtol=1e-9, atol=0)


@pytest.mark.parametrize("faint", [1e-280, 1e-300, 1e-310])
def test_tokens_that_are_hardly_ever_drawn_do_not_decide(faint):
    p, q = table([[faint, 0.3, 0.3, 0.2, 0.2]]).expand(300, -1), table([[faint, 0.4, 0.3, 0.2, 0.1]]).expand(300, -1)
    drafts = verifiers.draft_gumbel_top_k(q, 3, generator=torch.Generator().manual_seed(5))
    token, index = verifiers.ladder_without_replacement(p, q, drafts, generator=torch.Generator().manual_seed(6))
    assert bool((index >= 0).all()) and bool((token > 0).all())  # three drafts of four tokens: always accepted
    peaked = table([[1 - 1e-9, 1e-9, faint, faint]])
    for first, second in ((p[:1, :4], peaked), (peaked, peaked)):
        token, index = verifiers.ladder_without_replacement(first, second, torch.tensor([[0, 1, 2]]), check=False)
        assert 0 <= int(token) < 4 and (int(index) == -1 or int(index) == int(token))


@pytest.mark.parametrize("k", [2, 3, 9])
def test_buckets_without_replacement_have_the_f_of_their_tokens(k):
    """Compares f at the ends of buckets, computed by power sums, with f computed token by token in the order of the
    buckets."""
    b, v = 2, 2000
    p, q = random_rows((b, v), 15), random_rows((b, v), 16, zeros=0.0)
    made = distinct_plan(p, q, k, 16, 1024 + k - 1)
    assert int((made.q_bin > 0).sum(1).max()) < v
    order = made.bins.argsort(dim=1, stable=True)
    alone = distinct_plan(torch.linspace(2, 1, v, dtype=torch.float64) * q.gather(1, order), q.gather(1, order), k)
    ends = torch.zeros_like(made.q_bin).scatter_add_(1, made.bins, torch.ones_like(q)).cumsum(1).long()
    assert torch.allclose(made.f[:, 1:], alone.f.gather(1, ends), rtol=0, atol=2.0**-45)
    assert torch.allclose(made.selected(torch.arange(b)).sum(1), torch.ones(b, dtype=torch.float64), rtol=0, atol=1e-13)


@pytest.mark.parametrize("k", [2, 3])
def test_ladder_in_buckets_has_the_target(k):
    p, q, b = [0.25, 0.35, 0.05, 0.3, 0.05], [0.3, 0.1, 0.25, 0.15, 0.2], 40_000
    generator = torch.Generator().manual_seed(12)
    p_rows, q_rows = table([p]).expand(b, -1), table([q]).expand(b, -1)
    assert len(set(ladder_plan.plan(p_rows[:1], q_rows[:1], one_hot(1, k), 6).bins[0].tolist())) < 5
    drafts = verifiers.draft_iid(q_rows, k, generator=generator)
    token, accepted = verifiers.ladder(p_rows, q_rows, drafts, generator=generator, buckets=6)
    assert chi_square(token, torch.tensor(p)) < 27  # 4 degrees of freedom: probability 2e-5
    assert bool((token == drafts.gather(1, accepted.clamp(min=0)[:, None]).squeeze(1))[accepted >= 0].all())
