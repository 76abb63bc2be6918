"""Tables of costs and settings of tests of tune."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from draftproof.tune import Setting

TREES = str(Path(__file__).parents[2] / "data" / "stories512_trees.npz")


def passes(*seconds: tuple[int, float], batch: int = 1, context: int = 128) -> list[dict[str, Any]]:
    return [
        {"tokens": tokens, "batch": batch, "context": context, "seconds": value, "standard_error": value / 100}
        for tokens, value in seconds
    ]


def table(**changed: Any) -> dict[str, Any]:
    return {
        "schema": "draftproof/costs",
        "version": 1,
        "target": "big",
        "draft": "small",
        "device": "cpu",
        "threads": 2,
        "target_pass": passes((1, 0.040), (5, 0.048), (9, 0.052)),
        "draft_pass": passes((1, 0.004), (4, 0.010)),
        "verifiers": {},
        **changed,
    }


def timed(entries: list[tuple[int, int, float]], vocabulary: int = 512) -> list[dict[str, Any]]:
    return [
        {"tokens": tokens, "paths": paths, "vocabulary": vocabulary, "seconds": seconds, "standard_error": 0.0}
        for tokens, paths, seconds in entries
    ]


def setting(verifier: str, paths: int, length: int, tokens: float, error: float = 0.0) -> Setting:
    return Setting(verifier, "iid_paths", paths, length, (paths,) * length, tokens, error)
