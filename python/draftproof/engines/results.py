"""Runs the gate on the adapters of released engines. Results are stored as JSON, a file for each engine and version."""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from draftproof.engines.engine import Engine, Missing, packages_folder
from draftproof.files import written
from draftproof.gate import check
from draftproof.results import Verdict
from draftproof.serve import tell
from draftproof.subject import Subject

SCHEMA = "draftproof.engine/2"
KEPT = ("check", "status", "work", "evidence", "counterexample", "distance", "limit", "probability")


def run(
    engine: Engine,
    names: Sequence[str] = (),
    *,
    seed: int = 1,
    timings: bool = False,
    limit: float = 600,
    keep: Callable[[dict[str, Any]], None] = lambda result: None,
) -> dict[str, Any]:
    """Runs the gate on the adapters of an engine in this process and returns the result. `keep` is called with the
    result so far after each adapter; a gate is undecided after `limit` seconds. Raises: Missing."""
    engine.enter()
    result: dict[str, Any] = {
        "schema": SCHEMA,
        "engine": engine.name,
        "version": engine.version(),
        "replaces": engine.replaces,
        "adapters": [],
    }
    for adapter in engine.adapters:
        if names and adapter.name not in names:
            continue
        try:
            subject = adapter.make()
        except (Missing, ImportError) as error:
            result["adapters"].append({"name": adapter.name, "status": "skipped", "reason": str(error)})
            continue
        start = _processor_seconds()
        verdict = check(
            subject,
            tier=adapter.tiers,
            models=adapter.models,
            predictions=adapter.predictions,
            seed=seed,
            instance=adapter.instances if adapter.shrinks else (),
            keep=False,
            raises=False,
            time_limit=limit,
        )
        entry = described(verdict, subject)
        entry |= {key: told for key, told in (("note", adapter.note), ("change", adapter.change)) if told}
        if adapter.instances:
            entry["replays"] = {text: _replay(subject, text, seed, adapter.predictions) for text in adapter.instances}
        if timings:
            entry["processor_seconds"] = round(_processor_seconds() - start, 1)
        result["adapters"].append({"name": adapter.name} | entry)
        keep(result)
    return result


def _processor_seconds() -> float:
    """Returns the processor time of this process and of its children that have ended, the gate's program among them."""
    return sum(os.times()[:4])


def repeat(
    engine: Engine,
    names: Sequence[str],
    count: int,
    *,
    seed: int = 1,
    models: int = 2,
    limit: float = 600,
    keep: Callable[[dict[str, Any]], None] = lambda counted: None,
) -> dict[str, Any]:
    """Runs `count` gates on each adapter, or fewer after Ctrl-C, and returns how many passed.

    For an adapter that can be scripted, each gate is the proof tier with other models and predictions, or on one small
    chain if `models` is 0. For other adapters each gate is the tiers of trials with another seed, and the count has no
    `models`. A gate is undecided after `limit` seconds. `keep` is called with the counts so far after each gate. For
    an adapter that cannot be opened, the count has the reason as `skipped`, and no gates. Raises: Missing; what a gate
    raises, after it is counted as failed."""
    engine.enter()
    counted: dict[str, Any] = {}
    for adapter in engine.adapters:
        if names and adapter.name not in names:
            continue
        proved = "proof" in adapter.tiers
        try:
            subject = adapter.make()
        except (Missing, ImportError) as error:
            counted[adapter.name] = {"gates": 0, "skipped": str(error)}
            continue
        asked = {"models": models, "predictions": 16} if proved else {}
        tiers = ("proof",) if proved else adapter.tiers
        for done, gate in enumerate(_gates(adapter.name, subject, tiers, range(seed, seed + count), limit, asked)):
            one = counted.setdefault(adapter.name, {"gates": 0, "passed": 0, "seed": seed})
            if proved:
                one["models"] = models
            one["gates"] += 1
            passed = not isinstance(gate, Exception) and gate.status == "passed"
            one["passed"] += passed
            if not passed:
                wrong = one.setdefault("failed", {})
                checks = ["raised"] if isinstance(gate, Exception) else [finding.check for finding in gate.failures]
                for check_name in dict.fromkeys(checks):
                    wrong[check_name] = wrong.get(check_name, 0) + 1
                one.setdefault("first", {"seed": seed + done, "says": str(gate)})
            keep(counted)
            if isinstance(gate, Exception):
                raise gate
        if counted.get(adapter.name, {"gates": 0})["gates"] < count:
            break
    return counted


