"""Names of version 0.2 that still work in 0.3. Each use raises a DeprecationWarning with the new name."""

from __future__ import annotations

import warnings

FUNCTIONS = {"law": "distribution", "Law": "Distribution", "door": "adapter"}
STATUSES = {"held": "passed", "violated": "failed"}


def warn(old: str, new: str) -> None:
    """Warns the caller of the function that calls this one."""
    warnings.warn(f"{old} is now {new}; version 0.4 removes the old name", DeprecationWarning, stacklevel=3)


class Status(str):
    """passed, failed, undecided or skipped. `passed` and `failed` also equal their old names, with a warning."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and (new := STATUSES.get(str(other))):
            warn(repr(str(other)), repr(new))
            return str.__eq__(self, new)
        return str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other
