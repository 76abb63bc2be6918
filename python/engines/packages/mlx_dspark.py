"""mlx-dspark: the decision of its loops on a block of drafts."""

from __future__ import annotations

from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, beside, functions_of, judged


def spec_sample_accept() -> Any:
    import torch

    torch.Tensor.astype = torch.Tensor.to  # the name in mlx
    mx = beside(__file__, "_mlx_by_torch.py").Mlx
    draw = lambda rows: mx.random.categorical(torch.log(rows + 1e-20))  # noqa: E731
    scope = {"mx": mx, "truncate_probs": lambda rows, *given: rows, "sample_probs": draw}
    (accept,) = functions_of(ENGINE.root() / "mlx_dspark" / "generate.py", ["_spec_sample_accept"], scope)

    def mlx_dspark_accept(p: Any, q: Any, drafts: Any) -> Any:
        kept, token = accept(p, drafts.tolist(), torch.softmax(q, -1), 1.0)
        return [*drafts[:kept].tolist(), token]

    return adapter(mlx_dspark_accept, logits=True, arrays="torch", races=False)


EMPTY = "L=1 K=1 [] p=(2915 1 0)/2916 q=(5829 2 0)/5831"  # p is at most q after the softmax in float32
CHANGE = "draw from p where the residual is empty, not from all tokens alike"
ENGINE = Engine(
    packages=("mlx-dspark==0.20.3",),
    replaces="mlx by torch; top-k and top-p are left out",
    adapters=(judged("spec_sample_accept", spec_sample_accept, shrinks=False, instances=(EMPTY,), change=CHANGE),),
)
