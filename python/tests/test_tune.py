"""Tests of tune: expected tokens equal the program's, seconds equal sums by hand; tables and their errors."""

from __future__ import annotations

import json
import math
import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cost_tables import TREES, passes, setting, table, timed

from draftproof import program
from draftproof.decode.settings import VERIFIERS, shape_of
from draftproof.tune import (
    CostError,
    Costs,
    OutOfTable,
    Survey,
    command,
    derived_costs,
    ranked,
    read_costs,
    survey,
)
from draftproof.tune.command import run_command
from draftproof.tune.costs import PASSES, TORCH_NAMES, costs_of, parse_hardware
from draftproof.tune.ranking import seconds_of
from draftproof.tune.settings import complete

DATA = Path(__file__).parents[2] / "data"
FEW = ["--samples", "256", "-K", "1,2", "-L", "2,4", "--verifier", "token_path,block,recursive_rejection_tree"]


def test_times_of_trees_of_chosen_children_are_not_those_of_paths() -> None:
    entries = [one | {"shape": shape} for one, shape in zip(
        timed([(16, 4, 0.001), (28, 4, 0.1), (32, 4, 0.002)]), ["4x4", "4-2-1-1", "4x8"], strict=True)]  # fmt: skip
    costs = costs_of(table(verifiers={"traversal": entries, "univer": [entries[1]]}))
    assert costs.of_verifier("traversal", 24, 4, 512, 1).value == pytest.approx(0.0015)
    with pytest.raises(OutOfTable, match=r"not one of those timed, traversal$"):
        costs.of_verifier("univer", 28, 4, 512, 1)


def test_a_program_that_was_stopped_is_not_ranked(monkeypatch: Any) -> None:
    monkeypatch.setattr(program, "run", lambda arguments: {"complete": False, "sources": []})
    with pytest.raises(program.ProgramError, match="stopped"):
        complete(["survey"])


def test_seconds_of_a_step_by_hand() -> None:
    costs = costs_of(table(verifiers={"recursive_rejection": timed([(2, 2, 0.001), (8, 2, 0.004)])}))
    # The draft passes are over 1, 2 and 2 tokens; the target reads 6 drafts and the token before them.
    found = seconds_of(setting("recursive_rejection_tree", 2, 3, 3.0), costs, 512, 1, 128)
    assert found.value == pytest.approx(0.004 + 2 * 0.006 + 0.050 + 0.003)
    # A pass over 2 tokens has 2/3 of the entry of 1 token, and 1/3 of that of 4.
    draft = math.hypot((1 + 2 * 2 / 3) * 0.00004, 2 / 3 * 0.0001)
    target = math.hypot(0.5 * 0.00048, 0.5 * 0.00052)
    assert found.error == pytest.approx(math.hypot(draft, target))
    with pytest.raises(OutOfTable, match="the verifier is not one of those timed, recursive_rejection"):
        seconds_of(setting("block", 1, 3, 3.0), costs, 512, 1, 128)
    with pytest.raises(OutOfTable, match="recursive_rejection_tree of 1 paths and vocabulary 512: not timed"):
        seconds_of(setting("recursive_rejection_tree", 1, 3, 3.0), costs, 512, 1, 128)
    with pytest.raises(OutOfTable, match="vocabulary 600: not timed"):
        seconds_of(setting("recursive_rejection_tree", 2, 3, 3.0), costs, 600, 1, 128)


