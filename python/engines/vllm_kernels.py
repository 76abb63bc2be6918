"""vLLM on a device: the Triton kernels of both model runners, compiled.

The gate replaces the numbers that torch draws for a kernel. The second runner's kernels hash seeds, and the gate cannot
replace these numbers: they get new seeds in every call, and are checked by trials.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import EQUAL, OF_TWO, WITH_ZERO, Engine, EngineAdapter, beside, functions_of

device = beside(__file__, "_device.py")

ZERO = "where p = q up to rounding the residual is empty, and the race gives token 0"


def launched(kernel: Any, **unused: Any) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Replaces vLLM's launcher, which compiles kernels ahead of their first call. The decorated function returns the
    grid and further arguments. The further arguments and the function's own are passed to the kernel by name; the
    kernel's parameter x_ptr takes the argument x."""
    del unused
    names = list(inspect.signature(getattr(kernel, "fn", kernel)).parameters)

    def decorate(describe: Callable[..., Any]) -> Callable[..., None]:
        signature = inspect.signature(describe)

        @functools.wraps(describe)
        def launch(*args: Any, **named: Any) -> None:
            grid, more = describe(*args, **named)
            given = signature.bind(*args, **named).arguments | more
            kernel[grid](**{name: given[name if name in given else name.removesuffix("_ptr")] for name in names})

        return launch

    return decorate


def first_runner() -> Any:
    """Returns a subject of the first model runner's verification, on requests with equally many drafts, at temperature
    1."""
    device.want_device()
    import torch
    import triton
    import triton.language as tl

    scope: dict[str, Any] = {
        "__name__": "draftproof_vllm_rejection_sampler",
        "torch": torch,
        "triton": triton,
        "tl": tl,
        "triton_kernel_dispatcher_with_warmup": launched,
        "_rejection_random_sample_warmup_inputs": None,
        "_sample_recovered_tokens_warmup_inputs": None,
        "PLACEHOLDER_TOKEN_ID": -1,
        "GREEDY_TEMPERATURE": 0,
    }
    names = ["rejection_sample", "generate_uniform_probs", "sample_recovered_tokens", "rejection_random_sample_kernel"]
    names += ["_rejection_random_sample", "sample_recovered_tokens_kernel", "_sample_recovered_tokens"]
    sample = functions_of(ENGINE.root() / "vllm" / "v1" / "sample" / "rejection_sampler.py", names, scope)[0]

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        b, n = drafts.shape
        bonus = device.picks(p[:, -1])[:, None].to(torch.int32).contiguous()
        ends = torch.arange(n, b * n + 1, n, dtype=torch.int32, device=device.DEVICE)
        sampling = SimpleNamespace(
            all_greedy=False,
            all_random=True,
            temperature=torch.ones(b, device=device.DEVICE),
            generators={},
        )
        target = torch.log(p[:, :-1].flatten(0, 1)).to(device.DEVICE)
        proposal = q.flatten(0, 1).to(device.DEVICE).contiguous()
        ids = drafts.reshape(-1).to(device=device.DEVICE, dtype=torch.int32)
        return sample(ids, [n] * b, n, ends, proposal, target, bonus, sampling).cpu().long()

    return adapter(verify, arrays="torch", batched=True, races=False, name="vllm_rejection_sample")


def second_runner_module() -> Any:
    """Returns the module of the second runner's kernels. Its parent packages are replaced by empty packages, because
    their code would load the whole engine; vllm.triton_utils is replaced by triton."""
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice

    root = ENGINE.root()
    for folder in (root / "vllm", *(path.parent for path in (root / "vllm" / "v1").rglob("__init__.py"))):
        package = ModuleType(".".join(folder.relative_to(root).parts))
        package.__path__ = [str(folder)]
        sys.modules[package.__name__] = package
    utils = ModuleType("vllm.triton_utils")
    vars(utils).update(HAS_TRITON=True, tl=tl, triton=triton, tldevice=libdevice)
    sys.modules[utils.__name__] = utils
    return importlib.import_module("vllm.v1.worker.gpu.spec_decode.rejection_sampler_utils")


def second_runner(block: bool) -> Any:
    """Returns a subject of the second model runner's verification at temperature 1, with a separate seed for each
    request."""
    device.want_device()
    import torch

    sample = second_runner_module().rejection_sample

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        b, n = drafts.shape
        on = {"device": device.DEVICE}
        requests = torch.arange(b, dtype=torch.int32)
        steps = torch.arange(n + 1, dtype=torch.int32).repeat(b)
        tokens, counts = sample(
            torch.log(p).flatten(0, 1).to(device.DEVICE),
            torch.log(q).to(device.DEVICE).contiguous(),
            torch.cat([torch.zeros(b, 1, dtype=torch.int64), drafts.long()], 1).reshape(-1).to(device.DEVICE),
            torch.arange(0, b * (n + 1) + 1, n + 1, dtype=torch.int32, **on),
            (steps.long() + 5).to(device.DEVICE),
            requests.to(device.DEVICE),
            requests.repeat_interleave(n + 1).to(device.DEVICE),
            steps.to(device.DEVICE),
            torch.ones(b, **on),
            torch.randint(2**62, (b,)).to(device.DEVICE),
            n,
            use_block_verification=block,
        )
        inside = torch.arange(n + 1)[None] < counts.cpu()[:, None]
        return torch.where(inside, tokens.cpu(), -1)

    name = "vllm_second_runner_" + ("block" if block else "token")
    return adapter(verify, arrays="torch", batched=True, races=False, scripted=False, name=name)


ENGINE = Engine(
    packages=("vllm==0.33.0",),
    replaces="the launcher, which compiles kernels ahead of their first call; vllm.triton_utils, by triton",
    adapters=(
        EngineAdapter(
            "rejection_sample",
            first_runner,
            models=1,
            predictions=16,
            instances=(EQUAL, OF_TWO, WITH_ZERO),
            note=f"compiled; {ZERO}",
        ),
        EngineAdapter("rejection_sample_sampled", first_runner, tiers=("sampled",), note=f"compiled; {ZERO}"),
        EngineAdapter(
            "second_runner_token", lambda: second_runner(False), tiers=("sampled",), note=f"compiled; {ZERO}"
        ),
        EngineAdapter("second_runner_block", lambda: second_runner(True), tiers=("sampled",), note=f"compiled; {ZERO}"),
    ),
)
