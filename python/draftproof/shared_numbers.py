"""Finds batched functions whose rows share random numbers, such as `torch.rand(1, L)` for a batch of B rows.

Each row alone then has the right distribution, so that no other check shows it, but texts of one batch are accepted and
rejected together. The function is called with many equal rows, whose first draft is accepted with probability 1/2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from draftproof.deadline import Deadline
from draftproof.rehearsal import batch_of_equal_rows
from draftproof.results import FAILED, PASSED
from draftproof.subject import Subject

CHECK = "independent_rows"
ROWS, CALLS = 64, 16
FEWEST = 8  # tokens after the last draft are compared if at least so many rows of a call have one
REPEATED = 24  # rows whose first tokens in all calls are those of a row before them
LARGEST_SHARE = 0.55  # of the likeliest first token

# Correctness: a lossless function emits the first draft with probability 1/2 in each row. In 16 calls of 64 independent
# rows all first tokens of each call are equal with probability 2^-1008. Of the tokens after the last draft (of a tree:
# the second tokens), at least 8 are compared in each of at least 8 calls. The likeliest one has probability 1/2, so
# that all of a call are equal with probability 2^-7 at most, and in 8 calls with 2^-56. If all calls have the same
# token, the function may be deterministic, and nothing is concluded.
# Rows may also share numbers in pairs or parts of a batch. Let c be the probability of the likeliest first token; it is
# 1/2 if drafts are verified token by token, and larger in other schemes, so it is not known. The probability that 24
# rows have in every call the first token of a row before them is at most C(64, 24) (63 c^16)^24, which is below 2e-10
# for c < 0.656. For larger c the share of this token among the 1024 first tokens is at most 0.55 with probability
# exp(-2048 (c - 0.55)^2) < 2e-10 (Hoeffding). So both together have a probability below 2e-10. If two calls have the
# same tokens, the function may have a constant seed, and nothing is concluded.


def check_independent_rows(subject: Subject, deadline: Deadline) -> dict[str, Any] | None:
    """Returns a finding in the form of the program's document, None for a function that the check does not apply to.

    Raises: Ended, UnknownRandomness.
    """
    declared = subject.declaration
    usual = declared.greedy == "no" and declared.tolerance == 0 and declared.most_rows >= ROWS
    if not subject.batched or "verify" not in declared.functions or not usual or 0 < declared.most_vocabulary < 3:
        return None
    fields, arrays = batch_of_equal_rows(subject, ROWS)
    before = subject.calls, subject.draw_log.copy(), subject.error, subject.alone, subject.rows, subject.answered
    last = 1 if declared.level in ("tree", "position") else arrays["drafts"].shape[1]
    seen: list[tuple[set[int], set[int]]] = []
    firsts: list[Any] = []
    try:
        for call in range(CALLS):
            seeds = np.full(ROWS, call, np.int64)
            _, reply = deadline.call(subject.answer, fields, arrays | {"seeds": seeds})
            tokens, counts = reply["tokens"], reply["counts"]
            if (reply["status"] != 0).any():
                return None  # other checks report it
            final = tokens[counts > last, last] if tokens.shape[1] > last else tokens[:0, 0]
            firsts.append(tokens[:, 0].copy())
            seen.append((set(tokens[:, 0].tolist()), set(final.tolist()) if len(final) >= FEWEST else set()))
    finally:
        subject.calls, subject.draw_log, subject.error, subject.alone, subject.rows, subject.answered = before
    finding = {"check": CHECK, "status": PASSED, "work": CALLS * ROWS}
    for place, sets in zip(("first", "last"), zip(*seen, strict=True), strict=True):
        compared = [found for found in sets if found]
        if len(compared) >= CALLS // 2 and all(len(found) == 1 for found in compared) and len(set.union(*compared)) > 1:
            return finding | {
                "status": FAILED,
                "evidence": f"{ROWS} rows with equal inputs have equal {place} tokens in each of {len(compared)} calls,"
                " which differ between the calls: the rows of a batch share random numbers",
            }
    repeated = ROWS - len({row.tobytes() for row in np.stack(firsts, 1)})
    share = np.unique(firsts, return_counts=True)[1].max() / (ROWS * CALLS)
    if repeated >= REPEATED and share <= LARGEST_SHARE and len({call.tobytes() for call in firsts}) == CALLS:
        return finding | {
            "status": FAILED,
            "evidence": f"of {ROWS} rows with equal inputs, {repeated} have in each of {CALLS} calls the first token of"
            " a row before them: the rows of a batch share random numbers, or a result is copied",
        }
    return finding
