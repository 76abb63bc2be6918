"""The results of the gate and of the explorer, as dataclasses for programs, notebooks and people."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from numbers import Integral
from operator import index
from typing import Any

from draftproof._renamed import Status, warn
from draftproof.program import short
from draftproof.tape import DrawEntry

PASSED, FAILED, UNDECIDED, SKIPPED = "passed", "failed", "undecided", "skipped"
_MOST_VOCABULARY = 2**31 - 1
_WORST = (FAILED, UNDECIDED, PASSED, SKIPPED)


@dataclass(frozen=True)
class Finding:
    """One check of one tier.

    tier            proof, edge or sampled
    check           name of the check, as in docs/adapters.md
    status          passed, failed, undecided or skipped
    work            number of calls or trials
    evidence        what was found, in words
    counterexample  an instance in small fractions, which `replay` takes; empty without one
    distance        largest total variation between a distribution and the target, 0 to 1; None if there is none
    limit           the total variation that rounding explains
    sensitivity     for a passed check, the smallest fault that it would have detected
    """

    tier: str
    check: str
    status: str
    work: int = 0
    evidence: str = ""
    counterexample: str = ""
    distance: float | None = None
    limit: float | None = None
    sensitivity: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", Status(self.status))


@dataclass(frozen=True)
class TierResult:
    """One tier of a verdict.

    tier      proof, edge or sampled
    status    the worst status of a finding: passed, failed, undecided or skipped
    work      number of calls or trials
    note      a note, such as the reason why the tier was skipped
    findings  its checks
    """

    tier: str
    status: str
    work: int = 0
    note: str = ""
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", Status(self.status))


class Table:
    """A result that notebooks show as a table, and that converts to a pandas DataFrame."""

    def records(self) -> list[dict[str, Any]]:
        """Returns the rows of the table, values by the name of their column."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """Returns a pandas DataFrame of `records()`. Raises: ImportError if pandas is not installed."""
        return for_plots("to_frame", "pandas").DataFrame(self.records())

    def _repr_html_(self) -> str:
        records = self.records()
        columns = list(records[0]) if records else []
        head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in record.values()) + "</tr>"
            for record in records
        )
        title = html.escape(str(self).partition("\n")[0])
        return f"<p>{title}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


def for_plots(place: str, module: str) -> Any:
    """Returns a module of pandas or matplotlib. Raises: ImportError with `place` and what to install, if the library is
    missing or cannot be imported."""
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        wanted = "draftproof[plots] installed, as by `pip install draftproof[plots]`"
        raise ImportError(f"{place}: got no {library} ({error}), expected {wanted}", name=library) from error


def axes_of(axes: Any) -> Any:
    """Returns `axes`, or new axes of matplotlib if None. Raises: ImportError if matplotlib is needed and not installed;
    ValueError for something else than axes."""
    if axes is None:
        return for_plots("plot", "matplotlib.pyplot").subplots()[1]
    if not hasattr(axes, "set_xlabel"):
        raise ValueError(f"axes: got {short(axes)}, expected matplotlib's axes, or None for new ones")
    return axes


@dataclass(frozen=True)
class Verdict(Table):
    """The result of the gate for one function, which `check` returns.

    name     name of the function
    tiers    the tiers that ran or were skipped
    draws    every kind of draw that the function made, with the number of calls that made it
    notes    remarks on how the function was run
    calls    number of calls of the function
    seed     seed of all random numbers
    again    the call of `replay` that repeats a counterexample; {} stands for the counterexample
    document the document of docs/json.md
    """

    name: str
    tiers: tuple[TierResult, ...]
    draws: tuple[tuple[DrawEntry, int], ...] = ()
    notes: tuple[str, ...] = ()
    calls: int = 0
    seed: int = 1
    again: str = ""
    document: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def status(self) -> str:
        """The worst status of the tiers. The order, from the worst, is failed, undecided, passed, skipped."""
        found = {tier.status for tier in self.tiers}
        return next((Status(status) for status in _WORST if status in found), Status(SKIPPED))

    @property
    def findings(self) -> list[Finding]:
        """The checks of all tiers."""
        return [finding for tier in self.tiers for finding in tier.findings]

    @property
    def failures(self) -> list[Finding]:
        """The failed checks of all tiers."""
        return [finding for finding in self.findings if finding.status == FAILED]

    @property
    def violations(self) -> list[Finding]:
        """The old name of `failures`."""
        warn("Verdict.violations", "Verdict.failures")
        return self.failures

    @property
    def ledger(self) -> tuple[tuple[DrawEntry, int], ...]:
        """The old name of `draws`."""
        warn("Verdict.ledger", "Verdict.draws")
        return self.draws

    def records(self) -> list[dict[str, Any]]:
        """Returns a row for each check."""
        return [{"name": self.name, **vars(finding)} for finding in self.findings]

    def plot(self, axes: Any = None) -> Any:
        """Draws a bar for the work of each tier, coloured by its status. Returns matplotlib's axes. Raises: ImportError
        if matplotlib is not installed."""
        axes = axes_of(axes)
        colours = {PASSED: "tab:green", FAILED: "tab:red", UNDECIDED: "tab:orange", SKIPPED: "tab:gray"}
        for tier in self.tiers:
            axes.barh(tier.tier, tier.work, color=colours[tier.status])
        axes.set_xlabel("calls and trials")
        axes.set_title(f"{self.name}: {self.status}")
        return axes

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.status}"]
        for tier in self.tiers:
            lines.append(f"  {tier.tier:8} {tier.status}" + (f"  {tier.note}" if tier.note else ""))
            if tier.status == PASSED:
                shown = dict.fromkeys(finding.sensitivity for finding in tier.findings if finding.sensitivity)
                lines += [f"           would have shown {fault}" for fault in shown]
            undecided: dict[str, list[Finding]] = {}  # findings by reason
            for finding in tier.findings:
                if finding.status == UNDECIDED:
                    undecided.setdefault(finding.evidence, []).append(finding)
                elif finding.status == FAILED:
                    lines += _told(finding, self.again)
            for found in undecided.values():
                together = ", ".join(finding.check for finding in found)
                lines += _told(replace(found[0], check=together), self.again)
        if self.failures and self.draws:
            lines.append("  draws    " + "; ".join(dict.fromkeys(entry.text() for entry, _ in self.draws)))
        return "\n".join(lines + [f"  note     {note}" for note in self.notes])


def _told(finding: Finding, again: str) -> list[str]:
    lines = [f"    {finding.check}: {finding.evidence}"]
    if finding.counterexample:
        lines.append(f"      on     {finding.counterexample}")
        if again:
            lines.append(f"      again  {again.replace('{}', repr(finding.counterexample))}")
    return lines


class Refuted(AssertionError):
    """A verifier is not exact, or its gate is undecided. `verdict` has all findings. `check` and the tests of `gates`
    raise it."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(str(verdict))
        self.verdict = verdict


