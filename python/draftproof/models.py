"""Small models as objects, for engines that serve several requests and for functions that draft and verify in one
step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

EVERY_PREFIX = "every_prefix"  # the draft sampling whose drafts are all sequences of 1 to L tokens
MOST_NODES = 14  # most drafts of EVERY_PREFIX: L = 3 for V = 2, L = 2 for V = 3, L = 1 for V = 4


@dataclass(frozen=True, eq=False)
class StateModel:
    """A model whose next row is a function of the whole prefix, through a state.

    rows   [S, V]: the distribution of the next token in each state, float64 or as declared for fn
    next   int32 [S, V]: the state after a token. A text starts in state 0
    """

    rows: Any
    next: NDArray[np.int32]

    @property
    def vocabulary(self) -> int:
        """The number V of tokens."""
        return int(self.rows.shape[1])

    def state(self, tokens: Iterable[int], state: int = 0) -> int:
        """Returns the state after reading `tokens` from `state` on. Cost: one look-up for each token."""
        return self._states(tokens, state)[-1]

    def rows_after(self, tokens: Iterable[int], state: int = 0) -> Any:
        """Returns [n + 1, V]: the row in `state` and the row after each of n tokens, as in one pass of a model."""
        return self.rows[self._states(tokens, state)]

    def _states(self, tokens: Iterable[int], state: int) -> list[int]:
        table = self._table
        return list(accumulate(tokens, lambda before, token: table[before][token], initial=state))

    @cached_property
    def _table(self) -> list[list[int]]:
        """`next` as lists, because an entry of a list is read several times faster than one of an array."""
        return self.next.tolist()  # type: ignore[no-any-return]


def of_models(step: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Returns a verifier of trees with this name that calls step(target, proposal, L) with two models.

    The drafts are all sequences of 1 to L tokens, level by level, children in the order of tokens, so that p and q are
    the models' rows. The program sends no proposal row after L tokens; the row of the empty sequence takes its place.
    """
    parameters = dict(inspect.signature(step).parameters)

    def verify(p: Any, q: Any, drafts: Any, parents: Any, **generators: Any) -> Any:
        nodes, vocabulary = p.shape
        inner = (nodes - 1) // vocabulary  # nodes with children
        parent = np.arange(inner) * vocabulary
        proposal = q[np.concatenate([parent, np.zeros(nodes - inner, parent.dtype)])]
        children, length = _every_prefix(nodes, vocabulary)
        return step(StateModel(p, children), StateModel(proposal, children), length, **generators)

    verify.__name__ = name
    verify.__module__ = str(getattr(step, "__module__", ""))  # Functions of draftproof are not searched for generators.
    given = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("p", "q", "drafts", "parents")
    ]
    own = [parameters[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in ("rng", "generator")
           if name in parameters]  # fmt: skip
    verify.__signature__ = inspect.Signature(given + own)  # type: ignore[attr-defined]
    return verify


@cache
def _every_prefix(nodes: int, vocabulary: int) -> tuple[NDArray[np.int32], int]:
    """Returns the child of each node for each token, [nodes, V], and the depth of the tree. In the last level, where a
    node has no children, the entries are the node itself."""
    children = np.arange(nodes, dtype=np.int32)[:, None] * vocabulary + 1 + np.arange(vocabulary, dtype=np.int32)
    depth, first = 0, 1
    while first < nodes:
        depth, first = depth + 1, first * vocabulary + 1
    table = np.where(children < nodes, children, np.arange(nodes, dtype=np.int32)[:, None])
    table.flags.writeable = False  # all calls share it
    return table, depth
