"""Trees: at each position P independent paths of L tokens drawn from the first draft, and the distributions at every
node.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .distributions import acceptance, distribution_of_stored, draw, stored
from .layout import ArraySpec
from .models import Ids
from .options import Options, Trees
from .pair import Pair, completed
from .part import Part, Progress
from .texts import Piece

Prefix = tuple[int, ...]


class TreeRun:
    """Writes the trees of one piece after another.

    Arrays: `target` and `draft..` [M, V], the distributions at M nodes; `paths` [C, P, L]; `path_nodes` [C, P, L + 1];
    `node_context`, `node_parent` (-1 at roots), `node_token` (-1 at roots), `node_depth` [M]; `tokens` [C, W]; `text`
    and `place` [C].
    Equal prefixes are one node. A token is drawn from the distribution of the draft as it is stored at its node,
    rounding included, so the paths follow the stored rows.
    """

    def __init__(self, models: Pair, options: Options, trees: Trees) -> None:
        self._models = models
        self._options = options
        self._trees = trees
        self._drawn_from = next(iter(models.drafts))

    def arrays(self) -> list[ArraySpec]:
        """Returns the arrays with the most nodes that can occur: no two paths share a token."""
        c, p, length = self._options.positions, self._trees.paths, self._trees.length
        m = c * (1 + p * length)
        rows = [ArraySpec(name, self._options.dtype, (m, self._models.vocabulary)) for name in self._models.models]
        rows += [ArraySpec("paths", "int32", (c, p, length)), ArraySpec("path_nodes", "int32", (c, p, length + 1))]
        rows += [ArraySpec(f"node_{name}", "int32", (m,)) for name in ("context", "parent", "token", "depth")]
        rows.append(ArraySpec("tokens", "int32", (c, self._options.context)))
        return rows + [ArraySpec(name, "int32", (c,)) for name in ("text", "place")]

    def unit(self, part: Part, piece: Piece, now: Progress) -> None:
        """Appends a tree for every position of a piece after the entries that `now` counts.

        Cost: L + 1 passes of the drafting model for each tree, one of every other model.
        """
        ids = completed(self._models, piece, self._options)
        for j in piece.at:
            context = now.counts.get("rows", 0)
            self._tree(part, now, ids[: j + 1], piece)
            tokens = np.full((1, self._options.context), -1)
            tokens[0, self._options.context - j - 1 :] = ids[: j + 1]
            part.put("tokens", context, tokens)
            part.put("text", context, np.array([piece.text]))
            part.put("place", context, np.array([piece.first + j + 1]))
            now.counts["rows"] = context + 1

    def shapes(self, part: Part) -> dict[str, tuple[int, ...]]:
        """Returns the final shapes, with as many nodes as were captured."""
        nodes = part.progress.counts["nodes"]
        found = {name: (nodes, self._models.vocabulary) for name in self._models.models}
        return found | {f"node_{name}": (nodes,) for name in ("context", "parent", "token", "depth")}

    def _tree(self, part: Part, now: Progress, ids: Ids, piece: Piece) -> None:
        context, first = now.counts.get("rows", 0), now.counts.get("nodes", 0)
        paths, node_of, rows = self._drawn(ids, context, piece)
        count = len(node_of)
        distributions = {self._drawn_from: rows}
        for name in self._models.models:
            if name != self._drawn_from:
                distributions[name] = self._at_nodes(name, ids, paths, node_of, piece)
            part.put(name, first, distributions[name])
        through = [[node_of[tuple(path[:d])] for d in range(len(path) + 1)] for path in paths.tolist()]
        part.put("paths", context, paths[None])
        part.put("path_nodes", context, first + np.array(through)[None])
        parents = [first + node_of[prefix[:-1]] if prefix else -1 for prefix in node_of]
        part.put("node_context", first, np.full(count, context))
        part.put("node_parent", first, np.array(parents))
        part.put("node_token", first, np.array([prefix[-1] if prefix else -1 for prefix in node_of]))
        part.put("node_depth", first, np.array([len(prefix) for prefix in node_of]))
        now.counts["nodes"] = first + count
        self._add_acceptance(now, distributions)

    def _drawn(self, ids: Ids, context: int, piece: Piece) -> tuple[Ids, dict[Prefix, int], NDArray[np.floating]]:
        """Paths [P, L], nodes by prefix in order of depth, and the stored rows [m, V] of the drafting model."""
        generator = np.random.default_rng([self._options.seed, 1 << 32, context])
        prefixes: list[Prefix] = [()] * self._trees.paths
        node_of: dict[Prefix, int] = {}
        kept: list[NDArray[np.floating]] = []
        for depth in range(self._trees.length + 1):
            level = list(dict.fromkeys(prefixes))
            sequences = np.stack([np.append(ids, prefix).astype(np.int64) for prefix in level])
            distributions = self._models.log_rows(self._drawn_from, sequences, [len(ids) + depth - 1], piece)
            for prefix, distribution in zip(level, distributions, strict=True):
                node_of[prefix] = len(node_of)
                kept.append(stored(distribution, self._options.dtype)[0])
            if depth < self._trees.length:
                as_read = {prefix: distribution_of_stored(kept[node_of[prefix]]) for prefix in level}
                prefixes = [(*prefix, draw(as_read[prefix], generator)) for prefix in prefixes]
        return np.array(prefixes, dtype=np.int64), node_of, np.stack(kept)

    def _at_nodes(
        self, name: str, ids: Ids, paths: Ids, node_of: dict[Prefix, int], piece: Piece
    ) -> NDArray[np.floating]:
        """Stored rows [m, V] of another model at the nodes. All distinct paths go through it as one batch."""
        distinct: Sequence[Prefix] = list(dict.fromkeys(tuple(path) for path in paths.tolist()))
        sequences = np.stack([np.append(ids, path) for path in distinct])
        at = range(len(ids) - 1, len(ids) + self._trees.length)
        distributions = self._models.log_rows(name, sequences, list(at), piece)
        found = {path[:d]: distributions[b][d] for b, path in enumerate(distinct) for d in range(len(path) + 1)}
        return stored([found[prefix] for prefix in node_of], self._options.dtype)

    def _add_acceptance(self, now: Progress, distributions: dict[str, NDArray[np.floating]]) -> None:
        """Adds the acceptance at the root, the captured position itself."""
        with np.errstate(divide="ignore"):
            p = np.log(distribution_of_stored(distributions["target"][0]))
            for name in self._models.drafts:
                more = acceptance(p, np.log(distribution_of_stored(distributions[name][0])))
                now.sums[name] = now.sums.get(name, 0.0) + more
