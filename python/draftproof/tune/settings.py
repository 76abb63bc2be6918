"""The settings that a capture allows, with the expected tokens of a step that the program measures on its rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof import program
from draftproof.survey import nodes_of, trees_of


@dataclass(frozen=True)
class StepSize:
    """The size of a step of a batch in which a selection policy verifies a part of the drafts.

    passes    draft passes until the policy has decided
    longest   most verified drafts of a text
    verified  verified drafts of all texts
    share     share of the steps that have this size
    """

    passes: int
    longest: int
    verified: int
    share: float


@dataclass(frozen=True)
class Setting:
    """A verifier with its drafts: K paths of L tokens.

    levels     number of drafts at each depth; a draft pass draws the drafts of one depth
    distinct   numbers of different prefixes at each depth, with the share of the captured trees that have them; empty
               if they are not known
    tokens     expected tokens that a step emits, with the token that the target adds; `error` is its standard error
    all_accepted  share of the steps that accept L drafts; 0 with a policy, where it is not known
    policy     the selection policy that chooses the drafts to verify; "" if all are verified
    budget     most drafts of a batch that the policy may verify; None if it may verify all
    sizes      sizes of the steps of a batch of `requests` texts, from `steps` steps; empty without a policy
    """

    verifier: str
    draft_sampling: str
    paths: int
    length: int
    levels: tuple[int, ...]
    tokens: float
    error: float
    distinct: tuple[tuple[tuple[int, ...], float], ...] = ()
    policy: str = ""
    budget: int | None = None
    sizes: tuple[StepSize, ...] = ()
    steps: int = 0
    requests: int = 1
    all_accepted: float = 0.0

    @property
    def drafts(self) -> int:
        return sum(self.levels)

    @property
    def verified(self) -> float:
        """Mean number of drafts of a text that a step verifies."""
        return sum(one.share * one.verified for one in self.sizes) / self.requests if self.sizes else self.drafts


@dataclass(frozen=True)
class Survey:
    """The settings of a capture, with the numbers that the program measured.

    approximate  whether tokens for lengths above 1 are computed from the rates of single positions, as if positions
                 were independent
    left_out     names of the verifiers that were left out, each with the reason
    vocabulary   number of tokens; 0 if a truncated capture has no metadata, which state it
    truncated    whether the capture stores the likeliest tokens only, and the rest of a row may be drafted
    """

    source: str
    vocabulary: int
    settings: tuple[Setting, ...]
    approximate: bool
    left_out: dict[str, str]
    truncated: bool = False


def survey(
    capture: str,
    paths: Sequence[int] | None,
    lengths: Sequence[int] | None,
    *,
    samples: int,
    options: Sequence[str] = (),
    verifiers: Sequence[str] = (),
) -> Survey:
    """Runs `survey-paths` on captured trees, `survey` on another source.

    samples   steps, or draft tuples, of each row
    options   more arguments of the program
    Raises: ProgramError, ProgramNotFound.
    """
    if trees := trees_of(capture):
        paths = paths or [1 << i for i in range(trees[0].bit_length())]
        lengths = lengths or [n for n in (1, 2, 3, 4, 6, 8, 12, 16) if n <= trees[1]]
        return _of_trees(capture, paths, lengths, samples, options, verifiers)
    return _of_positions(capture, paths or (1, 2, 4), lengths or (1,), samples, options, verifiers)


_UP_TO_A_TOLERANCE = {"global_resolution": "lossless up to a total variation of 1e-4 only"}


def lossless_of(kind: str) -> list[str]:
    """Returns the names of the program's lossless verifiers, of `verifiers` or of `path_verifiers`."""
    return [one["name"] for one in program.member(program.run(["list"]), kind) if one["name"] not in _UP_TO_A_TOLERANCE]


_OPTIONS = {"--drafts": "--paths", "--length": "--lengths", "--steps": "--samples", "--tuples": "--samples"}
"""Options of the program, and those of `tune` that give their values."""


def complete(arguments: Sequence[str]) -> dict[str, Any]:
    """Returns the program's document. Raises: ProgramError, also if the program was stopped before its end. Its message
    names the options of `tune`."""
    try:
        document = program.run(arguments)
    except program.ProgramError as error:
        option, colon, rest = error.message.partition(":")
        raise program.ProgramError(error.exit_code, _OPTIONS.get(option, option) + colon + rest) from None
    if document.get("complete") is False:
        raise program.ProgramError(program.UNDECIDED, "stopped before every setting was measured")
    return document


def _asked(capture: str, paths: Sequence[int], options: Sequence[str], names: Iterable[str]) -> list[str]:
    return [capture, "--instances", "0", "-K", ",".join(map(str, paths)), "--verifier", ",".join(names), *options]


