"""A plain function as a program under test: rows in, tokens out, random numbers from the host."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof import intercept
from draftproof.arrays import Converter, Rows, tokens_of, tokens_of_batch
from draftproof.tape import LedgerEntry, NoMass, RowsUnclear, Tape, TapeShort, UnknownRandomness
from draftproof.wire import Arrays, Fields

OK, FAILED, NO_MASS, TAPE_SHORT = 0, 3, 4, 5
_Give = Callable[[NDArray[np.int64]], tuple[list[Any], dict[str, Any]]]


@dataclass(frozen=True)
class Declaration:
    """What a function declares about itself; the fields are those of `hello` in docs/doors-protocol.md."""

    name: str
    engine_version: str = ""
    level: str = "chain"
    law: str = "iid"
    randomness: tuple[str, ...] = ("scripted", "seeded")
    dtype: str = "float32"
    rows: str = "probabilities"
    functions: tuple[str, ...] = ("verify",)
    most_rows: int = 4096
    fewest_drafts: int = 1
    most_drafts: int = 0
    most_vocabulary: int = 0
    ragged: bool = True
    deterministic: bool = True
    tolerance: float = 0.0
    coin_bits: int = 24

    def hello(self) -> Fields:
        own = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(self).items()}
        own["dtypes"], own["rows"] = [own.pop("dtype")], [own["rows"]]
        return {"type": "hello", "protocol": "draftproof-door", "version": [1, 0], **own}


@dataclass(frozen=True)
class Answer:
    """Tokens of one row, or the reason why there are none."""

    tokens: list[int] = field(default_factory=list)
    status: int = OK
    message: str = ""


def _failure(error: Exception) -> Answer:
    if isinstance(error, TapeShort):
        return Answer(status=TAPE_SHORT)
    if isinstance(error, NoMass):
        return Answer(status=NO_MASS, message=str(error))
    return Answer(status=FAILED, message=f"{type(error).__name__}: {error}")


class _Numbers:
    """The random numbers of one request: a tape or a seed for each row, or none."""

    def __init__(self, fields: Fields, arrays: Arrays, races: bool, compiled: bool) -> None:
        self._tape, self._seeds, self._races, self._compiled = arrays.get("tape"), arrays.get("seeds"), races, compiled
        self.scripted = self._tape is not None
        self._lengths = arrays.get("lengths", np.ones(len(arrays.get("q", ())), np.int32))
        self._vocabulary = int(fields["vocabulary"])
        self.tapes: list[Tape] = []

    def of(self, rows: NDArray[np.int64] | slice) -> AbstractContextManager[Any]:
        """Random numbers of `rows` until the context ends. A batch of seeds is seeded by that of its first row."""
        self._at = rows
        if self._tape is not None:
            self.tapes.append(Tape(self._tape[rows], self._vocabulary, self._races))
            self.tapes[-1].compiled = self._compiled
            lengths = self._lengths[rows]
            self.tapes[-1].drafts = int(lengths[0]) if len(lengths) and (lengths == lengths[0]).all() else 1
            return intercept.scripted(self.tapes[-1])
        if self._seeds is not None:
            return intercept.seeded(int(self._seeds[rows][0]))
        return nullcontext()

    def generators(self, names: set[str]) -> dict[str, Any]:
        """Generators for the parameters `rng` and `generator` of a function, within the context of its rows."""
        made: dict[str, Any] = {}
        seed = None if self._seeds is None else int(self._seeds[self._at][0])
        if "rng" in names:
            made["rng"] = np.random.default_rng(seed)  # of the tape, if there is one
        if "generator" in names:
            import torch

            made["generator"] = torch.Generator()
            if not self.scripted:  # a new generator has the same seed each time: without one of the host, torch's own
                made["generator"].manual_seed(int(torch.randint(2**62, ())) if seed is None else seed)
        return made

    def ended(self) -> list[Answer]:
        """Of the last rows, those that ran out of tape or drew from weights without mass, as answers; by row."""
        if self._tape is None:
            return []
        tape = self.tapes[-1]
        none = Answer()
        return [
            Answer(status=TAPE_SHORT) if short else Answer(status=NO_MASS, message=tape.faults[i]) if empty else none
            for i, (short, empty) in enumerate(zip(tape.short.tolist(), tape.massless.tolist(), strict=True))
        ]

    def refuse(self) -> None:
        """Raises: UnknownRandomness that a function caught."""
        if self._tape is not None and self.tapes[-1].refused is not None:
            raise self.tapes[-1].refused

    def forget(self) -> None:
        """The last rows are to be run again."""
        if self._tape is not None:
            self.tapes.pop()

    def log(self) -> tuple[list[str], Arrays]:
        """Names of streams, and the arrays of the log, of all tapes in order."""
        streams: dict[str, int] = {}
        counts, draws, weights = [], [], []
        for tape in self.tapes:
            some_counts, some_draws, some_weights, names = tape.log()
            numbers = np.array([streams.setdefault(name, len(streams)) for name in names] + [-1], np.int32)
            some_draws[:, 3] = numbers[some_draws[:, 3]]
            counts.append(some_counts)
            draws.append(some_draws)
            weights.append(some_weights)
        return list(streams), {
            "draw_counts": np.concatenate(counts).astype(np.int32),
            "draws": np.concatenate(draws).astype(np.int32),
            "weights": np.concatenate(weights).astype(np.float64),
        }


def parameters_of(fn: Callable[..., Any]) -> set[str]:
    """Names of the parameters of `fn`; none where Python cannot tell."""
    try:
        return set(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        return set()


@dataclass
class Subject:
    """`fn` behind a door.

    arrays     what fn takes: `torch`, `numpy` or `list`
    batched    fn takes and gives a leading batch dimension
    races      uniform arrays of V entries are drawn as races (tape.py)
    """

    fn: Callable[..., Any]
    declaration: Declaration
    arrays: str = "numpy"
    batched: bool = False
    races: bool = False
    compiled: bool = True  # fn may call code of torch.compile
    draft: Callable[..., Any] | None = None
    generate: Callable[..., Any] | None = None
    device: str = "cpu"
    ledger: Counter[LedgerEntry] = field(default_factory=Counter)
    calls: int = 0
    alone: str = ""  # why rows of a batch were run one at a time; empty: they were not

    def __post_init__(self) -> None:
        self._names = {id(fn): parameters_of(fn) for fn in (self.fn, self.draft) if fn is not None}
        self._to = Converter(self.arrays, self.declaration.dtype, self.device)

    def answer(self, fields: Fields, arrays: Arrays) -> tuple[Fields, Arrays]:
        """The reply to a request. Raises: UnknownRandomness, which is no row's fault."""
        if fields["type"] == "verify":
            rows = Rows(*(arrays.get(name) for name in ("p", "q", "drafts", "lengths", "parents")))  # type: ignore[arg-type]
            numbers = _Numbers(fields, arrays, self.races, self.compiled)
            with intercept.scripted(None) if numbers.scripted else nullcontext():
                answers = self._batches(rows, numbers) if self.batched else self._rows(rows, numbers)
            return self._reply(fields, answers, numbers, arrays["drafts"].shape[1] + 1)
        if fields["type"] == "draft" and self.draft is not None:
            wanted, numbers = int(fields["drafts"]), _Numbers(fields, arrays, self.races, self.compiled)
            return self._reply(fields, self._drafts(self.draft, arrays["q"][:, 0], wanted, numbers), numbers, wanted)
        if fields["type"] == "generate" and self.generate is not None:
            with intercept.seeded(int(fields["seed"])):
                text = self.generate(arrays["target"], arrays["proposal"], int(fields["length"]), int(fields["drafts"]))
            return {"type": "result", "id": fields["id"]}, {"tokens": np.array([tokens_of(text)], np.int32)}
        message = f"found a request {fields['type']!r}, wanted one of {', '.join(self.declaration.functions)}"
        return {"type": "error", "id": fields["id"], "message": message}, {}

    def _reply(self, fields: Fields, answers: list[Answer], numbers: _Numbers, width: int) -> tuple[Fields, Arrays]:
        tokens = np.full((len(answers), width), -1, np.int32)
        for i, answer in enumerate(answers):
            if answer.status == OK and not 0 < len(answer.tokens) <= width:
                answers[i] = Answer([], FAILED, f"found {len(answer.tokens)} tokens, wanted 1 to {width}")
            tokens[i, : len(answers[i].tokens)] = answers[i].tokens
        result: Fields = {"type": "result", "id": fields["id"]}
        reply: Arrays = {
            "tokens": tokens,
            "counts": np.array([len(answer.tokens) for answer in answers], np.int32),
            "status": np.array([answer.status for answer in answers], np.int32),
        }
        messages = {str(i): answer.message for i, answer in enumerate(answers) if answer.message}
        if messages:
            result["messages"] = messages
        if fields["randomness"] == "scripted":
            result["streams"], log = numbers.log()
            reply |= log
            for tape in numbers.tapes:
                self.ledger.update(tape.ledger)
        return result, reply

    def _rows(self, rows: Rows, numbers: _Numbers) -> list[Answer]:
        answers, copy, level = [], self._to.copy, self.declaration.level
        p, q, drafts = (self._to.whole(array) for array in (rows.p, rows.q, rows.drafts))
        parents = None if rows.parents is None else self._to.whole(rows.parents)
        one_proposal = level == "position" and rows.q.shape[1] == 1
        for i, n in enumerate(rows.lengths.tolist()):
            given = [
                copy(p[i, 0] if level == "position" else p[i, : n + 1]),
                copy(q[i, 0] if one_proposal else q[i, :n]),
                copy(drafts[i, :n]),
            ]
            if level == "tree" and parents is not None:
                given.append(copy(parents[i, :n]))
            answers.append(self._guarded(self.fn, given, numbers, i))
        return answers

    def _guarded(self, fn: Callable[..., Any], given: Any, numbers: _Numbers, i: int) -> Answer:
        self.calls += 1
        try:
            with numbers.of(slice(i, i + 1)):
                output = fn(*given, **numbers.generators(self._names[id(fn)]))
            return Answer(tokens_of(output))
        except UnknownRandomness:
            raise
        except Exception as error:
            return _failure(error)
        finally:
            numbers.refuse()

    def _drafts(self, fn: Callable[..., Any], q: NDArray[Any], wanted: int, numbers: _Numbers) -> list[Answer]:
        if not self.batched:
            return [self._guarded(fn, (self._to(q[i]), wanted), numbers, i) for i in range(len(q))]
        # With numbers of the host a batch is one row: an array of V numbers could be taken for one of each row.
        parts = np.split(np.arange(len(q)), len(q) if numbers.scripted else 1)

        def give(part: NDArray[np.int64]) -> tuple[list[Any], dict[str, Any]]:
            return [self._to(q[part]), wanted], {}

        return [answer for part in parts for answer in self._together(fn, give, part, numbers)]

    def _batches(self, rows: Rows, numbers: _Numbers) -> list[Answer]:
        to, level = self._to, self.declaration.level

        def give(part: NDArray[np.int64]) -> tuple[list[Any], dict[str, Any]]:
            p, q = rows.p[part], rows.q[part]
            if level == "position":
                p, q = p[:, 0], q[:, 0] if q.shape[1] == 1 else q
            given = [to(p), to(q), to(rows.drafts[part])]
            if level == "tree" and rows.parents is not None:
                given.append(to(rows.parents[part]))
            return given, {"lengths": to(rows.lengths[part])} if "lengths" in self._names[id(self.fn)] else {}

        return [answer for part in rows.parts() for answer in self._together(self.fn, give, part, numbers)]

    def _together(
        self, fn: Callable[..., Any], give: _Give, part: NDArray[np.int64], numbers: _Numbers
    ) -> list[Answer]:
        """A batch in one call, or row by row where that fails or its random numbers cannot be told apart.

        give   the arguments of fn for some rows, without generators
        """
        given, named = give(part)
        try:
            with numbers.of(part):
                output = fn(*given, **named, **numbers.generators(self._names[id(fn)]))
            self.calls += len(part)
            answers = [Answer(tokens) for tokens in tokens_of_batch(output, len(part), self.declaration.level)]
            for i, answer in enumerate(numbers.ended()):
                if answer.status != OK:
                    answers[i] = answer
            return answers
        except UnknownRandomness:
            raise
        except Exception as error:
            if len(part) == 1:
                return [_failure(error)]
            if isinstance(error, RowsUnclear):
                self.alone = str(error)
            numbers.forget()
            return [answer for i in part for answer in self._together(fn, give, np.array([i]), numbers)]
