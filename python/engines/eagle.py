"""EAGLE: `evaluate_posterior` of its repository, a fixed tree of candidate paths whose drafts count as having q = 1."""

from __future__ import annotations

import random
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, functions_of, paths_of

PADDING = -1


def evaluate_posterior() -> Any:
    import torch

    torch.set_num_threads(1)
    path = ENGINE.root() / "eagle" / "model" / "utils.py"
    (evaluate,) = functions_of(path, ["evaluate_posterior"], {"torch": torch, "random": random, "Tuple": tuple})

    def eagle_evaluate_posterior(p: Any, q: Any, drafts: Any, parents: Any) -> Any:
        nodes = paths_of(parents.tolist())
        longest = max(len(one) for one in nodes)
        root = int(p.shape[-1])  # differs from all drafts
        candidates = torch.full((len(nodes), longest + 1), PADDING)
        logits = torch.log(p[:1]).repeat(len(nodes), longest + 1, 1)
        for i, one in enumerate(nodes):
            candidates[i, 0] = root
            for depth, node in enumerate(one):
                candidates[i, depth + 1] = drafts[node]
                logits[i, depth + 1] = torch.log(p[node + 1])
        best, length, row = evaluate(logits, candidates, lambda ids, rows: rows)
        kept = candidates[int(best), 1 : int(length) + 1]
        return torch.cat([kept, torch.multinomial(row, 1)])  # the engine's caller does this

    return adapter(eagle_evaluate_posterior, drafts="iid_paths", level="tree", arrays="torch", races=False)


ENGINE = Engine(
    sources="SafeAILab/EAGLE",
    commit="cb7e0841fe0c206c6ed74a197ad5e2a1f13f5a2b",
    parts=("eagle/model",),
    adapters=(
        EngineAdapter(
            "evaluate_posterior",
            evaluate_posterior,
            models=10,
            predictions=64,
            tiers=("proof",),
            note="its rule takes the paths as given; the gate draws them from q",
        ),
    ),
)
