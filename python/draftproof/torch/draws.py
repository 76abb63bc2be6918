"""Random numbers of a batch, and draws from weights by them.

A batch draws its uniforms at once, [B, n] in float64. Each row reads its numbers from left to right, as many as its
decision needs: in the order of a program that decides on one row alone. The rest are unused.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


class Uniforms:
    """n uniforms of [0, 1) for each of B rows, either given or drawn from a generator."""

    def __init__(self, b: int, n: int, device: torch.device, generator: torch.Generator | None, given: Tensor | None):
        if given is None:
            given = torch.rand(b, n, dtype=torch.float64, device=device, generator=generator)
        elif tuple(given.shape) != (b, n):
            raise ValueError(f"uniforms: got shape {tuple(given.shape)}, expected {(b, n)}")
        elif given.device != device or not given.is_floating_point():
            raise ValueError(f"uniforms: got {given.dtype} on {given.device}, expected floating point on {device}")
        self.values = given.double()
        self.used = torch.zeros(b, dtype=torch.int64, device=device)

    def check(self) -> None:
        """Raises: ValueError if a number lies outside [0, 1)."""
        bad = (~((self.values >= 0) & (self.values < 1))).nonzero()
        if len(bad) > 0:
            b, i = (int(x) for x in bad[0])
            raise ValueError(f"uniforms[{b}, {i}]: got {float(self.values[b, i])}, expected a number of [0, 1)")

    def take(self, active: Tensor) -> Tensor:
        """Returns the next number of each row. Rows that are not `active` [B] keep this number for later."""
        place = self.used.clamp(max=self.values.shape[1] - 1)
        self.used = self.used + active
        return self.values.gather(1, place[:, None]).squeeze(1)

    def of(self, rows: Tensor) -> SomeUniforms:
        """Returns a view of the uniforms of the batch rows `rows` [R]."""
        return SomeUniforms(self, rows)


class SomeUniforms:
    """The uniforms of some rows of a batch, as a view of the uniforms of the whole batch."""

    def __init__(self, all_rows: Uniforms, rows: Tensor) -> None:
        self.all_rows, self.rows = all_rows, rows

    def take(self, active: Tensor) -> Tensor:
        """Returns the next number of each of these rows, [R]. Rows that are not `active` [R] keep this number for
        later."""
        everyone = torch.zeros(len(self.all_rows.used), dtype=torch.bool, device=active.device)
        everyone[self.rows] = active
        return self.all_rows.take(everyone)[self.rows]


def first(found: Tensor, allowed: Tensor) -> Tensor:
    """Returns the index, in the last dimension, of the first entry that is both `found` and `allowed`. If there is no
    such entry, returns the index of the last allowed entry."""
    n = allowed.shape[-1]
    index = torch.arange(n, device=allowed.device)
    hit = torch.where(found & allowed, index, n).amin(-1)
    last = torch.where(allowed, index, 0).amax(-1)
    return torch.where(hit < n, hit, last)


def inverse(weights: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    """Returns cells drawn from weights [R, V] by numbers u [R, m], and the sums of the weights [R].

    A draw returns the first cell whose prefix sum exceeds u times the sum, and the last cell with weight if rounding
    leaves none. A cell of weight 0 is never returned, except where all are 0. Weights are not negative.
    Cost: one pass over the weights for sums of blocks of about sqrt(V) cells; O(m sqrt V) for the draws.
    """
    v = weights.shape[1]
    size = 1 << (v.bit_length() + 1) // 2
    size = size if size < v else v
    whole = v - v % size
    sums = weights[:, :whole].unflatten(1, (-1, size)).sum(-1)
    if whole < v:
        sums = torch.cat([sums, weights[:, whole:].sum(-1, keepdim=True)], dim=1)
    ends = sums.cumsum(1)
    total = ends[:, -1]
    goal = u * total[:, None]
    block = first(goal[:, :, None] < ends[:, None, :], sums[:, None, :] > 0)
    before = torch.where(block > 0, ends.gather(1, (block - 1).clamp(min=0)), 0.0)
    cell = block[:, :, None] * size + torch.arange(size, device=weights.device)
    held = weights.gather(1, cell.clamp(max=v - 1).flatten(1)).reshape(cell.shape)
    held = torch.where(cell < v, held, 0.0)
    within = first((goal - before)[:, :, None] < held.cumsum(-1), held > 0)
    return block * size + within, total


def draw(weights: Tensor, u: Tensor, otherwise: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
    """Draws a cell for each row of weights [R, V] by u [R]. For the rows whose weights are all 0, the weights are
    otherwise(r), where r are the entries of `rows` for these rows.

    A residual is 0 only if rounding of the rows made the sums of p and q differ; the token then comes from the target.
    Raises: ValueError if all weights of a row of `otherwise` are 0, too.
    Cost: as `inverse`, and a synchronisation with the device.
    """
    cells, total = inverse(weights, u[:, None])
    empty = (~(total > 0)).nonzero().squeeze(1)
    if len(empty) > 0:
        rest, mass = inverse(otherwise(rows[empty]), u[empty, None])
        if not bool((mass > 0).all()):
            raise ValueError("target: got a row without probability mass, expected a distribution")
        cells[empty] = rest
    return cells.squeeze(1)
