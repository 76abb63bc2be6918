"""economize: its verifiers of chains, one draft after the other and in a batch, and of trees."""

from __future__ import annotations

from typing import Any

from draftproof.engines import Engine, beside, judged


def verifier(rule: str, method: str, sampling: str = "iid", level: str = "chain", **given: Any) -> Any:
    beside(__file__, "_sources.py").without_init(ENGINE.root(), "economize.decoding", "economize.runtime")
    from economize.decoding import config, protocols, selectors, verifiers

    judge = verifiers.VERIFIERS.get(rule)(config.DecodeConfig(verifier=rule))
    shared = type("Shared", (selectors.TopPSampler,), {"generator_for": lambda self, device: None})()

    def verify(p: Any, q: Any, drafts: Any, parents: Any = None) -> Any:
        rows, ends = q.softmax(-1), drafts[:1]
        if method == "verify":
            kept, token = judge.verify(p, drafts.tolist(), rows, shared, ends, 1)
            return [*drafts[:kept].tolist(), token]
        tree, above = parents is not None, None if parents is None else parents[None]
        draft = protocols.Draft(drafts[None], [len(drafts)], above, rows[None])
        kept, token = getattr(judge, method)(p[None], draft, shared, *(() if tree else (ends[None], [1])))
        return [*drafts[kept[0] if tree else slice(int(kept))].tolist(), int(token[0])]

    return beside(__file__, "_stub_models.py").on_logits(verify, sampling, level=level, **given)


ENGINE = Engine(
    packages=("economize==0.3.2",),
    replaces="the seeded generator of its sampler, by torch's",
    adapters=(
        judged("rejection", lambda: verifier("rejection", "verify")),
        judged("rejection_batch", lambda: verifier("rejection", "verify_batch")),
        judged("rejection_tree", lambda: verifier("rejection", "verify_tree", "iid_paths", "tree"), instances=()),
        judged("typical", lambda: verifier("typical", "verify", tolerance=1.0)),
    ),
)
