"""torch: every random operator on any device, below the Python functions, by a dispatch mode.

A compiled function (torch.compile) is run as the function it was made from: torch does not enter compiled code while a
dispatch mode is active. What is judged then are its operators, not the code that the compiler made of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from draftproof.intercept._reach import objects_of

if TYPE_CHECKING:
    from draftproof.tape import Tape

NAME = "torch"


def present() -> bool:
    return "torch" in sys.modules


def intercept(tape: Tape | None) -> AbstractContextManager[None]:
    if tape is None:
        return nullcontext()
    from draftproof.intercept._torch_mode import PlainTapeMode, TapeMode

    return cast("AbstractContextManager[None]", (TapeMode if tape.compiled else PlainTapeMode)(tape))


def compiled_by(fn: Callable[..., Any]) -> str:
    """How `fn` reaches a function of torch.compile; empty if it names none."""
    return next((name for name, thing in objects_of(fn) if hasattr(thing, "_torchdynamo_orig_callable")), "")


def may_compile(fn: Callable[..., Any]) -> bool:
    """Whether `fn` may call a function of torch.compile: one that it names, or one inside a library that it names."""
    inside = ("transformers", "triton", "jax")
    owners = (thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
              for _, thing in objects_of(fn))  # fmt: skip
    return bool(compiled_by(fn)) or any(str(owner).partition(".")[0] in inside for owner in owners)


def seed(value: int) -> None:
    import torch

    torch.manual_seed(value)


def unreachable(thing: object) -> str:
    """Generators of torch are read by operators, and those are seen: nothing is out of reach."""
    del thing
    return ""
