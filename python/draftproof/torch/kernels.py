"""CUDA kernels as torch operators, and when the functions of draftproof.torch call them.

    torch.ops.draftproof.verify_rows        draws by a seed and a first trial: equal arguments give equal tokens
    torch.ops.draftproof.draw_rows          draws by the device's default generator, also for torch.compile

The library of kernels is searched for once (kernel_library.py); without it the functions run in their torch form. They
call kernels if all of these conditions hold:

    rows          CUDA tensors, float32; bfloat16 and float16 as logits, and as probabilities for recursive rejection
    temperature   a number or None
    drafts        1 .. 32 in each row; a vocabulary of at most 2^22 for logits
    uniforms      not given; with them the torch form runs, as documented for each function
    buckets       not given
    torch_form()  is not in effect
    a check       does not run in this thread: draftproof.check judges the torch form

Random numbers: row i of a batch is trial `offset + i` of a hash of the generator's seed; the generator's offset then
increases by the number of rows, rounded up to a multiple of 4, without waiting for the device. Equal seeds and offsets
give equal tokens, on every device and on the CPU. Threads that also draw by torch need a separate generator each,
because torch does not take the lock of these functions.

The random numbers, and so the tokens, differ from the torch form, but their distribution does not. Ladders put tokens
in buckets of equal p / q (docs/ladder.md), whose acceptance is some 1e-4 below the optimum, and do not normalise
probabilities.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor

from draftproof.intercept._scalars import here
from draftproof.intercept._torch_generators import default_of

from . import kernel_library
from .inputs import Options, drafts_of, want, want_rows, want_temperature, want_tensors
from .rows import Rows

_ROWS = "str verifier, Tensor p, Tensor q, Tensor drafts, Tensor counts, bool logits, float temperature, bool check"
_MASK = (1 << 64) - 1
_off = ContextVar("draftproof_torch_form", default=False)
_lock = threading.RLock()


@contextmanager
def torch_form() -> Iterator[None]:
    """Disables kernels for functions of draftproof.torch, in this thread or task, until the context ends."""
    token = _off.set(True)
    try:
        yield
    finally:
        _off.reset(token)


def hashed(seed: int) -> int:
    """Returns the signed seed of the kernels, a hash of `seed` by splitmix64 (Steele et al. 2014), so that kernels do
    not use the same key as torch's generators."""
    x = (seed + 0x9E3779B97F4A7C15) & _MASK
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _MASK
    x ^= x >> 31
    return x - (1 << 64) if x >> 63 else x


