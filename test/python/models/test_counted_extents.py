"""Extents that data decide: results that have as many elements as a call finds, and models that go on with these."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tilewright as tw
from tilewright.graph import GraphBuilder, TensorType

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")
X = torch.tensor([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]])


class Calls(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.forward = function


def _check(function, *inputs, target="cpu"):
    module = Calls(function)
    model = tw.compile(module, inputs[0], target=target)
    for one in inputs:
        expected = module(*one)
        made = model(*one)
        pairs = zip(made, expected) if isinstance(expected, tuple) else [(made, expected)]
        for a, b in pairs:
            torch.testing.assert_close(a, b, equal_nan=True)
    return model


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["cpu", pytest.param("sim", marks=pytest.mark.sweep)])
def test_places_of_a_mask(target):
    def places(x):
        return torch.nonzero(x > 0), x[:, x[0] > 0].sum(0)

    model = _check(places, (X,), (-X,), (torch.full((2, 3), -1.0),), target=target)
    assert [str(kind) for _, kind in model.outputs] == ["int64[u0, 2]", "float32[u1]"]
    assert list(model.counts) == ["u0", "u1"]
    assert model.verify(torch.full((2, 3), -1.0))


@pytest.mark.sweep
def test_what_is_found_in_what_was_found():
    def nested(x):
        y = x[x > 0]
        return y[y > 2].sum(), torch.arange(y.shape[0]) + 1

    _check(nested, (X,), (-X,), (torch.zeros(2, 3),))


@pytest.mark.sweep
def test_places_of_many_elements():
    _check(lambda x: torch.nonzero(x > 0.5)[:, 0], (torch.rand(1500),), (torch.zeros(1500),))


@pytest.mark.sweep
def test_writes_where_a_mask_is_true():
    def put(x, values):
        y, z = x.clone(), x.clone()
        y[x > 0] = values
        z[x[:, 0] > 0] = 7.0
        return y, z

    _check(put, (X, torch.tensor([10.0, 20.0, 30.0])))


@pytest.mark.sweep
def test_different_elements():
    def uniques(x):
        values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
        return values, inverse, counts, torch.unique_consecutive(x), torch.bincount(x), torch.bincount(x, minlength=9)

    x = torch.tensor([3, 1, 1, 3, 2])
    _check(uniques, (x,), (torch.tensor([5, 5, 5, 5, 0]),))


@pytest.mark.sweep
def test_different_rows_and_nan():
    def uniques(x, y):
        return torch.unique(x, dim=0), torch.unique(y), torch.repeat_interleave(y, torch.tensor([2, 0, 1, 3]))

    _check(uniques, (torch.tensor([[2, 1], [1, 3], [2, 1], [1, 2]]), torch.tensor([2.0, torch.nan, 1.0, torch.nan])))


@pytest.mark.sweep
def test_a_number_of_python():
    def numbers(x):
        return torch.arange(x.max().item()) * 2, x * x.float().mean().item()

    model = _check(numbers, (torch.tensor([3, 5]),), (torch.tensor([0, 0]),))
    assert str(model.outputs[0][1]) == "int64[u0]"


@pytest.mark.sweep
def test_non_max_suppression_by_hand():
    """Boxes in the order of their scores; each that overlaps a better one is left out."""

    def suppressed(boxes, scores):
        order = scores.argsort(descending=True)
        b = boxes[order]
        low, high = torch.maximum(b[:, None, :2], b[None, :, :2]), torch.minimum(b[:, None, 2:], b[None, :, 2:])
        common = (high - low).clamp(min=0).prod(-1)
        area = (b[:, 2:] - b[:, :2]).prod(-1)
        overlaps = common / (area[:, None] + area[None, :] - common) > 0.5
        keep = torch.ones(b.shape[0], dtype=torch.bool)
        for i in range(b.shape[0]):
            later = torch.arange(b.shape[0]) > i
            keep = keep & ~(overlaps[i] & later & keep[i])
        return order[keep], b[keep]

    torch.manual_seed(0)
    corner = torch.rand(6, 2)
    _check(suppressed, (torch.cat([corner, corner + 0.6], 1), torch.rand(6)))


@pytest.mark.sweep
def test_a_graph_of_torch_compile():
    from tilewright.torch.backend import compile_fx

    def found(x):
        return x[x > 0], torch.arange(x.abs().max().long().item())

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True, capture_scalar_outputs=True):
        compiled = torch.compile(found, backend=compile_fx, fullgraph=True)
        for x in (X, -X):
            for a, b in zip(compiled(x), found(x)):
                torch.testing.assert_close(a, b, equal_nan=True)
        compiled = torch.compile(lambda x: (x > 0).sum().item(), backend=compile_fx, fullgraph=True)
        assert compiled(X) == 3


def _one_mask(x, y):
    mask = x > 0
    return x[x > 0] * y[x > 0] + torch.masked_select(x, mask) * torch.masked_select(y, mask)


@pytest.mark.sweep
def test_masks_that_are_equal():
    _check(_one_mask, (X, X + 1), (-X, X))


@pytest.mark.sweep
def test_gradients_by_masks_that_are_equal():
    """The backward pass gets each number from the forward pass; it knows, too, that they are the same."""
    from tilewright.torch.backend import compile_fx

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        found = []
        for function in (torch.compile(_one_mask, backend=compile_fx, fullgraph=True), _one_mask):
            x, y = X.clone().requires_grad_(), (X + 1).requires_grad_()
            function(x, y).square().sum().backward()
            found.append((x.grad, y.grad))
    torch.testing.assert_close(*found)


@pytest.mark.sweep
def test_masks_that_are_different():
    message = re.escape("(aten.mul.Tensor): mul: operand 1, dimension 0: expected 1 or u0, got u1") + "$"
    for other in (lambda x, y: x[x > 0] * y[y > 0], lambda x, y: torch.masked_select(x, y > 0) * y[y > 0]):
        with pytest.raises(tw.CompileError, match=message):
            tw.compile(Calls(other), (X, X[0]), target="cpu")


@pytest.mark.sweep
def test_onnx_goes_on_with_what_it_finds():
    pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("NonZero", ["x"], ["places"]),
        helper.make_node("Transpose", ["places"], ["rows"], perm=[1, 0]),
        helper.make_node("GatherND", ["x", "rows"], ["found"]),
        helper.make_node("Shape", ["found"], ["shape"]),
        helper.make_node("ConstantOfShape", ["shape"], ["zeros"]),
        helper.make_node("Add", ["found", "zeros"], ["y"]),
        helper.make_node("Compress", ["x", "mask"], ["z"], axis=1),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (2, 3)),
              helper.make_tensor_value_info("mask", TensorProto.BOOL, (3,))]  # fmt: skip
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "yz"]
    model = tw.compile(helper.make_model(helper.make_graph(nodes, "g", inputs, outputs)), target="cpu")
    x, mask = np.array([[0, 2, 0], [4, 0, 6]], np.float32), np.array([True, False, True])
    found, columns = model(x, mask)
    assert found.tolist() == [2, 4, 6] and columns.tolist() == [[0, 0], [4, 6]]


@pytest.mark.sweep
def test_an_output_that_is_an_input_is_a_copy():
    module = Calls(lambda x: (x, x[x > 0]))
    x = X.clone()
    same, _ = tw.compile(module, (x,), target="cpu")(x)
    same += 1
    assert torch.equal(x, X)


# A library.


def _counting():
    with GraphBuilder("found", [("x", TensorType((4,), "int64"))]) as b:
        count = b.count(tw.te.var("n"), b.op("reduce_sum", b.inputs["x"], axes=[0], keepdims=False))
        return b.finish([("y", b.op("iota", shape=[count], axis=0, to="int64"))])


def test_a_library(tmp_path):
    tvm_ffi = pytest.importorskip("tvm_ffi")
    model = tw.compile(_counting(), target="cpu")
    assert model(np.array([1, 0, 2, 0])).tolist() == [0, 1, 2]
    model.export(tmp_path / "model.so")
    function = tvm_ffi.load_module(str(tmp_path / "model.so")).model
    loaded = tw.load_model(tmp_path / "model.so")
    for given in ([1, 0, 2, 0], [0, 0, 0, 0], [2, 2, 2, -1]):
        x = np.array(given)
        assert np.from_dlpack(function(tvm_ffi.from_dlpack(x))).tolist() == list(range(sum(given)))
        assert np.asarray(loaded(x)).tolist() == list(range(sum(given)))
    # The caller's own memory, if it is as large as the number says.
    x, y = np.array([1, 0, 2, 0]), np.full(3, 9)
    function(tvm_ffi.from_dlpack(x), tvm_ffi.from_dlpack(y))
    assert y.tolist() == [0, 1, 2]
    with pytest.raises(ValueError) as caught:
        function(tvm_ffi.from_dlpack(x), tvm_ffi.from_dlpack(np.zeros(4, np.int64)))
    assert str(caught.value) == (
        "model(x: int64[4], y: int64[n]): argument 1 (y): expected extent n = 3 in dimension 0, got shape (4,)"
    )
    with pytest.raises(ValueError) as caught:
        function(tvm_ffi.from_dlpack(np.array([0, 0, 0, -2])))
    assert str(caught.value) == (
        "model(x: int64[4], y: int64[n]): expected extents that are not negative, of tensors whose bytes 63 bits "
        "count, got (-2,) for y"
    )


@pytest.mark.sweep
def test_a_library_of_numbers_that_depend_on_others(tmp_path):
    tvm_ffi = pytest.importorskip("tvm_ffi")

    def found(x):
        y = x[x > 0]
        return torch.nonzero(x > 0), y[y > 2].sum(), x[:, x[0] > 0].sum(0), x + 1, torch.unique(x), y[y > 2]

    module = Calls(found)
    model = tw.compile(module, (X,), target="cpu")
    model.export(tmp_path / "model.so")
    function = tvm_ffi.load_module(str(tmp_path / "model.so")).model
    loaded = tw.load_model(tmp_path / "model.so")
    torch.manual_seed(3)
    for x in (X, -X, torch.zeros(2, 3), *(4 * torch.randn(2, 3) for _ in range(4))):
        for mine, again, theirs in zip(function(x), loaded(x), module(x), strict=True):
            torch.testing.assert_close(torch.from_dlpack(mine), theirs)
            torch.testing.assert_close(torch.as_tensor(again), theirs)


# The outputs are the caller's.


def test_what_goes_wrong_where_an_output_is_allocated(monkeypatch):
    model = tw.compile(_counting(), target="cpu")

    def refused(*_):
        raise KeyboardInterrupt("while it is allocated")

    monkeypatch.setattr(type(model._memory), "output", refused)
    with pytest.raises(KeyboardInterrupt, match="^while it is allocated$"):
        model(np.array([1, 0, 2, 0]))
    monkeypatch.undo()
    assert model(np.array([1, 0, 2, 0])).tolist() == [0, 1, 2]


def test_a_number_that_is_no_extent():
    model = tw.compile(_counting(), target="cpu")
    with pytest.raises(ValueError) as caught:
        model(np.array([0, 0, 0, -2]))
    assert str(caught.value) == (
        "model(x: int64[4], y: int64[n]): expected extents that are not negative, of tensors whose bytes 63 bits "
        "count, got (-2,) for y"
    )


def test_numbers_that_nothing_depends_on():
    with GraphBuilder("found", [("x", TensorType((4,), "int64"))]) as b:
        b.count(tw.te.var("n"), b.op("reduce_sum", b.inputs["x"], axes=[0], keepdims=False))
        graph = b.finish([("y", b.op("neg", b.inputs["x"]))])
    (y,), extents = tw.compile(graph, target="cpu").results_and_extents(np.array([1, 2, 3, 4]))
    assert y.tolist() == [-1, -2, -3, -4] and extents == {"n": 10}


# What is refused.


def test_the_number_is_an_integer():
    with GraphBuilder("g", [("x", TensorType((4,), "int64"))]) as b, pytest.raises(tw.CompileError) as caught:
        b.count(tw.te.var("n"), b.inputs["x"])
    assert str(caught.value) == "expected an int64 of no dimension as the number of n, got int64[4]"


@pytest.mark.sweep
def test_a_mask_beside_other_indices_is_refused():
    def put(x):
        return torch.index_put(x, (x[:, 0] > 0, torch.tensor([0])), torch.tensor(1.0))

    with pytest.raises(tw.CompileError) as caught:
        tw.compile(Calls(put), (X,), target="cpu")
    assert str(caught.value) == (
        "node 'index_put' (aten.index_put.default): expected a mask as the only index of what is written, got "
        "others beside it"
    )


def test_symbolic_extents_behind_the_first_are_refused():
    def places(x):
        return torch.nonzero(x)

    with pytest.raises(tw.CompileError) as caught:
        tw.compile(Calls(places), (torch.ones(2, 4),), target="cpu", dynamic_shapes=({1: "n"},))
    assert str(caught.value) == (
        "node 'nonzero' (aten.nonzero.default): expected extents that are numbers but for the first, got ('2', 'n')"
    )


def test_a_truth_value_of_python_is_refused():
    def truth(x):
        return x * (x.sum() > 0).item()

    with pytest.raises(tw.CompileError) as caught:
        tw.compile(Calls(truth), (X,), target="cpu")
    assert str(caught.value).splitlines()[0] == (
        "node 'item' (item): expected an integer or a float as a number that data decide, got bool"
    )


@pytest.mark.sweep
@torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True)
def test_gradients_of_what_a_mask_selects():
    torch._dynamo.reset()

    def function(x, mask, source):
        return torch.masked_select(x, mask).square().sum() + x[mask].exp().sum(), x.masked_scatter(mask, source)

    compiled = torch.compile(function, backend="tilewright", fullgraph=True)
    for mask in (X > 0, X < 0, X > 9):
        found = []
        for one in (compiled, function):
            x, source = X.clone().requires_grad_(), torch.arange(8.0).requires_grad_()
            made = one(x, mask, source)
            (made[0] + (made[1] * X).sum()).backward()
            found.append([*made, x.grad, source.grad])
        for ours, theirs in zip(*found, strict=True):
            torch.testing.assert_close(ours, theirs)
