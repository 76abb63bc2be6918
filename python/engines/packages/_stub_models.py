"""Models for loops that take models as objects: tables of next-token distributions with the interface of transformers.

A loop that drafts inside gets its drafts from `Given`, so that the gate chooses them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import torch

from draftproof.declare import adapter
from draftproof.subject import Subject

ROOT = torch.zeros(1, 1, dtype=torch.int64)  # the prompt of a model whose row depends on the position (`by_place`)


class Cache:
    """The tokens that a model has read, as a cache of keys and values would have them."""

    def __init__(self, tokens: Sequence[int] = ()) -> None:
        self.tokens = list(tokens)

    def get_seq_length(self) -> int:
        return len(self.tokens)

    def crop(self, length: int) -> None:
        """Keeps the first `length` tokens, or removes the last -length if `length` is negative, as in transformers."""
        del self.tokens[length:]


class Output(SimpleNamespace):
    """The result of a model, read by names of fields or unpacked as the pair of logits and cache."""

    def __iter__(self) -> Iterator[Any]:
        return iter((self.logits, self.past_key_values))


class Model:
    """A causal model whose logits are rows of a table, for one sequence.

    by_place     row i follows i + 1 tokens, whatever they are: the prompt is one token, and the gate chose the drafts
    otherwise    rows has a dimension for each of the last tokens, and one for the next token
    """

    device = torch.device("cpu")

    def __init__(self, rows: Any, by_place: bool = False) -> None:
        self.rows, self.by_place = torch.as_tensor(rows), by_place
        self.memory = self.rows.dim() - 1
        self.config = SimpleNamespace(vocab_size=self.rows.shape[-1], eos_token_id=None, use_cache=True)

    def row(self, text: Sequence[int]) -> Any:
        if self.by_place:
            return self.rows[min(len(text), len(self.rows)) - 1]
        return self.rows[tuple(text[-self.memory :])]

    def __call__(self, input_ids: Any, past_key_values: Any = None, logits_to_keep: int = 0, **_: Any) -> Output:
        cache = Cache() if past_key_values is None else past_key_values
        rows = []
        for token in input_ids[0].tolist():
            cache.tokens.append(token)
            rows.append(self.row(cache.tokens))
        return Output(logits=torch.stack(rows[-logits_to_keep:])[None], past_key_values=cache)

    def cached(self, text: Any, cache: Any = None, **_: Any) -> Any:
        """Returns the logits after each token that `cache` lacks, and the new cache, whose tensor has all tokens."""
        read = Cache(cache[0][0, :, 0].tolist() if cache else ())
        logits, _ = self(text[:, read.get_seq_length() :], read)
        return logits, (torch.tensor(read.tokens)[None, :, None], None)

    def parameters(self) -> Iterator[Any]:
        return iter((self.rows,))

    def to(self, *_: Any, **__: Any) -> Model:
        return self

    eval = get_input_embeddings = get_output_embeddings = to  # the embeddings are never read


class Given:
    """Stands for torch in a package's loop. multinomial first returns the tokens `left`, then draws; `last` is the last
    draw. Every other name is torch's."""

    def __init__(self) -> None:
        self.left: list[int] = []
        self.last: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    def multinomial(self, weights: Any, *given: Any, **named: Any) -> Any:
        if not self.left:
            self.last = torch.multinomial(weights, *given, **named)
            return self.last
        drawn = torch.tensor(self.left[: weights[..., 0].numel()])
        del self.left[: len(drawn)]
        return drawn.reshape(*weights.shape[:-1], 1)


def on_logits(verify: Any, drafts: str = "iid", **given: Any) -> Subject:
    """Declares a function of tensors of logits that draws no races."""
    return adapter(verify, drafts, logits=True, arrays="torch", races=False, **given)


def written(step: Any, name: str, memory: int = 1) -> Subject:
    """Declares a loop that writes texts by step(target, proposal, text, drafts) -> the tokens that continue `text`."""

    def generate(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        torch.manual_seed(random.randrange(2**31))  # the host seeds `random`
        models = [Model(torch.log(torch.as_tensor(rows).double()).float()) for rows in (target, proposal)]
        text = [0] * memory
        while len(text) < length + memory:
            text += step(*models, text[-memory:], drafts)
        return text[memory : length + memory]

    return adapter(None, name=name, arrays="torch", generate=generate, memory=memory)
