"""Names and modules for functions that are compiled or imported from a package without the rest of it."""

from __future__ import annotations

import dataclasses
import math
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import torch


def scope(**given: Any) -> dict[str, Any]:
    """Returns the global names of a function that is compiled alone: the usual imports, and the names in `given`."""
    usual = {"torch": torch, "F": torch.nn.functional, "math": math, "time": time}
    return {**usual, "dataclass": dataclasses.dataclass, "field": dataclasses.field, **given}


def without_init(root: Path, *names: str) -> None:
    """Makes modules of packages importable without the packages' __init__, whose imports may be large."""
    for part in {names[0].partition(".")[0], *names}:
        sys.modules[part] = ModuleType(part)
        sys.modules[part].__path__ = [str(root / part.replace(".", "/"))]
