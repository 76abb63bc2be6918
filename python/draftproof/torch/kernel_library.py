"""The library of CUDA kernels, libdraftproof_kernels.so, called by ctypes. gpu/calls/verify_rows.hpp declares it.

It is built with the kernels (`./dev build device`), without headers of torch, so it works with any version of torch.
It is searched for once, on the first call that could use it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from draftproof import program

from .inputs import want

VARIABLE, FILE = "DRAFTPROOF_KERNELS", "libdraftproof_kernels.so"
FORMATS = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2}
MOST_DRAFTS = 32  # drafts of a position, max_drafts of sim/token.hpp
MOST_LOGITS = 1 << 22  # length of a row of logits, most_tokens of gpu/stored_batch.hpp


class Kernel(NamedTuple):
    """A verifier that has a kernel.

    fewest, most    drafts of a position; most is 0 for no limit
    plans           the kernel computes a plan first: each row needs a draft, and rows of probabilities sum to 1
    distributions   draft samplings that it supports; empty: any
    """

    fewest: int
    most: int
    plans: bool
    distributions: tuple[str, ...]


class DraftproofRows(ctypes.Structure):
    """The struct `draftproof_rows` of gpu/calls/verify_rows.hpp."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("format", "logits", "check", "positions", "vocabulary", "proposals")),
        *((name, ctypes.c_double) for name in ("target_temperature", "proposal_temperature")),
        ("target", ctypes.c_void_p),
        ("target_stride", ctypes.c_int64),
        ("proposal", ctypes.c_void_p),
        ("proposal_stride", ctypes.c_int64),
        ("proposal_row_stride", ctypes.c_int64),
        ("drafts", ctypes.c_void_p),
        ("draft_stride", ctypes.c_int64),
        ("counts", ctypes.c_void_p),
        ("seed", ctypes.c_uint64),
        ("first_trial", ctypes.c_uint64),
        ("faults", ctypes.c_void_p),
        ("verdicts", ctypes.c_void_p),
    )


def places() -> list[Path]:
    """Returns the candidates for the library's file: only the file that DRAFTPROOF_KERNELS names, if it is set; else
    files beside the program, and in the build folders of a checkout."""
    if named := os.environ.get(VARIABLE):
        return [Path(named).expanduser().absolute()]
    found = [Path(__file__).resolve().parents[1] / "bin" / FILE]
    with contextlib.suppress(program.ProgramNotFound):
        found.append(program.find().parent / FILE)
    root = Path(__file__).resolve().parents[3]
    if (root / "CMakePresets.json").is_file():
        found += [root / "build" / folder / FILE for folder in ("device", "default")]
    return found


@functools.cache
def library() -> Any:
    """Loads the library; None if it is not built. Raises: OSError if a file of that name cannot be loaded."""
    path = next((path for path in places() if path.is_file()), None)
    if path is None:
        if os.environ.get(VARIABLE):
            raise FileNotFoundError(f"{VARIABLE}={os.environ[VARIABLE]}: got no such file, expected {FILE}")
        return None
    loaded = ctypes.CDLL(str(path))
    rows, text, size = ctypes.POINTER(DraftproofRows), ctypes.c_char_p, ctypes.c_size_t
    loaded.draftproof_verify_rows.argtypes = [text, rows, ctypes.c_void_p, text, size]
    loaded.draftproof_verify_rows_on_host.argtypes = [text, rows, text, size]
    loaded.draftproof_kernel_names.argtypes = [text, size]
    loaded.draftproof_describe_fault.argtypes = [ctypes.c_int64, ctypes.c_uint64, text, size]
    return loaded


@functools.cache
def kernels() -> dict[str, Kernel]:
    """Returns the verifiers that have a kernel, by name; empty without a library."""
    if library() is None:
        return {}
    names = ctypes.create_string_buffer(1 << 16)
    _raise(library().draftproof_kernel_names(names, len(names)), names)
    lines = [line.split() for line in names.value.decode().splitlines()]
    return {
        name: Kernel(int(fewest), int(most), plans == "1", tuple(distributions))
        for name, fewest, most, plans, *distributions in lines
    }


