"""Times draftproof.torch with torch's sampling and with the C++ form of each function, in one run.

    python python/bench/torch_verifiers.py [--device cuda] [--threads 1] [--batch 64] [--repeats 15]

A round calls every function once and then starts `draftproof bench` once for all C++ forms, so other load on the
machine affects both. A cell is the best of the rounds. On one CPU thread both sides count processor time of that
thread; with more threads, or on a device, torch is timed by the wall clock.

torch   B rows of float32 probabilities, as `calls` makes them; a decision is one row of the batch. On a device that has
        the library of kernels, functions of one position are timed twice, as written in torch and by their kernel, and
        so is the operator without the function, which checks nothing and does not wait for the device
C++     the benchmarks that `CPP` names: one decision at a time on rows of float32 with the same distribution, with its
        plan and without a cache of plans. `cold` ones read rows from memory, `step_cost` ones from the cache

A program without benchmarks, as in a wheel, leaves the C++ column empty.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import torch

try:
    import draftproof.torch as verifiers
except ModuleNotFoundError:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import draftproof.torch as verifiers
from draftproof import program
from draftproof.torch import kernels

SIZES = (32_000, 128_256)
CPP = {  # benchmark names; {v} is the vocabulary, K = 4 and L = 4
    "single_draft": "step_cost/token_path/iid_paths/{v}/1/4",
    "block_verification": "step_cost/block/iid_paths/{v}/1/4",
    "recursive_rejection": "cold/recursive_rejection/iid/{v}/4",
    "recursive_rejection_without_replacement": "cold/recursive_rejection_wor/without_replacement/{v}/4",
    "ladder": "cold/ladder/iid/{v}/4",
    "ladder_without_replacement": "cold/ladder_wor/without_replacement/{v}/4",
    "ladder_block": "step_cost/ladder_block/iid_paths/{v}/4/4",
}
K = L = 4


def calls(b: int, v: int, device: torch.device) -> dict[str, Callable[[], object]]:
    """Returns the timed functions by name. The target's logits are N(0, 2.5^2), the draft's logits are the target's
    plus N(0, 1); rows are float32 probabilities."""
    generator = torch.Generator(device=device).manual_seed(1)
    logits = 2.5 * torch.randn(b, L + 1, v, generator=generator, device=device)
    p_rows = logits.softmax(-1)
    q_rows = (logits[:, :-1] + torch.randn(b, L, v, generator=generator, device=device)).softmax(-1)
    p, q, row = p_rows[:, 0].contiguous(), q_rows[:, 0].contiguous(), logits[:, 0].contiguous()
    chain = verifiers.draft_iid(q_rows.flatten(0, 1), 1, generator=generator).reshape(b, L)
    iid = verifiers.draft_iid(q, K, generator=generator)
    distinct = verifiers.draft_gumbel_top_k(q, K, generator=generator)
    paths_p = torch.stack([p_rows] * K, dim=1)
    paths_q = torch.stack([q_rows] * K, dim=1)
    paths = verifiers.draft_iid(q_rows.flatten(0, 1), K, generator=generator).reshape(b, L, K).transpose(1, 2)
    options = {"generator": generator, "check": False}
    without = verifiers.recursive_rejection_without_replacement
    ladder_without = verifiers.ladder_without_replacement
    by_kernel: dict[str, Callable[[], object]] = {}
    if device.type == "cuda" and kernels.ready():
        own, counts = kernels.require(), torch.full((b,), K, dtype=torch.int32, device=device)
        half = row.bfloat16(), (row + torch.randn(b, v, generator=generator, device=device)).bfloat16()
        for function, name, drafts in (
            (verifiers.recursive_rejection, "recursive_rejection", iid),
            (without, "recursive_rejection_wor", distinct),
            (verifiers.ladder, "ladder", iid),
            (ladder_without, "ladder_wor", distinct),
        ):

            def alone(name: str, rows: tuple[torch.Tensor, ...], drafts: torch.Tensor, logits: bool) -> object:
                return own.draw_rows(name, *rows, drafts, counts, logits, 1.0, False)

            short = drafts.int()
            by_kernel[f"{function.__name__}, K = {K}, kernel"] = partial(function, p, q, drafts, **options)
            by_kernel[f"{name}, K = {K}, operator alone"] = partial(alone, name, (p, q), short, False)
            by_kernel[f"{name}, K = {K}, operator alone, bfloat16 logits"] = partial(alone, name, half, short, True)
    return by_kernel | {
        "softmax of one row": lambda: row.softmax(-1),
        "torch.multinomial, 1 of one row": lambda: torch.multinomial(p, 1, generator=generator),
        f"torch.multinomial, {K} of one row": lambda: torch.multinomial(q, K, replacement=True, generator=generator),
        f"draft_iid, {K}": lambda: verifiers.draft_iid(q, K, **options),
        f"draft_gumbel_top_k, {K}": lambda: verifiers.draft_gumbel_top_k(q, K, **options),
        f"single_draft, L = {L}": lambda: verifiers.single_draft(p_rows, q_rows, chain, **options),
        f"block_verification, L = {L}": lambda: verifiers.block_verification(p_rows, q_rows, chain, **options),
        f"recursive_rejection, K = {K}": lambda: verifiers.recursive_rejection(p, q, iid, **options),
        f"recursive_rejection_without_replacement, K = {K}": lambda: without(p, q, distinct, **options),
        f"ladder, K = {K}": lambda: verifiers.ladder(p, q, iid, **options),
        f"ladder, K = {K}, 1024 buckets": lambda: verifiers.ladder(p, q, iid, buckets=1024, **options),
        f"ladder_without_replacement, K = {K}, 1024 buckets": lambda: ladder_without(
            p, q, distinct, buckets=1024, **options
        ),
        f"ladder_block, K = {K}, L = {L}, 1024 buckets": lambda: verifiers.ladder_block(
            paths_p, paths_q, paths, buckets=1024, **options
        ),
    }


def seconds(call: Callable[[], object], device: torch.device) -> float:
    clock = time.thread_time if device.type == "cpu" and torch.get_num_threads() == 1 else time.perf_counter

    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    wait()
    start = clock()
    call()
    wait()
    return clock() - start


def cpp_name(name: str, v: int) -> str | None:
    """Returns the benchmark of the C++ form of a function that `calls` names, or None if it has no C++ form."""
    form = CPP.get(name.partition(",")[0])
    return form.format(v=v) if form else None


def cpp_seconds(names: list[str]) -> dict[str, float]:
    """Returns the processor seconds of a decision by the benchmark's name. Raises: ProgramError, ProgramNotFound."""
    filters = [f"^{name}$" for name in names]
    document = program.run(["bench", *filters, "--repetitions", "1", "--min-time", "0.05"])
    return {one["run_name"]: 1 / one["items_per_second"] for one in document["benchmarks"]}


