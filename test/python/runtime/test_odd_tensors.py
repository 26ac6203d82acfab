"""Tensors of torch that have no memory of their own, or other numbers than their memory: refused, never read."""

from __future__ import annotations

import pytest

import tilewright as tw
from tilewright import te

torch = pytest.importorskip("torch")

TEXT = "double(A: float32[8], B: float32[8]): argument"
NO_MEMORY = "expected an array with memory, got the address"
NEGATED = (
    "expected an array that DLPack can hand over, got Tensor: it is negated where it is read (is_neg), "
    "pass x.resolve_neg()"
)


@pytest.fixture(scope="module")
def double():
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] * 2, name="B")
    return tw.build(te.create_schedule(B.op), [A, B], "cpu", name="double")


def freed():
    """As a shard of a model's weights is while it is not needed."""
    tensor = torch.ones(8)
    tensor.untyped_storage().resize_(0)
    return tensor


def freed_view():
    tensor = torch.ones(24)
    view = tensor[16:]
    tensor.untyped_storage().resize_(0)
    return view


def fake():
    from torch._subclasses import FakeTensorMode

    return FakeTensorMode().from_tensor(torch.ones(8))


KINDS = {
    "freed": freed,
    "a view of what was freed": freed_view,
    "zeros that torch does not store": lambda: torch._efficientzerotensor((8,)),
    "fake": fake,
    "functional": lambda: torch._to_functional_tensor(torch.ones(8)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_tensor_without_memory_is_refused(double, kind) -> None:
    one = torch.ones(8)
    for first in (False, True):  # of its type in the process, or not
        for place, arguments in (("0 (A)", (KINDS[kind](), one)), ("1 (B)", (one, KINDS[kind]()))):
            with pytest.raises(ValueError) as error:
                double(*arguments)
            assert str(error.value).startswith(f"{TEXT} {place}: {NO_MEMORY} "), str(error.value)
        if not first:
            double(one, torch.empty(8))


def test_an_array_of_no_elements_needs_no_memory() -> None:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2, name="B")
    double = tw.build(te.create_schedule(B.op), [A, B], "cpu", name="double")
    double(torch.empty(0), torch.empty(0))


def test_a_tensor_that_torch_negates_is_refused(double) -> None:
    numbers = torch.arange(8.0)
    negated = torch.complex(torch.zeros(8), numbers).conj().imag
    packed = torch.arange(8.0)._neg_view()
    assert negated.is_neg() and packed.is_neg()
    for place, arguments in (("0 (A)", (packed, torch.empty(8))), ("1 (B)", (numbers, packed))):
        with pytest.raises(TypeError) as error:
            double(*arguments)
        assert str(error.value) == f"{TEXT} {place}: {NEGATED}"
    out = torch.empty(8)
    double(negated.resolve_neg().contiguous(), out)
    assert torch.equal(out, -2 * numbers)


def test_a_tensor_that_torch_negates_is_no_array_of_ours() -> None:
    with pytest.raises(BufferError) as error:
        tw.nd.from_dlpack(torch.arange(8.0)._neg_view())
    assert str(error.value) == "it is negated where it is read (is_neg), pass x.resolve_neg()"


@pytest.mark.sweep
def test_a_model_takes_no_tensor_without_memory() -> None:
    given, freed = torch.ones(2, 8), torch.ones(2, 8)
    model = tw.compile(torch.nn.Linear(8, 4), (given,), target="cpu")
    freed.untyped_storage().resize_(0)
    with pytest.raises(ValueError) as error:
        model(freed)
    assert str(error.value) == "Linear: input 'input': expected a tensor with memory, got one whose storage is empty"
    linear = torch.nn.Linear(8, 4)
    linear.weight.data.untyped_storage().resize_(0)
    with pytest.raises(tw.CompileError) as refused:
        tw.compile(linear, (given,), target="cpu")
    assert str(refused.value) == "p_weight: expected a tensor with memory, got one whose storage is empty"
