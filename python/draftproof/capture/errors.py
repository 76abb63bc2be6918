"""The one exception of this package for input that cannot be used."""

from __future__ import annotations

import os
from numbers import Integral
from pathlib import Path
from typing import Any

from draftproof.program import short


class CaptureError(ValueError):
    """Input that cannot be used: an option, a text, a row of a model, a file.

    place: the option, text, row or file.
    found, wanted: words for what was given and for what can be used; the message is `place: got .., expected ..`.
    """

    def __init__(self, place: str, found: str, wanted: str) -> None:
        super().__init__(f"{place}: got {found}, expected {wanted}")
        self.place = place
        self.found = found
        self.wanted = wanted


def whole(place: str, given: Any, least: int) -> int:
    """Returns an integer of at least `least` as an int. Raises: CaptureError for anything else."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise CaptureError(place, short(given), "an integer")
    if given < least:
        raise CaptureError(place, str(given), f"at least {least}")
    return int(given)


def path_of(place: str, given: Any) -> Path:
    """Returns a text or path as a Path. Raises: CaptureError for anything else, a path without a name, a null
    character or half a surrogate pair, which no file name contains."""
    try:
        path = Path(given)
        if path.name and b"\0" not in os.fsencode(path):
            return path
    except (TypeError, UnicodeEncodeError):
        pass
    raise CaptureError(place, short(given), "the path of a file")
