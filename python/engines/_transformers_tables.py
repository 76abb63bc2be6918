"""Models of transformers that are tables of next-token distributions, and texts of assisted generation by them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

CHUNK = 1024  # largest number of tokens of one call of generate; the next call continues from the last token


def table_model(torch: Any, rows: Any, successors: Any = None) -> Any:
    """Returns a causal model of the engine whose logits after token t are log(rows[t]).

    successors  [S, V]: the next state for each state and token; the first state is 0. With it, logits are
                log(rows[state]), and the cache holds the state after each token; without it, the cache holds zeros
    """
    from transformers import GenerationConfig, GenerationMixin, PretrainedConfig, PreTrainedModel
    from transformers.modeling_outputs import CausalLMOutputWithPast

    size, width = np.asarray(rows).shape
    # The cache is named `cache` from transformers 5.24 on.
    cache_field = "cache" if "cache" in CausalLMOutputWithPast.__dataclass_fields__ else "past_key_values"

    def states_of(tokens: list[int], cache: Any) -> list[int]:
        read = cache is not None and cache.get_seq_length() > 0
        state = int(cache.layers[0].keys[0, 0, -1, 0]) if read else 0
        return list(accumulate(tokens, lambda before, x: int(successors[before, x]), initial=state))[1:]

    class TableModel(PreTrainedModel, GenerationMixin):  # type: ignore[misc]
        config_class = PretrainedConfig

        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.embedding = torch.nn.Embedding(size, size)
            self.head = torch.nn.Linear(size, width, bias=False)
            self.post_init()

        def get_input_embeddings(self) -> Any:
            return self.embedding

        def set_input_embeddings(self, value: Any) -> None:
            self.embedding = value

        def get_output_embeddings(self) -> Any:
            return self.head

        def set_output_embeddings(self, value: Any) -> None:
            self.head = value

        def forward(
            self, input_ids: Any, past_key_values: Any = None, cache: Any = None, logits_to_keep: int = 0, **_: Any
        ) -> Any:
            cache = past_key_values if cache is None else cache
            states = torch.zeros(input_ids.shape[1])
            if successors is not None:
                states = torch.tensor(states_of(input_ids[0].tolist(), cache))
            if cache is not None:
                content = states.float()[None, None, :, None]
                cache.update(content, content, 0)
            logits = self.head(self.embedding(input_ids if successors is None else states[None]))
            return CausalLMOutputWithPast(logits=logits[:, -logits_to_keep:], **{cache_field: cache})

    config = PretrainedConfig(vocab_size=width, hidden_size=size, num_hidden_layers=1, num_attention_heads=1)
    model = TableModel(config).eval().requires_grad_(False)
    model.embedding.weight.copy_(torch.eye(size))
    # Because 0 * -inf is NaN in the product of embedding and head, probabilities are at least 1e-35.
    model.head.weight.copy_(torch.log(torch.tensor(np.maximum(rows, 1e-35), dtype=torch.float64)).T.float())
    model.generation_config = GenerationConfig(pad_token_id=None, bos_token_id=None, eos_token_id=None)
    return model


def written(torch: Any, target: Any, assistant: Any, length: int, drafts: int, **given: Any) -> list[int]:
    """Returns `length` tokens after token 0, written by assisted generation with `drafts` drafts per step."""
    torch.manual_seed(random.randrange(2**31))  # the host seeds `random`
    drafts_of(assistant, drafts)
    text = [0]
    while len(text) <= length:
        wanted = min(CHUNK, length + 1 - len(text))
        text += answered(torch, target, assistant, text[-1:], wanted, **{"top_k": 0} | given)
    return text[1:]


def answered(torch: Any, target: Any, assistant: Any, prompt: Sequence[int], length: int, **given: Any) -> list[int]:
    """Returns the tokens, at most `length`, that the engine writes after a prompt."""
    read = torch.tensor([list(prompt)])
    options = {"do_sample": True, "max_new_tokens": length, "use_cache": True} | given
    with torch.no_grad():
        out = target.generate(read, attention_mask=torch.ones_like(read), assistant_model=assistant, **options)
    text: list[int] = out[0, len(prompt) :].tolist()
    return text


def drafts_of(assistant: Any, drafts: int) -> None:
    """Makes the assistant draft the same number of tokens in every step."""
    assistant.generation_config.num_assistant_tokens = drafts
    assistant.generation_config.num_assistant_tokens_schedule = "constant"
    assistant.generation_config.assistant_confidence_threshold = 0.0
