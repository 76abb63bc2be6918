"""Triton kernels of released engines, compiled for a device, or under Triton's interpreter on the CPU.

Where torch draws the numbers of a kernel the gate scripts them. Kernels that hash seeds draw out of its sight: they get
new seeds in every call, and are judged on trials.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from draftproof.declare import door
from draftproof.engines import functions_of, module_of


def sglang_chain(sources: Path, place: Any, block: bool) -> Any:
    """SGLang's chain verification, token or block."""
    import torch

    path = sources / "sglang" / "sglang" / "kernels" / "ops" / "speculative" / "reject_sampling.py"
    kernel = module_of(path, "draftproof_sglang_reject_sampling").chain_speculative_sampling_triton

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        b, slots = len(drafts), drafts.shape[1] + 1
        on = {"device": place.device}
        predicts = torch.full((b * slots,), -1, dtype=torch.int32, **on)
        accepted = torch.full((b, slots), -1, dtype=torch.int32, **on)
        count = torch.zeros(b, dtype=torch.int32, **on)
        candidates = torch.cat([torch.zeros(b, 1, dtype=torch.int64), drafts.long()], 1).to(place.device)
        index = torch.arange(b * slots, **on).reshape(b, slots)
        coins = torch.cat([place.coins(b, slots - 1), torch.zeros(b, 1, **on)], 1)
        last = place.coins(b)
        target, draft = (one.to(place.device).contiguous() for one in (p, q))
        kernel(predicts, accepted, count, candidates, index, None, None, coins, last, target, draft, 1.0, 1.0, True,
               block_verification=block)  # fmt: skip
        tokens, counts = predicts.reshape(b, slots).cpu().long(), count.cpu()
        return torch.where(torch.arange(slots)[None] <= counts[:, None], tokens, -1)

    name = "sglang_triton_chain_" + ("block" if block else "token")
    return door(verify, arrays="torch", batched=True, races=False, name=name)


def launched(kernel: Any, **unused: Any) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Stands in for vLLM's launcher, which compiles kernels ahead: a function gives the grid and what is not among its
    arguments, and the kernel gets all by their names, without `_ptr`."""
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


def vllm_first_runner(sources: Path, place: Any) -> Any:
    """The verification of the first model runner, on requests with as many drafts each, at temperature 1."""
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
    sample = functions_of(sources / "vllm" / "vllm" / "v1" / "sample" / "rejection_sampler.py", names, scope)[0]

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        b, n = drafts.shape
        bonus = place.picks(p[:, -1])[:, None].to(torch.int32).contiguous()
        ends = torch.arange(n, b * n + 1, n, dtype=torch.int32, device=place.device)
        sampling = SimpleNamespace(
            all_greedy=False,
            all_random=True,
            temperature=torch.ones(b, device=place.device),
            generators={},
        )
        target = torch.log(p[:, :-1].flatten(0, 1)).to(place.device)
        proposal = q.flatten(0, 1).to(place.device).contiguous()
        ids = drafts.reshape(-1).to(device=place.device, dtype=torch.int32)
        return sample(ids, [n] * b, n, ends, proposal, target, bonus, sampling).cpu().long()

    return door(verify, arrays="torch", batched=True, races=False, name="vllm_rejection_sample")


def _second_runner(sources: Path) -> Any:
    """The module of the second runner's kernels, behind one that stands in for vllm.triton_utils. Its package has no
    code of its own here."""
    import importlib

    import triton
    import triton.language as tl
    from triton.language.extra import libdevice

    package, stand_in = ModuleType("vllm"), ModuleType("vllm.triton_utils")
    package.__path__ = [str(sources / "vllm" / "vllm")]
    vars(stand_in).update(HAS_TRITON=True, tl=tl, triton=triton, tldevice=libdevice)
    sys.modules.update({one.__name__: one for one in (package, stand_in)})
    return importlib.import_module("vllm.v1.worker.gpu.spec_decode.rejection_sampler_utils")


def vllm_second_runner(sources: Path, place: Any, block: bool) -> Any:
    """The verification of the second model runner at temperature 1, with seeds of its own for each request."""
    import torch

    sample = _second_runner(sources).rejection_sample

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        b, n = drafts.shape
        on = {"device": place.device}
        requests = torch.arange(b, dtype=torch.int32)
        steps = torch.arange(n + 1, dtype=torch.int32).repeat(b)
        tokens, counts = sample(
            torch.log(p).flatten(0, 1).to(place.device),
            torch.log(q).to(place.device).contiguous(),
            torch.cat([torch.zeros(b, 1, dtype=torch.int64), drafts.long()], 1).reshape(-1).to(place.device),
            torch.arange(0, b * (n + 1) + 1, n + 1, dtype=torch.int32, **on),
            (steps.long() + 5).to(place.device),
            requests.to(place.device),
            requests.repeat_interleave(n + 1).to(place.device),
            steps.to(place.device),
            torch.ones(b, **on),
            torch.randint(2**62, (b,)).to(place.device),
            n,
            use_block_verification=block,
        )
        inside = torch.arange(n + 1)[None] < counts.cpu()[:, None]
        return torch.where(inside, tokens.cpu(), -1)

    name = "vllm_second_runner_" + ("block" if block else "token")
    return door(verify, arrays="torch", batched=True, races=False, scripted=False, name=name)
