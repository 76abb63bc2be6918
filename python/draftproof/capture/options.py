"""The options of a capture, checked when they are made."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from numbers import Integral
from operator import methodcaller
from typing import Any

from ..program import is_finite, short
from .errors import CaptureError, whole

DTYPES = ("float16", "float32", "float64")
VALUES = ("logit", "probability")
MOST_LAYERS = 100_000
LONGEST = 512
"""Most tokens of a context unless `Options.context` says otherwise."""


@dataclass(frozen=True)
class Filter:
    """Temperature, top-k and top-p of an engine, applied in this order; the defaults change nothing.

    temperature: divides logits, at least 0; 0 gives all mass to the likeliest token.
    top_k: number of likeliest tokens that are kept, 0 for all.
    top_p: mass of the likeliest tokens that are kept, above 0, at most 1.

    Captured rows are not filtered, except with `Options.filtered_trees`. Otherwise the filter is stored as metadata,
    and the target's is applied where continuations are drawn (`Options.continue_tokens`).

    Raises: CaptureError for other values.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not (is_finite(self.temperature) and self.temperature >= 0):
            raise CaptureError("temperature", short(self.temperature), "a finite number >= 0")
        if isinstance(self.top_k, bool) or not isinstance(self.top_k, Integral) or self.top_k < 0:
            raise CaptureError("top_k", short(self.top_k), "a whole number >= 0, 0 for all tokens")
        if not (is_finite(self.top_p) and 0 < self.top_p <= 1):
            raise CaptureError("top_p", short(self.top_p), "0 < top_p <= 1")

    def arguments(self, who: str) -> str:
        """Returns the options by which the program applies this filter, as in `--target-temperature 0.7`.

        who: `target` or `proposal`.
        """
        default = Filter()
        words = [
            f"--{who}-{field.name.replace('_', '-')} {getattr(self, field.name):g}"
            for field in fields(self)
            if getattr(self, field.name) != getattr(default, field.name)
        ]
        return " ".join(words)


@dataclass(frozen=True)
class Penalties:
    """Penalties of an engine on tokens that occurred, applied to logits before temperature and filters, in this order;
    the defaults change nothing.

    repetition: above 0; positive logits of tokens of the prompt and of the text so far are divided by it, and negative
        ones are multiplied.
    presence: subtracted from the logits of tokens of the text so far.
    frequency: subtracted from a logit once for each time that its token is in the text so far.

    Raises: CaptureError for other values.
    """

    repetition: float = 1.0
    presence: float = 0.0
    frequency: float = 0.0

    def __post_init__(self) -> None:
        if not (is_finite(self.repetition) and self.repetition > 0):
            raise CaptureError("repetition", short(self.repetition), "a finite number above 0")
        for name in ("presence", "frequency"):
            if not is_finite(getattr(self, name)):
                raise CaptureError(name, short(getattr(self, name)), "a finite number")


@dataclass(frozen=True)
class Trees:
    """The shape of captured trees: at each position, `paths` independent paths of `length` tokens are drawn from the
    first draft model. The rows at their nodes replace the rows along the text.

    paths: number of paths, at least 1.
    length: number of tokens of a path, at least 1.

    Raises: CaptureError for other values.
    """

    paths: int = 4
    length: int = 8

    def __post_init__(self) -> None:
        for name in ("paths", "length"):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, Integral) or given < 1:
                raise CaptureError(f"trees: {name}", short(given), "a whole number >= 1")


