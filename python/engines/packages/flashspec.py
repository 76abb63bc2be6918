"""flashspec: adapters of its decision functions in PyTorch, and of `rejection_step` with its kernel in assembly."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from draftproof.engines import Engine, beside, judged


def decide(name: str, module: str = "rejection", assembly: bool = False, **given: Any) -> Any:
    beside(__file__, "_sources.py").without_init(ENGINE.root(), "flashspec.sampling", "flashspec.utils")
    own: Any = import_module(f"flashspec.sampling.{module}")
    if module == "rejection":
        own._install_asm_backend()
        own._ASM_AVAILABLE = assembly and own._ASM_AVAILABLE

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        if name.startswith("rejection_step"):
            rows = (p[None],) if name == "rejection_step_onehot" else (q[None], p[None])
            accepted, token = getattr(own, name)(drafts[None], *rows)[0].tolist()
            return [*drafts[:accepted].tolist(), token]
        context = [None] * (name == "rejection_sample")
        tokens = getattr(own, name)(*context, q[None], p[None, :-1], drafts[None], len(drafts))[0][0]
        return [x for x in tokens.tolist() if x >= 0]

    return beside(__file__, "_stub_models.py").on_logits(verify, **given)


ENGINE = Engine(
    packages=("flashspec==0.3.1",),
    needs=("flashspec-asm-kernel==0.1.2",),
    adapters=(
        *(judged(name, lambda name=name: decide(name)) for name in ("rejection_step", "rejection_sample")),
        judged("rejection_step_assembly", lambda: decide("rejection_step", assembly=True)),
        judged("rejection_step_onehot", lambda: decide("rejection_step_onehot")),
        judged("typical_sample", lambda: decide("typical_sample", "typical", tolerance=1.0)),
    ),
)
