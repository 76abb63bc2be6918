"""Torch's default generators: one for the CPU, and one for each CUDA device once CUDA is initialised.

A generator of a device is a seed and an offset in the host's memory. Reading and setting them costs microseconds and
does not wait for the device. Before CUDA is initialised a device has no generator; it is then made with the seed of the
last torch.manual_seed, which the CPU's generator has, too.
"""

from __future__ import annotations

from typing import Any

import torch

from draftproof.tape import Tape, UnknownRandomness

OUT_OF_SIGHT = (
    "numbers of the device's generator were drawn by code outside torch's operators: a kernel or an extension. They "
    "cannot be replaced: give the random numbers to it as an argument, or declare scripted=False"
)


def defaults() -> tuple[torch.Generator, ...]:
    """Returns torch's default generators, the CPU's first."""
    devices: tuple[torch.Generator, ...] = torch.cuda.default_generators if torch.cuda.is_initialized() else ()
    return (torch.default_generator, *devices)


def default_of(device: torch.device | None) -> torch.Generator:
    """Returns the generator that operators on a device draw from if no generator is given: the default generator of the
    CUDA device, or of the CPU for all other devices."""
    if device is None or device.type != "cuda" or not torch.cuda.is_initialized():
        return torch.default_generator
    index = torch.cuda.current_device() if device.index is None else device.index
    return torch.cuda.default_generators[index]


def device_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.device | None:
    """Returns the device that an operator with these arguments draws on; None if no argument has a device."""
    device = kwargs.get("device")
    if device is not None:
        return torch.device(device)
    return next((x.device for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor)), None)


def states() -> list[torch.Tensor]:
    """Returns the states of torch's default generators."""
    return [generator.get_state() for generator in defaults()]


def changed(before: list[torch.Tensor], first_seed: int) -> bool:
    """Whether a generator drew or was seeded since `before = states()`. New generators begin with `first_seed`."""
    now = defaults()
    for generator, state in zip(now, before, strict=False):
        if not torch.equal(generator.get_state(), state):
            return True
    return any(g.initial_seed() != first_seed or g.get_offset() != 0 for g in now[len(before) :])


def restore(before: list[torch.Tensor]) -> None:
    """Restores the states of `before`. Generators that were made after `before = states()` get the seed of the CPU's
    generator."""
    now = defaults()
    for generator, state in zip(now, before, strict=False):
        generator.set_state(state)
    for generator in now[len(before) :]:
        generator.manual_seed(now[0].initial_seed())


def refuse_unseen(tape: Tape, marks: tuple[int, int]) -> None:
    """Puts an UnknownRandomness on the tape if, after a call, a device's generator has a mark as its seed and an offset
    above 0. A mark is a unique seed that interception sets after each draw of an operator, which resets the offset to
    0; so an offset above 0 means that code outside torch's operators drew.

    marks: the first mark, and the end of the range of seeds that are marks.
    """
    for index, generator in enumerate(defaults()[1:]):
        if marks[0] <= generator.initial_seed() < marks[1] and generator.get_offset() != 0 and tape.refused is None:
            tape.refused = UnknownRandomness(f"the generator of cuda:{index}", OUT_OF_SIGHT)
