"""What a generator of torch was seeded by, seen at each draw.

The seed of a generator is part of its state, which functions set, save and restore in many ways. So after each draw the
generator is seeded by a unique number, a mark. If the mark is there at the next draw, the stream goes on; any other
seed was set by the function.
"""

from __future__ import annotations

import secrets
from typing import Any

import torch

from draftproof.intercept._scalars import source_of
from draftproof.seeds import SeededSource
from draftproof.tape import Tape

_first = (1 << 62) + secrets.randbits(60)  # seeds of functions are elsewhere
_next = _first


def mark(generator: torch.Generator) -> int:
    """Seeds the generator by a new mark, and returns it."""
    global _next
    number, _next = _next, _next + 1
    generator.manual_seed(number)
    return number


def is_mark(seed: int) -> bool:
    return _first <= seed < _next


def source_at(tape: Tape, generator: torch.Generator | None) -> Any:
    """What the next draw of a generator is of: a SeededSource; the generator itself, if its seed is the same in every
    call; None, if the call did not seed it."""
    if generator is None and not tape.every_operator:
        return None
    generator = torch.default_generator if generator is None else generator
    seed = generator.initial_seed()
    if is_mark(seed):
        at = tape.seeded.get(("torch", seed))
        return None if at is None else SeededSource(at.root, at.at)  # the mark may come again
    return source_of(tape, ("torch seed", seed), generator)


def drawn(tape: Tape, generator: torch.Generator | None, source: SeededSource) -> None:
    """Marks the generator after a draw."""
    tape.seeded["torch", mark(torch.default_generator if generator is None else generator)] = source
