"""measures the costs of speculative decoding on this machine: passes of target and draft, verifiers

    python -m draftproof costs --target gpt2 --draft distilgpt2 -o costs.json

The file has seconds of a pass over n positions with a cache of c tokens, for a batch of b texts, and of each verifier
for one text. docs/decode.md describes it.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .program import short

if TYPE_CHECKING:
    from .decode.context import Context
    from .decode.drafters import Drafter, Proposal
    from .decode.models import Models
    from .decode.settings import Setting, Settings

SCHEMA, VERSION = "draftproof/costs", 1


@dataclass
class Cell:
    """A measured quantity. `work` prepares it, and returns the part that is timed."""

    table: str
    labels: dict[str, Any]
    work: Callable[[], Callable[[], Any]]
    seconds: list[float] = field(default_factory=list)

    def entry(self, rounds: int) -> dict[str, Any]:
        """Returns the seconds of a pass as the median over the first `rounds` rounds, because a single round may take
        several times as long on a machine with other processes. The time of a verifier depends on the drafts, so its
        seconds are the mean. One round has no standard error."""
        times = np.array(self.seconds[:rounds], dtype=np.float64)
        if not self.table.endswith("_pass"):
            spread = float(np.std(times, ddof=1)) / len(times) ** 0.5 if len(times) > 1 else None
            return {**self.labels, "seconds": float(times.mean()), "standard_error": spread}
        median = float(np.median(times))
        if len(times) == 1:
            return {**self.labels, "seconds": median, "standard_error": None}
        return {**self.labels, "seconds": median, "standard_error": _error_of_median(times)}


def _error_of_median(times: NDArray[np.float64]) -> float:
    """Returns a standard error of the median of n >= 2 independent times. It holds for any distribution of times, such
    as those of a machine that is slow in some rounds.

    The k-th smallest and the k-th largest time enclose the true median with probability 1 - 2 P(B < k), where B is
    binomial (n, 1/2). k is the largest number for which this is at least 95 %, else 1. The error is the distance of the
    median from the further of the two times, divided by the number of standard errors to which this probability, at
    most 95 %, belongs in a normal distribution. So from six times on, median +- 1.96 errors has at least 95 %.
    """
    n, k, below, term = len(times), 1, 1, 1  # below / 2^n = P(B < k), term / 2^n = P(B = k - 1)
    while 40 * (below + (term := term * (n - k + 1) // k)) <= 1 << n:
        below, k = below + term, k + 1
    ordered = np.sort(times)
    distance = max(np.median(times) - ordered[k - 1], ordered[n - k] - np.median(times))
    return float(distance) / -NormalDist().inv_cdf(max(below / (1 << n), 0.025))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line. Exit codes: 0 done, 2 usage or bad input, 3 stopped, 4 internal error."""
    from .decode.command import guarded

    return guarded(_parser(), sys.argv[1:] if argv is None else argv, _measure)


