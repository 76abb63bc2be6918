"""Calls a function on a few rows before a check, to report a function that fails on all inputs.

Such a function has no distribution to check. The draft is rejected in one row, accepted in another one, and in two more
rows either can happen.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from draftproof.arrays import TEXT_SETTINGS, UNCHANGED
from draftproof.deadline import Deadline, Ended
from draftproof.intercept import draws_beside
from draftproof.models import EVERY_PREFIX
from draftproof.program import ProgramError
from draftproof.serve import ask
from draftproof.subject import FunctionFailed, Subject, text_of, words_of
from draftproof.tape import UnknownRandomness
from draftproof.wire import Arrays, Fields

_REPEATED = 8  # number of calls with equal numbers, and of calls with other numbers, in check_equal_calls


def rehearse(subject: Subject, deadline: Deadline) -> None:
    """Calls the function, and resets the counts of `subject` afterwards.

    Raises: FunctionFailed if no call gave tokens; UnknownRandomness; Ended.
    """
    for fn in filter(None, (subject.fn, subject.draft, subject.generate, subject.select)):
        if inspect.iscoroutinefunction(fn) or inspect.isasyncgenfunction(fn):
            raise FunctionFailed(f"{_named(fn)}: got an async function, expected one that returns tokens")
    for fields, arrays, fn, given in _requests(subject):
        _check_signature(fn, given, subject)
        subject.rows = subject.answered = 0
        subject.error = None
        deadline.call(subject.answer, fields, arrays)
        if not subject.answered and subject.declaration.level == "position" and "drafts" in arrays:
            # The function may require a separate proposal row for each draft, so it is called with such rows too.
            arrays = arrays | {"q": np.repeat(arrays["q"], arrays["drafts"].shape[1], axis=1)}
            deadline.call(subject.answer, fields, arrays)
        hint = _hint(subject)
        if (subject.rows and not subject.answered) or hint:
            raise failed(subject, fn, arrays, hint) from subject.error
    if subject.finds_races:
        subject.finds_races = False
        if _draws_races(subject, deadline):
            _choose_form(subject, deadline)
    subject.draw_log.clear()
    subject.calls = subject.rows = subject.answered = 0
    subject.error = None


def check_equal_calls(subject: Subject, deadline: Deadline) -> None:
    """Checks whether random sources that no tape replaces are the reason why equal calls had different results.

    Raises: UnknownRandomness if calls have equal results with equal numbers of these sources, and different results
    with other numbers, because only these sources can then be the reason. Ended.
    """
    before = subject.calls, subject.draw_log.copy()
    try:
        _compare_equal_calls(subject, deadline)
    finally:
        subject.calls, subject.draw_log = before


def _compare_equal_calls(subject: Subject, deadline: Deadline) -> None:
    for fields, arrays, _, _ in _requests(subject):
        if "tape" not in arrays:
            continue

        def answer(seed: int, fields: Fields = fields, arrays: Arrays = arrays) -> tuple[bytes, list[str]]:
            (_, reply), found = draws_beside(partial(subject.answer, fields, arrays), seed)
            return b"".join(reply[name].tobytes() for name in ("tokens", "counts", "status")), found

        first, found = deadline.call(answer, 0)
        if not found or any(deadline.call(answer, 0)[0] != first for _ in range(_REPEATED)):
            continue
        if any(deadline.call(answer, seed)[0] != first for seed in range(1, 1 + _REPEATED)):
            remedy = "draw by functions of random, numpy or torch in the thread of the call, or give tier='sampled'"
            raise UnknownRandomness(", ".join(found), remedy)


def failed(subject: Subject, fn: Callable[..., Any], arrays: Arrays | None = None, hint: str = "") -> FunctionFailed:
    """Returns the error for a function that failed on every input, with its last exception."""
    error = subject.error
    said = words_of(error) if error is not None else "no tokens"
    text = f"{_named(fn)} fails on every input: {said}"
    if arrays is not None and "drafts" in arrays:
        declared, length = subject.declaration, int(arrays["lengths"][-1])
        rows = ", ".join(f"{name}={arrays[name][-1].tolist()}" for name in ("p", "q"))
        text += f"\n  on {rows}, drafts={arrays['drafts'][-1][:length].tolist()}"
        text += f"; level={declared.level!r}, arrays={subject.arrays!r}, batched={subject.batched}"
    return FunctionFailed(text + (f"\n  {hint}" if hint else ""))


def _named(fn: Callable[..., Any]) -> str:
    return str(getattr(fn, "__name__", type(fn).__name__))


def _requests(subject: Subject) -> list[tuple[Fields, Arrays, Callable[..., Any], list[str]]]:
    """Returns requests in the form that the program sends, each with the function that answers it and the names of that
    function's arguments."""
    declared, requests = subject.declaration, []
    vocabulary = min(3, declared.most_vocabulary or 3)
    inside = declared.draft_sampling == EVERY_PREFIX
    drafts = vocabulary if inside else max(1, declared.fewest_drafts)
    scripted = "scripted" in declared.randomness
    one, two = [1.0, 0.0, 0.0][:vocabulary], [0.0, 1.0, 0.0][:vocabulary]
    middle = [0.5, 0.5] if vocabulary == 2 else [0.5, 0.25, 0.25]
    other = [0.25, 0.75] if vocabulary == 2 else [0.25, 0.5, 0.25]
    rows = [(one, two), (middle, middle), (other, middle), (middle, other)]  # in the first pair, q = 1 at token 1
    if vocabulary == 1:
        rows = [([1.0], [1.0])] * 4
    numbers: Arrays = {}
    if scripted:
        numbers["tape"] = np.random.default_rng(3).random((len(rows), 256))
    elif "seeded" in declared.randomness:
        numbers["seeds"] = np.arange(len(rows), dtype=np.int64)
    fields = {"id": 0, "vocabulary": vocabulary, "randomness": declared.randomness[0]}
    if "verify" in declared.functions:
        # For level position only the last two pairs are used: several drafts without replacement need several tokens
        # with q > 0.
        arrays = _verify_arrays(subject, [*rows[2:], *rows[2:]] if declared.level == "position" else rows, 1)
        given = ["p", "q", "drafts", *(name for name in ("parents", "legal") if name in arrays)]
        requests.append((fields | {"type": "verify"}, _as_declared(subject, arrays) | numbers, subject.fn, given))
    if subject.draft is not None:
        numbers = {} if scripted else numbers
        seeds = {"seeds": np.arange(len(rows), dtype=np.int64)} if "seeded" in declared.randomness else {}
        asked = {"type": "draft", "drafts": drafts, "randomness": "seeded" if seeds else "opaque"}
        row_q = _as_declared(subject, {"q": np.array([[q] for _, q in rows])})
        requests.append((fields | asked, {**row_q, **seeds}, subject.draft, ["q", "K"]))
    if subject.generate is not None:
        table = np.full((vocabulary,) * (declared.memory + 1), 1 / vocabulary)
        asked = {"type": "generate", "length": 4, "drafts": 3, "seed": 1}
        models: Arrays = {"target": table, "proposal": table}
        names = ["target", "proposal", "length", "drafts"]
        if declared.requests:
            asked |= {"prompts": [[0], [1 % vocabulary, 0]], "lengths": [4, 2]}
            models["next"] = np.tile(np.arange(vocabulary, dtype=np.int32), (vocabulary, 1))
            names[2:3] = ["prompts", "lengths"]
            if declared.grammar:
                models["legal"], models["legal_next"] = np.ones((1, vocabulary), np.int32), models["next"][:1] * 0
                names.append("grammar")
            if declared.settings:
                asked["settings"] = [{name: TEXT_SETTINGS[name] for name in declared.settings}] * 2
                names.append("settings")
        requests.append((fields | asked, models, subject.generate, names))
    if subject.select is not None:
        chain = {"drafts": [0], "parents": [-1], "q": [rows[1][0]], "legal": [[1] * vocabulary],
                 "confidence": [0.5, 1.0], "accepted": 0, "past_confidence": [1.0]}  # fmt: skip
        asked = {"type": "select", "budget": 1, "cost": [1.0], "requests": [chain]}
        requests.append((fields | asked, {}, subject.select, ["view"]))
    return requests


