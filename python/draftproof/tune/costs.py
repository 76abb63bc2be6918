"""A table of costs: seconds of a target pass, of a draft pass and of each verifier, measured, by hand, or derived."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from draftproof.program import is_finite, on_a_line, short

SCHEMA, VERSION = "draftproof/costs", 1
PASSES = ("target_pass", "draft_pass")
_LARGEST = 1 << 24  # bytes of a file
MOST_COUNT = 2**40  # largest batch, context or number of tokens of a table
LEAST_SECONDS, MOST_SECONDS = 1e-12, 1e9  # of a pass or a verifier
_NUMBERS = {"tokens": int, "batch": int, "context": int, "paths": int, "vocabulary": int}


TORCH_NAMES = {
    "token_path": "single_draft",
    "block": "block_verification",
    "recursive_rejection_wor": "recursive_rejection_without_replacement",
    "ladder_wor": "ladder_without_replacement",
}
"""Verifiers of the program, and the functions of draftproof.torch with the same rule and another name."""


class CostError(ValueError):
    """A table of costs is malformed; the message has the location, the value and the expected form."""


class OutOfTable(ValueError):
    """A table of costs has no seconds for a pass or a verifier, because they would have to be extrapolated."""


@dataclass(frozen=True)
class Seconds:
    """An estimate with its standard error."""

    value: float
    error: float = 0.0


@dataclass(frozen=True, eq=False)
class Entry:
    """Seconds of one measurement; `key` is (batch, context) of a pass, (paths, vocabulary) of a verifier. Entries of
    equal figures are different measurements."""

    tokens: int
    key: tuple[int, int]
    seconds: Seconds


@dataclass(frozen=True)
class Time:
    """A sum of entries, each with its weight. Times that share an entry are not independent: they are added by
    `total`."""

    weights: Mapping[Entry, float]

    @property
    def value(self) -> float:
        """The seconds."""
        return sum(weight * entry.seconds.value for entry, weight in self.weights.items())

    @property
    def error(self) -> float:
        """The standard error in seconds. The entries are independent measurements."""
        return math.hypot(*(weight * entry.seconds.error for entry, weight in self.weights.items()))


def total(parts: Iterable[tuple[float, Time]]) -> Time:
    """Returns the sum of times, each multiplied by its number."""
    weights = defaultdict[Entry, float](float)
    for number, time in parts:
        for entry, weight in time.weights.items():
            weights[entry] += number * weight
    return Time(weights)


@dataclass(frozen=True)
class Costs:
    """`passes`: entries by name of the pass. `verifiers`: entries by verifier; if empty, the time of every verifier is
    taken as 0. `merged`: whether a pass reads drafts with equal prefixes once. `packed`: whether texts of a batch that
    have different numbers of drafts take the time of their mean number, instead of the largest. `reads_last`: whether
    the first draft pass after a step that accepted L drafts also reads the last of them, which no pass has read."""

    target: str
    draft: str
    device: str
    passes: Mapping[str, Sequence[Entry]]
    verifiers: Mapping[str, Sequence[Entry]]
    document: Mapping[str, Any]
    merged: bool = False
    packed: bool = False
    reads_last: bool = True

    def batches(self) -> list[int]:
        """Returns the batch sizes for which both passes were timed at a common context length."""
        target, draft = ({entry.key for entry in self.passes[name]} for name in PASSES)
        return sorted({batch for batch, _ in target & draft})

    def contexts(self, batch: int) -> list[int]:
        """Returns the context lengths for which both passes were timed at this batch size."""
        target, draft = ({entry.key[1] for entry in self.passes[name] if entry.key[0] == batch} for name in PASSES)
        return sorted(target & draft)

    def has_errors(self) -> bool:
        """Returns whether any time has a standard error above 0."""
        entries = (entry for table in (self.passes, self.verifiers) for each in table.values() for entry in each)
        return any(entry.seconds.error > 0 for entry in entries)

    def of_pass(self, name: str, tokens: float, batch: int, context: int) -> Time:
        """Returns the seconds of a pass over `tokens` new tokens of each of `batch` texts, on average. Raises:
        OutOfTable."""
        entries = [entry for entry in self.passes[name] if entry.key == (batch, context)]
        try:
            return _interpolated(entries, tokens, f"{name} of batch {batch} and context {context}")
        except OutOfTable as error:
            if not (self.reads_last and name == "draft_pass" and 1 < tokens <= 2):
                raise
            reason = (
                "the first draft pass after a step that accepted all drafts reads 2, unless last_draft is 'not_read'"
            )
            raise OutOfTable(f"{error}; {reason}") from None

    def of_verifier(
        self, name: str, drafts: float, paths: int, vocabulary: int, batch: int, *, at_most: bool = False
    ) -> Time:
        """Returns the seconds of a verifier that is called for `batch` texts, one after another, with `drafts` drafts
        each, on average. With `at_most` fewer drafts than were timed take the seconds of the fewest timed.

        A table has a verifier of trees under its name, under that name without `_tree`, or under the name in
        `draftproof.torch`.
        Raises: OutOfTable.
        """
        if not self.verifiers:
            return Time({})
        plain = name.removesuffix("_tree")
        names = (name, plain, TORCH_NAMES.get(plain, plain))
        found = next((self.verifiers[one] for one in names if one in self.verifiers), None)
        if not found:
            timed = ", ".join(on_a_line(one) for one, entries in self.verifiers.items() if entries)
            raise OutOfTable(f"the verifier is not one of those timed, {timed or 'none with paths'}")
        entries = [entry for entry in found if entry.key == (paths, vocabulary)]
        if at_most and entries:
            drafts = max(drafts, min(entry.tokens for entry in entries))
        one = _interpolated(entries, drafts, f"{name} of {paths} paths and vocabulary {vocabulary}")
        return total([(batch, one)])


def _interpolated(entries: Sequence[Entry], tokens: float, what: str) -> Time:
    """Interpolates linearly between the token counts next to `tokens`. Raises: OutOfTable outside of their range."""
    ordered = sorted(entries, key=lambda entry: entry.tokens)
    if not ordered:
        raise OutOfTable(f"{what}: not timed")
    if not ordered[0].tokens <= tokens <= ordered[-1].tokens:
        raise OutOfTable(
            f"{what}: got {tokens} tokens, expected {ordered[0].tokens} to {ordered[-1].tokens}, which were timed"
        )
    above = next(i for i, entry in enumerate(ordered) if entry.tokens >= tokens)
    high = ordered[above]
    if high.tokens == tokens:
        return Time({high: 1.0})
    low = ordered[above - 1]
    share = (tokens - low.tokens) / (high.tokens - low.tokens)
    return Time({low: 1 - share, high: share})


def read_costs(path: Path) -> Costs:
    """Reads a table in JSON. Raises: CostError, also for more than 16 MiB, such as those of /dev/zero; OSError."""
    with path.open("rb") as file:
        text = file.read(_LARGEST + 1)
    if len(text) > _LARGEST:
        raise CostError(f"{path}: got more than {_LARGEST} bytes, expected a table of costs")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CostError(f"{path}: got text that is not JSON ({error}), expected a table of costs") from None
    try:
        return costs_of(document)
    except CostError as error:
        raise CostError(f"{path}: {error}") from None


def costs_of(document: Any) -> Costs:
    """Returns the table of a JSON document. Raises: CostError."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        got = document.get("schema") if isinstance(document, dict) else type(document).__name__
        raise CostError(f"schema: got {_shown(got)}, expected {SCHEMA!r}")
    if document.get("version") != VERSION or isinstance(document["version"], bool):
        raise CostError(f"version: got {_shown(document.get('version'))}, expected {VERSION}")
    passes = {name: _entries(document, name, ("batch", "context")) for name in PASSES}
    prefixes = document.get("equal_prefixes", "separate")
    if prefixes not in ("separate", "merged"):
        raise CostError(f"equal_prefixes: got {_shown(prefixes)}, expected 'separate' or 'merged'")
    lengths = document.get("different_lengths", "padded")
    if lengths not in ("padded", "packed"):
        raise CostError(f"different_lengths: got {_shown(lengths)}, expected 'padded' or 'packed'")
    last = document.get("last_draft", "not_read" if document.get("draft") == "ngram" else "read")
    if last not in ("read", "not_read"):
        raise CostError(f"last_draft: got {_shown(last)}, expected 'read' or 'not_read'")
    verifiers = document.get("verifiers", {})
    if not isinstance(verifiers, dict):
        raise CostError(f"verifiers: got {_shown(verifiers)}, expected an object")
    return Costs(
        target=on_a_line(str(document.get("target", ""))),
        draft=on_a_line(str(document.get("draft", ""))),
        device=on_a_line(str(document.get("device", "")), 300),
        passes=passes,
        verifiers={
            str(name): _entries(verifiers, name, ("paths", "vocabulary"), f"verifiers.{on_a_line(name)}")
            for name in verifiers
        },
        document=document,
        merged=prefixes == "merged",
        packed=lengths == "packed",
        reads_last=last == "read",
    )


