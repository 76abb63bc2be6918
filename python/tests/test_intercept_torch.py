"""Tests of torch under a tape: the value of every operator, the grids of torch, refusals, and compiled functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from intercepted import kinds, run

from draftproof import intercept
from draftproof.tape import CLOCK, COIN, INTEGER, PICK, NoMass, RowsUnclear, Tape, TapeShort, UnknownRandomness

torch = pytest.importorskip("torch")
F, D = torch.nn.functional, torch.distributions


# Measurements of the facts about torch that comments of the handlers state.


@pytest.mark.parametrize(("dtype", "bits"), [("float32", 24), ("float64", 53)])
def test_uniforms_are_multiples_of_their_grid(dtype: str, bits: int) -> None:
    from draftproof.intercept._torch_numbers import uniform_bits

    drawn = torch.rand(100_000, dtype=getattr(torch, dtype), generator=torch.Generator().manual_seed(1)).double()
    scaled = drawn * 2.0**bits
    assert bool((scaled == scaled.floor()).all()) and not bool((scaled / 2 == (scaled / 2).floor()).all())
    assert uniform_bits(getattr(torch, dtype), torch.device("cpu")) == bits


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.0, 5.0), (0.25, 0.75), (0.0, 2.0), (0.001, 1.0)])
def test_the_tape_gives_the_uniforms_that_torch_makes_of_the_same_bits(dtype: str, low: float, high: float) -> None:
    """The random bits of torch's uniforms, put on a tape, give the same uniforms."""
    kind = getattr(torch, dtype)
    base = torch.float64 if kind == torch.float64 else torch.float32
    behind = torch.rand(20_000, dtype=base, generator=torch.Generator().manual_seed(3)).double().tolist()
    own = torch.empty(20_000, dtype=kind).uniform_(low, high, generator=torch.Generator().manual_seed(3))
    given, _ = run(lambda: torch.empty(20_000, dtype=kind).uniform_(low, high), behind)
    assert torch.equal(own, given)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_tensor_of_chances_is_compared_with_the_uniforms_of_its_precision(dtype: str) -> None:
    p = torch.rand(20_000, dtype=torch.float64, generator=torch.Generator().manual_seed(2)).to(getattr(torch, dtype))
    base = torch.float64 if dtype == "float64" else torch.float32
    behind = torch.rand(20_000, dtype=base, generator=torch.Generator().manual_seed(5)).double().tolist()
    own = torch.bernoulli(p, generator=torch.Generator().manual_seed(5))
    given, tape = run(lambda: torch.bernoulli(p), behind)
    assert torch.equal(own, given)
    assert kinds(tape)[0] == (COIN, 0, 53 if dtype == "float64" else 24)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_exponentials_are_rounded_clocks(dtype: str) -> None:
    """Doubles may differ in their last bits, because torch's vector code has another logarithm."""
    kind = getattr(torch, dtype)
    behind = torch.rand(2_000, dtype=torch.float64, generator=torch.Generator().manual_seed(7)).tolist()
    own = torch.empty(2_000, dtype=kind).exponential_(2.5, generator=torch.Generator().manual_seed(7))
    given, _ = run(lambda: torch.empty(2_000, dtype=kind).exponential_(2.5), behind)
    if dtype == "float64":
        assert torch.allclose(own, given, rtol=2.0**-50, atol=0)
    else:
        assert float((own == given).double().mean()) > 0.99


def test_random_without_an_end_goes_to_the_largest_number_of_the_dtype() -> None:
    for dtype, largest in [("int8", 127), ("uint8", 255), ("bool", 1), ("float16", 2048), ("bfloat16", 256)]:
        own = torch.empty(100_000, dtype=getattr(torch, dtype)).random_(generator=torch.Generator().manual_seed(0))
        given, tape = run(lambda dtype=dtype: torch.empty(1, dtype=getattr(torch, dtype)).random_(), [1 - 2.0**-53])
        assert (float(own.double().max()), float(given.double().max())) == (largest, largest)
        assert kinds(tape) == [(INTEGER, largest + 1, 0)]


# Each entry: name, call of an operator, tape, expected result, expected log of draws (kind, size, bits).

