"""SGLang's Triton kernel of chain verification, by token or by block, on batches. Its coins are arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import module_of


def kernel_of(root: Path) -> Any:
    path = root / "sglang" / "kernels" / "ops" / "speculative" / "reject_sampling.py"
    return module_of(path, "draftproof_sglang_reject_sampling").chain_speculative_sampling_triton


def chain(root: Path, block: bool, device: str) -> Any:
    """Returns a subject of the kernel on `device`, with coins that torch draws there."""
    import torch

    kernel = kernel_of(root)

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        b, slots = len(drafts), drafts.shape[1] + 1
        predicts = torch.full((b * slots,), -1, dtype=torch.int32, device=device)
        accepted = torch.full((b, slots), -1, dtype=torch.int32, device=device)
        count = torch.zeros(b, dtype=torch.int32, device=device)
        candidates = torch.cat([torch.zeros(b, 1, dtype=torch.int64), drafts], 1).to(device)
        index = torch.arange(b * slots, device=device).reshape(b, slots)
        last_column = torch.zeros(b, 1, device=device)  # zeros, as in the engine
        coins = torch.cat([torch.rand(b, slots - 1, device=device), last_column], 1)
        last = torch.rand(b, device=device)
        target, draft = (one.to(device).contiguous() for one in (p, q))
        kernel(
            predicts,
            accepted,
            count,
            candidates,
            index,
            None,
            None,
            coins,
            last,
            target,
            draft,
            1.0,
            1.0,
            True,
            block_verification=block,
        )
        tokens, counts = predicts.reshape(b, slots).cpu().long(), count.cpu()
        return torch.where(torch.arange(slots)[None] <= counts[:, None], tokens, -1)

    name = "sglang_chain_" + ("block" if block else "token")
    return adapter(verify, arrays="torch", batched=True, races=False, name=name)
