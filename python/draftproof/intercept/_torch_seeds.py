"""What a generator of torch was seeded by, seen at each draw.

The seed of a generator is part of its state, which functions set, save and restore in many ways. So each generator
gets a seed of ours after a draw, a mark: one that has a mark goes on where that draw ended, and one that has another
seed was seeded by the function.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch

from draftproof.intercept._scalars import source_of
from draftproof.seeds import SeededSource
from draftproof.tape import Tape

FIRST_MARK = 1 << 62
_marks = itertools.count(FIRST_MARK)


def mark(generator: torch.Generator) -> int:
    """Seeds the generator by a new mark, and returns it."""
    number = next(_marks)
    generator.manual_seed(number)
    return number


def source_at(tape: Tape, generator: torch.Generator | None) -> Any:
    """What the next draw of a generator is of: a SeededSource; the generator itself, if its seed is the same in every
    call; None, if the call did not seed it."""
    if generator is None and not tape.every_operator:
        return None
    generator = torch.default_generator if generator is None else generator
    seed = generator.initial_seed()
    if seed >= FIRST_MARK:
        at = tape.seeded.get(("torch", seed))
        return None if at is None else SeededSource(at.root, at.at)  # the mark may come again
    return source_of(tape, ("torch seed", seed), generator)


def drawn(tape: Tape, generator: torch.Generator | None, source: SeededSource) -> None:
    """Marks the generator after a draw."""
    tape.seeded["torch", mark(torch.default_generator if generator is None else generator)] = source
