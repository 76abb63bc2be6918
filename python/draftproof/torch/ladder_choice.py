"""The choice of a draft by a ladder, and the distribution of the number of paths that continue with this draft.

The group of the draft with the highest p / q is taken, and one of the drafts in it is chosen uniformly. Where drafts
are the next tokens of paths, the paths with the chosen token stay active. The distribution of their number is known
given the prefix and the levels that were drawn so far, or given the prefix alone as a mean over all levels:

    mu_m     probability of m active paths
    c        q of the chosen token; x: q of the rest of its group; beta: q below the group
    H(j, r)  mean of j / (j + n), n being the number of paths in the rest of the group among r that take neither the
             token nor a group above

    mu'_j  proportional to  c^j sum over m of mu_m C(m, j) H(j, m - j)

Correctness: H(j, r) is the integral of j t^(j-1) (beta + x t)^r over [0, 1]; splitting off one factor gives
H(j, r) = beta H(j, r - 1) + x j / (j + 1) H(j + 1, r - 1), H(j, 0) = 1: sums of positive terms (docs/ladder.md).
"""

from __future__ import annotations

from math import comb

import torch
from torch import Tensor

from .draws import SomeUniforms, Uniforms, first
from .endings import above, one_token
from .inputs import Inputs
from .ladder_plan import Plan


def number_distribution(lengths: Tensor, k: int) -> Tensor:
    """Returns the distribution of the number of drafts, [B, max(k, 1)]: all mass is at `lengths`, or at 1 for rows
    without drafts."""
    distribution = torch.zeros(len(lengths), max(k, 1), dtype=torch.float64, device=lengths.device)
    return distribution.scatter_(1, lengths.clamp(min=1)[:, None] - 1, 1.0)


def choose(
    made: Plan, drafts: Tensor, there: Tensor, uniforms: Uniforms | SomeUniforms
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Returns index and bin of the selected draft, and the ends [a, b) of its group, all [R].

    A row that has drafts reads one random number for the levels. A row whose group has several drafts reads another
    for the choice.
    """
    n = made.size
    if drafts.shape[1] == 0:
        none = torch.zeros(len(drafts), dtype=torch.int64, device=drafts.device)
        return none, none, none, none + n
    bins, group, a, b = group_of(made, drafts, there, uniforms)
    size = group.sum(1)
    several = size > 1
    rank = (uniforms.take(several) * size).long().clamp(max=size - 1).clamp(min=0) * several
    chosen = first(group & (group.cumsum(1) > rank[:, None]), group)
    return chosen, bins.gather(1, chosen[:, None]).squeeze(1).clamp(max=n - 1), a, b


def group_of(
    made: Plan, drafts: Tensor, there: Tensor, uniforms: Uniforms | SomeUniforms
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Returns the bin of each draft [R, K], whether each draft is in the group that is taken [R, K], and the ends
    [a, b) of this group [R].

    A row that has drafts reads one random number.
    """
    n = made.size
    bins = torch.where(there, made.bins.gather(1, drafts), n)
    a, b = made.edge(uniforms.take(there.any(1)), bins.amin(1).clamp(max=n - 1))
    return bins, bins < b[:, None], a, b


def verify_selected(at: Inputs, made: Plan, chosen: Tensor, bin_: Tensor) -> tuple[Tensor, Tensor]:
    """Verifies the draft `chosen` of bin `bin_` as a single draft of known distribution. Returns the token [B] and the
    index of the accepted draft [B], -1 for none.

    A row that has drafts reads one random number for the test. A row without drafts, or whose test fails, reads another
    for the token.
    """
    drafted = at.lengths > 0
    x = at.drafts.gather(1, chosen[:, None]) if at.drafts.shape[1] > 0 else chosen[:, None]
    distribution = made.q.gather(1, x).squeeze(1) * made.slope_at(bin_)
    passed = drafted & (at.uniforms.take(drafted) * distribution < made.p.gather(1, x).squeeze(1))
    accepted = torch.where(passed, chosen, -1)

    def residual(rows: Tensor) -> Tensor:
        return above(made.p[rows], made.selected(rows).mul_(drafted[rows, None]))

    last = at.uniforms.take(~passed)
    return one_token(at.drafts, accepted, last, residual, lambda rows: made.p[rows])


def mean_share(x: Tensor, beta: Tensor, k: int) -> Tensor:
    """Returns H(j, r) (docstring of the module) for one group of each row, [R, K, K]: entry [:, j - 1, r] is H(j, r),
    or 0 if j + r > K. x and beta are [R].

    Cost: O(K^2) operations on K numbers a row.
    """
    j = torch.arange(1, k, dtype=x.dtype, device=x.device)
    ratio = j / (j + 1)
    mean = torch.zeros(len(x), k, k, dtype=x.dtype, device=x.device)
    h = torch.ones(len(x), k, dtype=x.dtype, device=x.device)  # H(j, r) at j - 1
    for r in range(k):
        mean[:, : k - r, r] = h
        h = beta[:, None] * h[:, :-1] + x[:, None] * ratio[: k - r - 1] * h[:, 1:]
    return mean


def active_after(distribution: Tensor, c: Tensor, mean: Tensor) -> Tensor:
    """Returns mu' [R, K] (docstring of the module) from mu = `distribution` [R, K], c [R] and H = `mean` [R, K, K]."""
    k = distribution.shape[1]
    weight = torch.zeros_like(distribution)
    for r in range(k):
        for m in range(r + 1, k + 1):  # m - r of m paths take the token
            weight[:, m - r - 1] += distribution[:, m - 1] * comb(m, r) * mean[:, m - r - 1, r]
    weight *= c[:, None] ** torch.arange(k, device=distribution.device)
    total = weight.sum(1, keepdim=True)
    alone = torch.zeros_like(weight)
    alone[:, 0] = 1
    return torch.where(total > 0, weight / total, alone)
