"""Trees: at each position P independent paths of L tokens drawn from the first draft, and the distributions at every
node.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .distributions import Distribution, acceptance, distribution_of_stored, draw, filtered, stored, truncated
from .errors import CaptureError
from .layout import ArraySpec
from .models import Ids
from .options import Options, Trees
from .pair import Pair, completed
from .part import Part, Progress
from .texts import Piece

Prefix = tuple[int, ...]
DraftRow = tuple[Ids, NDArray[np.floating]]
"""The tokens that a stored row has, in ascending order, and the values stored for them."""
Tree = tuple[Ids, dict[Prefix, int], list[DraftRow], list[Distribution]]
"""Paths [P, L], the node of each prefix, and the rows of the drafting model and of the target at each node."""


class TreeRun:
    """Writes the trees of one piece after another.

    Arrays: `target` and `draft..` [M, V], the distributions at M nodes; `paths` [C, P, L]; `path_nodes` [C, P, L + 1];
    `node_context`, `node_parent` (-1 at roots), `node_token` (-1 at roots), `node_depth` [M]; `tokens` [C, W]; `text`
    and `place` [C].
    Equal prefixes are one node. A token is drawn from the distribution of the draft as it is stored at its node,
    rounding included, so the paths follow the stored rows.

    If the draft has a top-k, both filters are applied, and a node stores the tokens that the draft can propose: `ids`
    [M, k], their probabilities `target` and `draft` [M, k], `rest_target` and `rest_draft` [M]. The draft's rest is 0.
    All tokens with q = 0 are stored as one rest, which changes no acceptance, because no verifier accepts such tokens.

    Raises: CaptureError if the draft has a top-k and there are several drafts.
    """

    def __init__(self, models: Pair, options: Options, trees: Trees) -> None:
        self._models = models
        self._options = options
        self._trees = trees
        self._drawn_from = next(iter(models.drafts))
        self._columns = models.vocabulary
        if options.filtered_trees:
            self._columns = min(self._columns, options.draft_filter.top_k)
            if len(models.drafts) > 1:
                raise CaptureError("trees", f"{len(models.drafts)} drafts with a top-k", "one draft")

    def arrays(self) -> list[ArraySpec]:
        """Returns the arrays for the largest number of nodes, which occurs if no two paths share a prefix."""
        c, p, length = self._options.positions, self._trees.paths, self._trees.length
        m = c * (1 + p * length)
        rows = [ArraySpec(name, self._options.dtype, (m, self._columns)) for name in self._models.models]
        if self._options.filtered_trees:
            rows.append(ArraySpec("ids", "int32", (m, self._columns)))
            rows += [ArraySpec(f"rest_{name}", self._options.dtype, (m,)) for name in self._models.models]
        rows += [ArraySpec("paths", "int32", (c, p, length)), ArraySpec("path_nodes", "int32", (c, p, length + 1))]
        rows += [ArraySpec(f"node_{name}", "int32", (m,)) for name in ("context", "parent", "token", "depth")]
        rows.append(ArraySpec("tokens", "int32", (c, self._options.context)))
        return rows + [ArraySpec(name, "int32", (c,)) for name in ("text", "place")]

    def unit(self, part: Part, piece: Piece, now: Progress) -> None:
        """Appends a tree for every position of a piece. `now` has the numbers of entries that are already written.

        Cost: for each tree, L + 1 passes of the drafting model and one pass of every other model.
        """
        if self._options.steps:
            self._steps(part, piece, now)
            return
        ids = completed(self._models, piece, self._options)
        for j in piece.at:
            self._context(part, now, ids[: j + 1], piece)

    def _steps(self, part: Part, piece: Piece, now: Progress) -> None:
        """Captures a tree where each step of speculative decoding begins, as many as the piece has positions. A step
        tests the first drafts of the first path, and emits a token of the target after them."""
        ids, most = piece.ids, len(piece.at) * (self._options.steps + 1)
        if most > self._options.continue_tokens:
            found = f"{self._options.continue_tokens} for {len(piece.at)} steps of text {piece.text}"
            raise CaptureError("continue_tokens", found, f"at least {most}, or fewer positions")
        for _ in piece.at:
            generator = np.random.default_rng([self._options.seed, 1 << 33, now.counts.get("rows", 0)])
            paths, node_of, rows, targets = self._context(part, now, ids, piece)
            for depth in range(self._options.steps + 1):
                node = node_of[tuple(paths[0, :depth].tolist())]
                p, q = filtered(targets[node], self._options.target_filter), np.zeros(self._models.vocabulary)
                if depth < self._options.steps:
                    tokens, values = rows[node]
                    q[tokens] = self._as_read(values)
                    q /= q.sum()
                    draft = int(paths[0, depth])
                    if generator.random() * q[draft] < p[draft]:
                        ids = np.append(ids, draft)
                        continue
                rest = np.maximum(p - q, 0)
                ids = np.append(ids, draw(rest if rest.any() else p, generator))
                break

    def _context(self, part: Part, now: Progress, ids: Ids, piece: Piece) -> Tree:
        """Appends the tree after `ids`."""
        context = now.counts.get("rows", 0)
        tree = self._tree(part, now, ids, piece)
        tokens = np.full((1, self._options.context), -1)
        tokens[0, self._options.context - len(ids) :] = ids
        part.put("tokens", context, tokens)
        part.put("text", context, np.array([piece.text]))
        part.put("place", context, np.array([piece.first + len(ids)]))
        now.counts["rows"] = context + 1
        return tree

    def shapes(self, part: Part) -> dict[str, tuple[int, ...]]:
        """Returns the final shapes, with as many nodes as were captured."""
        nodes = part.count("nodes")
        found: dict[str, tuple[int, ...]] = {name: (nodes, self._columns) for name in self._models.models}
        if self._options.filtered_trees:
            found |= {"ids": (nodes, self._columns)} | {f"rest_{name}": (nodes,) for name in self._models.models}
        return found | {f"node_{name}": (nodes,) for name in ("context", "parent", "token", "depth")}

    def _tree(self, part: Part, now: Progress, ids: Ids, piece: Piece) -> Tree:
        context, first = now.counts.get("rows", 0), now.counts.get("nodes", 0)
        paths, node_of, rows = self._drawn(ids, context, piece)
        count = len(node_of)
        log_rows = {name: self._at_nodes(name, ids, paths, node_of, piece) for name in self._models.models
                    if name != self._drawn_from}  # fmt: skip
        if self._options.filtered_trees:
            self._put_filtered(part, now, rows, log_rows["target"])
        else:
            distributions = {name: stored(found, self._options.dtype) for name, found in log_rows.items()}
            distributions[self._drawn_from] = np.stack([values for _, values in rows])
            for name in self._models.models:
                part.put(name, first, distributions[name])
            self._add_acceptance(now, distributions)
        through = [[node_of[tuple(path[:d])] for d in range(len(path) + 1)] for path in paths.tolist()]
        part.put("paths", context, paths[None])
        part.put("path_nodes", context, first + np.array(through)[None])
        parents = [first + node_of[prefix[:-1]] if prefix else -1 for prefix in node_of]
        part.put("node_context", first, np.full(count, context))
        part.put("node_parent", first, np.array(parents))
        part.put("node_token", first, np.array([prefix[-1] if prefix else -1 for prefix in node_of]))
        part.put("node_depth", first, np.array([len(prefix) for prefix in node_of]))
        now.counts["nodes"] = first + count
        return paths, node_of, rows, log_rows["target"]

    def _put_filtered(self, part: Part, now: Progress, rows: list[DraftRow], targets: list[Distribution]) -> None:
        first, count = now.counts.get("nodes", 0), len(rows)
        ids, p, q = np.full((count, self._columns), -1), *np.zeros((2, count, self._columns))
        rest = np.zeros(count)
        for node, ((tokens, values), log_row) in enumerate(zip(rows, targets, strict=True)):
            k = len(tokens)
            with np.errstate(divide="ignore"):
                log_target = np.log(filtered(log_row, self._options.target_filter))
            ids[node, :k], q[node, :k] = tokens, values
            p[node, :k], rest[node] = truncated(log_target, tokens)
        for name, array in (("ids", ids), ("target", p), (self._drawn_from, q)):
            part.put(name, first, array)
        part.put("rest_target", first, rest)
        part.put(f"rest_{self._drawn_from}", first, np.zeros(count))
        now.sums[self._drawn_from] = now.sums.get(self._drawn_from, 0.0) + float(np.minimum(p[0], q[0]).sum())

    def _draft_row(self, log_row: Distribution) -> DraftRow:
        """Returns the tokens of a row of the drafting model in ascending order, and its values as they are stored."""
        if not self._options.filtered_trees:
            return np.arange(len(log_row)), stored([log_row], self._options.dtype)[0]
        distribution = filtered(log_row, self._options.draft_filter)
        tokens = np.flatnonzero(distribution)
        return tokens, distribution[tokens].astype(self._options.dtype)

    def _as_read(self, values: NDArray[np.floating]) -> Distribution:
        """Returns the probabilities of a stored row of the draft, up to a common factor."""
        return values.astype(np.float64) if self._options.filtered_trees else distribution_of_stored(values)

    def _drawn(self, ids: Ids, context: int, piece: Piece) -> tuple[Ids, dict[Prefix, int], list[DraftRow]]:
        """Draws paths. Returns the paths [P, L], the node of each prefix in order of depth, and the drafting model's
        row at each node."""
        generator = np.random.default_rng([self._options.seed, 1 << 32, context])
        prefixes: list[Prefix] = [()] * self._trees.paths
        node_of: dict[Prefix, int] = {}
        kept: list[DraftRow] = []
        for depth in range(self._trees.length + 1):
            level = list(dict.fromkeys(prefixes))
            sequences = np.stack([np.append(ids, prefix).astype(np.int64) for prefix in level])
            distributions = self._models.log_rows(self._drawn_from, sequences, [len(ids) + depth - 1], piece)
            for prefix, at_node in zip(level, distributions, strict=True):
                node_of[prefix] = len(node_of)
                kept.append(self._draft_row(at_node[0]))
            if depth < self._trees.length:
                tokens = {prefix: kept[node_of[prefix]][0] for prefix in level}
                as_read = {prefix: self._as_read(kept[node_of[prefix]][1]) for prefix in level}
                prefixes = [(*prefix, int(tokens[prefix][draw(as_read[prefix], generator)])) for prefix in prefixes]
        return np.array(prefixes, dtype=np.int64), node_of, kept

    def _at_nodes(
        self, name: str, ids: Ids, paths: Ids, node_of: dict[Prefix, int], piece: Piece
    ) -> list[Distribution]:
        """Returns the log-probabilities [V] of another model at each node, by one pass over all distinct paths."""
        distinct: Sequence[Prefix] = list(dict.fromkeys(tuple(path) for path in paths.tolist()))
        sequences = np.stack([np.append(ids, path) for path in distinct])
        at = range(len(ids) - 1, len(ids) + self._trees.length)
        distributions = self._models.log_rows(name, sequences, list(at), piece)
        found = {path[:d]: distributions[b][d] for b, path in enumerate(distinct) for d in range(len(path) + 1)}
        return [found[prefix] for prefix in node_of]

    def _add_acceptance(self, now: Progress, distributions: dict[str, NDArray[np.floating]]) -> None:
        """Adds the acceptance of each draft model at the root, which is the captured position, to the sums of `now`."""
        with np.errstate(divide="ignore"):
            p = np.log(distribution_of_stored(distributions["target"][0]))
            for name in self._models.drafts:
                more = acceptance(p, np.log(distribution_of_stored(distributions[name][0])))
                now.sums[name] = now.sums.get(name, 0.0) + more