def small_chain(seed: int) -> str:
    """Returns a model of one draft and two or three tokens in the form of counterexamples, for engines where a
    distribution takes minutes. Weights are at most 7; p = q in one model of five. Tokens with p = 0 are not drafted.
    Failures at such tokens, by a uniform number of 0 or an empty residual, are described in docs/findings, and would
    take hundreds of distributions to shrink."""
    draw = random.Random(seed)
    size = draw.choice((2, 2, 2, 3))

    def row(possible: Sequence[int] = ()) -> list[int]:
        weights = [draw.randint(0, 6) for _ in range(size)]
        weights = [w if not possible or possible[x] else 0 for x, w in enumerate(weights)]
        weights[draw.choice([x for x in range(size) if not possible or possible[x]])] += 1
        return weights

    def told(weights: Sequence[int]) -> str:
        return f"({' '.join(map(str, weights))})/{sum(weights)}"

    first = row()
    if draw.randrange(5) == 0:
        first = proposal = [w + 1 for w in first]
    else:
        proposal = row(first)
    certain = f"(1{' 0' * (size - 1)})/1"
    behind = [f"[{x}] p={told(row())} q={certain}" for x in range(size)]
    return f"L=1 K=1 [] p={told(first)} q={told(proposal)} {' '.join(behind)}"


def _gates(
    name: str, subject: Subject, tiers: Sequence[str], seeds: Sequence[int], limit: float, asked: dict[str, int]
) -> Iterator[Verdict | Exception]:
    """Yields a gate for each seed, or as the last one the exception that ended it, and prints a line of progress after
    it. Ctrl-C ends the sequence early."""
    done = 0
    try:
        for one in seeds:
            gate = check(
                subject,
                tier=tiers,
                seed=one,
                instance=[small_chain(one)] if asked.get("models") == 0 else [],
                keep=False,
                raises=False,
                time_limit=limit,
                **asked,  # type: ignore[arg-type]  # numbers of models and predictions
            )
            done += 1
            print(f"{name}: gate {done} of {len(seeds)}, {gate.status}", file=sys.stderr, flush=True)
            yield gate
    except Exception as error:
        print(f"{name}: gate {done + 1} of {len(seeds)} raised {type(error).__name__}", file=sys.stderr, flush=True)
        yield error
    except KeyboardInterrupt:
        print(f"{name}: stopped after {done} of {len(seeds)} gates", file=sys.stderr, flush=True)


def _replay(subject: Subject, instance: str, seed: int, predictions: int) -> list[str]:
    """Returns the lines of a replay: the checks of the proof tier on one instance, and the distribution by draft."""
    options = ["--seed", str(seed), "--predictions", str(predictions), "--instance", instance]
    return tell(subject, ["replay", *options]).splitlines()


