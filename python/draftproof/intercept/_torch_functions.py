"""Stand-ins for the random functions of torch that usual verifiers call.

They draw from the tape of the running call. Forms of arguments that they do not support run as an operator under the
dispatch mode. Without a tape they draw as the functions that they replace, in a seeded call from a generator of its
thread.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable
from typing import Any

import torch

from draftproof.intercept import _elements as elements
from draftproof.intercept._elements import note
from draftproof.intercept._scalars import Patches, own, running
from draftproof.intercept._torch_generators import default_of, device_of
from draftproof.intercept._torch_handlers import exponential
from draftproof.intercept._torch_mode import PlainTapeMode, answer
from draftproof.intercept._torch_numbers import drawn, dtype_name, placed, source_at, uniform_bits
from draftproof.seeds import SeededSource
from draftproof.tape import Tape

_CPU = torch.device("cpu")
# A function that draws for the usual arguments of a torch function and returns NotImplemented for other arguments.
_Direct = Callable[[Tape, tuple[Any, ...], dict[str, Any]], Any]


def _generator(seed: int) -> torch.Generator:
    return torch.Generator(_CPU).manual_seed(seed)


def _usual_device() -> torch.device:
    """Returns the device of torch.set_default_device or of `with torch.device(..)`, else the CPU."""
    return getattr(_device_contexts(), "CURRENT_DEVICE", None) or _CPU


@functools.cache
def _device_contexts() -> Any:
    try:
        return importlib.import_module("torch.utils._device")
    except ImportError:
        return None


def _stand_in(original: Any, direct: _Direct | None) -> Any:
    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        tape = running()
        if tape is None:
            generator = own("torch", _generator) if kwargs.get("generator") is None else None
            if generator is not None and (device_of(args, kwargs) or _usual_device()) == _CPU:
                kwargs["generator"] = generator
            return original(*args, **kwargs)
        if tape.every_operator:
            return original(*args, **kwargs)
        result = direct(tape, args, kwargs) if direct is not None else NotImplemented
        if result is NotImplemented:
            with PlainTapeMode(tape):
                return original(*args, **kwargs)
        return result

    return function


def _seeded_in_call(tape: Tape, generator: Any) -> bool:
    """Whether the running call seeded the generator, so that its numbers depend on the seed."""
    return generator is not None and source_at(tape, generator) is not None


def _rand(tape: Tape, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Draws torch.rand(sizes) on the CPU."""
    dtype, generator = kwargs.get("dtype"), kwargs.get("generator")
    if kwargs.keys() - {"dtype", "generator"} or _usual_device() != _CPU or _seeded_in_call(tape, generator):
        return NotImplemented
    shape = tuple(args[0]) if len(args) == 1 and isinstance(args[0], list | tuple) else args
    if not all(type(size) is int and size >= 0 for size in shape):
        return NotImplemented
    dtype = dtype or torch.get_default_dtype()
    if elements.is_race(tape, shape) or dtype not in (torch.float32, torch.float64):
        return NotImplemented
    note(tape, "aten::rand", dtype_name(dtype), shape, generator is not None, "coin")
    tape.source = None
    return placed(elements.coins(tape, "aten::rand", shape, uniform_bits(dtype, _CPU), "rand"), shape, dtype, _CPU)


def _multinomial(tape: Tape, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Draws one sample by weights [n] on the CPU, for the tensor method and for the function."""
    generator = kwargs.get("generator")
    if kwargs.keys() - {"generator"} or len(args) != 2 or args[1] != 1 or tape.one is None:
        return NotImplemented
    weights = args[0]
    if _seeded_in_call(tape, generator):
        return NotImplemented
    if weights.dim() != 1 or not weights.is_floating_point() or weights.device != _CPU or not len(weights):
        return NotImplemented
    given = generator is not None
    note(tape, "aten::multinomial", dtype_name(weights.dtype), tuple(weights.shape), given, "pick")
    tape.source = None
    return torch.tensor([tape.one.pick(weights.tolist(), "multinomial")])


def _exponential(tape: Tape, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Draws tensor.exponential_(lambd) on the CPU."""
    if args[0].device != _CPU:
        return NotImplemented
    return answer(tape, torch.ops.aten.exponential_.default, args, kwargs, exponential)


def _mark_state(device: torch.device) -> torch.Tensor:
    """Marks torch's default generator of the device and returns its state. A mark identifies the numbers that follow,
    so that they are repeated after the function restores the state."""
    tape = running()
    if tape is not None:
        source = source_at(tape, None, device)
        if source is None or isinstance(source, SeededSource):
            drawn(tape, None, source or SeededSource(("torch state", len(tape.seeded))), device)
    return default_of(device).get_state()


def _get_rng_state() -> torch.Tensor:
    return _mark_state(_CPU)


def _get_cuda_rng_state(device: int | str | torch.device = "cuda") -> torch.Tensor:
    torch.cuda.init()
    return _mark_state(torch.device("cuda", device) if isinstance(device, int) else torch.device(device))


@functools.cache
def patches() -> Patches:
    with contextlib.suppress(AttributeError):  # torch caches its functions here, before they are replaced
        _device_contexts()._device_constructors()
    functions = {"rand": _rand, "multinomial": _multinomial} | dict.fromkeys(
        ("bernoulli", "rand_like", "randint", "randint_like", "randperm", "normal", "randn", "randn_like", "poisson")
    )
    methods = {"multinomial": _multinomial, "exponential_": _exponential} | dict.fromkeys(
        ("bernoulli", "bernoulli_", "uniform_", "random_", "normal_", "geometric_", "cauchy_", "log_normal_")
    )
    changes: list[tuple[Any, str, Any]] = [(owner, "get_rng_state", _get_rng_state) for owner in (torch, torch.random)]
    changes += [(owner, "get_rng_state", _get_cuda_rng_state) for owner in (torch.cuda, torch.cuda.random)]
    for owner, names in ((torch, functions), (torch.Tensor, methods)):
        changes += [(owner, name, _stand_in(getattr(owner, name), direct)) for name, direct in names.items()]
    return Patches(changes)
