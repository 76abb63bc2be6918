"""A whole capture: models, texts, part file, output."""

from __future__ import annotations

import copy
import json
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..files import replaceable
from ..program import short
from .errors import CaptureError, path_of
from .hub import library
from .layers import made_draft
from .models import Model, open_model
from .options import Options, with_changes
from .pair import Pair, pair, with_context
from .part import Part, finish, sidecar
from .positions import Positions
from .texts import chosen_pieces, encoded, read_texts
from .tokens import open_tokenizer
from .trees import TreeRun

SCHEMA = "draftproof.capture/1"
NGRAM = "ngram"
"""As a draft: the n-gram model that drafts in `draftproof decode --drafts ngram`."""


@dataclass(frozen=True)
class Captured:
    """The counts of a capture so far, and at its end.

    path: the output.
    positions, total: numbers of rows (with trees: contexts) that are captured, and that the capture will have.
    vocabulary: V.
    resumed: number of positions that an earlier run had captured.
    acceptance: for each draft model, the mean over the positions so far of sum over x of min(p(x), q(x)).
    seconds: time of this run in seconds, without the loading of models.
    """

    path: Path
    positions: int
    total: int
    vocabulary: int
    resumed: int
    acceptance: Mapping[str, float]
    seconds: float


def capture(
    target: Any,
    draft: Any,
    texts: Any,
    output: Any,
    options: Options | None = None,
    *,
    tokenizer: Any = None,
    restart: bool = False,
    overwrite: bool = False,
    progress: Callable[[Captured], None] | None = None,
    say: Callable[[str], None] | None = None,
    **changes: Any,
) -> Captured:
    """Captures rows of a target and of its drafts at the same positions of texts, into a file that draftproof reads.

    target: a name or folder of a transformers model, the path of its .gguf file, a loaded model, `python:MODULE:NAME`,
        or any callable ids [n] -> rows [n, V] or [V].
    draft: a model in the same forms; or `ngram`, the n-gram model of `draftproof decode`; or None for the target
        itself, changed by `draft_skip_layers` or `quantise_draft`; or a dict of several such models by name, where each
        name begins with `draft`.
    texts: a list of strings or of lists of ids, or the path of a file: texts separated by blank lines, or .jsonl.
    output: the `.safetensors` or `.npz` file to write; trees need `.npz`.
    options, changes: see Options; `changes` replace fields of `options` by name.
    tokenizer: replaces the target's: `bytes`, a name, or a callable.
    restart: discards the part file of an interrupted run.
    overwrite: replaces an output that exists.
    progress: called with the counts after every piece of text.
    say: called with a message before each model is loaded, and when an interrupted run continues.

    The output grows in `output.part` and is renamed when it is complete. An interrupted capture continues when it is
    started again with the same arguments, and gives the same bytes.

    Raises: CaptureError for input that cannot be used. FileExistsError if the output exists and is not a regular file.
    KeyboardInterrupt, after the pieces so far are committed.

    Cost: one pass of each model over each piece that has positions; the rows of a piece are in memory in double
    precision.
    Source: the file is described in docs/captures.md.
    """
    chosen = with_changes(options, changes)
    path = _checked_output(path_of("output", output), chosen, overwrite)
    for name, function in (("progress", progress), ("say", say)):
        if not (function is None or callable(function)):
            raise CaptureError(name, short(function), "a function")
    contents, digest = read_texts(texts)
    tell = say or (lambda line: None)
    models = _models(target, draft, chosen, tokenizer, tell)
    chosen = with_context(chosen, models)
    pieces = chosen_pieces(encoded(contents, models.target.tokenizer, models.target.vocabulary()), chosen)
    kind = Positions(models, chosen) if chosen.trees is None else TreeRun(models, chosen, chosen.trees)
    part = Part(path, kind.arrays(), _metadata(models, chosen, len(contents), digest), restart=restart)
    start, resumed = time.monotonic(), part.progress.counts.get("rows", 0)

    def state() -> Captured:
        done = part.progress.counts.get("rows", 0)
        means = {name: total / max(1, done) for name, total in part.progress.sums.items()}
        seconds = time.monotonic() - start
        return Captured(path, done, chosen.positions, models.vocabulary, resumed, means, seconds)

    try:
        if resumed:
            tell(f"resuming after {resumed} of {chosen.positions} positions")
        _units(part, kind, pieces, state, progress)
        part.count("rows", chosen.positions)
        finish(part, kind.shapes(part))
        return state()
    finally:
        part.close()


