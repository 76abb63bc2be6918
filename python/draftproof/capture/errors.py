"""The one exception of this package for input that cannot be used."""

from __future__ import annotations


class CaptureError(ValueError):
    """Input that cannot be used: an option, a text, a row of a model, a file.

    The message is `place: got ..., expected ...`, where the place is the option, text, row or file.
    """

    def __init__(self, place: str, found: str, wanted: str) -> None:
        super().__init__(f"{place}: got {found}, expected {wanted}")
        self.place = place
        self.found = found
        self.wanted = wanted