def test_the_last_of_all_accepted_drafts_is_read_by_the_next_step() -> None:
    costs = table(verifiers={})
    one = replace(setting("block", 1, 3, 3.0), all_accepted=0.25)
    usual = 3 * 0.004 + 0.046  # draft passes over one token; the target reads 3 drafts and the token before them
    assert seconds_of(one, costs_of(costs), 512, 1, 128).value == pytest.approx(usual + 0.25 * 0.002)
    never = costs_of(costs | {"last_draft": "not_read"})
    assert seconds_of(one, never, 512, 1, 128).value == pytest.approx(usual)
    # A padded batch reads two tokens if one of its texts does; a packed batch reads the mean number.
    both = costs | {name: passes((1, 0.1), (11, 0.2), batch=2) for name in PASSES}
    for lengths, more in (("padded", 1 - 0.75**2), ("packed", 0.25)):
        of_two = costs_of(both | {"different_lengths": lengths})
        assert seconds_of(one, of_two, 512, 2, 128).value == pytest.approx(3 * 0.1 + 0.13 + more * 0.01)
    with pytest.raises(OutOfTable, match=r"draft_pass .*: got 2 tokens, expected 1 to 1.*'not_read'"):
        seconds_of(one, costs_of(costs | {"draft_pass": passes((1, 0.004))}), 512, 1, 128)
    with pytest.raises(CostError, match="last_draft: got 'no', expected 'read' or 'not_read'"):
        costs_of(costs | {"last_draft": "no"})


def test_merged_prefixes_are_read_once() -> None:
    """Of the trees of 3 paths, 1/2 have 1, 2, 3 nodes at the three depths, 1/4 have 2, 2, 2, and 1/4 have 2, 3, 3. The
    draft passes after the first read 1 and 2, 2 and 2, 2 and 3 tokens; the target reads 7, 7 and 9."""
    one = setting("ladder_block", 3, 3, 3.0)
    known = replace(one, distinct=(((1, 2, 3), 0.5), ((2, 2, 2), 0.25), ((2, 3, 3), 0.25)))
    wide = passes((1, 0.040), (5, 0.048), (9, 0.052), (13, 0.056))
    merged = costs_of(table(equal_prefixes="merged", target_pass=wide))
    draft = 0.004 + (0.004 + 0.006) / 2 + (0.006 + 0.006) / 4 + (0.006 + 0.008) / 4
    assert seconds_of(known, merged, 512, 1, 128).value == pytest.approx(draft + 0.75 * 0.050 + 0.25 * 0.052)
    separate = 0.004 + 2 * 0.008 + 0.053
    assert seconds_of(known, costs_of(table(target_pass=wide)), 512, 1, 128).value == pytest.approx(separate)
    assert seconds_of(one, merged, 512, 1, 128).value == pytest.approx(separate)
    both = table(equal_prefixes="merged", **{name: passes((1, 0.1), (11, 0.2), batch=2) for name in PASSES})
    assert seconds_of(known, costs_of(both), 512, 2, 128).value == pytest.approx(0.1 + 2 * 0.12 + 0.19)


def test_distinct_prefixes_are_those_of_the_captured_paths() -> None:
    found = survey(TREES, [1, 3], [2, 4], samples=64, verifiers=["ladder_block"])
    with np.load(TREES) as file:
        paths = file["paths"]
    for one in found.settings:
        wanted: Counter[tuple[int, ...]] = Counter()
        for context in paths.tolist():
            for first in range(len(context)):
                chosen = [context[(first + i) % len(context)] for i in range(one.paths)]
                depths = range(1, one.length + 1)
                wanted[tuple(len({tuple(path[:d]) for path in chosen}) for d in depths)] += 1
        assert dict(one.distinct) == pytest.approx({key: n / sum(wanted.values()) for key, n in wanted.items()})
        assert len(one.distinct) > 1 or one.paths == 1


def test_nothing_is_extrapolated() -> None:
    costs = costs_of(table())
    assert costs.of_pass("target_pass", 9, 1, 128).value == 0.052
    with pytest.raises(OutOfTable, match="target_pass of batch 1 and context 128: got 10 tokens, expected 1 to 9"):
        costs.of_pass("target_pass", 10, 1, 128)
    with pytest.raises(OutOfTable, match="batch 2 and context 128: not timed"):
        costs.of_pass("target_pass", 1, 2, 128)
    late = costs_of(table(target_pass=passes((2, 0.04), (9, 0.05))))
    with pytest.raises(OutOfTable, match=r"^plain decoding: target_pass of .* got 1 tokens, expected 2 to 9"):
        ranked(Survey("x", 512, (), False, {}), late, batch=1, context=128, default=("", 1, None))
    with pytest.raises(OutOfTable, match="got 1 tokens, expected 2 to 9"):
        late.of_pass("target_pass", 1, 1, 128)


