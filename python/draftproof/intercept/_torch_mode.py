"""A dispatch mode of torch that draws random operators from a tape and runs all others.

An operator is random if it has torch's tag `nondeterministic_seeded`, takes a generator, or draws by a key. A random
operator without a handler raises UnknownRandomness with its name, unless its arguments show that it draws nothing
(dropout of 0, not training).
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from draftproof.intercept._elements import refuse
from draftproof.intercept._torch_generators import device_of, refuse_unseen
from draftproof.intercept._torch_handlers import HANDLERS, Handler
from draftproof.intercept._torch_numbers import drawn, marks, source_at
from draftproof.seeds import SeededSource
from draftproof.tape import Tape

# Operators that draw nothing, although they have the tag nondeterministic_seeded or a generator as an argument.
DRAW_NOTHING = frozenset({"aten::_fused_sdp_choice"})
# Operators that draw by a key or a seed in a tensor, and have neither this tag nor a generator.
BY_KEY = ("aten::_philox_uniform", "aten::_philox_normal", "aten::_philox_randint", "prims::inductor_random",
          "prims::inductor_randint", "inductor_prims::inductor_reserve_rng_state")  # fmt: skip


def is_random(operator: torch._ops.OpOverload) -> bool:
    """Whether the operator draws random numbers, by its tag, its name or its arguments."""
    name = operator._schema.name
    if name in DRAW_NOTHING:
        return False
    if torch.Tag.nondeterministic_seeded in operator.tags or name in HANDLERS:
        return True
    if name.startswith(BY_KEY):
        return True
    return any("Generator" in str(argument.type) for argument in operator._schema.arguments)


def draws_nothing(operator: torch._ops.OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the arguments disable the randomness of an operator."""
    given = {argument.name: argument.default_value for argument in operator._schema.arguments}
    given |= dict(zip(given, args, strict=False)) | kwargs
    off = any(given.get(name, True) is False for name in ("train", "training"))
    rates = ["dropout_p", "dropout"] + (["p"] if "dropout" in operator._schema.name else [])
    return off or any(given.get(name) == 0 and name in given for name in rates)


def unknown(operator: torch._ops.OpOverload) -> Handler:
    name = operator._schema.name

    def handler(tape: Tape, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if draws_nothing(operator, args, kwargs):
            return operator(*args, **kwargs)
        compiled = " It belongs to code that torch.compile made: give the function itself." if "induct" in name else ""
        refuse(
            tape,
            name,
            f"no handler says what it draws.{compiled} A function with @handles({name!r}) in "
            "draftproof/intercept/_torch_handlers.py, which draws coins, picks, clocks or integers, adds it.",
        )

    return handler


_table: dict[Any, Handler | None] = {}


def handler_of(operator: torch._ops.OpOverload) -> Handler | None:
    """Returns the handler of the operator; None for an operator that is not random."""
    if operator not in _table:
        _table[operator] = (HANDLERS.get(operator._schema.name) or unknown(operator)) if is_random(operator) else None
    return _table[operator]


def answer(tape: Tape, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any], handler: Handler) -> Any:
    """Returns the result of a random operator. A generator whose seed is the same in every call is not replaced."""
    generator = kwargs.get("generator")
    device = device_of(args, kwargs) if generator is None and torch.cuda.is_initialized() else None
    source = source_at(tape, generator, device)
    seeded = isinstance(source, SeededSource)
    if source is not None and not seeded:
        return operator(*args, **kwargs)
    tape.source = source
    result = handler(tape, operator, args, kwargs)
    if seeded:
        drawn(tape, generator, source, device)
    return result


def _dispatch(
    self: TapeMode, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
) -> Any:
    try:
        handler = _table[func]
    except KeyError:
        handler = handler_of(func)
    if handler is None:
        return func(*args, **kwargs) if kwargs else func(*args)
    return answer(self.tape, func, args, kwargs or {}, handler)


class TapeMode(TorchDispatchMode):  # type: ignore[misc]
    """Takes the random numbers of operators from `tape`.

    torch wraps `__torch_dispatch__` so that it is not compiled. Without this wrapper a call of a compiled function
    would also compile the handlers, which draw numbers.
    """

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self.tape = tape

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        if self.tape.every_operator and torch.cuda.is_initialized():
            refuse_unseen(self.tape, marks())

    __torch_dispatch__ = _dispatch


class PlainTapeMode(TapeMode):
    """TapeMode for functions that reach no compiled code. It does not use torch's wrapper, which would add microseconds
    to every operator."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    __torch_dispatch__ = _dispatch
