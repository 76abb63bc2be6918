"""SGLang's scheduler of verified drafts: the budget, from confidences of the step before, and the ranking of drafts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional, Union

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, functions_of
from draftproof.selection import Selection, before_drafts, padded


class Struct:
    """Replaces msgspec.Struct: sets the given fields; all others have the defaults of the class."""

    def __init__(self, **fields: Any) -> None:
        for name, value in fields.items():
            setattr(self, name, value)


def functions() -> tuple[Any, Any, Any]:
    """Returns the function that ranks drafts, the function that computes the budget, and the class of the
    configuration, as released. Raises: Missing."""
    import torch

    torch.set_num_threads(1)
    root = ENGINE.root() / "sglang"
    scope: dict[str, Any] = {
        "torch": torch,
        "msgspec": type("msgspec", (), {"Struct": Struct}),
        "SpsCostTable": Struct,
        "SpsAdditiveCostTable": type("SpsAdditiveCostTable", (), {}),
        "Optional": Optional,
        "Union": Union,
    }
    (rank,) = functions_of(
        root / "kernels" / "ops" / "speculative" / "dspark" / "dspark_schedule.py",
        [
            "schedule_verify_lens_topk",
            "schedule_verify_lens_topk_from_survival",
            "compute_sort_survival",
            "_value_independent_descending_order",
        ],
        {"torch": torch, "DSparkScheduleConfig": Struct},
    )[:1]
    budget, config = functions_of(
        root / "srt" / "speculative" / "dspark_components" / "dspark_planner.py",
        ["compute_verify_token_budget", "DSparkScheduleConfig", "VerifyBudgetDecision", "_lookup_sps_tensor"],
        scope,
    )[:2]
    return rank, budget, config


def planner(budget_of: Callable[[Selection, Any, Any], int], name: str) -> Any:
    import torch

    rank, budget, config = functions()

    def select(view: Selection) -> list[int]:
        confidence = torch.from_numpy(padded(view))
        given = config(gamma=confidence.shape[1])
        lengths = rank(confidence=confidence, budget=budget_of(view, budget, given), cfg=given)
        return [int(length) - 1 for length in lengths]  # the engine's length also counts the token after the drafts

    return adapter(None, select=select, arrays="torch", name=name)


def given_budget(view: Selection, budget: Any, config: Any) -> int:
    del budget, config
    return view.budget


def throughput_budget(confidence_of: Callable[[Any], Any]) -> Callable[[Selection, Any, Any], int]:
    def budget_of(view: Selection, budget: Any, config: Any) -> int:
        import torch

        requests, costs = len(view.requests), [float(cost) for cost in view.cost]
        drafts = sum(len(request.drafts) for request in view.requests)
        costs += costs[-1:] * (drafts + 1 - len(costs))
        table = Struct(
            sample_batch_tokens=[requests + n for n in range(len(costs))],
            sample_steps_per_sec=[1 / cost for cost in costs],
        )
        survival = torch.from_numpy(padded(view, confidence_of)).cumprod(1)
        return int(budget(history_survival_probs=survival, sps_table=table, cfg=config).budget)

    return budget_of


def past(request: Any) -> Any:
    return request.past_confidence


ENGINE = Engine(
    packages=("sglang==0.5.23",),
    replaces="msgspec.Struct, by a class with the same fields",
    adapters=(
        EngineAdapter(
            "ranking",
            lambda: planner(given_budget, "sglang_ranking"),
            tiers=("proof",),
            note="the ranking of drafts by survival probability, ties by position and then by request",
        ),
        EngineAdapter(
            "planner",
            lambda: planner(throughput_budget(past), "sglang_planner"),
            tiers=("proof",),
            note="as released: the budget uses the confidences of the previous step",
        ),
        EngineAdapter(
            "planner_without_lag",
            lambda: planner(throughput_budget(before_drafts), "sglang_planner_without_lag"),
            tiers=("proof",),
            note="not as released: the budget uses the confidences of this step, which the engine's lag avoids",
        ),
    ),
)
