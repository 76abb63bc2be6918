"""rotalabs-accel: the decisions of its loops of one draft model, of EAGLE and of paths."""

from __future__ import annotations

from typing import Any

from draftproof.engines import Engine, beside, functions_of, judged


def decide(file: str, name: str) -> Any:
    stubs = beside(__file__, "_stub_models.py")
    scope = beside(__file__, "_sources.py").scope(DynamicCache=stubs.Cache, trim_kv_cache=lambda *_: None)
    root = ENGINE.root() / "rotalabs_accel" / "speculative"
    functions_of(root / "sampling.py", ["sample_from_logits", "_top_k_filtering", "_top_p_filtering"], scope)
    (fn,) = functions_of(root / f"{file}.py", [name], scope)

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        likely, target = q.softmax(-1).gather(1, drafts[:, None])[:, 0], stubs.Model(p, by_place=True)
        if name != "verify_tree":
            given = (drafts, likely) if name == "verify_tokens" else (drafts[None], likely[None])
            return fn(target, stubs.ROOT, *given, None, use_sampling=True)[0]
        path = [None, *(stubs.Output(token_id=int(x), prob=float(u)) for x, u in zip(drafts, likely, strict=True))]
        tree = stubs.Output(get_paths=lambda: [path], config=stubs.Output(max_depth=len(drafts)))
        return fn(target, stubs.ROOT, tree, drafts[[0, *range(len(drafts))]], likely)[0]

    return stubs.on_logits(verify)


CORE = "subtract the row q from p, not its entry at the draft; draw the last token: top_p is given as top_k"
EAGLE = "subtract the row q from p, not the number q(x); draw the last token"
ENGINE = Engine(
    packages=("rotalabs-accel==1.1.1",),
    replaces="the target model by a table of probabilities, and its drafts by drafts that the gate draws",
    adapters=(
        judged("verify_tokens", lambda: decide("core", "verify_tokens"), change=CORE),
        judged("eagle_verify", lambda: decide("eagle", "eagle_verify"), change=EAGLE),
        judged("verify_tree", lambda: decide("tree", "verify_tree"), change="subtract q; choose the path first"),
    ),
)
