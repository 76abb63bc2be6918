"""The tokens per second that `tune` predicts for the settings of a run, beside the measured ones."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

from ..capture.errors import CaptureError, path_of
from ..capture.options import Filter
from ..costs import Table, filling, source_of
from ..files import with_metadata
from ..survey import trees_of
from ..tune.costs import TORCH_NAMES, Costs, costs_of
from ..tune.ranking import Choice, Tuned, ranked
from ..tune.settings import Survey, lossless_of, survey
from .models import Models
from .settings import Setting

FEWEST_ROUNDS = 5
"""Fewest rounds for which settings can count as apart."""


class Prediction:
    """Measures a table of costs in the rounds of a run, and ranks the settings by it and by captured trees.

    capture: trees whose paths were drawn from the source of drafts of this run, under its temperatures and filters.

    Raises: CaptureError for a capture of another source of drafts, other filters or another vocabulary, and for
        settings with several sources of drafts. ProgramNotFound, because the expected tokens are computed by the
        program.
    """

    def __init__(
        self, models: Models, todo: Sequence[Setting], prompts: list[list[int]], capture: str | Path, samples: int
    ) -> None:
        known_names = lossless_of("path_verifiers")
        keys = self.keys = {one: key for one in todo if (key := key_of(one, known_names)) is not None}
        sources = sorted({setting.drafts for setting in todo})
        if len(sources) > 1 or not keys:
            found = f"{', '.join(sources)} with the shapes {', '.join(sorted({str(one.shape) for one in todo}))}"
            raise CaptureError("predict", found, "one source of drafts, and shapes of paths as in 4x8")
        source = source_of(models, sources[0])
        path = path_of("predict", capture)
        if (size := trees_of(path)) is None:
            raise CaptureError("predict", str(path), "a file of captured trees, as `capture --trees` writes it")
        _check_metadata(path, models, source)
        used = prompts[: models.settings.rounds]
        # The texts grow by `tokens` during a run; a pass is timed at the middle of this growth.
        self.context = sum(map(len, used)) // len(used) + models.settings.tokens // 2
        names, paths, lengths = (sorted(set(column)) for column in zip(*keys.values(), strict=True))
        if size[0] < paths[-1] or size[1] < lengths[-1]:
            wanted = f"at least {paths[-1]} of {lengths[-1]}, as the shapes of the run have"
            raise CaptureError("predict", f"trees of {size[0]} paths of {size[1]} tokens", wanted)
        options = ["--seed", str(models.settings.seed)]
        known = survey(str(path), paths, lengths, samples=samples, options=options, verifiers=names)
        if known.vocabulary != models.vocabulary:
            wanted = f"V = {models.vocabulary:,}, as the models have"
            raise CaptureError("predict", f"trees with V = {known.vocabulary:,}", wanted)
        # The program computes all combinations of verifiers, K and L; those that the run does not have are left out.
        chosen = [one for one in known.settings if (one.verifier, one.paths, one.length) in keys.values()]
        if not chosen:
            reasons = "; ".join(f"{name}, {why}" for name, why in known.left_out.items())
            raise CaptureError("predict", reasons or "no setting", "a setting with a prediction")
        self._survey: Survey = replace(known, settings=tuple(chosen))
        # Every number of tokens that occurs is timed: kernels of matrix products favour some numbers, so that a pass
        # over 3 tokens may take longer than one over 4.
        target, draft = {1}, {1, 2} if source == "model" else {1}
        for one in chosen:
            for levels, _ in one.distinct or ((one.levels, 1.0),):
                target.add(1 + sum(levels))
                draft.update(levels[:-1])
        ids = filling(models, used, self.context)
        self.table = Table(models, source, sorted(target), sorted(draft), [1], [self.context], list(keys), ids)

    def tuned(self) -> tuple[Costs, Tuned]:
        """Returns the table and the ranking."""
        costs = costs_of(self.table.document())
        return costs, ranked(self._survey, costs, batch=1, context=self.context, default=("", 1, None))


def key_of(setting: Setting, known: Sequence[str]) -> tuple[str, int, int] | None:
    """Returns the name of a verifier on paths among the `known` ones of the program, K and L; None for other trees,
    whose drafts are no captured paths. The program has a verifier of one position, which decides at each node, under
    NAME_tree."""
    if not setting.shape.replaced or setting.drafts == "lookup":
        return None
    name = {torch: own for own, torch in TORCH_NAMES.items()}.get(setting.verifier, setting.verifier)
    return name if name in known else f"{name}_tree", setting.shape.paths, setting.shape.length


def _check_metadata(capture: Path, opened: Models, source: str) -> None:
    """Raises: CaptureError for trees without a file of metadata; if `capture` wrote it, also for trees of another
    source of drafts, `model` or `ngram`, of other models, of other changes of the target to a draft, or of other
    filters."""
    settings = opened.settings
    path = next(filter(Path.exists, with_metadata(capture)[1:]), None)
    if path is None:
        raise CaptureError("predict", f"{capture} without metadata", "the JSON file that `capture` writes beside it")
    try:
        metadata = json.loads(path.read_bytes())
        options, models = json.loads(metadata["options"]), json.loads(metadata["models"])
        known = {side: (about.get("device"), about.get("weights")) for side, about in models.items()}
        # Paths are drawn from the first draft.
        drawn_from = min(name for name in models if name != "target")
        kind = models[drawn_from]["kind"]
        found = [Filter(**options[name]) for name in ("target_filter", "draft_filter")]
        changes = options["quantise_draft"], tuple(options["draft_skip_layers"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return  # The file is not written by `capture`, and does not state its filters.
    if (kind == "ngram") != (source == "ngram"):
        raise CaptureError("predict", f"trees drawn from {metadata.get('draft')}", f"trees drawn from {source} drafts")
    asked = settings.quantise_draft, tuple(settings.draft_skip_layers)
    if source == "model" and [str(one) for one in changes] != [str(one) for one in asked]:
        texts = [f"a draft with quantise_draft {bits} and without layers {layers}" for bits, layers in (changes, asked)]
        raise CaptureError("predict", f"trees of {texts[0]}", texts[1])
    for side, own in (("target", opened.target), (drawn_from, opened.draft)):
        if own is None or (side != "target" and source != "model"):
            continue
        (device, weights), now = known.get(side, (None, None)), own.describe()
        # On another device the same weights may have another type, and then another hash.
        if device == now["device"] and weights != now["weights"]:
            other = f"trees of the {side} {metadata.get(side)}, weights {weights}"
            raise CaptureError("predict", other, f"trees of {own.name}, weights {now['weights']}")
    wanted = [settings.target_filter, settings.draft_filter]
    if found != wanted:
        names = [
            f"{a.arguments('target')} {b.arguments('proposal')}".strip() or "no filter" for a, b in (found, wanted)
        ]
        raise CaptureError("predict", f"trees captured with {names[0]}", names[1])


def compared(
    prediction: Prediction, todo: Sequence[Setting], measured: Sequence[dict[str, Any]], plain: float, rounds: int
) -> dict[str, Any]:
    """Adds `predicted` to the entries of the settings, and returns the comparison.

    measured: the entries of the settings in the order of `todo`.
    plain: tokens per second of plain decoding.
    rounds: number of rounds in which all were measured.
    """
    costs, tuned = prediction.tuned()
    found: dict[tuple[str, int, int], Choice] = {}
    for choice in tuned.choices:
        assert choice.setting is not None
        found[choice.setting.verifier, choice.setting.paths, choice.setting.length] = choice
    pairs: list[tuple[Choice, dict[str, Any]]] = []
    for setting, entry in zip(todo, measured, strict=True):
        key = prediction.keys.get(setting)
        choice_or_none = None if key is None else found.get(key)
        entry["predicted"] = None
        if choice_or_none is not None:
            pairs.append((choice_or_none, entry))
            record = choice_or_none.record()
            kept = ("tokens_per_second", "low", "high", "tokens_per_step", "seconds_per_step")
            entry["predicted"] = {key: record[key] for key in kept}
    chosen = max(pairs, key=lambda pair: pair[0].rate)[1]
    fastest = max((entry for _, entry in pairs), key=lambda entry: entry["tokens_per_second"])
    errors = [choice.rate / entry["tokens_per_second"] - 1 for choice, entry in pairs]
    ordered = [(a, b) for i, a in enumerate(pairs) for b in pairs[:i] if _apart(a, b, rounds)]
    return {
        "context": prediction.context,
        "plain_tokens_per_second": tuned.plain.rate,
        "plain_error": tuned.plain.rate / plain - 1,
        "beats_plain": tuned.beats_plain,
        "largest_error": max(errors, key=abs),
        "chosen": [chosen["drafts"], chosen["shape"], chosen["verifier"]],
        "fastest": [fastest["drafts"], fastest["shape"], fastest["verifier"]],
        "loss_of_chosen": 1 - chosen["tokens_per_second"] / fastest["tokens_per_second"],
        "pairs_apart": len(ordered),
        "pairs_in_another_order": sum(
            (a[0].rate > b[0].rate) != (a[1]["tokens_per_second"] > b[1]["tokens_per_second"]) for a, b in ordered
        ),
        "costs": costs.document,
    }


def _apart(first: tuple[Choice, dict[str, Any]], second: tuple[Choice, dict[str, Any]], rounds: int) -> bool:
    """Whether the 95 % intervals of two settings are apart, both the predicted and the measured ones."""
    (a, one), (b, other) = first, second
    rates = [entry["tokens_per_second"] for entry in (one, other)]
    given = [entry["tokens_per_second_standard_error"] for entry in (one, other)]
    errors = [math.inf if error is None else error for error in given]  # None after a single round
    measured = abs(rates[0] - rates[1]) > _student(rounds - 1) * (errors[0] + errors[1])
    return bool(measured and (a.low > b.high or b.low > a.high))


def _student(degrees: int) -> float:
    """Returns the 0.975 quantile of Student's t distribution, at most 0.001 too small; infinite for fewer than
    FEWEST_ROUNDS rounds. By the asymptotic expansion about the normal quantile, Abramowitz and Stegun 26.7.5."""
    if degrees < FEWEST_ROUNDS - 1:
        return math.inf
    z: float = NormalDist().inv_cdf(0.975)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / degrees**i for i, term in enumerate(terms))