def costs(
    target: Any,
    draft: Any = None,
    settings: Settings | None = None,
    *,
    tokens: Sequence[int] = (1, 2, 4, 8, 16, 32),
    batches: Sequence[int] = (1,),
    contexts: Sequence[int] = (128,),
    shapes: Sequence[str] = ("1x1", "1x4", "1x8", "2x4", "4x4", "4-2-1-1"),
    verifiers: Sequence[str] | None = None,
    drafts: str | None = None,
    rounds: int = 9,
    texts: Any = None,
    tokenizer: Any = None,
    say: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Measures a table of costs, in rounds that run every cell once, in random order.

    A pass includes the softmax of its rows, and a pass of the draft model the draw of a token of each row. The time of
    a verifier includes the update of both caches. Verifiers decide on drafts of the timed source.

    target, draft, settings: as `draftproof.decode` takes them.
    tokens: numbers of positions of one pass. batches: numbers of texts of one pass. contexts: numbers of tokens in the
        cache.
    shapes: drafts for which verifiers are timed. verifiers: names of verifiers, or None for all that fit the shape.
    drafts: the source of drafts that is timed, `model` or `ngram`; None for the draft model if there is one.
    texts: as `draftproof.decode` takes them; joined and repeated they fill the caches. If None, tokens are drawn
        uniformly, and the rows and the times of verifiers are not typical.

    Returns: the document that `draftproof tune --costs` reads; times are in seconds.

    Raises: CaptureError for numbers below 1, two shapes of one size, and models or texts that cannot be used.
        KeyboardInterrupt before the first measured round is complete; later an interrupt ends the rounds, and the
        result has the complete ones.
    Cost: rounds + 1 passes of each model for each combination of tokens, batch and context, and as many decisions of
        each verifier. The caches of all batch sizes and contexts are in memory.
    Source: docs/decode.md.
    """
    from .capture.errors import CaptureError
    from .capture.hub import library

    library("torch")
    from .decode.models import Models
    from .decode.settings import Settings, listed, settings_of, shape_of

    different: list[list[int]] = []  # A table has every number once, also if it is given twice.
    for place, numbers in (("tokens", tokens), ("batch", batches), ("context", contexts), ("rounds", (rounds,))):
        given = listed(place, numbers)
        if not given or not all(isinstance(number, Integral) and int(number) >= 1 for number in given):
            raise CaptureError(place, short(given), "whole numbers >= 1")
        different.append(list(dict.fromkeys(map(int, given))))
    tokens, batches, contexts, (rounds,) = different
    if not isinstance(settings, Settings | None):
        raise CaptureError("settings", short(settings), "Settings(..), or None")
    if not (say is None or callable(say)):
        raise CaptureError("say", short(say), "a function")
    trees = [shape_of(shape) for shape in listed("shapes", shapes)]
    models = Models(target, draft, settings or Settings(), tokenizer)
    name = source_of(models, drafts)
    timed = settings_of([name], trees, verifiers)
    sizes: dict[tuple[str, int, int], Setting] = {}  # `tune` looks a verifier up by the size of its drafts
    for setting in timed:
        known = sizes.setdefault((setting.verifier, setting.shape.branching[0], setting.shape.drafts), setting)
        if known is not setting:
            got = f"{known.shape} and {setting.shape} for {setting.verifier}"
            raise CaptureError("shapes", got, "shapes of different numbers of paths or of drafts")
    prompts = None if texts is None else models.prompts(texts)
    models.check(timed, prompts or [])
    ids = filling(models, prompts, max(contexts))
    table = Table(models, name, tokens, tokens, batches, contexts, timed, ids)
    order = np.random.default_rng(models.settings.seed)
    tell = say or (lambda line: None)
    try:
        for index in range(rounds + 1):
            tell(f"round {index} of {rounds}" if index else "an unmeasured round")
            table.round(order, measured=index > 0)
    except KeyboardInterrupt:
        if not table.rounds:
            raise
        tell(f"stopped after {table.rounds} rounds")
    return table.document() | {"stopped": table.rounds < rounds}


def source_of(models: Models, given: str | None) -> str:
    """Returns the source of drafts whose passes are timed. Raises: CaptureError if it has none."""
    from .capture.errors import CaptureError

    name = given or ("ngram" if models.draft is None else "model")
    if name not in ("model", "ngram"):
        raise CaptureError("drafts", repr(name), "model or ngram, whose rows take time")
    if name == "model" and models.draft is None:
        models.draft_context()
    return name


class Table:
    """The quantities of a table of costs: passes of the target, passes of the source of drafts, and verifiers.

    drafts: `model`, or `ngram`, of which a pass over n tokens is n rows for each text.
    tokens, draft_tokens: numbers of tokens of a pass of the target, and of the source of drafts.
    todo: the settings whose verifiers are timed.
    ids: tokens of the longest context, which fill the caches.
    rounds: number of complete measured rounds.
    """

    def __init__(
        self,
        models: Models,
        drafts: str,
        tokens: Sequence[int],
        draft_tokens: Sequence[int],
        batches: Sequence[int],
        contexts: Sequence[int],
        todo: Sequence[Setting],
        ids: list[int],
    ) -> None:
        self._models, self._drafts, self.rounds = models, drafts, 0
        self._cells = _passes(models, "target_pass", models.context, tokens, batches, contexts, ids)
        if drafts == "model":
            self._cells += _passes(models, "draft_pass", models.draft_context, draft_tokens, batches, contexts, ids)
        else:
            self._cells += _rows(models, draft_tokens, batches, contexts, ids)
        self._cells += _verifiers(models, todo, ids[: contexts[0]])

    def round(self, order: np.random.Generator, measured: bool = True) -> None:
        """Runs every quantity once, in random order."""
        for number in order.permutation(len(self._cells)).tolist():
            seconds = _timed(self._models, self._cells[number].work())
            if measured:
                self._cells[number].seconds.append(seconds)
        self.rounds += measured

    def document(self) -> dict[str, Any]:
        """Returns the table over the measured rounds."""
        return _document(self._models, self._drafts, self._cells, self.rounds)


def _document(models: Models, drafts: str, cells: list[Cell], rounds: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "schema": SCHEMA,
        "version": VERSION,
        **models.described(),
        **({"draft": drafts} if drafts == "ngram" else {}),
        "equal_prefixes": "merged",
        "last_draft": "not_read" if drafts == "ngram" else "read",
        "rounds": rounds,
        "target_pass": [],
        "draft_pass": [],
        "verifiers": {},
    }
    for cell in cells:
        entries = result[cell.table] if cell.table in result else result["verifiers"].setdefault(cell.table, [])
        entries.append(cell.entry(rounds))
    return result


def _passes(
    models: Models,
    name: str,
    make: Callable[[int], Context],
    tokens: Sequence[int],
    batches: Sequence[int],
    contexts: Sequence[int],
    ids: list[int],
) -> list[Cell]:
    """Returns one cell for each batch size, context length and number of tokens of a pass. Each batch size and context
    length has one filled cache; the nodes of a pass are removed from the cache before the next pass."""
    cells = []
    draws = models.generator(0)
    for batch in batches:
        for length in contexts:
            context = make(batch)
            context.feed(ids[:length])
            context.commit(range(length))
            for count in tokens:

                def work(context: Context = context, count: int = count) -> Callable[[], Any]:
                    context.commit([])
                    chain = [ids[i % len(ids)] for i in range(count)]

                    def timed() -> None:
                        rows = context.feed(chain)
                        if name == "draft_pass":
                            _draw(rows, draws)

                    return timed

                cells.append(Cell(name, {"tokens": count, "batch": batch, "context": length}, work))
    return cells


def _draw(rows: Any, draws: Any) -> None:
    from .torch import draft_iid

    draft_iid(rows.reshape(-1, rows.shape[-1]), 1, generator=draws, check=False)


def _rows(
    models: Models, tokens: Sequence[int], batches: Sequence[int], contexts: Sequence[int], ids: list[int]
) -> list[Cell]:
    """Returns one cell for each batch size, context length and number of rows of the n-gram model after different first
    drafts. The rows of the texts of a batch are computed one after another."""
    from .decode.drafters import ROOT, Draw, Proposal

    cells = []
    draws = models.generator(0)
    for length in contexts:
        drafter = models.drafter("ngram")
        drafter.root(ids[:length])
        for batch, count in itertools.product(batches, tokens):
            chosen = [ids[i % length] for i in range(count)] * batch
            made = Proposal(chosen, [ROOT] * len(chosen), {}, [Draw(token, i, -1) for i, token in enumerate(chosen)])

            def work(drafter: Drafter = drafter, made: Proposal = made) -> Callable[[], Any]:
                # The rows of a call follow each other without a pass between them, so their counts are in the cache of
                # the processor, from which the passes of other cells have removed them.
                _draw(drafter.after(made, [0]), draws)
                return lambda: _draw(drafter.after(made, range(len(made.tokens))), draws)

            cells.append(Cell("draft_pass", {"tokens": count, "batch": batch, "context": length}, work))
    return cells


MOST_GROWTH = 64
"""Most tokens by which the text of a timed verifier grows before it is replaced by the first text again."""


def _verifiers(models: Models, todo: Sequence[Setting], ids: list[int]) -> list[Cell]:
    cells = []
    for number, setting in enumerate(todo):
        steps = _Steps(models, setting, models.generator(1 + number), ids)
        labels = {
            "tokens": setting.shape.drafts,
            "paths": setting.shape.branching[0],
            "vocabulary": models.vocabulary,
            "shape": str(setting.shape),
        }
        cells.append(Cell(setting.verifier, labels, steps.next))
    return cells


class _Steps:
    """Decodes a text step by step, so that the verifier and the caches meet the drafts of a running text."""

    def __init__(self, models: Models, setting: Setting, draws: Any, ids: list[int]) -> None:
        self._models, self._setting, self._draws, self._ids = models, setting, draws, ids
        self._text: list[int] = []
        read = [models.context(), *([models.draft_context()] if setting.drafts == "model" else [])]
        limits = [one.longest - setting.shape.length for one in read if one.longest is not None]
        self._longest = min([len(ids) + MOST_GROWTH, *limits])

    def next(self) -> Callable[[], Any]:
        """Proposes drafts and computes the target's rows. Returns the rest of the step: the verifier and the update of
        the caches."""
        from .decode.loop import decide

        if not self._text or len(self._text) > self._longest:
            self._text = list(self._ids)
            self._target, self._drafter = self._models.context(), self._models.drafter(self._setting.drafts)
            if len(self._text) > 1:
                self._target.feed(self._text[:-1])
                self._target.commit(range(len(self._text) - 1))
        made = self._drafter.propose(self._text, self._setting.shape, self._draws)
        p = self._target.feed([self._text[-1], *made.tokens], [-1, *(parent + 1 for parent in made.parents)])

        def rest() -> None:
            emitted, _ = decide(self._target, self._drafter, self._setting.verifier, made, p, self._draws)
            self._text += emitted

        return rest


def _timed(models: Models, work: Callable[[], Any]) -> float:
    start = models.now()
    work()
    return models.now() - start


def filling(models: Models, prompts: list[list[int]] | None, length: int) -> list[int]:
    """Returns `length` tokens: the prompts, joined and repeated, or random tokens if there are none."""
    if prompts is None:
        drawn = np.random.default_rng(models.settings.seed).integers(0, models.target.vocabulary(), length)
        return [int(token) for token in drawn]
    joined = [token for prompt in prompts for token in prompt]
    return [joined[i % len(joined)] for i in range(length)]


def _measure(given: argparse.Namespace) -> int:
    from .capture.command import DONE, STOPPED
    from .decode.command import check_output, listed, settings_given, show
    from .program import say as say_of

    check_output(given)

    def say(line: str) -> None:
        if not given.quiet:
            say_of("draftproof costs", line)

    shapes = listed(given.shape)
    result = costs(
        given.target,
        given.draft,
        settings_given(given),
        tokens=given.tokens,
        batches=given.batch,
        contexts=given.context,
        verifiers=listed(given.verifier),
        drafts=given.drafts,
        rounds=given.rounds,
        texts=given.texts,
        tokenizer=given.tokenizer,
        say=say,
        **({} if shapes is None else {"shapes": shapes}),
    )
    show(given, result, _text)
    return STOPPED if result["stopped"] else DONE


def _text(result: dict[str, Any]) -> str:
    from .decode.command import machine

    lines = [f"{result['target']}, {machine(result)}; milliseconds, standard errors", ""]
    tables = [
        ("target pass", result["target_pass"]),
        ("draft pass", result["draft_pass"]),
        *result["verifiers"].items(),
    ]
    for name, entries in tables:
        for entry in entries:
            where = (
                f"shape {entry['shape']}"
                if "shape" in entry
                else (f"{entry['tokens']} tokens, batch {entry['batch']}, context {entry['context']}")
            )
            error = entry["standard_error"]
            number = f"{1e3 * entry['seconds']:.3f}" + ("" if error is None else f" +- {1e3 * error:.3f}")
            lines.append(f"{name:<40}  {where:<36}  {number}")
    return "\n".join(lines)


def _numbers(text: str) -> list[int]:
    if not all(word.isdecimal() and len(word) <= 9 for word in text.split(",")):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected numbers as in 1,2,4")
    return [int(word) for word in text.split(",")]


def _parser() -> Any:
    from .decode.command import add_models
    from .decode.settings import VERIFIERS
    from .program import Parser

    parser = Parser(
        prog="draftproof costs",
        description="Measures passes of a target and a draft model, and verifiers, for `draftproof tune`.",
        epilog="Exit codes: 0 done, 2 usage or bad input, 3 stopped, 4 internal error.",
    )
    add_models(parser)
    add = parser.add_argument
    add("--texts", type=Path, metavar="FILE", help="texts that fill the caches [random tokens]")
    add("--tokens", type=_numbers, default=[1, 2, 4, 8, 16, 32], metavar="LIST", help="positions of a text in one pass")
    add("--batch", type=_numbers, default=[1], metavar="LIST", help="batch sizes")
    add("--context", type=_numbers, default=[128], metavar="LIST", help="numbers of tokens in the cache")
    add("--shape", action="append", metavar="LIST", help="shapes of drafted trees, as in 1x4,4x4,4-2-1")
    add("--verifier", action="append", metavar="LIST", help=f"some of {', '.join(VERIFIERS)} [all that fit a shape]")
    add("--drafts", choices=("model", "ngram"), help="source of drafts [the draft model, or ngram if there is none]")
    add("--rounds", type=int, default=9, metavar="R", help="number of times that each quantity is measured")
    return parser
