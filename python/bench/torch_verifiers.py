"""Times draftproof.torch beside what torch itself needs to sample: softmax and multinomial on the same rows.

    python python/bench/torch_verifiers.py [--device cuda] [--threads 1] [--batch 64] [--repeats 15]

All functions of a size run in turn, again and again, so that other load on the machine meets all of them. A cell of the
table is the least time of the repeats, the one that other load disturbed least. The second column is this time over
that of torch.multinomial with one draw of one row a decision.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

try:
    import draftproof.torch as verifiers
except ModuleNotFoundError:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import draftproof.torch as verifiers


def calls(b: int, v: int, k: int, length: int, device: torch.device) -> dict[str, Callable[[], object]]:
    """What is timed, by name. Target logits N(0, 2.5^2); draft logits with N(0, 1) added; float32 probabilities."""
    generator = torch.Generator(device=device).manual_seed(1)
    logits = 2.5 * torch.randn(b, length + 1, v, generator=generator, device=device)
    p_rows = logits.softmax(-1)
    q_rows = (logits[:, :-1] + torch.randn(b, length, v, generator=generator, device=device)).softmax(-1)
    p, q, row = p_rows[:, 0].contiguous(), q_rows[:, 0].contiguous(), logits[:, 0].contiguous()
    chain = verifiers.draft_iid(q_rows.flatten(0, 1), 1, generator=generator).reshape(b, length)
    iid = verifiers.draft_iid(q, k, generator=generator)
    distinct = verifiers.draft_gumbel_top_k(q, k, generator=generator)
    paths_p = torch.stack([p_rows] * k, dim=1)
    paths_q = torch.stack([q_rows] * k, dim=1)
    paths = verifiers.draft_iid(q_rows.flatten(0, 1), k, generator=generator).reshape(b, length, k).transpose(1, 2)
    options = {"generator": generator, "check": False}
    without = verifiers.recursive_rejection_without_replacement
    return {
        "softmax of one row": lambda: row.softmax(-1),
        "torch.multinomial, 1 of one row": lambda: torch.multinomial(p, 1, generator=generator),
        f"torch.multinomial, {k} of one row": lambda: torch.multinomial(q, k, replacement=True, generator=generator),
        f"draft_iid, {k}": lambda: verifiers.draft_iid(q, k, **options),
        f"draft_gumbel_top_k, {k}": lambda: verifiers.draft_gumbel_top_k(q, k, **options),
        f"single_draft, L = {length}": lambda: verifiers.single_draft(p_rows, q_rows, chain, **options),
        f"block_verification, L = {length}": lambda: verifiers.block_verification(p_rows, q_rows, chain, **options),
        f"recursive_rejection, K = {k}": lambda: verifiers.recursive_rejection(p, q, iid, **options),
        f"recursive_rejection_without_replacement, K = {k}": lambda: without(p, q, distinct, **options),
        f"ladder, K = {k}": lambda: verifiers.ladder(p, q, iid, **options),
        f"ladder, K = {k}, 1024 buckets": lambda: verifiers.ladder(p, q, iid, buckets=1024, **options),
        f"ladder_block, K = {k}, L = {length}, 1024 buckets": lambda: verifiers.ladder_block(
            paths_p, paths_q, paths, buckets=1024, **options
        ),
    }


def seconds(call: Callable[[], object], device: torch.device) -> float:
    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    wait()
    start = time.perf_counter()
    call()
    wait()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1, help="of torch on the CPU")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--drafts", type=int, default=4)
    parser.add_argument("--length", type=int, default=4)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    device = torch.device(arguments.device)
    sizes = (1_000, 32_000)
    print(f"B = {arguments.batch}, {arguments.device}, {arguments.threads} threads, torch {torch.__version__}\n")
    cells: dict[str, list[str]] = {}
    for v in sizes:
        timed = calls(arguments.batch, v, arguments.drafts, arguments.length, device)
        times: dict[str, list[float]] = {name: [] for name in timed}
        for repeat in range(arguments.repeats + 1):
            for name, call in timed.items():
                took = seconds(call, device)
                if repeat > 0:  # the first one warms up
                    times[name].append(took)
        floor = min(times["torch.multinomial, 1 of one row"])
        for name, spent in times.items():
            cells.setdefault(name, []).append(f"{arguments.batch / min(spent):,.0f} | {min(spent) / floor:.2g}")
    print("| | " + " | ".join(f"V = {v:,}: decisions/s | time" for v in sizes) + " |")
    print("|---" * (1 + 2 * len(sizes)) + "|")
    for name, texts in cells.items():
        print(f"| {name} | {' | '.join(texts)} |")


if __name__ == "__main__":
    main()
