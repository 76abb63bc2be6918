"""Checks one block of a trace and converts it to the form in which it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .distributions import Distribution, log_distribution, stored, truncated
from .errors import CaptureError

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """One call of a verifier for one request.

    p: the target's distribution at each of E emitted tokens, as logarithms [V]. q: the Q distributions that the D
    drafts were drawn from, also as logarithms. emitted: [E]. drafts, parents, draft_rows: [D]. emitted_q: [E], for each
    emitted token the row of q after the same prefix, -1 if there is none.
    accepted: number of accepted drafts among the emitted tokens.
    """

    p: list[Distribution]
    q: list[Distribution]
    emitted: Ids
    emitted_q: Ids
    drafts: Ids
    parents: Ids
    draft_rows: Ids
    accepted: int

    def stored(self, columns: int, top: bool, dtype: str, first_q: int) -> dict[str, NDArray[Any]]:
        """Returns the entries that this block adds to every array of the trace.

        columns: entries of a row. top: whether rows are truncated. first_q: number of q rows before this block.
        """
        data: dict[str, NDArray[Any]] = {
            "emitted": self.emitted.astype("<i4"),
            "emitted_q": np.where(self.emitted_q >= 0, self.emitted_q + first_q, -1).astype("<i8"),
            "drafts": self.drafts.astype("<i4"),
            "draft_parent": self.parents.astype("<i4"),
            "draft_q": (self.draft_rows + first_q).astype("<i8"),
        }
        if top:
            return data | self._truncated(columns)
        little = np.dtype(dtype).newbyteorder("<")
        data["p_rows"] = stored(self.p, dtype).astype(little)
        data["q_rows"] = stored(self.q, dtype).astype(little) if self.q else np.zeros((0, columns), little)
        return data

    def _truncated(self, columns: int) -> dict[str, NDArray[Any]]:
        """Returns rows of `columns` tokens, and the total probability of all other tokens. The choice of tokens depends
        on the rows only, because a choice that depends on the emitted token would bias the counts of emitted tokens.
        The rows p and q after a prefix have the same tokens."""
        partner = {int(row): r for r, row in enumerate(self.emitted_q) if row >= 0}
        kept_p = [
            _leading([distribution, *([self.q[row]] if row >= 0 else [])], columns)
            for distribution, row in zip(self.p, self.emitted_q, strict=True)
        ]
        kept_q = [
            kept_p[partner[i]] if i in partner else _leading([distribution], columns)
            for i, distribution in enumerate(self.q)
        ]
        data = {}
        for name, distributions, kept in (("p", self.p, kept_p), ("q", self.q, kept_q)):
            rows = [truncated(distribution, tokens) for distribution, tokens in zip(distributions, kept, strict=True)]
            data[f"{name}_top_ids"] = np.array(kept, dtype="<i4").reshape(len(distributions), columns)
            data[f"{name}_top"] = np.array([row for row, _ in rows], dtype="<f4").reshape(len(distributions), columns)
            data[f"{name}_rest"] = np.array([rest for _, rest in rows], dtype="<f4")
        return data


def made_block(
    p: NDArray[Any],
    q: NDArray[Any],
    drafts: Ids,
    emitted: Ids,
    accepted: int | None,
    parents: Ids | None,
    draft_rows: Ids | None,
    vocabulary: int,
    values: str,
    place: str,
) -> Block:
    """Makes a block from the arguments of `Recorder.block`.

    Raises: CaptureError if shapes, ids or rows do not fit.
    """
    for name, tokens in (("drafts", drafts), ("emitted", emitted)):
        if tokens.ndim != 1:
            wanted = "at least one token" if name == "emitted" else "[D], one token for each draft"
            raise CaptureError(f"{place}: {name}", f"shape {list(tokens.shape)}", wanted)
    count = len(drafts)
    if q.size == 0:
        q = q.reshape(0, vocabulary)
    for name, rows, least in (("p", p, len(emitted)), ("q", q, 0)):
        if rows.ndim != 2 or rows.shape[1] != vocabulary or rows.shape[0] < least:
            raise CaptureError(f"{place}: {name}", f"shape {list(rows.shape)}", f"[{least} or more, {vocabulary}]")
    _check_ids(f"{place}: emitted", emitted, 0, vocabulary)
    _check_ids(f"{place}: drafts", drafts, 0, vocabulary)
    if len(emitted) < 1:
        raise CaptureError(f"{place}: emitted", f"shape {list(emitted.shape)}", "at least one token")
    tree = np.arange(-1, count - 1) if parents is None else parents
    rows_of = np.arange(count) if draft_rows is None else draft_rows
    for name, array, low, high in (("parents", tree, -1, count), ("draft_rows", rows_of, 0, len(q))):
        if array.shape != (count,):
            raise CaptureError(f"{place}: {name}", f"shape {list(array.shape)}", f"[{count}], one for each draft")
        _check_ids(f"{place}: {name}", array, low, high)
    if (tree >= np.arange(count)).any():
        raise CaptureError(f"{place}: parents", "a draft before its parent", "parents first")
    taken = len(emitted) - 1 if accepted is None else accepted
    if not 0 <= taken <= min(len(emitted), count):
        wanted = f"0 to {min(len(emitted), count)}, for {count} drafts and {len(emitted)} emitted tokens"
        raise CaptureError(f"{place}: accepted", str(taken), wanted)
    beside = _chain(emitted, count, rows_of) if parents is None else _walk(emitted, taken, drafts, tree, rows_of)
    distributions_p = [log_distribution(row, values, f"{place}: p, row {i}") for i, row in enumerate(p[: len(emitted)])]
    distributions_q = [log_distribution(row, values, f"{place}: q, row {i}") for i, row in enumerate(q)]
    return Block(distributions_p, distributions_q, emitted, beside, drafts, tree, rows_of, taken)


def _chain(emitted: Ids, count: int, rows: Ids) -> Ids:
    """Returns for each emitted token of a chain the index of the q row of its position: the row of the draft with the
    same index, or -1 if there is no such draft."""
    return np.array([rows[i] if i < count else -1 for i in range(len(emitted))], dtype=np.int64)


def _walk(emitted: Ids, accepted: int, drafts: Ids, parents: Ids, rows: Ids) -> Ids:
    """Returns for each emitted token of a tree the index of the q row of its position: the row from which the drafts
    after the accepted tokens were drawn, or -1 if no draft follows them. Equal siblings are one prefix, so the children
    of all equal siblings are used."""
    at, found = {-1}, []
    for i, token in enumerate(emitted):
        children = [d for d in range(len(drafts)) if parents[d] in at]
        found.append(int(rows[children[0]]) if children else -1)
        at = {d for d in children if drafts[d] == token} if i < accepted else set()
    # A row of q belongs to one prefix. If it was found for two prefixes, only the shorter prefix keeps it.
    seen: set[int] = set()
    for i, row in enumerate(found):
        if row in seen:
            found[i] = -1
        seen.add(row)
    return np.array(found, dtype=np.int64)


def _leading(distributions: list[Distribution], count: int) -> Ids:
    """Returns `count` tokens, ascending. The distributions take turns; each adds its likeliest token not yet taken."""
    count = min(count, len(distributions[0]))
    leading = [_likeliest(distribution, count) for distribution in distributions]
    by_turns = np.stack(leading, axis=1).ravel()
    _, first = np.unique(by_turns, return_index=True)
    return np.sort(by_turns[np.sort(first)[:count]])


def _likeliest(distribution: Distribution, count: int) -> Ids:
    top = np.argpartition(-distribution, count - 1)[:count]
    return top[np.argsort(-distribution[top], kind="stable")].astype(np.int64)


def _check_ids(place: str, ids: Ids, low: int, high: int) -> None:
    wrong = np.flatnonzero((ids < low) | (ids >= high))
    if len(wrong):
        found = f"{ids.flat[wrong[0]]} at {wrong[0]}"
        raise CaptureError(place, found, f"a number from {low} to {high - 1}")
