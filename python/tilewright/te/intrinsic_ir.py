"""Intrinsics that are read from a file: data that is not trusted.

A trace holds an intrinsic as IR. The IR may only have ops that compute, loop, and access elements. Its time and memory
must be known and small. It must compute what it describes, as an intrinsic that Python declares.
"""

from __future__ import annotations

import math
from typing import Any

from mlir import ir

from .. import ir as tw_ir
from ..dtypes import dtype_of, name_of_mlir
from ..errors import CompileError
from ..errors import TilewrightValueError as ValueError
from ..ir.attributes import parameters
from ..ir.diagnostics import MLIRError, diagnostics_of
from ..ir.reading import check_readable
from ..messages.printable import printable
from .compiler_interface import compiler
from .emit_types import mlir_type
from .intrinsic import TensorIntrin, was_made
from .intrinsic_check import Description, check, functions_in, name_of, walk

__all__ = ["ALLOWED_DIALECTS", "ALLOWED_OPS", "intrinsic_from_file"]

ALLOWED_DIALECTS = ("arith", "math")
"""Of these all ops on scalars may stand in an intrinsic from a file: they compute and do nothing else."""

ALLOWED_OPS = (
    *("builtin.module", "func.func", "func.return", "te.compute", "te.read", "te.yield", "affine.apply"),
    *("scf.for", "scf.if", "scf.yield", "memref.alloca", "memref.load", "memref.store"),
)
"""And these. Calls, loops without an end, inline assembly and ops of the LLVM dialect are not among them."""

_ROLES = ("describe", "body", "reset", "update")
_OF_FUNCTIONS = ("sym_name", "function_type", "arg_attrs", "sym_visibility")
_OF_ARGUMENTS = ("te.name", "te.dtype", "te.output")
_OF_LOOPS = ("schedule.axis", "schedule.vectorize", "schedule.unroll", "schedule.instruction")
_MOST_ITERATIONS = 1 << 20
_MOST_ELEMENTS = 1 << 20
_MOST_LOCAL_BYTES = 1 << 15


def intrinsic_from_file(name: Any, functions: Any) -> TensorIntrin:
    """The intrinsic that a file holds as IR. Raises ValueError where it may not stand there, or is not what it says.

    >>> intrinsic_from_file("mine", "func.func @describe() { return }")
    Traceback (most recent call last):
    ...
    tilewright.errors.TilewrightValueError: intrinsic 'mine' of a file: expected functions @describe and @body or \
@update, got @describe
    """
    if not isinstance(name, str) or not isinstance(functions, str):
        raise ValueError(f"expected an intrinsic's name and IR, got {name!r} and {functions!r:.80}")
    name = printable(name)
    where = f"intrinsic {name!r} of a file"
    try:
        check_readable(functions, where)
    except CompileError as error:
        raise ValueError(str(error)) from None
    with tw_ir.context(), ir.Location.unknown():
        try:
            module = ir.Module.parse(functions)
        except MLIRError as error:
            said = diagnostics_of(error.error_diagnostics)[0].message
            raise ValueError(f"{where}: expected IR, got {said}") from None
        if was_made(name, module):
            return TensorIntrin(name, functions)
        _check_ops(module, where)
        _check_functions(module, where)
        marks = [op for op in walk(module.operation) if "schedule.instruction" in op.attributes]
        if marks:
            # The instruction's loops, to the letter: what hardware does is not run here.
            if not _is_of_instructions(name, module, where, marks):
                raise ValueError(
                    f"{where}: expected an instruction's intrinsic as tilewright.instructions makes it, got another "
                    "that is marked so"
                )
            return TensorIntrin(name, functions)
    try:
        check(functions, where, simulated=True)
    except CompileError as error:
        raise ValueError(f"{where}: expected functions that can be compiled, got an error: {error}") from None
    return TensorIntrin(name, functions)


def _check_ops(module: ir.Module, where: str) -> None:
    for op in walk(module.operation):
        dialect = op.name.partition(".")[0]
        if op.name not in ALLOWED_OPS and dialect not in ALLOWED_DIALECTS:
            raise ValueError(
                f"{where}: expected ops of {', '.join(ALLOWED_DIALECTS)} and {', '.join(ALLOWED_OPS)}, got {op.name!r}"
            )
        if dialect in ALLOWED_DIALECTS:
            for value in (*op.operands, *op.results):
                if not isinstance(value.type, (ir.IntegerType, ir.IndexType, ir.FloatType)):
                    raise ValueError(f"{where}: expected {op.name!r} on scalars, got {value.type}")
        known = {"func.func": _OF_FUNCTIONS, "scf.for": _OF_LOOPS}.get(op.name)
        for attribute in op.attributes if known is not None else ():
            if attribute not in known:
                raise ValueError(f"{where}: expected no {attribute!r} on {op.name!r}")
        if op.name == "memref.alloca":
            kind = op.results[0].type
            size = math.prod(kind.shape) if kind.has_static_shape else _MOST_LOCAL_BYTES
            if not kind.has_static_shape or not 0 < size * 8 <= _MOST_LOCAL_BYTES:
                raise ValueError(
                    f"{where}: expected buffers of a thread's own of at most {_MOST_LOCAL_BYTES // 8} elements, got "
                    f"{kind}"
                )
    for op in module.body.operations:
        _check_iterations(op.operation, 1, where)


