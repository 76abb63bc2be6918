"""Tests of the table of costs: its form, its statistics, and that every timed pass is the pass that its entry names."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from draftproof import costs as module
from draftproof.costs import Cell, costs

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from draftproof.capture import CaptureError  # noqa: E402
from draftproof.decode.context import Context  # noqa: E402
from draftproof.decode.drafters import NGram  # noqa: E402
from draftproof.decode.models import Models  # noqa: E402
from draftproof.decode.settings import Settings, settings_of, shape_of  # noqa: E402
from draftproof.tune.costs import costs_of  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

V = 32


def llama(**changes: Any) -> Any:
    given = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
    given |= {"max_position_embeddings": 256, **changes}
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=V, **given)).eval()


def test_entries_name_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int, int]] = []
    right = Context.feed

    def feed(self: Context, tokens: Any, parents: Any = None) -> Any:
        if parents is None and self.text:
            seen.append((len(tokens), self._batch, len(self.text)))
        rows = right(self, tokens, parents)
        assert self._cache.get_seq_length() == len(self.text) + len(self.nodes)
        return rows

    monkeypatch.setattr(Context, "feed", feed)
    result = costs(
        llama(), None, Settings(draft_skip_layers=(1,)),
        tokens=[1, 3], batches=[1, 2], contexts=[5, 9], shapes=["1x2", "2x2", "2-2"], rounds=3,
    )  # fmt: skip
    assert {key: result[key] for key in ("schema", "version", "device", "threads")} == {
        "schema": "draftproof/costs",
        "version": 1,
        "device": "cpu",
        "threads": 1,
    }
    wanted = [(n, b, c) for b in (1, 2) for c in (5, 9) for n in (1, 3)]
    for name in ("target_pass", "draft_pass"):
        assert [(entry["tokens"], entry["batch"], entry["context"]) for entry in result[name]] == wanted
        assert all(0 < entry["seconds"] < 10 and entry["standard_error"] >= 0 for entry in result[name])
    # Each of the two models runs four rounds, one of which is not measured.
    assert all(seen.count(cell) >= 8 for cell in wanted)
    assert {
        name: [(entry["tokens"], entry["paths"], entry["vocabulary"]) for entry in entries]
        for name, entries in result["verifiers"].items()
    } == {
        "single_draft": [(2, 1, V)],
        "block_verification": [(2, 1, V)],
        "recursive_rejection": [(4, 2, V)],
        "ladder": [(4, 2, V)],
        "ladder_block": [(4, 2, V)],
        "greedy_multipath_block": [(4, 2, V)],
        "traversal": [(4, 2, V), (6, 2, V)],
        "recursive_rejection_without_replacement": [(6, 2, V)],
        "ladder_without_replacement": [(6, 2, V)],
    }
    json.dumps(result)


def test_without_a_draft_model_rows_of_the_n_gram_model_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    right = NGram.after

    def after(self: NGram, proposal: Any, nodes: Any) -> Any:
        rows = right(self, proposal, nodes)
        seen.append(len(rows))
        return rows

    monkeypatch.setattr(NGram, "after", after)
    result = costs(llama(), tokens=[1, 3], contexts=[4], shapes=["1x1"], verifiers=["single_draft"], rounds=2)
    assert (result["draft"], result["equal_prefixes"], result["last_draft"]) == ("ngram", "merged", "not_read")
    assert [(entry["tokens"], entry["batch"], entry["context"]) for entry in result["draft_pass"]] == [
        (1, 1, 4),
        (3, 1, 4),
    ]
    # Chains of one draft need no row after a draft, so all rows belong to the passes of three rounds: the timed ones,
    # and one row before each of them.
    assert sorted(seen) == [1] * 6 + [1, 1, 1, 3, 3, 3]
    assert list(result["verifiers"]) == ["single_draft"]
    with pytest.raises(CaptureError, match="drafts: got 'lookup', expected model or ngram"):
        costs(llama(), drafts="lookup")


def test_a_batch_of_n_gram_drafts_has_the_rows_of_all_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    right = NGram.after
    monkeypatch.setattr(NGram, "after", lambda self, made, nodes: seen.append(len(nodes)) or right(self, made, nodes))
    asked: dict[str, Any] = {"shapes": ["1x1"], "verifiers": ["single_draft"], "rounds": 1}
    result = costs(llama(), tokens=[3, 3], batches=[1, 4], contexts=[4], **asked)
    keys = [[(entry["batch"], entry["tokens"]) for entry in result[name]] for name in ("target_pass", "draft_pass")]
    assert keys == [[(1, 3), (4, 3)]] * 2  # A number that is given twice is timed once.
    assert sorted(seen) == [1] * 4 + [3, 3, 12, 12]


def test_a_stopped_measurement_gives_the_complete_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of round 2 is interrupted after some quantities have been timed again; these times are left out."""
    asked: dict[str, Any] = {"tokens": [1, 2], "contexts": [4], "shapes": ["1x1"], "verifiers": ["single_draft"]}
    right, calls = module._timed, 0

    def timed(models: Any, work: Any) -> float:
        nonlocal calls
        calls += 1
        if calls == stop:
            raise KeyboardInterrupt
        right(models, work)
        return float(calls)

    monkeypatch.setattr(module, "_timed", timed)
    stop = 5 + 5 + 4  # in the second measured round of 5 quantities
    found = costs(llama(), rounds=3, **asked)
    assert found["stopped"] and found["rounds"] == 1
    entries = [*found["target_pass"], *found["draft_pass"], *found["verifiers"]["single_draft"]]
    assert sorted(entry["seconds"] for entry in entries) == [6, 7, 8, 9, 10]
    assert all(entry["standard_error"] is None for entry in entries)
    costs_of(found)  # `tune` reads such a table
    calls, stop = 0, 5 + 5
    with pytest.raises(KeyboardInterrupt):
        costs(llama(), rounds=3, **asked)


