"""Tests on hostile arguments and files of captures, recordings and their part files: each error is a CaptureError that
names its location, and an error changes no file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from draftproof.capture import CaptureError, Filter, Recorder, Trees, capture, read_trace, recover, score_again
from draftproof.capture.options import skip_list
from draftproof.decode.settings import shape_of

V = 8
IDS = [list(range(V)) * 4] * 3
RAGGED = [[1, 2], [3]]
HALF = "\ud800" * 20


def model(ids: Any) -> Any:
    return np.random.default_rng(0).normal(size=(len(ids), V))


def captured(**changes: Any) -> Callable[[Path], Any]:
    def call(folder: Path) -> Any:
        given = {"target": model, "draft": model, "texts": IDS, "output": folder / "a.npz"}
        return capture(**{**given, "positions": 4, "skip": 1, "context": 8, "tokenizer": "bytes", **changes})

    return call


def recorder(**changes: Any) -> Callable[[Path], Any]:
    return lambda folder: Recorder(**{"output": folder / "a.safetensors", "vocabulary": V, **changes})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (captured(texts=5), "texts: got 5"),
        (captured(texts="a\0"), "texts: got "),
        (captured(texts=[RAGGED]), "texts[0]: got [[1, 2], [3]]"),
        (captured(texts=[HALF]), "with half a surrogate pair"),
        (captured(target="python:..:x"), "model: got 'python:..:x'"),
        (captured(target=lambda ids: pytest.importorskip("torch").empty(len(ids), V, device="meta")), ": got Tensor"),
        (captured(draft={5: model}), "drafts: got 5"),
        (captured(output=None), "output: got None"),
        (captured(output="a\0.npz"), "output: got "),
        (captured(positions="a"), "positions: got 'a'"),
        (captured(positions=True), "positions: got True"),
        (captured(skip=1.5), "skip: got 1.5"),
        (captured(keep_mass="a"), "keep_mass: got 'a'"),
        (captured(trees=(2, 3)), "trees: got (2, 3)"),
        (captured(target_filter=5), "target_filter: got 5"),
        (captured(options={}), "options: got {}"),
        (captured(progress=5), "progress: got 5"),
        (lambda folder: Filter("a"), "temperature: got 'a'"),
        (lambda folder: Filter(10**400), "temperature: got 1000"),
        (lambda folder: Filter(1, 1.5), "top_k: got 1.5"),
        (lambda folder: Filter(1, 0, None), "top_p: got None"),
        (lambda folder: Trees(1.5, 2), "trees: paths: got 1.5"),
        (lambda folder: skip_list("\u00b2"), "draft_skip_layers: got "),
        (lambda folder: skip_list("1-999999999"), "draft_skip_layers: got "),
        (lambda folder: shape_of("\u00b2x1"), "shape: got "),
        (recorder(output=""), "output: got ''"),
        (recorder(vocabulary="a"), "vocabulary: got 'a'"),
        (recorder(top=1.5), "top: got 1.5"),
        (recorder(every=None), "every: got None"),
        (recorder(most_bytes="a"), "most_bytes: got 'a'"),
        (recorder(engine=5), "engine: got 5"),
        (recorder(metadata={"a": b"x"}), "metadata: got {'a': b'x'}"),
        (lambda folder: recover("."), "output: got '.'"),
        (lambda folder: read_trace(None), "trace: got None"),
    ],
)
def test_wrong_arguments_are_named(call: Callable[[Path], Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(CaptureError) as caught:
        call(tmp_path)
    assert words in str(caught.value) and "expected" in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("line", ["[" * 100_000, "[[1, 2], [3]]", "[" + "9" * 400 + "]", json.dumps(HALF), "[NaN]"])
def test_lines_that_are_not_texts(line: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(line)
    with pytest.raises(CaptureError, match=r"a\.jsonl, line 1: got .*expected"):
        captured(texts=tmp_path / "a.jsonl")(tmp_path)


def test_numbers_of_numpy_are_options(tmp_path: Path) -> None:
    done = captured(positions=np.int64(4), seed=np.int32(1), keep_mass=np.float32(0.5))(tmp_path)
    assert done.positions == 4


class Stopped(Exception):
    pass


def stop(_: Any) -> None:
    raise Stopped


def stopped(folder: Path) -> Path:
    """Returns the part file of a capture that ended after its first text."""
    with pytest.raises(Stopped):
        captured(output=folder / "a.safetensors", progress=stop)(folder)
    return folder / "a.safetensors.part"


@pytest.mark.parametrize(
    "progress",
    [
        "[" * 100_000,
        '{"units": "a"}',
        '{"units": 1.5}',
        '{"units": -1}',
        '{"units": 1, "counts": null}',
        '{"units": 1, "counts": {"rows": "a"}}',
        '{"units": 1, "counts": {"rows": -5}}',
        '{"units": 1, "counts": {"rows": 99999}}',
        '{"units": 99999, "counts": {"rows": 1}}',
        '{"units": 1, "sums": 5}',
    ],
)
def test_a_damaged_progress_file_is_named(progress: str, tmp_path: Path) -> None:
    part = stopped(tmp_path)
    part.with_name(part.name + ".json").write_text(progress)
    with pytest.raises(CaptureError, match=r"a\.safetensors\.part\.json.*: got .*expected"):
        captured(output=tmp_path / "a.safetensors")(tmp_path)
    assert not (tmp_path / "a.safetensors").exists()


@pytest.mark.parametrize("head", ['{"__metadata__": 5}', '{"__metadata__": []}', "[" * 100_000])
def test_a_part_file_of_another_form_is_named(head: str, tmp_path: Path) -> None:
    stopped(tmp_path).write_bytes(len(head).to_bytes(8, "little") + head.encode())
    with pytest.raises(CaptureError, match=r"a\.safetensors\.part: got .*expected"):
        captured(output=tmp_path / "a.safetensors")(tmp_path)


P, Q = np.full((2, V), 1 / V), np.full((1, V), 1 / V)
BLOCK = {"p": P, "q": Q, "drafts": [1], "emitted": [1, 2]}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("p", "q", "drafts", "emitted") for value in (RAGGED, "a", {}, [[10**400]], 5)),
        *((name, value) for name in ("parents", "draft_rows") for value in (RAGGED, "a", 5)),
        *(("accepted", value) for value in ("a", 1.5, [1])),
        *(("request", value) for value in ("a", None, [1], float("nan"), 2**70)),
        ("p", P + 0j),
    ],
)
def test_a_refused_block_is_named_and_changes_nothing(name: str, value: Any, tmp_path: Path) -> None:
    with Recorder(tmp_path / "a.safetensors", V) as record:
        record.block(**BLOCK)
        with pytest.raises(CaptureError, match=f"block 1: {name}: got .*expected"):
            record.block(**{**BLOCK, name: value})
        record.block(**BLOCK)
    trace = read_trace(tmp_path / "a.safetensors")
    assert trace.blocks == 2 and trace.arrays["block_start"].tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("p", "q") for value in (5, RAGGED, P, np.zeros((2, 2, V)))),
        *((name, value) for name in ("drafts", "emitted") for value in (5, [1], RAGGED, [[1], [2]])),
        *((name, value) for name in ("lengths", "requests", "accepted") for value in (5, [], [[1]], [1, 1])),
        ("accepted", [2]),
        ("accepted", [-1]),
        ("lengths", [-1]),
        ("lengths", [2]),
    ],
)
def test_a_refused_batch_is_named(name: str, value: Any, tmp_path: Path) -> None:
    given = {"p": P[None], "q": Q[None], "drafts": [[1]], "emitted": [[1, 2]]}
    with Recorder(tmp_path / "a.safetensors", V) as record:
        with pytest.raises(
            CaptureError, match=r"(p|q|drafts|emitted|lengths|requests|.*accepted)(, request 0)?: got .*expected"
        ):
            record.batch(**{**given, name: value})
        assert record.blocks == 0


def unfinished(folder: Path) -> Path:
    """Returns the folder of a recorder that was not closed."""
    record = Recorder(folder / "a.safetensors", V)
    record.block(**BLOCK)
    for file in record._files.values():
        file.flush()
    record.on = False
    return folder / "a.safetensors.part"


@pytest.mark.parametrize(
    "form",
    [
        b"",
        b"[" * 100_000,
        b"\xff",
        b"5",
        b"{}",
        b'{"columns": "a", "top": false, "dtype": "float32", "metadata": {}}',
        b'{"columns": 0, "top": false, "dtype": "float32", "metadata": {}}',
        b'{"columns": 8, "top": false, "dtype": "x", "metadata": {}}',
    ],
)
def test_a_damaged_form_of_an_unfinished_trace_is_named(form: bytes, tmp_path: Path) -> None:
    (unfinished(tmp_path) / "about.json").write_bytes(form)
    with pytest.raises(CaptureError, match=r"about\.json: got .*expected"):
        recover(tmp_path / "a.safetensors")


def test_a_damaged_index_of_an_unfinished_trace_is_named(tmp_path: Path) -> None:
    (unfinished(tmp_path) / "index").write_bytes(b"\xff" * 80)
    with pytest.raises(CaptureError, match="index: got counts that fall, expected"):
        recover(tmp_path / "a.safetensors")


def entry(dtype: str, shape: str, end: int = 4) -> str:
    return f'{{"a": {{"dtype": "{dtype}", "shape": {shape}, "data_offsets": [0, {end}]}}}}'


@pytest.mark.parametrize(
    "head",
    [
        "[" * 100_000,
        '{"__metadata__": 5}',
        '{"__metadata__": null}',
        entry("F32", "[Infinity]"),
        entry("F32", "[1099511627776, 1099511627776, 0]", 0),
        entry("F32", "[9223372036854775808, 0]", 0),
        '{"a": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}',
    ],
)
def test_heads_that_are_not_those_of_a_trace(head: str, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(len(head).to_bytes(8, "little") + head.encode() + b"1234")
    with pytest.raises(CaptureError, match=r"a\.safetensors.*: got .*expected"):
        read_trace(path)


def changed(folder: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """Returns a trace whose header is changed."""
    path = folder / "a.safetensors"
    with Recorder(path, V) as record:
        record.block(**BLOCK)
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    head = json.loads(data[8:end])
    change(head)
    text = json.dumps(head).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[end:])
    return path


def scored(path: Path, **given: Any) -> int:
    return score_again(path, path.with_name("b.safetensors"), model, **{"prompts": [0], **given})


@pytest.mark.parametrize("stated", [None, "x", "0", "7", "99999999999999", 8])
def test_a_trace_whose_vocabulary_is_not_that_of_its_rows(stated: Any, tmp_path: Path) -> None:
    path = changed(tmp_path, lambda head: head["__metadata__"].update(vocabulary=stated))
    with pytest.raises(CaptureError, match=r"vocabulary: got .*, expected 8, by the rows"):
        scored(path)


def test_an_array_without_a_dimension(tmp_path: Path) -> None:
    path = changed(tmp_path, lambda head: head["accepted"].update(shape=[]))
    with pytest.raises(CaptureError, match="arrays that contradict each other"):
        read_trace(path)


@pytest.mark.parametrize(
    "given", [{"prompts": 5}, {"prompts": ["a"]}, {"prompts": {0: 5}}, {"settings": 5}, {"settings": {0: 5}}]
)
def test_prompts_and_settings_of_other_types(given: dict[str, Any], tmp_path: Path) -> None:
    path = changed(tmp_path, lambda head: None)
    with pytest.raises(CaptureError, match=r"(prompts|settings), request 0: got .*expected"):
        scored(path, **given)