def _check_iterations(op: Any, around: int, where: str) -> None:
    if op.name == "scf.for":
        bounds = [_constant(value) for value in list(op.operands)[:3]]
        if bounds[0] != 0 or bounds[1] is None or bounds[1] < 0 or bounds[2] != 1:
            raise ValueError(f"{where}: expected loops from 0 by 1 to a constant, got others")
        around *= bounds[1]
        if around > _MOST_ITERATIONS:
            raise ValueError(f"{where}: expected at most {_MOST_ITERATIONS} iterations of a loop, got {around}")
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                _check_iterations(inner.operation, around, where)


def _constant(value: Any) -> int | None:
    if isinstance(value, ir.BlockArgument) or value.owner.operation.name != "arith.constant":
        return None
    attribute = value.owner.operation.attributes["value"]
    return ir.IntegerAttr(attribute).value if isinstance(attribute, ir.IntegerAttr) else None


def _check_functions(module: ir.Module, where: str) -> None:
    functions = functions_in(module)
    names = [name_of(op) for op in module.body.operations if op.operation.name == "func.func"]
    if (
        len(names) != len(module.body.operations)
        or not set(names) <= set(_ROLES)
        or "describe" not in names
        or not {"body", "update"} & set(names)
    ):
        got = ", ".join(f"@{name}" for name in names) or "none"
        raise ValueError(f"{where}: expected functions @describe and @body or @update, got {got}")
    described: list[tuple[list[int], ir.Type]] = []
    for name in ("describe", *(one for one in names if one != "describe")):
        function = functions[name]
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        inputs: list[ir.Type] = kind.inputs  # pyright: ignore[reportUnknownVariableType]
        given_attributes = "arg_attrs" in function.attributes
        attributes = list(ir.ArrayAttr(function.attributes["arg_attrs"])) if given_attributes else []
        if not len(function.regions[0].blocks) or len(attributes) != len(inputs):
            raise ValueError(
                f"{where}: expected a body of @{name}, and te.name and te.dtype of its arguments, got none"
            )
        for number, (argument, given) in enumerate(zip(inputs, attributes)):
            known = {one.name: one.attr for one in ir.DictAttr(given)}
            if not set(known) <= set(_OF_ARGUMENTS) or not {"te.name", "te.dtype"} <= set(known):
                raise ValueError(
                    f"{where}: expected {', '.join(_OF_ARGUMENTS)} of argument {number} of @{name}, got "
                    f"{', '.join(known) or 'none'}"
                )
            if name != "describe":
                continue
            if not isinstance(argument, ir.RankedTensorType) or not argument.has_static_shape:
                raise ValueError(f"{where}: expected tensors of constant extents, got {argument}")
            dtype = dtype_of(name_of_mlir(str(ir.TypeAttr(known["te.dtype"]).value)))
            if mlir_type(dtype) != argument.element_type or not 0 < math.prod(argument.shape) <= _MOST_ELEMENTS:
                raise ValueError(
                    f"{where}: expected a tensor of at most {_MOST_ELEMENTS} elements of {dtype.name}, got {argument}"
                )
            described.append((list(argument.shape), argument.element_type))
        if name != "describe":
            made = [(list(one.shape), one.element_type) for one in inputs if isinstance(one, ir.MemRefType)]
            if made != described or len(list[Any](kind.results)):  # pyright: ignore[reportUnknownArgumentType]
                raise ValueError(
                    f"{where}: expected @{name} to take memrefs of the shapes that @describe has, got {kind}"
                )
    description = Description(module, where)
    extents = [int(n) for n in ir.DenseI64ArrayAttr(description.compute.attributes["static_extents"])]
    if not description.outputs or not description.outputs[0].shape:
        raise ValueError(f"{where}: expected results with at least one axis, got none")
    if any(extent < 1 for extent in extents) or math.prod(extents) > _MOST_ITERATIONS:
        raise ValueError(
            f"{where}: expected a description of at most {_MOST_ITERATIONS} terms, got extents of {extents}"
        )


def _is_of_instructions(name: str, module: ir.Module, where: str, marks: list[Any]) -> bool:
    """Whether it is the intrinsic of a matrix instruction as Python makes it, whatever the lines that it came from."""
    given = Description(module, where).arguments
    if len(given) != 3:
        return False
    text = module.operation.get_asm(enable_debug_info=False)
    instruction = parameters(marks[0].attributes["schedule.instruction"])
    for made in compiler().intrinsics_like(
        name, *((one.dtype, one.shape) for one in given), promote=int(instruction["promote"]),
        tf32x3=bool(instruction["tf32x3"]),
    ):  # fmt: skip
        if ir.Module.parse(made.functions).operation.get_asm(enable_debug_info=False) == text:
            return True
    return False