W = [[0.0, 1.0, 3.0]]
EIGHTH = 0.125
OPERATORS: list[tuple[str, Callable[[], Any], list[float], Any, list[tuple[int, int, int]]]] = [
    ("rand", lambda: torch.rand(2), [0.5, EIGHTH], [0.5, EIGHTH], [(COIN, 0, 24)] * 2),
    ("rand of nothing", lambda: torch.rand(0, 3), [], [], []),
    ("rand of no dimension", lambda: torch.rand(()), [0.25], 0.25, [(COIN, 0, 24)]),
    ("rand float64", lambda: torch.rand(1, dtype=torch.float64), [0.5], [0.5], [(COIN, 0, 53)]),
    ("rand with a generator", lambda: torch.rand(1, generator=torch.Generator()), [0.5], [0.5], [(COIN, 0, 24)]),
    ("rand out", lambda: torch.rand(2, out=torch.empty(5)), [0.5, 0.75], [0.5, 0.75], [(COIN, 0, 24)] * 2),
    ("rand_like", lambda: torch.rand_like(torch.ones(1, 2)), [0.5, 0.75], [[0.5, 0.75]], [(COIN, 0, 24)] * 2),
    ("uniform_", lambda: torch.empty(1).uniform_(2.0, 4.0), [0.25], [2.5], [(COIN, 0, 24)]),
    ("uniform", lambda: torch.ops.aten.uniform(torch.ones(1), 2.0, 4.0), [0.25], [2.5], [(COIN, 0, 24)]),
    ("a forced coin", lambda: torch.rand(1), [-4.0], [0.0], [(COIN, 0, 24)]),
    ("exponential_", lambda: torch.empty(1, 2).exponential_(), [-3.0, -0.5], [[3.0, 0.5]], [(CLOCK, 2, 24)] * 2),
    ("exponential_ rate", lambda: torch.empty(1).exponential_(2.0), [-3.0], [1.5], [(CLOCK, 1, 24)]),
    ("two races", lambda: torch.empty(2, 1).exponential_(), [-3.0, -1.0], [[3.0], [1.0]], [(CLOCK, 1, 24)] * 2),
    ("exponential", lambda: torch.ops.aten.exponential(torch.ones(1)), [-3.0], [3.0], [(CLOCK, 1, 24)]),
    ("half clocks", lambda: torch.empty(1).half().exponential_(), [-(2.0**100)], [65504.0], [(CLOCK, 1, 11)]),
    ("half clocks early", lambda: torch.empty(1).half().exponential_(), [-(2.0**-60)], [2.0**-24], [(CLOCK, 1, 11)]),
    ("multinomial", lambda: torch.multinomial(torch.tensor(W[0]), 1), [0.25], [2], [(PICK, 3, 0)]),
    ("multinomial below", lambda: torch.multinomial(torch.tensor(W), 1), [0.2499], [[1]], [(PICK, 3, 0)]),
    ("multinomial forced", lambda: torch.multinomial(torch.tensor(W), 1), [-1.0], [[0]], [(PICK, 3, 0)]),
    ("multinomial rows", lambda: torch.multinomial(torch.tensor(W * 2), 1), [0.0, 0.9], [[1], [2]], [(PICK, 3, 0)] * 2),
    ("with replacement", lambda: torch.multinomial(torch.tensor(W), 2, True), [0.9, 0.9], [[2, 2]], [(PICK, 3, 0)] * 2),
    ("without", lambda: torch.multinomial(torch.tensor(W), 2), [0.9, 0.9], [[2, 1]], [(PICK, 3, 0)] * 2),
    ("multinomial out", lambda: torch.multinomial(torch.tensor(W), 1, out=torch.empty(0, dtype=torch.int64)), [0.5],
     [[2]], [(PICK, 3, 0)]),
    ("bernoulli", lambda: torch.bernoulli(torch.tensor([0.5, 0.5])), [0.5, 0.4999], [0.0, 1.0], [(COIN, 0, 24)] * 2),
    ("bernoulli p", lambda: torch.bernoulli(torch.zeros(1), 0.5), [0.4999], [1.0], [(COIN, 0, 53)]),
    ("bernoulli_ number", lambda: torch.empty(1).bernoulli_(0.5), [0.5], [0.0], [(COIN, 0, 53)]),
    ("bernoulli_ tensor", lambda: torch.empty(2).bernoulli_(torch.tensor(0.5)), [0.4, 0.6], [1.0, 0.0],
     [(COIN, 0, 24)] * 2),
    ("randint", lambda: torch.randint(4, (2,)), [0.25, 0.2499], [1, 0], [(INTEGER, 4, 0)] * 2),
    ("randint from", lambda: torch.randint(2, 6, (1,), generator=torch.Generator()), [-4.0], [5], [(INTEGER, 4, 0)]),
    ("randint_like", lambda: torch.randint_like(torch.ones(1), 4), [0.9], [3.0], [(INTEGER, 4, 0)]),
    ("random_ to", lambda: torch.empty(1).random_(4), [0.5], [2.0], [(INTEGER, 4, 0)]),
    ("random_ from", lambda: torch.empty(1).random_(2, 6), [0.5], [4.0], [(INTEGER, 4, 0)]),
    ("random_ of 31 bits", lambda: torch.empty(1, dtype=torch.int32).random_(), [0.5], [2**30], [(COIN, 0, 31)]),
    ("randperm", lambda: torch.randperm(3), [0.5, 0.0], [1, 0, 2], [(INTEGER, 3, 0), (INTEGER, 2, 0)]),
    ("dropout", lambda: F.dropout(torch.ones(2), 0.5), [0.4, 0.6], [2.0, 0.0], [(COIN, 0, 53)] * 2),
    ("no dropout", lambda: F.dropout(torch.ones(2), 0.5, training=False), [], [1.0, 1.0], []),
    ("rrelu not training", lambda: F.rrelu(torch.ones(1)), [], [1.0], []),
    ("Categorical", lambda: D.Categorical(torch.tensor(W[0])).sample(), [0.5], 2, [(PICK, 3, 0)]),
    ("Bernoulli", lambda: D.Bernoulli(torch.tensor([0.5])).sample(), [0.4], [1.0], [(COIN, 0, 24)]),
    ("Uniform", lambda: D.Uniform(torch.zeros(1), 2.0).sample(), [0.25], [0.5], [(COIN, 0, 24)]),
    ("Exponential", lambda: D.Exponential(torch.ones(2)).sample(), [-3.0, -1.0], [3.0, 1.0], [(CLOCK, 2, 24)] * 2),
    ("gumbel_softmax", lambda: F.gumbel_softmax(torch.zeros(3), hard=True), [-5.0, -1.0, -5.0], [0.0, 1.0, 0.0],
     [(CLOCK, 3, 24)] * 3),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "values", "wanted", "log"), [c[1:] for c in OPERATORS], ids=[c[0] for c in OPERATORS])
