"""keyed: makes a function for `check` from a function that takes all its random numbers from a key.

Watermarks and reproducible sampling replace random numbers by noise that a key determines. Such a function is
deterministic for each key, and unbiased if its token has the target's distribution over uniform keys.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from draftproof.program import short


class NotDetermined(AssertionError):
    """Two calls of a function with equal rows and the same key gave different tokens. `keyed` raises it."""


def keyed(fn: Callable[..., int], keys: int = 2_147_483_648) -> Callable[..., int]:
    """Returns a function for `check(.., level="position")` that calls `fn` with a uniform key below `keys`.

    fn        fn(p [V], q [V], key) -> token. It draws a draft from q, and takes all its random numbers from the key
    keys      number of keys

    The drafts that `check` draws are not used. The proof tier replaces the numbers of generators whose seed contains
    the key, as in numpy.random.default_rng([key, 1]). Two generators with one seed read the same numbers. Noise by
    other means, such as a hash, is judged by the sampled tier alone.
    Raises: ValueError if fn is no function, or keys is not an integer of 1 to 2^63 - 1. The returned function raises
    NotDetermined if two calls with the same key give different tokens.
    Cost: two calls of fn for each token.
    Source: derived here, docs/couplings.md.
    """

    if not callable(fn):
        raise ValueError(f"fn: got {short(fn)}, expected a function of p, q and a key")
    if not isinstance(keys, Integral) or not 1 <= keys < 2**63:
        raise ValueError(f"keys: got {short(keys)}, expected an integer of 1 to 2^63 - 1")

    @functools.wraps(fn)
    def over_keys(p: Any, q: Any, drafts: Any) -> int:
        key = int(np.random.randint(int(keys)))
        first = int(fn(_copied(p), _copied(q), key))
        second = int(fn(p, q, key))
        if first != second:
            raise NotDetermined(f"key {key}: got token {first}, then {second}")
        return first

    del over_keys.__wrapped__  # so that inspect.signature shows p, q and drafts
    return over_keys


def _copied(row: Any) -> Any:
    return row.clone() if hasattr(row, "clone") else row.copy()
