"""SGLang's verification step without the gate: two-token rows, counted over coins of torch.

TRITON_INTERPRET=1 CUDA_VISIBLE_DEVICES= python engines/second_route/by_hand_sglang_settings.py

The step of EAGLE with rejection sampling is called as its worker calls it, with one request and one draft. The token
behind accepted drafts is counted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import torch

from draftproof.engines import discover, module_of

ENGINE = discover()["sglang"]
HERE = Path(__file__).resolve().parents[1]
kernels = ENGINE.root() / "sglang" / "kernels" / "ops" / "speculative" / "reject_sampling.py"
kernel = module_of(kernels, "sglang_reject_sampling").chain_speculative_sampling_triton
step = module_of(HERE / "_sglang_eagle.py", "sglang_eagle").step_of(ENGINE.root(), kernel)


def behind(first: list[float], second: list[float], draft: int, steps: int = 2000, **settings: object) -> float:
    """The share of token 1 behind an accepted draft. first, second: logits of the two rows."""
    logits = torch.tensor([first, second])
    ones = accepted = 0
    while accepted < steps:
        verified = SimpleNamespace(
            draft_token=torch.tensor([0, draft]),
            draft_token_num=2,
            max_tree_depth=2,
            tree_topk=1,
            draft_probs=torch.softmax(logits[:1], -1)[None],
            retrieve_index=torch.arange(2)[None],
            retrieve_next_token=None,
            retrieve_next_sibling=None,
        )
        info = {
            "acc_additive_penalties": None,
            "acc_scaling_penalties": None,
            "logit_bias": None,
            "has_watermark_candidates": False,
            "is_all_greedy": False,
            "sampling_seed": None,
            "temperatures": torch.ones(1, 1),
            "need_top_k_sampling": False,
            "need_top_p_sampling": False,
            "min_ps": torch.zeros(1),
            "need_min_p_sampling": False,
        } | settings
        batch = SimpleNamespace(
            device="cpu",
            forward_mode=SimpleNamespace(is_idle=lambda: False),
            seq_lens=torch.ones(1),
            sampling_info=SimpleNamespace(**info),
            return_logprob=False,
        )
        tokens, lengths, _ = step(verified, batch, SimpleNamespace(next_token_logits=logits.clone()))
        accepted += int(lengths[0]) == 2
        ones += int(lengths[0]) == 2 and int(tokens[1]) == 1
    return ones / steps


torch.manual_seed(1)
torch.set_num_threads(1)
share = behind([0.0, 0.0], [0.0, -1.0], 0, min_ps=torch.full((1,), 0.5), need_min_p_sampling=True)
print(f"min_p = 1/2, p(1) = .37 p(0): token 1 comes in {share:.3f} of steps, wanted 0, without min_p .269")
penalty = torch.tensor([[-1.0, 0.0]])  # token 0 was written once, frequency penalty 1
share = behind([0.0, 0.0], [0.0, 0.0], 0, acc_additive_penalties=penalty)
print(f"frequency penalty 1, token 0 written and drafted: token 1 comes in {share:.3f} of steps, wanted .881")
share = behind([0.0, 0.0], [0.0, 0.0], 1, acc_additive_penalties=penalty)
print(f"frequency penalty 1, token 0 written, 1 drafted: token 1 comes in {share:.3f} of steps, wanted .500")
