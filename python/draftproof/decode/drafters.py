"""Drafts of one call, and their sources: a model, the text by prompt look-up, an n-gram model of the text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..capture.models import Ids, Model
from ..capture.options import Filter
from ..torch import draft_gumbel_top_k, draft_iid
from .context import Context, distributions
from .settings import Shape

ROOT = -1


@dataclass(frozen=True)
class Draw:
    """A drafted token, the node of its prefix, and the index of the previous draw on its path (-1 for the first)."""

    token: int
    node: int
    before: int


@dataclass
class Proposal:
    """A tree of drafts. Equal prefixes are one node; node i was drawn from the row of its parent.

    tokens, parents: of the nodes, parents first; the text's end is the parent -1.
    rows: the proposal's distribution [V] after each node that has children.
    draws: in the order of the draw, level by level. Independent draws of one token share a node.
    fixed: the fixed children of the nodes of a hybrid tree. Other children are drawn from the row without these.
    """

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    rows: dict[int, Tensor] = field(default_factory=dict)
    draws: list[Draw] = field(default_factory=list)
    fixed: set[int] = field(default_factory=set)

    def children(self, node: int) -> list[Draw]:
        """Returns the draws after a node, in order, with repetitions."""
        return [draw for draw in self.draws if self.parents[draw.node] == node]

    def paths(self) -> list[list[int]]:
        """Returns the paths of the tree, as lists of nodes: one path for each draw that no other draw follows."""
        found, inner = [], {draw.before for draw in self.draws}
        for i in range(len(self.draws)):
            if i in inner:
                continue
            path, at = [], i
            while at >= 0:
                path.append(self.draws[at].node)
                at = self.draws[at].before
            found.append(path[::-1])
        return found


class Drafter(ABC):
    """Computes the proposal's rows after the text, and after nodes that were drawn from earlier rows."""

    @abstractmethod
    def root(self, text: Sequence[int]) -> Tensor | None:
        """Returns the distribution [V] after a text that continues the text of the last call, or None for no drafts."""

    @abstractmethod
    def after(self, proposal: Proposal, nodes: Sequence[int]) -> Tensor | None:
        """Returns the distributions [n, V] after the nodes of a level, or None to end the drafts."""

    def accepted(self, path: Sequence[int]) -> None:  # noqa: B027
        """Receives the accepted nodes after each call; drafters without a cache need not override this method."""

    def propose(self, text: Sequence[int], shape: Shape, generator: torch.Generator) -> Proposal:
        """Draws the drafts of one call."""
        made = Proposal()
        first = self.root(text)
        if first is None:
            return made
        # `level` has the nodes of a level, `through` the draws that end at each of these nodes (-1 at the root, once
        # for each path), and `rows` the proposal's row after each of these nodes.
        level, through = [ROOT], {ROOT: [-1] * (shape.branching[0] if shape.replaced else 1)}
        rows: Tensor | None = first[None]
        for depth, width in enumerate(shape.branching):
            if depth > 0:
                rows = self.after(made, level)
            if rows is None or not level:
                break
            count = max(len(draws) for draws in through.values()) if shape.replaced else width
            if shape.replaced:
                drawn = draft_iid(rows, count, generator=generator, check=False)
            elif shape.fixed:
                drawn = _fixed_and_drawn(rows, shape.fixed[depth], width, generator)
            else:
                drawn = draft_gumbel_top_k(rows, count, generator=generator, check=False)
            through = _grow(made, level, through, rows, drawn.tolist(), shape.replaced)
            if shape.fixed:
                for node in level:
                    made.fixed.update(draw.node for draw in made.children(node)[: shape.fixed[depth]])
            level = list(through)
        return made


def _fixed_and_drawn(rows: Tensor, fixed: int, width: int, generator: torch.Generator) -> Tensor:
    """Returns [n, width]: the `fixed` most probable tokens of each row [n, V], then draws without replacement from the
    other tokens of the row. Entries are -1 if a row has no more tokens."""
    likely = rows.topk(min(fixed, rows.shape[1])).indices
    rest = rows.scatter(1, likely, 0.0)
    drawn = draft_gumbel_top_k(rest, width - fixed, generator=generator, check=False)
    return torch.cat([torch.where(rows.gather(1, likely) > 0, likely, -1), drawn], 1)


def _grow(
    made: Proposal, level: list[int], through: dict[int, list[int]], rows: Tensor, drawn: list[list[int]], iid: bool
) -> dict[int, list[int]]:
    """Adds a level of draws. Returns the new nodes, each with the draws that end at it."""
    fresh: dict[int, list[int]] = {}
    for row, node in enumerate(level):
        made.rows[node] = rows[row]
        before = through[node] if iid else [through[node][0]] * len(drawn[row])
        node_of: dict[int, int] = {}
        for token, previous in zip(drawn[row], before, strict=False):
            if token < 0:
                break  # The row has fewer tokens with q > 0 than drafts.
            if token not in node_of:
                node_of[token] = len(made.tokens)
                made.tokens.append(token)
                made.parents.append(node)
            fresh.setdefault(node_of[token], []).append(len(made.draws))
            made.draws.append(Draw(token, node_of[token], previous))
    return fresh


