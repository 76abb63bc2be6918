"""Kernels of released engines at the gate, on a device: one door after another, and what was found as JSON.

    python python/engines/kernels/on_device.py --sources DIR --output results.json
    python python/engines/kernels/on_device.py --sources DIR --list
    python python/engines/kernels/on_device.py --sources DIR --output results.json --only sglang_tree,vllm

DIR has the folders that cuda_kernels.py and triton_kernels.py name, each with what was released. Libraries that
are not there yet are compiled into it. Each door has a limit of time, and the file is written after each.
Exit codes: 0 every door has a verdict, 3 one has none or was not reached, 77 there is no device.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:] = [str(HERE.parents[1]), *(one for one in sys.path if Path(one).resolve() != HERE)]

from draftproof.engines import OF_TWO, WITH_ZERO, module_of  # noqa: E402
from draftproof.files import written  # noqa: E402
from draftproof.gate import check  # noqa: E402

EQUAL = "L=1 K=1 [] p=(0 1 2)/3 q=(0 1 2)/3"  # a rejected draft leaves no residual
IMPOSSIBLE = "L=1 K=1 [] p=(1 0)/1 q=(0 1)/1"  # a draft without target probability
SHORT_SUM = "L=1 K=1 [] p=(5 6 1 1 5 6 2 3 0)/29 q=(0 0 0 0 0 0 0 0 1)/1"  # sums by unlike orders, then no probability
LONGER = (
    "L=2 K=1 [] p=(2 5 1 0)/8 q=(3 1 4 0)/8 [0] p=(1 2 1 4)/8 q=(1 3 1 3)/8 [1] p=(0 4 3 1)/8 q=(1 1 1 1)/4 "
    "[2] p=(1 0 0 0)/1 q=(1 1 0 0)/2"
)
CHAINS = (EQUAL, IMPOSSIBLE, SHORT_SUM, OF_TWO, WITH_ZERO)


@dataclass(frozen=True)
class Door:
    """One kernel at the gate.

    engine     a folder of the sources, whose file VERSION has its version
    make       the subject from the sources and the place. Raises: Missing, ImportError
    models     of the proof tier, with `predictions` for each input
    wanted     the verdict that its source lets expect, and why
    """

    name: str
    engine: str
    kernel: str
    make: Callable[[Path, Any], Any]
    tiers: tuple[str, ...] = ("proof", "edge")
    models: int = 6
    predictions: int = 32
    instances: tuple[str, ...] = ()
    wanted: str = "held"


def cuda_doors() -> list[Door]:
    kernels = module_of(HERE / "cuda_kernels.py", "draftproof_cuda_kernels")

    def opened(name: str, library: str, make: Callable[..., Any], **more: Any) -> Callable[[Path, Any], Any]:
        def one(sources: Path, place: Any) -> Any:
            return make(kernels.Library(kernels.build(library, sources)), place, name=name, **more)

        return one

    tree, chain, greedy = kernels.sglang_tree, kernels.sglang_chain, kernels.sglang_greedy
    target_only, coins = "TreeSpeculativeSamplingTargetOnly", kernels.flashinfer_chain_coins
    own = kernels.flashinfer_chain
    empty = "violated: where a rejected draft leaves no residual, the token is memory without a value"

    def sglang(name: str, make: Callable[..., Any], law: str = "", **more: Any) -> Door:
        laws = {"law": law} if law else {}
        return Door(name, "sglang", target_only, opened(name, "sglang_tree", make, **laws), **more)

    return [
        sglang("sglang_tree_top_k", tree, "top_k_tree"),
        sglang("sglang_tree_without_replacement", tree, "without_replacement_tree"),
        sglang("sglang_tree_chain", chain, instances=(*CHAINS, LONGER)),
        sglang("sglang_tree_sampled", tree, "without_replacement_tree", tiers=("sampled",)),
        Door(
            "sglang_tree_greedy",
            "sglang",
            "VerifyTreeGreedy, targets drawn from p",
            opened("sglang_tree_greedy", "sglang_tree", greedy, law="without_replacement_tree"),
        ),
        Door(
            "flashinfer_chain_rest",
            "flashinfer",
            "ChainSpeculativeSampling, coins given, tokens of empty residuals replaced",
            opened("flashinfer_chain_rest", "flashinfer_chain_coins", coins, replaced=True),
            instances=(*CHAINS, LONGER),
        ),
        Door(
            "flashinfer_own_generator_rest",
            "flashinfer",
            "ChainSpeculativeSampling, tokens of empty residuals replaced",
            opened("flashinfer_own_generator_rest", "flashinfer_chain", own, replaced=True),
            tiers=("sampled",),
        ),
        Door(
            "flashinfer_chain",
            "flashinfer",
            "ChainSpeculativeSampling, coins given",
            opened("flashinfer_chain", "flashinfer_chain_coins", coins),
            instances=(EQUAL,),
            wanted=empty,
        ),
        Door(
            "flashinfer_own_generator",
            "flashinfer",
            "ChainSpeculativeSampling as released",
            opened("flashinfer_own_generator", "flashinfer_chain", own),
            tiers=("sampled",),
            wanted=empty,
        ),
    ]


def triton_doors() -> list[Door]:
    kernels = module_of(HERE / "triton_kernels.py", "draftproof_triton_kernels")
    zero = "violated where p = q up to rounding: the residual is empty, and the race gives token 0"
    short = "violated: an impossible draft, or the last token behind a sum that is short"
    return [
        Door(
            "sglang_triton_chain_token",
            "sglang",
            "speculative_sampling_classic_kernel",
            lambda sources, place: kernels.sglang_chain(sources, place, False),
            instances=CHAINS,
            models=2,
            wanted=short,
        ),
        Door(
            "sglang_triton_chain_block",
            "sglang",
            "speculative_sampling_classic_kernel, block verification",
            lambda sources, place: kernels.sglang_chain(sources, place, True),
            models=2,
        ),
        Door(
            "vllm_rejection_sample",
            "vllm",
            "rejection_random_sample_kernel, sample_recovered_tokens_kernel",
            kernels.vllm_first_runner,
            instances=(EQUAL, OF_TWO, WITH_ZERO),
            models=1,
            predictions=16,
            wanted=zero,
        ),
        Door(
            "vllm_rejection_sample_sampled",
            "vllm",
            "rejection_random_sample_kernel, sample_recovered_tokens_kernel",
            kernels.vllm_first_runner,
            tiers=("sampled",),
            wanted=zero,
        ),
        Door(
            "vllm_second_runner_token",
            "vllm",
            "_rejection_kernel, _resample_kernel",
            lambda sources, place: kernels.vllm_second_runner(sources, place, False),
            tiers=("sampled",),
            wanted=zero,
        ),
        Door(
            "vllm_second_runner_block",
            "vllm",
            "_rejection_kernel, _resample_kernel, block verification",
            lambda sources, place: kernels.vllm_second_runner(sources, place, True),
            tiers=("sampled",),
            wanted=zero,
        ),
    ]


def version_of(folder: Path) -> str:
    path = folder / "VERSION"
    return path.read_text().strip() if path.is_file() else "unknown"


def judged(one: Door, sources: Path, place: Any, limit: float, profile: str) -> dict[str, Any]:
    """What the gate says of a door; whatever it raises is its message."""
    start = time.perf_counter()
    entry: dict[str, Any] = {
        "name": one.name,
        "engine": one.engine,
        "version": version_of(sources / one.engine),
        "kernel": one.kernel,
        "tiers": list(one.tiers),
        "wanted": one.wanted,
    }
    try:
        subject = one.make(sources, place)
        entry["opened"] = round(time.perf_counter() - start, 2)
        proof: dict[str, Any] = {"models": one.models, "predictions": one.predictions} if "proof" in one.tiers else {}
        verdict = check(
            subject,
            tier=one.tiers,
            profile=profile,
            instance=one.instances,
            keep=False,
            raises=False,
            time_limit=limit,
            progress=False,
            **proof,
        )
        entry |= {
            "verdict": verdict.status,
            "calls": verdict.calls,
            "message": str(verdict),
            "notes": list(verdict.notes),
        }
        entry["findings"] = [
            {"check": found.check, "evidence": found.evidence, "instance": found.counterexample or ""}
            for found in verdict.violations
        ]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a program that ends by itself is a message too
        entry |= {"verdict": "failed", "message": f"{type(error).__name__}: {error}"}
    entry["seconds"] = round(time.perf_counter() - start, 2)
    return entry


def has_device() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def described(device: str) -> dict[str, Any]:
    import torch

    told: dict[str, Any] = {"torch": torch.__version__, "cuda": torch.version.cuda, "python": sys.version.split()[0]}
    try:
        told["triton"] = __import__("triton").__version__
    except ImportError:
        told["triton"] = ""
    told["device"] = torch.cuda.get_device_name() if device.startswith("cuda") else device
    return told


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    words, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        "on_device.py", description=words, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sources", type=Path, required=True, help="the folder of the engines' sources")
    parser.add_argument("--output", type=Path, help="the file of the results")
    parser.add_argument("--limit", type=float, default=30, metavar="SECONDS", help="of each door, %(default)s")
    parser.add_argument("--total", type=float, default=240, metavar="SECONDS", help="of all doors, %(default)s")
    parser.add_argument("--only", default="", metavar="NAMES", help="doors whose name has one of these beginnings")
    parser.add_argument("--tier", default="", metavar="NAMES", help="of its tiers only these: proof,edge,sampled")
    parser.add_argument("--profile", default="quick", help="quick, pr or nightly, %(default)s")
    parser.add_argument("--device", default="cuda", help="where kernels run, %(default)s")
    parser.add_argument("--draws", default="", metavar="DEVICE", help="where coins are drawn; that of the kernels")
    parser.add_argument("--list", action="store_true", help="name doors, run none")
    options = parser.parse_args(argv)
    begun, doors = time.perf_counter(), [*cuda_doors(), *triton_doors()]
    wanted = tuple(filter(None, options.only.split(",")))
    tiers = set(filter(None, options.tier.split(","))) or {"proof", "edge", "sampled"}
    chosen = [
        replace(one, tiers=tuple(tier for tier in one.tiers if tier in tiers))
        for one in doors
        if (not wanted or one.name.startswith(wanted)) and tiers.intersection(one.tiers)
    ]
    if options.list:
        print(*(f"{one.name:32} {one.kernel}" for one in chosen), sep="\n")
        return 0
    if not chosen:
        parser.error(f"--only {options.only} --tier {options.tier}: found no door of these")
    if options.device.startswith("cuda") and not has_device():
        print("on_device.py: torch finds no device", file=sys.stderr)
        return 77
    place = sys.modules["draftproof_cuda_kernels"].Place(options.device, options.draws or options.device)
    result: dict[str, Any] = described(options.device) | {"draws": place.draws, "doors": []}
    for one in chosen:
        left = options.total - (time.perf_counter() - begun)
        if left < 1:
            entry = {"name": one.name, "verdict": "skipped", "message": "no time was left", "seconds": 0}
        else:
            entry = judged(one, options.sources.resolve(), place, min(options.limit, left), options.profile)
        result["doors"].append(entry)
        first = next((line for line in entry["message"].splitlines()[1:] if "violated" not in line and ":" in line), "")
        told = first.strip() if entry["verdict"] == "violated" else entry["message"].splitlines()[0]
        print(f"{entry['name']:32} {entry['verdict']:10} {entry['seconds']:7.1f} s  {told[:150]}", flush=True)
        if options.output:
            with written(options.output, "w") as file:
                file.write(json.dumps(result, indent=1) + "\n")
    return 0 if all(one["verdict"] in ("held", "violated") for one in result["doors"]) else 3


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # because a call that did not return in time may still hold its thread
