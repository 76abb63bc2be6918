"""check and replay run the gate on plain Python functions."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from draftproof import store
from draftproof.arrays import kind_of
from draftproof.deadline import Deadline, Ended, deadline_of
from draftproof.declare import adapter, name_of, subject_of
from draftproof.intercept.torch_operators import compiled_by
from draftproof.models import EVERY_PREFIX
from draftproof.program import ProgramError, member, text_of_argument
from draftproof.rehearsal import check_equal_calls, failed, rehearse
from draftproof.results import FAILED, Interrupted, Refuted, Verdict, verdict_of
from draftproof.serve import ask, tell
from draftproof.shared_numbers import check_independent_rows
from draftproof.subject import Declaration, Subject

_LONGEST = 1 << 16  # letters of an instance; Linux takes arguments of at most 2^17 bytes
_NEVER = 1_000_000  # seconds that the program waits for an answer; `Deadline` ends calls instead

# Checks that fail where the result of a row depends on more than its input and its random numbers.
_EQUAL_CALLS = {"function", "row_alone", "slots_permuted", "neighbours", "repetition"}

# Defaults for arguments of `check` that are None; the pytest plug-in sets them for a test run.
DEFAULTS: dict[str, Any] = {"profile": "quick", "seed": 1, "share": None, "gates": None}


def check(
    fn: Callable[..., Any] | Subject | None,
    drafts: str = "iid",
    *,
    tier: str | Sequence[str] | None = None,
    profile: str | None = None,
    seed: int | None = None,
    models: int | None = None,
    predictions: int | None = None,
    instance: str | Sequence[str] = (),
    source: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    share: float | None = None,
    gates: int | None = None,
    keep: bool = True,
    raises: bool = True,
    progress: bool | None = None,
    **declared: Any,
) -> Verdict:
    """Runs the gate on `fn` and returns the verdict.

    fn           the function, or a result of `adapter`; None with draft, generate or select
    drafts       the draft sampling that fn is written for, by a name that `draftproof list` shows
    tier         the tiers to run, of proof, edge and sampled; None: all that fn supports
    profile      quick, pr or nightly, which sets the numbers of models and trials; quick if None
    models       number of models of the proof tier; None: the number of `profile`
    predictions  number of random sequences whose result is predicted and confirmed, for each input; None: the number of
                 `profile`
    seed         seed of all random numbers; 1 if None
    instance     models to check first, in the form of counterexamples
    source       rows of the sampled tier: the path of a capture, or a family such as "zipf:vocabulary=32000"; None:
                 rows of V = 1031, or of the largest V that fn takes, and rows of V = 8 with one likely token
    time_limit   seconds of the whole check; checks without a verdict by then are undecided. None: no limit, but a
                 call that does not return within 60 s ends the check
    share        part of a build's false-alarm probability of 1e-9, which `gates` sampled gates divide
    gates        number of sampled gates that divide `share`; None: the number in this run
    keep         whether failing instances are stored in .draftproof/failures.json and checked first the next time
    raises       False: the verdict is returned if fn is refuted, too
    progress     whether to show a line of progress on standard error, after the first second; None: only if that is a
                 terminal
    declared     arguments of `adapter`

    p, q and drafts of fn have the shapes of `adapter`.

    Raises: Refuted, an AssertionError, unless all tiers passed or were skipped; nothing with raises=False.
    FunctionFailed if fn raises, or returns no tokens, on every input, and for generate and select if the first calls
    raise; a later exception is a finding of the check `answers`. UnknownRandomness if fn draws by an operator that
    has no replacement; Interrupted with the results so far after Ctrl-C; ProgramError if the program gives no verdict;
    ProgramNotFound; ValueError for invalid arguments.
    Cost: with profile quick some 17,500 calls of a chain, with pr half a million.
    Source: derived here, docs/gate.md and docs/adapters.md.
    """
    subject = subject_of("check", fn, drafts, declared, steps=True)
    declaration = subject.declaration
    asked = [instance] if isinstance(instance, str) or not isinstance(instance, Iterable) else list(instance)
    for text in asked:
        _check_instance(text)
    known = store.failures(declaration.name) if keep else []
    seed = DEFAULTS["seed"] if seed is None else seed
    tiers = [tier] if isinstance(tier, str) or not isinstance(tier or (), Iterable) else list(tier or ())
    if tier is not None and not tiers:
        raise ValueError("tier: got none, expected some of proof, edge, sampled")
    rows = os.fspath(source) if isinstance(source, str | os.PathLike) else source
    if rows is not None and not (isinstance(rows, str) and rows):
        raise ValueError(f"source: got {source!r:.60}, expected the path of a capture or a family of rows")
    if wrong := [one for one in tiers if one not in ("proof", "edge", "sampled")]:
        raise ValueError(f"tier: got {wrong[0]!r:.60}, expected some of proof, edge, sampled")
    options = {
        "--seed": seed,
        "--profile": profile or DEFAULTS["profile"],
        "--tier": ",".join(tiers) or None,
        "--models": models,
        "--predictions": predictions,
        "--source": rows,
        "--adapter-limit": _NEVER,
        "--share": DEFAULTS["share"] if share is None else share,
        "--gates": DEFAULTS["gates"] if gates is None else gates,
    }
    given = {key: str(value) for key, value in options.items() if value is not None}
    arguments = ["check", *(one for key, text in given.items() for one in (key, text_of_argument(key[2:], text)))]
    deadline = deadline_of(subject, time_limit)
    notes: list[str] = []

    def verdict_in(instances: Sequence[str]) -> dict[str, Any]:
        return ask(subject, arguments + _instances(instances), deadline=deadline, progress=progress)

    try:
        with deadline.watching(lambda: None):
            rehearse(subject, deadline)
        try:
            document = verdict_in([*asked, *known])
        except ProgramError as error:
            if error.exit_code != 2 or not known:
                raise
            store.forget(declaration.name)  # `known` belongs to an earlier function of the same name
            document = verdict_in(asked)
    except Ended:  # The check ended before the program started.
        document = {"gates": []}
    except ProgramError as error:
        if subject.error is not None and "fails on every input" in error.message:
            raise failed(subject, subject.fn) from subject.error
        raise
    if deadline.over:  # after two interrupts the document has no gates
        document.setdefault("gates", [])
    findings = [finding for gate in member(document, "gates") for finding in gate.get("findings", ())]
    if any(finding["check"] in _EQUAL_CALLS and finding["status"] == FAILED for finding in findings):
        with contextlib.suppress(Ended), deadline.watching(lambda: None):
            check_equal_calls(subject, deadline)
    if deadline.over:  # tiers that did not start are undecided
        begun = [gate["tier"] for gate in document["gates"]]
        unasked = [one for one in tiers or ("proof", "edge", "sampled") if one not in begun]
        document["gates"] += [{"tier": one, "status": "undecided", "note": deadline.over} for one in unasked]
    elif all(gate["status"] != FAILED for gate in document["gates"] if gate["tier"] != "sampled"):
        with contextlib.suppress(Ended), deadline.watching(lambda: None):
            _judge_rows(subject, deadline, document["gates"])
        if deadline.over and (gate := _tier_of_rows(document["gates"])) and gate["status"] == "passed":
            gate |= {"status": "undecided", "note": deadline.over}
    notes += _notes(subject)
    verdict = verdict_of(
        document,
        sorted(subject.draw_log.items(), key=lambda item: -item[1]),
        name=declaration.name,
        calls=subject.calls,
        seed=seed,
        again=_again(subject),
    )
    if keep:
        failing = [f.counterexample for f in verdict.failures if f.counterexample and f.tier == "proof"]
        notes.append(store.keep(declaration.name, failing, asked=not tiers or "proof" in tiers) or "")
    verdict = dataclasses.replace(verdict, notes=tuple(filter(None, notes)))
    if deadline.interrupted and raises:
        raise Interrupted(verdict)
    if raises and verdict.status not in ("passed", "skipped"):
        raise Refuted(verdict)
    return verdict


def _tier_of_rows(gates: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Returns the edge tier, or the sampled tier if there is no edge tier."""
    return next((gate for tier in ("edge", "sampled") for gate in gates if gate["tier"] == tier), None)


