"""vllm-rbln: the rejection sampler in torch of a plug-in of vLLM, with a proposal and without."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import IMPOSSIBLE, Engine, beside, functions_of, judged


def rejection_sample(with_proposal: bool) -> Any:
    import torch

    given: dict[str, Any] = {"SamplingMetadata": object, "PLACEHOLDER_TOKEN_ID": -1, "GREEDY_TEMPERATURE": 0}
    given["generate_uniform_probs"] = lambda count, *_: torch.rand(count, dtype=torch.float64)
    scope = beside(__file__, "_sources.py").scope(**given)
    kernels = ["torch_rejection_random_sample_kernel", "torch_sample_recovered_tokens_kernel"]
    path = ENGINE.root() / "vllm_rbln" / "v1" / "sample" / "rbln_rejection_sampler.py"
    sample, *_ = functions_of(path, ["torch_rejection_sample", "sample_recovered_tokens", *kernels], scope)
    asked = SimpleNamespace(all_greedy=False, all_random=True, temperature=torch.ones(1), generators={})

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        n, bonus = len(drafts), torch.multinomial(p[-1:], 1)
        out = sample(drafts, [n], n, torch.tensor([n]), q if with_proposal else None, p[:-1], bonus, asked)[0]
        return out[out >= 0]

    return adapter(verify, arrays="torch", races=False, name="vllm_rbln_" + ("dense" if with_proposal else "certain"))


CHANGE = "compare with >, not >=; draw from p where the residual is empty"
EMPTY = "L=1 K=1 [] p=(0 2915 1)/2916 q=(0 5829 2)/5831"  # the residual of token 2, by which token 0 is emitted
GIVEN = {"change": CHANGE, "instances": (EMPTY, IMPOSSIBLE)}
ENGINE = Engine(
    packages=("vllm-rbln==0.12.0",),
    replaces="vLLM's uniforms and its draw of the last token, by torch's",
    adapters=tuple(
        judged(one, lambda one=one: rejection_sample(one == "dense"), **GIVEN) for one in ("dense", "certain")
    ),
)
