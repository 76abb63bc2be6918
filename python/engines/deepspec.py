"""DeepSpec: `verify_draft_tokens` of its evaluation, one chain, with a table in place of the target model."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, functions_of, module_of


def verify_draft_tokens() -> Any:
    import torch

    torch.set_num_threads(1)
    root = ENGINE.root() / "deepspec"
    sampling = module_of(root / "utils" / "sampling.py", "dp_deepspec_sampling")
    scope: dict[str, Any] = {name: getattr(sampling, name) for name in sampling.__all__}
    scope |= {
        "torch": torch,
        "VerificationResult": SimpleNamespace,
        "DraftProposal": SimpleNamespace,
        "DynamicCache": object,
    }
    (verify,) = functions_of(root / "eval" / "base_evaluator.py", ["verify_draft_tokens"], scope)

    def deepspec_verify_draft_tokens(p: Any, q: Any, drafts: Any) -> Any:
        n = len(drafts)
        asked = torch.cat([torch.zeros(1, dtype=torch.int64), drafts])[None]
        result = verify(
            target_model=lambda **given: SimpleNamespace(logits=torch.log(p)[None]),
            proposal=SimpleNamespace(draft_token_count=n, verify_input_ids=asked, draft_probs=q[None]),
            position_ids=torch.arange(n + 1)[None],
            start=0,
            past_key_values_target=None,
            temperature=1.0,
            max_proposal_tokens=n,
        )
        return result.committed_tokens[0]

    return adapter(deepspec_verify_draft_tokens, arrays="torch", races=False)


def drafter(dtype: str) -> Any:
    """Returns a drafter that draws from logits in `dtype`, as the engine's draft models do. The engine's evaluation
    computes q in float32."""
    import torch

    torch.set_num_threads(1)
    sampling = module_of(ENGINE.root() / "deepspec" / "utils" / "sampling.py", "dp_deepspec_sampling")

    torch.manual_seed(1)  # the gate does not seed torch for batches

    def draft(q: Any, k: int) -> Any:
        logits = torch.log(q).to(getattr(torch, dtype))[:, None].expand(-1, k, -1)
        return sampling.sample_tokens(logits, temperature=1.0)

    return adapter(None, arrays="torch", batched=True, draft=draft, name=f"deepspec_drafter_{dtype}")


ENGINE = Engine(
    sources="deepseek-ai/DeepSpec",
    commit="afdfa7c9382a3341a3e6f17756dd816da79f132c",
    parts=("deepspec",),
    replaces="the target model, by the rows",
    adapters=(
        EngineAdapter("verify_draft_tokens", verify_draft_tokens, models=12, predictions=64),
        EngineAdapter("drafter_float32", lambda: drafter("float32"), tiers=("sampled",)),
        EngineAdapter("drafter_bfloat16", lambda: drafter("bfloat16"), tiers=("sampled",), note="on a CPU"),
        EngineAdapter("drafter_float16", lambda: drafter("float16"), tiers=("sampled",), note="on a CPU"),
    ),
)