def batch_of_equal_rows(subject: Subject, count: int) -> tuple[Fields, Arrays]:
    """Returns a request, without a tape, of `count` equal rows with V = 3. The first draft is accepted with probability
    1/2, and the target of each position has a token with probability 1/2."""
    rows = [([0.5, 0.25, 0.25], [0.25, 0.5, 0.25])] * count
    fields = {"type": "verify", "id": 0, "vocabulary": 3, "randomness": "opaque"}
    arrays = _verify_arrays(subject, rows, 1)
    if subject.declaration.level not in ("tree", "position"):
        arrays["drafts"][:] = 1  # in a chain each draft is accepted with probability 1/2; token 2 has p = q
    return fields, _as_declared(subject, arrays)


def _verify_arrays(subject: Subject, rows: list[tuple[list[float], list[float]]], first: int) -> Arrays:
    """Returns the arrays of a request, as probabilities. Row i of the batch has the pair rows[i] = (p, q) at every
    position. Drafts are the tokens first, first + 1, .. modulo V. In a tree the drafts are a path, or the children of
    the root for a step that drafts inside."""
    declared, vocabulary, count = subject.declaration, len(rows[0][0]), len(rows)
    inside, position = declared.draft_sampling == EVERY_PREFIX, declared.level == "position"
    drafts = vocabulary if inside else max(1, declared.fewest_drafts)
    arrays: Arrays = {
        name: np.tile(np.array([row[i] for row in rows])[:, None], (1, 1 if position else drafts + 1 - i, 1))
        for i, name in enumerate(("p", "q"))
    }
    arrays["drafts"] = np.tile(np.arange(first, first + drafts, dtype=np.int32) % vocabulary, (count, 1))
    arrays["lengths"] = np.full(count, drafts, np.int32)
    if declared.level == "tree":
        path = np.full(drafts, -1) if inside else np.arange(-1, drafts - 1)
        arrays["parents"] = np.tile(path.astype(np.int32), (count, 1))
    if declared.grammar:
        arrays["legal"] = np.ones(arrays["p"].shape, np.int32)
    if declared.settings:
        arrays["request_settings"] = np.tile(np.array(UNCHANGED), (count, 1))
    return arrays


