"""specstream: texts of its loop, which draws every token from the target."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from draftproof.engines import Engine, EngineAdapter, beside, functions_of


def texts() -> Any:
    import torch
    from torch.nn import functional

    stubs = beside(__file__, "_stub_models.py")
    path, scope = ENGINE.root() / "specstream" / "speculative_streaming.py", {"torch": torch, "F": functional}
    (loop,) = functions_of(path, ["SpeculativeStreaming.generate_speculative"], scope)

    def more(target: Any, proposal: Any, text: list[int], drafts: int) -> Any:
        own = SimpleNamespace(base_model=target, stats=dict.fromkeys(COUNTS, 0))
        own.config = SimpleNamespace(temperature=1.0)
        own.reset_statistics = own._update_final_statistics = lambda: None
        own.build_speculation_tree = lambda *given: None
        own.verify_speculation_tree = lambda *given: ([], 0.0)
        out = loop(own, torch.tensor([text]), SimpleNamespace(eos_token_id=None), 16)
        if (read := out["past_key_values"].get_seq_length()) > len(text) + 16:
            raise RuntimeError(f"the target has read {read} tokens of a text of {len(text) + 16}")
        return out["generated_tokens"]

    return stubs.written(more, "specstream_texts")


COUNTS = ("total_tokens_generated", "accepted_speculative_tokens", "total_forward_passes")
ENGINE = Engine(
    packages=("specstream==1.0.0",),
    replaces="the target, by a table; the tree of drafts, which decides nothing, by nothing",
    adapters=(EngineAdapter("texts", texts, tiers=("sampled",)),),
)
