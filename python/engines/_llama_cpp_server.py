"""Requests with settings as bodies of the route /completion of llama.cpp's server, and subjects that answer them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from draftproof.declare import adapter

END = 5
SLOTS = 3
# The server has no least length, and its presence penalty also holds for tokens of the prompt.
SETTINGS = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "frequency_penalty", "logit_bias", "stop")
# The temperature comes before the truncations; by default it is the last sampler.
SAMPLERS = ("penalties", "temperature", "top_k", "top_p", "min_p")
Serve = Callable[[dict[str, Any]], list[list[int]]]


def body(prompt: Sequence[int], length: int, seed: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a request in the server's names. The engine's frequency penalty also counts tokens of the prompt; a bias
    of the same size takes this back. A stop sequence is a string with one letter for each token."""
    counted = Counter(prompt)
    bias = {int(x): float(value) for x, value in settings.get("logit_bias", {}).items()}
    if penalty := settings.get("frequency_penalty", 0.0):
        bias = {x: penalty * count for x, count in counted.items()}
    found: dict[str, Any] = {
        "prompt": list(prompt),
        "n_predict": length,
        "seed": seed,
        "samplers": list(SAMPLERS),
        "repeat_penalty": settings.get("repetition_penalty", 1.0),
        "repeat_last_n": 1 << 20,
        "frequency_penalty": penalty,
        "logit_bias": [[x, value] for x, value in bias.items()],
        "return_tokens": True,
    }
    found |= {name: settings.get(name, usual) for name, usual in (("temperature", 1.0), ("top_k", 0), ("top_p", 1.0))}
    found["min_p"] = settings.get("min_p", 0.0)
    if stop := settings.get("stop", []):
        found["stop"] = ["".join(chr(ord("A") + x) for x in stop)]
    return found


def subject(serve: Serve, name: str, recurrent: bool = False, equal_seeds: bool = False, **fields: Any) -> Any:
    """Returns a subject whose requests are served in three slots; a request of temperature 0 is greedy.

    serve        returns the tokens of each request of a document, as llama_cpp_server.cpp explains it
    recurrent    the models keep only their last state, so that the server goes back to checkpoints
    equal_seeds  a request must have the same text with drafts and, with the same seed, without drafts
    fields       further fields of each body
    """

    def generate(target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int, settings: Any) -> list[list[int]]:
        seeds = [random.randrange(2**31) for _ in prompts]  # the host seeds `random`
        requests = [body(*of) | fields for of in zip(prompts, map(int, lengths), seeds, settings, strict=True)]
        document = {
            "target": target.rows.tolist(),
            "proposal": proposal.rows.tolist(),
            "next": target.next.tolist(),  # the proposal has the same states
            "ends": [END],
            "slots": SLOTS,
            "drafts": drafts,
            "recurrent": recurrent,
            "requests": requests,
        }
        texts = serve(document)
        if equal_seeds and (alone := serve(document | {"drafts": 0})) != texts:
            at = next(i for i, (text, one) in enumerate(zip(texts, alone, strict=True)) if text != one)
            raise RuntimeError(f"request {at}: with drafts {texts[at]}, without {alone[at]}, with equal seeds")
        return texts

    return adapter(
        None,
        name=name,
        arrays="numpy",
        generate=generate,
        requests=True,
        settings=SETTINGS,
        end_tokens=[END],
        greedy="first",
    )
