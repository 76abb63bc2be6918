"""Models of transformers that are tables of next-token distributions, and texts of assisted generation by them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

CHUNK = 1024  # tokens of one call of generate; the next call continues from its last token


def table_model(torch: Any, rows: Any) -> Any:
    """A causal model of the engine whose logits after token t are log(rows[t]): embedding and head, no layers between.

    Its cache has the right length and no content.
    """
    from transformers import GenerationConfig, GenerationMixin, PretrainedConfig, PreTrainedModel
    from transformers.modeling_outputs import CausalLMOutputWithPast

    size, width = np.asarray(rows).shape

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

        def forward(self, input_ids: Any, past_key_values: Any = None, logits_to_keep: int = 0, **_: Any) -> Any:
            if past_key_values is not None:
                empty = torch.zeros(1, 1, input_ids.shape[1], 1)
                past_key_values.update(empty, empty, 0)
            logits = self.head(self.embedding(input_ids))
            return CausalLMOutputWithPast(logits=logits[:, -logits_to_keep:], past_key_values=past_key_values)

    config = PretrainedConfig(vocab_size=width, hidden_size=size, num_hidden_layers=1, num_attention_heads=1)
    model = TableModel(config).eval().requires_grad_(False)
    model.embedding.weight.copy_(torch.eye(size))
    model.head.weight.copy_(torch.log(torch.tensor(np.asarray(rows), dtype=torch.float64)).T.float())
    model.generation_config = GenerationConfig(pad_token_id=None, bos_token_id=None, eos_token_id=None)
    return model


def written(torch: Any, target: Any, assistant: Any, length: int, drafts: int, **given: Any) -> list[int]:
    """A text of `length` tokens after token 0."""
    torch.manual_seed(random.randrange(2**31))  # the host seeds `random`
    assistant.generation_config.num_assistant_tokens = drafts
    assistant.generation_config.num_assistant_tokens_schedule = "constant"
    assistant.generation_config.assistant_confidence_threshold = 0.0
    text = [0]
    while len(text) <= length:
        wanted = min(CHUNK, length + 1 - len(text))
        prompt = torch.tensor([text[-1:]])
        options = {"do_sample": True, "top_k": 0, "max_new_tokens": wanted, "use_cache": True} | given
        with torch.no_grad():
            out = target.generate(prompt, attention_mask=torch.ones_like(prompt), assistant_model=assistant, **options)
        text += out[0, 1:].tolist()
    return text[1:]