def _as_declared(subject: Subject, arrays: Arrays) -> Arrays:
    """Returns the arrays with p and q in the declared form and type; requests carry bfloat16 rows as float32."""
    declared = subject.declaration
    dtype = declared.dtype if declared.dtype != "bfloat16" else "float32"
    with np.errstate(divide="ignore"):
        return {
            name: (np.log(array) if declared.rows == "logits" else array).astype(dtype) if name in ("p", "q") else array
            for name, array in arrays.items()
        }


def _draws_races(subject: Subject, deadline: Deadline) -> bool:
    """Whether a call draws an array of V uniforms, or V exponentials one by one. The call has V = 7, which is the size
    of no other dimension, so that an array of 7 numbers has one number for each token."""
    vocabulary = 7
    most = subject.declaration.most_vocabulary
    if most and most < vocabulary:
        return False
    even, likely = [1 / vocabulary] * vocabulary, [1.0] + [0.0] * (vocabulary - 1)
    subject.draw_log.clear()
    subject.lines.recording = True
    fields = {"type": "verify", "id": 0, "vocabulary": vocabulary, "randomness": "scripted"}
    for q in (even, likely):  # With `likely` the draft is rejected, so races of the residual are found too.
        arrays = _as_declared(subject, _verify_arrays(subject, [(even, q)], 0))
        deadline.call(subject.answer, fields, arrays | {"tape": np.full((1, 512), 0.5)})
    subject.lines.recording = False
    arrays_of_v = [e for e in subject.draw_log if e.kind in ("coin", "hash") and e.shape[-1:] == (vocabulary,)]
    clocks = [count for e, count in subject.draw_log.items() if e.kind == "clock" and not e.shape]
    return bool(arrays_of_v) or any(count % vocabulary == 0 for count in clocks)


