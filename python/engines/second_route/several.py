"""Reproduces findings on engines that serve several requests, without the gate: runs the engine on the requests of the
finding.

    python python/engines/second_route/several.py NAME     a function below; without a name, their list
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from draftproof.engines import discover


def engine(name: str) -> Any:
    """Returns the module that declares the adapters of an engine."""
    discover()
    return sys.modules["draftproof_engine_" + name.replace("-", "_")]


def llama_cpp_server() -> None:
    """Sends three prompts one after another to one slot of the server. The models keep only their last state, which is
    the first token of the prompt, and every later token repeats it."""
    program = engine("llama-cpp").server()
    rows, after = [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]], [[1, 2], [1, 1], [2, 2]]
    shared = {"target": rows, "proposal": rows, "next": after, "ends": [], "slots": 1, "recurrent": True}

    def show(told: str, prompts: list[list[int]], drafts: int = 1, **fields: Any) -> None:
        """Prints the texts, and those expected: each repeats the first token of its prompt."""
        common = {"n_predict": 4, "seed": 1, "samplers": [], "return_tokens": True} | fields
        requests = [{"prompt": prompt} | common for prompt in prompts]
        document = json.dumps(shared | {"drafts": drafts, "requests": requests})
        said = subprocess.run([str(program)], input=document, capture_output=True, text=True, check=True)
        print(f"{told}: expected {[prompt[:1] * 4 for prompt in prompts]}, got {json.loads(said.stdout)}")

    first, second, third = [0] * 5, [1, 0, 0, 0, 0, 0], [1, 1]
    show("three prompts", [first, second, third])
    show("without drafts", [first, second, third], drafts=0)
    show("without the cache of prompts", [first, second, third], cache_prompt=False)
    show("without the first prompt", [second, third])
    show("without the second prompt", [first, third])
    show("the second prompt as long as the first", [first, second[:5], third])


def _vllm_cpu(prompt: list[int], most_tokens: int, asked: list[dict[str, Any]]) -> None:
    """Sends one request after another to the engine, and prints the number of tokens of each text, or the error."""
    import torch

    declared = engine("vllm-cpu")
    declared.ENGINE.enter()
    declared.with_kernels()
    from vllm import SamplingParams
    from vllm.v1.sample import rejection_sampler

    rejection_sampler.expand_batch_to_tokens = declared.expanded  # the engine's leaves its output unwritten
    whole = declared.beside(declared.__file__, "_vllm_whole.py")
    tables = SimpleNamespace(size=11, rows=[torch.zeros(11, whole.WIDTH)] * 2)
    with tempfile.TemporaryDirectory() as folder:
        model = whole.engine_of(Path(folder), tables, most_tokens)
        for one in asked:
            settings = SamplingParams(max_tokens=4, ignore_eos=True, **one)
            try:
                told = model.generate([{"prompt_token_ids": prompt}], settings, use_tqdm=False)
                print(f"{one}: expected 4 tokens, got {len(told[0].outputs[0].token_ids)}", flush=True)
            except RuntimeError as error:
                print(f"{one}: expected 4 tokens, got {error!r}", flush=True)


def vllm_cpu_seed() -> None:
    """Sends a prompt of 12 tokens, of which the engine reads 8 in a step: first without a seed, then with one."""
    _vllm_cpu([1] * 12, 8, [{}, {"seed": 1}])


def vllm_cpu_top_k() -> None:
    """Sends a request with top-p and top-k, then one with top-k alone."""
    _vllm_cpu([1] * 4, 512, [{"top_p": 0.9, "top_k": 2}, {"top_k": 2}])


FUNCTIONS = (llama_cpp_server, vllm_cpu_seed, vllm_cpu_top_k)

if __name__ == "__main__":
    known = {fn.__name__: fn for fn in FUNCTIONS}
    if sys.argv[1:] and sys.argv[1] in known:
        known[sys.argv[1]]()
    else:
        sys.exit("expected one of " + ", ".join(known))
