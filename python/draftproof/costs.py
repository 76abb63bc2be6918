"""measures the costs of speculative decoding on this machine: passes of target and draft, verifiers

    python -m draftproof costs --target gpt2 --draft distilgpt2 -o costs.json

The file has seconds of a pass over n positions with a cache of c tokens, for a batch of b texts, and of each verifier
for one text. docs/decode.md describes it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .program import short

if TYPE_CHECKING:
    from .decode.context import Context
    from .decode.drafters import Drafter
    from .decode.models import Models
    from .decode.settings import Setting, Settings, Shape

SCHEMA, VERSION = "draftproof/costs", 1


@dataclass
class Cell:
    """A measured quantity. `work` prepares it, and returns the part that is timed."""

    table: str
    labels: dict[str, Any]
    work: Callable[[], Callable[[], Any]]
    seconds: list[float] = field(default_factory=list)

    def entry(self) -> dict[str, Any]:
        """Returns the median over the rounds. Its standard error is estimated from the median absolute deviation,
        because a single round may take several times as long on a machine with other processes."""
        times = np.array(self.seconds, dtype=np.float64)
        median = float(np.median(times))
        # For normally distributed times, sigma is 1.4826 times the median absolute deviation, and the median of n times
        # has the standard error 1.2533 sigma / sqrt n.
        error = 1.2533 * 1.4826 * float(np.median(np.abs(times - median))) / len(times) ** 0.5
        return {**self.labels, "seconds": median, "standard_error": error}


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
    rounds: int = 9,
    texts: Any = None,
    tokenizer: Any = None,
    say: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Measures a table of costs, in rounds that run every cell once, in random order.

    A pass includes the softmax of its rows, and a pass of the draft model the draw of a token of each row. Verifiers
    decide on drafts of the draft model, or of an n-gram model of the text if there is no draft model.

    target, draft, settings: as `draftproof.decode` takes them.
    tokens: numbers of positions of one pass. batches: numbers of texts of one pass. contexts: numbers of tokens in the
        cache.
    shapes: drafts for which verifiers are timed. verifiers: names of verifiers, or None for all that fit the shape.
    texts: as `draftproof.decode` takes them; joined and repeated they fill the caches. If None, tokens are drawn
        uniformly, and the rows and the times of verifiers are not typical.

    Returns: the document that `draftproof tune --costs` reads; times are in seconds.

    Raises: CaptureError for numbers below 1, and for models or texts that cannot be used.
    Cost: rounds + 1 passes of each model for each combination of tokens, batch and context, and as many decisions of
        each verifier. The caches of all batch sizes and contexts are in memory.
    Source: docs/decode.md.
    """
    from .capture.errors import CaptureError
    from .capture.hub import library

    library("torch")
    from .decode.models import Models
    from .decode.settings import Settings, listed, shape_of

    for place, numbers in (("tokens", tokens), ("batch", batches), ("context", contexts), ("rounds", (rounds,))):
        given = listed(place, numbers)
        if not given or not all(isinstance(number, Integral) and int(number) >= 1 for number in given):
            raise CaptureError(place, short(given), "whole numbers >= 1")
    if not isinstance(settings, Settings | None):
        raise CaptureError("settings", short(settings), "Settings(..), or None")
    if not (say is None or callable(say)):
        raise CaptureError("say", short(say), "a function")
    trees = [shape_of(shape) for shape in listed("shapes", shapes)]
    models = Models(target, draft, settings or Settings(), tokenizer)
    ids = _filling(models, max(contexts), texts)
    cells = [
        cell
        for name, make in (("target_pass", models.context), ("draft_pass", models.draft_context))
        if name == "target_pass" or models.draft is not None
        for cell in _passes(models, name, make, tokens, batches, contexts, ids)
    ]
    cells += _verifiers(models, trees, verifiers, ids[: contexts[0]])
    order = np.random.default_rng(models.settings.seed)
    for index in range(rounds + 1):
        if say is not None:
            say(f"round {index} of {rounds}" if index else "an unmeasured round")
        for number in order.permutation(len(cells)).tolist():
            seconds = _timed(models, cells[number].work())
            if index:
                cells[number].seconds.append(seconds)
    return _document(models, cells, rounds)


def _document(models: Models, cells: list[Cell], rounds: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "schema": SCHEMA,
        "version": VERSION,
        **models.described(),
        "rounds": rounds,
        "target_pass": [],
        "draft_pass": [],
        "verifiers": {},
    }
    for cell in cells:
        entries = result[cell.table] if cell.table in result else result["verifiers"].setdefault(cell.table, [])
        entries.append(cell.entry())
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


def _verifiers(models: Models, shapes: list[Shape], wanted: Sequence[str] | None, ids: list[int]) -> list[Cell]:
    from .decode.settings import settings_of
    from .decode.verify import verify

    name = "ngram" if models.draft is None else "model"
    cells = []
    for number, setting in enumerate(settings_of([name], shapes, wanted)):
        draws = models.generator(1 + number)
        target, drafter, text = models.context(), models.drafter(name), list(ids)
        if len(ids) > 1:
            target.feed(ids[:-1])
            target.commit(range(len(ids) - 1))

        def work(
            setting: Setting = setting,
            draws: Any = draws,
            target: Context = target,
            drafter: Drafter = drafter,
            text: list[int] = text,
        ) -> Callable[[], Any]:
            """Proposes drafts, computes the target's rows, and returns the call of the verifier. The text grows by one
            token for the next round, whatever the verifier accepts."""
            made = drafter.propose(text, setting.shape, draws)
            p = target.feed([text[-1], *made.tokens], [-1, *(parent + 1 for parent in made.parents)])
            target.commit([0])
            drafter.accepted([])
            text.append(ids[len(text) % len(ids)])
            return lambda: verify(setting.verifier, made, p, draws)

        labels = {
            "tokens": setting.shape.drafts,
            "paths": setting.shape.branching[0],
            "vocabulary": models.vocabulary,
            "shape": str(setting.shape),
        }
        cells.append(Cell(setting.verifier, labels, work))
    return cells


def _timed(models: Models, work: Callable[[], Any]) -> float:
    start = models.now()
    work()
    return models.now() - start


def _filling(models: Models, length: int, texts: Any) -> list[int]:
    if texts is None:
        size = models.target.vocabulary()
        drawn = np.random.default_rng(models.settings.seed).integers(0, size, length)
        return [int(token) for token in drawn]
    joined = [token for prompt in models.prompts(texts) for token in prompt]
    return [joined[i % len(joined)] for i in range(length)]


def _measure(given: argparse.Namespace) -> int:
    from .capture.command import DONE
    from .decode.command import listed, settings_given, show
    from .program import say as say_of

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
        rounds=given.rounds,
        texts=given.texts,
        tokenizer=given.tokenizer,
        say=say,
        **({} if shapes is None else {"shapes": shapes}),
    )
    show(given, result, _text)
    return DONE


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
            number = f"{1e3 * entry['seconds']:.3f} +- {1e3 * entry['standard_error']:.3f}"
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
    add("--rounds", type=int, default=9, metavar="R", help="number of times that each quantity is measured")
    return parser
