"""vllm-ascend: the rejection sampler in torch of a plug-in of vLLM, by token and, as its settings allow, by block."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

from draftproof.declare import adapter
from draftproof.engines import Engine, beside, functions_of, judged


def rejection_sample(block: bool) -> Any:
    import torch

    pinned = lambda name: lambda *values, pin_memory=False, **named: getattr(torch, name)(*values, **named)  # noqa: E731
    own = SimpleNamespace(**{**vars(torch), **{name: pinned(name) for name in ("arange", "full", "ones", "tensor")}})
    enabled = "return_value.rejection_sampler_config.enable_{}_verify"
    config = MagicMock(**{enabled.format("block"): block, enabled.format("entropy"): False})
    scope = beside(__file__, "_sources.py").scope(torch=own, logger=MagicMock(), get_ascend_config=config)
    scope |= {"SamplingMetadata": object, "PLACEHOLDER_TOKEN_ID": -1, "GREEDY_TEMPERATURE": 0, "HAS_TRITON": False}
    scope["generate_uniform_probs"] = lambda count, *_: torch.rand(count, dtype=torch.float64)
    kinds = ("sample_recovered_tokens", "rejection_random_sample", "rejection_random_sample_block_verify")
    path = ENGINE.root() / "vllm_ascend" / "sample" / "rejection_sampler.py"
    sample, *_ = functions_of(path, ["rejection_sample", kinds[0], *(f"{one}_pytorch" for one in kinds)], scope)
    asked = SimpleNamespace(all_greedy=False, all_random=True, temperature=torch.ones(1), generators={})

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        n, last = len(drafts), torch.multinomial(p[-1:], 1)
        return sample(drafts, [n], max(n, 3 * block), torch.tensor([n]), q, torch.log(p[:-1]), last, asked)[0]

    return adapter(verify, arrays="torch", races=False, name="vllm_ascend_" + ("block" if block else "token"))


CHANGE = {"token": "compare with >, not >=", "block": "test one number a position; draw from (prefix * p - q)+"}
ENGINE = Engine(
    packages=("vllm-ascend==0.23.0",),
    replaces="vLLM's uniforms, last draw and pinned memory, by torch's; settings, by stand-ins; Triton, by its torch",
    adapters=tuple(judged(one, lambda b=one == "block": rejection_sample(b), change=CHANGE[one]) for one in CHANGE),
)