def test_the_ranking_by_hand() -> None:
    settings = (setting("token_path", 1, 4, 3.0, 0.03), setting("block", 1, 4, 3.3, 0.0), setting("block", 1, 1, 1.5))
    found = ranked(
        Survey("x", 512, settings, False, {}), costs_of(table()), batch=1, context=128, default=("token_path", 1, None)
    )
    seconds = 4 * 0.004 + 0.048
    rates = [3.3 / seconds, 3.0 / seconds, 1.5 / (0.004 + 0.042)]
    assert [one.rate for one in found.choices] == pytest.approx(rates)
    assert found.plain.rate == pytest.approx(25.0)
    assert found.loss_of_default() == pytest.approx(1 - 3.0 / 3.3)
    error = math.hypot(0.01, math.hypot(4 * 0.00004, 0.00048) / seconds)
    default = found.default
    assert default is not None and default.high / default.rate == pytest.approx(math.exp(1.959964 * error), rel=1e-6)
    assert found.beats_plain and found.tied == 1
    assert "the default loses 9.1 %" in found.text()
    assert found.text().count("block") == 2 and "equal" not in found.text()
    twice = (setting("block", 1, 4, 3.3), setting("traversal", 1, 4, 3.3))
    again = ranked(Survey("x", 512, twice, False, {}), costs_of(table()), batch=1, context=128, default=("", 1, None))
    assert "block (and 1 equal)" in again.text() and "traversal" not in again.text()
    assert "\nother settings whose intervals overlap that of the fastest: 1" in again.text()


def test_a_time_that_is_not_known_at_all_has_a_wide_interval() -> None:
    unknown = passes((1, 0.040), (5, 0.048))
    unknown[1]["standard_error"] = 1e6
    costs = costs_of(table(target_pass=unknown))
    settings = (setting("block", 1, 4, 3.3),)
    for confidence in (0.95, math.nextafter(1, 0)):
        found = ranked(
            Survey("x", 512, settings, False, {}),
            costs,
            batch=1,
            context=128,
            default=("", 1, None),
            confidence=confidence,
        )
        assert 0 < found.best.low < 1e-30 and 1e30 < found.best.high < math.inf


def test_a_default_without_a_time_is_said(costs_file: Path, capsys: Any) -> None:
    asked = [TREES, "--costs", str(costs_file), "--samples", "64", "--verifier", "recursive_rejection_tree"]
    asked += ["-K", "2,4", "-L", "2,4"]
    assert run_command([*asked, "--default", "recursive_rejection_tree:4:4"]) == 0
    assert "note: the default recursive_rejection_tree:4:4 has no time at batch 1" in capsys.readouterr().out
    assert run_command([*asked, "--default", "recursive_rejection_tree:4"]) == 0
    assert "default  recursive_rejection_tree  iid_paths       4  2" in (out := capsys.readouterr().out)
    assert "note: the default" not in out


