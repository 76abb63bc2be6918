"""Traces have the data that a recorder was given, in the layout of docs/captures.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from numpy_chain import right

from draftproof.capture import Recorder, Trace, read_trace
from draftproof.capture.layout import read_head

V, L = 12, 3
Rows = NDArray[np.float64]


def distributions(generator: np.random.Generator, count: int) -> Rows:
    rows: Rows = generator.dirichlet(np.full(V, 0.4), size=count)
    return rows


def token_loop(record: Recorder, blocks: int, seed: int = 0) -> list[dict[str, Any]]:
    """Runs token verification with a recorder in its loop. Returns the data that the recorder was given."""
    generator = np.random.default_rng(seed)
    given = []
    for b in range(blocks):
        p, q = distributions(generator, L + 1), distributions(generator, L)
        drafts = np.array([generator.choice(V, p=row) for row in q])
        out = right(p, q, drafts, generator)
        record.block(p, q, drafts, out, request=b % 2)
        given.append({"p": p, "q": q, "drafts": drafts, "emitted": out})
    return given


def test_whole_rows(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.safetensors", V, engine="loop 1", draft_sampling="iid") as record:
        given = token_loop(record, 50)
    trace = read_trace(tmp_path / "run.safetensors")
    assert (trace.blocks, trace.records) == (50, sum(len(block["emitted"]) for block in given))
    assert trace.metadata["engine"] == "loop 1"
    assert trace.metadata["values"] == "log_probability"
    for b, block in enumerate(given):
        records = trace.block_of(b)
        assert trace.arrays["emitted"][records.start : records.stop].tolist() == block["emitted"]
        assert trace.arrays["accepted"][b] == len(block["emitted"]) - 1
        assert trace.arrays["request"][b] == b % 2
        first = int(trace.arrays["draft_start"][b])
        assert trace.arrays["drafts"][first : first + L].tolist() == block["drafts"].tolist()
        assert trace.arrays["draft_parent"][first : first + L].tolist() == [-1, 0, 1]
        for i, record_number in enumerate(records):
            np.testing.assert_allclose(trace.p(record_number), block["p"][i], rtol=4e-5, atol=1e-12)
            beside = int(trace.arrays["emitted_q"][record_number])
            if i < L:
                np.testing.assert_allclose(trace.q(beside), block["q"][i], rtol=4e-5, atol=1e-12)
                assert trace.arrays["draft_q"][first + i] == beside
            else:
                assert beside == -1


def test_the_layout_of_the_docs(tmp_path: Path) -> None:
    for name, change in (("dense", {}), ("half", {"dtype": "float16"}), ("top", {"top": 4})):
        with Recorder(tmp_path / f"{name}.safetensors", V, **change) as record:  # type: ignore[arg-type]
            token_loop(record, 5)
        header = read_head(tmp_path / f"{name}.safetensors")
        metadata = header.pop("__metadata__")
        shapes = {key: (entry["dtype"], entry["shape"]) for key, entry in header.items()}
        r, d, b, q = (
            shapes[key][1][0] for key in ("emitted", "drafts", "accepted", "q_rest" if name == "top" else "q_rows")
        )
        wanted: dict[str, tuple[str, list[int]]] = {
            "emitted": ("I32", [r]),
            "emitted_q": ("I64", [r]),
            "drafts": ("I32", [d]),
            "draft_parent": ("I32", [d]),
            "draft_q": ("I64", [d]),
            "accepted": ("I32", [b]),
            "request": ("I64", [b]),
            **{f"{key}_start": ("I64", [b + 1]) for key in ("block", "draft", "q")},
        }
        for key, count in (("p", r), ("q", q)):
            if name == "top":
                wanted |= {f"{key}_top_ids": ("I32", [count, 4]), f"{key}_top": ("F32", [count, 4])}
                wanted[f"{key}_rest"] = ("F32", [count])
            else:
                wanted[f"{key}_rows"] = ("F16" if name == "half" else "F32", [count, V])
        assert shapes == wanted
        assert metadata["schema"] == "draftproof.trace/1"
        values = {"dense": "log_probability", "half": "logit", "top": "probability"}
        assert metadata["values"] == values[name]
        assert (metadata["records"], metadata["drafts"], metadata["blocks"]) == (str(r), str(d), str(b))


def test_the_format_is_that_of_the_safetensors_library(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors.numpy")
    with Recorder(tmp_path / "run.safetensors", V) as record:
        token_loop(record, 5)
    theirs = library.load_file(tmp_path / "run.safetensors")
    ours = read_trace(tmp_path / "run.safetensors").arrays
    assert set(theirs) == set(ours)
    assert all((theirs[name] == ours[name]).all() for name in ours)


def test_few_tokens_and_the_rest(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.safetensors", V, top=4) as record:
        given = token_loop(record, 60)
    trace = read_trace(tmp_path / "run.safetensors")
    in_the_rest = 0
    for b, block in enumerate(given):
        for i, r in enumerate(trace.block_of(b)):
            p, ids = block["p"][i], trace.arrays["p_top_ids"][r]
            distribution = trace.p(r)
            np.testing.assert_allclose(distribution[:-1], p[ids], rtol=1e-5, atol=1e-12)
            assert distribution[-1] == pytest.approx(1 - p[ids].sum(), abs=1e-6)
            assert (np.diff(ids) > 0).all()
            in_the_rest += trace.symbol(r) == 4
            beside = int(trace.arrays["emitted_q"][r])
            if beside >= 0:
                assert (trace.arrays["q_top_ids"][beside] == ids).all()
                assert {int(p.argmax()), int(block["q"][i].argmax())} <= set(ids.tolist())
            else:
                assert set(ids.tolist()) == set(np.argsort(-p)[:4].tolist())
    assert in_the_rest > 0


def test_the_kept_tokens_do_not_depend_on_what_was_emitted(tmp_path: Path) -> None:
    p, q = distributions(np.random.default_rng(3), 2), distributions(np.random.default_rng(4), 1)
    kept = []
    for x in range(V):
        with Recorder(tmp_path / f"{x}.safetensors", V, top=3) as record:
            record.block(p, q, [x], [x])
        kept.append(read_trace(tmp_path / f"{x}.safetensors").arrays["p_top_ids"].tolist())
    assert all(ids == kept[0] for ids in kept)


@pytest.mark.parametrize("top", [None, V])
def test_counts_of_a_right_loop_follow_the_rows(tmp_path: Path, top: int | None) -> None:
    trace = recorded(tmp_path, top, wrong=False)
    assert abs(surplus(trace)) < 6


@pytest.mark.parametrize("top", [None, V])
def test_counts_of_a_wrong_loop_do_not(tmp_path: Path, top: int | None) -> None:
    trace = recorded(tmp_path, top, wrong=True)
    assert surplus(trace) > 6


def recorded(folder: Path, top: int | None, *, wrong: bool) -> Trace:
    """Returns the trace of a right loop, or of a loop that always emits the draft."""
    with Recorder(folder / "run.safetensors", V, top=top) as record:
        if not wrong:
            token_loop(record, 1500)
        generator = np.random.default_rng(9)
        for _ in range(1500 if wrong else 0):
            p, q = distributions(generator, 1), distributions(generator, 1)
            x = int(generator.choice(V, p=q[0]))
            record.block(p, q, [x], [x], accepted=1)
    return read_trace(folder / "run.safetensors")


def surplus(trace: Trace) -> float:
    """Returns by how many standard deviations tokens with q > p are emitted more often than p predicts."""
    total = variance = 0.0
    for r in range(trace.records):
        beside = int(trace.arrays["emitted_q"][r])
        if beside >= 0:
            p, group = trace.p(r), trace.q(beside) > trace.p(r)
            mass = float(p[group].sum())
            total += group[trace.symbol(r)] - mass
            variance += mass * (1 - mass)
    return float(total / np.sqrt(variance))


def test_trees_find_the_row_beside_each_token(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    p, q = distributions(generator, 3), distributions(generator, 3)
    # The drafts are 4, 5 and again 4 at the root, 6 and 7 after the second 4, and 8 after 5.
    drafts, parents, rows = [4, 5, 4, 6, 7, 8], [-1, -1, -1, 2, 2, 1], [0, 0, 0, 1, 1, 2]
    with Recorder(tmp_path / "run.safetensors", V, top=5) as record:
        record.block(p, q, drafts, [4, 7, 1], parents=parents, draft_rows=rows)
        record.block(p[:2], q, drafts, [5, 9], parents=parents, draft_rows=rows)
        record.block(p[:1], q, drafts, [9], parents=parents, draft_rows=rows)
    trace = read_trace(tmp_path / "run.safetensors")
    assert trace.arrays["emitted_q"].tolist() == [0, 1, -1, 3, 5, 6]
    assert trace.arrays["accepted"].tolist() == [2, 1, 0]
    assert trace.arrays["draft_q"].tolist() == [0, 0, 0, 1, 1, 2, 3, 3, 3, 4, 4, 5, 6, 6, 6, 7, 7, 8]
    assert trace.arrays["draft_parent"][:6].tolist() == parents


def test_batches_are_their_rows(tmp_path: Path) -> None:
    generator = np.random.default_rng(2)
    p, q = distributions(generator, 2 * (L + 1)).reshape(2, L + 1, V), distributions(generator, 2 * L).reshape(2, L, V)
    drafts, emitted = np.array([[1, 2, 3], [4, -1, -1]]), np.array([[1, 2, 9, -1], [4, 5, -1, -1]])
    with Recorder(tmp_path / "batch.safetensors", V) as record:
        record.batch(p, q, drafts, emitted, lengths=[3, 1], requests=[7, 8])
    with Recorder(tmp_path / "rows.safetensors", V) as record:
        record.block(p[0], q[0], [1, 2, 3], [1, 2, 9], request=7)
        record.block(p[1], q[1, :1], [4], [4, 5], request=8)
    assert (tmp_path / "batch.safetensors").read_bytes() == (tmp_path / "rows.safetensors").read_bytes()


def test_a_batch_states_accepted_drafts_that_end_a_step(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    p, q = distributions(generator, 2 * (L + 1)).reshape(2, L + 1, V), distributions(generator, 2 * L).reshape(2, L, V)
    drafts, emitted = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[1, 2, -1, -1], [4, 5, -1, -1]])
    with Recorder(tmp_path / "run.safetensors", V) as record:
        record.batch(p, q, drafts, emitted, accepted=[2, 1])
    assert read_trace(tmp_path / "run.safetensors").arrays["accepted"].tolist() == [2, 1]


def test_torch_rows_of_any_type(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    p, q = (torch.as_tensor(distributions(np.random.default_rng(i), 2)).log().to(torch.bfloat16) for i in (1, 2))
    with Recorder(tmp_path / "run.safetensors", V, values="logit") as record:
        record.block(p, q[:1], torch.tensor([3]), torch.tensor([3, 4], dtype=torch.int32))
    trace = read_trace(tmp_path / "run.safetensors")
    np.testing.assert_allclose(trace.p(1), torch.softmax(p[1].double(), -1).numpy(), rtol=1e-5)


def test_blocks_without_drafts(tmp_path: Path) -> None:
    p = distributions(np.random.default_rng(1), 1)
    with Recorder(tmp_path / "run.safetensors", V) as record:
        record.block(p, [], [], [3])
    trace = read_trace(tmp_path / "run.safetensors")
    assert trace.arrays["emitted_q"].tolist() == [-1]
    assert trace.arrays["q_rows"].shape == (0, V)
