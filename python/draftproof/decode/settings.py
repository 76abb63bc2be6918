"""The settings of a run: shapes of drafts, the verifiers that fit them, and numbers, checked when they are made."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ..capture.errors import CaptureError, whole
from ..capture.options import Filter
from ..program import short

DRAFTS = ("model", "lookup", "ngram")
"""Where drafts come from: a model, the text itself by prompt look-up, an n-gram model of the text."""

CHAIN = ("single_draft", "block_verification")
PATHS = ("recursive_rejection", "ladder", "ladder_block", "greedy_multipath_block", "traversal")
WITHOUT_REPLACEMENT = ("recursive_rejection_without_replacement", "ladder_without_replacement", "traversal")
HYBRID = ("univer",)
VERIFIERS = tuple(dict.fromkeys(CHAIN + PATHS + WITHOUT_REPLACEMENT + HYBRID))
"""Functions of draftproof.torch that return tokens of the target's distribution."""

CLOCKS = ("wall", "processor")
MOST_NODES = 1024
MOST_THREADS = 4096


@dataclass(frozen=True)
class Shape:
    """The tree of drafts of one call.

    branching: for each level the number of drafts after each node.
    replaced: True for `paths` independent paths, whose branching is (paths, 1, 1, ..) even if some have equal
        prefixes; False for different siblings, drawn without replacement.
    fixed: for each level the number of children that are the most probable tokens of their row; the others, at most
        one, are drawn from the rest of the row. Empty if all children are drawn.
    """

    branching: tuple[int, ...]
    replaced: bool
    fixed: tuple[int, ...] = ()

    @property
    def paths(self) -> int:
        return math.prod(self.branching)

    @property
    def length(self) -> int:
        """Most drafts that one call accepts."""
        return len(self.branching)

    @property
    def drafts(self) -> int:
        """Number of drafts of one call; equal drafts of different paths are counted separately."""
        return self.paths * self.length if self.replaced else sum(itertools.accumulate(self.branching, operator.mul))

    @property
    def sampling(self) -> str:
        """The draft sampling of siblings, as a recording names it."""
        if self.fixed:
            return "unknown"
        return "iid" if self.replaced else "without_replacement"

    def verifiers(self) -> tuple[str, ...]:
        """Returns the verifiers for drafts of this shape. Verifiers of K drafts are left out for a single path, because
        each of them then decides as `single_draft` or `block_verification` does."""
        if self.fixed:
            return HYBRID
        if not self.replaced:
            return WITHOUT_REPLACEMENT
        return CHAIN if self.paths == 1 else PATHS

    def accepts(self, verifier: str) -> bool:
        return verifier in self.verifiers() or (self.replaced and verifier in PATHS)

    def __str__(self) -> str:
        if self.fixed:
            return "-".join(f"{n}+{width - n}" for n, width in zip(self.fixed, self.branching, strict=True))
        return f"{self.paths}x{self.length}" if self.replaced else "-".join(map(str, self.branching))


def shape_of(text: str) -> Shape:
    """Returns the shape of `4x8`, 4 independent paths of 8 tokens; of `4-2-1`, a tree of different siblings; or of
    `2+1-1+1`, a hybrid tree, with fixed children and, after the plus sign, drawn ones at each level.

    Raises: CaptureError for any other text, or more than MOST_NODES drafts.
    """
    if not isinstance(text, str):
        raise CaptureError("shape", short(text), _SHAPES)
    if "+" in text:
        return _hybrid(text)
    first, by, second = text.partition("x")
    words = [first, second] if by else text.split("-")
    good = all(_is_number(word) and int(word) > 0 for word in words) and len(words) > (0 if by else 1)
    if not good:
        raise CaptureError("shape", repr(text), _SHAPES)
    numbers = [int(word) for word in words]
    branching = (numbers[0], *[1] * (numbers[1] - 1)) if by else tuple(numbers)
    return _bounded(text, Shape(branching, replaced=bool(by)))


_SHAPES = "PATHSxLENGTH as in 4x8, siblings at each level as in 4-2-1, or fixed and drawn ones as in 2+1-1+1"


def _is_number(word: str) -> bool:
    """Whether `word` is a number of at most six digits. `isdigit` also accepts superscripts, which `int` refuses."""
    return word.isdecimal() and len(word) <= 6