def _of_trees(
    capture: str,
    paths: Sequence[int],
    lengths: Sequence[int],
    samples: int,
    options: Sequence[str],
    verifiers: Sequence[str],
) -> Survey:
    lossless = lossless_of("path_verifiers")
    asked = _asked(capture, paths, options, verifiers or lossless)
    nodes = nodes_of(capture)
    document = complete(["survey-paths", *asked, "-L", ",".join(map(str, lengths)), "--steps", str(samples)])
    settings: dict[tuple[str, str, int, int], Setting] = {}
    left_out: dict[str, str] = {}
    for source in program.member(document, "sources"):
        for row in source["rows"]:
            name, k, length = row["verifier"], row["drafts"], row["length"]
            if name not in lossless:
                left_out[name] = "not lossless"
            elif row.get("first_step_alone"):
                left_out[name] = "its later steps depend on earlier ones, and captured trees have the first step only"
            elif row["standard_error"] is None:
                left_out[name] = "the capture has one context, and an interval needs at least two"
            else:
                settings[name, row["draft_sampling"], k, length] = Setting(
                    name,
                    row["draft_sampling"],
                    k,
                    length,
                    (k,) * length,
                    row["block_efficiency"],
                    row["standard_error"],
                    _distinct(nodes, k, length),
                    all_accepted=row["accepted"][length] / sum(row["accepted"]),
                )
    truncated = _is_truncated(document) and not _is_whole_draft(capture)
    return Survey(capture, _vocabulary(document), tuple(settings.values()), False, left_out, truncated)


def _is_whole_draft(capture: str) -> bool:
    """Whether truncated rows of captured trees have all tokens of the first draft, as with `capture --proposal-top-k`.
    Then the rest is never drafted, and the acceptance is that of whole rows."""
    with np.load(capture) as file:
        return not next((file[name] for name in file.files if name.startswith("rest_draft")), np.ones(1)).any()


def _distinct(nodes: NDArray[np.int64] | None, k: int, length: int) -> tuple[tuple[tuple[int, ...], float], ...]:
    """Returns the numbers of different nodes at the depths 1 to `length` of k paths, with their shares.

    nodes: [C, P, depths], the node of each path at each depth. A step reads k successive paths of a context, and any of
        them may be the first.
    """
    if nodes is None or k > nodes.shape[1]:
        return ()
    chosen = (np.arange(nodes.shape[1])[:, None] + np.arange(k)) % nodes.shape[1]
    trees = np.sort(nodes[:, chosen, 1 : length + 1], axis=2)  # [C, P, k, length]
    counts = 1 + (np.diff(trees, axis=2) != 0).sum(axis=2)
    seen = Counter(map(tuple, counts.reshape(-1, length).tolist()))
    return tuple((levels, number / seen.total()) for levels, number in sorted(seen.items()))


def _of_positions(
    capture: str,
    paths: Sequence[int],
    lengths: Sequence[int],
    samples: int,
    options: Sequence[str],
    verifiers: Sequence[str],
) -> Survey:
    lossless = lossless_of("verifiers")
    asked = _asked(capture, paths, options, verifiers or lossless)
    document = complete(["survey", *asked, "--tuples", str(samples)])
    settings: dict[tuple[str, str, int, int], Setting] = {}
    left_out = {name: reason for name, reason in _UP_TO_A_TOLERANCE.items() if not verifiers or name in verifiers}
    for row in (row for source in program.member(document, "sources") for row in source["rows"]):
        name, k, rate = row["verifier"], row["drafts"], row["draft_accepted"]
        if name not in lossless:
            left_out.setdefault(name, "not lossless")
        elif rate is None:
            left_out[f"{name}, K = {k}"] = row.get("not_run", "it did not run")
        else:
            for length in lengths:
                settings[name, row["draft_sampling"], k, length] = _of_rate(
                    name, row["draft_sampling"], k, length, rate["rate"], row["tuples"]
                )
    approximate = any(length > 1 for length in lengths)
    return Survey(
        capture, _vocabulary(document), tuple(settings.values()), approximate, left_out, _is_truncated(document)
    )


def _of_rate(verifier: str, sampling: str, k: int, length: int, rate: float, tuples: int) -> Setting:
    """Returns a setting in which every depth accepts a draft with probability `rate`, independently: it emits
    1 + rate + .. + rate^L tokens.

    With k > 1 drafts at a depth any of them may be accepted, so a step has a full tree with k^i drafts at depth i.
    """
    tokens = sum(rate**i for i in range(length + 1))
    slope = sum(i * rate ** (i - 1) for i in range(1, length + 1))
    error = slope * math.sqrt(rate * (1 - rate) / tuples)
    levels = tuple(k**i for i in range(1, length + 1))
    return Setting(verifier, sampling, k, length, levels, tokens, error, all_accepted=rate**length)


def _is_truncated(document: dict[str, Any]) -> bool:
    """Whether the capture stores the likeliest tokens only. Of trees the program states V only if they have whole
    rows."""
    about = document["sources"][0]["about"]
    return bool(about.get("truncated")) or (about["kind"] == "captured_trees" and "vocabulary" not in about)


def _vocabulary(document: dict[str, Any]) -> int:
    about = document["sources"][0]["about"]
    found = about.get("metadata", {}).get("vocabulary")
    if not found and not _is_truncated(document):  # For a truncated capture the program reports the stored tokens.
        found = document["sources"][0].get("vocabulary") or about.get("vocabulary")
    return int(found or 0)
