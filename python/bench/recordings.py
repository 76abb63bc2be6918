"""Prints the table of docs/traces.md: `draftproof audit` on recordings of correct and faulty simulated engines.

    python python/bench/recordings.py [--records 20000] [--vocabulary 32000] [--bug NAME]..

Engines verify chains of one draft. The target's rows are (rank + 2.7)^-1.1, rotated at random, with Gaussian noise of
standard deviation 0.5 on the logarithm; the proposal adds noise of standard deviation 0.8. Rows are stored in float16.
DRAFTPROOF_PROGRAM names the program.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import numpy as np

from draftproof import program
from draftproof.capture import Recorder

SHARE = 0.01
RARE = 2.0**-20


def moved(p: Any, gains: Any) -> Any:
    """Returns p with SHARE of the mass moved to the tokens that the mask `gains` selects."""
    mass = float(p[gains].sum())
    if not 0 < mass < 1:
        return p
    return np.where(gains, p * (1 + SHARE / mass), p * (1 - SHARE / (1 - mass)))


# For each bug, the row that the verifier uses as the target, and the row from which it draws after a rejection.
BUGS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "right": (lambda p: p, lambda p, q: np.maximum(p - q, 0)),
    "residual is p": (lambda p: p, lambda p, q: p),
    "1 % to rare tokens": (lambda p: moved(p, p < RARE), lambda p, q: np.maximum(p - q, 0)),
    "1 % to the most likely token": (lambda p: moved(p, p == p.max()), lambda p, q: np.maximum(p - q, 0)),
}


def softmax(logits: Any) -> Any:
    weights = np.exp(logits - logits.max(), dtype=np.float64)
    return weights / weights.sum()


def draw(random: Any, weights: Any) -> int:
    sums = np.cumsum(weights)
    return min(int(np.searchsorted(sums, random.random() * sums[-1], side="right")), len(sums) - 1)


def record(path: Path, bug: str, vocabulary: int, records: int, seed: int) -> dict[str, float]:
    """Writes a recording. Returns the mean probability of the most likely token, and a sum over all rows of
    Kullback-Leibler divergences in nats. The divergence of a row compares the event that its draw is the most likely
    token before and after SHARE of the mass moves to this token."""
    target, residual = BUGS[bug]
    random, falling = np.random.default_rng(seed), -1.1 * np.log(np.arange(vocabulary) + 2.7, dtype=np.float32)
    top = entropy = 0.0

    def row() -> Any:
        noise = random.standard_normal(vocabulary, dtype=np.float32)
        return np.roll(falling, int(random.integers(vocabulary))) + np.float32(0.5) * noise

    with Recorder(
        path, vocabulary=vocabulary, dtype="float16", values="logit", draft_sampling="iid", engine=bug
    ) as out:
        while out.records < records:
            logits = [row()]
            near = logits[0] + np.float32(0.8) * random.standard_normal(vocabulary, dtype=np.float32)
            p, q = softmax(logits[0]), softmax(near)
            used, draft = target(p), draw(random, q)
            emitted, rows = [draft], [p]
            if random.random() * q[draft] >= used[draft]:
                emitted = [draw(random, residual(used, q))]
            else:
                logits.append(row())
                rows.append(softmax(logits[1]))
                emitted.append(draw(random, target(rows[1])))
            out.block(np.stack(logits), near[None], [draft], emitted)
            for one in rows:
                m = float(one.max())
                top += m
                entropy += (m + SHARE) * np.log1p(SHARE / m) + (1 - m - SHARE) * np.log1p(-SHARE / (1 - m))
        return {"top": top / out.records, "nats": entropy}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=20000)
    parser.add_argument("--vocabulary", type=int, default=32000)
    parser.add_argument("--bug", action="append", choices=list(BUGS), help="all if none is named")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| engine | e | with `--rule rejection` | alarm after | p(most likely), N KL of it |\n|---|---|---|---|---|")
    for bug in options.bug or BUGS:
        with tempfile.TemporaryDirectory(prefix="draftproof-") as folder:
            path = Path(folder) / "run.safetensors"
            about = record(path, bug, options.vocabulary, options.records, options.seed)
            judged = [program.run(["audit", str(path), *rule]) for rule in ([], ["--rule", "rejection"])]
        e = [f"10^{one['log10_e']:.1f}" for one in judged]
        alarms = [str(one["alarm_after_records"]) if one.get("alarm_after_records") else "none" for one in judged]
        mass = f"{about['top']:.3f}, {about['nats']:.1f} nats"
        print(f"| {bug} | {e[0]} | {e[1]} | {'; '.join(alarms)} | {mass} |", flush=True)


if __name__ == "__main__":
    main()
