"""acceptance: how often a function accepts on real rows, beside the optimum of the same draft sampling."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof.acceptance.measure import AcceptedLengths, of_counts, require
from draftproof.acceptance.planning import check_error
from draftproof.capture.layout import read_head
from draftproof.declare import subject_of
from draftproof.program import member, text_of_argument
from draftproof.results import Table, axes_of
from draftproof.serve import ask
from draftproof.subject import Subject


@dataclass(frozen=True)
class AcceptanceRow:
    """The share of draft tuples with an accepted draft, 0 to 1.

    verifier   name of the function or the verifier; a function that is named like a verifier beside it has `@python`
               at its end
    drafts     number of drafts of a tuple
    rate       the estimated share, with the 95 % interval `low` to `high`
    optimum    the largest share that a lossless verifier of the same draft sampling can have
    tuples     number of tuples of the estimate
    """

    verifier: str
    drafts: int
    rate: float
    low: float
    high: float
    optimum: float
    tuples: int


@dataclass(frozen=True)
class Acceptance(Table):
    """The result of `acceptance` on the positions of a capture or family.

    source     name of the capture or family
    rows       an AcceptanceRow for each number of drafts of the function and of the verifiers beside it
    left_out   verifiers without a row, as in `optimal_transport, K = 2`, each with the reason
    """

    source: str
    rows: tuple[AcceptanceRow, ...]
    left_out: dict[str, str] = field(default_factory=dict)

    def records(self) -> list[dict[str, Any]]:
        """Returns the entries of `rows`."""
        return [vars(row) for row in self.rows]

    def plot(self, axes: Any = None) -> Any:
        """Draws a point with its interval for each row, and the optimum. Returns matplotlib's axes. Raises: ImportError
        if matplotlib is not installed."""
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
        return "\n".join([*lines, *(f"  left out: {name}: {reason}" for name, reason in self.left_out.items())])


def acceptance(
    fn: Callable[..., Any] | Subject,
    capture: str | os.PathLike[str],
    drafts: str = "iid",
    *,
    k: int | Sequence[int] = 1,
    length: int | None = None,
    tuples: int = 20_000,
    beside: Sequence[str] | None = None,
    at_least: float | None = None,
    false_alarm: float = 1e-6,
    seed: int = 1,
    progress: bool | None = None,
    **declared: Any,
) -> Acceptance | AcceptedLengths:
    """Runs `fn` on draft tuples of a capture, and the verifiers named in `beside` on equally many tuples.

    fn           the function, or a result of `adapter`
    drafts       the draft sampling that fn is written for, by a name that `draftproof list` shows
    capture      file or family that `draftproof survey` takes. For captured trees the result is the accepted lengths of
                 fn alone
    k            numbers of drafts; 1 for a function of level chain. For captured trees, one number of paths
    length       drafted tokens of a path of captured trees, 4 if None; None for other captures
    tuples       number of draft tuples for each row, spread over the positions
    beside       names of verifiers to compare with; None: ladder. For captured trees None or ()
    at_least     the share of tuples, or for captured trees the mean number of drafts, that fn has to accept
    false_alarm  probability that a function that accepts `at_least` fails
    seed         seed of all random numbers
    progress     whether to show a line of progress on standard error; None: only if that is a terminal
    declared     arguments of `adapter`

    At level chain or tree, the number of accepted drafts is the number of fn's tokens less one. At level position fn
    returns one token, and a tuple counts as accepted if this token equals a draft, which can be a coincidence.

    p, q and drafts of fn have the shapes of `adapter`.

    Raises: TooFewAccepted, an AssertionError with both numbers; ValueError for invalid arguments, such as `at_least` at
    level position; ProgramError, ProgramNotFound, UnknownRandomness.
    Cost: `tuples` calls of fn for each k.
    Source: the survey of docs/captures.md with the optimum of docs/optimum.md; docs/acceptance.md.
    """
    check_error("false_alarm", false_alarm)
    counts = [k] if isinstance(k, Integral) else list(k) if isinstance(k, Iterable) else []
    if not counts or not all(isinstance(one, Integral) for one in counts):
        raise ValueError(f"k: got {k!r:.60}, expected a number of drafts, or several")
    trees = trees_of(capture) is not None
    if beside is None:
        beside = () if trees else ("ladder",)
    if isinstance(beside, str) or not isinstance(beside, Iterable):
        raise ValueError(f"beside: got {beside!r:.60}, expected a list of names of verifiers")
    beside = [text_of_argument("beside", one) for one in beside]
    tokens = 4 if length is None else length
    numbers = {name: text_of_argument(name, str(value))
               for name, value in (("seed", seed), ("tuples", tuples), ("length", tokens))}  # fmt: skip
    subject = subject_of("acceptance", fn, drafts, declared)
    if subject.declaration.level == "chain" and any(one != 1 for one in counts):
        raise ValueError(f"k: got {k!r:.60} for a function of level chain, expected 1")
    if trees and len(counts) > 1:
        raise ValueError(f"k: got {k!r:.60} for captured trees, expected one number of paths")
    if trees and beside:
        raise ValueError(f"beside: got {beside!r:.60} for captured trees, expected none: the result has fn alone")
    if not trees and length is not None:
        raise ValueError(f"length: got {length!r:.60} for a capture without trees, expected None")
    says_count = subject.declaration.level != "position"
    if at_least is not None and not says_count:
        raise ValueError(
            "at_least: got a function of level position, which does not return the number of accepted drafts; "
            "expected level chain or tree, or rows with count="
        )
    shown = subject.declaration.name
    name = shown + "@python"  # no registered verifier has such a name
    subject = replace(subject, declaration=replace(subject.declaration, name=name))
    source = text_of_argument("capture", capture)
    common = [source, "--seed", numbers["seed"], "--instances", "0", "-K", *map(str, counts)]
    if trees:
        arguments = ["survey-paths", *common, "-L", numbers["length"], "--steps", numbers["tuples"], "--verifier", name]
        measured = member(ask(subject, arguments, progress=progress), "sources")[0]["rows"]
        proposed = max((row["drafts"] * row["length"] for row in measured), default=None)
        found = of_counts(shown, [row["accepted"] for row in measured], false_alarm, proposed)
        require(found, at_least)
        return found
    arguments = ["survey", *common, "--tuples", numbers["tuples"], "--verifier", ",".join([name, *beside])]
    document = ask(subject, arguments, progress=progress)
    sampling = subject.declaration.draft_sampling
    measured = [row for source in member(document, "sources") for row in source["rows"]]
    fits = {row["verifier"] for row in measured if row["draft_sampling"] == sampling}
    rows, left_out = [], {}
    for row in measured:
        verifier, drawn, rate = row["verifier"], row["drafts"], row["draft_accepted" if says_count else "draft_emitted"]
        if verifier not in fits:
            left_out[verifier] = f"got drafts of {row['draft_sampling']}, expected {sampling}"
        elif row["draft_sampling"] != sampling:
            continue
        elif rate is None:
            label = shown if verifier == name else verifier
            left_out[f"{label}, K = {drawn}"] = reason = row.get("not_run", "it did not run")
            if verifier == name and at_least is not None:
                raise ValueError(f"at_least: got no acceptance of {shown}: {reason}")
        else:
            label = shown if verifier == name and shown not in beside else verifier
            rows.append(
                AcceptanceRow(label, drawn, rate["rate"], rate["low"], rate["high"], row["optimum"], row["tuples"])
            )
            if verifier == name and says_count:
                steps = [row["tuples"] - rate["count"], rate["count"]]
                require(of_counts(shown, [steps], false_alarm), at_least)
    return Acceptance(os.fspath(capture), tuple(rows), left_out)


def nodes_of(capture: str | os.PathLike[str]) -> NDArray[np.int64] | None:
    """Returns the node [C, P, L + 1] of each path of captured trees at each depth; None for other sources, and for
    files that the program alone reads."""
    try:
        with np.load(Path(capture)) as file:
            return np.asarray(file["path_nodes"], dtype=np.int64)
    except Exception:
        return None  # as in trees_of


def trees_of(capture: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Returns the number of paths of a context and the number of tokens of a path in captured trees (docs/captures.md);
    None for a family or another kind of file."""
    path = Path(capture)
    try:
        if path.suffix == ".safetensors":
            shape = tuple(read_head(path).get("path_nodes", {}).get("shape", ()))
        else:
            with np.load(path) as file:
                shape = file["path_nodes"].shape if "path_nodes" in getattr(file, "files", ()) else ()
        return (int(shape[1]), int(shape[2]) - 1) if len(shape) == 3 else None
    except Exception:
        # numpy, zipfile, zlib and json raise a dozen types for damaged files; the program reads the file and reports
        # the fault with its location.
        return None