def _entries(owner: Mapping[str, Any], name: str, keys: tuple[str, str], place: str = "") -> list[Entry]:
    place = place or name
    lines = owner.get(name)
    if not isinstance(lines, list) or not lines:
        raise CostError(f"{place}: got {_shown(lines)}, expected a list of measurements")
    entries: dict[tuple[int, tuple[int, int]], Entry] = {}
    for i, line in enumerate(lines):
        here = f"{place}[{i}]"
        if not isinstance(line, dict):
            raise CostError(f"{here}: got {_shown(line)}, expected an object")
        tokens, first, second = (_count(line, key, here) for key in ("tokens", *keys))
        seconds = Seconds(_number(line, "seconds", here, least=0.0), _number(line, "standard_error", here, default=0.0))
        if "paths" in keys and "-" in str(line.get("shape", "")):
            continue  # A tree of chosen children, which takes another time than paths with as many drafts.
        entry = Entry(tokens, (first, second), seconds)
        if (tokens, entry.key) in entries:
            raise CostError(f"{here}: got tokens {tokens}, {keys[0]} {first}, {keys[1]} {second} twice, expected once")
        entries[tokens, entry.key] = entry
    return list(entries.values())


def _count(line: Mapping[str, Any], key: str, here: str) -> int:
    value = line.get(key)
    least = 0 if key == "context" else 1
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise CostError(f"{here}.{key}: got {_shown(value)}, expected an integer of at least {least}")
    if value > MOST_COUNT:
        raise CostError(f"{here}.{key}: got {short(value)}, expected at most {MOST_COUNT}")
    return value


