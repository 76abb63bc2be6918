"""speculative-decoding: the first step of its loop on two networks, and texts, for what it keeps of its caches."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from draftproof.engines import Engine, EngineAdapter, beside, functions_of, judged


def loop(texts: bool) -> Any:
    import torch
    from einops import rearrange

    stubs, seen, pad = beside(__file__, "_stub_models.py"), [], torch.nn.functional.pad
    given, end = stubs.Given(), lambda out, *rest, **named: seen.append(out) or pad(out, *rest, **named)
    scope = {"torch": torch, "F": SimpleNamespace(relu=torch.relu, pad=end), "math": math, "rearrange": rearrange}
    scope["gumbel_sample"] = lambda logits, **_: given.multinomial(torch.softmax(logits, -1), 1)[:, 0]
    path = ENGINE.root() / "speculative_decoding" / "speculative_decoding.py"
    decode = functions_of(path, ["speculative_decoding", "top_k", "safe_div", "find_first_true_index"], scope)[0]

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        given.left = drafts.tolist()
        models = (stubs.Model(rows, by_place=True).cached for rows in (p, q))
        decode(*models, stubs.ROOT, 2, len(drafts), filter_thres=0.0)
        return seen.pop()[0, 1:]

    def more(p: Any, q: Any, text: list[int], drafts: int) -> Any:
        out, _ = decode(p.cached, q.cached, torch.tensor([text]), len(text) + 64, drafts, filter_thres=0.0)
        return seen.clear() or out[0].tolist()

    return stubs.written(more, "texts", 2) if texts else stubs.on_logits(verify)


CHANGE = "accept with r < p / q, and draw from p where the residual is empty"
ENGINE = Engine(
    packages=("speculative-decoding==0.2.0",),
    needs=("einops==0.8.1",),
    replaces="the networks, by tables; the contents of their caches, by the tokens; Gumbel noise, by a draw",
    adapters=(
        judged("first_step", lambda: loop(False), change=CHANGE),
        EngineAdapter("texts", lambda: loop(True), tiers=("sampled",), note="with networks that see two tokens"),
    ),
)
