"""vLLM: the rejection samplers of both model runners as Triton kernels, under Triton's interpreter."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import EQUAL, IMPOSSIBLE, OF_TWO, TWO_DRAFTS, Engine, EngineAdapter, beside, on_one

# p = q bit for bit, with a draft of small probability. If u is near 1, log u is lost by rounding when it is added to
# log q.
LOG_RATIO = "L=1 K=1 [] p=(0 9999 1 0)/10000 q=(0 9999 1 0)/10000"
# A small instance for adapters of batches, which need more than a thousand calls per distribution.
OF_THREE = "L=1 K=1 [] p=(2 5 1)/8 q=(3 1 4)/8 [0] p=(1 2 1)/4 q=(1 0 0)/1 [1] p=(3 1 4)/8 q=(1 0 0)/1"


def hasten() -> None:
    beside(__file__, "_triton_interpreter.py").hasten()


def first_runner() -> Any:
    hasten()
    shared = beside(__file__, "_vllm_batches.py")
    return shared.chain_adapter(shared.engine_modules(), True, True, "vllm_rejection_sampler")


def first_runner_batch(**cut: float) -> Any:
    hasten()
    shared = beside(__file__, "_vllm_batches.py")
    from vllm.v1.sample.ops import topk_topp_sampler

    topk_topp_sampler.HAS_TRITON = False
    return shared.among_others(shared.engine_modules(), "vllm_among_others_" + "_".join(cut), 0.7, **cut)


def first_runner_processors(make: str) -> Any:
    hasten()
    shared = beside(__file__, "_vllm_batches.py")
    from vllm.utils import torch_utils
    from vllm.v1.sample.ops import penalties

    torch_utils.PIN_MEMORY = penalties.PIN_MEMORY = False
    return getattr(beside(__file__, "_vllm_processors.py"), make)(shared.engine_modules(), shared)


def second_runner(block: bool, among: bool = False, processed: bool = False) -> Any:
    hasten()
    return beside(__file__, "_vllm_second_runner.py").second_runner(block, among, processed)


def drafter(temperature: float) -> Any:
    """Returns a subject that drafts with the first model runner's function at `temperature`. The logits are first
    multiplied by `temperature`, so that drafts must follow q."""
    import torch

    torch.set_num_threads(1)
    from vllm.v1.spec_decode.llm_base_proposer import compute_probs_and_sample_next_token

    def draft(q: Any, k: int) -> Any:
        sampling = SimpleNamespace(all_greedy=False, all_random=True, temperature=torch.full((k,), temperature))
        return compute_probs_and_sample_next_token(torch.log(q).expand(k, -1) * temperature, sampling)[0]

    return adapter(None, name="vllm_drafter", arrays="torch", draft=draft)


ENGINE = Engine(
    packages=("vllm==0.33.0",),
    needs=tuple((Path(__file__).parent / "vllm_needs.txt").read_text().split()),
    environment={"VLLM_LOGGING_LEVEL": "ERROR", "CUDA_VISIBLE_DEVICES": "", "TRITON_INTERPRET": "1"},
    replaces="the Triton kernel of top-k and top-p, which the interpreter does not take, by the engine's torch "
    "function; in the second runner libdevice.log1p, which the interpreter lacks, by numpy's, and the race of the last "
    "token, whose noise is hashed from seeds, by a draw from its weights; pinned memory, by nothing",
    adapters=(
        EngineAdapter(
            "rejection_sampler",
            first_runner,
            models=1,
            predictions=16,
            tiers=("proof",),
            instances=(EQUAL, IMPOSSIBLE),
            shrinks=False,
            note="first model runner, the whole sampler at temperature 1",
        ),
        EngineAdapter(
            "second_runner_token",
            lambda: second_runner(False),
            models=1,
            predictions=16,
            tiers=("proof",),
            instances=(LOG_RATIO,),
            shrinks=False,
        ),
        EngineAdapter(
            "second_runner_block",
            lambda: second_runner(True),
            models=1,
            predictions=16,
            tiers=("proof",),
            instances=(TWO_DRAFTS,),
        ),
        EngineAdapter(
            "drafter", lambda: drafter(0.7), tiers=("sampled",), note="of the first runner, at temperature 0.7"
        ),
        on_one(
            "among_others_top_k",
            lambda: first_runner_batch(top_k=1),
            OF_THREE,
            "a ragged batch with a greedy request and temperatures 0.5 and 0.7; "
            "its top-k removes only the added tokens",
        ),
        on_one(
            "among_others_top_p",
            lambda: first_runner_batch(top_p=1 - 2**-16),
            OF_TWO,
            "the same with a top-p that removes only the added tokens",
        ),
        on_one(
            "among_others_penalties",
            lambda: first_runner_processors("penalties"),
            OF_TWO,
            "frequency, presence and repetition penalties, different for each request",
        ),
        on_one(
            "among_others_masks",
            lambda: first_runner_processors("masks"),
            OF_TWO,
            "allowed tokens and bad words of one token and of two",
        ),
        on_one(
            "least_length",
            lambda: first_runner_processors("least_length"),
            OF_TWO,
            "min_tokens holds the stop token back for one more token, not for those after it",
        ),
        on_one(
            "second_runner_token_among_others",
            lambda: second_runner(False, True),
            OF_TWO,
            "a ragged batch with a greedy request and temperatures 0.7 and 1",
        ),
        on_one("second_runner_block_among_others", lambda: second_runner(True, True), OF_TWO),
        on_one(
            "second_runner_processed",
            lambda: second_runner(False, True, True),
            OF_TWO,
            "the same behind allowed tokens, a bias, a least length, penalties, bad words and min-p",
        ),
    ),
)
