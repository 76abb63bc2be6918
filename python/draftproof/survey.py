"""acceptance: how often a function accepts on real rows, beside the optimum of the same draft sampling."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from draftproof.declare import adapter
from draftproof.results import Table, axes_of
from draftproof.serve import ask
from draftproof.subject import Subject


@dataclass(frozen=True)
class AcceptanceRow:
    """Share of draft tuples with an accepted draft: its estimate with a 95 % interval, and the largest of any lossless
    verifier of the same draft sampling."""

    verifier: str
    drafts: int
    rate: float
    low: float
    high: float
    optimum: float
    tuples: int


@dataclass(frozen=True)
class Acceptance(Table):
    """`rows` of the function and of the verifiers that it was compared with, on the positions of `source`."""

    source: str
    rows: tuple[AcceptanceRow, ...]

    def records(self) -> list[dict[str, Any]]:
        return [vars(row) for row in self.rows]

    def plot(self, axes: Any = None) -> Any:
        """A point with its interval for each row, and the optimum. Returns matplotlib's axes."""
        axes = axes_of(axes)
        names = [f"{row.verifier}, K = {row.drafts}" for row in self.rows]
        rates = [row.rate for row in self.rows]
        errors = [[row.rate - row.low for row in self.rows], [row.high - row.rate for row in self.rows]]
        axes.errorbar(rates, names, xerr=errors, fmt="o", label="accepted")
        axes.plot([row.optimum for row in self.rows], names, "k|", markersize=14, label="optimum")
        axes.set_xlabel("share of tuples with an accepted draft")
        axes.legend()
        return axes

    def __str__(self) -> str:
        lines = [f"acceptance on {self.source}"]
        lines += [
            f"  {row.verifier:28} K = {row.drafts}  {row.rate:.4f} ({row.low:.4f} to {row.high:.4f}), "
            f"optimum {row.optimum:.4f}"
            for row in self.rows
        ]
        return "\n".join(lines)


def acceptance(
    fn: Callable[..., Any] | Subject,
    capture: str | os.PathLike[str],
    drafts: str = "iid",
    *,
    k: int | Sequence[int] = 1,
    tuples: int = 20_000,
    beside: Sequence[str] = ("ladder",),
    seed: int = 1,
    progress: bool | None = None,
    **declared: Any,
) -> Acceptance:
    """Runs `fn` on draft tuples of a capture, and the verifiers named in `beside` on equally many.

    fn         the function, or what `adapter` returned
    drafts     the draft sampling that fn is written for, by a name that `draftproof list` shows
    capture    file or family that `draftproof survey` takes
    k          numbers of drafts; a function of level chain decides on one
    tuples     draft tuples for each row, spread over the positions
    beside     names of verifiers to compare with
    seed       of all random numbers
    progress   a line on standard error; None: if that is a terminal
    declared   arguments of `adapter`

    Cost: `tuples` calls of fn for each k. Raises: ProgramError, UnknownRandomness.
    """
    subject = fn if isinstance(fn, Subject) else adapter(fn, drafts, **declared)
    name = subject.declaration.name + "@python"  # differs from the name of a registered verifier
    subject = replace(subject, declaration=replace(subject.declaration, name=name))
    counts = [k] if isinstance(k, int) else list(k)
    arguments = ["survey", os.fspath(capture), "--seed", str(seed), "--tuples", str(tuples), "--instances", "0"]
    arguments += ["-K", *map(str, counts), "--verifier", ",".join([name, *beside])]
    document = ask(subject, arguments, progress=progress)
    rows = [
        AcceptanceRow(
            verifier=row["verifier"],
            drafts=row["drafts"],
            optimum=row["optimum"],
            tuples=row["tuples"],
            **{key: row["membership"][key] for key in ("rate", "low", "high")},
        )
        for source in document["sources"]
        for row in source["rows"]
        if row["draft_sampling"] == subject.declaration.draft_sampling
    ]
    return Acceptance(os.fspath(capture), tuple(rows))
