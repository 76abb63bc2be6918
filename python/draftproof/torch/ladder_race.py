"""F, the probability that drafts without replacement hit the first bins of a ladder, and its slope in each bin (chord).

Each token x has an exponential clock of rate q(x); the first K to ring are the drafts, in that order.

    c, W   q-mass of the bins above a bin, and of the bin
    N'     number of clocks below the bin that have rung by time t; own: the number in the bin
    chord  1/W integral over t of e^(-ct) [W Pr(own = 0) Pr(N' < K) - c sum over k + j < K, j > 0, of
           Pr(N' = k) Pr(own = j)]

If K = 1, F = s (ladder_plan.py). If K = 2, the chord is 1 + R(below) - c R(bin) / W, where R is the sum of q / (1 - q)
over tokens. Else the integral is computed by the trapezoid rule in log t, for all bins and times at once. A
distribution of a number of clocks is a polynomial whose coefficient k is the probability of k; a sum of independent
numbers has the product of their polynomials, so the distributions of N' of all bins are running products.

Correctness: docs/ladder.md, "Without replacement". All terms are of the order of the bin's mass, so narrow bins keep
their precision. With n nodes an octave the rule errs by at most 2 (sec d)^K e^(-2 pi n d / ln 2) of each term for any d
below pi / 2; with tan d = 2 pi n / (K ln 2) and n = 4 for each 8 drafts that is below 1e-15.
"""

from __future__ import annotations

from math import ceil, comb, exp, factorial, gamma, log, log2

import torch
from torch import Tensor

POWERS = 7
FAINTEST = 2.0**-960
"""Smallest share of the q-mass that a token may have, so that all rates, times and their ratios are normal numbers."""
LONGEST = 45.0
"""For K <= 16 the nodes end later than 1.68 LONGEST, in units of 1 / rate; for larger K at K / 16 times that, because
K clocks take longer. A Poisson number with this mean is below K with a probability of less than 1e-19."""
CELLS = 1 << 22
"""Largest number of elements of an array of the integral. If all nodes need more, they are split into chunks."""


