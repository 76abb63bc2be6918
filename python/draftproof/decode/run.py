"""A whole run: every setting and plain decoding, in interleaved rounds, and an audit of the texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..capture.errors import CaptureError
from ..program import short
from .audit import Trails
from .loop import Decoded, decode_text
from .models import Models
from .prediction import Prediction, compared
from .settings import Setting, Settings, Shape, listed, settings_of, shape_of

SCHEMA, VERSION = "draftproof/decode", 1
SAMPLES = 8192
"""Steps by which the expected tokens of a predicted setting are simulated."""
PLAIN = -1
"""Stands for plain decoding where a setting is given by its number; settings are numbered from 0."""


def decode(
    target: Any,
    texts: Any,
    settings: Settings | None = None,
    *,
    draft: Any = None,
    drafts: Sequence[str] | None = None,
    shapes: Sequence[str | Shape] | None = None,
    verifiers: Sequence[str] | None = None,
    tokenizer: Any = None,
    audit: bool = False,
    traces: str | Path | None = None,
    predict: str | Path | None = None,
    say: Callable[[str], None] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """Decodes texts with every combination of drafts, shape and verifier that fits, and without drafts.

    target, draft: models of transformers, as `draftproof.capture` takes them. If `draft` is None, the draft model is
        the target changed by `draft_skip_layers` or `quantise_draft`, or there is none.
    texts: prompts; a list of strings or of lists of ids, or the path of a file.
    drafts: sources of drafts, of `model`, `lookup`, `ngram`; None for all that there are.
    shapes: as in `1x4`, `4x4`, `4-2-1` or `2+1-1+1`; `1x8` if None.
    verifiers: functions of draftproof.torch; None for all that fit a shape.
    tokenizer: replaces the target's: `bytes`, a name, or a callable.
    audit: scores the emitted texts again by a pass without cache and audits them.
    traces: a folder for the recordings of the audit; they are removed if None.
    predict: captured trees, by which `tune` predicts the tokens per second of each setting; the table of costs is
        measured in the rounds of the run. Needs one source of drafts.
    say: called with a message before models are loaded, before each round and each audit, and when a run is stopped.
    settings, changes: see Settings; `changes` replace fields of `settings` by name.

    Returns: the document that docs/decode.md describes.

    Raises: CaptureError for input that cannot be used. KeyboardInterrupt in the first round; in a later round an
        interrupt ends the rounds, and the result has the complete ones.
    Cost: rounds * (settings + 1) texts of `tokens` tokens. An audit holds the rows of one round in memory, and adds a
        pass over each text.
    Source: docs/decode.md; the verifiers are those of `draftproof.torch`, which name their papers.
    """
    if not isinstance(settings, Settings | None):
        raise CaptureError("settings", short(settings), "Settings(..), or None")
    known = {field.name for field in fields(Settings)}
    if unknown := [name for name in changes if name not in known]:
        raise CaptureError("settings", repr(unknown[0]), "one of " + ", ".join(sorted(known)))
    if not (say is None or callable(say)):
        raise CaptureError("say", short(say), "a function")
    chosen = replace(settings or Settings(), **changes)
    tell = say or (lambda line: None)
    # Names are checked before a model is opened, which may take a minute.
    given = listed("shapes", shapes or ["1x8"])
    trees = [shape if isinstance(shape, Shape) else shape_of(shape) for shape in given]
    has_model = draft is not None or bool(chosen.draft_skip_layers) or chosen.quantise_draft is not None
    names = listed("drafts", drafts or ()) or [*(["model"] if has_model else []), "lookup", "ngram"]
    todo = settings_of(names, trees, verifiers)
    if "model" in names and not has_model:
        raise CaptureError("draft", "none", "a draft model, or layers or bits by which the target becomes one")
    tell(f"loading {target if isinstance(target, (str, Path)) else 'the target'}")
    models = Models(target, draft, chosen, tokenizer)
    prompts = models.prompts(texts)
    models.check(todo, prompts)
    prediction = None
    if predict is not None:
        tell(f"expected tokens on {predict}")
        prediction = Prediction(models, todo, prompts, predict, SAMPLES)
    trails = Trails(models, prompts, traces) if audit else None
    try:
        plain, done = _rounds(models, prompts, todo, trails, prediction, tell)
        result = {
            "schema": SCHEMA,
            "version": VERSION,
            **models.described(),
            "vocabulary": models.vocabulary,
            "tokens": chosen.tokens,
            "rounds": len(plain),
            "stopped": len(plain) < chosen.rounds,
            "plain": {"tokens_per_second": _rate(plain)},
            "settings": [_summary(setting, done[i], plain) for i, setting in enumerate(todo)],
        }
        if prediction is not None:
            result["prediction"] = compared(prediction, todo, result["settings"], _rate(plain), len(plain))
        if trails is not None:
            for number, entry in enumerate(result["settings"]):
                tell(f"audit of {todo[number]}")
                entry["audit"] = trails.judged(number)
        return result
    finally:
        if trails is not None:
            trails.close()


def _rounds(
    models: Models,
    prompts: list[list[int]],
    todo: list[Setting],
    trails: Trails | None,
    prediction: Prediction | None,
    tell: Callable[[str], None],
) -> tuple[list[Decoded], dict[int, list[Decoded]]]:
    """Runs the rounds. Round r decodes one text with every setting, in a random order, so that a change of the
    machine's speed changes the times of all settings. An unmeasured call of each setting comes first."""
    chosen, order = models.settings, np.random.default_rng(models.settings.seed)
    plain: list[Decoded] = []
    done: dict[int, list[Decoded]] = {i: [] for i in range(len(todo))}

    def one(number: int, index: int, count: int, keep: bool) -> Decoded:
        generator = models.generator(index, number)
        prompt = prompts[index % len(prompts)]
        if number == PLAIN:
            return decode_text(models.context(), None, None, "", prompt, count, generator, now=models.now)
        setting = todo[number]
        drafter = models.drafter(setting.drafts)
        context = models.context()
        return decode_text(
            context, drafter, setting.shape, setting.verifier, prompt, count, generator, keep, models.now
        )

    for number in range(PLAIN, len(todo)):
        one(number, 0, 1, False)
    if prediction is not None:
        prediction.table.round(order, measured=False)
    try:
        for index in range(chosen.rounds):
            tell(f"round {index + 1} of {chosen.rounds}")
            texts = {number: one(number, index, chosen.tokens, trails is not None) for number in _shuffled(order, todo)}
            for number in range(len(todo)):
                if trails is not None:
                    trails.add(number, todo[number], index, texts[number].calls)
                    texts[number].calls = []
                done[number].append(texts[number])
            if prediction is not None:
                prediction.table.round(order)
            plain.append(texts[PLAIN])
    except KeyboardInterrupt:
        if not plain:
            raise
        tell(f"stopped after {len(plain)} rounds")
    return plain, {number: texts[: len(plain)] for number, texts in done.items()}