def _hybrid(text: str) -> Shape:
    levels = [word.partition("+") for word in text.split("-")]
    good = all(_is_number(fixed) and drawn in ("0", "1") and int(fixed + drawn) > 0 for fixed, _, drawn in levels)
    if not good:
        raise CaptureError("shape", repr(text), f"{_SHAPES}; each level of a hybrid tree as FIXED+0 or FIXED+1")
    fixed = tuple(int(first) for first, _, _ in levels)
    branching = tuple(int(first) + int(drawn) for first, _, drawn in levels)
    return _bounded(text, Shape(branching, replaced=False, fixed=fixed))


def _bounded(text: str, shape: Shape) -> Shape:
    if shape.drafts > MOST_NODES:
        raise CaptureError("shape", f"{text!r}, {shape.drafts:,} drafts", f"at most {MOST_NODES:,} drafts of one call")
    return shape


@dataclass(frozen=True)
class Settings:
    """The numbers of a run.

    tokens: least number of tokens that each text is continued by.
    rounds: number of texts that every setting decodes; round r continues text r modulo the number of texts.
    prompt: most tokens of a text that are used, which are its last tokens.
    target_filter, draft_filter: temperature, top-k and top-p of both sides.
    lookup, order: longest run of tokens that prompt look-up matches; order of the n-gram model.
    threads: processor threads of a pass, torch's default if None.
    clock: `wall`, or `processor`: the processor time of one thread, on which other processes have little influence.
    """

    tokens: int = 64
    rounds: int = 5
    prompt: int = 256
    target_filter: Filter = field(default_factory=Filter)
    draft_filter: Filter = field(default_factory=Filter)
    lookup: int = 3
    order: int = 3
    seed: int = 0
    device: str = "cpu"
    threads: int | None = None
    clock: str = "wall"
    draft_skip_layers: tuple[int, ...] = ()
    quantise_draft: str | int | None = None

    def __post_init__(self) -> None:
        if self.clock not in CLOCKS:
            raise CaptureError("clock", repr(self.clock), "one of " + ", ".join(CLOCKS))
        least = {"tokens": 1, "rounds": 1, "prompt": 1, "lookup": 1, "order": 1, "seed": 0, "threads": 1}
        for name in [entry.name for entry in fields(self)]:
            value: Any = getattr(self, name)
            if name in least and (value is not None or name != "threads"):
                object.__setattr__(self, name, whole(name, value, least[name]))
        if self.threads is not None and self.threads > MOST_THREADS:
            raise CaptureError("threads", str(self.threads), f"at most {MOST_THREADS}")
        for name in ("target_filter", "draft_filter"):
            if not isinstance(getattr(self, name), Filter):
                raise CaptureError(name, short(getattr(self, name)), "Filter(temperature, top_k, top_p)")


def listed(place: str, given: Any) -> list[Any]:
    """Returns the entries of a list. Raises: CaptureError for a text or anything that is not a list."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise CaptureError(place, short(given), "a list")
    return list(given)


@dataclass(frozen=True)
class Setting:
    """One way to decode."""

    drafts: str
    shape: Shape
    verifier: str

    def __str__(self) -> str:
        return f"{self.drafts} {self.shape} {self.verifier}"


def settings_of(drafts: Sequence[str], shapes: list[Shape], verifiers: Sequence[str] | None) -> list[Setting]:
    """Returns all combinations of drafts, shape and verifier in which the verifier accepts the shape. If `verifiers` is
    None, each shape is combined with all verifiers for it. A combination that is given twice is returned once.

    Raises: CaptureError for an unknown name, or a verifier that fits no shape.
    """
    for place, given, known in (("drafts", drafts, DRAFTS), ("verifier", verifiers or (), VERIFIERS)):
        for name in listed(place, given):
            if name not in known:
                raise CaptureError(place, repr(name), "one of " + ", ".join(known))
    for verifier in verifiers or ():
        if not any(shape.accepts(verifier) for shape in shapes):
            found = f"{verifier!r} with the shapes {', '.join(map(str, shapes))}"
            wanted = "a shape that it decides on: 1xL, KxL, or a tree as in 4-2-1 or 2+1-1+1"
            raise CaptureError("verifier", found, wanted)
    combined: list[Setting] = []
    for name in drafts:
        for shape in shapes:
            if name == "lookup" and shape.paths > 1:
                continue  # Prompt look-up proposes one continuation, so more paths would be equal.
            chosen = shape.verifiers() if verifiers is None else [v for v in verifiers if shape.accepts(v)]
            combined += [Setting(name, shape, verifier) for verifier in chosen]
    if not combined:
        raise CaptureError("shape", ", ".join(map(str, shapes)), "1xL for prompt look-up")
    return list(dict.fromkeys(combined))