def _number(
    line: Mapping[str, Any], key: str, here: str, least: float | None = None, default: float | None = None
) -> float:
    value: Any = default if line.get(key) is None else line[key]
    fine = isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)
    if not fine or value < 0 or (least is not None and value <= least):
        expected = "a number above 0" if least is not None else "a number of at least 0"
        raise CostError(f"{here}.{key}: got {_shown(value)}, expected {expected}")
    if value > MOST_SECONDS or (least is not None and value < LEAST_SECONDS):
        limits = f"at most {MOST_SECONDS:g}" if least is None else f"{LEAST_SECONDS:g} to {MOST_SECONDS:g}"
        raise CostError(f"{here}.{key}: got {_shown(value)}, expected {limits} seconds")
    return float(value)


def _shown(value: Any) -> str:
    text = repr(value) if value is not None else "nothing"
    return text if len(text) <= 60 else text[:57] + "..."


HARDWARE = {
    "bandwidth": "bytes per second",
    "flops": "floating-point operations per second",
    "target_bytes": "weights of the target",
    "draft_bytes": "weights of the draft",
}
_OPTIONAL = {"bytes_per_parameter": 2.0, "target_kv_bytes": 0.0, "draft_kv_bytes": 0.0, "overhead": 0.0}


def parse_hardware(text: str) -> dict[str, float]:
    """Parses `bandwidth=3.3e12,flops=9e14,target_bytes=1.4e11,draft_bytes=2e9` and optional parts. Returns the numbers
    by name. Raises: CostError."""
    values = dict(_OPTIONAL)
    for part in text.split(","):
        key, _, number = part.strip().partition("=")
        if key not in HARDWARE and key not in _OPTIONAL:
            raise CostError(f"hardware: got {short(key)}, expected one of {', '.join([*HARDWARE, *_OPTIONAL])}")
        try:
            values[key] = float(number)
        except ValueError:
            values[key] = math.nan
        zero_is_fine = key in _OPTIONAL and key != "bytes_per_parameter"
        if not (math.isfinite(values[key]) and (values[key] > 0 or (zero_is_fine and values[key] == 0))):
            wanted = "a number of at least 0" if zero_is_fine else "a number above 0"
            raise CostError(f"hardware: {key}: got {short(number)}, expected {wanted}")
    if missing := [key for key in HARDWARE if key not in values]:
        raise CostError(f"hardware: got no {missing[0]}, expected {HARDWARE[missing[0]]}")
    return values


def derived_costs(
    hardware: Mapping[str, float], *, batches: Sequence[int] = (1,), context: int = 0, most_tokens: int = 1024
) -> Costs:
    """Returns a table that is computed from figures of the hardware instead of measured.

    A pass takes the longer of two times: to read the weights once, with the keys and values of every text, at
    `bandwidth`; to compute 2 operations per parameter and token at `flops`. `overhead` seconds are added.
    """
    bandwidth, flops, overhead = hardware["bandwidth"], hardware["flops"], hardware["overhead"]
    if max(batches) > MOST_COUNT or not 0 <= context <= MOST_COUNT:
        found = f"{short(max(batches))} and {short(context)}"
        raise CostError(f"batch, context: got {found}, expected 0 to {MOST_COUNT}")
    document: dict[str, Any] = {"schema": SCHEMA, "version": VERSION, "target": "derived", "draft": "derived",
                                "device": ", ".join(f"{key}={value:g}" for key, value in hardware.items()),
                                "verifiers": {}}  # fmt: skip
    for name, model in zip(PASSES, ("target", "draft"), strict=True):
        weights, cache = hardware[f"{model}_bytes"], hardware[f"{model}_kv_bytes"]
        operations = 2 * weights / hardware["bytes_per_parameter"]
        lines = []
        for batch in batches:
            reading = (weights + batch * context * cache) / bandwidth
            computing = operations * batch / flops  # seconds for each token
            if not (0 < computing < math.inf and reading / computing < math.inf):
                raise CostError(
                    f"hardware: got figures by which the {model} takes {reading:g} s to read and {computing:g} s for "
                    "each token, expected times that a double can represent"
                )
            knee = reading / computing  # number of tokens above which computing takes longer than reading
            counts = {1 << i for i in range(most_tokens.bit_length()) if 1 << i <= most_tokens} | {most_tokens}
            counts |= {n for n in (math.floor(knee), math.ceil(knee)) if 1 <= n <= most_tokens}
            lines += [
                {"tokens": n, "batch": batch, "context": context, "standard_error": 0.0,
                 "seconds": max(reading, operations * batch * n / flops) + overhead}
                for n in sorted(counts)
            ]  # fmt: skip
        document[name] = lines
    return costs_of(document)