def _shuffled(order: np.random.Generator, todo: list[Setting]) -> list[int]:
    """Returns the numbers of all settings and PLAIN in random order."""
    return [int(i) + PLAIN for i in order.permutation(len(todo) + 1)]


def _summary(setting: Setting, texts: list[Decoded], plain: list[Decoded]) -> dict[str, Any]:
    accepted, error = ratio_of([text.accepted for text in texts], [text.steps for text in texts])
    logs = [math.log(_rate([text]) / _rate([beside])) for text, beside in zip(texts, plain, strict=True)]
    ratio = math.exp(float(np.mean(logs)))
    spread = float(np.std(logs, ddof=1)) / math.sqrt(len(logs)) if len(logs) > 1 else None
    calls = sum(text.steps for text in texts)
    return {
        "drafts": setting.drafts,
        "shape": str(setting.shape),
        "verifier": setting.verifier,
        "calls": calls,
        "tokens": sum(len(text.emitted) for text in texts),
        "drafts_per_call": sum(text.drafted for text in texts) / calls,
        "accepted_per_call": accepted,
        "standard_error": error,
        "tokens_per_call": accepted + 1,
        "tokens_per_second": _rate(texts),
        "tokens_per_second_standard_error": ratio_of(
            [len(text.emitted) for text in texts], [text.seconds for text in texts]
        )[1],
        "ratio": ratio,
        "ratio_standard_error": None if spread is None else ratio * spread,
        "seconds_per_call": {
            part: sum(text.seconds_of[part] for text in texts) / calls for part in ("draft", "target", "verify")
        },
    }


def ratio_of(parts: Sequence[float], wholes: Sequence[float]) -> tuple[float, float | None]:
    """Returns the sum of `parts` over the sum of `wholes`, and its standard error, None for one text. The error is
    estimated from the differences between texts, because the calls of one text depend on each other."""
    top, bottom = np.array(parts, dtype=float), np.array(wholes, dtype=float)
    ratio, n = float(top.sum() / bottom.sum()), len(parts)
    if n < 2:
        return ratio, None
    rest = top - ratio * bottom
    return ratio, float(math.sqrt((rest**2).sum() * n / (n - 1)) / bottom.sum())


def _rate(texts: list[Decoded]) -> float:
    """Returns the tokens per second of texts."""
    return sum(len(text.emitted) for text in texts) / sum(text.seconds for text in texts)
