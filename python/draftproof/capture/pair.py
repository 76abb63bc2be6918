"""A target and its drafts over one vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .distributions import Distribution, draw, filtered, log_distribution, padded
from .errors import CaptureError
from .models import Ids, Model
from .options import LONGEST, Options
from .texts import Piece
from .tokens import check_agreement


@dataclass(frozen=True)
class Pair:
    """Target and drafts, and the number V of tokens of a stored row, which is the largest of their vocabularies."""

    target: Model
    drafts: Mapping[str, Model]
    vocabulary: int

    @property
    def models(self) -> dict[str, Model]:
        """All models by the name of their array, the target first."""
        return {"target": self.target, **self.drafts}

    def log_rows(self, name: str, ids: Ids, at: Sequence[int], piece: Piece) -> list[list[Distribution]]:
        """Returns, for each sequence of `ids` [B, n], the log-probabilities [V] after its first at[k] + 1 tokens.

        piece: the piece that the sequences begin with; messages name its text and index in the text.

        Raises: CaptureError if a row is not a distribution.
        """
        model = self.models[name]
        known = np.minimum(ids, model.vocabulary() - 1)  # As in a context of `decode`, which says why.
        where = [f"{model.name}, text {piece.text}, after {piece.first + j + 1} tokens" for j in at]
        return [
            [
                padded(log_distribution(row, model.values, place), self.vocabulary)
                for row, place in zip(rows, where, strict=True)
            ]
            for rows in model.rows(known, at)
        ]


def pair(target: Model, drafts: Mapping[str, Model], options: Options) -> Pair:
    """Checks that the models fit each other and the options.

    Rows of different lengths are allowed if both tokenizers are known and agree: the shorter rows are padded with
    tokens of probability 0, and a model reads a token that it lacks as its last one.

    Raises: CaptureError if vocabularies differ otherwise, or the contexts are longer than a model takes.
    """
    width = target.vocabulary()
    for name, draft in drafts.items():
        if not isinstance(name, str) or not name.startswith("draft"):
            raise CaptureError("drafts", repr(name), "names that begin with draft")
        agree = check_agreement(target.tokenizer, draft.tokenizer)
        if draft.vocabulary() != target.vocabulary() and not agree:
            found = f"{draft.vocabulary()} tokens, and {target.vocabulary()} of the target"
            raise CaptureError(f"{name}: {draft.name}", found, "one vocabulary, or tokenizers that agree")
        width = max(width, draft.vocabulary())
    needed = options.context + (options.trees.length if options.trees else 0)
    for model in (target, *drafts.values()):
        if model.longest is not None and needed > model.longest:
            found = f"{needed} tokens with the paths of trees" if options.trees else f"{needed} tokens"
            raise CaptureError("context", found, f"at most {model.longest}, the most of {model.name}")
    return Pair(target, dict(drafts), width)


def with_context(options: Options, models: Pair) -> Options:
    """Returns `options` with the number of tokens of the longest context, if it is not given. Raises: CaptureError if
    the models take fewer than the other options need."""
    if options.context:
        return options
    path = options.trees.length if options.trees else 0
    takes = [model.longest - path for model in models.models.values() if model.longest is not None]
    return replace(options, context=max(1, min([LONGEST, *takes])))


def completed(models: Pair, piece: Piece, options: Options) -> Ids:
    """Returns the ids [n] of a piece. If the piece is a prompt, tokens that are drawn from the target follow.

    Tokens that end a text are never drawn, so every continuation has its full length.
    """
    if not options.continue_tokens:
        return piece.ids
    target = models.target
    generator = np.random.default_rng([options.seed, piece.text, piece.first])
    ends = [token for token in target.ends if 0 <= token < target.vocabulary()]  # Configs also name others, as -1.

    def choose(row: np.ndarray) -> int:
        distribution = log_distribution(row, target.values, f"{target.name}, text {piece.text}")
        if len(ends) < len(distribution):
            distribution[ends] = -np.inf
        return draw(filtered(distribution, options.target_filter), generator)

    count = max(piece.at) + 2 - len(piece.ids)
    return target.continued(piece.ids, count, choose) if count > 0 else piece.ids
