"""Rows of a target or a proposal as float64 probabilities, read only where a verifier needs them.

Probabilities of 16 to 64 bits are converted exactly. They are not normalised. Logits become exp(x / T - log Z),
with log Z = log sum exp(x / T) in float64. Equal rows give equal bits wherever the same rows of the two tensors are
read.
"""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch import Tensor

Temperature: TypeAlias = float | Tensor | None

# Rounding to a format with n bits after the point changes the sum of a distribution by at most 2^-(n + 1) of itself,
# 2^-8 for bfloat16. A softmax in float32 that adds 2^18 terms one by one is wrong by at most 2^18 * 2^-24 = 2^-6. A row
# whose sum is off by more than 2^-4 is therefore not a rounded distribution.
MOST_SUM_ERROR = 2.0**-4


class Rows:
    """Rows `values` [B, n, V] of the target or of the proposal; error messages use `name`."""

    def __init__(self, name: str, values: Tensor, logits: bool, temperature: Temperature) -> None:
        self.name, self.values, self.logits = name, values, logits
        self.batch, self.count, self.vocabulary = values.shape
        self.scale: Tensor | None = None  # 1 / T as [B, 1]
        if temperature is not None:
            scale = torch.as_tensor(temperature, dtype=torch.float64, device=values.device)
            self.scale = scale.reciprocal().reshape(-1, 1).expand(self.batch, 1)
        self._normaliser: Tensor | None = None

    def check(self, counts: Tensor, paths: int | None = None) -> None:
        """Checks the first counts[i] rows of each batch row, or the rows where `counts` [B, n] is true. If there are
        `paths`, batch row i holds path i % paths of batch row i // paths of the caller.

        Raises: ValueError at the first row that is not a distribution, or has no finite logit.
        Cost: two passes over all rows, and a synchronisation with the device.
        """
        if self.values.numel() == 0:
            return
        least, most = torch.aminmax(self.values, dim=-1)
        if self.logits:
            good = (most > -torch.inf) & (most < torch.inf)
            wanted = "finite logits or -inf, at least one finite"
            if self.scale is not None:
                good &= most.double() * self.scale < torch.inf
                wanted += ", also after division by the temperature"
        else:
            total = self.values.sum(-1, dtype=torch.float64)
            good = (least >= 0) & ((total - 1).abs() <= MOST_SUM_ERROR)
            wanted = "probabilities with sum 1"
        used = counts if counts.dim() == 2 else torch.arange(self.count, device=counts.device) < counts[:, None]
        bad = (used & ~good).nonzero()
        if len(bad) == 0:
            return
        b, i = (int(x) for x in bad[0])
        row = self.values[b, i].double()
        place = [b, i] if paths is None else [b // paths, b % paths, i]
        where = f"{self.name}{place[:1] if self.count == 1 and paths is None else place}"
        found = f"values from {float(row.min()):g} to {float(row.max()):g} with sum {float(row.sum()):g}"
        raise ValueError(f"{where}: got {found}, expected {wanted}")

    def at(self, tokens: Tensor) -> Tensor:
        """Returns probabilities [B, m] of tokens [B, m], token i in row i; m <= n."""
        m = tokens.shape[1]
        return self._distribution(self.values[:, :m].gather(2, tokens[:, :, None]).squeeze(2), None, slice(0, m))

    def of(self, tokens: Tensor) -> Tensor:
        """Returns probabilities [B, m] of tokens [B, m], all in the first row."""
        return self._distribution(self.values[:, 0].gather(1, tokens), None, slice(0, 1))

    def row(self, rows: Tensor, positions: Tensor) -> Tensor:
        """Returns row positions[i] of batch row rows[i], as [R, V]."""
        return self._distribution(self.values[rows, positions], rows, positions)

    def entry(self, rows: Tensor, positions: Tensor, tokens: Tensor) -> Tensor:
        """Returns the probability of tokens[i] in row positions[i] of batch row rows[i], [R]."""
        return self._distribution(self.values[rows, positions, tokens][:, None], rows, positions).squeeze(1)

    def single(self, rows: Tensor | None = None) -> Tensor:
        """Returns the only row of each batch row, or of the batch rows in `rows`, as [R, V]."""
        if rows is None:
            rows = torch.arange(self.batch, device=self.values.device)
        return self.row(rows, torch.zeros_like(rows))

    def _distribution(self, picked: Tensor, rows: Tensor | None, positions: Tensor | slice) -> Tensor:
        """Returns the probabilities of entries `picked` [R, m] of these batch rows (None: all) and positions, in new
        memory."""
        wide = picked.to(torch.float64, copy=True)
        if not self.logits:
            return wide
        if self.scale is not None:
            wide.mul_(self.scale if rows is None else self.scale[rows])
        normaliser = self._normalisers()
        wide.sub_(normaliser[:, positions] if rows is None else normaliser[rows, positions][:, None])
        return wide.exp_()

    def _normalisers(self) -> Tensor:
        """Returns [B, n]: the logarithm of the sum of exponentials of each row. To save memory, only one of the n
        positions is converted to float64 at a time."""
        if self._normaliser is None:
            parts = []
            for i in range(self.count):
                wide = self.values[:, i].double()
                parts.append(torch.logsumexp(wide if self.scale is None else wide * self.scale, dim=-1))
            self._normaliser = torch.stack(parts, dim=1)
        return self._normaliser