def test_an_operator_is_a_function_of_the_tape(fn: Any, values: Any, wanted: Any, log: Any) -> None:
    result, tape = run(fn, [*values, 0.5])
    assert result.tolist() == wanted
    assert kinds(tape) == log


def test_in_place_operators_return_their_tensor() -> None:
    x = torch.empty(2)
    result, _ = run(lambda: x.uniform_(), [0.5, 0.25])
    assert result is x and x.tolist() == [0.5, 0.25]


def test_the_ledger_says_operator_dtype_shape_and_generator() -> None:
    def fn() -> None:
        torch.rand(1, 2)
        torch.rand(1, 2)
        torch.empty(2, dtype=torch.float64).exponential_(generator=torch.Generator())

    _, tape = run(fn, [0.5] * 6)
    assert tape.draw_log[0] == tape.draw_log[1] == ("aten::rand", "float32", (1, 2), "global", "coin")
    assert tape.draw_log[2] == ("aten::exponential_", "float64", (2,), "given", "clock")
    assert len(set(tape.draw_log)) == 2


def test_uniforms_of_the_vocabulary_are_races_where_the_tape_says_so() -> None:
    def noise() -> Any:
        return -torch.log(-torch.log(torch.rand(1, 3)))

    result, tape = run(noise, [-1.0, -0.25, -8.0], races=True)
    assert torch.allclose(result, -torch.log(torch.tensor([[1.0, 0.25, 8.0]])), atol=2e-4)
    assert kinds(tape) == [(CLOCK, 3, 16)] * 3 and tape.draw_log[0].kind == "race"
    late, _ = run(lambda: torch.rand(1, 3), [-(2.0**100), -(2.0**-60), 0.5], races=True)
    assert late.tolist() == [[0.0, 1 - 2.0**-24, 0.5]]  # torch.rand's range, [0, 1 - 2^-24]
    assert kinds(run(noise, [0.5] * 3)[1]) == [(COIN, 0, 24)] * 3
    assert kinds(run(lambda: torch.rand(1, 2), [0.5] * 2, races=True)[1]) == [(COIN, 0, 24)] * 2
    sample = run(lambda: D.Gumbel(torch.zeros(3), 1.0).sample(), [-1.0, -0.25, -8.0], races=True)[0]
    assert int(sample.argmax()) == 1


# Rows of a batch.