def test_shapes_of_one_size_are_refused() -> None:
    with pytest.raises(CaptureError, match="shapes: got 2x3 and 2-2 for traversal, expected shapes of different"):
        costs(llama(), contexts=(8,), shapes=("2x3", "2-2"), verifiers=("traversal",), rounds=1)


def test_a_combination_that_is_given_twice_is_one_setting() -> None:
    found = settings_of(["ngram"], [shape_of("1x2"), shape_of("1x2")], ["single_draft", "ladder", "ladder"])
    assert [one.verifier for one in found] == ["single_draft", "ladder"]


@pytest.mark.parametrize("drafts", ["model", "ngram"])
def test_a_timed_text_stays_within_the_models(drafts: str) -> None:
    """Both models take 64 tokens. A step of 8 drafts after 40 tokens fits, also after the text has grown."""
    models = [llama(max_position_embeddings=64) for _ in range(2)]
    asked: dict[str, Any] = {"tokens": [1], "shapes": ["1x8"], "verifiers": ["single_draft"], "drafts": drafts}
    assert costs(*models, Settings(), contexts=[40], rounds=30, **asked)["rounds"] == 30
    with pytest.raises(CaptureError, match="a text of 65 tokens, expected at most 64"):
        costs(*models, Settings(), contexts=[57], rounds=1, **asked)


