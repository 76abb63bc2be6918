"""distribution: the exact distribution of a plain Python function on given rows."""

from __future__ import annotations

import contextlib
import itertools
import json
import operator
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof.deadline import Ended, deadline_of
from draftproof.declare import subject_of
from draftproof.program import is_finite, member
from draftproof.rehearsal import failed, rehearse
from draftproof.results import Distribution, Outcome
from draftproof.serve import ask
from draftproof.subject import FunctionFailed, Subject

_MOST_PAIRS = 100_000  # most pairs (draft tuple, token with p > 0); each pair takes a call of the function
_PREDICTIONS = 256  # predictions for each tuple of drafts unless they are given; each takes a call of the function
_MOST_NUMBERS = 2**29  # most entries of rows that these calls read, two gibibytes in float32


def distribution(
    fn: Callable[..., Any] | Subject,
    p: Any,
    q: Any,
    drafts: str | Sequence[int] = "iid",
    *,
    parents: Sequence[int] | None = None,
    legal: Any = None,
    settings_of_request: Mapping[str, float] | None = None,
    seed: int = 1,
    predictions: int | None = None,
    time_limit: float | None = None,
    **declared: Any,
) -> Distribution:
    """Returns the exact distribution of the tokens that `fn` emits on the rows p and q, in the shapes of `adapter`.

    fn        the function, or a result of `adapter`
    p, q      rows of probabilities: of a chain [L + 1, V] and [L, V], or as in `adapter`
    drafts    the drafted tokens [L]; or `iid`: the result is averaged over drafts from q, for a chain whose rows do not
              depend on the drafts or for one position with one draft
    legal     with `grammar=True`, the tokens that the grammar allows, of bool and the shape of p; None: all tokens
    settings_of_request  with `settings=..`, the value of each setting by name: {"temperature": 0.5}
    parents   with `level="tree"`, the parent of each draft, -1 for the root
    seed      seed of all random numbers
    predictions  number of random sequences whose result is predicted and confirmed, for each tuple of drafts; 256 if
              None
    time_limit  largest number of seconds; None: no limit
    declared  arguments of `adapter`

    Cost: some hundred calls for each tuple of drafts.
    Source: derived here, docs/adapters.md.
    Raises: ValueError for entries that are not finite, and without `time_limit` for more than 100,000 pairs of a tuple
    of drafts and a token with p > 0, because fn is called at least once for each, and for rows of which the calls read
    more than 2^29 entries;
    ProgramError for other rows that are not probabilities;
    FunctionFailed if fn raises on every input; UnknownRandomness; Ended after `time_limit` seconds; ProgramNotFound.
    """
    by_distribution = isinstance(drafts, str)
    subject = subject_of("distribution", fn, drafts if isinstance(drafts, str) else "iid", declared)
    rows_p, rows_q = rows_in("p", p), rows_in("q", q)
    for name, rows in (("p", rows_p), ("q", rows_q)):
        for i, x in np.argwhere(~np.isfinite(rows))[:1].tolist():
            raise ValueError(f"{name}: row {i}, token {x}: got {rows[i, x]}, expected a probability")
    if not isinstance(settings_of_request or {}, Mapping):
        raise ValueError(f"settings_of_request: got {settings_of_request!r:.60}, expected numbers by name of a setting")
    for name, value in (settings_of_request or {}).items():
        if not is_finite(value):
            raise ValueError(f"settings_of_request: {name}: got {value!r:.60}, expected a finite number")
    count = int(np.prod([np.count_nonzero(row > 0) for row in rows_q], dtype=object)) if by_distribution else 1
    most = count * int(np.count_nonzero(rows_p > 0, axis=1).max(initial=0))
    if time_limit is None and most > _MOST_PAIRS:
        raise ValueError(
            f"p, q: got {count:,} tuples of drafts on {rows_p.shape[1]:,} tokens, which need at least {most:,} calls "
            f"of fn; expected at most {_MOST_PAIRS:,}, or a time_limit in seconds"
        )
    calls = max(most, count * (_PREDICTIONS if predictions is None else _integer("predictions", predictions)))
    entries = rows_p.size + rows_q.size
    if time_limit is None and calls * entries > _MOST_NUMBERS:
        raise ValueError(
            f"p, q: got rows of {entries:,} entries, which at least {calls:,} calls of fn read; expected at most "
            f"{_MOST_NUMBERS:,} entries in all these calls, fewer predictions, or a time_limit in seconds"
        )
    if by_distribution:
        length = len(rows_q)
        tuples = list(itertools.product(range(rows_q.shape[1]), repeat=length))
        weights = [float(np.prod([rows_q[i, x] for i, x in enumerate(t)])) for t in tuples]
    else:
        tuples, weights = [tokens_in("drafts", drafts, "tokens, or the name of a draft sampling")], [1.0]
    drawn = [(t, w) for t, w in zip(tuples, weights, strict=True) if w > 0]
    inputs = [{"p": rows_p.tolist(), "q": rows_q.tolist(), "drafts": list(t)} for t, _ in drawn]
    if parents is not None:
        nodes = list(tokens_in("parents", parents, "the parent of each draft, -1 for the root"))
        inputs = [one | {"parents": nodes} for one in inputs]
    if legal is not None:
        masks = _masks(legal).astype(int).tolist()
        inputs = [one | {"legal": masks} for one in inputs]
    if settings_of_request is not None:
        inputs = [one | {"settings": dict(settings_of_request)} for one in inputs]
    explored = outcomes_of(subject, inputs, seed=seed, predictions=predictions, time_limit=time_limit)
    return _mixed(subject.declaration.name, explored, [w for _, w in drawn])


