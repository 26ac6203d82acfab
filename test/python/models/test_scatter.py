"""Updates at places that data give: so many that a processor goes through them in their order, against PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

import tilewright as tw  # noqa: E402
from tilewright import te  # noqa: E402
from tilewright.graph.operators import scatter  # noqa: E402
from tilewright.torch import compile_fx  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

_ROWS, _COLUMNS, _COUNT = 50, 40, 300


def _drawn(*shape: int, most: int | None = None) -> torch.Tensor:
    draws = torch.Generator().manual_seed(len(shape))
    return torch.randn(*shape, generator=draws) if most is None else torch.randint(most, shape, generator=draws)


_X, _WIDE, _NARROW = _drawn(_ROWS, _COLUMNS), _drawn(_COUNT, _COLUMNS), _drawn(_COUNT, 3)
_PLACES, _EACH = _drawn(_COUNT, most=_ROWS), _drawn(_COUNT, _COLUMNS, most=_ROWS)
_REPEATED = _PLACES[:, None].expand(-1, _COLUMNS)

CALLS: dict[str, Any] = {
    "rows are added": lambda x: x.index_add(0, _PLACES, _WIDE),
    "rows are written": lambda x: x.index_put((torch.arange(_ROWS).flip(0),), _WIDE[:_ROWS]),
    "rows from the end": lambda x: x.index_put((_PLACES - _ROWS,), _WIDE, accumulate=True),
    "elements are added": lambda x: x.index_put((_PLACES, _PLACES % _COLUMNS), _NARROW[:, 0], accumulate=True),
    "columns are added": lambda x: x.index_add(1, _PLACES % _COLUMNS, _drawn(_ROWS, _COUNT)),
    "an index for each": lambda x: x.scatter_add(0, _EACH, _WIDE),
    "an index for each row": lambda x: x.scatter_add(0, _REPEATED, _WIDE),
    "few columns": lambda x: x[:, :3].scatter_add(0, _EACH[:, :3], _NARROW),
    "a part of the columns": lambda x: x.scatter_add(0, _EACH[:, :35], _WIDE[:, :35]),
    "along rows": lambda x: x.scatter_add(1, _EACH[:_ROWS] % _COLUMNS, _WIDE[:_ROWS]),
    "a vector": lambda x: x[:, 0].scatter_add(0, _PLACES, _NARROW[:, 0]),
    "whole numbers": lambda x: torch.bincount(_PLACES, minlength=_ROWS),
    "the largest": lambda x: x.scatter_reduce(0, _REPEATED, _WIDE, "amax"),
    "the smallest without what was there": lambda x: x.scatter_reduce(0, _EACH, _WIDE, "amin", include_self=False),
    "products": lambda x: x.scatter_reduce(0, _EACH, _WIDE.sigmoid() + 0.6, "prod"),
    "means": lambda x: x.scatter_reduce(0, _REPEATED, _WIDE, "mean"),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", CALLS)
def test_updates(name: str) -> None:
    torch.compiler.reset()
    made = torch.compile(CALLS[name], backend=compile_fx)(_X)
    torch.testing.assert_close(made, CALLS[name](_X), rtol=1e-5, atol=1e-5)


def test_gradients_of_a_large_table() -> None:
    """A token in the vocabulary gets the sum of its gradients: the time is that of the tokens, not of all pairs."""
    torch.compiler.reset()
    table = torch.nn.Embedding(30000, 8)
    tokens = _drawn(4, 64, most=30000) % 97
    torch.compile(table, backend=compile_fx)(tokens).sin().sum().backward()
    ours, table.weight.grad = table.weight.grad, None
    table(tokens).sin().sum().backward()
    torch.testing.assert_close(ours, table.weight.grad)


_COMBINED: dict[str, Any] = {
    "none": lambda a, b: b, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum
}  # fmt: skip


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize(("shape", "length", "count"), [((37, 5), 1, (40,)), ((6, 7, 3), 2, (9, 8)), ((50,), 1, (70,))])
def test_updates_are_sorted_for_many_threads(
    reduction: str, shape: tuple[int, ...], length: int, count: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal places keep their order, some are counted from the end, and what is outside is left out."""
    monkeypatch.setattr(scatter, "_MANY", 0)
    random = np.random.default_rng(len(shape))
    x = random.integers(-3, 4, shape).astype("float32")
    places = np.stack([random.integers(-extent, extent + 1, count) for extent in shape[:length]], -1)
    updates = random.integers(-2, 3, (*count, *shape[length:])).astype("float32")
    X, P, U = (te.placeholder(one.shape, str(one.dtype), name=name) for one, name in zip((x, places, updates), "XPU"))
    Y = scatter.scatter_nd(X, P, U, reduction=reduction, by_threads=True)
    func = tw.build(tw.auto_schedule(Y, "sim"), [X, P, U, Y], "sim", name="scatter")
    made, wanted = np.zeros_like(x), x.copy()
    func(x, places, updates, made)
    for k in np.ndindex(*count):
        at = tuple(int(one) for one in places[k])
        if all(one < extent for one, extent in zip(at, shape)):
            wanted[at] = _COMBINED[reduction](wanted[at], updates[k])
    np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.sample(6)
def test_elements_are_sorted_for_many_threads(
    reduction: str, axis: int, symbolic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scatter, "_MANY", 0)
    random = np.random.default_rng(axis)
    shape, count = (6, 7, 5), (4, 6, 5) if axis else (40, 6, 5)
    x = random.integers(-3, 4, shape).astype("float32")
    places = random.integers(-shape[axis], shape[axis] + 1, count)
    updates = random.integers(-2, 3, count).astype("float32")
    n, m = (te.var("n"), te.var("m")) if symbolic else (shape[0], count[0])
    X = te.placeholder((n, *shape[1:]), "float32", name="X")
    P, U = (te.placeholder((m, *count[1:]), kind, name=name) for kind, name in (("int64", "P"), ("float32", "U")))
    Y = scatter.scatter_elements(X, P, U, axis=axis, reduction=reduction, by_threads=True)
    func = tw.build(tw.auto_schedule(Y, "sim"), [X, P, U, Y], "sim", name="scatter")
    made, wanted = np.zeros_like(x), x.copy()
    func(x, places, updates, made)
    for k in np.ndindex(*count):
        at = (*k[:axis], int(places[k]), *k[axis + 1 :])
        if at[axis] < shape[axis]:
            wanted[at] = _COMBINED[reduction](wanted[at], updates[k])
    np.testing.assert_array_equal(made, wanted)