class Interrupted(KeyboardInterrupt):
    """The user interrupted a check. `verdict` has the results so far. `check` raises it."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(str(verdict))
        self.verdict = verdict


@dataclass(frozen=True)
class Outcome:
    """A result of a call with its probability.

    tokens       the emitted tokens; empty if the status is not `ok`
    status       `ok`, or the reason why there are no tokens
    probability  its probability, 0 to 1
    text         the probability as a fraction or a multiple of 2^-bits, if it is exactly that; else empty
    """

    tokens: tuple[int, ...]
    status: str
    probability: float
    text: str = ""


@dataclass(frozen=True)
class Distribution(Table):
    """The exact distribution of a function on given rows, which `distribution` returns.

    name        name of the function
    outcomes    the results with their probabilities, ordered by tokens
    limit       total variation from the target that rounding explains
    unexplored  probability of the branches that were not enumerated
    state       settled; cut if branches were not enumerated; unsettled if predictions failed; not_a_function if equal
                calls had different results
    calls       number of calls of the function
    predicted   number of random sequences whose predicted result was confirmed
    edges       values of a coin that lead to a separate outcome, in the form of docs/json.md
    remarks     remarks on the exploration
    """

    name: str
    outcomes: tuple[Outcome, ...]
    limit: float
    unexplored: float
    state: str
    calls: int
    predicted: int
    edges: tuple[dict[str, Any], ...] = ()
    remarks: tuple[str, ...] = ()

    def of(self, tokens: int | Sequence[int]) -> float:
        """Returns the probability of exactly these emitted tokens. Raises: ValueError for other things than tokens."""
        wanted = _tokens(tokens)
        return sum((o.probability for o in self.outcomes if o.tokens == wanted and o.status == "ok"), start=0.0)

    def first(self, vocabulary: int) -> list[float]:
        """Returns the distribution of the first emitted token, `vocabulary` probabilities [V]. Raises: ValueError for a
        vocabulary that is not an integer, or lacks an emitted token."""
        firsts = [(outcome.tokens[0], outcome.probability) for outcome in self.outcomes if outcome.status == "ok"]
        least = 1 + max((token for token, _ in firsts), default=-1)
        if not isinstance(vocabulary, Integral) or not least <= vocabulary <= _MOST_VOCABULARY:
            wanted = f"an integer of at least {least}, at most {_MOST_VOCABULARY}"
            raise ValueError(f"vocabulary: got {short(vocabulary)}, expected {wanted}")
        result = [0.0] * int(vocabulary)
        for token, probability in firsts:
            result[token] += probability
        return result

    def records(self) -> list[dict[str, Any]]:
        """Returns a row for each outcome."""
        return [vars(outcome) for outcome in self.outcomes]

    def plot(self, axes: Any = None) -> Any:
        """Draws a bar for each outcome. Returns matplotlib's axes. Raises: ImportError if
        matplotlib is not installed."""
        axes = axes_of(axes)
        names = [" ".join(map(str, o.tokens)) if o.status == "ok" else o.status for o in self.outcomes]
        axes.bar(names, [o.probability for o in self.outcomes])
        axes.set_xlabel("emitted tokens")
        axes.set_ylabel("probability")
        return axes

    def __str__(self) -> str:
        head = f"{self.name}: {self.state}, {self.calls} calls, {self.predicted} predictions confirmed"
        head += f", rounding {self.limit:.1g}"
        rows = (
            f"  {' '.join(map(str, o.tokens)) if o.status == 'ok' else o.status:12} {o.text or f'{o.probability:.9g}'}"
            for o in self.outcomes
        )
        return "\n".join([head, *rows, *(f"  note: {remark}" for remark in self.remarks)])


def _tokens(given: Any) -> tuple[int, ...]:
    try:
        return (index(given),)
    except TypeError:  # a sequence
        pass
    try:
        return tuple(map(index, given))
    except TypeError as error:
        raise ValueError(f"tokens: got {short(given)} ({error}), expected a token or a sequence of tokens") from error


def verdict_of(
    document: dict[str, Any], draw_log: Iterable[tuple[DrawEntry, int]], *, name: str = "", **rest: Any
) -> Verdict:
    """Returns the verdict in a JSON document of `draftproof check`."""
    gates = document["gates"]
    tiers = []
    for gate in gates:
        findings = tuple(
            Finding(gate["tier"], **{key: value for key, value in one.items() if key in Finding.__dataclass_fields__})
            for one in gate.get("findings", ())
        )
        tiers.append(TierResult(gate["tier"], gate["status"], gate.get("work", 0), gate.get("note", ""), findings))
    name = name or (gates[0]["verifier"] if gates else "nothing")
    return Verdict(name, tuple(tiers), tuple(draw_log), document=document, **rest)