@pytest.mark.parametrize(
    "fn",
    [
        lambda b: torch.rand(b),
        lambda b: torch.rand(b, 2, 2),
        lambda b: torch.empty(b, 2, 2).exponential_(),
        lambda b: torch.empty(b, dtype=torch.float64).exponential_(),
        lambda b: torch.multinomial(torch.tensor([W[0], [1.0, 1.0, 1.0], [5.0, 0.0, 1.0]])[-b:], 2),
        lambda b: torch.bernoulli(torch.full((b, 2), 0.5)),
        lambda b: torch.randint(7, (b, 3)),
        lambda b: torch.rand(b, 3).uniform_(1, 2).half().uniform_(),
    ],
)
def test_a_row_of_a_batch_gets_what_it_gets_alone(fn: Callable[[int], Any]) -> None:
    values = np.random.default_rng(3).random((3, 12))
    whole, many = run(lambda: fn(3), *values.tolist())
    alone, one = run(lambda: fn(1), values[2].tolist())  # row 2 alone; [-b:] selects its weights
    assert torch.equal(whole[2:].reshape(-1), alone.reshape(-1))
    counts, draws, weights, _ = many.log()
    _, draws_alone, weights_alone, _ = one.log()
    assert np.array_equal(draws[-int(counts[2]) :], draws_alone)
    assert np.array_equal(weights[len(weights) - len(weights_alone) :], weights_alone)


@pytest.mark.parametrize("races", [False, True])
def test_raced_rows_are_those_alone(races: bool) -> None:
    values = np.random.default_rng(3).random((3, 12))
    whole, _ = run(lambda: torch.rand(3, 2, 3), *values.tolist(), races=races)
    assert torch.equal(whole[1], run(lambda: torch.rand(1, 2, 3), values[1].tolist(), races=races)[0][0])


@pytest.mark.parametrize(
    "fn", [lambda: torch.rand(3), lambda: torch.rand(()), lambda: torch.randperm(2), lambda: torch.rand(1, 2),
           lambda: torch.multinomial(torch.ones(3), 1), lambda: torch.multinomial(torch.ones(3, 3), 1)])  # fmt: skip
def test_a_draw_without_the_batch_in_front_is_refused(fn: Callable[[], Any]) -> None:
    with pytest.raises(RowsUnclear, match="2 rows"):
        run(fn, [0.5] * 9, [0.5] * 9)
    assert run(lambda: torch.rand(0), [0.5], [0.5])[0].shape == (0,)


def test_weights_without_mass_and_a_short_tape_end_the_call() -> None:
    with pytest.raises(NoMass):
        run(lambda: torch.multinomial(torch.zeros(3), 1), [0.5])
    with pytest.raises(TapeShort):
        run(lambda: torch.rand(3), [0.5])

    def careful() -> int:
        try:
            return int(torch.multinomial(torch.zeros(3), 1))
        except RuntimeError:  # torch's exception for weights without mass
            return -1

    assert run(careful, [0.5])[0] == -1


def test_wrong_arguments_are_refused_as_by_torch() -> None:
    for fn in (lambda: torch.multinomial(torch.ones(2), 3), lambda: torch.multinomial(torch.ones(2), 0),
               lambda: torch.multinomial(torch.ones(2, dtype=torch.int64), 1), lambda: torch.randint(3, 3, (1,)),
               lambda: torch.bernoulli(torch.tensor([1.5]))):  # fmt: skip
        with pytest.raises(RuntimeError):
            fn()
        with pytest.raises(RuntimeError):
            run(fn, [0.5] * 4)


def test_outside_of_the_context_torch_draws_as_ever() -> None:
    torch.manual_seed(1)
    before = torch.rand(3)
    torch.manual_seed(1)
    run(lambda: torch.rand(3), [0.5] * 3)
    assert torch.equal(torch.rand(3), before)
    assert math.isfinite(float(before.sum()))


# Every random operator of the installed torch is replaced or refused.

RATES = {"dropout_p": 0.5, "dropout": 0.5, "p": 0.5, "train": True, "training": True}


def operators() -> Iterator[Any]:
    """Yields every overload of every operator that torch has registered."""
    for name in torch._C._dispatch_get_all_op_names():
        namespace, _, rest = name.partition("::")
        operator, _, overload = rest.partition(".")
        packet = getattr(getattr(torch.ops, namespace), operator, None)
        if packet is not None and hasattr(packet, overload or "default"):
            yield getattr(packet, overload or "default")