def _judge_rows(subject: Subject, deadline: Deadline, gates: list[dict[str, Any]]) -> None:
    """Adds the check of shared_numbers.py to the tier of `_tier_of_rows`."""
    gate = _tier_of_rows(gates)
    if gate is None or (finding := check_independent_rows(subject, deadline)) is None:
        return
    gate.setdefault("findings", []).append(finding)
    if finding["status"] == FAILED:
        gate["status"] = FAILED


def _check_instance(text: object) -> None:
    """Raises: ValueError if the instance is not a text that can be an argument of a program."""
    if not isinstance(text, str) or not text.isprintable() or len(text) > _LONGEST:
        raise ValueError(f"instance: got {text!r:.60}, expected a text like 'L=1 K=1 [] p=(1 1)/2 q=(0 1)/1'")


def _instances(texts: Sequence[str]) -> list[str]:
    return [argument for text in dict.fromkeys(texts) for argument in ("--instance", text)]


def replay(
    fn: Callable[..., Any] | Subject,
    instance: str,
    drafts: str = "iid",
    *,
    seed: int = 1,
    time_limit: float | None = None,
    **declared: Any,
) -> str:
    """Returns, as text, the checks of the proof tier on one instance and the distribution for each of its drafts. p, q
    and drafts of fn have the shapes of `adapter`.

    fn, drafts   as in `check`
    instance     a counterexample, in the form of a verdict's `counterexample`
    seed         seed of all random numbers
    time_limit   largest number of seconds; None: no limit
    declared     arguments of `adapter`

    Raises: FunctionFailed, UnknownRandomness; Ended after `time_limit` seconds; ProgramError, ProgramNotFound;
    ValueError for invalid arguments.
    Cost: some hundred calls for each tuple of drafts of the instance.
    Source: derived here, docs/adapters.md.
    """
    _check_instance(instance)
    words = text_of_argument("seed", str(seed))
    subject = subject_of("replay", fn, drafts, declared, steps=True)
    deadline = deadline_of(subject, time_limit)
    with deadline.watching(lambda: None):
        rehearse(subject, deadline)
    return tell(subject, ["replay", "--seed", words, "--instance", instance], deadline=deadline)


