"""A plain function as a program under test. The function takes rows and random numbers of the host and returns
tokens."""

from __future__ import annotations

import inspect
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof import intercept
from draftproof.arrays import SETTINGS, Argument, Arguments, Rows, tokens_of, tokens_of_batch
from draftproof.call_numbers import FAILED, NO_MASS, OK, TAPE_SHORT, Answer, CallNumbers, generators_for
from draftproof.intercept import torch_operators
from draftproof.models import StateModel
from draftproof.program import printable
from draftproof.seeds import MOST_REHEARSALS, SeedBook
from draftproof.selection import Policy, kept_of, view_of
from draftproof.tape import DrawEntry, DrawLines, Ints, NoMass, RowsUnclear, TapeShort, UnknownRandomness
from draftproof.wire import Arrays, Fields

_Give = Callable[[Ints], tuple[list[Argument], dict[str, Argument]]]
_rehearsal_numbers = np.random.default_rng(2)


@dataclass(frozen=True)
class Declaration:
    """The declaration of a function; docs/adapters-protocol.md describes its fields under `hello`."""

    name: str
    engine_version: str = ""
    level: str = "chain"
    draft_sampling: str = "iid"
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
    batch_invariant: bool = False
    tolerance: float = 0.0
    coin_bits: int = 24
    selection: dict[str, Any] | None = None
    end_tokens: tuple[int, ...] = ()
    memory: int = 1
    requests: bool = False
    greedy: str = "no"
    grammar: bool = False
    settings: tuple[str, ...] = ()

    def hello(self) -> Fields:
        own = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(self).items()}
        own["dtypes"], own["rows"] = [own.pop("dtype")], [own["rows"]]
        if self.selection is None:
            del own["selection"]
        return {"type": "hello", "protocol": "draftproof-adapter", "version": [1, 8], **own}


class FunctionFailed(RuntimeError):
    """A function raised, or returned no tokens, on every input. `__cause__` is the exception that it raised. `check`,
    `replay`, `distribution` and `acceptance` raise it."""

    exit_code = 2


def place_of(error: BaseException) -> str:
    """Returns where an exception was raised, in the last frame outside of libraries: `mine.py, line 12, in verify`."""
    frames = traceback.extract_tb(error.__traceback__)
    own = str(Path(__file__).parent)
    outside = [frame for frame in frames if not frame.filename.startswith(own)]
    users = [frame for frame in outside if "-packages" not in frame.filename]  # site-packages, dist-packages
    for frame in reversed(users or outside):
        return f"{frame.filename}, line {frame.lineno}, in {frame.name}"
    return ""


def text_of(error: BaseException | None) -> str:
    """Returns the message of an exception, without control characters; empty if its `__str__` raises."""
    try:
        return printable(str(error or ""), 2000)
    except Exception:
        return ""


def words_of(error: BaseException) -> str:
    """Returns type, message and location of an exception."""
    text, place = text_of(error), place_of(error)
    return type(error).__name__ + (f": {text}" if text else "") + (f" ({place})" if place else "")


def _settings_of_request(fields: Fields) -> Fields:
    """Returns the settings of a request, with the tokens of a bias as integers."""
    bias = {int(token): value for token, value in fields.get("logit_bias", {}).items()}
    return {name: bias if name == "logit_bias" else value for name, value in fields.items()}


