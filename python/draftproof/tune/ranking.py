"""Ranks settings by tokens per second: expected tokens of a step divided by its seconds."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

from draftproof.results import Table, axes_of
from draftproof.tune.costs import Costs, OutOfTable, Seconds, Time, total
from draftproof.tune.settings import Setting, Survey


@dataclass(frozen=True)
class Choice:
    """A setting at a batch size. `rate`: tokens per second of all texts of the batch, with the interval `low` to
    `high`."""

    setting: Setting | None  # None: plain decoding, one token for each pass
    batch: int
    seconds: Seconds
    rate: float
    low: float
    high: float

    def record(self) -> dict[str, Any]:
        one = self.setting
        return {
            "verifier": one.verifier if one else "plain decoding",
            "draft_sampling": one.draft_sampling if one else None,
            "paths": one.paths if one else 0,
            "length": one.length if one else 0,
            "drafts": one.drafts if one else 0,
            "policy": (one.policy or None) if one else None,
            "budget": one.budget if one else None,
            "verified_drafts": one.verified if one else 0,
            "batch": self.batch,
            "all_accepted": one.all_accepted if one and not one.policy else None,
            "tokens_per_step": one.tokens if one else 1.0,
            "tokens_per_step_standard_error": one.error if one else 0.0,
            "seconds_per_step": self.seconds.value,
            "seconds_per_step_standard_error": self.seconds.error,
            "tokens_per_second": self.rate,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True)
class Tuned(Table):
    """All settings of one batch size, the fastest first.

    default  the setting that an engine would use; None if it is not among the settings
    refused  reasons why settings have no time, each with the number of settings
    """

    batch: int
    context: int
    plain: Choice
    choices: tuple[Choice, ...]
    default: Choice | None
    refused: dict[str, int] = field(default_factory=dict)

    @property
    def best(self) -> Choice:
        return self.choices[0]

    @property
    def beats_plain(self) -> bool:
        """Whether a setting is faster than plain decoding, beyond both intervals. The fastest need not be: its interval
        may be wide."""
        return any(one.low > self.plain.high for one in self.choices)

    @property
    def tied(self) -> int:
        """Number of settings whose interval overlaps the interval of the fastest setting, which is one of them."""
        return sum(1 for one in self.choices if one.high >= self.best.low)

    def loss_of_default(self) -> float | None:
        """Returns 1 - (tokens per second of the default) / (tokens per second of the fastest setting)."""
        return None if self.default is None else 1 - self.default.rate / self.best.rate

    def records(self) -> list[dict[str, Any]]:
        return [one.record() for one in (*self.choices, self.plain)]

    def plot(self, axes: Any = None) -> Any:
        """Draws tokens per second against drafts of a step, for each verifier's fastest length. Returns matplotlib's
        axes."""
        axes = axes_of(axes)
        best: dict[tuple[str, int], Choice] = {}
        for one in self.choices:
            assert one.setting is not None
            best.setdefault((_name(one.setting), one.setting.drafts), one)
        shown = list(dict.fromkeys(_name(one.setting) for one in self.choices if one.setting))[:8]
        for verifier in shown:
            points = sorted((drafts, one) for (name, drafts), one in best.items() if name == verifier)
            rates = [one.rate for _, one in points]
            errors = [[one.rate - one.low for _, one in points], [one.high - one.rate for _, one in points]]
            axes.errorbar([drafts for drafts, _ in points], rates, yerr=errors, marker="o", label=verifier)
        axes.axhline(self.plain.rate, color="k", linestyle="--", label="plain decoding")
        axes.set_xlabel("drafts of a step")
        axes.set_ylabel("tokens per second")
        axes.set_title(f"batch {self.batch}, context {self.context}")
        axes.legend()
        return axes

    def text(self, most: int = 5) -> str:
        """Returns the fastest `most` settings, the default and plain decoding as a table."""
        head: tuple[str, ...] = (
            "",
            "verifier",
            "draft sampling",
            "policy",
            "K",
            "L",
            "tokens/step",
            "ms/step",
            "tokens/s",
            "interval",
            "x plain",
        )
        lines = [head]
        groups = list(self._equal().values())
        lines += [self._line(f"{i}", one[0], len(one) - 1) for i, one in enumerate(groups[:most], 1)]
        if self.default is not None:
            lines.append(self._line("default", self.default))
        lines.append(self._line("", self.plain))
        if not any(one.setting and one.setting.policy for one in self.choices):
            lines = [(*line[:3], *line[4:]) for line in lines]
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        text = [f"batch {self.batch}, context {self.context}"]
        text += [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        if not self.beats_plain:
            text.append("no setting is faster than plain decoding beyond the intervals: do not speculate here")
        if self.tied > 1:
            text.append(f"other settings whose intervals overlap that of the fastest: {self.tied - 1}")
        if (loss := self.loss_of_default()) is not None:
            text.append(f"the default loses {100 * loss:.1f} % of the fastest setting's tokens per second")
        text += [f"left out: {count} settings: {reason}" for reason, count in self.refused.items()]
        return "\n".join(text)

    def _equal(self) -> dict[tuple[Any, ...], list[Choice]]:
        """Groups choices of equal K, L, tokens and seconds, because with one draft many verifiers are the same rule."""
        groups: dict[tuple[Any, ...], list[Choice]] = {}
        for one in self.choices:
            assert one.setting is not None
            key = one.setting.paths, one.setting.length, bool(one.setting.policy), one.setting.tokens, one.seconds
            groups.setdefault(key, []).append(one)
        return groups

    def _line(self, mark: str, one: Choice, equal: int = 0) -> tuple[str, ...]:
        record = one.record()
        return (
            mark,
            record["verifier"] + (f" (and {equal} equal)" if equal else ""),
            record["draft_sampling"] or "",
            _policy(one.setting) or "-",
            f"{record['paths']}",
            f"{record['length']}",
            f"{record['tokens_per_step']:.3f}",
            f"{1e3 * one.seconds.value:.4g}",
            f"{one.rate:.4g}",
            f"{one.low:.4g} to {one.high:.4g}",
            f"{one.rate / self.plain.rate:.3f}",
        )

    def __str__(self) -> str:
        return self.text()


def _policy(setting: Setting | None) -> str:
    if setting is None or setting.budget is None:
        return setting.policy if setting else ""
    return f"{setting.policy} (of {setting.budget})"


def _name(setting: Setting) -> str:
    return f"{setting.verifier}, {_policy(setting)}" if setting.policy else setting.verifier


def seconds_of(setting: Setting, costs: Costs, vocabulary: int, batch: int, context: int) -> Seconds:
    """Returns the mean seconds of a step: a draft pass for each depth, one target pass over all drafts and the token
    before them, and the verifier. Raises: OutOfTable.

    The first draft pass reads one token, and after a step that accepted L drafts two: no pass has read the last draft.
    The pass of depth i reads the drafts of depth i - 1. If equal prefixes are merged, the mean is over the numbers of
    different prefixes of the captured trees. In a larger batch every text counts as if no prefixes were equal. If the
    batch is padded, its first pass is over two tokens as soon as one text needs two.
    """
    if setting.sizes:
        return _seconds_of_sizes(setting, costs, vocabulary, batch, context)
    merged = setting.distinct if costs.merged and batch == 1 else ()
    draft, target = defaultdict[float, float](float), defaultdict[float, float](float)
    for levels, share in merged or ((setting.levels, 1.0),):
        for tokens in levels[:-1]:
            draft[tokens] += share
        target[1 + sum(levels)] += share
    whole = setting.all_accepted if costs.reads_last else 0.0
    if costs.packed:
        draft[1 + whole] += 1
    else:
        two = -math.expm1(batch * math.log1p(-whole)) if whole < 1 else 1.0
        draft[1] += 1 - two
        draft[2] += two
    parts = [
        (times, costs.of_pass(name, tokens, batch, context))
        for name, reads in (("draft_pass", draft), ("target_pass", target))
        for tokens, times in reads.items()
        if times > 0
    ]
    parts.append((1, costs.of_verifier(setting.verifier, setting.drafts, setting.paths, vocabulary, batch)))
    mean = total(parts)
    return Seconds(mean.value, mean.error)


def _seconds_of_sizes(setting: Setting, costs: Costs, vocabulary: int, batch: int, context: int) -> Seconds:
    """Returns the mean over the sizes of a step. The standard error is that of the timings and of the sizes, which were
    simulated."""
    draft = costs.of_pass("draft_pass", 1, batch, context)
    shares, times = [one.share for one in setting.sizes], list[Time]()
    for one in setting.sizes:
        drafts = one.verified / batch
        target = costs.of_pass("target_pass", 1 + (drafts if costs.packed else one.longest), batch, context)
        verifier = costs.of_verifier(setting.verifier, drafts, setting.paths, vocabulary, batch, at_most=True)
        times.append(total([(one.passes, draft), (1, target), (1, verifier)]))
    mean = total(zip(shares, times, strict=True))
    spread = sum(share * (time.value - mean.value) ** 2 for share, time in zip(shares, times, strict=True))
    return Seconds(mean.value, math.hypot(mean.error, math.sqrt(spread / setting.steps)))


_MOST_SPREAD = 100.0
"""Cap of log(high / rate). exp(100) is larger than the ratio of any two times of a table, 1e21, and the exponential of
numbers above 709 is no double."""


def ranked(
    survey: Survey,
    costs: Costs,
    *,
    batch: int,
    context: int,
    default: tuple[str, int, int | None],
    confidence: float = 0.95,
) -> Tuned:
    """Ranks the settings of a survey.

    default  verifier, K and L of the default; if L is None, its fastest L
    Raises: OutOfTable if plain decoding or every setting has no time.
    """
    width = -NormalDist().inv_cdf((1 - confidence) / 2)  # (1 + confidence) / 2 may be rounded to 1

    def choice(setting: Setting | None, seconds: Seconds) -> Choice:
        tokens, error = (setting.tokens, setting.error) if setting else (1.0, 0.0)
        rate = batch * tokens / seconds.value
        # The interval is computed for the logarithm of the rate, so that both ends are above 0. The variance of this
        # logarithm is the sum of the relative variances of tokens and seconds.
        spread = width * math.hypot(error / tokens, seconds.error / seconds.value)
        factor = math.exp(min(spread, _MOST_SPREAD))
        return Choice(setting, batch, seconds, rate, rate / factor, rate * factor)

    try:
        one_pass = costs.of_pass("target_pass", 1, batch, context)
        plain = choice(None, Seconds(one_pass.value, one_pass.error))
    except OutOfTable as error:
        raise OutOfTable(f"plain decoding: {error}") from None
    choices, refused = [], Counter[str]()
    for setting in survey.settings:
        try:
            choices.append(choice(setting, seconds_of(setting, costs, survey.vocabulary, batch, context)))
        except OutOfTable as error:
            refused[str(error)] += 1
    if not choices:
        left_out = "; ".join(f"{name}: {reason}" for name, reason in survey.left_out.items())
        nothing = "settings: got none" + (f" ({left_out})" if left_out else "") + ", expected at least one"
        raise OutOfTable("; ".join(f"{reason} ({count} settings)" for reason, count in refused.items()) or nothing)
    choices.sort(key=lambda one: -one.rate)
    return Tuned(batch, context, plain, tuple(choices), _default(choices, default), dict(refused))


def _default(choices: Sequence[Choice], wanted: tuple[str, int, int | None]) -> Choice | None:
    verifier, paths, length = wanted
    for one in choices:
        setting = one.setting
        if setting is None or setting.policy or (setting.verifier, setting.paths) != (verifier, paths):
            continue
        if length in (None, setting.length):
            return one
    return None