def described(verdict: Any, subject: Subject) -> dict[str, Any]:
    """Returns the stored part of a verdict: status, tiers with their findings, and the draws of the function."""
    declared = subject.declaration
    tiers = [
        {
            "tier": gate["tier"],
            "status": gate["status"],
            "note": gate.get("note", ""),
            "models": gate.get("models", 0),
            "predictions": gate.get("predictions", 0),
            "findings": [{key: one[key] for key in KEPT if key in one} for one in gate.get("findings", ())],
        }
        for gate in verdict.document["gates"]
    ]
    kinds = dict.fromkeys(f"{e.kind} {e.operator} {e.dtype}" for e, _ in verdict.draws)
    return {
        "status": verdict.status,
        "level": declared.level,
        "draft_sampling": declared.draft_sampling,
        "dtype": declared.dtype,
        "randomness": list(declared.randomness),
        "calls": verdict.calls,
        "draws": sorted(kinds),
        "tiers": tiers,
        "notes": list(verdict.notes),
    } | ({"tolerance": declared.tolerance} if declared.tolerance else {})


def write(result: Mapping[str, Any], folder: Path) -> Path:
    """Stores a result as NAME-VERSION.json, which is replaced atomically. An adapter that did not run or was skipped
    keeps its last entry; every adapter keeps its count of repeated gates. Paths of the engine's folder and of the
    checkout become relative. Nothing is written if all adapters were skipped."""
    path = folder / f"{result['engine']}-{result['version']}.json"
    old = stored(path)["adapters"] if path.is_file() else []
    adapters = {adapter["name"]: adapter for adapter in old}
    if all(adapter["status"] == "skipped" for adapter in result["adapters"]):
        return path
    for adapter in result["adapters"]:
        last = adapters.get(adapter["name"], {})
        if adapter["status"] == "skipped" and last:
            continue
        kept = {key: last[key] for key in ("repeated",) if key in last}
        adapters[adapter["name"]] = {**kept, **adapter}
    text = json.dumps({**result, "adapters": list(adapters.values())}, indent=1, ensure_ascii=False) + "\n"
    for base in (packages_folder() / str(result["engine"]), Path(__file__).resolve().parents[3]):
        text = text.replace(f"{base}/", "")
    replace(path, text)
    return path


def replace(path: Path, text: str) -> None:
    """Writes `text` to `path`, which is replaced atomically."""
    with written(path, "w") as file:
        file.write(text)


def stored(path: Path) -> dict[str, Any]:
    """Returns a stored result. Raises: Missing with the name of the file if it is not the result of an engine."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise Missing(f"{path}: got no JSON ({error}), expected the result of an engine") from error
    texts = isinstance(result, dict) and all(isinstance(result.get(name), str) for name in ("engine", "version"))
    adapters = result.get("adapters") if texts else None
    if not isinstance(adapters, list) or not all(
        isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("status"), str)
        for one in adapters
    ):
        raise Missing(f"{path}: got no list of adapters with name and status, expected the result of an engine")
    return dict(result)


def results(folder: Path) -> list[dict[str, Any]]:
    """Returns all stored results, ordered by engine and version."""
    found = [stored(path) for path in sorted(folder.glob("*.json"))]
    return sorted(found, key=lambda one: (one["engine"], version_key(one["version"])))


def version_key(version: str) -> tuple[tuple[int, str], ...]:
    """Returns a sort key that puts 0.9.1 before 0.10.0, and words after numbers."""
    parts = version.replace("-", ".").replace("+", ".").split(".")
    return tuple((int(part), "") if part.isdigit() else (sys.maxsize, part) for part in parts)


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Returns the changes between two results of an engine, a line for each check."""
    lines = []
    old, new = _checks(before), _checks(after)
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            lines.append(f"{' / '.join(key)}: {old.get(key, 'not asked')} -> {new.get(key, 'not asked')}")
    return lines


def _checks(result: Mapping[str, Any]) -> dict[tuple[str, ...], str]:
    found: dict[tuple[str, ...], str] = {}
    for adapter in result["adapters"]:
        found[(adapter["name"],)] = adapter["status"]
        for tier in adapter.get("tiers", ()):
            for one in tier["findings"]:
                where = f" on {one['counterexample']}" if one.get("counterexample") else ""
                found[(adapter["name"], tier["tier"], one["check"])] = one["status"] + where
    return found
