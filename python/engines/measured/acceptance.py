"""Acceptance and time of engines that verify K drafts of a position, with the optimum and draftproof's verifiers.

    python python/engines/measured/acceptance.py [TUPLES]

Writes python/engines/measured/acceptance.json, which `draftproof engines --write-docs` shows. Trees are verified at
their root. Times are of one call in one thread: engines in Python, with their adapters; draftproof's verifiers in C++,
with rows prepared once.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import torch

from draftproof import acceptance, program
from draftproof.engines import Missing, discover

ROOT = Path(__file__).resolve().parents[3]
CAPTURES = {"stories512_positions.npz": 1, "mixed32k_positions.npz": 4}  # divisors of TUPLES
DRAFTS = (2, 4)
OURS, OUR_TUPLES = ("ladder", "recursive_rejection_wor"), 20_000
TUPLES = int(sys.argv[1]) if len(sys.argv) > 1 else 2000


def root_of(tree: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the verifier of trees as a verifier of one position, whose drafts are the children of the root."""

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        k = len(drafts)
        parents = torch.full((k,), -1)
        return tree(p.repeat(k + 1, 1), q.repeat(k, 1), drafts, parents)[:1]

    return verify


def engines() -> dict[str, tuple[Callable[..., Any], str]]:
    """Returns, for each installed engine, a function that verifies one position, and the draft sampling of its
    drafts."""
    wanted = {
        "sequoia": ("accept_step_float32", "without_replacement", lambda fn: fn),
        "eagle-llm": ("temperature_1", "without_replacement", root_of),
        "eagle": ("evaluate_posterior", "fixed_top_k", root_of),
    }
    known, found = discover(ROOT / "python" / "engines"), {}
    for name, (adapter, distribution, change) in wanted.items():
        try:
            label = f"{name} {known[name].version()}"
            known[name].enter()
            subject = next(one for one in known[name].adapters if one.name == adapter).make()
        except (Missing, ImportError) as error:
            print(f"{name}: skipped, {error}")
            continue
        found[label] = (change(subject.fn), distribution)
    return found


def timed(fn: Callable[..., Any]) -> tuple[Callable[..., Any], list[float]]:
    seconds: list[float] = []

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        start = time.perf_counter()
        out = fn(p, q, drafts)
        seconds.append(time.perf_counter() - start)
        return out

    return verify, seconds


torch.set_num_threads(1)
rows: list[dict[str, Any]] = []
for name, fewer in CAPTURES.items():
    capture, tuples = str(ROOT / "data" / name), TUPLES // fewer
    for drafts in DRAFTS:
        for label, (fn, distribution) in engines().items():
            verify, seconds = timed(fn)
            options: dict[str, Any] = {"level": "position", "arrays": "torch", "scripted": False, "beside": ()}
            (one,) = acceptance(verify, capture, distribution, k=drafts, tuples=tuples, name="engine", **options).rows
            rows.append(
                {
                    "capture": name.partition("_")[0],
                    "verifier": label,
                    "draft_sampling": distribution,
                    "drafts": drafts,
                    "rate": one.rate,
                    "low": one.low,
                    "high": one.high,
                    "optimum": one.optimum,
                    "tuples": one.tuples,
                    "microseconds": 1e6 * sorted(seconds)[len(seconds) // 2],
                }
            )
            print(rows[-1], flush=True)
        asked = ["survey", capture, "--seed", "1", "--tuples", str(OUR_TUPLES), "--instances", "0", "-K", str(drafts)]
        document = program.run(["--timings", *asked, "--verifier", ",".join(OURS)])
        for one in document["sources"][0]["rows"]:
            rows.append(
                {
                    "capture": name.partition("_")[0],
                    "verifier": f"draftproof {one['verifier']}",
                    "draft_sampling": one["draft_sampling"],
                    "drafts": drafts,
                    **{key: one["draft_emitted"][key] for key in ("rate", "low", "high")},
                    "optimum": one["optimum"],
                    "tuples": one["tuples"],
                    "microseconds": one["nanoseconds_per_tuple"] / 1000,
                }
            )
            print(rows[-1], flush=True)
(Path(__file__).parent / "acceptance.json").write_text(json.dumps(rows, indent=1) + "\n")