class ModelDrafter(Drafter):
    """Drafts of a model that has a cache of its text."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def root(self, text: Sequence[int]) -> Tensor:
        rows = self._context.feed(text[len(self._context.text) :])
        self._context.commit(range(len(self._context.nodes)))
        return rows[-1]

    def after(self, proposal: Proposal, nodes: Sequence[int]) -> Tensor:
        # All nodes of a level are fed in their order, so that a node has the same number in the context and in the
        # proposal.
        return self._context.feed([proposal.tokens[i] for i in nodes], [proposal.parents[i] for i in nodes])

    def accepted(self, path: Sequence[int]) -> None:
        self._context.commit([node for node in path if node < len(self._context.nodes)])


class Lookup(Drafter):
    """Prompt look-up: the drafts are the tokens that follow the latest earlier occurrence of the text's last tokens.

    Each row has probability 1 at its draft.
    """

    def __init__(self, vocabulary: int, longest: int, device: torch.device) -> None:
        self._vocabulary, self._longest, self._device = vocabulary, longest, device
        self._places: dict[tuple[int, ...], int] = {}
        self._text: list[int] = []
        self._from = 0

    def root(self, text: Sequence[int]) -> Tensor | None:
        # An n-gram is added to the table only when a token follows it, so the end of the text never matches itself.
        for end in range(len(self._text), len(text)):
            self._text.append(text[end])
            for n in range(1, min(self._longest, end) + 1):
                self._places[tuple(self._text[end - n : end])] = end
        for n in range(min(self._longest, len(text)), 0, -1):
            if (place := self._places.get(tuple(self._text[-n:]))) is not None:
                self._from = place
                return self._row(place)
        return None

    def after(self, proposal: Proposal, nodes: Sequence[int]) -> Tensor | None:
        row = self._row(self._from + len(proposal.tokens))
        return None if row is None else row[None]

    def _row(self, place: int) -> Tensor | None:
        if place >= len(self._text):
            return None
        row = torch.zeros(self._vocabulary, device=self._device)
        row[self._text[place]] = 1
        return row


class NGram(Drafter):
    """An n-gram model of the text so far, in which every token has a probability above 0.

    Row of order n: (c(x) + m r(x)) / (c + m), with c(x) the occurrences of x after the last n - 1 tokens, c their sum,
    and r the row of order n - 1; order 1 has the counts of all tokens, and order 0 is uniform. m = 1/4 for n > 1, so
    that one occurrence has 4/5 of the probability. The row after drafts counts the drafts before it as text.

    by: temperature, top-k and top-p of the rows.
    """

    _SHORTER = 0.25

    def __init__(self, vocabulary: int, order: int, device: torch.device, by: Filter | None = None) -> None:
        self._order, self._by = order, by or Filter()
        self._tokens = torch.zeros(vocabulary, dtype=torch.float64, device=device)
        self._after: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        self._text: list[int] = []

    def root(self, text: Sequence[int]) -> Tensor:
        for token in text[len(self._text) :]:
            self._append(token)
        return self._row()

    def after(self, proposal: Proposal, nodes: Sequence[int]) -> Tensor:
        rows = []
        for node in nodes:
            path, at = [], node
            while at >= 0:
                path.append(proposal.tokens[at])
                at = proposal.parents[at]
            for token in reversed(path):
                self._append(token)
            rows.append(self._row())
            for _ in path:
                self._remove_last()
        return torch.stack(rows)

    def _append(self, token: int) -> None:
        for context in self._contexts():
            self._after[context][token] += 1
        self._tokens[token] += 1
        self._text.append(token)

    def _remove_last(self) -> None:
        token = self._text.pop()
        self._tokens[token] -= 1
        for context in self._contexts():
            self._after[context][token] -= 1  # A count of 0 changes no row.

    def _contexts(self) -> Iterator[tuple[int, ...]]:
        """Yields the last tokens of the text, one, two, .. up to the number that the order reads."""
        for n in range(1, min(self._order - 1, len(self._text)) + 1):
            yield tuple(self._text[-n:])

    def _row(self) -> Tensor:
        row = (self._tokens + 1 / len(self._tokens)) / (len(self._text) + 1)
        for context in self._contexts():
            counts = self._after.get(context)
            if not counts:
                break
            total = sum(counts.values())
            row *= self._SHORTER / (total + self._SHORTER)
            tokens = torch.tensor(list(counts), device=row.device)
            row[tokens] += torch.tensor(list(counts.values()), dtype=row.dtype, device=row.device) / (
                total + self._SHORTER
            )
        if self._by == Filter():
            return row.float()
        return distributions(row.log(), self._by, len(row))


class NGramModel(Model):
    """The n-gram model of `NGram` as a model whose rows `capture` stores. Only the tokens before a row matter."""

    name, values = "ngram", "probability"

    def __init__(self, vocabulary: int, order: int) -> None:
        self._vocabulary, self._order = vocabulary, order

    def vocabulary(self) -> int:
        return self._vocabulary

    def rows(self, ids: Ids, at: Sequence[int]) -> NDArray[Any]:
        """Cost: V numbers for each row, and the counts of each sequence once."""
        found = np.empty((len(ids), len(at), self._vocabulary), dtype=np.float32)
        for sequence, rows in zip(ids.tolist(), found, strict=True):
            counts = NGram(self._vocabulary, self._order, torch.device("cpu"))
            for i in sorted(range(len(at)), key=at.__getitem__):
                rows[i] = counts.root(sequence[: at[i] + 1]).numpy()
        return found

    def describe(self) -> dict[str, Any]:
        return {"kind": "ngram", "order": self._order}
