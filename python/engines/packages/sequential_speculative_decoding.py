"""sequential-speculative-decoding: one step of each of its methods, or texts of such steps."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from draftproof.engines import Engine, EngineAdapter, beside, judged


def step(file: str, name: str, texts: bool = False) -> Any:
    import torch

    stubs = beside(__file__, "_stub_models.py")
    beside(__file__, "_sources.py").without_init(ENGINE.root(), "seqspecdecod")
    given, fn = stubs.Given(), getattr(import_module(f"seqspecdecod.{file}"), name)
    import_module("seqspecdecod.sampling").torch = given

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        given.left = drafts.tolist()
        return fn(*(stubs.Model(rows, by_place=True) for rows in (q, p)), stubs.ROOT, len(drafts), 1.0, 1.0)[0][0, 1:]

    def more(target: Any, proposal: Any, text: list[int], drafts: int) -> Any:
        return fn(proposal, target, torch.tensor([text]), drafts, 1.0, 1.0)[0][0, len(text) :].tolist()

    return stubs.written(more, name) if texts else stubs.on_logits(verify)


POSSIBLE = "L=2 K=1 [] p=(1 2)/3 q=(2 1)/3 [0] p=(1 1)/2 q=(1 2)/3 [1] p=(1 1)/2 q=(1 2)/3"
EMPTY, COUNTS = "draw from p where the residual is empty", "pass numbers of tokens to the ratios, not indices"
ENGINE = Engine(
    packages=("sequential-speculative-decoding==0.1.1",),
    replaces="the two models by tables of probabilities, and its drafts by drafts that the gate draws",
    adapters=(
        judged("standard", lambda: step("standard_sd", "standard_speculative_step"), change=EMPTY),
        EngineAdapter("naive_hsd", lambda: step("naive_hsd", "naive_hsd_step", True), tiers=("sampled",)),
        judged("capped_hsd", lambda: step("capped_hsd", "capped_hsd_step"), instances=(POSSIBLE,), change=COUNTS),
    ),
)
