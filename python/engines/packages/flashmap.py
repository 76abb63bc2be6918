"""flashmap: the first round of its loop for a model of transformers."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from draftproof.engines import Engine, beside, functions_of, judged


def first_round() -> Any:
    import torch

    stubs = beside(__file__, "_stub_models.py")
    given = stubs.Given()
    scope = beside(__file__, "_sources.py").scope(torch=given, DynamicCache=stubs.Cache, FlashMapCache=NOTHING)
    names = ["FlashMapDraftModel.spec_generate", "FlashMapGenerateOutput"]
    loop = functions_of(ENGINE.root() / "flashmap" / "modeling_flashmap.py", names, scope)[0]

    def flashmap_round(p: Any, q: Any, drafts: Any) -> Any:
        given.left = [0, *drafts.tolist()]  # 0 is the loop's first draw, of a token of the context
        target = stubs.Model(torch.cat([p[:1], p]), by_place=True)
        own = SimpleNamespace(device=target.device, dtype=None, config=SimpleNamespace(block_size=len(drafts)))
        own.check_target = own.extend_context = NOTHING
        own.target_features = lambda model: nullcontext(lambda: torch.zeros(1, len(p)))
        own.draft = lambda *given, **named: q[None]
        out = loop(own, target, stubs.ROOT, 2, 1.0, stop_token_ids=[])  # at 2 tokens the loop ends after a round
        return [*drafts[: out.acceptance_lengths[0] - 1].tolist(), int(given.last)]

    return stubs.on_logits(flashmap_round)


NOTHING = lambda *given, **named: None  # noqa: E731
ENGINE = Engine(
    packages=("flashmap==0.1.0",),
    replaces="the two models, by tables; their caches, by the tokens; the draws of drafts, by the gate's",
    adapters=(judged("first_round", first_round),),
)
