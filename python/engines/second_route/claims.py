"""Runs published code of docs/findings/claims-2026.md unchanged, and counts its texts on a model of two tokens.

    python python/engines/second_route/claims.py NAME CHECKOUT [TEXTS]

NAME is lumina or cosmos (commit 7322379 of junhyukso/SCD), or spectr_gbv (commit e399f44 of junemily/SpecTr-GBV).
Requires torch.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import torch

from draftproof.engines import functions_of, module_of

HALF = torch.tensor([0.5, 0.5])


def window(step: Callable[..., tuple[int, Any, Any]], rows_of: Any, drafts: list[int]) -> tuple[int, ...]:
    """Returns two tokens, written by steps on a window of two drafts. `rows_of(None)` is the target's row for the first
    token, `rows_of(first)` its row for the second token after `first`. Each draft of `drafts` has a proposal row with
    all mass on this draft.

    `step` takes the drafts and their rows after the last token of the text, and the target's tokens and rows for them.
    It returns the number of tokens that the text gets, and all tokens and rows.
    """
    text: list[int] = []
    rows = list(torch.eye(2)[drafts])
    while len(text) < 2:
        seen = [*text, *drafts]
        after = torch.stack([rows_of(None), rows_of(seen[0]), HALF][len(text) :])[None]
        own = torch.multinomial(after[0], 1).T
        before = torch.stack([torch.zeros(2), *rows])[None]
        kept, tokens, scores = step(torch.tensor([[0, *drafts]]), before, own, after.clone())
        text += tokens[0, :kept].tolist()
        drafts, rows = tokens[0, kept : len(drafts)].tolist(), list(scores[0, kept : len(drafts)])
    return tuple(text[:2])


def lumina(checkout: Path) -> Callable[[], tuple[int, ...]]:
    """Returns a function that writes a text. Tokens have probability 1/2 after any text; the first drafts are 0 0."""
    file = checkout / "lumina1/scheduler/jacobi_iteration_lumina_mgpt_SCDMC.py"
    names = ("SpeculativeSampler", "prefix_matching_next_tokens")
    sampler, match = functions_of(file, names, {"torch": torch, "F": torch.nn.functional})
    zeros = [torch.zeros(1), torch.zeros(1, 2), torch.zeros(1, dtype=torch.long)]

    def step(ids: Any, before: Any, own: Any, after: Any) -> tuple[int, Any, Any]:
        decide = sampler(
            reject_sampling_relative_ids=zeros[0],
            reject_sampling_draft_token_logits=zeros[1],
            sampling_last_draft_token=zeros[2],
        )
        given = {"input_token_scores": before, "prefix_token_sampler": decide, "all_collected_input_ids": ids[:, :1]}
        kept, *parts = match(ids, own, after, **given)
        return kept, torch.cat(parts[:2], 1), torch.cat(parts[2:], 1)

    return lambda: window(step, lambda first: HALF, [0, 0])


def cosmos(checkout: Path, *, coupled: bool = False) -> Callable[[], tuple[int, ...]]:
    """Returns a function that writes a text. The target's first token is 0; its second token is uniform after 0, and 0
    after 1. The first drafts are drawn uniformly."""
    file = checkout / "cosmos/cosmos1/models/autoregressive/sjd/speculative_sampler.py"
    decide = module_of(file, "scd_cosmos").CosmosSpeculativeSampler()

    def step(ids: Any, before: Any, own: Any, after: Any) -> tuple[int, Any, Any]:
        first, tokens, _ = decide(ids, own, before, after, maximal_coupling=coupled)
        return first[0], tokens, after

    def rows_of(first: int | None) -> Any:
        return HALF if first == 0 else torch.tensor([1.0, 0.0])

    return lambda: window(step, rows_of, torch.randint(2, (2,)).tolist())


def cosmos_coupled(checkout: Path) -> Callable[[], tuple[int, ...]]:
    return cosmos(checkout, coupled=True)


def spectr_gbv(checkout: Path) -> Callable[[], tuple[int, ...]]:
    """Returns a function that runs one step of the decoder with two candidates of one token: p = (1 1)/2, q = (0 1)."""

    class Cache:
        """Replaces the decoder's cache, which calls a transformer. This model has one row, whatever the context is."""

        def __init__(self, model: Any, *_: Any) -> None:
            self.row = model.row

        def generate(self, ids: Any, count: int) -> Any:
            self.prob_history = self.row.expand(len(ids), ids.shape[1] + count - 1, 2)
            return torch.cat([ids, torch.multinomial(self.row, len(ids) * count, True).view(len(ids), count)], 1)

        def select_candidate(self, index: int) -> None:
            pass

        def rollback(self, end: int) -> None:
            self.prob_history = self.prob_history[:, :end]

    def sample(weights: Any) -> Any:
        return torch.multinomial(weights, 1).view(-1)

    scope: dict[str, Any] = {"torch": torch, "time": __import__("time"), "ABC": object, "abstractmethod": lambda f: f}
    scope |= {"KVCacheModel": Cache, "sample": sample}
    (decoding,) = functions_of(checkout / "src/engine.py", ["Decoding.speculative_decoding"], scope)
    settings = Namespace(gamma=1, max_tokens=1, temp=1.0, top_k=0, top_p=1.0)
    models = [SimpleNamespace(row=row, device=torch.device("cpu")) for row in (torch.tensor([0.0, 1.0]), HALF)]
    self = SimpleNamespace(args=settings, draft_model=models[0], target_model=models[1], vocab_size=2)
    return lambda: tuple(decoding(self, torch.zeros(1, 1, dtype=torch.long), 2)[0][0, 1:].tolist())


if __name__ == "__main__":
    known: dict[str, Any] = {fn.__name__: fn for fn in (lumina, cosmos, cosmos_coupled, spectr_gbv)}
    if len(sys.argv) < 3 or sys.argv[1] not in known:
        sys.exit("expected one of " + ", ".join(known) + ", and the folder of its checkout")
    torch.manual_seed(1)
    torch.set_num_threads(1)
    run, texts = known[sys.argv[1]](Path(sys.argv[2])), int(sys.argv[3]) if sys.argv[3:] else 40_000
    counts = Counter(run() for _ in range(texts))
    for text, count in sorted(counts.items()):
        print(text, f"{count / texts:.4f}")
