"""Medusa: typical acceptance of a fixed tree of candidates. The rule is lossy by design."""

from __future__ import annotations

from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, functions_of, paths_of

THRESHOLD, ALPHA = 0.09, 0.3  # the defaults of `medusa_generate`
PADDING = -1


def typical(temperature: float) -> Any:
    import torch

    torch.set_num_threads(1)
    path = ENGINE.root() / "medusa" / "model" / "utils.py"
    (evaluate,) = functions_of(path, ["evaluate_posterior"], {"torch": torch})

    def verify(p: Any, q: Any, drafts: Any, parents: Any) -> Any:
        paths = paths_of(parents.tolist())
        longest = max(map(len, paths))
        candidates = torch.full((len(paths), longest + 1), PADDING)
        logits = torch.log(p[:1]).repeat(len(paths), longest + 1, 1)
        for i, nodes in enumerate(paths):
            candidates[i, 1 : len(nodes) + 1] = drafts[nodes]
            logits[i, 1 : len(nodes) + 1] = torch.log(p[[node + 1 for node in nodes]])
        # Shorter paths are padded with token V - 1, which is not accepted, because there token 0 has all mass.
        filled = torch.where(candidates == PADDING, p.shape[-1] - 1, candidates)
        ends = torch.full_like(logits[0, 0], -1e9)
        ends[0] = 0
        logits[:, :-1][candidates[:, 1:] == PADDING] = ends
        best, length = evaluate(logits * temperature, filled, temperature, THRESHOLD, ALPHA)
        best, length = int(best), int(length)
        row = p[paths[best][length - 1] + 1] if length else p[0]
        return [*drafts[paths[best][:length]].tolist(), int(torch.argmax(row))]  # the last token begins the next step

    return adapter(
        verify,
        drafts="top_k_tree",
        level="tree",
        arrays="torch",
        races=False,
        tolerance=1.0,
        name=f"medusa_typical_at_{temperature:g}",
    )


ENGINE = Engine(
    packages=("medusa-llm==0.1",),
    adapters=(
        EngineAdapter(
            "typical_acceptance",
            lambda: typical(1.0),
            models=20,
            predictions=64,
            tiers=("proof",),
            note="lossy by design, any departure is admitted; after the accepted tokens comes the most probable one",
        ),
    ),
)
