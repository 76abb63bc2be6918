"""transformers: whole `generate` with an assistant, on two models that are tables of next-token distributions."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, beside

TABLES = beside(__file__, "_transformers_tables.py")
table_model, written = TABLES.table_model, TABLES.written
END = 5
SETTINGS = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "logit_bias", "min_tokens")


def whole(name: str, generate: Callable[..., Any]) -> Any:
    return adapter(None, name=name, arrays="torch", generate=generate)


def same_tokens(temperature: float) -> Any:
    import torch

    torch.set_num_threads(1)

    def generate(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        rows = [np.asarray(table, np.float64) ** temperature for table in (target, proposal)]  # the engine undoes it
        models = [table_model(torch, table) for table in rows]
        return written(torch, *models, length, drafts, temperature=temperature)

    return whole(f"transformers_generate_at_{temperature:g}", generate)


def processed() -> Any:
    """Returns a subject with a bias on token 0 after token 1, the pair (0, V) as a bad word, where V is an added token,
    and min-p. Neither V, which is likely after token 0, nor a second added token V + 1, which is below the cut of
    min-p, must be emitted."""
    import torch

    torch.set_num_threads(1)
    bias, min_p = 1.0, 2.0**-10

    def generate(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        size = len(target)
        tables = [np.full((size + 2, size + 2), 1e-30) for _ in range(2)]
        for table, rows in zip(tables, (target, proposal), strict=True):
            table[:size, :size] = rows
            table[1, 0] *= np.exp(-bias)
            table[0, size] = 1
            table[:size, size + 1] = min_p / 2 * np.asarray(rows).max(-1)
        given = {"bad_words_ids": [[0, size]], "sequence_bias": [[[1, 0], bias]], "min_p": min_p}
        return written(torch, *(table_model(torch, table) for table in tables), length, drafts, **given)

    return whole("transformers_generate_processed", generate)


def requests(settings: tuple[str, ...] = ()) -> Any:
    """Returns a subject that answers requests with prompts, one after another. Each model is an automaton with a table,
    and keeps its state in the cache."""
    import torch

    torch.set_num_threads(1)

    def generate(target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int, given: Any = None) -> Any:
        torch.manual_seed(random.randrange(2**31))  # the host seeds `random`
        models = [table_model(torch, model.rows, model.next) for model in (target, proposal)]
        TABLES.drafts_of(models[1], drafts)
        texts = []
        for prompt, length, of in zip(prompts, lengths, given or [{}] * len(prompts), strict=True):
            options: dict[str, Any] = {"top_k": 0, "eos_token_id": END, "pad_token_id": END} | dict(of)
            options["min_new_tokens"] = options.pop("min_tokens", 0)
            if bias := options.pop("logit_bias", {}):
                options["sequence_bias"] = [[[token], value] for token, value in bias.items()]
            texts.append(TABLES.answered(torch, *models, prompt, length, **options))
        return texts

    name = "transformers_generate_requests" + ("_with_settings" if settings else "")
    return adapter(None, name=name, arrays="torch", generate=generate, requests=True, settings=settings,
                   end_tokens=[END])  # fmt: skip


def tokenizer_of(words: list[str]) -> Any:
    """Returns a tokenizer of whole words, whose ids follow the order of `words`."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token=words[0]))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=made)


def other_tokens() -> Any:
    """Returns a subject whose assistant has one token more than the target, and other ids for the shared tokens."""
    import torch

    torch.set_num_threads(1)

    def generate(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        size = len(target)
        own = [
            size,
            *range(1, size),
            0,
        ]  # id i of the assistant is the target's token own[i]; `size` is in neither vocabulary
        wider = np.full((size + 1, size + 1), 1 / (size + 1))
        wider[:size, :size] = 0.75 * np.asarray(proposal)
        wider[:size, size] = 0.25
        words = [f"w{x}" for x in range(size + 1)]
        tokenizers = {
            "tokenizer": tokenizer_of(words[:size]),
            "assistant_tokenizer": tokenizer_of([words[x] for x in own]),
        }
        assistant = table_model(torch, wider[np.ix_(own, own)])
        return written(torch, table_model(torch, target), assistant, length, drafts, **tokenizers)

    return whole("transformers_generate_other_tokens", generate)


ENGINE = Engine(
    packages=("transformers==5.24.0",),
    needs=tuple((Path(__file__).parent / "transformers_needs.txt").read_text().split()),
    replaces="the two models, by tables of next-token distributions",
    adapters=(
        EngineAdapter(
            "assistant", lambda: same_tokens(0.7), tiers=("sampled",), note="temperature 0.7, texts in pieces"
        ),
        EngineAdapter(
            "assistant_processed",
            processed,
            tiers=("sampled",),
            note="with a bias and a bad word that depend on the token before, and min-p",
        ),
        EngineAdapter(
            "requests", requests, tiers=("sampled",), note="prompts, end tokens, the state of the models in the cache"
        ),
        EngineAdapter(
            "requests_settings",
            lambda: requests(SETTINGS),
            tiers=("sampled",),
            note="and temperature, truncations, a repetition penalty, a bias and a least length of each request",
        ),
        EngineAdapter(
            "other_tokenizer",
            other_tokens,
            tiers=("sampled",),
            note="the assistant has one token that the target lacks",
        ),
    ),
)