def _again(subject: Subject) -> str:
    """Returns the call of `replay` with `{}` in place of the counterexample."""
    declaration, usual = subject.declaration, Declaration("")
    inside = declaration.draft_sampling == EVERY_PREFIX
    shown = {} if inside else {"level": "level", "draft_sampling": "drafts"}
    shown |= {name: name for name in ("dtype", "greedy", "grammar", "settings", "end_tokens", "tolerance")}
    alone = inside or (subject.select is not None and "verify" not in declaration.functions)
    arguments = [f"step={name_of(subject.fn)}"] if inside else []
    if subject.select is not None:
        arguments.append(f"select={name_of(subject.select)}")
        unset = inspect.signature(adapter).parameters  # their defaults
        given = {f"select_{name}": value for name, value in (declaration.selection or {}).items()}
        arguments += [f"{name}={value!r}" for name, value in given.items() if value != unset[name].default]
    arguments += [
        f"{argument}={getattr(declaration, key)!r}"
        for key, argument in shown.items()
        if getattr(declaration, key) != getattr(usual, key)
    ]
    arguments += ["logits=True"] if declaration.rows == "logits" else []
    arguments += ["batched=True"] if subject.batched else []
    arguments += [f"arrays={subject.arrays!r}"] if subject.arrays != kind_of(subject.fn) else []
    return f"draftproof.replay({', '.join(['None' if alone else name_of(subject.fn), '{}', *arguments])})"


def _notes(subject: Subject) -> list[str]:
    notes = []
    if subject.alone:
        notes.append(f"rows of a batch were run one at a time where numbers are scripted: {subject.alone}")
    if compiled := compiled_by(subject.fn):
        notes.append(f"{compiled} is made by torch.compile: its original was run, not the compiled code")
    if subject.races:
        clock = "-log(1 - u)" if subject.complement else "-log u"
        notes.append(
            f"arrays of V uniforms were drawn as races of the exponentials {clock}, so the ends of the uniforms' grid "
            "were not tested; races=False draws each number by itself"
        )
    if fixed := subject.book.fixed():
        notes.append(f"constant seeds, whose numbers are the same in every call: {', '.join(fixed[:4])}")
    return notes
