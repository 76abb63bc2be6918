"""csaq-quant: one block of its loop, whose draft and target are one model in two states."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY

from draftproof.engines import Engine, beside, functions_of, judged


def block() -> Any:
    import torch

    stubs = beside(__file__, "_stub_models.py")
    scope = beside(__file__, "_sources.py").scope()
    path, loop = ENGINE.root() / "csaq" / "inference.py", "CSAQInferenceEngine._generate_speculative"
    generate, _ = functions_of(path, [loop, "SpeculativeReport"], scope)

    def csaq_block(p: Any, q: Any, drafts: Any) -> Any:
        left, (target, draft) = drafts.tolist(), (stubs.Model(rows, by_place=True) for rows in (p, q))
        own = SimpleNamespace(model=draft, device="cpu", verbose=False, telemetry=Counter(), tokenizer=END)
        own._sample = lambda *given: (torch.tensor([[left.pop(0)]]), None)
        own._ensure_draft_state = own._swap_to_draft = lambda: vars(own).update(model=draft)
        own._swap_to_verify = lambda: vars(own).update(model=target)
        own._kv_len = lambda cache: cache.get_seq_length() if cache else 0
        own._truncate_kv = lambda cache, length: cache.crop(length) or cache
        return generate(own, stubs.ROOT, len(drafts), len(drafts), 1.0, 1.0)[0][0, 1:]

    return stubs.on_logits(csaq_block)


END = SimpleNamespace(eos_token_id=ANY)  # ANY equals every token, so the loop ends after one block
ENGINE = Engine(
    packages=("csaq-quant==0.6.0",),
    replaces="the model in its two states, by two tables; its cache, by the tokens; the draws of drafts, by the gate's",
    adapters=(judged("block", block, change="test draft k against row k of the target's logits, not row k + 1"),),
)
