"""Tests of decoding with small models: the text has the target's distribution, and caches hold the text alone."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from draftproof import program

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from draftproof.capture import CaptureError, Filter  # noqa: E402
from draftproof.capture.distributions import filtered, log_distribution  # noqa: E402
from draftproof.capture.layers import without_layers  # noqa: E402
from draftproof.capture.layout import read  # noqa: E402
from draftproof.decode import Settings, command, decode  # noqa: E402
from draftproof.decode.context import Context, distributions  # noqa: E402
from draftproof.decode.drafters import Drafter, Lookup, NGram, NGramModel, Proposal  # noqa: E402
from draftproof.decode.loop import decode_text  # noqa: E402
from draftproof.decode.models import Models  # noqa: E402
from draftproof.decode.run import ratio_of  # noqa: E402
from draftproof.decode.settings import (  # noqa: E402
    CHAIN,
    HYBRID,
    PATHS,
    VERIFIERS,
    WITHOUT_REPLACEMENT,
    settings_of,
    shape_of,
)
from draftproof.decode.verify import draw, verify  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

V = 32
TEXTS = [np.random.default_rng([4, i]).integers(0, V, size=12).tolist() for i in range(2)]
SHAPES = dict.fromkeys(HYBRID, "2+1-1+1-0+1") | dict.fromkeys(WITHOUT_REPLACEMENT, "3-2-1")
SHAPES |= dict.fromkeys(PATHS, "3x3") | dict.fromkeys(CHAIN, "1x3")
# Passes over different numbers of tokens add floats in different orders. This bound allows for 500 roundings of numbers
# below 32.
LOGITS = 500 * 32 * 2**-24


def llama(seed: int = 0, **changes: Any) -> Any:
    """Returns a random Llama. Large weights make its rows far from uniform."""
    given = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 3, "num_attention_heads": 2}
    given |= {"max_position_embeddings": 2048, **changes}
    config = transformers.LlamaConfig(vocab_size=V, initializer_range=0.4, **given)
    torch.manual_seed(seed)
    return transformers.LlamaForCausalLM(config).eval()


def clean(model: Any, ids: list[int]) -> NDArray[np.float64]:
    """Returns log-probabilities [n, V] after each prefix, by one pass without cache."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
    rows: NDArray[np.float64] = torch.log_softmax(logits.double(), -1).numpy()
    return rows


@pytest.mark.parametrize("verifier", ["single_draft", "ladder_block", "ladder_without_replacement"])
def test_rows_in_use_are_those_of_passes_without_cache(verifier: str) -> None:
    target = llama()
    models = Models(target, None, Settings(draft_skip_layers=(0,)))
    assert models.draft is not None
    shape, text = shape_of(SHAPES[verifier]), list(TEXTS[0])
    done = decode_text(
        models.context(), models.drafter("model"), shape, verifier, text, 30, models.generator(1), keep=True
    )
    assert any(call.accepted > 0 for call in done.calls)
    assert any(call.accepted < shape.length for call in done.calls)
    for call in done.calls:
        wanted = clean(target, text + call.emitted)[len(text) - 1 : -1]
        # A log-probability is a logit less the log of the normaliser, and each of the two has an error of at most
        # LOGITS.
        np.testing.assert_allclose(np.log(call.p.double().numpy()), wanted, atol=2 * LOGITS)
        for path in call.made.paths():
            rows = clean(models.draft.model, text + [call.made.tokens[node] for node in path])[len(text) - 1 :]
            for row, node in zip(rows, [-1, *path[:-1]], strict=False):
                np.testing.assert_allclose(np.log(call.made.rows[node].double().numpy()), row, atol=2 * LOGITS)
        text += call.emitted


