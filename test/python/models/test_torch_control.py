"""Control flow of PyTorch: branches that data choose, and loops that are unrolled."""

from __future__ import annotations

import operator

import pytest

import tilewright as tw

torch = pytest.importorskip("torch")
from torch._higher_order_ops.associative_scan import associative_scan  # noqa: E402
from torch._higher_order_ops.scan import scan  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
X = torch.tensor([[1.0, -2.0, 3.0, 0.5], [0.25, 5.0, -6.0, 1.5], [2.0, 0.5, 1.0, 1.0]])


class Calls(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.function = function

    def forward(self, *inputs):
        return self.function(self, *inputs)


def _check(function, *inputs):
    module = Calls(function)
    model = tw.compile(module, (inputs[0],), target="cpu")
    for x in inputs:
        expected = module(x)
        made = model(x)
        pairs = zip(made, expected, strict=True) if isinstance(expected, tuple) else [(made, expected)]
        for a, b in pairs:
            torch.testing.assert_close(a, b)
    return model


def _refused(function, x=X):
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(Calls(function), (x,), target="cpu")
    return str(caught.value)


@pytest.mark.sweep
def test_a_branch_that_data_choose():
    def choose(module, x):
        return torch.cond(
            x.sum() > 0, lambda x: module.linear(x), lambda x: torch.nn.functional.layer_norm(x, (4,)), (x,)
        )

    assert X.sum() > 0 > -X.sum()
    _check(choose, X, -X)


@pytest.mark.sweep
def test_branches_in_branches():
    def choose(module, x):
        def inner(x):
            return torch.cond(x[0, 0] > 5, lambda x: x * 2, lambda x: x - 1, (x,))

        return torch.cond(x.sum() > 0, inner, lambda x: x + 1, (x,))

    _check(choose, X, X * 9, -X)


@pytest.mark.sweep
def test_a_loop_that_counts():
    def repeated(module, x):
        y = x + 1
        start = torch.zeros((), dtype=torch.int64)
        # The tensor y is carried, and the body reads it, too.
        count, z = torch.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2 + y), (start, y))
        return z, count

    _check(repeated, X, -X)


@pytest.mark.sweep
def test_a_loop_from_a_constant_of_the_model_that_never_runs():
    def repeated(module, x):
        return torch.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), (torch.tensor(7), x))

    _check(repeated, X)


@pytest.mark.sweep
def test_scans():
    def scanned(module, x):
        last, every = scan(lambda carry, row: (carry + row, carry * row + 1), torch.zeros(4), x, dim=0)
        backwards = scan(lambda carry, row: (carry * 0.5 + row, carry - row), torch.ones(4), x, dim=0, reverse=True)
        products = associative_scan(lambda a, b: a * b, x, dim=0, combine_mode="generic")
        return last, every, *backwards, products

    _check(scanned, X, -X)


def test_an_associative_scan_of_elements():
    """The operator itself, which torch.export decomposes and torch.compile may keep."""
    from torch.fx.experimental.proxy_tensor import make_fx

    from tilewright.graph import compile_graph
    from tilewright.torch.importer import import_fx

    root = torch.nn.Module()
    root.body = make_fx(lambda a, b: [a * b + a])(X[0], X[0])
    graph = torch.fx.Graph(root)
    x = graph.placeholder("x")
    node = graph.call_function(torch.ops.higher_order.associative_scan, (graph.get_attr("body"), [x], ()))
    result = graph.call_function(operator.getitem, (node, 0))
    graph.output((result,))
    x.meta["val"], node.meta["val"], result.meta["val"] = X, [X], X
    made = compile_graph(import_fx(torch.fx.GraphModule(root, graph), "forward", {}), "cpu")(X)
    first = X[0]
    second = first * X[1] + first
    torch.testing.assert_close(torch.as_tensor(made), torch.stack([first, second, second * X[2] + second]))


@pytest.mark.sweep
def test_a_loop_whose_end_data_decide_is_refused():
    def doubled(module, x):
        return torch.while_loop(lambda a: a.sum() < 3, lambda a: (a * 2,), (x,))[0]

    text = _refused(doubled)
    assert text.startswith(__file__)
    assert text.split(" ", 1)[1] == (
        "(while_loop): expected a condition that is known when the model is compiled, got one that depends on data"
    )


@pytest.mark.sweep
def test_a_loop_of_too_many_iterations_is_refused():
    def counted(module, x):
        start = torch.zeros((), dtype=torch.int64)
        return torch.while_loop(lambda i, a: i < 2000, lambda i, a: (i + 1, a.clone()), (start, x))[1]

    assert _refused(counted).split(" ", 1)[1] == (
        "(while_loop): expected a number of iterations of at most 1024, got more"
    )


@pytest.mark.sweep
def test_a_scan_of_too_many_elements_is_refused():
    def scanned(module, x):
        return scan(lambda carry, row: (carry + row, carry * row), torch.zeros(1), x, dim=0)[0]

    text = _refused(scanned, torch.zeros(1025, 1))
    assert text.split(" ", 1)[1] == "(scan): expected a sequence of at most 1024, got 1025"


@pytest.mark.sweep
def test_complex_numbers_in_a_branch_are_refused():
    def choose(module, x):
        return torch.cond(x.real.sum() > 0, lambda x: x * 2, lambda x: x + 1, (x,)).real

    text = _refused(choose, torch.ones(2, dtype=torch.complex64))
    assert (
        text.split(" ", 1)[1] == "(cond): expected tensors of real numbers in a branch or a loop, got complex numbers"
    )
