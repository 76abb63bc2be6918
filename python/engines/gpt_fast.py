"""gpt-fast: `speculative_decode`, one chain, and whole texts by it on two models that are tables of next-token
distributions.
"""

from __future__ import annotations

import contextlib
import random
from types import SimpleNamespace
from typing import Any, Optional

import numpy as np

from draftproof.declare import adapter
from draftproof.engines import CHAINS, Engine, EngineAdapter, functions_of

# In float32 token 1 has the same probability in p and q, and the probability of token 2 is a few ulps larger in q.
EQUAL_UP_TO_ROUNDING = "L=1 K=1 [] p=(0 2915 1)/2916 q=(0 5829 2)/5831"
NAMES = ("multinomial_sample_one_no_sync", "logits_to_probs", "model_forward")
DRAFTING = ("sample", "decode_one_token", "decode_n_tokens")


def speculative(torch: Any, names: tuple[str, ...], **given: Any) -> Any:
    torch.set_num_threads(1)
    scope = {"torch": torch, "Optional": Optional, "Tuple": tuple, "Transformer": object} | given
    return functions_of(ENGINE.root() / "generate.py", [*names, "speculative_decode"], scope)[-1]


def speculative_decode() -> Any:
    import torch

    drafted: tuple[Any, Any] = ((), ())
    decode = speculative(torch, NAMES, decode_n_tokens=lambda *given, **named: drafted)

    def gpt_fast_speculative_decode(p: Any, q: Any, drafts: Any) -> Any:
        nonlocal drafted
        drafted = list(drafts.split(1)), list(q)
        return decode(lambda x, at: torch.log(p)[None], lambda x, at: None, torch.zeros(1), 0, len(drafts))

    return adapter(gpt_fast_speculative_decode, arrays="torch")


class Quiet:
    """Stands for torch in the engine's drafting loop and adds torch.backends.cuda.sdp_kernel, which newer versions of
    torch lack."""

    def __init__(self, torch: Any) -> None:
        self.torch, cuda = torch, SimpleNamespace(sdp_kernel=lambda **given: contextlib.nullcontext())
        self.backends = SimpleNamespace(cuda=cuda)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.torch, name)


def texts(temperature: float) -> Any:
    import torch

    decode = speculative(Quiet(torch), NAMES + DRAFTING)

    def model(rows: Any) -> Any:
        logits = torch.log(torch.tensor(np.asarray(rows, np.float64) ** temperature)).float()
        return lambda x, at: logits[x.long()]

    def generate(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        torch.manual_seed(random.randrange(2**31))  # the host seeds `random`
        models, text = [model(target), model(proposal)], [0]
        while len(text) <= length:  # this loop is as in the engine's `generate`
            text += decode(*models, torch.tensor(text[-1]), len(text) - 1, drafts, temperature=temperature).tolist()
        return text[1 : length + 1]

    return adapter(None, name=f"gpt_fast_texts_at_{temperature:g}", arrays="numpy", generate=generate)


ENGINE = Engine(
    sources="meta-pytorch/gpt-fast",
    commit="bc04265df30c7b927d38f34198e0e33a63cb893e",
    parts=("generate.py",),
    replaces="the models, by rows or tables of next-token distributions; the loop over steps, by one written from it",
    adapters=(
        EngineAdapter(
            "speculative_decode",
            speculative_decode,
            models=12,
            predictions=64,
            instances=(*CHAINS, EQUAL_UP_TO_ROUNDING),
            note="the last commit whose drafts have the shape that this function needs; it has not changed since",
        ),
        EngineAdapter("texts", lambda: texts(0.7), tiers=("sampled",), note="temperature 0.7, with its drafting loop"),
    ),
)
