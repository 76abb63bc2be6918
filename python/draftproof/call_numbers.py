"""Random numbers for the calls of a function that serve one request, and the answer for a row."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from draftproof import intercept
from draftproof.arrays import torch_for
from draftproof.intercept import numpy_generators, torch_operators
from draftproof.intercept._scalars import here, imports_here, seed_for
from draftproof.tape import DrawEntry, Ints, Tape
from draftproof.wire import Arrays, Fields

if TYPE_CHECKING:
    from draftproof.subject import Subject

OK, FAILED, NO_MASS, TAPE_SHORT = 0, 3, 4, 5


@dataclass
class Answer:
    """Tokens of one row, or the reason why there are none."""

    tokens: list[int] = field(default_factory=list)
    status: int = OK
    message: str = ""


class CallNumbers:
    """The random numbers of one request: a tape for each row, a seed for each row, or neither."""

    def __init__(self, subject: Subject, fields: Fields, arrays: Arrays) -> None:
        self._subject = subject
        self._tape, self._seeds = arrays.get("tape"), arrays.get("seeds")
        self.scripted = self._tape is not None
        self._values = [] if self._tape is None else self._tape.tolist()
        # If all numbers of all tapes are equal, a draw gets this number whichever row it belongs to.
        same = self._tape is not None and self._tape.shape[1] >= 8 and self._tape.min() == self._tape.max() >= 0
        self._constant = self._values[0][0] if same else None
        self.lengths = arrays.get("lengths", np.ones(len(arrays.get("q", ())), np.int32)).astype(np.int64)
        self.vocabulary = int(fields["vocabulary"])
        self._streams: dict[str, int] = {"": -1}
        self.draw_log: list[DrawEntry] = []
        self.tapes: list[Tape] = []
        self._imports = imports_here()
        self._sources = [source for source in intercept.sources() if source.present()]

    def run(self, rows: int | Ints, fn: Callable[..., Any], given: list[Any], named: dict[str, Any]) -> Any:
        """Returns the result of `fn` with the random numbers of one row or of a batch."""
        names = self._subject.names_of(fn)
        first = rows if isinstance(rows, int) else int(rows[0])
        if self._tape is None:
            if self._seeds is None:
                return fn(*given, **named, **self._generators(names, None))
            seed = int(self._seeds[first])
            with intercept.seeded_call(seed, self._subject.every_operator):
                return fn(*given, **named, **self._generators(names, seed))
        tape = self._next_tape(rows)
        made: dict[str, Any] = {}
        before, here.tape, here.imports = (here.tape, here.imports), tape, self._imports
        try:
            contexts = [context for source in self._sources if (context := source.scripted(tape)) is not None]
            made = self._generators(names, None)
            if not contexts:
                return fn(*given, **named, **made)
            with ExitStack() as stack:
                for context in contexts:
                    stack.enter_context(context)
                return fn(*given, **named, **made)
        finally:
            here.tape, here.imports = before
            if not tape.every_operator and "generator" in made:
                self._subject.drew_unseen |= torch_operators.advanced(made["generator"])

    def _next_tape(self, rows: int | Ints) -> Tape:
        subject = self._subject
        if isinstance(rows, int):
            tape = Tape.of_row(
                self._values[rows], self.vocabulary, subject.races, self._streams, self.draw_log, subject.book
            )
        else:
            assert self._tape is not None
            tape = Tape(self._tape[rows], self.vocabulary, subject.races, self.lengths[rows], subject.book)
            tape.share(self._streams, self.draw_log)
            if tape.one is None:
                tape.constant = self._constant
        tape.every_operator, tape.compiled, tape.lines = subject.every_operator, subject.compiled, subject.lines
        tape.complement = subject.complement
        self.tapes.append(tape)
        return tape

    def _generators(self, names: frozenset[str], seed: int | None) -> dict[str, Any]:
        return generators_for(names, seed, self._subject.device, self.scripted)

    @property
    def tape(self) -> Tape | None:
        """The tape of the last call."""
        return self.tapes[-1] if self.tapes else None

    def ended(self) -> list[Answer]:
        """Returns the status of each row of the last call, as an answer without tokens: TAPE_SHORT, NO_MASS (all
        weights of a draw were 0), or OK."""
        if self._tape is None:
            return []
        tape = self.tapes[-1]
        none = Answer()
        return [
            Answer(status=TAPE_SHORT) if short else Answer(status=NO_MASS, message=tape.faults[i]) if empty else none
            for i, (short, empty) in enumerate(zip(tape.short.tolist(), tape.massless.tolist(), strict=True))
        ]

    def forget(self) -> None:
        """Drops the tape of the last call, because the rows of this call are run again."""
        if self._tape is not None:
            self.tapes.pop()

    def log(self) -> tuple[list[str], Arrays]:
        """Returns the names of streams, and the arrays of the draw log of all tapes in order."""
        if any(tape.one is None for tape in self.tapes):
            logs = [tape.log() for tape in self.tapes]
            return list(self._streams)[1:], {
                name: np.concatenate([log[i] for log in logs]).astype(dtype)
                for i, (name, dtype) in enumerate(
                    [("draw_counts", np.int32), ("draws", np.int32), ("weights", np.float64)]
                )
            }
        ones = [tape.one for tape in self.tapes if tape.one is not None]
        return list(self._streams)[1:], {
            "draw_counts": np.array([len(one.draws) for one in ones], np.int32),
            "draws": np.array([draw for one in ones for draw in one.draws], np.int32).reshape(-1, 4),
            "weights": np.array([weight for one in ones for weight in one.weights], np.float64),
        }


def generators_for(names: frozenset[str], seed: int | None, device: str, scripted: bool) -> dict[str, Any]:
    """Returns generators for the parameters `rng` and `generator`, as far as the function has them."""
    made: dict[str, Any] = {}
    if "rng" in names:
        # If the running call has a tape, this generator draws from the tape.
        made["rng"] = numpy_generators.default_rng(None if seed is None else seed_for(seed, "rng"))
    if "generator" in names:
        torch = torch_for("generator")
        from draftproof.intercept import _torch_numbers

        made["generator"] = torch.Generator(device)
        if scripted:
            _torch_numbers.mark(made["generator"])
        else:  # without a seed, all new generators of torch draw equal numbers
            made["generator"].manual_seed(
                int(torch.randint(2**62, ())) if seed is None else seed_for(seed, "generator")
            )
    return made
