"""SPEC-RL: its rule for the number of tokens of an old response that are kept, after which a new response is generated.
The old response is one chain of drafts. The rule is lossy by design."""

from __future__ import annotations

from typing import Any

from draftproof.declare import adapter
from draftproof.engines import IMPOSSIBLE, OF_TWO, Engine, EngineAdapter, module_of


def cut(tolerance: float | None) -> Any:
    """Returns a subject of the rule. The old policy is the proposal; the new policy is the target."""
    import torch

    torch.set_num_threads(1)
    path = ENGINE.root() / "verl" / "utils" / "speculative_decoding.py"
    spec_cut = module_of(path, "dp_spec_rl").spec_cut

    def spec_rl_cut(p: Any, q: Any, drafts: Any) -> Any:
        old, new = (torch.log(rows[: len(drafts)].gather(1, drafts[:, None])).T for rows in (q, p))
        kept = int(spec_cut(old, new, torch.ones_like(old))["cut_idx"])
        return [*drafts[:kept].tolist(), int(torch.multinomial(p[kept], 1))]

    given = {} if tolerance is None else {"tolerance": tolerance, "name": "spec_rl_cut_tolerant"}
    return adapter(spec_rl_cut, arrays="torch", races=False, **given)


ENGINE = Engine(
    sources="ShopeeLLM/Spec-RL",
    commit="97da99ed54d663b238c417c728bc824c79cfab6f",
    parts=("verl/utils/speculative_decoding.py",),
    replaces="the fixed seed of its coins, by other coins each time; the generation behind the cut, by a draw from p",
    adapters=(
        EngineAdapter(
            "spec_cut",
            lambda: cut(None),
            models=12,
            predictions=64,
            tiers=("proof",),
            instances=(OF_TWO, IMPOSSIBLE),
            note="lossy by design: a token behind the cut is drawn from p, not from (p - q)+",
        ),
        EngineAdapter(
            "spec_cut_support",
            lambda: cut(1.0),
            models=12,
            predictions=64,
            tiers=("proof",),
            note="the same where any departure in total variation is admitted",
        ),
    ),
)
