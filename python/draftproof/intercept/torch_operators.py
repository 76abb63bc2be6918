"""torch: takes the numbers of random operators on any device from a tape, by a dispatch mode below Python functions.

A mode makes every operator slower, so calls begin without it: the random functions of torch that usual verifiers call
are replaced instead (`_torch_functions.py`). If the states of torch's default generators, on the CPU or a CUDA device,
or of the generator given to the function show that anything else drew, the function runs under the mode from then on.

A compiled function (torch.compile) is run as the function it was made from, because torch does not enter compiled code
while a dispatch mode is active. The check then judges its operators, not the code that the compiler made of them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from draftproof.intercept._reach import objects_of

if TYPE_CHECKING:
    from draftproof.tape import Tape

NAME = "torch"

_lock, _depth = threading.Lock(), 0
_before: Any = None  # the states of torch's default generators outside of all checks
_first_seed = 0  # seed of the CPU's generator; torch gives it to generators of new devices


def present() -> bool:
    return sys.modules.get("torch") is not None


@contextmanager
def replaced() -> Iterator[None]:
    """Marks torch's default generators, so that every later seed is detected, and restores their states at the end."""
    from draftproof.intercept import _torch_generators, _torch_numbers
    from draftproof.intercept._torch_functions import patches

    global _depth, _before, _first_seed
    with patches().on():
        try:
            with _lock:
                _depth += 1
                if _depth == 1:
                    _before = _torch_generators.states()
                    _first_seed = _torch_generators.defaults()[0].initial_seed()
                    for generator in _torch_generators.defaults():
                        _torch_numbers.mark(generator)
            yield
        finally:
            with _lock:
                _depth -= 1
                if _depth == 0:
                    _torch_generators.restore(_before)


def scripted(tape: Tape) -> AbstractContextManager[None] | None:
    if not tape.every_operator:
        return None
    from draftproof.intercept import _torch_generators, _torch_numbers

    for generator in _torch_generators.defaults():
        if not _torch_numbers.is_mark(generator.initial_seed()):
            _torch_numbers.mark(generator)
    from draftproof.intercept._torch_mode import PlainTapeMode, TapeMode

    return cast("AbstractContextManager[None]", (TapeMode if tape.compiled else PlainTapeMode)(tape))


def state() -> Any:
    """Returns the states of torch's default generators; None if torch is not imported."""
    if not present():
        return None
    from draftproof.intercept import _torch_generators

    return _torch_generators.states()


def drew(before: Any) -> bool:
    """Whether one of torch's default generators drew or was seeded since `before = state()`. Torch may have been
    imported since then, and CUDA initialised."""
    if not present() or before is None:
        return False
    from draftproof.intercept import _torch_generators

    return _torch_generators.changed(before, _first_seed)


def advanced(generator: Any) -> bool:
    """Whether an operator that is not replaced drew from a torch.Generator: its state is not the state after its seed
    was set. A replaced function sets a new seed after each draw."""
    import torch

    fresh = torch.Generator(generator.device).manual_seed(generator.initial_seed())
    return not torch.equal(generator.get_state(), fresh.get_state())


def needs_every_operator(fn: Callable[..., Any]) -> bool:
    """Whether `fn` may draw from a torch.Generator that is not a default generator. `drew` does not detect such
    draws."""
    if not present():
        return False
    import torch

    return any(
        isinstance(thing, torch.Generator) or "Generator" in getattr(getattr(thing, "__code__", None), "co_names", ())
        for _, thing in objects_of(fn)
    )


def compiled_by(fn: Callable[..., Any]) -> str:
    """Returns the name by which `fn` reaches a function of torch.compile; empty if it does not name one."""
    return next((name for name, thing in objects_of(fn) if hasattr(thing, "_torchdynamo_orig_callable")), "")


def may_compile(fn: Callable[..., Any]) -> bool:
    """Whether `fn` may call a function of torch.compile: a function that `fn` names, or a function inside a library
    that `fn` names."""
    inside = ("transformers", "triton", "jax")
    owners = (thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
              for _, thing in objects_of(fn))  # fmt: skip
    return bool(compiled_by(fn)) or any(str(owner).partition(".")[0] in inside for owner in owners)


def seed(value: int) -> None:
    """Seeds torch's default generators. torch.manual_seed is not used, because it searches devices of every type and
    takes 100 times as long."""
    import torch

    torch.default_generator.manual_seed(value)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(value)


def unreachable(thing: object) -> str:
    """Returns an empty text, because only operators read generators of torch, and all operators are replaced."""
    del thing
    return ""