def parameters_of(fn: Callable[..., Any]) -> frozenset[str]:
    """Returns the names of the parameters of `fn`; empty if Python has no signature of `fn`."""
    try:
        return frozenset(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        return frozenset()


@dataclass
class Subject:
    """`fn` as a program under test.

    arrays          the kind of arrays that fn takes: `torch`, `numpy` or `list`
    batched         whether arguments and results of fn have a leading batch dimension
    races           whether uniform arrays of V entries are drawn as races (tape.py); with `complement`
                    u = 1 - exp(-clock)
    every_operator  whether torch runs under a dispatch mode, which every operator passes (intercept/torch_operators.py)
    answered        number of rows with tokens, of `rows` rows; `error` is the last exception of the other rows
    """

    fn: Callable[..., Any]
    declaration: Declaration
    arrays: str = "numpy"
    batched: bool = False
    races: bool = False
    complement: bool = False
    finds_races: bool = False  # whether the rehearsal determines `races`, `complement` and `lines`
    lines: DrawLines = field(default_factory=DrawLines)
    compiled: bool = True  # whether fn may call code of torch.compile
    draft: Callable[..., Any] | None = None
    generate: Callable[..., Any] | None = None
    select: Policy | None = None
    device: str = "cpu"
    draw_log: Counter[DrawEntry] = field(default_factory=Counter)
    calls: int = 0
    alone: str = ""  # why rows of a batch were run one by one, or ""
    every_operator: bool = True
    drew_unseen: bool = False  # whether an operator that is not replaced drew from the generator given to the call
    book: SeedBook = field(default_factory=SeedBook)
    rows: int = 0
    answered: int = 0
    error: BaseException | None = None
    after_call: Callable[[], None] = lambda: None  # called after each call of fn; raises Ended if the time is over

    def __post_init__(self) -> None:
        self._names = {id(fn): parameters_of(fn) for fn in (self.fn, self.draft, self.generate) if fn is not None}
        self._arguments = Arguments(self.arrays, self.declaration.dtype, self.device)
        self._rehearsed: set[tuple[bytes, ...]] = set()
        self._overwrote: dict[int, str] = {}

    def names_of(self, fn: Callable[..., Any]) -> frozenset[str]:
        return self._names.get(id(fn), frozenset())

    def answer(self, fields: Fields, arrays: Arrays) -> tuple[Fields, Arrays]:
        """Returns the reply to a request. An exception for one row becomes the status of this row. Raises:
        UnknownRandomness, because it means that the function cannot be checked on any row. FunctionFailed for a text or
        a selection, which has no status."""
        given = bool(arrays.keys() & {"tape", "seeds"}) or fields["type"] == "generate"
        with intercept.replaced() if given else nullcontext():
            calls, before = self.calls, None if self.every_operator or not given else torch_operators.state()
            self.drew_unseen = False
            reply = self._answer(fields, arrays)
            if before is not None and (torch_operators.drew(before) or self.drew_unseen):
                self.every_operator, self.calls = True, calls
                reply = self._answer(fields, arrays)
            fields, result, draw_log, answers = reply
        self.draw_log.update(draw_log)
        self.rows += len(answers)
        self.answered += sum(1 for answer in answers if answer.status in (OK, TAPE_SHORT))
        return fields, result

    def _answer(self, fields: Fields, arrays: Arrays) -> tuple[Fields, Arrays, list[DrawEntry], list[Answer]]:
        self._overwrote = {}
        if fields["type"] == "verify":
            names = ("p", "q", "drafts", "lengths", "parents", "legal", "request_settings")
            rows = Rows(*(arrays.get(name) for name in names))  # type: ignore[arg-type]
            numbers = CallNumbers(self, fields, arrays)
            answers = self._batches(rows, numbers) if self.batched else self._rows(rows, numbers)
            most = [1] * len(answers) if self.declaration.level == "position" else (arrays["lengths"] + 1).tolist()
            return self._reply(fields, answers, numbers, arrays["drafts"].shape[1] + 1, most)
        if fields["type"] == "draft" and self.draft is not None:
            wanted, numbers = int(fields["drafts"]), CallNumbers(self, fields, arrays)
            drafts = self._drafts(self.draft, arrays["q"][:, 0], wanted, numbers)
            return self._reply(fields, drafts, numbers, wanted, [wanted] * len(drafts))
        if fields["type"] == "generate" and self.generate is not None:
            self.calls += 1
            try:
                with intercept.seeded_call(int(fields["seed"]), True):
                    texts = self._texts(fields, arrays)
                self.after_call()
                counts = np.array([len(text) for text in texts], np.int32)
                tokens = np.full((len(texts), max(1, counts.max())), -1, np.int32)
                for i, text in enumerate(texts):
                    tokens[i, : len(text)] = text
            except UnknownRandomness:
                raise
            except (Exception, SystemExit, GeneratorExit) as error:
                self.error = error
                said = f"{self.declaration.name} fails on a text of {fields['length']} tokens: {words_of(error)}"
                raise FunctionFailed(said) from error
            return {"type": "result", "id": fields["id"]}, {"tokens": tokens, "counts": counts}, [], []
        if fields["type"] == "select" and self.select is not None:
            self.calls += 1
            try:
                kept = kept_of(self.select(view_of(fields, self.arrays)), fields)
                self.after_call()
            except (Exception, SystemExit, GeneratorExit) as error:
                self.error = error
                raise FunctionFailed(f"{self.declaration.name} fails on a selection: {words_of(error)}") from error
            return {"type": "result", "id": fields["id"], "kept": kept}, {}, [], []
        message = f"got a request {fields['type']!r}, expected one of {', '.join(self.declaration.functions)}"
        return {"type": "error", "id": fields["id"], "message": message}, {}, [], []

    def _texts(self, fields: Fields, arrays: Arrays) -> list[list[int]]:
        """Returns the texts that an engine generates, one for each request. Raises: exceptions of the engine; TypeError
        if the engine does not return texts."""
        assert self.generate is not None
        length, drafts = int(fields["length"]), int(fields["drafts"])
        named = generators_for(self.names_of(self.generate), int(fields["seed"]), self.device, scripted=False)
        if not self.declaration.requests:
            return [tokens_of(self.generate(arrays["target"], arrays["proposal"], length, drafts, **named))]
        models = (StateModel(arrays[name], arrays["next"]) for name in ("target", "proposal"))
        prompts = [list(prompt) for prompt in fields["prompts"]]
        more: list[Any] = []
        if self.declaration.grammar:
            more.append(StateModel(arrays["legal"] != 0, arrays["legal_next"]))
        if self.declaration.settings:
            more.append([_settings_of_request(one) for one in fields["settings"]])
        answer = self.generate(*models, prompts, list(fields["lengths"]), drafts, *more, **named)
        if isinstance(answer, Mapping):
            raise TypeError("returned a dict, expected a list with a text for each prompt, in their order")
        texts = list(answer)
        if len(texts) != len(fields["prompts"]):
            raise TypeError(f"returned {len(texts)} texts, expected one for each of {len(fields['prompts'])} prompts")
        return [tokens_of(text) for text in texts]

    def _reply(
        self, fields: Fields, answers: list[Answer], numbers: CallNumbers, width: int, most: list[int]
    ) -> tuple[Fields, Arrays, list[DrawEntry], list[Answer]]:
        tokens = np.full((len(answers), width), -1, np.int32)
        for i, answer in enumerate(answers):
            fault = self._fault_of(answer.tokens, most[i], numbers.vocabulary) if answer.status == OK else ""
            if fault:
                answers[i] = Answer([], FAILED, fault)
                self.error = ValueError(fault)
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
        if self._overwrote:
            result["overwrote"] = {str(i): names for i, names in self._overwrote.items()}
        if fields["randomness"] == "scripted":
            result["streams"], log = numbers.log()
            reply |= log
        return result, reply, numbers.draw_log, answers

    @staticmethod
    def _fault_of(tokens: list[int], most: int, vocabulary: int) -> str:
        """Returns a description of what is wrong with the tokens of a row; empty if the tokens are valid."""
        if not 0 < len(tokens) <= most:
            return f"a result of {len(tokens)} tokens, expected 1{f' to {most}' if most > 1 else ''}"
        if min(tokens) < 0 or max(tokens) >= vocabulary:
            return f"the tokens {tokens}, expected tokens 0 .. {vocabulary - 1}"
        return ""

    # One row a call.

    def _rows(self, rows: Rows, numbers: CallNumbers) -> list[Answer]:
        answers, kept, level = [], self._arguments.kept, self.declaration.level
        position, tree = level == "position", level == "tree" and rows.parents is not None
        one_proposal = position and rows.q.shape[1] == 1
        settings = self._settings_of(rows)
        for i, n in enumerate(rows.lengths.tolist()):
            given = [
                kept("p", rows.p[i, 0] if position else rows.p[i, : n + 1]),
                kept("q", rows.q[i, 0] if one_proposal else rows.q[i, :n]),
                kept("drafts", rows.drafts[i, :n]),
            ]
            if tree and rows.parents is not None:
                given.append(kept("parents", rows.parents[i, :n]))
            if rows.legal is not None:
                legal = rows.legal[i] != 0
                given.append(kept("legal", legal[0] if position else legal[: n + 1]))
            named = {name: values[i].item() for name, values in settings.items()}
            answers.append(self._one(partial(self._call, self.fn, given, [], named), given, named, numbers, i))
        return answers

    def _settings_of(self, rows: Rows) -> Arrays:
        """Returns an array [b] for each declared setting, by name."""
        if rows.settings is None:
            return {}
        columns = dict(zip(SETTINGS, rows.settings.T, strict=True))
        return {name: columns[name].astype(np.int64 if name == "top_k" else np.float64) for name in
                self.declaration.settings}  # fmt: skip

    def _one(
        self,
        call: Callable[[CallNumbers, int], Answer],
        given: list[Argument],
        named: dict[str, Any],
        numbers: CallNumbers,
        i: int,
    ) -> Answer:
        """Returns the answer of `call` on row i. `given` and `named` are the arguments of fn. If the call used seeds,
        each new input is rehearsed once, to find out which seeds are the same in every call."""
        answer = call(numbers, i)
        if self.book.met:
            one = np.ones(1, np.int64)
            again = self._rehearse(
                (*(argument.key for argument in given), repr(named).encode()),
                lambda: call(self._random_numbers(numbers.vocabulary, one), 0),
            )
            if again:
                numbers.forget()
                answer = call(numbers, i)
            self.book.met.clear()
        return answer

    def _call(
        self,
        fn: Callable[..., Any],
        given: list[Argument],
        more: list[Any],
        named: dict[str, Any],
        numbers: CallNumbers,
        i: int,
    ) -> Answer:
        """Returns the answer for row i of the call fn(*given, *more, **named)."""
        self.calls += 1
        try:
            output = numbers.run(i, fn, [*[argument.value for argument in given], *more], named)
            self.after_call()
            tape = numbers.tape if numbers.scripted else None
            if tape is not None:
                if tape.refused is not None:
                    raise tape.refused
                if tape.one is not None and tape.one.short:  # the function caught TapeShort
                    return Answer(status=TAPE_SHORT)
            return Answer(tokens_of(output))
        except UnknownRandomness:
            raise
        except (Exception, SystemExit, GeneratorExit) as error:
            return self._failure(error, numbers)
        finally:
            changed = [argument.name for argument in given if argument.changed()]
            if changed:
                self._overwrote[i] = ", ".join(changed)
                for argument in given:
                    argument.restore()

    def _failure(self, error: BaseException, numbers: CallNumbers) -> Answer:
        """Returns the answer of a row whose call raised. Raises: an UnknownRandomness that the function caught or
        wrapped."""
        reason = intercept.reason_of(error, numbers.tape if numbers.scripted else None)
        if isinstance(reason, UnknownRandomness):
            raise reason
        if isinstance(reason, TapeShort):
            return Answer(status=TAPE_SHORT)
        self.error = error
        if isinstance(reason, NoMass):
            place = place_of(reason)
            return Answer(status=NO_MASS, message=str(reason) + (f" ({place})" if place else ""))
        return Answer(status=FAILED, message=words_of(error))

    def _random_numbers(self, vocabulary: int, lengths: Ints) -> CallNumbers:
        """Returns the random numbers of a rehearsal, one row for each entry of `lengths`. They are independent of the
        numbers of all requests."""
        tape = _rehearsal_numbers.random((len(lengths), 256))
        return CallNumbers(self, {"vocabulary": vocabulary}, {"tape": tape, "lengths": lengths})

    def _rehearse(self, key: tuple[bytes, ...], call: Callable[[], Any]) -> bool:
        """Returns whether a seed of the last call is the same in every call. `call` repeats this call with other random
        numbers."""
        book, met = self.book, set(self.book.met)
        if key in self._rehearsed or not book.undecided():
            return False
        self._rehearsed.add(key)
        before, overwrote, seen = self.calls, dict(self._overwrote), 0
        for turn in range(MOST_REHEARSALS):
            with book.rehearsal():
                call()
                seen += bool(book.met & met)
            if all(book.is_known(seed) for seed in met) or (turn == 3 and seen == 0):
                break
        self.calls, self._overwrote = before, overwrote
        return any(book.is_known(seed) for seed in met)

    def _drafts(self, fn: Callable[..., Any], q: NDArray[Any], wanted: int, numbers: CallNumbers) -> list[Answer]:
        if not self.batched:
            kept = self._arguments.kept
            answers = []
            for i, row in enumerate(q):
                given = [kept("q", row)]
                answers.append(self._one(partial(self._call, fn, given, [wanted], {}), given, {}, numbers, i))
            return answers
        # With tapes each batch has one row. In a batch of V rows, V numbers for the V tokens of one row could not be
        # distinguished from one number for each row.
        parts = np.split(np.arange(len(q)), len(q) if numbers.scripted else 1)

        def give(part: Ints) -> tuple[list[Argument], dict[str, Argument]]:
            return [self._arguments.new("q", q[part])], {}

        return [answer for part in parts for answer in self._together(fn, give, [wanted], part, numbers)]

    # Many rows a call.

    def _batches(self, rows: Rows, numbers: CallNumbers) -> list[Answer]:
        new, level = self._arguments.new, self.declaration.level

        def give(part: Ints) -> tuple[list[Argument], dict[str, Argument]]:
            p, q = rows.p[part], rows.q[part]
            if level == "position":
                p, q = p[:, 0], q[:, 0] if q.shape[1] == 1 else q
            longest = int(rows.lengths[part].max(initial=0))
            if level != "position":
                p, q = p[:, : longest + 1], q[:, :longest]
            given = [new("p", p), new("q", q), new("drafts", rows.drafts[part, :longest])]
            if level == "tree" and rows.parents is not None:
                given.append(new("parents", rows.parents[part, :longest]))
            if rows.legal is not None:
                legal = rows.legal[part] != 0
                given.append(new("legal", legal[:, 0] if level == "position" else legal[:, : longest + 1]))
            named = {name: new(name, values[part]) for name, values in self._settings_of(rows).items()}
            if "lengths" in self.names_of(self.fn):
                named["lengths"] = new("lengths", rows.lengths[part])
            return given, named

        return [answer for part in rows.parts() for answer in self._together(self.fn, give, [], part, numbers)]

    def _together(
        self, fn: Callable[..., Any], give: _Give, more: list[Any], part: Ints, numbers: CallNumbers
    ) -> list[Answer]:
        """Calls `fn` for a batch. If this call fails, or its random numbers cannot be assigned to rows, calls `fn` for
        each row.

        give   the arguments of fn for some rows, without generators
        """
        answers = self._call_batch(fn, give, more, part, numbers)
        if answers is None:
            numbers.forget()
            return [answer for i in part for answer in self._together(fn, give, more, np.array([i]), numbers)]
        if self.book.met:
            lengths = numbers.lengths[part]
            given, named = give(part)
            key = (part.tobytes(), *(argument.key for argument in [*given, *named.values()]))
            rows, v = np.arange(len(part)), numbers.vocabulary

            def rehearsal() -> None:
                self._call_batch(fn, lambda _: give(part), more, rows, self._random_numbers(v, lengths))

            if self._rehearse(key, rehearsal):
                numbers.forget()
                answers = self._call_batch(fn, give, more, part, numbers) or answers
            self.book.met.clear()
        return answers

    def _call_batch(
        self, fn: Callable[..., Any], give: _Give, more: list[Any], part: Ints, numbers: CallNumbers
    ) -> list[Answer] | None:
        """Returns the answers of a batch, or None if its rows must be run one by one."""
        given, named = give(part)
        values = [*[argument.value for argument in given], *more]
        try:
            output = numbers.run(part, fn, values, {name: argument.value for name, argument in named.items()})
            self.after_call()
            self.calls += len(part)
            if numbers.tape is not None and numbers.scripted and numbers.tape.refused is not None:
                raise numbers.tape.refused
            answers = [Answer(tokens) for tokens in tokens_of_batch(output, len(part), self.declaration.level)]
            for i, answer in enumerate(numbers.ended()):
                if answer.status != OK:
                    answers[i] = answer
            for argument in [*given, *named.values()]:
                for changed in np.flatnonzero(argument.changed_rows()).tolist() if argument.changed() else ():
                    row = int(part[changed])
                    self._overwrote[row] = ", ".join(filter(None, (self._overwrote.get(row), argument.name)))
            return answers
        except UnknownRandomness:
            raise
        except (Exception, SystemExit, GeneratorExit) as error:
            if len(part) == 1:
                return [self._failure(error, numbers)]
            if isinstance(intercept.reason_of(error, None), UnknownRandomness):
                raise intercept.reason_of(error, None) from None  # type: ignore[misc]
            if isinstance(error, RowsUnclear):
                self.alone = str(error)
            return None
