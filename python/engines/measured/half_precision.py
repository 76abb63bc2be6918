"""Top-p of engines on logits in half precision: their cumulative sums against sums in float64, on a CPU.

    python python/engines/measured/half_precision.py

Writes python/engines/measured/half_precision.json, which `draftproof engines --write-docs` shows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import torch

from draftproof.engines import discover, functions_of

TOP_P = 0.9


def row(vocabulary: int) -> Any:
    """Returns logits of probabilities proportional to (rank + 2.7)^-1.1, in a random order, [V]."""
    ranks = torch.arange(vocabulary, dtype=torch.float64)
    order = torch.randperm(vocabulary, generator=torch.Generator().manual_seed(1))
    return torch.log_softmax(-1.1 * torch.log(ranks + 2.7), -1)[order]


def wanted(logits: Any) -> Any:
    """Returns [V]: whether top-p keeps a token, by sums in float64. The likeliest tokens are kept, up to and including
    the first with which their mass exceeds TOP_P.
    """
    sorted_, order = logits.double().softmax(-1).sort(descending=True)
    kept = torch.zeros(len(logits), dtype=torch.bool)
    kept[order] = sorted_.cumsum(0) - sorted_ <= TOP_P
    return kept


def filters() -> Iterator[tuple[str, str, str, Callable[[Any], Any]]]:
    """Yields for each engine its name, its version, the name of its top-p function, and the function, which takes and
    returns logits [V]."""
    from transformers.generation import logits_process

    sequoia, eagle = (discover()[name] for name in ("sequoia", "eagle"))
    (cut,) = functions_of(sequoia.root() / "utils.py", ["get_sampling_logits"], {"torch": torch})
    yield "sequoia", sequoia.version(), "get_sampling_logits", lambda x: cut(x[None], TOP_P, 1.0, True)[0]
    scope = {**vars(logits_process)}
    (prepare,) = functions_of(eagle.root() / "eagle" / "model" / "utils.py", ["prepare_logits_processor"], scope)
    processors = prepare(temperature=1.0, top_p=TOP_P)
    yield "eagle", eagle.version(), "prepare_logits_processor", lambda x: processors(None, x[None].clone())[0]


def main() -> None:
    found = []
    for engine, version, function, cut in filters():
        for dtype in ("float32", "float16", "bfloat16"):
            for vocabulary in (32_000, 128_256):
                logits = row(vocabulary).to(getattr(torch, dtype))
                kept, right = torch.isfinite(cut(logits)), wanted(logits)
                p = logits.double().softmax(-1)
                distributions = [torch.where(one, p, 0.0) / p[one].sum() for one in (kept, right)]
                found.append(
                    {
                        "engine": engine,
                        "version": version,
                        "function": function,
                        "dtype": dtype,
                        "vocabulary": vocabulary,
                        "kept": int(kept.sum()),
                        "wanted": int(right.sum()),
                        "distance": float((distributions[0] - distributions[1]).abs().sum() / 2),
                    }
                )
                print(found[-1])
    Path(__file__).with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
