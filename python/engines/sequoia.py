"""Sequoia: drafts without replacement by races, and the acceptance step at a node of its tree."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, functions_of

# p = q. The softmax of the logarithms of q is one step of float32 above p at token 0.
EQUAL_UP_TO_ROUNDING = "p=(17 19)/36 q=(17 19)/36 K=1"


def accept_step(dtype: str, rows: str = "") -> Any:
    """Returns a subject of one node of the engine's tree, with K children drawn without replacement from q. The noise
    and the coins, which the engine's loop stores in arrays, are drawn here as in that loop: uniformly in `dtype` on the
    CPU. `rows` is the dtype of the rows that the function gets; `dtype` if it is empty."""
    import torch
    from torch.nn.functional import softmax

    torch.set_num_threads(1)
    root, wide = ENGINE.root(), getattr(torch, dtype)
    scope: dict[str, Any] = {"torch": torch, "softmax": softmax}
    draw, residual = functions_of(root / "utils.py", ["sampling_without_replacement", "get_residual"], scope)
    (step,) = functions_of(root / "Tree" / "SpecTree.py", ["SpecTree.accept_step"], scope)

    def sequoia_accept_step(p: Any, q: Any, drafts: Any) -> Any:
        k = len(drafts)
        tree = SimpleNamespace(
            ground_truth_len=1,
            target_logits=p[None].clone(),
            draft_logits=torch.log(q)[None],
            temperature=1.0,
            Successors=[list(range(1, k + 1))],
            tokens=torch.cat([torch.zeros(1, dtype=torch.int64), drafts]),
            r=torch.rand(k + 1, dtype=wide),
            residual_graph=residual,
            dtype=wide,
        )
        place, left = step(tree, 0)
        return tree.tokens[place] if place != -1 else left.float().multinomial(1)

    def own_drafter(q: Any, k: int) -> Any:
        noise = torch.empty((1, len(q)), dtype=wide).uniform_()
        return draw(torch.log(q).to(wide)[None], noise, min(k, int((q > 0).sum())), 1.0)

    return adapter(
        sequoia_accept_step,
        drafts="without_replacement",
        level="position",
        arrays="torch",
        dtype=rows or dtype,
        races=False,
        draft=own_drafter,
        name=f"sequoia_accept_step_{dtype}",
    )


ENGINE = Engine(
    sources="Infini-AI-Lab/Sequoia",
    commit="0ff3ff71475ca148f2dfb7545e0de5caf5c67b39",
    parts=("*.py", "Tree"),
    replaces="the object of its tree, by one that has the rows of one node",
    adapters=(
        EngineAdapter(
            "accept_step_float32",
            lambda: accept_step("float32"),
            models=6,
            predictions=32,
            tiers=("proof",),
            instances=(EQUAL_UP_TO_ROUNDING,),
        ),
        EngineAdapter(
            "accept_step_float16",
            lambda: accept_step("float16"),
            models=4,
            predictions=32,
            tiers=("proof",),
            note="float16 is the default of its scripts",
        ),
        EngineAdapter("drafter_float32", lambda: accept_step("float32"), tiers=("sampled",)),
        EngineAdapter("drafter_float16", lambda: accept_step("float16", "float32"), tiers=("sampled",)),
    ),
)
