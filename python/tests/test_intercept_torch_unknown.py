"""torch: no random operator slips through, whatever torch has; compiled functions; operators switched off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from draftproof import intercept
from draftproof.tape import Tape, TapeShort, UnknownRandomness

torch = pytest.importorskip("torch")

RATES = {"dropout_p": 0.5, "dropout": 0.5, "p": 0.5, "train": True, "training": True}


def operators() -> Iterator[Any]:
    """Every overload of every operator that torch has registered."""
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
    assert set(HANDLERS) == answered  # no handler of an operator that torch does not have


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
        lambda: torch.empty(1, dtype=torch.int64).random_(),
        lambda: torch.nn.functional.rrelu(torch.ones(2), training=True),
    ],
)
def test_what_the_tape_cannot_give_is_refused(fn: Any) -> None:
    with pytest.raises(UnknownRandomness), intercept.intercepting(Tape([[0.5] * 9], 3)):
        fn()


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
    assert [entry.operator for entry in tape.ledger] == ["aten::rand_like", "aten::multinomial"]