def test_trees_without_metadata_have_the_vocabulary_of_their_rows(tmp_path: Path, capsys: Any) -> None:
    whole, cut, path = tmp_path / "whole_trees.npz", tmp_path / "cut_trees.npz", tmp_path / "costs.json"
    whole.write_bytes(Path(TREES).read_bytes())
    cut.write_bytes((DATA / "smollm2_trees.npz").read_bytes())
    asked = ["--costs", str(path), "-K", "1", "-L", "4", "--samples", "64", "--verifier", "block", "--policy", "none"]
    path.write_text(json.dumps(table(verifiers={"block": timed([(4, 1, 0.001)])})))
    assert run_command([str(whole), *asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vocabulary"] == 512
    assert run_command([str(cut), *asked]) == 2
    assert "cut_trees.npz: got no metadata with the vocabulary, expected --vocabulary" in capsys.readouterr().err
    capsys.readouterr()
    assert run_command([str(cut), *asked, "--vocabulary", "512"]) == 0
    assert "the capture is truncated" not in capsys.readouterr().out  # It has all tokens of the draft.


def test_batch_sizes_need_both_passes_at_one_context(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "costs.json"
    apart = {name: passes((1, 0.1), (9, 0.2), batch=2, context=i) for i, name in enumerate(PASSES)}
    path.write_text(json.dumps(table(**{name: [*table()[name], *apart[name]] for name in PASSES})))
    asked = [TREES, "--costs", str(path), *FEW, "--policy", "none"]
    assert run_command([*asked, "--batch", "1,1"]) == 0
    out = capsys.readouterr().out
    assert out.count("batch 1, context 128") == 1
    assert run_command(asked) == 0
    assert capsys.readouterr().out == out
    assert run_command([*asked, "--batch", "2"]) == 2
    assert "--batch: got 2, expected one of 1, of which both passes were timed" in capsys.readouterr().err
    path.write_text(json.dumps(table(**apart)))
    assert run_command(asked) == 2
    assert "costs: got no batch size and context of which both passes were timed" in capsys.readouterr().err
    hardware = "bandwidth=1e12,flops=1e14,target_bytes=1e11,draft_bytes=1e9"
    assert run_command([TREES, "--hardware", hardware, "--batch", "1,1", *FEW, "--policy", "none"]) == 0
    assert "not the timings, whose standard errors are 0" in capsys.readouterr().out


def test_an_interrupted_run_says_that_it_stopped(costs_file: Path, monkeypatch: Any, capsys: Any) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "survey", interrupted)
    assert run_command([TREES, "--costs", str(costs_file)]) == 3
    assert capsys.readouterr().err == "draftproof tune: stopped\n"


def test_where_plain_decoding_is_faster_it_is_said() -> None:
    slow = costs_of(table(draft_pass=passes((1, 0.05), (4, 0.05))))
    found = ranked(
        Survey("x", 512, (setting("block", 1, 4, 3.3),), False, {}), slow, batch=1, context=128, default=("", 1, None)
    )
    assert not found.beats_plain and found.default is None
    assert "no setting is faster than plain decoding" in found.text()


def test_a_batch_multiplies_tokens_and_the_verifiers_time() -> None:
    document = table(
        target_pass=passes((1, 0.04), (5, 0.08), batch=4),
        draft_pass=passes((1, 0.004), (4, 0.01), batch=4),
        verifiers={"block": timed([(1, 1, 0.001), (8, 1, 0.001)])},
    )
    survey_ = Survey("x", 512, (setting("block", 1, 4, 3.0),), False, {})
    found = ranked(survey_, costs_of(document), batch=4, context=128, default=("block", 1, 4))
    assert found.best.rate == pytest.approx(4 * 3.0 / (4 * 0.004 + 0.08 + 4 * 0.001))
    assert found.plain.rate == pytest.approx(100)


def test_expected_tokens_of_trees_are_the_programs(costs_file: Path, capsys: Any) -> None:
    assert run_command([TREES, "--costs", str(costs_file), *FEW, "--json", "--seed", "3"]) == 0
    document = json.loads(capsys.readouterr().out)
    (batch,) = document["batches"]
    asked = ["survey-paths", TREES, "--instances", "0", "-K", "2", "-L", "4", "--steps", "256", "--seed", "3"]
    rows = program.run([*asked, "--verifier", "block,recursive_rejection_tree"])["sources"][0]["rows"]
    whole = [one for one in batch["settings"] if one["policy"] is None]
    found = {(one["verifier"], one["paths"], one["length"]): one for one in whole}
    assert {("block", 1, 4), ("recursive_rejection_tree", 2, 4)} <= found.keys()
    for row in rows:
        mine = found[row["verifier"], row["drafts"], row["length"]]
        assert mine["tokens_per_step"] == row["mean_accepted"] + 1
        assert mine["tokens_per_step_standard_error"] == row["standard_error"]
        assert mine["all_accepted"] == row["accepted"][row["length"]] / row["steps"] > 0
        assert mine["tokens_per_second"] == pytest.approx(mine["tokens_per_step"] / mine["seconds_per_step"])
    rates = [one["tokens_per_second"] for one in batch["settings"]]
    assert rates == sorted(rates, reverse=True)
    assert batch["default"]["verifier"] == "token_path"
    assert document["vocabulary"] == 512 and not document["approximate"]


def test_settings_that_are_not_lossless_or_not_known_are_left_out() -> None:
    names = ["block", "greedy_block", "typical_best_tree"]
    found = survey(TREES, [1, 2], [2], samples=64, verifiers=names)
    assert {one.verifier for one in found.settings} == {"block"}
    assert found.left_out["typical_best_tree"] == "not lossless"
    assert "later steps depend" in found.left_out["greedy_block"]


def test_positions_are_products_of_rates_and_said_so(costs_file: Path, capsys: Any) -> None:
    asked = ["zipf:vocabulary=50,positions=4", "--costs", str(costs_file), "--samples", "400", "--verifier"]
    assert run_command([*asked, "single_draft,recursive_rejection", "-K", "1,2", "-L", "1,2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = {(s["verifier"], s["paths"], s["length"]): s for s in document["batches"][0]["settings"]}
    rate = found["single_draft", 1, 1]["tokens_per_step"] - 1
    assert found["single_draft", 1, 2]["tokens_per_step"] == pytest.approx(1 + rate + rate**2)
    assert found["recursive_rejection", 2, 2]["drafts"] == 6  # a full tree
    assert document["approximate"] and any("approximation" in note for note in document["notes"])
    assert run_command([*asked, "single_draft", "-K", "1"]) == 0
    assert "approximation" not in capsys.readouterr().out


def test_drafts_that_are_the_likeliest_tokens_are_ranked_beside_drawn_ones(costs_file: Path, capsys: Any) -> None:
    asked = ["zipf:vocabulary=50,positions=4", "--costs", str(costs_file), "--samples", "4000", "-K", "4", "--verifier"]
    assert run_command([*asked, "sample_and_match,greedy_drafts,ladder", "--json"]) == 0
    settings = json.loads(capsys.readouterr().out)["batches"][0]["settings"]
    found = {(one["verifier"], one["draft_sampling"]): one for one in settings}
    assert {("greedy_drafts", "greedy"), ("ladder", "iid")} < found.keys()
    likeliest, drawn = (found["sample_and_match", name] for name in ("fixed_top_k", "iid"))
    assert likeliest["tokens_per_step"] > drawn["tokens_per_step"] + 0.05
    for one in settings:
        assert one["tokens_per_step"] == pytest.approx(1 + one["all_accepted"])
    # Equally many drafts take equally long, but for first draft passes over two tokens.
    others = [one["seconds_per_step"] - 0.002 * one["all_accepted"] for one in settings]
    assert others == pytest.approx([others[0]] * len(settings))


def test_a_truncated_capture_is_named(tmp_path: Path, costs_file: Path, capsys: Any) -> None:
    path = tmp_path / "short.npz"
    stored = np.array([[0.6, 0.3]] * 4, np.float32)
    np.savez(path, ids=np.tile(np.array([3, 900], np.int32), (4, 1)), target=stored, draft=stored[:, ::-1],
             rest_target=np.full(4, 0.1, np.float32), rest_draft=np.full(4, 0.1, np.float32))  # fmt: skip
    about = {"schema": "draftproof.capture/1", "values": "probability", "vocabulary": "1000"}
    path.with_suffix(".json").write_text(json.dumps(about))
    asked = [str(path), "--costs", str(costs_file), "--samples", "100", "-K", "1", "--verifier", "single_draft"]
    assert run_command([*asked, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["vocabulary"] == 1000
    assert any("the capture is truncated" in note for note in document["notes"])


@pytest.mark.parametrize("rest", [0.0, 0.25])
def test_trees_with_all_tokens_of_the_draft_are_not_named_truncated(rest: float, tmp_path: Path) -> None:
    """Two contexts with two paths of one token. Only a rest that is drafted changes the acceptance."""
    half = np.array([[0.5 - rest, 0.5]] * 6, np.float32)
    np.savez(tmp_path / "trees.npz", ids=np.tile(np.array([3, 900], np.int32), (6, 1)), target=half / 2, draft=half,
             rest_target=1 - half.sum(axis=1) / 2, rest_draft=np.full(6, rest, np.float32),
             paths=np.array([[[3], [900]]] * 2), path_nodes=np.array([[[0, 1], [0, 2]], [[3, 4], [3, 5]]]))  # fmt: skip
    found = survey(str(tmp_path / "trees.npz"), None, None, samples=64, verifiers=["token_path"])
    assert found.settings and found.truncated == (rest > 0)


def test_settings_beyond_the_table_are_refused_with_the_figure(costs_file: Path, capsys: Any) -> None:
    short = [TREES, "--costs", str(costs_file), "--samples", "64", "--verifier", "block,recursive_rejection_tree"]
    assert run_command([*short, "-K", "2", "-L", "4,8"]) == 0
    assert "got 17 tokens, expected 1 to 9, which were timed" in capsys.readouterr().out
    assert run_command([*short, "-K", "4", "-L", "8", "--verifier", "recursive_rejection_tree"]) == 2
    assert "got 33 tokens, expected 1 to 9" in capsys.readouterr().err


def test_a_derived_table() -> None:
    hardware = parse_hardware("bandwidth=1e12,flops=1e14,target_bytes=1e11,draft_bytes=1e9,overhead=1e-5")
    costs = derived_costs(hardware, batches=(1, 8))
    assert costs.of_pass("target_pass", 1, 1, 0).value == pytest.approx(0.1 + 1e-5)
    # A token takes 2 operations for each of 5e10 parameters, so 100 tokens take as long as reading the weights.
    for tokens, batch in ((100, 1), (130, 1), (200, 1), (64, 8)):
        expected = max(0.1, 1e11 * tokens * batch / 1e14) + 1e-5
        assert costs.of_pass("target_pass", tokens, batch, 0).value == pytest.approx(expected)
    cached = derived_costs({**hardware, "target_kv_bytes": 1e5}, batches=(8,), context=1000)
    assert cached.of_pass("target_pass", 1, 8, 1000).value == pytest.approx(0.1 + 8e8 / 1e12 + 1e-5)


def test_a_derived_table_is_written_and_read(tmp_path: Path, capsys: Any) -> None:
    hardware = "bandwidth=1e12,flops=1e14,target_bytes=1e11,draft_bytes=1e9"
    path = tmp_path / "derived.json"
    assert run_command(["--hardware", hardware, "--write-costs", str(path)]) == 0
    again = read_costs(path)
    assert isinstance(again, Costs) and again.of_pass("draft_pass", 1, 1, 0).value == pytest.approx(1e-3)
    assert run_command([TREES, "--hardware", hardware, *FEW]) == 0
    assert "plain decoding" in capsys.readouterr().out


def test_a_table_is_not_written_over_the_capture(tmp_path: Path, capsys: Any) -> None:
    capture, link = tmp_path / "run_trees.npz", tmp_path / "link.json"
    capture.write_bytes(Path(TREES).read_bytes())
    link.symlink_to(capture)
    metadata = tmp_path / "run_trees.json", tmp_path / "run.json"
    for path in metadata:
        path.write_text("{}")
    hardware = "bandwidth=1e12,flops=1e14,target_bytes=1e11,draft_bytes=1e9"
    for output in (capture, link, *metadata):
        assert run_command([str(capture), "--hardware", hardware, *FEW, "--write-costs", str(output)]) == 2
        assert f"{output}: got a file that is read here, expected another name" in capsys.readouterr().err
    assert capture.read_bytes() == Path(TREES).read_bytes() and metadata[0].read_text() == "{}"


def test_names_in_a_table_are_printed_on_one_line(tmp_path: Path, capsys: Any) -> None:
    path, name = tmp_path / "costs.json", "x\x1b[31m\ny" + "z" * 100_000
    path.write_text(json.dumps(table(target=name, draft=name, device=name)))
    assert run_command([TREES, "--costs", str(path), *FEW]) == 0
    first, second = capsys.readouterr().out.splitlines()[:2]
    assert "target x?[31m?yzzz" in first and len(first) < 1_000 and second.startswith("batch 1")
    path.write_text(json.dumps(table(verifiers={name: []})))
    assert run_command([TREES, "--costs", str(path), *FEW]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "verifiers.x?[31m?yzzz" in line and len(line) < 1_000


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"schema": "x"}, "schema: got 'x', expected 'draftproof/costs'"),
    ({"version": 2}, "version: got 2, expected 1"),
    ({"target_pass": None}, "target_pass: got nothing, expected a list of measurements"),
    ({"draft_pass": []}, r"draft_pass: got \[\], expected a list of measurements"),
    ({"draft_pass": [3]}, r"draft_pass\[0\]: got 3, expected an object"),
    ({"target_pass": passes((1, math.nan))}, r"target_pass\[0\].seconds: got nan, expected a number above 0"),
    ({"target_pass": passes((1, 1.0), (2, -1.0))}, r"target_pass\[1\].seconds: got -1.0, expected a number above 0"),
    ({"target_pass": [{"tokens": 1, "batch": 1, "context": 1}]}, r"target_pass\[0\].seconds: got nothing"),
    ({"target_pass": [{"tokens": 1.5}]}, r"target_pass\[0\].tokens: got 1.5, expected an integer of at least 1"),
    ({"target_pass": [{"tokens": True}]}, r"target_pass\[0\].tokens: got True"),
    ({"target_pass": passes((1, 1.0), (1, 2.0))}, r"target_pass\[1\]: got tokens 1, batch 1, context 128 twice"),
    ({"different_lengths": 3}, "different_lengths: got 3, expected 'padded' or 'packed'"),
    ({"equal_prefixes": "both"}, "equal_prefixes: got 'both', expected 'separate' or 'merged'"),
    ({"verifiers": []}, r"verifiers: got \[\], expected an object"),
    ({"verifiers": {"block": [{"tokens": 1}]}}, r"verifiers.block\[0\].paths: got nothing"),
    (
        {"draft_pass": [{**passes((1, 1.0))[0], "standard_error": -1}]},
        r"draft_pass\[0\].standard_error: got -1, expected a number of at least 0",
    ),
    ({"draft_pass": passes((1, 1e308))}, r"draft_pass\[0\].seconds: got 1e\+308, expected 1e-12 to 1e\+09 seconds"),
    ({"draft_pass": passes((1, 5e-324))}, r"draft_pass\[0\].seconds: got 5e-324, expected 1e-12 to 1e\+09 seconds"),
    (
        {"draft_pass": [{**passes((1, 1.0))[0], "standard_error": 1e308}]},
        r"draft_pass\[0\].standard_error: got 1e\+308, expected at most 1e\+09 seconds",
    ),
]


@pytest.mark.parametrize("changed, said", BROKEN)
def test_broken_tables_are_refused_with_a_place(
    changed: dict[str, Any], said: str, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "costs.json"
    path.write_text(json.dumps(table(**changed)))
    with pytest.raises(CostError, match=said):
        read_costs(path)
    assert run_command([TREES, "--costs", str(path)]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"draftproof tune: {path}: ") and "Traceback" not in errors


def commands_of(page: str, verb: str) -> list[list[str]]:
    """Returns the arguments of each command `python -m draftproof VERB` on the page, for VERB = `verb`."""
    text = (DATA.parent / "docs" / page).read_text().replace("\\\n", " ")
    start = f"    python -m draftproof {verb} "
    return [shlex.split(line[len(start) :]) for line in text.splitlines() if line.startswith(start)]


def test_the_commands_of_the_page(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    page = (DATA.parent / "docs" / "tune.md").read_text()
    (tmp_path / "costs.json").write_text(page.partition("```json\n")[2].partition("```")[0])
    (tmp_path / "data").symlink_to(DATA)
    monkeypatch.chdir(tmp_path)
    first, second = commands_of("tune.md", "tune")
    few = ["--verifier", "token_path,branch_reentry,ladder_block", "-K", "1,2", "-L", "4,6"]
    assert run_command([*first, *few]) == 0
    shown = capsys.readouterr().out
    for line in page.splitlines():
        if line.startswith(("    1 ", "    2 ", "    default ")):
            cells = line.split()[1:]
            assert any(cells == one.split()[1:] for one in shown.splitlines()), line
    assert run_command([*first, "--verifier", "block", "-K", "1", "-L", "4,6", "--json"]) == 0
    settings = json.loads(capsys.readouterr().out)["batches"][0]["settings"]
    fixed, some = (next(one for one in settings if bool(one["policy"]) == policy) for policy in (False, True))
    said = (
        f"`block` with `{some['policy']}` at L = {some['length']} has {some['tokens_per_second']:.2f} tokens per second"
    )
    assert f"{said}, `block` alone at L = {fixed['length']} has {fixed['tokens_per_second']:.2f}." in " ".join(
        page.split()
    )
    assert run_command(second) == 0
    assert read_costs(tmp_path / "derived.json").batches() == [1, 64, 512]


def test_derived_figures_of_the_study_of_real_models(monkeypatch: Any, capsys: Any) -> None:
    """Runs the command of the page on a part of its table."""
    page = (DATA.parent / "docs" / "studies" / "real_models.md").read_text()
    (command,) = (one for one in commands_of("studies/real_models.md", "tune") if "--hardware" in one)
    monkeypatch.chdir(DATA.parent)
    names = {"greedy_multipath_block": "`greedy_multipath_block` (GBV)", "ladder_block": "`ladder_block` (ours)"}
    assert run_command([*command, "-K", "2,4", "--verifier", ",".join(names), "--json"]) == 0
    table = page.partition("bandwidth=3.35e12")[2]
    for one in json.loads(capsys.readouterr().out)["batches"][0]["settings"]:
        line = next(line for line in table.splitlines() if line.startswith(f"| {names[one['verifier']]}"))
        shown = line.split("|")[{2: 3, 4: 4}[one["paths"]]]
        assert float(shown) == pytest.approx(one["tokens_per_second"], abs=0.05), line


def test_the_plot(costs_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "tune.png"
    asked = [TREES, "--costs", str(costs_file), *FEW, "--plot", str(path)]
    pytest.importorskip("matplotlib")
    assert run_command(asked) == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_measured_tables_have_the_drafts_and_names_that_tune_reads() -> None:
    entry = {
        "tokens": shape_of("2x4").drafts,
        "paths": shape_of("2x4").branching[0],
        "vocabulary": 512,
        "seconds": 1e-4,
    }
    measured = table(verifiers={name: [entry] for name in VERIFIERS})
    costs = costs_of(measured)
    for name in ("token_path", "block", "ladder_block", "ladder_tree", "ladder_wor_tree", "recursive_rejection_tree"):
        assert costs.of_verifier(name, drafts=8, paths=2, vocabulary=512, batch=1).value == 1e-4
    assert set(TORCH_NAMES.values()) < set(VERIFIERS)
    assert (shape_of("4-2-1").drafts, shape_of("4-2-1").branching[0]) == (4 + 8 + 8, 4)