def rows_in(name: str, given: Any) -> NDArray[np.float64]:
    """Returns rows [n, V] of numbers, which may be negative or NaN. Raises: ValueError for anything else."""
    try:
        rows = np.atleast_2d(np.asarray(given.detach() if hasattr(given, "detach") else given, np.float64))
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise ValueError(
            f"{name}: got rows that are not numbers ({error}), expected probabilities [rows, V]"
        ) from error
    if rows.ndim != 2:
        raise ValueError(f"{name}: got shape {list(rows.shape)}, expected probabilities [rows, V]")
    return rows


def _masks(legal: Any) -> NDArray[np.bool_]:
    try:
        return np.atleast_2d(np.asarray(legal, np.bool_))
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"legal: got {legal!r:.60} ({error}), expected bool in the shape of p") from error


def tokens_in(name: str, given: Any, expected: str) -> tuple[int, ...]:
    """Returns a sequence of integers as a tuple. Raises: ValueError with `name` and `expected` for anything else."""
    try:
        return tuple(operator.index(x) for x in given)
    except TypeError as error:
        raise ValueError(f"{name}: got {given!r:.60} ({error}), expected {expected}") from error


def _integer(name: str, given: Any) -> int:
    try:
        return operator.index(given)
    except TypeError as error:
        raise ValueError(f"{name}: got {given!r:.60}, expected an integer") from error


def outcomes_of(
    subject: Subject,
    inputs: Sequence[Mapping[str, Any]],
    *,
    seed: int = 1,
    predictions: int | None = None,
    time_limit: float | None = None,
) -> list[dict[str, Any]]:
    """Returns the exact distribution for each input (rows p and q, drafts, parents), in the form of docs/json.md.

    Raises: FunctionFailed if the function raises on every input; ProgramError, UnknownRandomness; Ended.
    """
    question: dict[str, Any] = {"inputs": list(inputs), "seed": _integer("seed", seed)}
    if predictions is not None:
        question["predictions"] = _integer("predictions", predictions)
    deadline = deadline_of(subject, time_limit)
    # A failure in the rehearsal is ignored, because the function may accept only rows of the sizes in `inputs`.
    with deadline.watching(lambda: None), contextlib.suppress(FunctionFailed):
        rehearse(subject, deadline)
    subject.rows = subject.answered = 0
    subject.error = None
    document = ask(subject, ["distribution", "-"], input=json.dumps(question), deadline=deadline)
    if deadline.over and "inputs" not in document:
        raise Ended(deadline.over)
    explored = list(member(document, "inputs"))
    if not subject.answered and subject.error is not None:
        raise failed(subject, subject.fn) from subject.error
    return explored


def _mixed(name: str, distributions: list[dict[str, Any]], weights: list[float]) -> Distribution:
    mass: dict[tuple[tuple[int, ...], str], float] = defaultdict(float)
    texts: dict[tuple[tuple[int, ...], str], str] = {}
    for one, weight in zip(distributions, weights, strict=True):
        for outcome in one["outcomes"]:
            key = tuple(outcome.get("tokens", ())), outcome.get("status", "ok")
            mass[key] += weight * outcome["probability"]
            texts[key] = outcome.get("text", "") if len(distributions) == 1 else ""
    worst = ("not_a_function", "unsettled", "cut", "settled")
    return Distribution(
        name,
        tuple(Outcome(*key, probability, texts[key]) for key, probability in sorted(mass.items())),
        limit=sum(w * one["limit"] for one, w in zip(distributions, weights, strict=True)),
        unexplored=sum(w * one["unexplored"] for one, w in zip(distributions, weights, strict=True)),
        state=min((one["state"] for one in distributions), key=worst.index),
        calls=sum(one["calls"] for one in distributions),
        predicted=min(one["predicted"] for one in distributions),
        edges=tuple(edge for one in distributions for edge in one.get("edges", ())),
        remarks=tuple(dict.fromkeys(remark for one in distributions for remark in one.get("remarks", ()))),
    )
