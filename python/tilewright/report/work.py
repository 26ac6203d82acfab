"""What a program has to do, whatever its schedule: operations, and bytes that must move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir
from mlir.dialects import arith, tensor
from mlir.passmanager import PassManager

from ..ir.running import run_manager

__all__ = ["Work", "work_of"]

# Ops of arith and math that compute an element; casts, comparisons and selections are not counted.
_UNCOUNTED = ("arith.constant", "arith.cmp", "arith.select", "arith.ext", "arith.trunc", "arith.bitcast", "arith.index")
_UNCOUNTED += ("arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui")


@dataclass(frozen=True, slots=True)
class Work:
    """`operations` on elements, a multiply-add being two, and the `bytes` of all arguments, each read or written once:
    what no kernel can do without."""

    operations: int
    bytes: int

    @property
    def intensity(self) -> float:
        """Operations for each byte."""
        return self.operations / self.bytes if self.bytes else 0.0

    def __str__(self) -> str:
        return (
            f"{_short(self.operations)} operations, {_short(self.bytes)}B at the least, "
            f"{self.intensity:.3g} operations a byte"
        )


def _short(number: float) -> str:
    for unit in ("", "k", "M", "G", "T"):
        if number < 1000 or unit == "T":
            return f"{number:.3g} {unit}"
        number /= 1000
    raise AssertionError


def work_of(module: ir.Module, name: str, shapes: Sequence[Sequence[int]], itemsizes: Sequence[int]) -> Work | None:
    """The work of function `name` of a module at the linalg stage, with arguments of these shapes and bytes per
    element.

    It is None if the shapes do not determine a loop's extent. The module is changed.
    """
    function = next(op for op in module.body if "sym_name" in op.attributes and _name(op) == name)
    block = function.regions[0].blocks[0]
    _fix_extents(module, function, shapes)
    operations = 0
    for op in block.operations:
        if op.operation.name == "linalg.generic":
            iterations = _iterations(op.operation)
            if iterations is None:
                return None
            operations += iterations * sum(1 for inner in _walk(op.operation.regions[0].blocks[0]) if _counts(inner))
    return Work(operations, sum(prod(shape) * size for shape, size in zip(shapes, itemsizes, strict=True)))


def _fix_extents(module: ir.Module, function: ir.OpView, shapes: Sequence[Sequence[int]]) -> None:
    """Makes the arguments' extents numbers, and by way of that those of all that is made from them."""
    block = function.regions[0].blocks[0]
    types: list[ir.Type] = []
    with module.context, ir.Location.unknown(), ir.InsertionPoint.at_block_begin(block):
        for argument, shape in zip(block.arguments, shapes, strict=True):
            if not isinstance(argument.type, ir.RankedTensorType):
                # A number, as its bits.
                types.append(argument.type)
                if isinstance(argument.type, ir.IntegerType):
                    number = arith.constant(argument.type, ir.IntegerAttr.get(argument.type, shape[0]))
                    argument.replace_all_uses_with(number)
                continue
            given = ir.RankedTensorType(argument.type)
            types.append(ir.RankedTensorType.get(shape, given.element_type))
            argument.set_type(types[-1])
            cast = tensor.CastOp(given, argument)
            argument.replace_all_uses_except(cast.result, cast.operation)
        results: list[ir.Type] = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results  # pyright: ignore[reportUnknownVariableType]
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, results))
        run_manager(PassManager.parse("builtin.module(canonicalize)"), module.operation)


def _name(op: ir.OpView) -> str:
    return ir.StringAttr(op.operation.attributes["sym_name"]).value


def _walk(block: ir.Block) -> Iterator[ir.Operation]:
    for op in block.operations:
        yield op.operation
        for region in op.operation.regions:
            for inner in region.blocks:
                yield from _walk(inner)


def _counts(op: ir.Operation) -> bool:
    if not op.name.startswith(("arith.", "math.")) or op.name.startswith(_UNCOUNTED):
        return False
    return not isinstance(op.results[0].type, ir.IndexType) and str(op.results[0].type) != "i1"


def _iterations(op: ir.Operation) -> int | None:
    """The product of the loops' extents: each stands as a dimension of some operand."""
    maps = [ir.AffineMapAttr(one).value for one in ir.ArrayAttr(op.attributes["indexing_maps"])]
    loops: dict[int, int] = {}
    for operand, indexing in zip(op.operands, maps):
        shape = ir.RankedTensorType(operand.type)
        for d, expr in enumerate(indexing.results):
            if isinstance(expr, ir.AffineDimExpr) and not shape.is_dynamic_dim(d):
                loops[expr.position] = shape.get_dim_size(d)
    return prod(loops.values()) if len(loops) == maps[0].n_dims else None
