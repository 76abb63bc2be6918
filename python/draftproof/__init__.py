"""draftproof: proves verifiers of multi-draft speculative decoding exact, or shows where they are not.

import draftproof
draftproof.check(my_verifier, drafts="iid")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from draftproof import capture
    from draftproof.declare import door
    from draftproof.explore import law
    from draftproof.gate import check, replay
    from draftproof.program import ProgramError, ProgramNotFound
    from draftproof.pytest_plugin import gates
    from draftproof.results import Finding, Interrupted, Law, Outcome, Refuted, TierResult, Verdict
    from draftproof.subject import FunctionFailed
    from draftproof.survey import Acceptance, acceptance
    from draftproof.tape import NoMass, TapeShort, UnknownRandomness

_PLACES = {
    "declare": ("door",),
    "explore": ("law",),
    "gate": ("check", "replay"),
    "pytest_plugin": ("gates",),
    "results": ("Finding", "Interrupted", "Law", "Outcome", "Refuted", "TierResult", "Verdict"),
    "subject": ("FunctionFailed",),
    "survey": ("Acceptance", "acceptance"),
    "program": ("ProgramError", "ProgramNotFound"),
    "tape": ("NoMass", "TapeShort", "UnknownRandomness"),
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "Acceptance",
    "Finding",
    "FunctionFailed",
    "Interrupted",
    "Law",
    "NoMass",
    "Outcome",
    "ProgramError",
    "ProgramNotFound",
    "Refuted",
    "TapeShort",
    "TierResult",
    "UnknownRandomness",
    "Verdict",
    "acceptance",
    "capture",
    "check",
    "door",
    "gates",
    "law",
    "replay",
]


def __getattr__(name: str) -> Any:
    if name == "capture":  # a subpackage that can be called
        return import_module("draftproof.capture")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'draftproof' has no attribute {name!r}")
    value = getattr(import_module(f"draftproof.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
