"""TensorRT-LLM: rejection sampling of its torch sampler, as it verifies drafts of a separate engine."""

from __future__ import annotations

from typing import Any, cast

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, functions_of

# In float32 token 0 has the same probability in p and q, and the probability of token 1 is a few ulps larger in q.
EQUAL_UP_TO_ROUNDING = "L=1 K=1 [] p=(2915 1)/2916 q=(5829 2)/5831"


def two_models() -> Any:
    import torch

    torch.set_num_threads(1)
    path = ENGINE.root() / "tensorrt_llm" / "_torch" / "pyexecutor" / "sampler" / "two_model_spec_dec.py"
    scope: dict[str, Any] = {"torch": torch, "cast": cast, "prefer_pinned": lambda: False}
    rejected, replacement = functions_of(path, ["get_rejected_indices", "sample_rejected"], scope)

    def tensorrt_llm_two_models(p: Any, q: Any, drafts: Any) -> Any:
        generator, tokens = torch.Generator(), drafts.tolist()
        refused = rejected(q, p[None, :-1], generator, tokens)
        if refused.numel() == 0:  # all accepted: the engine takes a sample of the target
            return [*tokens, int(torch.multinomial(p[-1], 1, generator=generator))]
        first = int(refused[0])
        return [*tokens[:first], replacement(q, p, generator, first)]

    return adapter(tensorrt_llm_two_models, arrays="torch", races=False)


ENGINE = Engine(
    sources="NVIDIA/TensorRT-LLM",
    commit="00be09f78ecf0691f2b8e15dea518d1d6468679e",
    parts=("tensorrt_llm/_torch/pyexecutor/sampler",),
    replaces="the loop around the two functions, by one written from its source; pinned memory, by nothing",
    adapters=(
        EngineAdapter(
            "two_models",
            two_models,
            models=12,
            predictions=64,
            instances=(EQUAL_UP_TO_ROUNDING,),
            note="two functions of tensorrt_llm/_torch/pyexecutor/sampler/two_model_spec_dec.py, commit 00be09f",
        ),
    ),
)
