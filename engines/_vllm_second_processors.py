"""Processors of logits in vLLM's second model runner, its own Triton kernels."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

MORE = 5  # tokens behind the vocabulary that must not come out, each for one reason
NOT_ALLOWED, BAD_WORD, BAD_END, BELOW_MIN_P, STOPS = range(MORE)
BIAS, MIN_P = 1.5, 2.0**-4


def raw_logits(torch: Any, first: Any, rows: Any, drafts: Any, at: float) -> Any:
    """Logits of the judged request [n + 1, V + MORE] that become `rows` at temperature `at`, once its processors are
    through. Tokens that must not come out are as likely as all others together, or just below the cut of min-p."""
    wide = torch.nn.functional.pad(rows, (0, MORE)) * at
    wide[:, rows.shape[-1] + BAD_END] = first.after_first(torch, drafts.tolist())
    wide[:, rows.shape[-1] + BELOW_MIN_P] = (rows.max(-1).values + torch.tensor(MIN_P / 2).log()) * at
    wide = first.unpenalised(torch, wide, drafts.tolist(), first.PENALTIES[2])
    wide[:, 0] -= BIAS
    return wide


def kept(torch: Any, rows: list[list[Any]]) -> Any:
    """A table of the requests' states from rows of unlike lengths, padded with zeros."""
    most = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (most - len(row))] for row in rows], dtype=torch.int32)


def processor(torch: Any, first: Any, temperature: Any) -> Any:
    """process(logits, inputs, requests, steps): the engine's processors in its order, in place.

    inputs      the token before each row
    requests    whose row it is
    steps       its place among the request's rows
    """
    from vllm.v1.worker.gpu.sample.bad_words import apply_bad_words
    from vllm.v1.worker.gpu.sample.gumbel import apply_temperature
    from vllm.v1.worker.gpu.sample.logit_bias import apply_logit_bias
    from vllm.v1.worker.gpu.sample.min_p import apply_min_p
    from vllm.v1.worker.gpu.sample.penalties import apply_penalties, bincount

    def ints(*values: int) -> Any:
        return torch.tensor(values, dtype=torch.int32)

    # states: the judged request's, that of the one without drafts, the greedy one's
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
