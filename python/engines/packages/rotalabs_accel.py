"""rotalabs-accel: the decisions of its loops of one draft model, of EAGLE and of paths."""

from __future__ import annotations

from types import SimpleNamespace as Own
from typing import Any

from draftproof.engines import Engine, beside, functions_of, judged


def decide(file: str, name: str) -> Any:
    import torch

    stubs = beside(__file__, "_stub_models.py")
    scope = {"torch": torch, "F": torch.nn.functional, "DynamicCache": stubs.Cache, "trim_kv_cache": lambda *_: None}
    root = ENGINE.root() / "rotalabs_accel" / "speculative"
    functions_of(root / "sampling.py", ["sample_from_logits", "_top_k_filtering", "_top_p_filtering"], scope)
    (fn,) = functions_of(root / f"{file}.py", [name], scope)

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        likely, target = torch.softmax(q, -1).gather(1, drafts[:, None])[:, 0], stubs.Model(p, by_place=True)
        if name != "verify_tree":
            given = (drafts, likely) if name == "verify_tokens" else (drafts[None], likely[None])
            return fn(target, stubs.ROOT, *given, None, use_sampling=True)[0]
        nodes = [Own(token_id=int(x), prob=float(u)) for x, u in zip(drafts, likely, strict=True)]
        tree = Own(get_paths=lambda: [[None, *nodes]], config=Own(max_depth=len(nodes)))
        return fn(target, stubs.ROOT, tree, torch.cat([drafts[:1], drafts]), likely)[0]

    return stubs.on_logits(verify)


FEW: dict[str, Any] = {"models": 3, "predictions": 16, "instances": ()}
CORE = (
    "subtract the row q from p, not its entry at the draft; draw the last token: top_p is given in the place of top_k"
)
EAGLE = "subtract the row q from p, not the number q(x); draw the last token"
TREE = "subtract the row q from p, not its entry at the draft; choose the path before tokens are tested"
ENGINE = Engine(
    packages=("rotalabs-accel==1.1.1",),
    replaces="the target model, by a table; the draws of drafts, by the gate's",
    adapters=(
        judged("verify_tokens", lambda: decide("core", "verify_tokens"), **FEW, change=CORE),
        judged("eagle_verify", lambda: decide("eagle", "eagle_verify"), **FEW, change=EAGLE),
        judged("verify_tree", lambda: decide("tree", "verify_tree"), **FEW, change=TREE),
    ),
)