def fault_of(position: int, word: int) -> str:
    """Returns a text that describes the fault of a position, which is encoded in the signed integer `word`; "" for
    0."""
    text = ctypes.create_string_buffer(512)
    _raise(library().draftproof_describe_fault(position, word & (1 << 64) - 1, text, len(text)), text)
    return text.value.decode()


def _raise(code: int, error: ctypes.Array[ctypes.c_char]) -> None:
    """Raises: ValueError on bad input, RuntimeError if a call of CUDA failed or the verifier has no kernel."""
    if code != 0:
        said = error.value.decode(errors="replace")
        raise ValueError(said) if code in (2, 3) else RuntimeError(said)


def verify_rows(
    verifier: str,
    p: Tensor,
    q: Tensor,
    drafts: Tensor,
    counts: Tensor,
    logits: bool,
    temperature: float,
    check: bool,
    seed: int,
    first_trial: int,
) -> tuple[Tensor, Tensor]:
    """Returns verdicts int32 [B, 2], which are the token and the index of the accepted draft, and faults int64 [B], -1
    for none.

    p [B, V], q [B, V] or [B, K, V], drafts int32 [B, K], counts int32 [B]. On CUDA tensors the call is queued on the
    current stream; for CPU tensors the host form of the verifier decides, one position after another.
    Raises: ValueError; RuntimeError if a call of CUDA fails.
    """
    b, v = p.shape
    several = q.dim() == 3
    want(p.dtype in FORMATS and q.dtype == p.dtype, "dtype", (p.dtype, q.dtype), "float32, bfloat16 or float16 of both")
    k = drafts.shape[-1]
    want(tuple(q.shape) in ((b, v), (b, k, v)), "q: shape", tuple(q.shape), f"({b}, {v}) or ({b}, {k}, {v})")
    good = tuple(drafts.shape) == (b, k) and 1 <= k <= MOST_DRAFTS
    want(good, "drafts: shape", tuple(drafts.shape), f"({b}, K), K from 1 to {MOST_DRAFTS}")
    want(tuple(counts.shape) == (b,), "counts: shape", tuple(counts.shape), f"({b},)")
    integers = drafts.dtype == counts.dtype == torch.int32
    want(integers, "drafts and counts: dtype", (drafts.dtype, counts.dtype), "torch.int32")
    for name, tensor in (("q", q), ("drafts", drafts), ("counts", counts)):
        want(tensor.device == p.device, f"{name}: device", tensor.device, p.device)
    if p.device.type == "cpu" and b > 0:
        want(int(counts.max()) <= k, "counts", int(counts.max()), f"0 .. {k}")
    p, q, drafts, counts = (x if x.stride(-1) == 1 else x.contiguous() for x in (p, q, drafts, counts))
    verdicts = torch.empty((b, 2), dtype=torch.int32, device=p.device)
    faults = torch.full((b,), -1, dtype=torch.int64, device=p.device)
    rows = DraftproofRows(
        format=FORMATS[p.dtype],
        logits=logits,
        check=check,
        positions=b,
        vocabulary=v,
        proposals=q.shape[1] if several else 1,
        target_temperature=temperature,
        proposal_temperature=temperature,
        target=p.data_ptr(),
        target_stride=p.stride(0),
        proposal=q.data_ptr(),
        proposal_stride=q.stride(0),
        proposal_row_stride=q.stride(1) if several else 0,
        drafts=drafts.data_ptr(),
        draft_stride=drafts.stride(0),
        counts=counts.data_ptr(),
        seed=seed & (1 << 64) - 1,
        first_trial=first_trial & (1 << 64) - 1,
        faults=faults.data_ptr() if logits or check else None,
        verdicts=verdicts.data_ptr(),
    )
    error = ctypes.create_string_buffer(1024)
    if p.device.type == "cuda":
        with torch.cuda.device(p.device):
            stream = torch.cuda.current_stream().cuda_stream
            code = library().draftproof_verify_rows(verifier.encode(), rows, stream, error, len(error))
    else:
        code = library().draftproof_verify_rows_on_host(verifier.encode(), rows, error, len(error))
    _raise(code, error)
    return verdicts, faults
