"""EAGLE in the package eagle-llm: trees of drafts without replacement, tested against their proposal rows."""

from __future__ import annotations

import random
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, functions_of, paths_of

PADDING = -1


class Torch:
    """Stands for torch in the engine's drafter: multinomial returns the gate's drafts, every other name is torch's."""

    def __init__(self, torch: Any) -> None:
        self.torch, self.drawn = torch, None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.torch, name)

    def multinomial(self, *given: Any, **named: Any) -> Any:
        return self.drawn


def evaluate_posterior(temperature: float) -> Any:
    import torch

    torch.set_num_threads(1)
    own = Torch(torch)
    root = ENGINE.root() / "eagle" / "model"
    scope: dict[str, Any] = {"torch": torch, "random": random, "Tuple": tuple}
    (evaluate,) = functions_of(root / "utils.py", ["evaluate_posterior"], scope)
    (sample,) = functions_of(root / "cnets.py", ["Model.sample"], {"torch": own})

    def at_temperature(_: Any, logits: Any) -> Any:  # as the engine's processors of logits do
        return logits / temperature

    def verify(p: Any, q: Any, drafts: Any, parents: Any) -> Any:
        tokens, above = drafts.tolist(), parents.tolist()
        p, q = (temperature * torch.log(rows) for rows in (p, q))  # the engine divides by it
        paths = paths_of(above)
        shape = (len(paths), max(map(len, paths)) + 1)
        candidates, chances = torch.full(shape, PADDING), torch.ones(shape)
        logits = p[:1].repeat(*shape, 1)
        rows, earlier = ([[0] * shape[1] for _ in paths] for _ in range(2))
        proposals = torch.zeros_like(q)
        candidates[:, 0] = p.shape[-1]  # differs from all drafts
        for parent in set(above):
            children = [node for node in range(len(tokens)) if above[node] == parent]
            own.drawn = drafts[children][None]
            _, tested, row = sample(None, q[children[:1]], at_temperature, k=len(children))
            for i, node in enumerate(children):
                proposals[node] = row[0]
                for j, path in enumerate(paths):
                    if node in path:
                        depth = path.index(node) + 1
                        candidates[j, depth], chances[j, depth] = drafts[node], tested[0, i]
                        logits[j, depth] = p[node + 1]
                        rows[j][depth] = node
                        earlier[j][depth] = [before + 1 for before in children[:i]]
        tree = torch.cat([candidates[0, :1], drafts])[None]
        each = [proposals] * shape[1]
        best, length, row = evaluate(logits, candidates, at_temperature, chances, each, rows, tree, earlier)
        kept = candidates[int(best), 1 : int(length) + 1]
        return torch.cat([kept, torch.multinomial(row, 1)])  # the engine's caller does this

    name = f"eagle_llm_evaluate_posterior_at_{temperature:g}"
    return adapter(verify, drafts="without_replacement_tree", level="tree", arrays="torch", races=False, name=name)


ENGINE = Engine(
    packages=("eagle-llm==1.2.1",),
    replaces="its drafter by draws from the same distribution, "
    "and its logits processors by a division by the temperature",
    adapters=(
        EngineAdapter("temperature_1", lambda: evaluate_posterior(1.0), models=10, predictions=64, tiers=("proof",)),
        EngineAdapter("temperature_half", lambda: evaluate_posterior(0.5), models=10, predictions=64, tiers=("proof",)),
    ),
)