def _units(
    part: Part, kind: Positions | TreeRun, pieces: list[Any], state: Callable[[], Captured], progress: Any
) -> None:
    try:
        for piece in pieces[part.progress.units :]:
            now = copy.deepcopy(part.progress)
            kind.unit(part, piece, now)
            part.unit_done(now)
            if progress is not None:
                progress(state())
    finally:
        part.commit()


def _models(target: Any, draft: Any, options: Options, tokenizer: Any, tell: Callable[[str], None]) -> Pair:
    tell(f"loading target {_name(target)}")
    big = open_model(target, options, tokenizer)
    if tokenizer is not None:
        big.tokenizer = open_tokenizer(tokenizer)
    if draft is None and not options.draft_skip_layers and options.quantise_draft is None:
        raise CaptureError("draft", "none", "a model, draft_skip_layers or quantise_draft")
    given = draft if isinstance(draft, Mapping) else {"draft": draft}
    if not given:
        raise CaptureError("drafts", "none", "at least one")
    drafts: dict[str, Model] = {}
    for name, one in given.items():
        tell(f"loading {name} {_name(one) if one is not None else 'from the target'}")
        drafts[name] = made_draft(_draft(big, one, options), options)
    return pair(big, drafts, options)


def _draft(target: Model, given: Any, options: Options) -> Model:
    if given is None:
        return target
    if given == NGRAM:
        library("torch")
        from ..decode.drafters import NGramModel
        from ..decode.settings import Settings

        return NGramModel(target.vocabulary(), Settings().order)
    return open_model(given, options)


def _metadata(models: Pair, options: Options, texts: int, digest: str) -> dict[str, str]:
    """Returns everything that the rows depend on: a part file with the same metadata can be continued."""
    filters = [options.target_filter.arguments("target"), options.draft_filter.arguments("proposal")]
    tokenizer = models.target.tokenizer
    return {
        "schema": SCHEMA,
        "values": options.stored_values,
        "vocabulary": str(models.vocabulary),
        "positions": str(options.positions),
        "seed": str(options.seed),
        **{name: model.name for name, model in models.models.items()},
        "models": _json({name: model.describe() for name, model in models.models.items()}),
        "tokenizer": tokenizer.name if tokenizer is not None else "",
        "texts": str(texts),
        "texts_sha256": digest,
        "engine_filters": "" if options.filtered_trees else " ".join(words for words in filters if words),
        "options": options.text(),
        "versions": _json({"python": platform.python_version(), "numpy": np.__version__}),
    }


def _checked_output(path: Path, options: Options, overwrite: bool) -> Path:
    wanted = (".npz",) if options.trees else (".safetensors", ".npz")
    if path.suffix not in wanted:
        reason = "; the program reads trees from .npz" if options.trees else ""
        raise CaptureError("output", repr(str(path)), "a name that ends in " + " or ".join(wanted) + reason)
    if not path.parent.is_dir():
        raise CaptureError("output", f"no folder {str(path.parent)!r}", "a folder that exists")
    for file in (path, sidecar(path)) if path.suffix == ".npz" else (path,):
        if file.exists() and not overwrite:
            raise CaptureError("output", f"{str(file)!r} exists", "a new name, or `overwrite`")
        replaceable(file)
    return path


def _name(given: Any) -> str:
    return str(getattr(given, "name", None) or getattr(given, "__qualname__", None) or given)[:80]


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
