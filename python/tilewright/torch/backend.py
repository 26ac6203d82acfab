"""`torch.compile(model, backend="tilewright")`: what TorchDynamo calls with the graphs that it finds."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy  # pyright: ignore[reportMissingTypeStubs]
import torch
from torch.fx import GraphModule, Node
from torch.nn.attention import SDPBackend, sdpa_kernel

from ..errors import CompileError
from ..graph import Graph, compile_graph
from ..graph.torch_tensors import from_device, tensor_of
from .decompositions import aten_decompositions
from .equal_counts import guard_sizes
from .extents import bounds_of, factors_of, is_loose
from .fallback import compile_parts
from .functions import replace_functions
from .importer import import_fx, is_random
from .orders import Kept, kept_nodes, order_of, take_strides, tell_strides
from .outputs import with_outputs_once
from .precision import tf32_of
from .views import sizes_of

__all__ = ["compile_fx"]


def compile_fx(module: GraphModule, example_inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
    """The backend that `torch.compile(model, backend="tilewright")` names.

    Functions are compiled for where their tensors are: the processor, or one GPU. Parameters and buffers are inputs, so
    that a call sees them as they are. What cannot be compiled is refused, all of it in one error: nothing is left to
    PyTorch in silence. With `options={"fallback": True}`, these operators run in PyTorch, and a warning names them.

    Random numbers are not PyTorch's: each call takes a seed of PyTorch's generator, which `torch.manual_seed` sets.

    Parameters
    ----------
    module, example_inputs
        What TorchDynamo gives.
    **options
        What `torch.compile` passes on: `options={"fallback": True}`, and no other.

    Raises
    ------
    CompileError
        For other options, tensors on several devices, or operators that are not supported.

    >>> model = torch.nn.Linear(2, 3)
    >>> compiled = torch.compile(model, backend=compile_fx)  # or its name
    >>> x = torch.ones(4, 2)
    >>> torch.allclose(compiled(x), model(x))
    True
    """
    from torch._dynamo.backends.common import aot_autograd

    parts = _fallback(options)
    compiler = aot_autograd(
        fw_compiler=_compile_parts if parts else _compile_forward, bw_compiler=_compile_parts if parts else _compile,
        decompositions=aten_decompositions(),
    )  # fmt: skip
    replace_functions(module)
    if not any(isinstance(one, torch.Tensor) and one.is_cuda for one in example_inputs):
        with _without_mkldnn():
            return compiler(module, example_inputs)
    # PyTorch has several operators of attention for GPUs, each with its own for the gradients. These become matmuls.
    with sdpa_kernel(SDPBackend.MATH):
        return compiler(module, example_inputs)


@contextmanager
def _without_mkldnn() -> Generator[None]:
    """Traces without oneDNN, whose operator for an LSTM is no function of others."""
    settings: Any = torch._C  # pyright: ignore[reportPrivateUsage]
    enabled = settings._get_mkldnn_enabled()
    settings._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        settings._set_mkldnn_enabled(enabled)


def _fallback(options: Mapping[str, Any]) -> bool:
    """Whether PyTorch is to run what is refused, as the options say."""
    given: dict[str, Any] = {**options, **(options.get("options") or {})}
    given.pop("options", None)
    fallback = given.pop("fallback", False)
    if given or not isinstance(fallback, bool):
        got = ", ".join(f"{name}={value!r}" for name, value in (given or {"fallback": fallback}).items())
        raise CompileError(
            f'backend tilewright: expected options={{"fallback": True}} or none, got {got}', stage="graph"
        )
    return fallback


def _compile_parts(module: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    device = _device(example_inputs)
    return compile_parts(
        module, lambda part: with_outputs_once(part, lambda one: _compile_graph(one, _imported(one, device), device))
    )  # fmt: skip


def _compile_forward(module: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """Compiles a forward pass, which keeps tensors for the backward pass as they lie in memory."""
    (last,) = module.graph.find_nodes(op="output")
    returned, kept = list(last.args[0]), kept_nodes(module)
    call = _compile(module, example_inputs, kept)
    tell_strides(returned, kept)
    return call


def _compile(
    module: GraphModule, example_inputs: Sequence[Any], kept: Kept | None = None
) -> Callable[..., Any]:  # fmt: skip
    """What is `kept` may be returned in any order of its dimensions, which `kept` gets."""
    device, kept = _device(example_inputs), {} if kept is None else kept
    take_strides(module, example_inputs)

    def compiled(module: GraphModule) -> Callable[[list[Any]], list[Any]]:
        try:
            graph = _imported(module, device, [one.name for one in kept])
        except CompileError as error:
            hint = 'options={"fallback": True} of torch.compile leaves to PyTorch what is not supported'
            raise CompileError(f"{error}\n{hint}", stage="graph") from None
        return _compile_graph(module, graph, device, kept)

    return with_outputs_once(module, compiled, kept)


def _imported(module: GraphModule, device: torch.device, movable: Sequence[str] = ()) -> Graph:
    guard_sizes(module)
    return import_fx(
        module, "forward", {}, seeded=is_random(module), parted=True, bounds=bounds_of(module),
        tf32=tf32_of(device.type), movable=movable,
    )  # fmt: skip


def _compile_graph(
    module: GraphModule, graph: Graph, device: torch.device, kept: Kept | None = None
) -> Callable[[list[Any]], list[Any]]:  # fmt: skip
    inputs = [node.meta.get("val") for node in module.graph.nodes if node.op == "placeholder"]
    (last,) = (node for node in module.graph.nodes if node.op == "output")
    returned = [one.meta.get("val") if isinstance(one, Node) else one for one in last.args[0]]
    given_orders = [order_of(one) if isinstance(one, torch.Tensor) else None for one in inputs]
    seeded = is_random(module)
    has_results = bool(graph.counts) or any(isinstance(one, torch.Tensor) for one in returned)
    compiled = compile_graph(graph, device.type) if has_results else None
    made_orders = {} if compiled is None else compiled.orders
    nodes = [one for one, value in zip(last.args[0], returned) if isinstance(value, torch.Tensor)]
    for number, one in enumerate(nodes):
        if kept is not None and one in kept:
            back = made_orders.get(number, range(one.meta["val"].dim()))
            kept[one] = [back.index(d) for d in range(len(back))]

    factors = [[factors_of(size) for size in one.shape] if isinstance(one, torch.Tensor) else [] for one in inputs]
    loose = [is_loose(one, inputs) for one in inputs]
    numbers: list[Any] = [one.node.expr for one in returned if isinstance(one, (torch.SymInt, torch.SymFloat))]
    symbols: set[Any] = set[Any]().union(*(one.free_symbols for one in numbers))
    decided = {str(symbol): symbol for symbol in symbols if str(symbol) in graph.counts}
    has_sizes = any(isinstance(one, (torch.SymInt, torch.SymFloat)) for one in returned)

    is_tensor = [isinstance(value, torch.Tensor) for value in inputs]
    factors_of_tensors = [some for some, is_it in zip(factors, is_tensor) if is_it]
    orders_of_tensors = [order for order, is_it in zip(given_orders, is_tensor) if is_it]
    has_parts = any(len(some) > 1 for of_input in factors for some in of_input)
    forms = [_Form(one.is_complex(), one.device) if isinstance(one, torch.Tensor) else None for one in returned]

    is_ordered = any(one is not None for one in given_orders)
    has_more = has_sizes or has_parts or seeded or bool(graph.counts) or any(loose)
    is_plain = (
        bool(inputs)
        and not has_more
        and all(
            isinstance(one, torch.Tensor) and one.device == device and not one.is_complex()
            for one in (*inputs, *returned)
        )
    )

    def call(given: list[Any]) -> list[Any]:
        # PyTorch gives None for a tensor that no result needs.
        if is_plain and compiled is not None and type(None) not in map(type, given):
            tensors = [_moved(one, order) for one, order in zip(given, given_orders)] if is_ordered else given
            return _moved_back(compiled.results_and_extents(*tensors)[0], made_orders)
        sizes: dict[Any, Any] = sizes_of(inputs, given) if has_sizes or has_parts else {}
        results: Any = ()
        if compiled is not None:
            tensors = [_given(one, device, like) for one, like in zip(given, inputs) if isinstance(like, torch.Tensor)]
            if is_ordered:
                tensors = [_moved(one, order) for one, order in zip(tensors, orders_of_tensors)]
            if has_parts:
                tensors = [_parted(one, some, sizes) for one, some in zip(tensors, factors_of_tensors)]
            tensors += [torch.empty(one, dtype=torch.int8, device=device) for one, is_it in zip(given, loose) if is_it]
            seeds = [torch.randint(2**62, ()).to(device)] if seeded else []
            made, extents = compiled.results_and_extents(*tensors, *seeds)
            results = iter(_moved_back(made if tensors or seeds else map(_tensor_of, made), made_orders))
            sizes = sizes | {symbol: sympy.Integer(extents[name]) for name, symbol in decided.items()}
        return [
            form.of(next(results)) if form is not None
            else int(one.node.expr.xreplace(sizes)) if isinstance(one, torch.SymInt)  # pyright: ignore[reportUnknownArgumentType]
            else float(one.node.expr.xreplace(sizes)) if isinstance(one, torch.SymFloat) else one  # pyright: ignore[reportUnknownArgumentType]
            for one, form in zip(returned, forms)
        ]  # fmt: skip

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def _device(example_inputs: Sequence[Any]) -> torch.device:
    """Where a function runs: on the GPU that has its tensors, or on the processor.

    Where there is a GPU, numbers and indices may be in the processor's memory: each call copies them.
    """
    processor = torch.device("cpu")
    devices = {one.device for one in example_inputs if isinstance(one, torch.Tensor)} - {processor} or {processor}
    device, *others = sorted(devices, key=str)
    if others or device.type not in ("cpu", "cuda"):
        got = ", ".join(map(str, (device, *others)))
        raise CompileError(f"backend tilewright: expected tensors on one device, cpu or cuda, got {got}", stage="graph")
    return device


def _moved(x: torch.Tensor, order: Sequence[int] | None) -> torch.Tensor:
    """An input with its dimensions in the order in which they lie in memory."""
    return x if order is None else x.permute(*order)


def _moved_back(made: Iterable[torch.Tensor], orders: Mapping[int, Sequence[int]]) -> list[torch.Tensor]:
    """The outputs, of which some were made as they lie in memory."""
    return [one.permute(*orders[n]) if n in orders else one for n, one in enumerate(made)]


def _given(x: torch.Tensor | None, device: torch.device, like: torch.Tensor) -> torch.Tensor:
    """A tensor as the graph has it, where it runs; the last dimension of a complex one are its parts. None stands for a
    tensor that no result needs, such as a token, which has no elements."""
    if x is None:
        is_known = all(isinstance(extent, int) for extent in like.shape)
        x = torch.zeros(like.shape if is_known else (0,), dtype=like.dtype)
    x = x if x.device == device else x.detach().to(device)
    return torch.view_as_real(x.detach().resolve_conj()) if x.is_complex() else x


def _parted(x: torch.Tensor, factors: Sequence[Sequence[Any]], sizes: Mapping[Any, Any]) -> torch.Tensor:
    """An input with a dimension for each factor of an extent, as the graph has it: of what a forward pass keeps, an
    extent may be a product of the inputs' extents."""
    if all(len(some) <= 1 for some in factors):
        return x
    shape = [
        part for some, extent in zip(factors, x.shape)
        for part in ([int(one.xreplace(sizes)) for one in some] if len(some) > 1 else [extent])
    ]  # fmt: skip
    return x.reshape(*shape, *x.shape[len(factors) :])


def _tensor_of(made: Any) -> torch.Tensor:
    """An output of a graph without inputs, which is no tensor."""
    return tensor_of(made) if isinstance(made, np.ndarray) else from_device(made)  # pyright: ignore[reportUnknownArgumentType]


@dataclass(frozen=True)
class _Form:
    """What the caller gets of an output: a complex one is computed as its parts, and it may be on another device."""

    is_complex: bool
    device: torch.device

    def of(self, made: torch.Tensor) -> torch.Tensor:
        if self.is_complex:  # strides of a tensor without elements may be any
            made = torch.view_as_complex(made if made.numel() else torch.empty(made.shape, dtype=made.dtype))
        return made if made.device == self.device else made.to(self.device)
