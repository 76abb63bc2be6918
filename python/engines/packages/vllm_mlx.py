"""vllm-mlx: the decision on the one draft of a request, alone and in a batch, where one rejected draft rejects all."""

from __future__ import annotations

from typing import Any

from draftproof.engines import OF_TWO, Engine, beside, functions_of, judged

OTHER = -0.6931471805599453  # log 1/2: the other request's draft has q = 1 and p = 1/2


def mllm_step(batch: bool) -> Any:
    import torch

    stubs, mx = beside(__file__, "_stub_models.py"), beside(__file__, "_mlx_by_torch.py").Mlx
    path = ENGINE.root() / "vllm_mlx" / "mllm_batch_generator.py"
    scope = beside(__file__, "_sources.py").scope(mx=mx)
    accept, residual = functions_of(path, ["_accept_sampled_draft", "_residual_logprobs"], scope)

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        draws, x = mx.random.uniform(shape=(1 + batch,)).tolist(), int(drafts[0])
        kept = [accept(float(p[0, x]), float(q[0, x]), draws[0])] + [accept(OTHER, 0.0, one) for one in draws[1:]]
        if all(kept):
            return torch.cat([drafts, mx.random.categorical(p[1:])])
        left = p[:1] if batch else residual(p[:1], q[:1])  # the next step of a batch draws from the target's row
        return mx.random.categorical(left)

    name = "vllm_mlx_" + ("batch" if batch else "alone")
    return stubs.on_logits(verify, name=name, most_drafts=1)


CHANGE = "draw a rejected draft's replacement from the residual, and keep the other requests' accepted drafts"
ENGINE = Engine(
    packages=("vllm-mlx==0.6.0",),
    replaces="mlx, by torch; the step around its two functions, by one written from it",
    adapters=tuple(
        judged(one, lambda one=one: mllm_step(one == "batch"), instances=(OF_TWO,), change=CHANGE)
        for one in ("alone", "batch")
    ),
)
