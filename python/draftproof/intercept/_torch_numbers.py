"""How torch draws uniforms: their grid, their affine range, how results are placed on a device, and seeds.

The seed of a generator is part of its state, which functions set, save and restore in many ways. So after each draw the
generator is seeded by a unique number, a mark. If the mark is there at the next draw, the stream goes on; any other
seed was set by the function.
"""

from __future__ import annotations

import functools
import math
import secrets
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from draftproof.intercept._scalars import drawing_from, source_of
from draftproof.intercept._torch_generators import default_of
from draftproof.seeds import SeededSource
from draftproof.tape import Tape


@functools.cache
def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@functools.cache
def significand(dtype: torch.dtype) -> int:
    """Returns the bits of the significand: 24 for float32, 53 for float64, 11 for float16, 8 for bfloat16."""
    return 1 - round(math.log2(torch.finfo(dtype).eps))


def _grid_of(drawn: torch.Tensor) -> int:
    """Returns the least b, at most 53, such that all numbers are multiples of 2^-b."""
    drawn = drawn.double()
    grids = (drawn * 2.0**bits for bits in range(1, 53))
    return next((bits for bits, scaled in enumerate(grids, 1) if bool((scaled == scaled.floor()).all())), 53)


@functools.cache
def uniform_bits(dtype: torch.dtype, device: torch.device) -> int:
    """Returns the least number of bits such that uniforms are multiples of 2^-bits before they are rounded to `dtype`.

    Because versions and devices differ, the bits are measured, with a separate generator. On the CPU, torch 2.15 has 24
    bits for float32, 53 for float64, and 24 for float16 and bfloat16, which are rounded from float32. Earlier versions
    drew half formats on grids of 2^-11 and 2^-8. Each of 512 numbers has its last bit set with probability 1/2, so the
    measured grid is too coarse with probability 2^-512.

    CUDA draws (x + 1/2) 2^-32, rounds it to a float, and turns 1 into 0: numbers below 2^-9 keep more bits than the
    tape's grid of 2^-24 has. A comparison of such a number has a probability that differs from the tape's by 2^-24 at
    most. For doubles the two probabilities differ by 2^-53 at most.
    """
    count, most = 512, 53 if dtype == torch.float64 else 24

    def drawn(of: torch.dtype) -> torch.Tensor:
        with drawing_from(None):  # so that no numbers of a running call's tape are used
            return torch.rand(count, dtype=of, device=device, generator=torch.Generator(device).manual_seed(0))

    if significand(dtype) < 24:
        rounded, half = drawn(torch.float32).to(dtype), drawn(dtype)
        if bool(((rounded == half) | (rounded == 1)).all()):
            return min(most, _grid_of(drawn(torch.float32)))
    return min(most, _grid_of(drawn(dtype)))


def affine(drawn: Any, low: float, high: float, dtype: torch.dtype) -> Any:
    """Returns uniforms of [low, high): u (high - low) + low, rounded once to float32, or to float64 for that dtype.

    A result that was rounded to `high` becomes `low`, as in torch; in half formats [0, 1) has such results, too.
    """
    if dtype in (torch.float32, torch.float64) and low == 0 and high == 1:
        return drawn
    single = torch.float64 if dtype == torch.float64 else torch.float32
    ends = torch.tensor([low, high], dtype=single)
    start, width = float(ends[0]), float(ends[1] - ends[0])
    if single == torch.float64 and start != 0:  # double arithmetic would round twice
        exact = [float(Fraction(u) * Fraction(width) + Fraction(start)) for u in drawn]
        rounded = torch.tensor(exact, dtype=torch.float64)
    else:
        rounded = (torch.as_tensor(drawn, dtype=torch.float64) * width + start).to(single).to(dtype)
    return torch.where(rounded == ends[1].to(dtype), ends[0].to(dtype), rounded)


def placed(values: Any, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Returns a tensor with the flat `values` in this shape, dtype and device."""
    if isinstance(values, torch.Tensor):
        return values.to(device=device, dtype=dtype).reshape(shape)
    if isinstance(values, np.ndarray):
        return torch.from_numpy(values).to(device=device, dtype=dtype).reshape(shape)
    if not shape:
        values = values[0]
    tensor = torch.tensor(values, dtype=dtype)  # with an argument `device`, torch.tensor takes a microsecond more
    if device.type != "cpu":
        tensor = tensor.to(device)
    return tensor if len(shape) < 2 else tensor.reshape(shape)


_first = (1 << 62) + secrets.randbits(60)  # first mark, in a range that functions hardly use for seeds
_next = _first


def mark(generator: torch.Generator) -> int:
    """Seeds the generator by a new mark, and returns it."""
    global _next
    number, _next = _next, _next + 1
    generator.manual_seed(number)
    return number


def is_mark(seed: int) -> bool:
    return _first <= seed < _next


def marks() -> tuple[int, int]:
    """Returns the first mark, and the end of the marks so far."""
    return _first, _next


def source_at(tape: Tape, generator: torch.Generator | None, device: torch.device | None = None) -> Any:
    """Returns the source of a generator's next draw: None if the call did not seed the generator; the generator itself
    if its seed is the same in every call; else a SeededSource. If `generator` is None, the generator is torch's default
    generator of the device."""
    if generator is None and not tape.every_operator:
        return None
    generator = default_of(device) if generator is None else generator
    seed = generator.initial_seed()
    if is_mark(seed):
        at = tape.seeded.get(("torch", seed))
        return None if at is None else SeededSource(at.root, at.at)  # a copy: the function may restore this state
    return source_of(tape, ("torch seed", seed), generator)


def drawn(
    tape: Tape, generator: torch.Generator | None, source: SeededSource, device: torch.device | None = None
) -> None:
    """Marks a generator after a draw from `source`. If `generator` is None, the generator is torch's default generator
    of the device."""
    tape.seeded["torch", mark(default_of(device) if generator is None else generator)] = source
