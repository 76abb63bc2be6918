"""speculative-decoding: the first step of its loop on two networks, and texts, for what it keeps of its caches."""

from __future__ import annotations

from typing import Any

from draftproof.engines import Engine, EngineAdapter, beside, functions_of, judged


def loop(texts: bool) -> Any:
    from einops import rearrange

    stubs = beside(__file__, "_stub_models.py")
    given = stubs.Given()
    draw = lambda logits, **_: given.multinomial(logits.softmax(-1), 1)[:, 0]  # noqa: E731
    scope = beside(__file__, "_sources.py").scope(torch=given, rearrange=rearrange, gumbel_sample=draw)
    path = ENGINE.root() / "speculative_decoding" / "speculative_decoding.py"
    decode = functions_of(path, ["speculative_decoding", "top_k", "safe_div", "find_first_true_index"], scope)[0]

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        given.left = drafts.tolist()
        networks = (stubs.Model(rows, by_place=True).cached for rows in (p, q))
        _, accepted = decode(*networks, stubs.ROOT, 2, len(drafts), filter_thres=0.0)
        return [*drafts[: int(accepted)].tolist(), int(given.last)]

    def more(p: Any, q: Any, text: list[int], drafts: int) -> Any:
        return decode(p.cached, q.cached, given.tensor([text]), len(text) + 64, drafts, filter_thres=0.0)[0][0].tolist()

    return stubs.written(more, "texts", 2) if texts else stubs.on_logits(verify)


ENGINE = Engine(
    packages=("speculative-decoding==0.2.0",),
    needs=("einops==0.8.1",),
    replaces="the networks, by tables; the contents of their caches, by the tokens; Gumbel noise, by a draw",
    adapters=(
        judged("first_step", lambda: loop(False), change="accept with r < p / q; draw from p where p - q is empty"),
        EngineAdapter("texts", lambda: loop(True), tiers=("sampled",), note="with networks that see two tokens"),
    ),
)
