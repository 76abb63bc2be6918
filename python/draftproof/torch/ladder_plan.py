"""The ladder, for many rows at once: selects one of K i.i.d. drafts such that the distribution of the selected draft is
known and gives the largest acceptance.

Tokens are in bins by p / q descending. s_i and P_i are the q- and p-mass of the first i bins, P_i with the tokens of
q = 0, and f(s) is the probability that some draft falls in the first s of q.

    D_i    (P_i - f(s_i))+                 target mass above break i, less the probability that a draft falls there
    M_i    running maximum of D towards its argmax, from both sides
    G_i    P_i - M_i                       mass of the selected draft in the first i bins: concave, at most f
    slope  of G                            distribution of the selected draft over q, in each bin
    c_i    level of break i                the break is up if a uniform u is below it

The levels are not computed. Let H_t be G minus the integral, over u from 0 to t, of f interpolated between the breaks
that are up for u. At breaks that are up for t, H_t is G - t f, and everywhere else at least G - t f; it is concave and
straight between breaks that are up. So H_t is the least concave function above G - t f, and **break i is up for u
exactly if it is a corner of the upper hull of G - u f**. A decision needs one edge of that hull: the one over the bin
of its best draft.

Correctness: in real arithmetic the distribution of the selected draft is q times the slope of G (docs/ladder.md). In
float64 G, f and the running sums are off by some roundings of 2^-53 a token, so the distribution is off by about
V 2^-53, like every draw by running sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor


@dataclass
class Plan:
    """The plan of R rows with V tokens in n bins; the module's docstring defines s, f, P and M."""

    p: Tensor  # [R, V], each row has sum 1
    q: Tensor  # [R, V], each row has sum 1
    bins: Tensor  # [R, V] bin of each token
    p_bin: Tensor  # [R, n]
    q_bin: Tensor  # [R, n]
    distribution: Tensor  # [R, K], of the number of drafts
    s: Tensor  # [R, n + 1]
    f: Tensor  # [R, n + 1]
    target: Tensor  # [R, n + 1], P
    missed: Tensor  # [R, n + 1], M
    plain: Tensor  # [R] whether the selected draft has distribution q: one draft, or p = q
    chords: Tensor | None = None  # [R, n] slope of f in each bin, if drafts are not independent

    @property
    def size(self) -> int:
        """Number of bins."""
        return int(self.q_bin.shape[1])

    def edge(self, u: Tensor, bin_: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the group of each bin [R] at level u [R]: the bins [a, b) between two neighbouring breaks that are
        up."""
        return hull_edge(self.s, (self.target - self.missed).sub_(u[:, None] * self.f), bin_)

    def groups(self, bin_: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yields the groups [a, b) of each bin [R] as the level u goes from 0 to 1, and for each group the length [R]
        of its interval of u. The lengths of a row sum to 1; a row whose u has reached 1 has length 0.

        The edge of the hull of G - u f from a to b stays an edge until another point reaches the line through both.
        Cost: a pass over the bins for each group, up to n of them for n bins.
        """
        s, f, g = self.s, self.f, self.target - self.missed
        place, u = torch.arange(self.size + 1, device=s.device), torch.zeros_like(s[:, 0])
        a, b = hull_edge(s, g, bin_)
        while True:
            ends = torch.stack([a, b], dim=1)
            s_a, s_b = s.gather(1, ends).split(1, dim=1)

            def above_line(y: Tensor, ends: Tensor = ends, s_a: Tensor = s_a, s_b: Tensor = s_b) -> Tensor:
                y_a, y_b = y.gather(1, ends).split(1, dim=1)
                return y * (s_b - s_a) - (y_a * (s_b - s) + y_b * (s - s_a))

            over, fall = above_line(g), above_line(f)
            outside = ((place < a[:, None]) | (place > b[:, None])) & (fall < 0)
            until, first = torch.where(outside, over / fall, torch.inf).min(1)
            until = until.clamp(max=1).maximum(u)
            yield a, b, until - u
            u = until
            live = u < 1
            if not bool(live.any()):
                return
            a, b = torch.where(live, a.minimum(first), a), torch.where(live, b.maximum(first), b)

    def slope_at(self, bin_: Tensor) -> Tensor:
        """Returns the distribution of the selected draft divided by q, in one bin of each row, [R]."""
        at, ends = bin_[:, None], bin_[:, None] + torch.arange(2, device=bin_.device)
        s, f, target, missed = (x.gather(1, ends) for x in (self.s, self.f, self.target, self.missed))
        of_f = chord(self.distribution, s) if self.chords is None else self.chords.gather(1, at)
        masses = self.p_bin.gather(1, at), self.q_bin.gather(1, at)
        return slopes(*masses, of_f, f, target, missed, self.plain).squeeze(1)

    def selected(self, rows: Tensor) -> Tensor:
        """Returns the distribution of the selected draft in these rows, [len(rows), V]."""
        of_f = chord(self.distribution[rows], self.s[rows]) if self.chords is None else self.chords[rows]
        held = (self.f[rows], self.target[rows], self.missed[rows], self.plain[rows])
        slope = slopes(self.p_bin[rows], self.q_bin[rows], of_f, *held)
        return slope.gather(1, self.bins[rows]).mul_(self.q[rows])


def slopes(
    p_bin: Tensor, q_bin: Tensor, of_f: Tensor, f: Tensor, target: Tensor, missed: Tensor, plain: Tensor
) -> Tensor:
    """Returns the slope of G in each of m bins, [R, m], from values at the bins [R, m] and at their breaks [R, m + 1].

    The slope of f where G touches it, and p / q where M rests, stay accurate on narrow bins, unlike differences of
    sums.
    """
    touches = missed == target - f
    share = torch.where(q_bin > 0, (p_bin - missed.diff(dim=1)).clamp_(min=0) / q_bin, 0.0)
    return torch.where(plain[:, None], 1.0, torch.where(touches[:, 1:] & touches[:, :-1], of_f, share))


def none_of(distribution: Tensor, a: Tensor) -> Tensor:
    """Returns the probability that no draft falls in mass 1 - a, [R, n]; distribution[:, m - 1] is the probability of m
    drafts, [R, K].
    """
    mean = torch.zeros_like(a)
    for m in reversed(range(distribution.shape[1])):
        mean.add_(distribution[:, m : m + 1]).mul_(a)
    return mean


def chord(distribution: Tensor, s: Tensor) -> Tensor:
    """Returns the slope of f between neighbouring breaks s [R, m + 1]. The slope is computed as a sum of products,
    because a difference of values of f would cancel on narrow bins."""
    a, b = (1 - s)[:, :-1], (1 - s)[:, 1:]
    total = distribution[:, :1].expand_as(a)
    both, power = torch.ones_like(a), torch.ones_like(a)
    for degree in range(1, distribution.shape[1]):
        power = power * b
        both = torch.addcmul(power, a, both)
        total = torch.addcmul(total, distribution[:, degree : degree + 1], both)
    return total


def bins_of(p: Tensor, q: Tensor, buckets: int | None, singles: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the bins of the tokens [R, V], and p- and q-masses of the bins [R, n], by p / q descending.

    Tokens with q = 0 < p come first, those with p = q = 0 last; the q-mass of both bins is 0. `buckets` of equal steps
    of log(p / q) from 2^8 down to 2^-8 replace single tokens, except the `singles` tokens of largest q.
    """
    ratio = torch.where(q > 0, p / q, torch.where(p > 0, torch.inf, -1.0))
    if buckets is None or singles >= p.shape[1]:
        order = ratio.argsort(dim=1, descending=True, stable=True)
        bins = torch.empty_like(order)
        bins.scatter_(1, order, torch.arange(p.shape[1], device=p.device).expand_as(order))
        return bins, p.gather(1, order), q.gather(1, order)
    step = ((8 - ratio.clamp(min=0).log2()) * (buckets / 16)).clamp(0, buckets - 1).long() + 1
    bins = torch.where(q > 0, step, torch.where(p > 0, 0, buckets))
    if singles > 0:
        place = torch.arange(buckets + 1, buckets + 1 + singles, device=p.device)
        bins = bins.scatter(1, q.topk(singles, dim=1).indices, place.expand(len(p), -1))
    empty = torch.zeros(len(p), buckets + 1 + singles, dtype=p.dtype, device=p.device)
    p_bin, q_bin = empty.scatter_add(1, bins, p), empty.scatter_add(1, bins, q)
    if singles == 0:
        return bins, p_bin, q_bin
    rank, p_bin, q_bin = bins_of(p_bin, q_bin, None)
    return rank.gather(1, bins), p_bin, q_bin


Coverage: TypeAlias = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
"""Chords of f [R, n], and f at the breaks [R, n + 1], from q [R, V], bins [R, V] and q-masses of the bins [R, n]."""


def plan(
    p: Tensor, q: Tensor, distribution: Tensor, buckets: int | None, singles: int = 0, coverage: Coverage | None = None
) -> Plan:
    """Returns the plan for rows p and q [R, V] of any positive sums. `distribution` [R, K] is the distribution of the
    number of drafts.

    `buckets` and `singles` as for `bins_of`. Drafts are independent unless `coverage` computes another f.
    Cost: a sort of V tokens, or a pass if there are buckets; O(K n) for n bins.
    """
    p, q = p / p.sum(1, keepdim=True), q / q.sum(1, keepdim=True)
    bins, p_bin, q_bin = bins_of(p, q, buckets, singles)
    target, s = ends_of(p_bin), ends_of(q_bin)
    chords = None
    if coverage is None:
        f = 1 - none_of(distribution, 1 - s)
    else:
        chords, f = coverage(q, bins, q_bin)
    excess = (target - f).clamp_(min=0)
    missed = torch.minimum(excess.cummax(1).values, excess.flip(1).cummax(1).values.flip(1))
    # A single draft is always selected, and if p = q any draft may be selected. The distribution is then exactly q.
    plain = (distribution[:, 0] == 1) | (p == q).all(1)
    return Plan(p, q, bins, p_bin, q_bin, distribution, s, f, target, missed, plain, chords)


def ends_of(masses: Tensor) -> Tensor:
    """Returns running sums from 0 to 1, [R, n + 1]."""
    sums = torch.nn.functional.pad(masses.cumsum(1), (1, 0))
    return sums / sums[:, -1:]


STRIDE = 32
"""If there are at least 32^2 bins, `hull_edge` first finds the edge of a coarser hull, of every 32nd point."""


def hull_edge(s: Tensor, y: Tensor, bin_: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the edge a < b of the upper hull of the points (s, y) [R, n + 1] over each bin [R]: a <= bin < b.

    A line through a point left of the bin and a point right of it is raised to the highest point above it, until no
    point is above the line. The line starts at the edge of a coarser hull, or at the bin itself. The highest point
    above a line is a corner; once both ends are corners, all later ends lie between them, so windows shrink and the
    search ends. The first and the last point are corners; points on a line are not.
    Cost: a few passes over the points; each step reads from the device whether a row is not done.
    """
    n = y.shape[1] - 1
    a, b = bin_.clone(), bin_ + 1
    if n >= STRIDE * STRIDE:
        coarse = torch.arange(0, n + STRIDE, STRIDE, device=y.device).clamp(max=n)
        a, b = hull_edge(s[:, coarse], y[:, coarse], bin_ // STRIDE)
        a, b = a * STRIDE, (b * STRIDE).clamp(max=n)
    sure_a, sure_b = a == 0, b == n
    # Rows that are not done, and the first point of their windows; from here on, y, s, bin_ have only these rows.
    rows = torch.arange(len(y), device=y.device)
    start = torch.zeros_like(rows)
    while len(rows) > 0:
        left, right = a[rows], b[rows]
        ends = torch.stack([left - start, right - start], dim=1)
        y_end, s_end = y.gather(1, ends), s.gather(1, ends)
        rise, run = y_end.diff(dim=1), s_end.diff(dim=1)
        top, place = (y * run).sub_(s * rise).max(1)
        place = place + start
        above = top > (y_end * run - s_end * rise).amax(1)
        inside = (~sure_a[rows] | (place > left)) & (~sure_b[rows] | (place < right))
        # If an end is not a corner yet, the line can be so steep that the highest point above it lies outside the
        # interval between the ends. Ends that are not corners are then moved to the first or the last point.
        tilted = ~inside & ~(sure_a[rows] & sure_b[rows])
        live = (above & (inside | tilted)).nonzero().squeeze(1)
        rows, place, tilted, before = rows[live], place[live], tilted[live], place[live] <= bin_[live]
        new_a, new_b = torch.where(before, place, a[rows]), torch.where(before, b[rows], place)
        a[rows] = torch.where(tilted, torch.where(sure_a[rows], a[rows], 0), new_a)
        b[rows] = torch.where(tilted, torch.where(sure_b[rows], b[rows], n), new_b)
        sure_a[rows], sure_b[rows] = sure_a[rows] | before | tilted, sure_b[rows] | ~before | tilted
        bin_, start = bin_[live], start[live]
        if len(rows) == 0:
            break
        begin, end = torch.where(sure_a[rows], a[rows], 0), torch.where(sure_b[rows], b[rows], n)
        wanted, width = int((end - begin).max()) + 1, y.shape[1]
        if 2 * wanted <= width:
            begin = begin.clamp(max=n + 1 - wanted)
            window = (begin - start)[:, None] + torch.arange(wanted, device=y.device)
            window = window.clamp(max=width - 1)  # fills the window with a point beyond b, below the line
            s, y, start = s[live[:, None], window], y[live[:, None], window], begin
        elif len(rows) < len(y):
            s, y = s[live], y[live]
    return a, b