def test_a_timed_verifier_decides_in_a_running_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of a step is the verifier and both caches. The next step follows the emitted tokens, and a text that has
    grown by more than MOST_GROWTH tokens begins again."""
    monkeypatch.setattr(module, "MOST_GROWTH", 6)
    models = Models(llama(), None, Settings(draft_skip_layers=(1,)))
    (setting,) = settings_of(["model"], [shape_of("2x2")], ["ladder_block"])
    ids = list(range(8))
    steps = module._Steps(models, setting, models.generator(1), ids)
    lengths = []
    for _ in range(12):
        rest = steps.next()
        before = len(steps._text)
        assert len(steps._target.nodes) > 0
        rest()
        assert steps._target.nodes == [] and steps._target.text == steps._text[:-1]
        read = steps._drafter._context.text
        assert len(read) >= len(ids) - 1 and read == steps._text[: len(read)]
        assert 1 <= len(steps._text) - before <= 3
        lengths.append(before)
    assert lengths.count(8) > 1 and max(lengths) <= 8 + 6


def test_an_entry_has_the_median_and_its_error() -> None:
    cell = Cell("target_pass", {"tokens": 1}, lambda: lambda: None, [1.0, 2.0, 9.0, 3.0])
    # The true median is outside of 1 to 9 if all four times are on one side of it, 1/16 for each side. 9 is further.
    error = 6.5 / NormalDist().inv_cdf(15 / 16)
    assert cell.entry(4) == {"tokens": 1, "seconds": 2.5, "standard_error": pytest.approx(error)}
    cell.seconds = [4.0, 1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 8.5, 90.0]
    # At most one of nine times is on one side of the true median with probability 10/512: 2 to 8.5 has 96.1 %.
    assert cell.entry(9)["standard_error"] == pytest.approx(3.5 / NormalDist().inv_cdf(0.975))


@pytest.mark.parametrize("rounds", [5, 9, 25])
def test_errors_of_medians_hold_for_times_of_two_modes(rounds: int) -> None:
    """40 % of the rounds take twice as long, so the true median is that of the 5/6 quantile of the others."""
    draws = np.random.default_rng(rounds)
    true = NormalDist(1, 0.02).inv_cdf(5 / 6)
    inside = 0
    for _ in range(2000):
        times = draws.normal(1, 0.02, rounds) * np.where(draws.random(rounds) < 0.4, 2, 1)
        entry = Cell("target_pass", {}, lambda: lambda: None, times.tolist()).entry(rounds)
        inside += abs(entry["seconds"] - true) <= 1.96 * entry["standard_error"]
    assert inside / 2000 >= 0.93


def test_the_seconds_of_a_verifier_are_the_mean() -> None:
    cell = Cell("ladder", {"tokens": 1}, lambda: lambda: None, [1.0, 2.0, 9.0])
    # The deviations from 4 are 3, 2 and 5, with the variance 38 / 2.
    assert cell.entry(4) == {"tokens": 1, "seconds": 4.0, "standard_error": pytest.approx((19 / 3) ** 0.5)}
    cell.seconds = [2.0]
    assert cell.entry(4) == {"tokens": 1, "seconds": 2.0, "standard_error": None}


def test_the_time_of_preparation_is_not_counted() -> None:
    now = [0.0]

    def work() -> Any:
        now[0] += 100
        return lambda: now.__setitem__(0, now[0] + 7)

    class Models:
        @staticmethod
        def now() -> float:
            return now[0]

    assert module._timed(Models(), work()) == 7  # type: ignore[arg-type]


def test_the_command_writes_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    llama().save_pretrained(tmp_path / "model")
    (tmp_path / "texts.jsonl").write_text("[1, 2, 3]\n[4, 5]")
    given = ["--target", str(tmp_path / "model"), "--tokens", "1,2", "--context", "8", "--rounds", "1", "-q"]
    given += ["--texts", str(tmp_path / "texts.jsonl"), "--shape", "1x2", "--verifier", "single_draft"]
    assert module.main([*given, "-o", str(tmp_path / "costs.json")]) == 0
    assert [entry["tokens"] for entry in json.loads((tmp_path / "costs.json").read_text())["target_pass"]] == [1, 2]
    assert module.main([*given, "--quantise-draft", "3"]) == 0
    assert "draft pass" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tokens", "1,x"], "got '1,x', expected numbers"),
        (["--tokens", "0"], "tokens: got [0]"),
        (["--context", "300"], "at most 256 for"),
        (["--clock", "processor", "--threads", "2"], "clock: got processor with 2 threads on cpu"),
        (["--rounds", "0"], "rounds: got [0]"),
        (["--shape", "4"], "shape: got '4'"),
        (["--target", "missing.gguf"], "model: got no file 'missing.gguf'"),
    ],
)
def test_bad_input_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    llama().save_pretrained(tmp_path / "model")
    assert module.main(["--target", str(tmp_path / "model"), "-q", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_texts_without_a_tokenizer_must_be_ids() -> None:
    with pytest.raises(CaptureError, match="a tokenizer"):
        costs(llama(), texts=["a text"])
