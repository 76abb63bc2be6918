"""mini-infer: one step of its speculative decoding."""

from __future__ import annotations

from typing import Any

from draftproof.engines import Engine, beside, functions_of, judged


def speculative_step() -> Any:
    import torch

    stubs = beside(__file__, "_stub_models.py")
    given = stubs.Given()
    scope = {"torch": given, "F": torch.nn.functional}
    path = ENGINE.root() / "mini_infer" / "speculative" / "verifier.py"
    (step,) = functions_of(path, ["speculative_step"], scope)

    def mini_infer_step(p: Any, q: Any, drafts: Any) -> Any:
        given.left = drafts.tolist()
        models = (stubs.Model(rows, by_place=True) for rows in (p, q))
        return step(*models, stubs.ROOT, len(drafts), 1.0)[0]

    return stubs.on_logits(mini_infer_step)


ENGINE = Engine(
    packages=("mini-infer==0.2.5",),
    replaces="the two models by tables of probabilities, and its drafts by drafts that the gate draws",
    adapters=(judged("speculative_step", speculative_step),),
)
