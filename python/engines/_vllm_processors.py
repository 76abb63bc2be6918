"""Logits processors of vLLM's first model runner: penalties, masks, minimum lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import beside

PROMPT, WRITTEN = (0,), (1, 1, 1)  # tokens of each request before the step; only the prompt has token 0
# Frequency, presence and repetition penalties of the greedy request, of the request without drafts and of the judged
# request, whose tokens the gate tests.
PENALTIES = ((1.0, 0.5, 1.0), (0.5, 1.0, 4.0), (0.25, 0.5, 2.0))


def unpenalised(torch: Any, rows: Any, drafts: Sequence[int], penalties: Sequence[float]) -> Any:
    """Returns logits that become `rows` when the penalties are applied to tokens of the prompt and of the output, with
    the drafts before each row."""
    frequency, presence, repetition = penalties
    out = rows.clone()
    for i, row in enumerate(out):
        seen = Counter([*WRITTEN, *drafts[:i]])
        for x in range(len(row)):
            value = row[x] + frequency * seen[x] + presence * (seen[x] > 0)
            again = seen[x] > 0 or x in PROMPT
            row[x] = value if not again else value * repetition if value > 0 else value / repetition
    return out


def after_first(torch: Any, drafts: Sequence[int]) -> Any:
    """Returns logits [n + 1]: 0 at each row whose preceding token is 0, minus infinity at the other rows."""
    return torch.tensor([0.0 if x == 0 else -torch.inf for x in (WRITTEN[-1], *drafts)])


def batch(vllm: Any, shared: Any, drafts: Sequence[Sequence[int]], **given: Any) -> tuple[Any, Any]:
    """Returns the engine's descriptions of a batch whose first request is greedy and whose others have temperature 1.
    Every request has the output tokens WRITTEN."""
    import torch

    written = [list(WRITTEN) for _ in drafts]
    at = [0.0] + [1.0] * (len(drafts) - 1)
    given = {"output_token_ids": written, "spec_token_ids": [list(one) for one in drafts]} | given
    return shared.metadata_of(torch, vllm, drafts, at, **given)  # type: ignore[no-any-return]


def beside_greedy(shared: Any, vllm: Any, name: str, prepare: Any) -> Any:
    """Returns a subject of the third request of a ragged batch, with the whole sampler. The first request is greedy and
    must follow the argmax; its rows have the tokens in reverse order. The second has no drafts. Tokens from V on must
    not be emitted.

    prepare(rows, other, drafts, reverse)   returns logits of the judged and of the greedy request [n + 1, W], where W
                                            is at least V, of the second request [1, W], and fields of the sampling
                                            metadata
    """
    import torch

    sampler = vllm.rejection_sampler.RejectionSampler(vllm.Sampler())

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        reverse = p.shape[-1] - 1 - drafts
        rows, other, third, given = prepare(torch.log(p), torch.log(p.flip(-1)), drafts.tolist(), reverse.tolist())
        speculative, sampling = batch(vllm, shared, [reverse.tolist(), [], drafts.tolist()], **given)
        wide = torch.nn.functional.pad(torch.cat([q.flip(-1), q]), (0, rows.shape[-1] - p.shape[-1]))
        out = sampler(speculative, wide, torch.cat([other, third, rows]), sampling).sampled_token_ids.long()
        shared.must_follow(torch.log(p.flip(-1)), reverse, out[0])
        return out[2]

    return adapter(verify, arrays="torch", races=False, name=name)


def penalties(vllm: Any, shared: Any) -> Any:
    """Returns a subject with frequency, presence and repetition penalties, which differ between the requests."""
    import torch

    def prepare(rows: Any, other: Any, drafts: Any, reverse: Any) -> Any:
        columns = torch.tensor(PENALTIES).T
        names = ("frequency_penalties", "presence_penalties", "repetition_penalties")
        given = dict(zip(names, columns, strict=True)) | {"no_penalties": False}
        given["prompt_token_ids"] = torch.tensor([PROMPT] * 3)
        return (
            unpenalised(torch, rows, drafts, PENALTIES[2]),
            unpenalised(torch, other, reverse, PENALTIES[0]),
            rows[-1:],
            given,
        )

    return beside_greedy(shared, vllm, "vllm_penalties", prepare)


def masks(vllm: Any, shared: Any) -> Any:
    """Returns a subject with three added tokens, each as likely as all tokens below V together. The mask of allowed
    tokens excludes V; V + 1 is a bad word; V + 2 has mass only after token 0, and the pair (0, V + 2) is a bad word. In
    the greedy request, V + 1 is the likeliest token and a bad word."""
    import torch

    def prepare(rows: Any, other: Any, drafts: Any, reverse: Any) -> Any:
        size = rows.shape[-1]
        words = [[size + 1], [0, size + 2]]
        allowed = torch.zeros(3, size + 3, dtype=torch.bool)
        allowed[2, size] = True
        widened = torch.nn.functional.pad(rows, (0, 3))
        widened[:, size + 2] = after_first(torch, drafts)
        greedy = torch.nn.functional.pad(other, (0, 3), value=-torch.inf)
        greedy[:, size + 1] = 1.0
        given = {"allowed_token_ids_mask": allowed, "bad_words_token_ids": {0: words[:1], 2: words}}
        return widened, greedy, widened[-1:], given

    return beside_greedy(shared, vllm, "vllm_masks", prepare)


def engine_processor(least: int, stops: list[int], written: list[int]) -> Any:
    """Returns the engine's processor of min_tokens for one request, whose output tokens are `written`."""
    import torch
    from vllm import SamplingParams
    from vllm.v1.sample.logits_processor import BatchUpdate, MinTokensLogitsProcessor

    settings = SamplingParams(min_tokens=least, stop_token_ids=stops)
    processor = MinTokensLogitsProcessor(None, torch.device("cpu"), False)
    processor.update_state(BatchUpdate(1, [], [(0, settings, None, written)], []))
    return processor


def least_length(vllm: Any, shared: Any, processor_of: Any = engine_processor) -> Any:
    """Returns a subject of one request at temperature 1, with the minimum length of _least_length.py."""
    import torch

    sampler = vllm.rejection_sampler.RejectionSampler(vllm.Sampler())
    processor = processor_of(len(WRITTEN) + 1, [0], list(WRITTEN))

    def sample(logits: Any, proposal: Any, drafts: Any) -> Any:
        procs = vllm.LogitsProcessors([processor])
        written = {"output_token_ids": [list(WRITTEN)], "spec_token_ids": [drafts.tolist()], "logitsprocs": procs}
        speculative, sampling = shared.metadata_of(torch, vllm, [drafts.tolist()], **written)
        return sampler(speculative, proposal, logits, sampling).sampled_token_ids[0].long()

    held_back = beside(__file__, "_least_length.py")
    return held_back.least_length("vllm", sample)
