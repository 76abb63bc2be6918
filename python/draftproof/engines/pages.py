"""docs/engines.md, written from the kept results of engines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from draftproof.engines import measured
from draftproof.engines.results import results, version_key
from draftproof.files import replaceable

HEAD = """# Engines through the gate

Released verifiers of inference engines, judged by the same gate as the built-in ones. Their code is imported or
compiled unchanged, from a package or a pinned commit, and is not part of this repository; `python/engines/NAME.py` is
the adapter of engine NAME. This page is written by

<!-- commands
* | needs this page, which it writes
-->

    python -m draftproof engines --write-docs

from `python/engines/results`, one file for each engine and version. One engine is installed and judged by

<!-- commands
* | needs the engine
-->

    python -m draftproof engines --install NAME

On a fresh machine `./dev engines NAME` makes the environment first. An engine that has no package is fetched from its
repository at the pinned commit, unless a folder of `DRAFTPROOF_ENGINE_SOURCES` has it, as `OWNER+NAME` or `NAME`. An
engine that cannot be had is skipped, with the reason. Engines `NAME-kernels` need a CUDA device, and nvcc where their
kernels are CUDA sources.
`examples/engine_pull_request` has a gate of one file for the tests of an engine. `python/engines/recorders` records
runs of transformers and vLLM for `draftproof audit` ([captures.md](captures.md)).

The bugs are in [findings](findings/README.md). The page of a bug, `docs/findings/engine-NAME.md`, begins with
`Version: ENGINE VERSION` or `Version: ENGINE, commit HASH`, names its mutants after `*Mutant.*`, and ends with a
section `## Upstream`, whose first sentence is `No report was found.`, `Reported: OWNER/NAME#NUMBER, open.` (or
`closed`), `Fixed: OWNER/NAME#NUMBER, in VERSION.` or `By design.`, before the queries that were searched.

The proof tier uses small models: 2 to 4 tokens in the vocabulary, up to four drafted tokens, drafts from the declared
sampling. *Distance* is the largest total variation between the exact output distribution, found by calls, and the
target; the number in brackets is the largest distance that rounding explains. A passed check found no difference on
these models; [adapters.md](adapters.md) states what such a check can miss. The numbers of models and calls are those of
the stored run and are smaller for slow engines. Seconds are processor time; `~` marks older results with the seconds of
a clock on a shared machine. A *kept instance* is a counterexample stored in the engine's adapter file; on slow engines
it is replayed and not shrunk.
"""


def write_page(base: Path) -> Path:
    """Writes docs/engines.md under `base` from python/engines/results. Returns its path."""
    newest = {one["engine"]: one for one in _stored(base)}
    sections = (
        _summary(newest),
        _repeated(newest),
        measured.acceptance(base),
        measured.texts(base),
        measured.half_precision(base),
        violations([one for _, one in sorted(newest.items())]),
        _versions(base),
    )
    text = "\n".join([HEAD, *(line for section in sections if section for line in [*section, ""])])
    path = replaceable(base / "docs" / "engines.md")
    path.write_text(text.rstrip() + "\n")
    return path


def package_names(base: Path) -> set[str]:
    """Returns the names of the packages of docs/census.md, which have an adapter in python/engines/packages."""
    folder = base / "python" / "engines" / "packages"
    return {path.stem.replace("_", "-") for path in folder.glob("[!_]*.py")}


def _stored(base: Path) -> list[dict[str, Any]]:
    packages = package_names(base)
    return [one for one in results(base / "python" / "engines" / "results") if one["engine"] not in packages]


def _summary(newest: dict[str, dict[str, Any]]) -> list[str]:
    lines = [
        "## What was run",
        "",
        "| engine | version | adapter | level, draft sampling | randomness | models | calls | seconds | distance "
        "| verdict |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, one in sorted(newest.items()):
        for adapter in one["adapters"]:
            if adapter["status"] == "skipped" and "reason" in adapter:
                lines.append(
                    f"| {name} | {one['version']} | `{adapter['name']}` | | | | | | | "
                    f"skipped: {cell(adapter['reason'])} |"
                )
                continue
            models = next((tier["models"] for tier in adapter["tiers"] if tier.get("models")), "")
            lines.append(
                f"| {name} | {one['version']} | `{adapter['name']}` | "
                f"{adapter['level']}, `{adapter['draft_sampling']}` | "
                f"{_randomness(adapter)} | {models} | {adapter['calls'] or ''} | {seconds_of(adapter)} | "
                f"{distance_of(adapter)} | {_verdict(adapter)} |"
            )
    lines += ["", "Replaced parts of engines, and notes on adapters:", ""]
    for name, one in sorted(newest.items()):
        lines.append(f"- *{name}* replaces {one['replaces']}.")
        lines += [f"  `{adapter['name']}`: {adapter['note']}" for adapter in one["adapters"] if adapter.get("note")]
    return lines


def _randomness(adapter: dict[str, Any]) -> str:
    asked = {tier["tier"] for tier in adapter["tiers"] if tier["status"] != "skipped"}
    if "proof" in asked:
        return "scripted"
    return "seeded" if "seeded" in adapter["randomness"] else "opaque"


def seconds_of(adapter: dict[str, Any]) -> str:
    """Returns the processor time of a stored run, or `~` and the seconds of a clock in older results."""
    if "processor_seconds" in adapter:
        return str(adapter["processor_seconds"])
    return f"~{adapter['seconds']}" if "seconds" in adapter else ""


def distance_of(adapter: dict[str, Any]) -> str:
    for tier in adapter["tiers"]:
        for one in tier["findings"]:
            if one.get("distance") is not None:
                return f"{one['distance']:.2g}" + (f" ({one['limit']:.2g})" if one.get("limit") is not None else "")
    return ""


def _verdict(adapter: dict[str, Any]) -> str:
    wrong = [one["check"] for tier in adapter["tiers"] for one in tier["findings"] if one["status"] == "failed"]
    told = str(adapter["status"]) + (f": {names_of(wrong)}" if wrong else "")
    behind = [check for check, _, _ in replayed(adapter) if check not in wrong]
    return told + (f"; failed on a kept instance: {names_of(behind)}" if behind else "")


def names_of(checks: list[str]) -> str:
    return ", ".join(f"`{check}`" for check in dict.fromkeys(checks))


def replayed(adapter: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Returns the checks that fail on the instances of the adapter's file, with evidence and instance. The gate may
    have skipped these instances, because shrinking is slow on some engines."""
    return [
        (words[0], " ".join(words[2:]), instance)
        for instance, lines in adapter.get("replays", {}).items()
        for words in map(str.split, lines)
        if words[1:2] == ["failed"]
    ]


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _unnamed(again: dict[str, Any]) -> str:
    """Returns the note for counts of failed gates that were stored without the names of the failed checks."""
    return "" if again["passed"] == again["gates"] else "not kept"


