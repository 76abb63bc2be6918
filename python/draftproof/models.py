"""Small models as objects, which an engine with several requests gets in place of its target and draft model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class StateModel:
    """A model whose next row is a function of the whole prefix, through a state.

    rows   float64 [S, V]: the distribution of the next token in each state
    next   int32 [S, V]: the state after a token. A text starts in state 0

    Two different states stay different whatever tokens follow. So a token that an engine's cache has lost, read twice
    or taken from another request changes every later row of that request.
    """

    rows: NDArray[np.float64]
    next: NDArray[np.int32]

    @property
    def vocabulary(self) -> int:
        """V."""
        return int(self.rows.shape[1])

    def state(self, tokens: Iterable[int], state: int = 0) -> int:
        """Returns the state after reading `tokens` from `state` on. Cost: one look-up for each token."""
        for token in tokens:
            state = int(self.next[state, token])
        return state

    def rows_after(self, tokens: Iterable[int], state: int = 0) -> NDArray[np.float64]:
        """Returns the rows before and after each of n tokens, float64 [n + 1, V], as one pass of a model over them."""
        states = [state]
        for token in tokens:
            states.append(int(self.next[states[-1], token]))
        return self.rows[states]
