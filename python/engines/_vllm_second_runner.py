"""The rejection sampler of vLLM's second model runner and its processors of logits, under Triton's interpreter."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import beside

MORE = 5  # number of tokens added after the vocabulary, each of which a different processor must remove
NOT_ALLOWED, BAD_WORD, BAD_END, BELOW_MIN_P, STOPS = range(MORE)
BIAS, MIN_P = 1.5, 2.0**-4


def raw_logits(torch: Any, first: Any, rows: Any, drafts: Any, at: float) -> Any:
    """Returns logits [n + 1, V + MORE] of the request whose tokens the gate judges. They become `rows` when the
    processors and temperature `at` are applied. Each added token is as likely as all tokens below V together, or just
    below the cut of min-p."""
    wide = torch.nn.functional.pad(rows, (0, MORE)) * at
    wide[:, rows.shape[-1] + BAD_END] = first.after_first(torch, drafts.tolist())
    wide[:, rows.shape[-1] + BELOW_MIN_P] = (rows.max(-1).values + torch.tensor(MIN_P / 2).log()) * at
    wide = first.unpenalised(torch, wide, drafts.tolist(), first.PENALTIES[2])
    wide[:, 0] -= BIAS
    return wide


def kept(torch: Any, rows: list[list[Any]]) -> Any:
    """Returns the rows, which may differ in length, as a tensor padded with zeros."""
    most = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (most - len(row))] for row in rows], dtype=torch.int32)


def processor(torch: Any, first: Any, temperature: Any) -> Any:
    """Returns process(logits, inputs, requests, steps), which applies the engine's processors in its order, in place.

    inputs      the token before each row
    requests    the index of each row's request in the tables of states
    steps       the index of each row in its request
    """
    from vllm.v1.worker.gpu.sample.bad_words import apply_bad_words
    from vllm.v1.worker.gpu.sample.gumbel import apply_temperature
    from vllm.v1.worker.gpu.sample.logit_bias import apply_logit_bias
    from vllm.v1.worker.gpu.sample.min_p import apply_min_p
    from vllm.v1.worker.gpu.sample.penalties import apply_penalties, bincount

    def ints(*values: int) -> Any:
        return torch.tensor(values, dtype=torch.int32)

    # Order of the requests in the tables of states: the judged request, the one without drafts, the greedy request.
    tokens = ints(*first.PROMPT, *first.WRITTEN).repeat(3, 1)
    prompt, length = ints(*[len(first.PROMPT)] * 3), ints(*[tokens.shape[1]] * 3)
    frequency, presence, repetition = torch.tensor([first.PENALTIES[i] for i in (2, 1, 0)]).T.contiguous()
    least = length + 100
    min_p = torch.tensor([MIN_P, 0.0, 0.0])

    @cache
    def state(width: int) -> Any:
        size = width - MORE
        masked, counts = torch.zeros(3, -(-width // 32), dtype=torch.int32), torch.zeros(3, width, dtype=torch.int32)
        bincount(ints(0, 1, 2), tokens, prompt, length, masked, counts, tokens.shape[1])
        allowed = [x for x in range(width) if x != size + NOT_ALLOWED]
        words = [[size + BAD_WORD], [0, size + BAD_END]]
        ends = [sum(map(len, words[:i])) for i in range(len(words) + 1)]
        return SimpleNamespace(
            masked=masked,
            counts=counts,
            allowed=kept(torch, [allowed, [], []]),
            words=kept(torch, [[x for word in words for x in word], [], []]),
            ends=kept(torch, [ends, [], []]),
        )

    def process(logits: Any, inputs: Any, requests: Any, steps: Any) -> Any:
        width = logits.shape[-1]
        now, size = state(width), width - MORE
        zero = kept(torch, [[0], [0], [0]])
        bias = torch.tensor([[BIAS], [0.0], [0.0]])
        stops = kept(torch, [[size + STOPS], [0], [0]])
        position = length[requests] - 1 + steps
        one = ints(1, 0, 0)
        apply_logit_bias(
            logits, requests, position, ints(width - 1, 0, 0), now.allowed, one, zero, bias, least, one,
            ints(0, 0, 0), stops,
        )  # fmt: skip
        apply_penalties(logits, requests, inputs, steps, repetition, frequency, presence, now.masked, now.counts)
        apply_bad_words(
            logits, requests, now.words, now.ends, ints(2, 0, 0), tokens, prompt, length, inputs, steps, 2
        )  # fmt: skip
        apply_temperature(logits, requests, temperature)
        apply_min_p(logits, requests, min_p)
        return logits

    return process


def second_runner(block: bool, among: bool = False, processed: bool = False) -> Any:
    """Returns a subject of one request at temperature 1. `among`: the request has temperature 0.7 and is the second of
    a batch; the first is greedy and must follow the argmax, with rows that have the tokens in reverse order, and the
    third has no drafts. `processed`: the engine's bias, masks, penalties, bad words, temperature and min-p are applied
    to the logits first."""
    import numpy as np
    import torch

    torch.set_num_threads(1)
    np.seterr(all="ignore")
    from vllm.v1.worker.gpu.spec_decode import rejection_sampler_utils as utils

    _interpretable(utils)
    temperature = torch.tensor([0.7, 1.0, 0.0]) if among else torch.ones(1)
    states = torch.tensor([2, 0, 1] if among else [0], dtype=torch.int32)  # index of each request's state
    shared, first = beside(__file__, "_vllm_batches.py"), beside(__file__, "_vllm_processors.py")
    process = processor(torch, first, temperature) if processed else None

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        n, zero = len(drafts), torch.zeros(1, dtype=torch.int64)
        other, reverse = torch.log(p.flip(-1)), p.shape[-1] - 1 - drafts
        counts = torch.tensor([n + 1, n + 1, 1] if among else [n + 1])
        steps = torch.cat([torch.arange(int(count)) for count in counts])
        owners, inputs = states.repeat_interleave(counts), [zero, reverse, zero, drafts, zero]
        rows = [other, torch.log(p), torch.log(p[-1:])] if among else [torch.log(p)]
        proposal = torch.stack([torch.log(q) * 0.7, torch.log(q.flip(-1)), torch.log(q)] if among else [torch.log(q)])
        if process is not None:
            inputs[::2] = [zero + first.WRITTEN[-1]] * 3
            rows[1] = raw_logits(torch, first, rows[1], drafts, 0.7)
            rows[0] = first.unpenalised(torch, other, reverse.tolist(), first.PENALTIES[0])
            rows[::2] = [torch.nn.functional.pad(one, (0, MORE), value=-torch.inf) for one in rows[::2]]
            proposal = torch.nn.functional.pad(proposal, (0, MORE), value=-torch.inf)
            rows = [process(torch.cat(rows), torch.cat(inputs), owners, steps.to(torch.int32))]
        sampled, count = utils.rejection_sample(
            torch.cat(rows),
            proposal,
            torch.cat(inputs if among else [zero, drafts]),
            torch.cat([zero, counts.cumsum(0)]).to(torch.int32),
            steps + 5,
            states,
            owners,
            steps.to(torch.int32),
            temperature,
            torch.full((len(states),), 7),
            n,
            use_block_verification=block,
        )
        tokens = [row[: int(kept)] for row, kept in zip(sampled, count, strict=True)]
        if among:
            shared.must_follow(other, reverse, tokens[0])
        return tokens[1 if among else 0].tolist()

    name = "vllm_second_runner_" + ("block" if block else "token") + ("_among_others" if among else "")
    name += "_processed" if processed else ""
    return adapter(verify, arrays="torch", races=False, name=name)


def _interpretable(utils: Any) -> None:
    """Replaces log1p, which the interpreter lacks, by numpy's, and the race for the residual token by a draw of torch
    with the residual's weights, because the gate cannot replace the noise of the race, which is hashed from seeds. At
    temperature 0, or if all weights are 0, the argmax of the residual is taken."""
    import numpy as np
    import torch
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    def like(value: Any, kind: Any, shape: Any) -> Any:
        return tl.tensor(TensorHandle(value, kind), shape)

    def log1p(x: Any) -> Any:
        return like(np.log1p(x.handle.data), tl.float32, x.type)

    def drawn(
        residual: Any, block: Any, mask: Any, place: Any, states: Any, temperature: Any, *given: Any, **named: Any
    ) -> Any:
        value, index = tl.max(residual, axis=0, return_indices=True)
        if float(tl.load(temperature + tl.load(states + place)).handle.data.item()) == 0:
            return value, index
        weights = torch.exp(torch.from_numpy(np.array(residual.handle.data, np.float64).reshape(-1)))
        if float(weights.sum()) > 0:
            last = int(torch.nonzero(weights)[-1])  # later cells are padding
            cell = int(torch.multinomial(weights[: last + 1], 1))
            index.handle.data = np.full_like(index.handle.data, cell)
        return value, index

    utils.tldevice = type("tldevice", (), {"log1p": staticmethod(log1p)})
    utils._seeded_resample_argmax = drawn
