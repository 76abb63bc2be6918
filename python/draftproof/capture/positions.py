"""Rows at positions of texts, whole or truncated by mass."""

from __future__ import annotations

import numpy as np

from .distributions import Distribution, acceptance, kept_tokens, stored, truncated
from .layout import ArraySpec
from .options import Options
from .pair import Pair, completed
from .part import Part, Progress
from .texts import Piece


class Positions:
    """Writes the rows of one piece after another.

    Arrays: `target` and `draft..` [N, V]; if rows are truncated to at most K tokens, [N, K] with `ids` [N, K],
    `rest_target` and `rest_draft..` [N]; and always `tokens` [N, W], `next_token`, `text` and `place` [N].
    """

    def __init__(self, models: Pair, options: Options) -> None:
        self._models = models
        self._options = options
        self._columns = models.vocabulary
        if options.keep_mass is not None:
            self._columns = min(models.vocabulary, options.most_tokens)

    def arrays(self) -> list[ArraySpec]:
        """Returns the arrays, with the largest number of columns that a row may need."""
        n, names, dtype = self._options.positions, list(self._models.models), self._options.dtype
        rows = [ArraySpec(name, dtype, (n, self._columns)) for name in names]
        if self._options.keep_mass is not None:
            rows.append(ArraySpec("ids", "int32", (n, self._columns)))
            rows += [ArraySpec(f"rest_{name}", dtype, (n,)) for name in names]
        rows.append(ArraySpec("tokens", "int32", (n, self._options.context)))
        return rows + [ArraySpec(name, "int32", (n,)) for name in ("next_token", "text", "place")]

    def unit(self, part: Part, piece: Piece, now: Progress) -> None:
        """Appends the rows of all positions of a piece, by one pass of each model, and counts them in `now`."""
        ids = completed(self._models, piece, self._options)
        distributions = {
            name: self._models.log_rows(name, ids[None], piece.at, piece)[0] for name in self._models.models
        }
        first = now.counts.get("rows", 0)
        if self._options.keep_mass is None:
            for name, rows in distributions.items():
                part.put(name, first, stored(rows, self._options.dtype))
        else:
            self._put_truncated(part, now, distributions, self._options.keep_mass)
        contexts = np.full((len(piece.at), self._options.context), -1)
        for k, j in enumerate(piece.at):
            contexts[k, self._options.context - j - 1 :] = ids[: j + 1]
        part.put("tokens", first, contexts)
        part.put("next_token", first, ids[np.array(piece.at) + 1])
        part.put("text", first, np.full(len(piece.at), piece.text))
        part.put("place", first, piece.first + np.array(piece.at) + 1)
        now.counts["rows"] = first + len(piece.at)
        for name in self._models.drafts:
            more = sum(acceptance(p, q) for p, q in zip(distributions["target"], distributions[name], strict=True))
            now.sums[name] = now.sums.get(name, 0.0) + more

    def shapes(self, part: Part) -> dict[str, tuple[int, ...]]:
        """Returns the final shapes of truncated arrays: the number of columns is the length of the longest row."""
        if self._options.keep_mass is None:
            return {}
        columns = part.count("columns")
        return {name: (self._options.positions, columns) for name in ("ids", *self._models.models)}

    def _put_truncated(
        self, part: Part, now: Progress, distributions: dict[str, list[Distribution]], mass: float
    ) -> None:
        first, count = now.counts.get("rows", 0), len(distributions["target"])
        ids = np.full((count, self._columns), -1)
        rows = {name: np.zeros((count, self._columns)) for name in distributions}
        rest = {name: np.zeros(count) for name in distributions}
        for k in range(count):
            kept = kept_tokens([rows_of[k] for rows_of in distributions.values()], mass, self._columns)
            ids[k, : len(kept)] = kept
            for name in distributions:
                rows[name][k, : len(kept)], rest[name][k] = truncated(distributions[name][k], kept)
            now.counts["columns"] = max(now.counts.get("columns", 1), len(kept))
        part.put("ids", first, ids)
        for name in distributions:
            part.put(name, first, rows[name])
            part.put(f"rest_{name}", first, rest[name])