@dataclass(frozen=True)
class Options:
    """The settings of a capture: models, positions and form of the file.

    positions: number N of rows, or of contexts with trees.
    context: the longest context in tokens; a longer text is cut into pieces. 0 takes 512, or as many as all models take
        (with trees: less the tokens of a path), if that is less.
    skip: fewest tokens before a captured position.
    continue_tokens: 0 takes positions from the texts. M > 0 takes each text as a prompt, draws M tokens after it from
        the target under `target_filter`, and takes positions from these.
    dtype: type of the stored rows: `float16` (logits), `float32` or `float64` (log-probabilities).
    keep_mass: None stores whole rows. A number m <= 1 stores the truncated form: at each position the likeliest tokens
        with mass m under the target or under a draft, their probabilities, and the sum of all other probabilities.
    most_tokens: most tokens of a row in the truncated form.
    trees: None, or the shape of trees.
    steps: 0 spreads the positions evenly. N > 0, for trees after `continue_tokens`, takes the positions at which
        successive steps of speculative decoding begin that test N drafts of a path, as in an engine.
    target_filter, draft_filter: metadata, see Filter; with trees they are applied, and `draft_filter` needs a top-k.
    values: the kind of rows that a callable returns, `logit` (also for log-probabilities) or `probability`. None takes
        logits, and rows that look like probabilities raise CaptureError.
    quantise_draft: None, `int8` (torch's dynamic quantisation of linear layers where torch has it, else rounding), or
        2..8, the bits to which linear weights are rounded in groups of 32.
    draft_skip_layers: numbers of the layers of the draft's model that are left out.
    device: the device on which transformers models run.
    seed: the seed of drawn continuations and paths.

    Raises: CaptureError for a value that is not allowed, or values that exclude each other.
    """

    positions: int = 256
    context: int = 0
    skip: int = 8
    continue_tokens: int = 0
    steps: int = 0
    dtype: str = "float32"
    keep_mass: float | None = None
    most_tokens: int = 4096
    trees: Trees | None = None
    target_filter: Filter = Filter()
    draft_filter: Filter = Filter()
    values: str | None = None
    quantise_draft: str | int | None = None
    draft_skip_layers: tuple[int, ...] = ()
    device: str = "cpu"
    seed: int = 0

    def __post_init__(self) -> None:
        self._least("positions", 1)
        self._least("skip", 1)
        if self.context != 0 or isinstance(self.context, bool):
            self._least("context", self.skip + 1)
        self._least("continue_tokens", 0)
        self._least("steps", 0)
        self._least("most_tokens", 1)
        self._least("seed", 0)
        for name, kind in (("target_filter", Filter), ("draft_filter", Filter), ("trees", Trees | None)):
            if not isinstance(getattr(self, name), kind):
                found = short(getattr(self, name))
                raise CaptureError(name, found, "Trees(paths, length)" if name == "trees" else "Filter(..)")
        if not isinstance(self.draft_skip_layers, tuple) or not all(
            isinstance(layer, Integral) for layer in self.draft_skip_layers
        ):
            raise CaptureError("draft_skip_layers", short(self.draft_skip_layers), "a tuple of numbers of layers")
        if self.dtype not in DTYPES:
            raise CaptureError("dtype", repr(self.dtype), "one of " + ", ".join(DTYPES))
        if self.values not in (None, *VALUES):
            raise CaptureError("values", repr(self.values), "one of " + ", ".join(VALUES))
        if self.quantise_draft not in (None, "int8", *range(2, 9)):
            raise CaptureError("quantise_draft", repr(self.quantise_draft), "int8, or 2 to 8 bits")
        longest = self.context or LONGEST
        if self.continue_tokens >= longest:
            raise CaptureError("continue_tokens", str(self.continue_tokens), f"less than the context of {longest}")
        if self.keep_mass is not None:
            self._check_truncated(self.keep_mass)
        if self.trees is not None:
            self._check_trees()
        if self.steps and not (self.trees and self.continue_tokens and self.steps <= self.trees.length):
            wanted = "trees with paths of at least so many tokens, and continue_tokens"
            raise CaptureError("steps", str(self.steps), wanted)

    def _least(self, name: str, least: int) -> None:
        object.__setattr__(self, name, whole(name, getattr(self, name), least))

    def _check_truncated(self, mass: float) -> None:
        if not (is_finite(mass) and 0 < mass <= 1):
            raise CaptureError("keep_mass", short(mass), "0 < mass <= 1")
        if self.dtype == "float16":
            wanted = "float32 or float64: half precision changes a probability by up to 2^-11 of its value"
            raise CaptureError("dtype", "float16 with keep_mass", wanted)

    def _check_trees(self) -> None:
        if self.keep_mass is not None:
            raise CaptureError("trees", "keep_mass", "whole rows: a drawn token may lie in the rest")
        if self.filtered_trees and self.dtype == "float16":
            raise CaptureError("dtype", "float16 with trees of a top-k draft", "float32 or float64")
        for name in ("target_filter", "draft_filter"):
            if getattr(self, name) != Filter() and not self.filtered_trees:
                wanted = "a top-k of the draft, or no filter: paths are drawn from the distributions as they are stored"
                raise CaptureError(f"trees: {name}", str(getattr(self, name)), wanted)

    @property
    def filtered_trees(self) -> bool:
        """Whether the filters are applied to trees before the paths are drawn, and nodes store the draft's top k."""
        return self.trees is not None and self.draft_filter.top_k > 0

    @property
    def stored_values(self) -> str:
        """The kind of number in the file, as its metadata names it."""
        if self.keep_mass is not None or self.filtered_trees:
            return "probability"
        return "logit" if self.dtype == "float16" else "log_probability"

    def text(self) -> str:
        """Returns all options as JSON with sorted keys."""
        return json.dumps(asdict(self), sort_keys=True, default=methodcaller("item"))  # numbers of numpy


def skip_list(text: str) -> tuple[int, ...]:
    """Returns the layers of a list such as `20-24,27`: (20, 21, 22, 23, 24, 27).

    Raises: CaptureError if the text is not such a list.
    """
    layers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        numbers = [first, last] if dash else [first]
        good = all(number.isdecimal() and len(number) <= 9 for number in numbers)
        if not good or int(numbers[-1]) < int(first) or int(numbers[-1]) > MOST_LAYERS:
            raise CaptureError("draft_skip_layers", short(text), "layers as in 20-24,27")
        layers.extend(range(int(first), int(last if dash else first) + 1))
    return tuple(sorted(set(layers)))


def with_changes(options: Options | None, changes: dict[str, Any]) -> Options:
    """Returns `options`, or the defaults if None, with some fields changed.

    Raises: CaptureError for an unknown option.
    """
    known = {field.name for field in fields(Options)}
    for name in changes:
        if name not in known:
            raise CaptureError("options", repr(name), "one of " + ", ".join(sorted(known)))
    if not isinstance(options, Options | None):
        raise CaptureError("options", short(options), "Options(..), or None")
    base = {name: getattr(options, name) for name in known} if options is not None else {}
    return Options(**{**base, **changes})
