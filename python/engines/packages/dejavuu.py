"""dejavuu: its descent of a chain of retrieved tokens, by draws whose seed is the place in the text."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, functions_of, judged


def accept() -> Any:
    import numpy as np

    core = ENGINE.root() / "dejavuu" / "core"
    stream = SimpleNamespace(default_rng=lambda seed: stream.rng)
    names = {name: getattr(np, name) for name in ("exp", "cumsum", "searchsorted")}
    scope: dict[str, Any] = {"np": SimpleNamespace(random=stream, **names)}
    functions_of(core / "sampling.py", ["_softmax", "pick"], scope)
    (token,) = functions_of(core / "sampling.py", ["Sampler.token"], scope)
    (descend,) = functions_of(core / "tree.py", ["accept", "pick_child"], scope)[:1]

    def dejavuu_accept(p: Any, q: Any, drafts: Any, rng: Any) -> Any:
        stream.rng = rng
        tree = SimpleNamespace(token_ids=[-1, *drafts.tolist()])
        tree.children = lambda node: [node + 1] if node < len(drafts) else []
        sampler = SimpleNamespace(temperature=1.0, top_p=1.0, seed=0)
        sampler.token = lambda row, position: token(sampler, row, position)
        return descend(tree, p, sampler)[0]

    return adapter(dejavuu_accept, logits=True, arrays="numpy", races=False)


ENGINE = Engine(
    packages=("dejavuu==0.2.0",),
    replaces="the generator seeded at each place, by one generator",
    adapters=(judged("accept", accept),),
)
