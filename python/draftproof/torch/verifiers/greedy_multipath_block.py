"""Greedy multi-path block verification: verifies the greatest of K paths, compared by p / q token by token, as a block
that was drawn from the distribution of the greatest path.

    order             tokens by p / q descending, ties by ascending id
    K                 number of paths that start together at a node and are compared
    B, r              probability that a path is less than all paths through the node, and that it passes through the
                      node; up to a common factor, B + r = 1; B = 0 where the paths start
    lo(y), hi(y)      B + r times the q-mass of the tokens below y in the order; hi(y) = lo(y) + r q(y)
    w(y)              sum of hi^i lo^j over i + j = K - 1, (hi^K - lo^K) / (hi - lo)
    q_greatest        q(y) w(y) over its sum for all tokens; the sum telescopes to one difference of powers
    after y           B' = lo, r' = r q(y), divided by their sum

Correctness: block verification is exact for a path of known distribution. The choice reads no token below the node
where two paths part, so the tokens that follow are draws of q.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..chosen_path import ChosenPath, ratios
from ..inputs import Options
from ..rows import Temperature
from ..trees import TreeInputs, drafted_inputs


def greedy_multipath_block(
    p: Tensor,
    q: Tensor,
    drafts: Tensor,
    parents: Tensor | None = None,
    *,
    lengths: Tensor | None = None,
    logits: bool = False,
    temperature: Temperature = None,
    generator: torch.Generator | None = None,
    uniforms: Tensor | None = None,
    check: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:
    """Greedy multi-path block verification of K independent paths, given as paths or as a tree.

    More paths can lower acceptance: the greatest path does not have the distribution q, which costs acceptance where p
    and q agree.

    Args:
        p: target rows [B, K, L + 1, V], 16 to 64 bits; row i of path k is the distribution after its first i
            drafts. With `parents` [B, n + 1, V]: row 0 after the context, row i + 1 after draft i.
        q: proposal rows [B, K, L, V]; draft i of path k was drawn from its row i. Paths that share a prefix share rows.
            With `parents` [B, n, V]: draft i was drawn from row i.
        drafts: [B, K, L], any integer type; K paths drawn independently; -1 after the length. With `parents` [B, n].
        parents: [n], or [B, n] if rows have different trees; the draft before each draft, -1 for the context. A node
            has a draft for each path through it, also for paths whose tokens are equal there; if more paths leave a
            node than arrive, as at the end of a common stem, all of them start there.
        lengths: [B], number of tokens of each path of a row, or of drafts of a tree. By default a path ends before the
            first -1, and drafts before the first -1.
        logits: whether p and q are logits (natural logarithms up to a constant) rather than probabilities.
        temperature: divides logits; a number or a tensor [B], above 0.
        generator: source of the random numbers; the global one of the device by default.
        uniforms: [B, L + 1], or [B, n + 1] for trees, of [0, 1) instead of a generator; read as by
            `block_verification`. A correction at a node of several paths is drawn by running sums over the tokens by
            descending p / q, tokens with q = 0 first.
        check: whether to check values, by two passes over all rows.

    Returns:
        tokens [B, L + 1] int64, the accepted drafts and one more token, then -1, L being the tokens of the longest
        path; counts [B] of emitted tokens; index [B] of the chosen path. For trees the index [B] of the last accepted
        draft, -1 for none.

    Raises:
        ValueError: for shapes, types, devices or values that do not fit; the message has the location.

    Cost: a pass over p and q for each token of the path, and a sort of V tokens for each refused test; with logits one
    pass over all rows.
    Source: Thomas and Pal, arXiv:2602.16961.
    """
    given = Options(lengths, logits, temperature, generator, uniforms, check)
    at = drafted_inputs(p, q, drafts, parents, 1, given)
    return GreatestPath(at).verify(parents is None)


class GreatestPath(ChosenPath):
    def __init__(self, at: TreeInputs) -> None:
        super().__init__(at)
        self.paths = torch.ones_like(self.node)  # K
        self.paths_at = torch.ones_like(self.nodes)  # [B, L + 1], K after i tokens
        self.below = torch.zeros_like(self.nodes, dtype=torch.float64)  # [B, L + 1], B after i tokens
        self.reached = torch.ones_like(self.below)

    def choose(self, i: int, rows: Tensor, draws: Tensor, starting: Tensor) -> Tensor:
        self.paths[rows[starting]] = draws[starting].sum(1)
        self.below[rows[starting], i], self.reached[rows[starting], i] = 0.0, 1.0
        self.paths_at[rows, i] = paths = self.paths[rows]
        chosen = draws.long().argmax(1)
        self.p_at[rows, i], self.q_at[rows, i] = self.p_of[rows, chosen], self.q_of[rows, chosen]
        several = (paths > 1).nonzero().squeeze(1)
        if len(several) == 0:
            return chosen
        rows, draws, places = rows[several], draws[several], torch.full_like(several, i)
        p, q = self.target(rows, places), self.proposal(rows, places)
        ratio, tokens = ratios(p, q), self.tree.tokens[rows]
        of_draws = torch.where(draws, ratio.gather(1, tokens), -1.0)
        best = of_draws.amax(1, keepdim=True)
        x, pick = torch.where(of_draws == best, tokens, p.shape[1]).min(1)
        x = x[:, None]
        after = torch.arange(p.shape[1], device=self.device) > x
        mass = torch.where((ratio < best) | ((ratio == best) & after), q, 0.0).sum(1)
        own, below, reached = q.gather(1, x).squeeze(1), self.below[rows, i], self.reached[rows, i]
        low, share = below + reached * mass, reached * own
        k, norm = paths[several], self.norm(rows, places, q)
        self.p_at[rows, i] = p.gather(1, x).squeeze(1)
        self.q_at[rows, i] = own * self.difference(k, low + share, low) / norm
        self.below[rows, i + 1], self.reached[rows, i + 1] = low / (low + share), share / (low + share)
        chosen[several] = pick
        return chosen

    def pair(self, rows: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        """Returns rows of p and q. If several paths pass through the node, tokens are sorted by p / q descending, with
        q = 0 first."""
        p, q = self.target(rows, places), self.proposal(rows, places)
        self.keep_ids(rows)
        several = (self.paths_at[rows, places] > 1).nonzero().squeeze(1)
        if len(several) > 0:
            rows, places, mine = rows[several], places[several], q[several]
            order = self.reorder(rows, p[several], mine)
            sorted_q = mine.gather(1, order)
            upto = sorted_q.flip(1).cumsum(1).flip(1)  # q-mass of the token and all tokens below it
            below, reached = self.below[rows, places, None], self.reached[rows, places, None]
            low = below + reached * torch.nn.functional.pad(upto[:, 1:], (0, 1))
            shares = self.difference(self.paths_at[rows, places, None], low + reached * sorted_q, low)
            p[several] = p[several].gather(1, order)
            q[several] = sorted_q * shares / self.norm(rows, places, mine)[:, None]
        return p, q

    def norm(self, rows: Tensor, places: Tensor, q: Tensor) -> Tensor:
        """Returns the sum of q w over all tokens, [R]."""
        below, reached, total = self.below[rows, places], self.reached[rows, places], q.sum(1)
        return total * self.difference(self.paths_at[rows, places], below + reached * total, below)

    def difference(self, paths: Tensor, high: Tensor, low: Tensor) -> Tensor:
        """Returns (high^K - low^K) / (high - low) for K = `paths`, as a sum of products, without cancellation."""
        total, power = torch.ones_like(high), torch.ones_like(high)
        for degree in range(1, self.tree.most):
            power = power * low
            total = torch.where(degree < paths, high * total + power, total)
        return total