def test_layers_left_out_leave_a_cache_of_the_others() -> None:
    """A cache reads the length of the text from its first layer. A copy of a model without layer 0 must therefore fill
    this layer too."""
    draft = without_layers(llama(num_hidden_layers=4), (0, 2))
    cache = transformers.DynamicCache()
    with torch.inference_mode():
        for token in TEXTS[0]:
            name = "cache" if "cache" in inspect.signature(draft.forward).parameters else "past_key_values"
            logits = draft(input_ids=torch.tensor([[token]]), use_cache=True, **{name: cache}).logits[0, -1]
    assert cache.get_seq_length() == len(TEXTS[0]) and len(cache.layers) == 2
    np.testing.assert_allclose(torch.log_softmax(logits.double(), -1), clean(draft, TEXTS[0])[-1], atol=2 * LOGITS)


def audited(verifier: str, tokens: int = 300) -> dict[str, Any]:
    try:
        program.find()
    except program.ProgramNotFound as error:
        pytest.skip(str(error))
    found: dict[str, Any] = decode(
        llama(), TEXTS, draft_skip_layers=(1,), drafts=["model"], shapes=[SHAPES[verifier]], verifiers=[verifier],
        tokens=tokens, rounds=2, audit=True,
    )["settings"][0]  # fmt: skip
    return found


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_the_text_passes_the_audit(verifier: str) -> None:
    found = audited(verifier)
    assert found["audit"]["verdict"] == "passed"
    assert found["audit"]["tokens"] == found["tokens"] >= 600
    assert found["tokens"] == round(found["calls"] * found["tokens_per_call"])
    assert 0 < found["accepted_per_call"] < 3 and found["ratio"] > 0 and found["standard_error"] > 0


def test_an_audit_of_few_tokens_is_undecided_and_shows_nothing() -> None:
    found = audited("single_draft", tokens=6)["audit"]
    assert found["verdict"] == "undecided" and found["shows"] is None


