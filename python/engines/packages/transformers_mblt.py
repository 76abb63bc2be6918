"""transformers-mblt: the decision of its EAGLE-3 loop on a fixed tree, whose drafts count as having q = 1."""

from __future__ import annotations

from typing import Any, Optional

from draftproof.engines import Engine, beside, functions_of, judged, paths_of


def evaluate_posterior() -> Any:
    import torch

    none = type("LogitsProcessorList", (list,), {"__call__": lambda self, ids, rows: rows})
    given = {"LogitsProcessorList": none, "SOFTMAX_TOPK_MODE": "full", "_last_logged_softmax_topk_mode": "full"}
    scope = beside(__file__, "_sources.py").scope(Optional=Optional, PosteriorResult=tuple, **given)
    parts = ["softmax_topk_cpu_torch", "_softmax_topk_full_vocab", "_apply_logits_processor"]
    path = ENGINE.root() / "transformers_mblt" / "utils" / "eagle3" / "tree_decoding.py"
    evaluate, *_ = functions_of(path, ["evaluate_posterior", *parts, "_normalize_probs_or_fallback_uniform"], scope)

    def mblt_posterior(p: Any, q: Any, drafts: Any, parents: Any) -> Any:
        places = [torch.tensor([0, *(node + 1 for node in one)]) for one in paths_of(parents.tolist())]
        index = torch.nn.utils.rnn.pad_sequence(places, batch_first=True, padding_value=-1)
        tokens = torch.cat([torch.tensor([p.shape[-1]]), drafts, torch.tensor([-1])])
        best, length, row, ids = evaluate(p, tokens[index], none(), index)
        last = torch.multinomial(row.softmax(-1) if ids is None else row, 1)  # as the caller draws
        return torch.cat([tokens[index[best, 1 : int(length) + 1]], last if ids is None else ids[last]])

    return beside(__file__, "_stub_models.py").on_logits(mblt_posterior, "iid_paths", level="tree", tolerance=1.0)


NOTE = "right up to ten tokens; behind a rejected draft, only the ten likeliest tokens are drawn"
CHANGE = "compare with <, not with <="
OF_TWELVE = "L=1 K=1 [] p=(12 11 10 9 8 7 6 5 4 3 2 1)/78 q=(1 0 0 0 0 0 0 0 0 0 0 0)/1"
ENGINE = Engine(
    packages=("transformers-mblt==0.6.1",),
    replaces="the processors of logits, by nothing",
    adapters=(judged("evaluate_posterior", evaluate_posterior, instances=(OF_TWELVE,), note=NOTE, change=CHANGE),),
)