def coverage(q: Tensor, bins: Tensor, q_bin: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Returns chords of F on the bins [R, n], and F at the breaks [R, n + 1], for `lengths` [R] drafts.

    `q` [R, V] has sums 1 and no masses between 0 and FAINTEST; bins of several tokens have only tokens of small q
    (`ladder_plan.bins_of`).
    Cost: for K > 2 O(K^2 n M), M nodes: 4 (K <= 8) an octave from about 1e-16^(1/K) to 45 over the q-mass of all but
    the K - 1 largest tokens. Rows are computed together if they have this mass in the same interval of 32 octaves.
    """
    tokens = torch.zeros_like(q_bin).scatter_add_(1, bins, (q > 0).to(q.dtype))
    drafts = torch.minimum(lengths.clamp(min=1), tokens.sum(1).long())
    chords = torch.ones_like(q_bin)
    for k in drafts.unique().tolist():
        rows = (drafts == k).nonzero().squeeze(1)
        if k == 2:
            chords[rows] = pairs(q[rows], bins[rows], q_bin[rows])
        elif k > 2:
            slowest = slowest_of(q[rows], k)
            interval = (slowest.log2() / 32).floor()
            for one in interval.unique():
                at, chosen = interval == one, rows[interval == one]
                chords[chosen] = race(q[chosen], bins[chosen], q_bin[chosen], tokens[chosen], slowest[at], k)
    # If fewer than K tokens are below a break, some draft is certainly above the break, so F is set to exactly 1.
    below = tokens.flip(1).cumsum(1).flip(1)
    chords = torch.where((below < drafts[:, None]) | (q_bin == 0), 0.0, chords.clamp_(min=0))
    f = torch.nn.functional.pad((chords * q_bin).cumsum(1), (1, 0)).clamp_(max=1)
    f[:, 1:-1] = torch.where(below[:, 1:] < drafts[:, None], 1.0, f[:, 1:-1])
    f[:, -1] = 1
    return chords, f


def pairs(q: Tensor, bins: Tensor, q_bin: Tensor) -> Tensor:
    """Returns chords for two drafts [R, n]."""
    top = q.argmax(1, keepdim=True)
    rest = (1 - q).scatter(1, top, q.scatter(1, top, 0.0).sum(1, keepdim=True))  # 1 - q, accurate near q = 1 too
    odds = torch.zeros_like(q_bin).scatter_add_(1, bins, q / rest)
    below = torch.nn.functional.pad(odds[:, 1:].flip(1).cumsum(1).flip(1), (0, 1))
    return 1 + below - mass_above(q_bin) * (odds / q_bin.clamp(min=torch.finfo(q.dtype).tiny))


def mass_above(q_bin: Tensor) -> Tensor:
    return torch.nn.functional.pad(q_bin.cumsum(1)[:, :-1], (1, 0))


def race(q: Tensor, bins: Tensor, q_bin: Tensor, tokens: Tensor, slowest: Tensor, k: int) -> Tensor:
    """Returns chords for k > 2 drafts [R, n]. `slowest` [R] is the result of `slowest_of`."""
    above = mass_above(q_bin)
    an_octave = 4 * ceil(k / 8)
    # At times t before the start, `before` ignores that K clocks may have rung. This has probability at most t^k / k!,
    # so the error for a bin of mass W is at most W t^k / (k - 1)! = 1e-16 W.
    start = min(0.125, (1e-16 * gamma(k)) ** (1 / k))
    longest = LONGEST * max(1, k / 16)
    octaves = ceil(log2(longest / float(slowest.min()) / start)) + 1
    times = start * torch.exp2(torch.arange(octaves * an_octave, dtype=q.dtype, device=q.device) / an_octave)
    scale = slowest[:, None]
    sums = power_sums(q / scale, bins, q_bin) if bool((tokens > 1).any()) else None
    chords = before(start, an_octave, above, q_bin)
    for part in times.split(max(1, CELLS // (q_bin.numel() * k))):
        # A node after the last one of a row, which other rows of the batch need, counts as 0: powers of t could be
        # infinite there.
        used = part <= 2 * longest / scale
        t = torch.where(used, part, longest / scale)
        own = own_distribution(t, t * scale, q_bin, tokens, sums, k)
        chords += integrand(t, used, above, q_bin, own)
    return chords * (log(2) / an_octave)


def slowest_of(q: Tensor, k: int) -> Tensor:
    """Returns the rate at which the integrand decays, [R]: the total mass of all tokens except the k - 1 largest."""
    largest = q.topk(k - 1, dim=1).indices
    return q.scatter(1, largest, 0.0).sum(1)


def before(start: float, an_octave: int, c: Tensor, width: Tensor) -> Tensor:
    """Returns the sum over the nodes at times below `start`, in units of the rule's step, [R, n].

    At these times the integrand divided by W is ((c + W) e^(-(c + W) t) - c e^(-ct)) / W, a power series in t. Because
    the times have equal ratios, the sum of each power over the times is a geometric series.
    """
    total, mix, last, factor, m = torch.zeros_like(c), torch.ones_like(c), torch.ones_like(c), start, 0
    while abs(factor) * (m + 2) > 1e-17 * start:
        ratio = exp(-(m + 1) * log(2) / an_octave)
        total += mix * (factor * ratio / (1 - ratio))
        factor *= -start / (m + 1)
        last = last * c
        mix = mix * (c + width) + last
        m += 1
    return total


def integrand(t: Tensor, used: Tensor, c: Tensor, width: Tensor, own: Tensor) -> Tensor:
    """Returns [R, n]: the sum over the times t [R, M] that are `used` of t times the integrand divided by W. `own` is
    [R, n, K, M]."""
    k = own.shape[2]
    fewer = below_each(own).cumsum(2)  # Pr(N' <= k)
    both = (own[:, :, 1:] * fewer[:, :, : k - 1].flip(2)).sum(2)
    share = torch.where(width > 0, c / width, 0.0)[:, :, None]
    term = own[:, :, 0] * fewer[:, :, -1] - share * both
    return ((-c[:, :, None] * t[:, None]).exp() * term * (t * used)[:, None]).sum(2)


def times_distribution(a: Tensor, b: Tensor) -> Tensor:
    """Returns the distribution [.., K, M] of the sum of two independent numbers, for values of the sum below K."""
    k = a.shape[-2]
    out = a[..., :1, :] * b
    for j in range(1, k):
        out[..., j:, :] += a[..., j : j + 1, :] * b[..., : k - j, :]
    return out


def below_each(own: Tensor) -> Tensor:
    """Returns the distribution [R, n, K, M] of the number of clocks below each bin that have rung. Running products are
    computed within blocks of sqrt(n) bins, and then over the blocks.
    """
    n = own.shape[1]
    size = max(1, round(n**0.5))
    count = ceil(n / size)
    none = torch.zeros_like(own[:, 0])
    none[:, 0] = 1
    own = torch.cat([own, none[:, None].expand(-1, count * size - n, -1, -1)], dim=1).unflatten(1, (count, size))
    within = torch.empty_like(own)
    product = none[:, None].expand_as(own[:, :, 0])
    for i in reversed(range(size)):
        within[:, :, i] = product
        product = times_distribution(product, own[:, :, i])
    after = torch.empty_like(product)
    rest = none
    for i in reversed(range(count)):
        after[:, i] = rest
        rest = times_distribution(rest, product[:, i])
    return times_distribution(within, after[:, :, None].expand_as(within)).flatten(1, 2)[:, :n]


def power_sums(q: Tensor, bins: Tensor, q_bin: Tensor) -> Tensor:
    """Returns the sums of q^m over the tokens of each bin, m = 1 .. POWERS, [POWERS, R, n]."""
    sums, power = [], torch.ones_like(q)
    for _ in range(POWERS):
        power = power * q
        sums.append(torch.zeros_like(q_bin).scatter_add_(1, bins, power))
    return torch.stack(sums)


def own_distribution(t: Tensor, scaled: Tensor, q_bin: Tensor, tokens: Tensor, sums: Tensor | None, k: int) -> Tensor:
    """Returns the distribution of the number of clocks of each bin that have rung by t [R, M], below K: [R, n, K, M].
    `scaled` [R, M] is t in units of 1 / slowest, and `sums` have q in units of slowest, as powers of t and q could
    leave the range of float64.

    For bins of several tokens, Pr(k) = e^(-Wt) e_k, where e_k are the elementary symmetric functions of e^(qt) - 1,
    which Newton's identities give from its power sums. The m-th power sum is the sum over i of m! S(i, m) / i! t^i
    times the sum of q^i, with S the Stirling numbers of the second kind.
    """
    x, scaled = q_bin[:, :, None] * t[:, None], scaled[:, None]
    distribution = torch.zeros(*q_bin.shape, k, t.shape[1], dtype=t.dtype, device=t.device)
    distribution[:, :, 0] = (-x).exp()
    distribution[:, :, 1] = -torch.expm1(-x)
    if sums is None:
        return distribution
    powers = []
    for m in range(1, min(POWERS, k - 1) + 1):
        value = torch.zeros_like(x)
        for i in range(POWERS, m - 1, -1):
            surjections = sum((-1) ** (m - j) * comb(m, j) * j**i for j in range(m + 1))
            value = value * scaled + sums[i - 1][:, :, None] * (surjections / factorial(i))
        powers.append(value * scaled**m)
    symmetric = [distribution[:, :, 0]]
    for j in range(1, k):
        signed = ((-1) ** (m - 1) * powers[m - 1] * symmetric[j - m] for m in range(1, min(j, len(powers)) + 1))
        symmetric.append(torch.stack(list(signed)).sum(0) / j)
    return torch.where((tokens > 1)[:, :, None, None], torch.stack(symmetric, dim=2), distribution)
