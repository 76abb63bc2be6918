"""A faster interpreter of Triton for kernels of a few tokens, whose time is the interpreter's own work."""

from __future__ import annotations

import dataclasses
from functools import cache
from types import SimpleNamespace
from typing import Any


def hasten() -> None:
    """Makes the interpreter do once what it repeats in every launch, in every call of a device function and in every
    operation. Results stay equal bit for bit.

    - The functions of triton.language stay replaced by interpreted ones, instead of being replaced and restored again.
    - The dtype of numpy for a dtype of Triton is looked up in a table that is built once.
    - An integer operation of at most 32 bits is not computed a second time in 64 bits to detect an overflow, because
      the interpreter, like compiled kernels, reports an overflow only in its debugging mode.
    """
    from triton.runtime import interpreter

    builder = interpreter.interpreter_builder
    if builder.options.debug or not builder.options.sanitize_overflow:  # the latter after a first call
        return
    patch, dtype_of, language = interpreter._patch_lang, interpreter._get_np_dtype, interpreter.tl
    patched: set[frozenset[int]] = set()  # sets of modules, by id, of triton.language that a function sees
    kept = SimpleNamespace(restore=lambda: None)

    def patch_once(fn: Any) -> Any:
        seen = {id(value) for value in fn.__globals__.values() if value is language or value is language.core}
        if frozenset(seen) not in patched:
            patch(fn)
            patched.add(frozenset(seen))
        return kept

    by_scalar = cache(dtype_of)  # types of pointers and blocks have no hash

    def dtype_of_type(given: Any) -> Any:
        scalar = given.scalar
        return dtype_of(scalar) if scalar.is_ptr() else by_scalar(scalar)

    interpreter._patch_lang, interpreter._get_np_dtype = patch_once, dtype_of_type
    builder.options = dataclasses.replace(builder.options, sanitize_overflow=False)
