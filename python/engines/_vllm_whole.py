"""vLLM as a whole, on two models that are tables: requests with settings, and models with a state in vLLM's attention.

The state after a text is a sum over its tokens: the host's models go from state s to (2 s + x + 1) mod S with token x,
so the state after tokens x_0 .. x_n is 2^(n + 1) times the sum of (x_i + 1) / 2^(i + 1), modulo the odd number S. The
cached value of a token is its summand, and attention with equal scores returns their mean. A token that is lost, read
twice or taken from another request makes the state wrong.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from draftproof.declare import adapter

END, WIDTH, DRAFTS = 5, 32, 3  # WIDTH: vocabulary, and size of the attention's head
SIZES = (11, 13)  # numbers of states of the host's models; 2 is a generator modulo both
SLOTS = 3
# With speculation the engine refuses min_p and logit_bias.
SETTINGS = ("temperature", "top_k", "top_p", "repetition_penalty", "presence_penalty", "frequency_penalty",
            "min_tokens", "stop")  # fmt: skip
Serve = Callable[[Any, Sequence[tuple[list[int], dict[str, Any]]]], list[list[int]]]


def summands(torch: Any, tokens: Any, positions: Any) -> Any:
    """Returns [n, WIDTH]: column i has (x + 1) / 2^(position + 1) modulo SIZES[i]; further columns are 0."""
    values = torch.zeros(len(tokens), WIDTH)
    for i, size in enumerate(SIZES):
        inverse = torch.tensor([pow(2, -n - 1, size) for n in range(size - 1)])
        values[:, i] = ((tokens + 1) * inverse[positions % (size - 1)] % size).float()
    return values


def states(torch: Any, means: Any, positions: Any, size: int) -> Any:
    """Returns the states [n] of a model with `size` states from the means of the summands of the tokens so far."""
    power = torch.tensor([pow(2, n + 1, size) for n in range(size - 1)])
    sums = (means[:, SIZES.index(size)] * (positions + 1)).round().long()
    return sums % size * power[positions % (size - 1)] % size


def model_classes(torch: Any, attention: Any, tables: Any) -> tuple[Any, Any]:
    """Returns the classes of the target and of the draft model. tables: `size`, the number of states, and `rows`, the
    logits [S, WIDTH] of both models."""

    class Target(torch.nn.Module):  # type: ignore[misc]
        which = 0

        def __init__(self, *, vllm_config: Any, prefix: str = "") -> None:
            super().__init__()
            name, cache = f"{prefix or 'target'}.layers.0.attn", vllm_config.cache_config
            self.attn = attention(1, WIDTH, 1.0, num_kv_heads=1, cache_config=cache, prefix=name)

        def embed_input_ids(self, input_ids: Any) -> Any:
            return torch.zeros(len(input_ids), WIDTH)

        def forward(self, input_ids: Any, positions: Any, *_: Any, **__: Any) -> Any:
            equal = torch.zeros(len(input_ids), WIDTH)
            means = self.attn(equal, equal.clone(), summands(torch, input_ids, positions)).view(-1, WIDTH)
            return torch.cat([means[:, :-1], positions[:, None].float()], -1)

        def compute_logits(self, hidden: Any) -> Any:
            at = states(torch, hidden, hidden[:, -1].long(), tables.size)
            return tables.rows[self.which][at].clone()

        def load_weights(self, weights: Any) -> set[str]:
            return set()

    class Draft(Target):
        which = 1

    return Target, Draft


def engine_of(folder: Path, tables: Any, most_tokens: int = 512) -> Any:
    """Returns the engine with room for three requests, which are preempted when its cache is full. Both models are
    saved to `folder`, with a tokenizer of one letter for each token.

    most_tokens   tokens of one step; prompts with more are read in parts, which the engine does not support on a CPU
                  if the request has a seed
    """
    import torch
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast
    from vllm import LLM, ModelRegistry
    from vllm.model_executor.layers.attention import Attention

    letters = [chr(ord("A") + x) for x in range(WIDTH)]
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(letters)}, unk_token=letters[0]))
    config = {"model_type": "llama", "vocab_size": WIDTH, "hidden_size": WIDTH, "intermediate_size": WIDTH,
              "num_hidden_layers": 1, "num_attention_heads": 1, "max_position_embeddings": 512,
              "dtype": "float32", "eos_token_id": END, "bos_token_id": None}  # fmt: skip
    places = []
    for one in model_classes(torch, Attention, tables):
        place = folder / one.__name__
        PreTrainedTokenizerFast(tokenizer_object=made, eos_token=letters[END]).save_pretrained(place)
        (place / "config.json").write_text(json.dumps(config | {"architectures": [one.__name__]}))
        ModelRegistry.register_model(one.__name__, one)
        places.append(str(place))
    speculative = {"method": "draft_model", "model": places[1], "num_speculative_tokens": DRAFTS,
                   "draft_sample_method": "probabilistic"}  # fmt: skip
    return LLM(places[0], dtype="float32", load_format="dummy", enforce_eager=True, max_model_len=512,
               max_num_seqs=SLOTS, max_num_batched_tokens=most_tokens, block_size=32, num_gpu_blocks_override=20,
               speculative_config=speculative)  # fmt: skip


def parameters(settings: Mapping[str, Any], length: int, seed: int | None) -> dict[str, Any]:
    """Returns the arguments of the engine's SamplingParams for a request."""
    given = dict(settings)
    stop = given.pop("stop", [])
    given |= {"top_k": given.get("top_k", 0), "max_tokens": length, "stop_token_ids": [END], "seed": seed}
    given["min_tokens"] = min(given.get("min_tokens", 0), length)
    return given | ({"stop": [" ".join(chr(ord("A") + x) for x in stop)]} if stop else {})


