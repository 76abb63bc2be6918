"""draftproof: proves verifiers of multi-draft speculative decoding exact, or shows where they are not.

import draftproof
draftproof.check(my_verifier, drafts="iid")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from draftproof import _renamed

if TYPE_CHECKING:
    from draftproof import acceptance, capture, decode
    from draftproof.acceptance import AcceptedLengths, Lengths, TooFewAccepted
    from draftproof.declare import adapter
    from draftproof.explore import distribution
    from draftproof.gate import check, replay
    from draftproof.keys import NotDetermined, keyed
    from draftproof.program import ProgramError, ProgramNotFound
    from draftproof.pytest_plugin import gates
    from draftproof.results import Distribution, Finding, Interrupted, Outcome, Refuted, TierResult, Verdict
    from draftproof.subject import FunctionFailed
    from draftproof.survey import Acceptance
    from draftproof.tape import NoMass, TapeShort, UnknownRandomness

_PLACES = {
    "acceptance": ("AcceptedLengths", "Lengths", "TooFewAccepted"),
    "declare": ("adapter",),
    "explore": ("distribution",),
    "gate": ("check", "replay"),
    "keys": ("NotDetermined", "keyed"),
    "pytest_plugin": ("gates",),
    "results": ("Finding", "Interrupted", "Distribution", "Outcome", "Refuted", "TierResult", "Verdict"),
    "subject": ("FunctionFailed",),
    "survey": ("Acceptance",),
    "program": ("ProgramError", "ProgramNotFound"),
    "tape": ("NoMass", "TapeShort", "UnknownRandomness"),
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "Acceptance",
    "AcceptedLengths",
    "Distribution",
    "Finding",
    "FunctionFailed",
    "Interrupted",
    "Lengths",
    "NoMass",
    "NotDetermined",
    "Outcome",
    "ProgramError",
    "ProgramNotFound",
    "Refuted",
    "TapeShort",
    "TierResult",
    "TooFewAccepted",
    "UnknownRandomness",
    "Verdict",
    "acceptance",
    "adapter",
    "capture",
    "check",
    "decode",
    "distribution",
    "gates",
    "keyed",
    "replay",
]


def __getattr__(name: str) -> Any:
    if name in ("acceptance", "capture", "decode"):  # subpackages that can be called
        return import_module(f"draftproof.{name}")
    if new := _renamed.FUNCTIONS.get(name):
        _renamed.warn(f"draftproof.{name}", f"draftproof.{new}")
        return __getattr__(new)
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'draftproof' has no attribute {name!r}")
    value = getattr(import_module(f"draftproof.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
