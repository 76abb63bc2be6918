"""docs/census.md, written from the stored results of packages and from python/engines/packages/not_judged.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from draftproof.engines.pages import (
    cell,
    distance_of,
    names_of,
    package_names,
    repeated_rows,
    replayed,
    seconds_of,
    violations,
)
from draftproof.engines.results import results
from draftproof.files import replaceable

HEAD = """# Packages that implement speculative decoding

Packages of the Python package index that decide on drafts, judged like the engines of [engines.md](engines.md). Their
code is installed and called unchanged, and is not part of this repository; `python/engines/packages/NAME.py` is the
adapter of package NAME, in at most 40 lines. This page is written by

<!-- commands
* | needs this page, which it writes
-->

    python -m draftproof engines --write-docs

from `python/engines/results`. One package is installed and judged by

<!-- commands
* | needs the package
-->

    python -m draftproof engines --install NAME

A verdict is about one version and the functions that are named, not about a package as a whole. p is the target, q
the proposal. *Distance* is the largest total variation between the output distribution and the target that was found,
in brackets what rounding explains; seconds are as in engines.md. Instances are as in [adapters.md](adapters.md): `[]`
has the rows before the first draft, `[0]` those after draft 0.
"""
KINDS = {
    "wrong": "On the instance the output does not have the target's distribution. Each was found a second time without "
    "the gate, by `python/engines/second_route/census.py`.",
    "edge faults": "The output has the target's distribution, except at the ends of a random number's grid or on rows "
    "next to p = q. There a token with p = 0 is emitted, or a call fails, with the probability that the last section "
    "states.",
    "lossy on purpose": "The package says that the output departs from the target; any distance is admitted.",
    "right": "No difference was found on these models; [adapters.md](adapters.md) states what such a check can miss.",
}
EDGES = {"zero_support", "answers"}
LEFT = ("skipped", "undecided")


def write_page(base: Path) -> Path:
    """Writes docs/census.md under `base`. Returns its path."""
    known = package_names(base)
    stored = [one for one in results(base / "python" / "engines" / "results") if one["engine"] in known]
    rows: dict[str, list[str]] = {kind: [] for kind in KINDS}
    skipped = []
    for one in stored:
        for adapter in one["adapters"]:
            if adapter["status"] in LEFT:
                reason = f"`{adapter['name']}`: {adapter.get('reason', 'undecided, the time limit was over')}"
                skipped.append(f"| {one['engine']} | {one['version']} | {cell(reason)} |")
                continue
            kind = kind_of(adapter)
            rows[kind].append(_row(kind, one, adapter))
    out = [HEAD, _count(stored), ""]
    for kind, told in KINDS.items():
        out += [f"## {kind.capitalize()}", "", *_wrapped(told), "", *_heads(kind), *(rows[kind] or ["| none |"]), ""]
    path = base / "python" / "engines" / "packages" / "not_judged.json"
    left = json.loads(path.read_text()) if path.is_file() else []
    skipped += [f"| {one['package']} | {one['version']} | {cell(one['reason'])} |" for one in left]
    out += ["## Not judged", "", "| package | version | reason |", "|---|---|---|", *skipped, "", *_notes(stored), ""]
    out += _repeated(stored)
    out += violations(stored)
    page = replaceable(base / "docs" / "census.md")
    page.write_text("\n".join(out).rstrip() + "\n")
    return page


def kind_of(adapter: dict[str, Any]) -> str:
    """Returns the key of KINDS for the stored result of an adapter."""
    failed = failures(adapter)
    if failed - EDGES:
        return "wrong"
    if failed:
        return "edge faults"
    return "lossy on purpose" if adapter.get("tolerance") else "right"


def failures(adapter: dict[str, Any]) -> set[str]:
    """Returns the checks that an adapter fails, also on instances that are only replayed."""
    found = {one["check"] for tier in adapter["tiers"] for one in tier["findings"] if one["status"] == "failed"}
    return found | {check for check, _, _ in replayed(adapter)}


def instance_of(adapter: dict[str, Any]) -> str:
    """Returns the smallest instance of a failed check of the worst kind, "" if no failed check has an instance."""
    kept = [
        (one["check"] in EDGES, len(one["counterexample"]), one["counterexample"])
        for tier in adapter["tiers"]
        for one in tier["findings"]
        if one["status"] == "failed" and one.get("counterexample")
    ]
    kept += [(check in EDGES, len(instance), instance) for check, _, instance in replayed(adapter)]
    return min(kept)[2] if kept else ""


def _row(kind: str, one: dict[str, Any], adapter: dict[str, Any]) -> str:
    start = f"| {one['engine']} | {one['version']} | `{adapter['name']}` |"
    if kind in ("wrong", "edge faults"):
        said = f" {names_of(sorted(failures(adapter)))} | {distance_of(adapter)} | `{instance_of(adapter)}` |"
        return start + said + f" {cell(adapter.get('change', ''))} |"
    models = next((tier["models"] for tier in adapter["tiers"] if tier.get("models")), "")
    tiers = ", ".join(tier["tier"] for tier in adapter["tiers"] if tier["status"] != "skipped")
    said = f" {adapter['level']}, `{adapter['draft_sampling']}` | {tiers} | {models} | {adapter['calls'] or ''} |"
    return start + said + f" {seconds_of(adapter)} | {distance_of(adapter)} |"


def _heads(kind: str) -> list[str]:
    if kind in ("wrong", "edge faults"):
        heads = ["package", "version", "function", "failed", "distance", "smallest instance", "what to change"]
    else:
        heads = ["package", "version", "function", "level, draft sampling", "tiers", "models", "calls", "seconds"]
        heads += ["distance"]
    return ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]


def _count(stored: list[dict[str, Any]]) -> str:
    judged = [
        (one, adapter) for one in stored for adapter in one["adapters"] if adapter["status"] in ("passed", "failed")
    ]
    kinds = [kind_of(adapter) for _, adapter in judged]
    said = ", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS)
    packages = len({one["engine"] for one, _ in judged})
    return f"{packages} packages, {len(kinds)} functions and loops: {said}."


def _repeated(stored: list[dict[str, Any]]) -> list[str]:
    rows = repeated_rows({one["engine"]: one for one in stored}, "package")
    told = "The proof tier with other models and predictions in each gate, `--repeat 50`; *1 small* is `--models 0`."
    return ["## Repeated gates", "", told, "", *rows, ""] if rows else []


def _notes(stored: list[dict[str, Any]]) -> list[str]:
    lines = ["## Replaced parts, and notes", ""]
    for one in stored:
        lines.append(f"- *{one['engine']}* replaces {one['replaces']}.")
        lines += [f"  `{adapter['name']}`: {adapter['note']}" for adapter in one["adapters"] if adapter.get("note")]
    return lines


def _wrapped(text: str) -> list[str]:
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + len(word) > 118:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]