@pytest.mark.parametrize("verifier", ["single_draft", "recursive_rejection"])
def test_a_cache_that_keeps_rejected_drafts_fails_the_audit(verifier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Context.commit

    def commit(self: Context, path: Any) -> None:
        if self.nodes:
            right(self, range(len(self.nodes)))

    monkeypatch.setattr(Context, "commit", commit)
    # When rejected drafts stay in the cache, a context's text becomes longer than the decoded text. A draft model
    # passes over only the tokens beyond its context's text, so it would skip new tokens. An n-gram model has no context
    # and drafts here instead.
    monkeypatch.setattr(Models, "drafter", lambda self, name: NGram(V, 2, torch.device("cpu")))
    monkeypatch.setattr(Models, "check", lambda self, todo, prompts: None)
    assert audited(verifier, tokens=100)["audit"]["verdict"] == "failed"


def test_a_verifier_that_accepts_every_draft_fails_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(p: Any, q: Any, drafts: Any, **_: Any) -> Any:
        return drafts[:, 0], torch.zeros(1, dtype=torch.int64)

    monkeypatch.setattr("draftproof.torch.ladder", wrong)
    assert audited("ladder", tokens=150)["audit"]["verdict"] == "failed"


class Table(Drafter):
    """Rows that depend on the token before them."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def root(self, text: Any) -> Any:
        return self.rows[text[-1]]

    def after(self, proposal: Proposal, nodes: Any) -> Any:
        return self.rows[[proposal.tokens[node] for node in nodes]]


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_two_tokens_have_the_targets_distribution(verifier: str) -> None:
    """On tables of three tokens, compares the emitted tokens, continued by draws of the target, with p(x) p(y|x)."""
    random, size, runs = np.random.default_rng(6), 3, 700
    p = torch.from_numpy(random.dirichlet(np.full(size, 0.7), size)).float()
    drafter = Table(torch.from_numpy(random.dirichlet(np.full(size, 0.7), size)).float())
    shape = shape_of({"1x3": "1x2", "3x3": "3x2", "3-2-1": "2-2", "2+1-1+1-0+1": "1+1-1+1"}[SHAPES[verifier]])
    generator = torch.Generator().manual_seed(8)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(runs):
        made = drafter.propose([0], shape, generator)
        emitted, path = verify(verifier, made, p[[0, *made.tokens]], generator)
        assert [made.tokens[node] for node in path] == emitted[:-1]
        if len(emitted) < 2:
            emitted += draw(p[emitted[-1]], generator)
        seen[tuple(emitted[:2])] += 1
    statistic = sum(
        (seen[x, y] - (m := runs * float(p[0, x] * p[x, y]))) ** 2 / m for x in range(size) for y in range(size)
    )
    assert statistic < 26.1  # chi-square of 8 degrees of freedom exceeds this with probability 1e-3; the seed is fixed


def test_every_decision_gets_the_rows_and_draws_of_its_node(monkeypatch: pytest.MonkeyPatch) -> None:
    random, seen = np.random.default_rng(9), []
    p, q = (torch.from_numpy(random.dirichlet(np.ones(4), 4)).float() for _ in range(2))

    def accepts_the_last(p: Any, q: Any, drafts: Any, **_: Any) -> Any:
        seen.append((p[0], q[0], drafts[0].tolist()))
        return drafts[:, -1], torch.tensor([drafts.shape[1] - 1])

    monkeypatch.setattr("draftproof.torch.ladder", accepts_the_last)
    made = Table(q).propose([0], shape_of("5x3"), torch.Generator().manual_seed(1))
    emitted, path = verify("ladder", made, p[[0, *made.tokens]], torch.Generator())
    prefix: list[int] = []
    for used_p, used_q, drafts in seen:
        token = [0, *prefix][-1]
        assert torch.equal(used_p, p[token]) and torch.equal(used_q, q[token])
        paths = [[made.tokens[node] for node in path] for path in made.paths()]
        assert drafts == [path[len(prefix)] for path in paths if path[: len(prefix)] == prefix]
        prefix.append(drafts[-1])
    assert prefix == emitted[:-1] == [made.tokens[node] for node in path] and len(prefix) == 3


def test_paths_of_equal_tokens_are_one_node_and_keep_their_draws() -> None:
    drafter = Table(torch.tensor([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))
    made = drafter.propose([0], shape_of("4x3"), torch.Generator().manual_seed(0))
    assert len(made.draws) == 12 and len(made.paths()) == 4
    prefixes = {tuple(made.tokens[node] for node in path[:d]) for path in made.paths() for d in (1, 2, 3)}
    assert len(prefixes) == len(made.tokens) < 12
    assert len(made.children(-1)) == 4
    tree = drafter.propose([0], shape_of("3-1"), torch.Generator().manual_seed(0))
    assert sorted(made_token for made_token in tree.tokens[:2]) == [0, 1]  # token 2 has no probability
    assert len(tree.tokens) == 4


def test_fixed_children_are_the_likeliest_and_the_others_draws_from_the_rest() -> None:
    drafter = Table(torch.tensor([[0.1, 0.4, 0.3, 0.2], [1.0, 0, 0, 0], [0.25] * 4, [0.25] * 4]))
    generator, drawn = torch.Generator().manual_seed(0), Counter[int]()
    for _ in range(300):
        made = drafter.propose([0], shape_of("1+1-2+1"), generator)
        assert made.tokens[0] == 1 and made.tokens[2] == 0  # after token 1 token 0 is certain, so it is the only child
        assert {made.tokens[node] for node in made.fixed if made.parents[node] == -1} == {1}
        assert [made.parents[node] for node in sorted(made.fixed)] == [-1, 0, 1, 1]
        drawn[made.tokens[1]] += 1
    # A count of correct draws is more than 4.5 standard deviations off with probability below 1e-4; the seed is fixed.
    for token, share in ((0, 1 / 6), (2, 1 / 2), (3, 1 / 3)):
        assert abs(drawn[token] - 300 * share) < 4.5 * (300 * share * (1 - share)) ** 0.5


def test_a_hybrid_tree_accepts_with_the_probability_of_univer() -> None:
    """Token 0 is fixed, and m = (0 6 3 1)/10 is q without token 0. A child is accepted with probability p(0) + sum of
    min(p, m) = 1/10 + 8/10. A drawn child that counts as fixed would be accepted with probability p, in all 9/20."""
    p, q = torch.tensor([[0.1, 0.4, 0.3, 0.2]] * 4), torch.tensor([[0.5, 0.3, 0.15, 0.05]] * 4)
    generator, runs = torch.Generator().manual_seed(3), 600
    accepted = 0
    for _ in range(runs):
        made = Table(q).propose([0], shape_of("1+1"), generator)
        accepted += len(verify("univer", made, p[[0, *made.tokens]], generator)[1])
    assert abs(accepted - 0.9 * runs) < 4.5 * (runs * 0.9 * 0.1) ** 0.5  # a binomial deviation; the seed is fixed


def test_shapes_of_hybrid_trees() -> None:
    shape = shape_of("2+1-1+0-0+1")
    assert (shape.branching, shape.fixed, str(shape)) == ((3, 1, 1), (2, 1, 0), "2+1-1+0-0+1")
    assert (shape.drafts, shape.length, shape.verifiers()) == (9, 3, ("univer",))
    for text in ("2+2", "2-1+1", "1+1-2", "0+0", "a+1", "+1", "1+", "1+1x2"):
        with pytest.raises(CaptureError, match=r"shape: got .*FIXED\+1"):
            shape_of(text)
    assert [str(one) for one in settings_of(["lookup"], [shape_of("1+0-1+0")], None)] == ["lookup 1+0-1+0 univer"]
    with pytest.raises(CaptureError, match=r"'ladder' with the shapes 1\+1"):
        settings_of(["ngram"], [shape_of("1+1")], ["ladder"])


def test_prompt_lookup_continues_the_latest_match() -> None:
    lookup = Lookup(10, 3, torch.device("cpu"))
    made = lookup.propose([1, 2, 3, 4, 1, 2, 5, 6, 1, 2], shape_of("1x3"), torch.Generator())
    assert made.tokens == [5, 6, 1] and made.parents == [-1, 0, 1]
    assert made.rows[0].tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    assert lookup.propose([1, 2, 3, 4, 1, 2, 5, 6, 1, 2, 9], shape_of("1x3"), torch.Generator()).tokens == []
    longer = lookup.propose([1, 2, 3, 4, 1, 2, 5, 6, 1, 2, 9, 3, 4], shape_of("1x8"), torch.Generator())
    assert longer.tokens == [1, 2, 5, 6, 1, 2, 9, 3]


def test_n_gram_rows_follow_the_counts() -> None:
    model = NGram(4, 3, torch.device("cpu"))
    row = model.root([0, 1, 2, 0, 1, 3, 0, 1])
    single = (np.array([3, 3, 1, 1]) + 0.25) / 9
    double = (np.array([0, 0, 1, 1]) + 0.25 * single) / 2.25
    triple = (np.array([0, 0, 1, 1]) + 0.25 * double) / 2.25
    np.testing.assert_allclose(row, triple, rtol=1e-6)
    again = NGram(4, 3, torch.device("cpu"))
    again.root([0, 1, 2, 0])
    np.testing.assert_array_equal(again.root([0, 1, 2, 0, 1, 3, 0, 1]), row)


def test_n_gram_rows_after_drafts_count_the_drafts_as_text() -> None:
    text, by = [0, 1, 2, 0, 1, 3, 0, 1], Filter(top_k=3)
    model = NGram(5, 3, torch.device("cpu"), by)
    first = model.root(text)
    made = Proposal([2, 3, 0], [-1, -1, 0])
    rows = model.after(made, [2, 1])
    for row, path in zip(rows, ([2, 0], [3]), strict=True):
        assert torch.equal(row, NGram(5, 3, torch.device("cpu"), by).root(text + path))
    assert torch.equal(model.root(text), first)
    stored = NGramModel(5, 3).rows(np.array([[*text, 2, 0]]), [len(text) - 1, len(text) + 1])[0]
    for row, wanted in zip(stored, (first, rows[0]), strict=True):
        np.testing.assert_allclose(filtered(np.log(row.astype(float)), by), wanted, rtol=1e-6)


def test_the_likeliest_tokens_are_those_of_the_program() -> None:
    random = np.random.default_rng(2)
    logits = torch.from_numpy(random.integers(0, 6, (40, 12)).astype(np.float32))  # rows with many equal entries
    for by in (Filter(top_k=1), Filter(temperature=0.5, top_k=4), Filter(top_k=12), Filter(top_k=30)):
        wanted = [filtered(log_distribution(row.numpy(), "logit", "row"), by) for row in logits]
        np.testing.assert_allclose(distributions(logits, by, 12), np.stack(wanted), atol=1e-6)


@pytest.mark.parametrize("by", [Filter(temperature=0), Filter(temperature=0.6, top_k=5), Filter(top_p=0.5)])
def test_filters_apply_to_both_sides(by: Filter) -> None:
    target = llama()
    models = Models(target, None, Settings(target_filter=by, draft_filter=by, draft_skip_layers=(1,)))
    text = list(TEXTS[1])
    done = decode_text(
        models.context(), models.drafter("model"), shape_of("1x3"), "single_draft", text, 40, models.generator(2), True
    )
    for call in done.calls:
        rows = clean(target, text + call.emitted)[len(text) - 1 : -1]
        for row, used, token in zip(rows, call.p, call.emitted, strict=True):
            rank = int((row > row[token]).sum())
            assert float(used[token]) > 0
            assert rank < (1 if by.temperature == 0 else by.top_k or V)
        text += call.emitted


def test_the_same_seed_gives_the_same_text() -> None:
    models = Models(llama(), None, Settings())
    for name, shape in (("ngram", "2x3"), ("lookup", "1x4")):
        texts = [
            decode_text(
                models.context(), models.drafter(name), shape_of(shape), "recursive_rejection", TEXTS[0], 30,
                models.generator(3),
            ).emitted
            for _ in range(2)
        ]  # fmt: skip
        assert texts[0] == texts[1] and len(texts[0]) >= 30


def test_an_error_by_texts_is_that_of_a_ratio() -> None:
    ratio, error = ratio_of([2, 4, 9], [4, 4, 8])
    assert ratio == 15 / 16
    rest = np.array([2, 4, 9]) - 15 / 16 * np.array([4, 4, 8])
    assert error == pytest.approx(np.sqrt((rest**2).sum() * 3 / 2) / 16)
    assert ratio_of([1], [2]) == (0.5, None)


def test_settings_are_the_combinations_that_fit() -> None:
    shapes = [shape_of("1x4"), shape_of("2x4"), shape_of("2-2")]
    found = {str(setting) for setting in settings_of(["lookup", "ngram"], shapes, ["single_draft", "ladder"])}
    assert found == {
        "lookup 1x4 single_draft",
        "lookup 1x4 ladder",
        "ngram 1x4 single_draft",
        "ngram 1x4 ladder",
        "ngram 2x4 ladder",
    }


def test_the_command_prints_a_table_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    llama().save_pretrained(tmp_path / "model")
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, TEXTS)))
    given = ["--target", str(tmp_path / "model"), "--texts", str(tmp_path / "texts.jsonl"), "--tokens", "8", "-q"]
    assert command.run_command([*given, "--rounds", "2", "--drafts", "lookup,ngram"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("plain decoding: ") and len(lines) == 4 + 4
    assert command.run_command([*given, "--rounds", "1", "-o", str(tmp_path / "out.json")]) == 0
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["schema"] == "draftproof/decode" and len(written["settings"]) == 4
    assert written["settings"][0]["standard_error"] is None


def test_a_stopped_run_gives_the_rounds_so_far() -> None:
    def say(line: str) -> None:
        if line.startswith(f"round {stop} "):
            raise KeyboardInterrupt

    given: dict[str, Any] = {"rounds": 3, "tokens": 5, "drafts": ["ngram"], "verifiers": ["single_draft"], "say": say}
    stop = 2
    found = decode(llama(), TEXTS, **given)
    assert found["stopped"] and found["rounds"] == 1 and found["settings"][0]["standard_error"] is None
    stop = 1
    with pytest.raises(KeyboardInterrupt):
        decode(llama(), TEXTS, **given)


def test_recordings_stay_in_their_folder_and_a_failed_audit_is_an_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    llama().save_pretrained(tmp_path / "model")
    (tmp_path / "texts.jsonl").write_text(json.dumps(TEXTS[0]))
    (tmp_path / "traces").mkdir()
    given = ["--target", str(tmp_path / "model"), "--texts", str(tmp_path / "texts.jsonl"), "--tokens", "9", "-q"]
    given += ["--rounds", "2", "--drafts", "ngram", "--verifier", "single_draft", "--traces", str(tmp_path / "traces")]
    audits: list[list[str]] = []
    monkeypatch.setattr(program, "find", lambda: Path("draftproof"))

    def run(arguments: list[str]) -> dict[str, Any]:
        audits.append(arguments)
        return {"status": "failed", "log10_e": 12.0, "log10_threshold": 9.3, "shows": {}, "violations": []}

    monkeypatch.setattr(program, "run", run)
    assert command.run_command(given) == 1
    assert audits == [["audit", str(tmp_path / "traces" / "setting_0.again.safetensors")]]
    own, again = (read(tmp_path / "traces" / f"setting_0{word}.safetensors") for word in ("", ".again"))
    assert own[1]["draft_sampling"] == "iid" and again[1]["target_rows"] == "scored again"
    assert set(own[0]["request"].tolist()) == {0, 1}
    np.testing.assert_allclose(own[0]["p_rows"], again[0]["p_rows"], atol=2 * LOGITS)
    assert command.run_command(given) == 2  # the recordings exist
    assert "setting_0.safetensors' exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shape", "4y8"], "shape: got '4y8', expected PATHSxLENGTH"),
        (["--shape", "40x80"], "3,200 drafts"),
        (["--verifier", "nucleus"], "verifier: got 'nucleus', expected one of single_draft"),
        (["--verifier", "ladder_without_replacement"], "a shape that it decides on"),
        (["--drafts", "model"], "draft: got none, expected a draft model"),
        (["--drafts", "luck"], "drafts: got 'luck'"),
        (["--drafts", "lookup", "--shape", "2x4"], "1xL for prompt look-up"),
        (["--rounds", "0"], "rounds: got 0, expected at least 1"),
        (["--tokens", "many"], "invalid int value"),
        (["--target-temperature", "-1"], "temperature: got -1.0"),
        (["--tokens", "80", "--rounds", "1", "--drafts", "lookup"], "at most 64 for"),
    ],
)
def test_bad_input_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    llama(max_position_embeddings=64).save_pretrained(tmp_path / "model")
    (tmp_path / "texts.jsonl").write_text(json.dumps(TEXTS[0]))
    given = ["--target", str(tmp_path / "model"), "--texts", str(tmp_path / "texts.jsonl"), "-q", *arguments]
    assert command.run_command(given) == 2
    assert words in capsys.readouterr().err


def test_models_that_are_not_of_transformers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="a model of transformers with a cache"):
        decode(lambda ids: np.zeros((len(ids), V)), TEXTS)
    with pytest.raises(CaptureError, match="no folder"):
        decode(llama(), TEXTS, audit=True, traces=tmp_path / "missing")
