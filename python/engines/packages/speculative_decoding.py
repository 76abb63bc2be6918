"""speculative-decoding: one step of its loop on two models, in a batch of one."""

from __future__ import annotations

import math
from typing import Any

from draftproof.engines import Engine, beside, functions_of, judged

NAMES = ("safe_div", "find_first_true_index", "top_k", "speculative_decoding")


def step() -> Any:
    import torch
    from einops import rearrange

    given: list[int] = []  # the gate's drafts that the loop has not drawn yet
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "math": math, "rearrange": rearrange}
    scope |= {"Module": object, "Tensor": object, "gumbel_sample": lambda *_, **__: torch.tensor([given.pop(0)])}
    decode = functions_of(ENGINE.root() / "speculative_decoding" / "speculative_decoding.py", NAMES, scope)[-1]
    cache = torch.zeros(1, 1, 1), None

    def speculative_decoding_step(p: Any, q: Any, drafts: Any) -> Any:
        def small(text: Any, **_: Any) -> Any:
            if not given:
                raise StopIteration(text[0, 1:].tolist())  # ends the loop before its second step
            return q[None, : len(drafts) - len(given) + 1], cache

        given[:] = drafts.tolist()
        try:
            decode(lambda *_, **__: (p[None], cache), small, torch.zeros(1, 1).long(), 999, len(drafts), filter_thres=0)
        except StopIteration as ended:
            return ended.value

    return beside(__file__, "_stub_models.py").on_logits(speculative_decoding_step)


LOOP = judged("speculative_decoding", step, change="compare with >=, not >; draw from p where the residual is empty")
REPLACED = "the two models by tables of probabilities, and its drafts by drafts that the gate draws"
ENGINE = Engine(packages=("speculative-decoding==0.2.0",), needs=("einops",), replaces=REPLACED, adapters=(LOOP,))
