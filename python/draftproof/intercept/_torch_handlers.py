"""Random operators of torch, drawn from a tape: one function for each operator's name. Each function handles all
overloads: functional, in-place, `out=`, like-variants, with and without a generator.

A new operator is one function with `@handles("aten::name")`. It gets the tape, the overload, and the arguments, and
returns a result like the operator's. Dispatch modes are off inside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from draftproof.intercept import _elements as elements
from draftproof.intercept._elements import Shape, note, refuse
from draftproof.intercept._torch_numbers import affine, dtype_name, placed, significand, uniform_bits
from draftproof.tape import RowsUnclear, Tape

Handler = Callable[[Tape, Any, tuple[Any, ...], dict[str, Any]], Any]
Target = tuple[Shape, torch.dtype, torch.device]
HANDLERS: dict[str, Handler] = {}
_CPU = torch.device("cpu")


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Registers a handler for operators by name, without the overload."""

    def add(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return add


@functools.cache
def _signature(operator: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    arguments = operator._schema.arguments
    return tuple(a.name for a in arguments), {a.name: a.default_value for a in arguments}


def arguments_of(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Returns all arguments by their names in the schema, with defaults for arguments that are not given."""
    names, defaults = _signature(operator)
    return defaults | dict(zip(names, args, strict=False)) | kwargs


def target_of(given: dict[str, Any], default: torch.dtype | None = None) -> Target:
    """Returns shape, dtype and device of the result of a factory, a like-variant, or an operator on `self`."""
    out, like = given.get("out"), given.get("self")
    shape = tuple(given["size"]) if "size" in given else (given["n"],) if like is None else tuple(like.shape)
    if out is not None:
        return shape, out.dtype, out.device
    dtype, device = given.get("dtype"), given.get("device")
    if not isinstance(dtype, torch.dtype):  # dtype is None, or a number from the schema's defaults
        dtype = like.dtype if like is not None else default or torch.get_default_dtype()
    if device is None:
        device = like.device if like is not None else _CPU
    return shape, dtype, device


def is_meta(device: torch.device) -> bool:
    """Whether tensors of this device have no elements, so that nothing is drawn."""
    return bool(device.type == "meta")


def finished(operator: Any, given: dict[str, Any], values: Any, target: Target) -> Any:
    """Writes the result to `self`, to `out` or to a new tensor, as the operator does, and returns this tensor."""
    shape, dtype, device = target
    result = placed(values, shape, dtype, device)
    if operator._schema.name.endswith("_"):
        return given["self"].copy_(result)
    out = given.get("out")
    if out is None:
        return result
    if out.shape != result.shape:
        out.resize_(result.shape)
    return out.copy_(result)


@handles("aten::rand", "aten::rand_like", "aten::uniform", "aten::uniform_")
def uniform(tape: Tape, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = arguments_of(operator, args, kwargs)
    target = target_of(given)
    shape, dtype, device = target
    if is_meta(device):
        return operator(*args, **kwargs)
    name, race = operator._schema.name, elements.is_race(tape, shape)
    note(tape, name, dtype_name(dtype), shape, given.get("generator") is not None, "race" if race else "coin")
    bits = uniform_bits(dtype, device)
    if race:
        drawn = elements.raced_uniforms(tape, name, shape, bits, significand(dtype), name[6:])
    else:
        drawn = elements.coins(tape, name, shape, bits, name[6:])
    return finished(operator, given, affine(drawn, given.get("from", 0.0), given.get("to", 1.0), dtype), target)


@handles("aten::exponential", "aten::exponential_")
def exponential(tape: Tape, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns clocks in the dtype. CPU kernels compute a double and round it once to the dtype, so clocks have the full
    significand of the dtype and are not multiples of a power of two.

    Clocks are clamped to the positive numbers of the dtype, because the host may force a clock of 2^-60 or 2^100, which
    would round to 0 or inf and make the function compute 0 / 0 or inf / inf.
    """
    given = arguments_of(operator, args, kwargs)
    target = target_of(given)
    shape, dtype, device = target
    if is_meta(device):
        return operator(*args, **kwargs)
    name, rate = operator._schema.name, given["lambd"]
    note(tape, name, dtype_name(dtype), shape, given.get("generator") is not None, "clock")
    drawn = elements.clocks(tape, name, shape, significand(dtype), name[6:])
    info = torch.finfo(dtype)
    low, high = info.smallest_normal * info.eps, info.max
    if isinstance(drawn, list):
        values: Any = [min(max(clock / rate, low), high) for clock in drawn]
    else:
        values = np.clip(drawn / rate, low, high)
    return finished(operator, given, values, target)


@handles("aten::multinomial")
def multinomial(tape: Tape, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = arguments_of(operator, args, kwargs)
    weights, samples = given["self"], int(given["num_samples"])
    if is_meta(weights.device):
        return operator(*args, **kwargs)
    if weights.dim() not in (1, 2) or not weights.is_floating_point():
        raise RuntimeError(
            f"multinomial: got weights of {dtype_name(weights.dtype)}, shape {list(weights.shape)}; "
            "expected floating point numbers in one or two dimensions"
        )
    cells = weights.shape[-1]
    if samples < 1 or (samples > cells and not given["replacement"]):
        raise RuntimeError(
            f"multinomial: got {samples} samples of {cells} cells, expected at least 1, and without replacement at "
            f"most {cells}"
        )
    note(tape, "aten::multinomial", dtype_name(weights.dtype), tuple(weights.shape), given["generator"] is not None,
         "pick")  # fmt: skip
    shape = (*weights.shape[:-1], samples)
    if tape.rows > 1 and weights.dim() == 1:
        table: Any = weights.double().cpu().numpy()[None].repeat(samples, 0)
        if samples > 1 and not given["replacement"]:
            raise RowsUnclear("aten::multinomial", shape, tape.rows)
        drawn = elements.picks(tape, "aten::multinomial", table, 1, True, "multinomial")
    else:
        table = weights.tolist() if weights.dim() == 2 else [weights.tolist()]
        drawn = elements.picks(tape, "aten::multinomial", table, samples, bool(given["replacement"]), "multinomial")
    out = given.get("out")
    return finished(operator, given, drawn, (shape, torch.int64, weights.device if out is None else out.device))


@handles("aten::bernoulli", "aten::bernoulli_")
def bernoulli(tape: Tape, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns 1 where u < p, else 0. u is a double if p is a tensor of doubles, and a float for a tensor of another
    dtype. If p is a number, u is a double on the CPU and a float on other devices.
    """
    given = arguments_of(operator, args, kwargs)
    target = target_of(given)
    shape, dtype, device = target
    if is_meta(device):
        return operator(*args, **kwargs)
    name, p = operator._schema.name, given.get("p", given["self"])
    is_number = not isinstance(p, torch.Tensor)
    double = device.type == "cpu" if is_number else p.dtype == torch.float64
    note(tape, name, dtype_name(dtype), shape, given.get("generator") is not None, "coin")
    bits = uniform_bits(torch.float64 if double else torch.float32, device)
    drawn = elements.coins(tape, name, shape, bits, name[6:])
    if is_number:
        chance: Any = [float(p)] * len(drawn)
    else:
        chance = p.detach().double().expand(shape).reshape(-1).tolist()
    if not all(0 <= x <= 1 for x in chance):
        raise RuntimeError(f"{name}: got a probability outside [0, 1] in {chance[:16]}")
    return finished(operator, given, [float(u < x) for u, x in zip(drawn, chance, strict=True)], target)


@handles("aten::randint", "aten::randint_like", "aten::random", "aten::random_")
def integer(tape: Tape, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns integers low .. high - 1. Without `to`, random_ draws up to the dtype's largest integer or
    2^significand."""
    given = arguments_of(operator, args, kwargs)
    target = target_of(given, torch.int64)
    shape, dtype, device = target
    if is_meta(device):
        return operator(*args, **kwargs)
    name = operator._schema.name
    low, high = given.get("low") or given.get("from") or 0, given.get("high", given.get("to"))
    if high is None:
        if dtype.is_floating_point:
            high = 2 ** significand(dtype) + 1
        else:
            high = 2 if dtype == torch.bool else torch.iinfo(dtype).max + 1
    low, high = int(low), int(high)
    if high <= low:
        raise RuntimeError(f"{name}: got from {low} to {high}, expected an end above the start")
    kind = elements.kind_of_integers(tape, shape, high - low)
    note(tape, name, dtype_name(dtype), shape, given.get("generator") is not None, kind)
    drawn = elements.integers(tape, name, shape, high - low, name[6:])
    return finished(operator, given, [x + low for x in drawn] if low else drawn, target)


@handles("aten::randperm")
def permutation(tape: Tape, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = arguments_of(operator, args, kwargs)
    target = target_of(given, torch.int64)
    shape, dtype, device = target
    if is_meta(device):
        return operator(*args, **kwargs)
    n = shape[0]
    note(tape, "aten::randperm", dtype_name(dtype), shape, given.get("generator") is not None, "integer")
    drawn = elements.permutation(tape, "aten::randperm", n, n, "randperm")
    return finished(operator, given, drawn, target)


def by_normals(*names: str) -> None:
    """Registers handlers for operators that draw normal numbers or sums of many draws. The handlers raise
    UnknownRandomness with a message that lists the supported kinds of draws."""

    def handler(tape: Tape, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = arguments_of(operator, args, kwargs)
        if any(isinstance(value, torch.Tensor) and is_meta(value.device) for value in given.values()):
            return operator(*args, **kwargs)
        refuse(tape, operator._schema.name, "no verifier of tokens needs it; draw uniforms, exponentials or by weights")

    handles(*names)(handler)


by_normals("aten::randn", "aten::randn_like", "aten::normal", "aten::normal_", "aten::normal_functional",
           "aten::log_normal", "aten::log_normal_", "aten::cauchy", "aten::cauchy_", "aten::geometric",
           "aten::geometric_", "aten::poisson", "aten::binomial", "aten::_standard_gamma",
           "aten::_sample_dirichlet")  # fmt: skip