def _models_of(again: dict[str, Any]) -> str:
    return str(again["models"] or "1 small") if "models" in again else "trials"


def repeated_rows(newest: dict[str, dict[str, Any]], named: str = "engine") -> list[str]:
    """Returns the table of repeated gates of these results, without lines if there are none. `named` is the head of the
    first column."""
    rows = [
        f"| {name} {one['version']} | `{adapter['name']}` | {again['gates']} | "
        f"{_models_of(again)} | {again['passed']} | "
        f"{', '.join(f'`{check}` {n}' for check, n in again.get('failed', {}).items()) or _unnamed(again)} |"
        for name, one in sorted(newest.items())
        for adapter in one["adapters"]
        if (again := adapter.get("repeated"))
    ]
    head = [f"| {named} | adapter | gates | models of each | passed | failed |", "|---|---|---|---|---|---|"]
    return [*head, *rows] if rows else []


def _repeated(newest: dict[str, dict[str, Any]]) -> list[str]:
    rows = repeated_rows(newest)
    if not rows:
        return []
    told = [
        "The proof tier with other models and predictions in each gate, `python -m draftproof engines NAME --repeat",
        "100`. *1 small* is `--models 0`: one model of one draft and two or three tokens, for adapters whose calls",
        "take milliseconds (3 ms and more under Triton's interpreter). *Trials* are for adapters that are not proved:",
        "texts or drafts with other seeds in each gate.",
    ]
    return ["## Repeated gates", "", *told, "", *rows]


def violations(stored: Sequence[dict[str, Any]]) -> list[str]:
    """Returns the section of failed checks of results."""
    lines = ["## Every failed check, with its instance", ""]
    for one in stored:
        name = one["engine"]
        for adapter in one["adapters"]:
            for tier in adapter.get("tiers", ()):
                for finding in tier["findings"]:
                    if finding["status"] == "failed":
                        lines += [
                            f"*{name} {one['version']}, `{adapter['name']}`, {finding['check']}*: "
                            f"{finding.get('evidence', '')}",
                            "",
                        ]
                        if finding.get("counterexample"):
                            lines += [f"    {finding['counterexample']}", ""]
            for check, evidence, instance in replayed(adapter):
                said = f"*{name} {one['version']}, `{adapter['name']}`, {check}*, on a kept instance: {evidence}"
                lines += [said, "", f"    {instance}", ""]
    return lines


def _versions(base: Path) -> list[str]:
    kept: dict[str, list[str]] = {}
    for one in _stored(base):
        kept.setdefault(one["engine"], []).append(one["version"])
    several = {name: sorted(versions, key=version_key) for name, versions in kept.items() if len(versions) > 1}
    if not several:
        return []
    return ["## Versions with results", ""] + [f"- {name}: {', '.join(versions)}" for name, versions in several.items()]
