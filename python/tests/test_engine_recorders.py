"""Tests of recorders of engines, on stand-ins for engines: `draftproof audit` judges recordings of right and wrong
loops."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from draftproof import program
from draftproof.capture import Recorder, read_trace
from draftproof.engines import module_of

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch

FOLDER = Path(__file__).resolve().parents[1] / "engines" / "recorders"
VOCABULARY, DRAFTS, BLOCKS = 32, 2, 1500
PASSED, FAILED = "passed", "failed"
Residual = Callable[[Any, Any], Any]


def right(p: Any, q: Any) -> Any:
    rest = (p - q).clamp(min=0)
    return rest if bool(rest.sum() > 0) else p


def resampled(p: Any, q: Any) -> Any:
    return p


def rows(seed: int) -> tuple[Any, Any, Any]:
    """Returns p [DRAFTS + 1, V] and q [DRAFTS, V] by `seed`, and drafts [DRAFTS] that torch's default generator draws
    from q.
    """
    rng = np.random.default_rng(seed)
    p = torch.from_numpy(rng.dirichlet(np.full(VOCABULARY, 0.3), DRAFTS + 1)).clamp(min=1e-9)
    q = (p[:-1] * torch.from_numpy(rng.lognormal(0, 1, (DRAFTS, VOCABULARY)))).clamp(min=1e-9)
    p, q = p / p.sum(-1, keepdim=True), q / q.sum(-1, keepdim=True)
    return p, q, torch.multinomial(q, 1)[:, 0]


def verified(p: Any, q: Any, drafts: Any, residual: Residual) -> tuple[list[int], int]:
    for i, x in enumerate(drafts.tolist()):
        if not float(torch.rand(()).double() * q[i, x]) < float(p[i, x]):
            return [*drafts[:i].tolist(), int(torch.multinomial(residual(p[i], q[i]), 1))], i
    return [*drafts.tolist(), int(torch.multinomial(p[-1], 1))], len(drafts)


def transformers_module(residual: Residual) -> Any:
    def speculative(ids: Any, candidate_logits: Any, length: int, new_logits: Any) -> Any:
        p, q = new_logits[0].softmax(-1), candidate_logits[0].softmax(-1)
        tokens, matches = verified(p, q, ids[0, -length:], residual)
        new_logits.zero_()  # a recorder must read the logits before this
        return torch.tensor([tokens]), torch.tensor(matches)

    return SimpleNamespace(_speculative_sampling=speculative)


def run_transformers(engine: Any) -> None:
    for seed in range(BLOCKS):
        p, q, drafts = rows(seed)
        ids = torch.cat([torch.zeros(3, dtype=torch.int64), drafts])[None]
        engine._speculative_sampling(ids, torch.log(q)[None], DRAFTS, torch.log(p)[None])


def vllm_module(residual: Residual) -> Any:
    def rejection_sample(
        ids: Any, counts: Any, most: int, ends: Any, proposal: Any, logits: Any, bonus: Any, sampling: Any
    ) -> Any:
        out = torch.full((len(counts), most + 1), -1)
        p = logits.softmax(-1)
        for request, (count, end) in enumerate(zip(counts, ends.tolist(), strict=True)):
            own = slice(end - count, end)
            tokens, _ = verified(torch.cat([p[own], p[:1]]), proposal[own], ids[own], residual)
            tokens = [*tokens[:count], int(bonus[request])] if len(tokens) > count else tokens
            out[request, : len(tokens)] = torch.tensor(tokens)
        logits.zero_()
        return out

    return SimpleNamespace(rejection_sample=rejection_sample)


def run_vllm(engine: Any) -> None:
    """Runs batches of four requests, with two drafts, one draft, no drafts, and one draft of a greedy request."""
    sampling = SimpleNamespace(all_greedy=False, all_random=False, temperature=torch.tensor([1.0, 1.0, 1.0, 0.0]))
    counts = [DRAFTS, 1, 0, 1]
    for seed in range(BLOCKS // 2):
        made = [rows(4 * seed + i) for i in range(4)]
        p, q, drafts = (
            torch.cat([one[part][:count] for one, count in zip(made, counts, strict=True)]) for part in range(3)
        )
        ends = torch.tensor(counts).cumsum(0)
        bonus = torch.zeros(4, 1, dtype=torch.int64)
        engine.rejection_sample(drafts, counts, DRAFTS, ends, q.clone(), torch.log(p), bonus, sampling)


LOOPS = {"transformers": (transformers_module, run_transformers), "vllm": (vllm_module, run_vllm)}


def recorded(name: str, residual: Residual, path: Path) -> None:
    torch.manual_seed(5)
    make, run = LOOPS[name]
    engine = make(residual)
    before = vars(engine).copy()
    recorder = module_of(FOLDER / f"{name}.py", f"recorder_of_{name}")
    with (
        Recorder(path, vocabulary=VOCABULARY, draft_sampling="iid") as record,
        recorder.recording(record, engine=engine),
    ):
        run(engine)
    assert vars(engine) == before, "the engine has its function back"


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize(("residual", "verdict"), [(right, PASSED), (resampled, FAILED)])
def test_a_recording_is_judged_as_its_loop_is(name: str, residual: Residual, verdict: str, in_a_folder: Path) -> None:
    recorded(name, residual, in_a_folder / "run.safetensors")
    document = program.run(["audit", str(in_a_folder / "run.safetensors"), "--rule", "rejection"])
    assert document["status"] == verdict


def test_what_vllm_does_not_hand_over_is_left_out(tmp_path: Path) -> None:
    recorded("vllm", right, tmp_path / "run.safetensors")
    trace = read_trace(tmp_path / "run.safetensors")
    assert set(trace.arrays["request"].tolist()) == {0, 1}, "neither the request without drafts nor the greedy one"
    emitted, drafted = np.diff(trace.arrays["block_start"]), np.diff(trace.arrays["draft_start"])
    assert (emitted <= drafted).all() and (trace.arrays["accepted"] <= emitted).all(), "no bonus token"
    assert (trace.arrays["accepted"] == emitted).any() and (trace.arrays["accepted"] < emitted).any()


@pytest.mark.parametrize("name", LOOPS)
def test_without_the_engine_it_says_so(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(wanted: str) -> Any:
        raise ImportError(f"no module {wanted}")

    recorder = module_of(FOLDER / f"{name}.py", f"recorder_of_{name}")
    monkeypatch.setattr(recorder.importlib, "import_module", absent)
    with pytest.raises(ImportError, match=name), recorder.recording(Recorder(None, VOCABULARY)):
        pass
