"""SGLang's verification step of EAGLE with rejection sampling, which applies requests' settings before its kernel."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import functions_of

WRITTEN = (1, 0, 1)  # tokens of the request before the step
FREQUENCY, MIN_P = 0.5, 2.0**-4


def step_of(root: Path, kernel: Any, block: bool = False) -> Any:
    """Returns the engine's function `eagle_sample`, with block verification if `block`. When called, it imports names
    from modules that load device libraries, so these modules are replaced by modules with only the imported names."""
    import torch

    sglang = root / "sglang" / "srt"
    one = SimpleNamespace(world_size=1)
    for name, found in {
        "layers.dp_attention": {"is_dp_attention_enabled": lambda: False},
        "runtime_context": {"get_parallel": lambda: SimpleNamespace(tp_group=one)},
        "sampling.penaltylib.repetition_penalty": {"apply_scaling_penalties": None},
        "speculative.spec_utils": {
            "SIMULATE_ACC_LEN": -1,
            "SIMULATE_ACC_TOKEN_MODE": "",
            "generate_simulated_accept_index": None,
        },
        "utils.async_probe": {"maybe_detect_nan": lambda *_: None, "sanitize_nan_logits": lambda *_: None},
    }.items():
        stand_in = ModuleType(f"sglang.srt.{name}")
        vars(stand_in).update(found)
        sys.modules[stand_in.__name__] = stand_in
    options = SimpleNamespace(
        speculative_use_rejection_sampling=True,
        speculative_use_block_verification=block,
        speculative_accept_threshold_single=1.0,
        speculative_accept_threshold_acc=1.0,
    )
    scope = {
        "torch": torch,
        "partial": partial,
        "get_spec": lambda: options,
        "sampling_softmax": lambda logits, temperatures: torch.softmax(logits / temperatures, -1),
        "chain_speculative_sampling_triton": kernel,
    } | dict.fromkeys(("_is_cuda", "_is_cpu", "_is_hip", "_is_xpu"), False)
    names = ["eagle_sample", "_verify_coins", "_verify_uses_greedy", "_can_use_sparse_uno_tree_target_sampling"]
    return functions_of(sglang / "speculative" / "eagle_utils.py", names, scope)[0]


def step_input(tokens: Any, proposals: Any, lengths: list[int], temperatures: Any, **settings: Any) -> tuple[Any, Any]:
    """Returns the verification input and the batch. tokens [B (n + 1)]: each request's last token, then its drafts.
    lengths: lengths of the texts so far. settings: fields of the batch's sampling information."""
    import torch

    count = len(lengths)
    slots = len(tokens) // count
    verified = SimpleNamespace(
        draft_token=tokens,
        draft_token_num=slots,
        max_tree_depth=slots,
        tree_topk=1,
        draft_probs=proposals,
        retrieve_index=torch.arange(len(tokens)).reshape(count, slots),
        retrieve_next_token=None,
        retrieve_next_sibling=None,
    )
    never = "has_watermark_candidates", "is_all_greedy", "need_top_k_sampling", "need_top_p_sampling"
    info = dict.fromkeys(("acc_additive_penalties", "acc_scaling_penalties", "logit_bias", "sampling_seed"))
    info |= dict.fromkeys((*never, "need_min_p_sampling"), False)
    info |= {"temperatures": temperatures, "min_ps": torch.zeros(count)} | settings
    return verified, SimpleNamespace(
        device="cpu",
        forward_mode=SimpleNamespace(is_idle=lambda: False),
        seq_lens=torch.tensor(lengths),
        sampling_info=SimpleNamespace(**info),
        return_logprob=False,
    )


def eagle_sample(step: Any, setting: str, named: str = "") -> Any:
    """Returns a subject of the second request of a batch, at temperature 0.7. Its logits become log p when the engine
    applies `setting`: `bias`, `min_p` or `frequency_penalty`. The first request has temperature 1.5 and rows with the
    tokens in reverse order. Tokens with p = 0, which min-p must remove, get half the least weight that min-p keeps."""
    import torch

    torch.set_num_threads(1)

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        n, size = drafts.shape[0], p.shape[-1]
        rows, bias, penalty = torch.log(p), torch.zeros(2, size), None
        if setting == "min_p":
            rows = torch.where(p > 0, rows, rows.max(-1, keepdim=True).values + torch.tensor(MIN_P / 2).log())
        rows = rows * 0.7
        if setting == "bias":
            bias[1, 0] = 1.0
            rows[:, 0] -= 1.0
        if setting == "frequency_penalty":
            counts = torch.nn.functional.one_hot(torch.tensor(WRITTEN) % size, size).sum(0)
            before = torch.nn.functional.one_hot(drafts, size).cumsum(0)
            penalty = torch.zeros(2, size)
            penalty[1] = -FREQUENCY * counts
            rows = rows + FREQUENCY * (counts + torch.cat([torch.zeros(1, size), before]))
        slots = n + 1
        first = torch.tensor([WRITTEN[-1] % size])
        verified, batch = step_input(
            torch.cat([first, size - 1 - drafts, first, drafts]),
            torch.stack([q.flip(-1), q]),
            [len(WRITTEN)] * 2,
            torch.tensor([[1.5], [0.7]]),
            acc_additive_penalties=penalty,
            logit_bias=bias,
            min_ps=torch.tensor([0.0, MIN_P if setting == "min_p" else 0.0]),
            need_min_p_sampling=setting == "min_p",
        )
        logits = SimpleNamespace(next_token_logits=torch.cat([torch.log(p.flip(-1)), rows]))
        tokens, lengths, _ = step(verified, batch, logits)
        return tokens[slots : slots + int(lengths[1])].tolist()

    return adapter(verify, arrays="torch", races=False, name=f"sglang_eagle_sample_{named or setting}")