def reserve(generator: torch.Generator, count: int) -> tuple[int, int]:
    """Returns the seed and the number of the first of `count` trials. Moves the offset of the generator, which is on a
    CUDA device, beyond these trials, so that no other call uses their numbers."""
    with _lock:
        offset = generator.get_offset()
        generator.set_offset(offset + (count + 3) // 4 * 4)
    return hashed(generator.initial_seed()), offset


def operators() -> Any:
    """Returns torch.ops.draftproof with its operators; None if the library is not built, or torch is older than 2.4.

    Raises: OSError if the library cannot be loaded.
    """
    with _lock:
        if not _kept and hasattr(torch.library, "register_fake") and kernel_library.library() is not None:
            _kept.append(_defined())
    return torch.ops.draftproof if _kept else None


def _defined() -> Any:
    """Defines the operators and returns their library."""
    result = "(Tensor, Tensor)"

    def shapes(verifier: str, p: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
        b = p.shape[0]
        return p.new_empty((b, 2), dtype=torch.int32), p.new_empty((b,), dtype=torch.int64)

    def draw_rows(verifier: str, p: Tensor, *others: Any) -> tuple[Tensor, Tensor]:
        arguments: list[Any] = [verifier, p, *others, *reserve(default_of(p.device), len(p))]
        return kernel_library.verify_rows(*arguments)

    library = torch.library.Library("draftproof", "FRAGMENT")
    drawn = (torch.Tag.nondeterministic_seeded,)
    library.define(f"verify_rows({_ROWS}, int seed, int first_trial) -> {result}")
    library.define(f"draw_rows({_ROWS}) -> {result}", tags=drawn)
    for device in ("CPU", "CUDA"):
        library.impl("verify_rows", kernel_library.verify_rows, device)
    library.impl("draw_rows", draw_rows, "CUDA")
    for name in ("verify_rows", "draw_rows"):
        torch.library.register_fake(f"draftproof::{name}", shapes, lib=library)
    return library


_kept: list[Any] = []  # torch removes the operators of a Library that is freed


def verified(verifier: str, p: Tensor, q: Tensor, drafts: Tensor, given: Options) -> tuple[Tensor, Tensor] | None:
    """Returns the token [B] and the index of the accepted draft [B] by the kernel of `verifier`, or None if the inputs
    need the torch form.

    p, q [B, V], drafts [B, K]; `given`: the options of the function. Waits for the device only with `check`, and for
    ladders, which require a draft in each row.
    Raises: ValueError as the torch form does, with `check` also where a row has no token to be drawn.
    """
    want_tensors(p=p, q=q, drafts=drafts)
    if p.device.type != "cuda" or operators() is None:
        return None
    kernel = kernel_library.kernels().get(verifier)
    if kernel is None or not _suits(kernel, p, q, drafts, given):
        return None
    v = p.shape[1]
    if given.check:
        want_rows("p", p, ("B", "V"), p.device)
        want_temperature(given.logits, given.temperature, len(p))
        tokens, lengths = drafts_of(drafts, (len(p), "K"), v, given)
        _check_rows(verifier, p, q, tokens, lengths, given)
    else:
        tokens = drafts.clamp(0, v - 1)
        lengths = (drafts >= 0).int().cumprod(1).sum(1) if given.lengths is None else given.lengths
    if kernel.plans and bool((lengths < 1).any()):
        return None
    generator = default_of(p.device) if given.generator is None else given.generator
    temperature = 1.0 if given.temperature is None else float(given.temperature)
    counts = lengths.clamp(0, drafts.shape[1]).to(torch.int32)
    numbers = reserve(generator, len(p))
    rows = p, q, tokens.to(torch.int32), counts, given.logits, temperature, False
    verdicts, faults = torch.ops.draftproof.verify_rows(verifier, *rows, *numbers)
    if given.check:
        bad = (verdicts[:, 0] < 0).nonzero()
        if len(bad) > 0:
            said = kernel_library.fault_of(int(bad[0]), int(faults[bad[0]]))
            raise ValueError(
                said or f"target[{int(bad[0])}]: got a row without probability mass, expected a distribution"
            )
    token, accepted = verdicts.long().unbind(1)
    return token, accepted


def _suits(kernel: kernel_library.Kernel, p: Tensor, q: Tensor, drafts: Tensor, given: Options) -> bool:
    """Whether the conditions of the module's docstring hold, except the condition on the device. Returns False for
    arguments of wrong shapes or types, so that the torch form runs and raises its ValueError."""
    k = drafts.shape[-1] if drafts.dim() == 2 else 0
    half = p.dtype in (torch.bfloat16, torch.float16) and (given.logits or not kernel.plans)
    integers = not (drafts.is_floating_point() or drafts.is_complex() or drafts.dtype == torch.bool)
    lengths = given.lengths
    return (
        given.uniforms is None
        and not _off.get()
        and here.tape is None
        and here.seed is None
        and (p.dtype == torch.float32 or half)
        and p.dim() == 2
        and p.shape == q.shape
        and p.dtype == q.dtype
        and p.device == q.device == drafts.device
        and len(p) == len(drafts) > 0
        and integers
        and 1 <= k <= kernel_library.MOST_DRAFTS
        and 1 <= p.shape[1] <= (kernel_library.MOST_LOGITS if given.logits else 2**31 - 1)
        and not isinstance(given.temperature, Tensor)
        and (given.temperature is None or (given.logits and given.temperature > 0))
        and (given.generator is None or given.generator.device.type == "cuda")
        and (lengths is None or (tuple(lengths.shape) == (len(p),) and lengths.device == p.device))
        and not (p.requires_grad or q.requires_grad)
    )


def _check_rows(verifier: str, p: Tensor, q: Tensor, drafts: Tensor, lengths: Tensor, given: Options) -> None:
    """Checks the values of rows and drafts as the torch form does. Raises: ValueError."""
    from .verifiers.recursive_rejection_without_replacement import want_distinct, want_drafted

    p_rows = Rows("p", p[:, None], given.logits, given.temperature)
    q_rows = Rows("q", q[:, None], given.logits, given.temperature)
    p_rows.check(torch.ones_like(lengths))
    q_rows.check(lengths.clamp(max=1))
    if verifier.endswith("_wor"):
        there = torch.arange(drafts.shape[1], device=drafts.device) < lengths[:, None]
        want_distinct(drafts, there)
        want_drafted(drafts, there, q_rows.of(drafts))


def ready() -> bool:
    """Whether a CUDA device is available and the library of kernels is loaded."""
    return torch.cuda.is_available() and operators() is not None


def require() -> Any:
    """Returns torch.ops.draftproof. Raises: ValueError if the library of kernels is not found."""
    found = operators()
    places = ", ".join(map(str, kernel_library.places()))
    want(found is not None, "kernels", f"no library at {places}", f"{kernel_library.FILE}, by ./dev build device")
    return found