def _choose_form(subject: Subject, deadline: Deadline) -> None:
    """Sets how arrays of V uniforms are drawn: as races of -log u, as races of -log(1 - u), or each number by itself.

    Chooses the first form by which the distribution on a small input can be enumerated, or else the form that leaves
    the least probability unexplored. A step that drafts inside has the first form.

    Cost: some hundred calls for each form.
    """
    subject.races, subject.complement = True, False
    if subject.declaration.draft_sampling == EVERY_PREFIX:
        return
    drafts = max(1, subject.declaration.fewest_drafts)
    v = 6 if 4 in (drafts, drafts + 1) else 4  # no other dimension has this size
    row = [2 * (v - x) / (v * (v + 1)) for x in range(v)]  # (p - q)+ is above 0 at v / 2 tokens
    arrays = _verify_arrays(subject, [(row, row[::-1])], v - 1)
    given = ("p", "q", "drafts", "parents", "legal")
    one: dict[str, Any] = {name: arrays[name][0].tolist() for name in given if name in arrays}
    if subject.declaration.settings:
        one["settings"] = {}
    question = json.dumps({"inputs": [one], "predictions": 64})
    forms = [(True, False), (True, True), (False, False)]
    left = []
    for races, complement in forms:
        subject.races, subject.complement = races, complement
        try:
            document = ask(subject, ["distribution", "-"], input=question, deadline=deadline)
        except ProgramError:  # This input is outside of the declaration of the function.
            subject.races, subject.complement = forms[0]
            return
        if deadline.over:
            raise Ended(deadline.over)
        answer = document["inputs"][0]
        left.append(1.0 if answer["state"] == "unsettled" else answer["unexplored"])
        if left[-1] == 0 or answer["state"] == "not_a_function":
            return
    subject.races, subject.complement = forms[left.index(min(left))]


def _check_signature(fn: Callable[..., Any], given: list[str], subject: Subject) -> None:
    """Raises: FunctionFailed if the function cannot be called with its arguments."""
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return
    named = dict.fromkeys(subject.names_of(fn) & {"rng", "generator"})
    if subject.batched and "lengths" in signature.parameters:
        named["lengths"] = None
    if fn is subject.fn and "verify" in subject.declaration.functions:
        named |= dict.fromkeys(subject.declaration.settings)
    try:
        signature.bind(*given, **named)
    except TypeError as error:
        raise FunctionFailed(
            f"{_named(fn)}{signature}: {error}; it is called as {_named(fn)}({', '.join([*given, *named])})"
        ) from None


def _hint(subject: Subject) -> str:
    """Returns a hint at a wrong declaration, from the last exception."""
    error = subject.error
    text = text_of(error)
    if isinstance(error, AttributeError | TypeError) and "numpy.ndarray" in text and "torch" in sys.modules:
        return 'it gets numpy arrays; declare arrays="torch" if it takes tensors'
    if isinstance(error, AttributeError | TypeError) and "'Tensor'" in text:
        return 'it gets tensors; declare arrays="numpy" if it takes numpy arrays'
    if subject.answered:
        return ""
    if isinstance(error, ValueError | IndexError | RuntimeError | TypeError) and not subject.batched:
        return "it gets one row a call; declare batched=True if it takes a batch" if _unpacks(text) else ""
    return ""


def _unpacks(text: str) -> bool:
    said = ("to unpack", "too many indices", "out of range", "dimension", "not iterable", "a 0-d")
    return any(words in text for words in said)
