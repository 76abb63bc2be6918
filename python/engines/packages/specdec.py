"""specdec: its class of two models, without the loading of models."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from draftproof.engines import Engine, beside, functions_of, judged


def verify() -> Any:
    import torch

    stubs = beside(__file__, "_stub_models.py")
    scope = {"torch": torch}
    (method,) = functions_of(ENGINE.root() / "specdec" / "decoder.py", ["SpecDecoder.verify"], scope)

    def specdec_verify(p: Any, q: Any, drafts: Any) -> Any:
        own = SimpleNamespace(device="cpu", big_model=stubs.Model(p, by_place=True))
        return method(own, stubs.ROOT, drafts.tolist(), [*torch.softmax(q, -1)[:, None]])

    return stubs.on_logits(specdec_verify)


ENGINE = Engine(
    packages=("specdec==0.2.0",),
    replaces="the two models, by tables",
    adapters=(judged("verify", verify),),
)
