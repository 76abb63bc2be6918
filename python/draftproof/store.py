"""Failing instances of earlier runs, in .draftproof/failures.json of the working folder. They are asked first."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

MOST = 8  # instances kept for a function
_FILE = Path(".draftproof") / "failures.json"


def failures(name: str) -> list[str]:
    """Instances on which the function of this name failed. An unreadable file counts as empty."""
    found = _all().get(name, [])
    return found if isinstance(found, list) else []


def keep(name: str, failing: list[str], *, asked: bool) -> None:
    """Notes the failing instances of a run; without any, what was kept is dropped if it was `asked`."""
    known = failures(name)
    wanted = list(dict.fromkeys([*failing, *known]))[:MOST] if failing else [] if asked else known
    if wanted != known:
        _write(name, wanted)


def forget(name: str) -> None:
    _write(name, [])


def _all() -> dict[str, list[str]]:
    try:
        found = json.loads(_FILE.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(name: str, instances: list[str]) -> None:
    content = _all()
    content.pop(name, None)
    if instances:
        content[name] = instances
    if not content and not _FILE.exists():
        return
    _FILE.parent.mkdir(exist_ok=True)
    handle, part = tempfile.mkstemp(dir=_FILE.parent)
    with os.fdopen(handle, "w") as stream:
        json.dump(content, stream, indent=1)
    os.replace(part, _FILE)