def subject(serve: Serve, name: str, settings: Sequence[str] = SETTINGS) -> Any:
    """Returns a subject of requests. A request of temperature 0 is greedy, and every second request has a seed of its
    own.

    serve(tables, requests)   returns the text of each request, a pair of a prompt and arguments of SamplingParams, on
                              the models of model_classes
    """
    import torch

    def generate(
        target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int, given: Any = None
    ) -> list[list[int]]:
        size = len(target.next)
        token = np.arange(target.vocabulary)
        wanted = (2 * np.arange(size)[:, None] + token + 1) % size
        if size not in SIZES or (target.next != wanted).any() or (proposal.next != wanted).any():
            return [[int(np.argmax(target.rows[0]))] * int(n) for n in lengths]  # the rehearsal, on equal rows
        tables = SimpleNamespace(size=size, rows=[])
        for model in (target, proposal):
            rows = np.full((size, WIDTH), -np.inf)
            with np.errstate(divide="ignore"):
                rows[:, : model.vocabulary] = np.log(model.rows)
            tables.rows.append(torch.tensor(rows, dtype=torch.float32))
        torch.manual_seed(random.randrange(2**31))  # the host seeds `random`
        requests = []
        for i, (prompt, length, of) in enumerate(zip(prompts, lengths, given or [{}] * len(prompts), strict=True)):
            seed = random.randrange(2**31) if i % 2 else None
            requests.append((list(prompt), parameters(of, int(length), seed)))
        return serve(tables, requests)

    return adapter(
        None,
        name=name,
        arrays="numpy",
        generate=generate,
        requests=True,
        settings=settings,
        end_tokens=[END],
        most_vocabulary=WIDTH,
        greedy="first" if "temperature" in settings else "no",
    )


def whole(name: str, folder: Path, settings: Sequence[str] = SETTINGS) -> Any:
    """Returns a subject on the engine, which is made in `folder`, once in a process."""
    from vllm import SamplingParams

    shared = _shared(folder)

    def serve(tables: Any, requests: Sequence[tuple[list[int], dict[str, Any]]]) -> list[list[int]]:
        vars(shared.tables).update(vars(tables))
        prompts = [{"prompt_token_ids": prompt} for prompt, _ in requests]
        told = shared.engine.generate(prompts, [SamplingParams(**given) for _, given in requests], use_tqdm=False)
        return [list(one.outputs[0].token_ids) for one in told]

    return subject(serve, name, settings)


_made: dict[Path, Any] = {}


def _shared(folder: Path) -> Any:
    import torch

    if folder not in _made:
        tables = SimpleNamespace(size=SIZES[0], rows=[torch.zeros(max(SIZES), WIDTH)] * 2)
        _made[folder] = SimpleNamespace(tables=tables, engine=engine_of(folder, tables))
    return _made[folder]