def cell(best: float | None, floor: float) -> str:
    return f"{1 / best:,.0f} | {best / floor:.2g}" if best else "|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1, help="of torch on the CPU")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    device, b = torch.device(arguments.device), arguments.batch
    print(f"B = {b}, {arguments.device}, {arguments.threads} threads, torch {torch.__version__}\n")
    lines: dict[str, list[str]] = {}
    with_cpp = True
    for v in SIZES:
        timed = calls(b, v, device)
        names = sorted({name for each in timed if (name := cpp_name(each, v))})
        best: dict[str, float] = {}

        def enter(name: str, spent: float, best: dict[str, float] = best) -> None:
            best[name] = min(spent, best.get(name, spent))

        for repeat in range(arguments.repeats + 1):
            for name, call in timed.items():
                with nullcontext() if name.endswith("kernel") else kernels.torch_form():
                    spent = seconds(call, device)
                if repeat > 0:  # the first round warms up
                    enter(name, spent / b)
            if repeat > 0 and with_cpp:
                try:
                    for name, spent in cpp_seconds(names).items():
                        enter(name, spent)
                except (program.ProgramError, program.ProgramNotFound) as error:
                    print(f"no times of C++ forms: {error}", file=sys.stderr)
                    with_cpp = False
        floor = best["torch.multinomial, 1 of one row"]
        for name in timed:
            shown = f"{cell(best[name], floor)} | {cell(best.get(cpp_name(name, v) or ''), floor)}"
            lines.setdefault(name, []).append(shown)
    head = " | ".join(f"V = {v:,}: torch, decisions/s | time | C++, decisions/s | time" for v in SIZES)
    print(f"| | {head} |\n{'|---' * (1 + 4 * len(SIZES))}|")
    for name, texts in lines.items():
        print(f"| {name} | {' | '.join(texts)} |")


if __name__ == "__main__":
    main()
