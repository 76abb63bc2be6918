"""Failing instances of earlier runs, in .draftproof/failures.json of the working folder. They are checked first.

Functions here raise no OSError, so that a check has its verdict even if the folder or file cannot be used.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

MOST = 8  # most instances that are kept for a function
_LONGEST = 4096  # most letters of an instance
_FILE = Path(".draftproof") / "failures.json"


def failures(name: str) -> list[str]:
    """Returns the instances on which the function of this name failed; empty if the file cannot be read."""
    return _read()[0].get(name, [])[:MOST]


def keep(name: str, failing: list[str], *, asked: bool) -> str:
    """Stores the failing instances of a run. If no instance failed and the run checked the stored instances (`asked`),
    the stored instances are dropped.

    Returns: why the file could not be read or written; empty on success.
    """
    content, fault = _read()
    known = content.get(name, [])
    wanted = list(dict.fromkeys([*failing, *known]))[:MOST] if failing else [] if asked else known
    if fault or wanted == known:
        return fault
    return _write(content | {name: wanted})


def forget(name: str) -> str:
    """Drops the stored instances of a function. Returns: why the file could not be read or written; empty on
    success."""
    return keep(name, [], asked=True)


def _read() -> tuple[dict[str, list[str]], str]:
    """Returns the instances by function, and a message that describes the fault of the file, or "". A file with a fault
    is never overwritten."""
    try:
        if not stat.S_ISREG(_FILE.stat().st_mode):  # reading from a pipe would wait for a writer
            return {}, _fault("something that is not a file")
        found = json.loads(_FILE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, ""
    except OSError as error:
        return {}, _fault(error.strerror or str(error))
    except (ValueError, RecursionError) as error:
        return {}, _fault(f"no JSON ({error})")
    if not isinstance(found, dict):
        return {}, _fault(f"{type(found).__name__} {_short(found)}")
    ours = {name: texts for name, texts in found.items() if _are_texts(texts)}
    others = [f"{name!r}: {_short(texts)}" for name, texts in found.items() if name not in ours]
    return ours, _fault(", ".join(others[:3])) if others else ""


def _write(content: dict[str, list[str]]) -> str:
    part = None
    try:
        _FILE.parent.mkdir(exist_ok=True)
        file = _FILE.resolve()  # If _FILE is a symbolic link, its target is replaced.
        handle, part = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "w") as stream:
            json.dump({name: texts for name, texts in content.items() if texts}, stream, indent=1)
        os.replace(part, file)
    except (OSError, RuntimeError) as error:  # before Python 3.13, resolve raises RuntimeError for a loop of links
        if part is not None:
            Path(part).unlink(missing_ok=True)
        why = getattr(error, "strerror", None) or str(error)
        return f"failing instances are not kept: {_FILE}: got {why}, expected a folder that can be written"
    return ""


def _are_texts(found: Any) -> bool:
    """Whether `found` is a list of texts that can be arguments of a program: printable, so without null characters and
    lone surrogates, and of at most _LONGEST characters."""
    return isinstance(found, list) and all(
        isinstance(text, str) and text.isprintable() and len(text) <= _LONGEST for text in found
    )


def _fault(found: str) -> str:
    wanted = "a JSON object of lists of texts; it is left as it is"
    return f"failing instances are not kept: {_FILE}: got {found}, expected {wanted}"


def _short(found: Any) -> str:
    try:
        text = repr(found)
    except RecursionError:
        text = "lists in lists"
    return text if len(text) <= 40 else text[:37] + "..."