def test_every_random_operator_is_answered_or_refused_by_name() -> None:
    from draftproof.intercept._torch_handlers import HANDLERS
    from draftproof.intercept._torch_mode import DRAW_NOTHING, handler_of

    refused, answered = set(), set()
    for operator in operators():
        schema = operator._schema
        by_generator = any("Generator" in str(argument.type) for argument in schema.arguments)
        if torch.Tag.nondeterministic_seeded not in operator.tags and not by_generator:
            continue
        if schema.name in DRAW_NOTHING:
            continue
        handler = handler_of(operator)
        assert handler is not None, schema.name
        if schema.name in HANDLERS:
            answered.add(schema.name)
            continue
        tape = Tape([[0.5]], 3)
        given = {argument.name: RATES[argument.name] for argument in schema.arguments if argument.name in RATES}
        with pytest.raises(UnknownRandomness, match=schema.name) as error:
            handler(tape, operator, (), given)
        assert "_torch_handlers.py" in error.value.remedy and tape.refused is error.value
        refused.add(schema.name)
    assert len(refused) > 20  # attention, recurrent layers, alpha dropout
    assert set(HANDLERS) == answered  # every handler's operator is in torch


def test_operators_that_draw_by_a_key_are_refused() -> None:
    from draftproof.intercept._torch_mode import is_random

    by_key = [op for op in operators() if "_philox_" in op._schema.name and "key" not in op._schema.name[13:]]
    for operator in by_key:
        assert is_random(operator), operator._schema.name
    assert not is_random(torch.ops.aten.add.Tensor) and not is_random(torch.ops.aten._fused_sdp_choice.default)


@pytest.mark.parametrize(
    "fn",
    [
        lambda: torch.randn(2),
        lambda: torch.randn_like(torch.ones(2)),
        lambda: torch.empty(2).normal_(),
        lambda: torch.normal(torch.zeros(2), 1.0),
        lambda: torch.empty(2).cauchy_(),
        lambda: torch.empty(2).log_normal_(),
        lambda: torch.empty(2).geometric_(0.5),
        lambda: torch.poisson(torch.ones(2)),
        lambda: torch.distributions.Gamma(1.0, 1.0).sample(),
        lambda: torch.randint(3 * 2**40, (1,)),
        lambda: torch.nn.functional.rrelu(torch.ones(2), training=True),
    ],
)
def test_what_the_tape_cannot_give_is_refused(fn: Any) -> None:
    with pytest.raises(UnknownRandomness), intercept.intercepting(Tape([[0.5] * 9], 3)):
        fn()


def test_integers_of_63_bits_are_drawn_from_one_uniform() -> None:
    drawn, tape = run(lambda: torch.empty(1, dtype=torch.int64).random_(), [0.5])
    assert drawn.tolist() == [2**62]
    assert kinds(tape) == [(COIN, 0, 53)]


def test_a_refusal_that_the_function_caught_is_raised_at_the_end() -> None:
    def stubborn() -> Any:
        try:
            return torch.randn(1)
        except Exception:
            return torch.zeros(1)

    def hiding() -> None:
        try:
            torch.randn(1)
        except Exception:
            raise KeyError("another one") from None

    for fn in (stubborn, hiding):
        with pytest.raises(UnknownRandomness, match="randn"), intercept.intercepting(Tape([[0.5]], 3)):
            fn()


def test_a_tape_exception_inside_another_one_is_the_reason() -> None:
    def wrapping() -> None:
        try:
            torch.rand(4)
        except Exception as error:
            raise RuntimeError("the kernel failed") from error

    with pytest.raises(TapeShort), intercept.intercepting(Tape([[0.5]], 3)):
        wrapping()
    with pytest.raises(RuntimeError, match="own"), intercept.intercepting(Tape([[0.5]], 3)):
        raise RuntimeError("the function's own")


def test_operators_that_are_switched_off_run() -> None:
    x = torch.ones(1, 1, 2, 4)
    with intercept.intercepting(Tape([[0.5]], 3)) as _:
        torch.nn.functional.scaled_dot_product_attention(x, x, x)
        torch.ops.aten.native_dropout(x, 0.0, True)
        torch.ops.aten.native_dropout(x, 0.5, False)
        with torch.no_grad():
            torch.nn.GRU(2, 2, device="meta")
        assert torch.rand(3, device="meta").shape == (3,)  # tensors without elements draw nothing


@pytest.mark.parametrize("warm", [False, True])
def test_a_compiled_function_is_run_as_the_function_it_was_made_from(warm: bool) -> None:
    def fn(x: Any) -> Any:
        return (torch.rand_like(x) < x).to(torch.int64), torch.multinomial(x, 1)

    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="aot_eager")
    x = torch.tensor([[0.5, 0.5]])
    if warm:
        compiled(x)
    tape = Tape([[0.25, 0.75, -2.0]], 3)
    with intercept.intercepting(tape):
        accepted, token = compiled(x)
    assert accepted.tolist() == [[1, 0]] and token.tolist() == [[1]]
    assert [entry.operator for entry in tape.draw_log] == ["aten::rand_like", "aten::multinomial"]
