"""The program as IR: a te function, and the schedule beside it. Nothing is transformed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mlir import ir
from mlir.dialects import arith, func, tensor

from .. import ir as tw_ir
from ..errors import CompileError
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..ir import te as te_ops
from ..ir.diagnostics import MLIRError, diagnostics_of
from ..messages.location import Source, user_source
from .arguments import Arg, ArgumentList, Group
from .check_arguments import check_arguments
from .emit_body import BodyEmitter
from .emit_numbers import dimension_of, groups_attr, known_attrs, number_attrs, stride_attrs, stride_names
from .emit_statements import StatementEmitter, buffer_type
from .emit_types import constant_attr, dtype_attr, file_location, mlir_type, named_location
from .expr import Expr, Var
from .extern_op import ExternOp
from .program import axis_names, operations, symbols_of, symbols_of_extents, unique_name, unique_names
from .scan_stages import ScanOp, rows_from
from .symbol_ranges import narrowed
from .tensor import ComputeOp, Extent, Operation, PlaceholderOp, Tensor, is_optional

if TYPE_CHECKING:
    from .schedule import Schedule
    from .schedule.input_layouts import InputLayout

__all__ = ["Arg", "emit_function", "emit_module"]


def emit_module(program: Schedule | Tensor | Sequence[Tensor], args: Sequence[Any], name: str = "main") -> ir.Module:
    """The module of a program: its te function and, for a schedule, the `schedule.of` beside it.

    Parameters
    ----------
    program
        A schedule, or the tensors to compute.
    args
        All inputs and outputs, in the order in which the function takes them. One that is computed is an output. A
        `te.var` among them is a number that each call gives; tuples, NamedTuples, dataclasses and `te.shape`s are
        several that it gives as one, and a `te.strided` is a tensor that is not row-major.
    name
        The name of the function.

    Raises
    ------
    ValueError
        Where an input or output is missing among the arguments, or an argument is no part of the program.
    CompileError
        Where the program is wrong in itself, as where an index provably leaves its tensor.
    """
    from .schedule import Schedule
    from .schedule.input_layouts import input_layouts

    source = user_source()
    schedule = None
    if isinstance(program, Schedule):
        schedule, context = program, program.context
        outputs = [op.output(i) for op in program.outputs for i in range(op.num_outputs)]
    else:
        outputs, context = list(program) if isinstance(program, Sequence) else [program], tw_ir.context(front_end=True)
    for output in outputs:
        if not isinstance(output, Tensor):
            raise TypeError(f"{source}: expected a schedule, or the tensors to compute, got {output!r}")
    ops = operations([output.op for output in outputs])
    given = ArgumentList.of(args, source)
    if schedule is not None and schedule.instead:
        given.args = [
            schedule.instead[arg.op].output(arg.value_index)
            if isinstance(arg, Tensor) and arg.op in schedule.instead
            else arg
            for arg in given.args
        ]
    check_arguments(ops, outputs, given, source)
    inputs = [arg.op for arg in given.args if isinstance(arg, Tensor) and isinstance(arg.op, PlaceholderOp)]
    ops = [op for op in inputs if op not in ops] + ops
    # Whether what is optional is given comes after all that a call has.
    given.args += [op.given for op in inputs if op.given is not None]
    states = [op.state.op for op in ops if isinstance(op, ScanOp) and op.state is not None]
    names = unique_names(ops + states, {} if schedule is None else schedule.names)
    with context, file_location(source), narrowed({} if schedule is None else schedule.ranges):
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            layouts = {} if schedule is None else input_layouts(schedule)
            _Function(ops, given, names, name, source, layouts).emit()
            if schedule is not None:
                schedule.emit(name)
        try:
            module.operation.verify()
        except MLIRError as error:
            found = diagnostics_of(error.error_diagnostics)
            raise CompileError("\n".join(map(str, found)), "te", found) from None
    return module


def emit_function(outputs: Sequence[Tensor], args: Sequence[Any], name: str) -> None:
    """Emits the te function of `outputs` at the insertion point: as `emit_module` does it into a module of its own."""
    source = user_source()
    ops = operations([output.op for output in outputs])
    given = ArgumentList.of(args, source)
    check_arguments(ops, list(outputs), given, source)
    inputs = [arg.op for arg in given.args if isinstance(arg, Tensor) and isinstance(arg.op, PlaceholderOp)]
    ops = [op for op in inputs if op not in ops] + ops
    _Function(ops, given, unique_names(ops, {}), name, source).emit()


class _Function:
    """The te function of a program."""

    def __init__(
        self,
        ops: list[Operation],
        list_: ArgumentList,
        names: dict[Operation, str],
        name: str,
        source: Source,
        layouts: Mapping[str, InputLayout] | None = None,
    ) -> None:
        self._args: list[Arg] = list_.args
        args = self._args
        self._ops, self._names, self._name, self._source = ops, names, name, source
        self._tensors = [arg for arg in args if isinstance(arg, Tensor)]
        self._flags: dict[Var, int] = {}
        for position, arg in enumerate(args):
            if isinstance(arg, Tensor) and isinstance(arg.op, PlaceholderOp) and arg.op.given is not None:
                self._flags[arg.op.given] = position
        self._sizes = {var for op in ops for var in symbols_of_extents(op)}
        self._values: dict[Tensor, ir.Value] = {}
        self._first_rows = rows_from(ops, [tensor.op for tensor in self._tensors])
        self._symbols: dict[Expr, ir.Value] = {}
        self._symbol_names = self._name_symbols()
        known = layouts or {}
        self._layouts = {op.output(0): known[name] for op, name in names.items() if name in known}
        self._strides = {args[i]: strides for i, strides in list_.strides.items()}
        self._stride_names = stride_names(self._strides.values(), self._symbol_names)
        self._list, self._groups = list_, self._name_groups(list_)

    def _name_groups(self, list_: ArgumentList) -> dict[int, list[Group]]:
        """The groups, of which none is called as another argument."""
        taken = {self._arg_name(list_.args[i]) for i in list_.top_level()}
        named: dict[int, list[Group]] = {}
        for i, (outer, *inner) in list_.groups.items():
            if list_.places[i].count(".") + list_.places[i].count("[") == 1 + len(inner):
                outer = replace(outer, name=unique_name(outer.name, taken))
                taken.add(outer.name)
            named[i] = [outer, *inner]
        return named

    def _arg_name(self, arg: Arg) -> str:
        return self._symbol_names[arg] if isinstance(arg, Var) else self._tensor_name(arg)

    def _name_symbols(self) -> dict[Var, str]:
        """A name of its own for each symbolic extent and number. Those of arguments are no tensor's."""
        names: dict[Var, str] = {}
        tensors = {self._tensor_name(arg) for arg in self._args if isinstance(arg, Tensor)}
        given = {arg: None for arg in self._args if isinstance(arg, Var)}
        for var in (*given, *(var for op in self._ops for var in symbols_of(op))):
            if var not in names:
                names[var] = unique_name(var.name, [*names.values(), *(tensors if var in given else ())])
        return names

    def emit(self) -> None:
        outputs = [arg for arg in self._tensors if not isinstance(arg.op, PlaceholderOp)]
        types = [self._type(arg) for arg in self._args]
        with file_location(self._source):
            function = func.FuncOp(self._name, (types, [self._type(output) for output in outputs]))
        function.arg_attrs = [
            ir.DictAttr.get(self._arg_attrs(arg) | self._list_attrs(position))
            for position, arg in enumerate(self._args)
        ]
        block = ir.Block.create_at_start(function.body, types, [self._arg_location(arg) for arg in self._args])
        self._block = block
        with ir.InsertionPoint(block):
            self._emit_symbols(block)
            for arg, value in zip(self._args, block.arguments):
                if isinstance(arg, Tensor) and isinstance(arg.op, PlaceholderOp):
                    self._values[arg] = value
            for op in self._ops:
                if isinstance(op, ScanOp) and op.state is not None:
                    self._emit_state(op, op.state)
            for op in self._ops:
                if isinstance(op, ComputeOp):
                    self._emit_compute(op)
                elif isinstance(op, ExternOp):
                    self._emit_extern(op)
            with file_location(self._source):
                func.ReturnOp([self._values[output] for output in outputs])

    # Types and attributes.

    def _type(self, arg: Arg) -> ir.Type:
        if isinstance(arg, Var):
            return mlir_type(arg.element_type)
        dynamic = ir.ShapedType.get_dynamic_size()
        shape = self._layouts[arg].shape if arg in self._layouts else arg.shape
        extents = [extent if isinstance(extent, int) else dynamic for extent in shape]
        with file_location(arg.op.source):
            return ir.RankedTensorType.get(extents, mlir_type(arg.op.element_types[arg.value_index]))

    def _tensor_name(self, arg: Tensor) -> str:
        name = self._names[arg.op]
        return name if arg.op.num_outputs == 1 else f"{name}.v{arg.value_index}"

    def _arg_location(self, arg: Arg) -> ir.Location:
        if isinstance(arg, Var):
            return named_location(self._symbol_names[arg], arg.source)
        return named_location(self._tensor_name(arg), arg.op.source)

    def _list_attrs(self, position: int) -> dict[str, ir.Attribute]:
        """What a call gives as one with others, or by its address."""
        attrs: dict[str, ir.Attribute] = {}
        i64 = ir.IntegerType.get_signless(64)
        if position in self._list.alignments:
            attrs["te.align"] = ir.IntegerAttr.get(i64, self._list.alignments[position])
        if position in self._list.pointers:
            attrs["te.pointer"] = ir.UnitAttr.get()
        if position in self._groups:
            attrs["te.groups"] = groups_attr(self._groups[position])
        return attrs

    def _arg_attrs(self, arg: Arg) -> dict[str, ir.Attribute]:
        if isinstance(arg, Var):
            is_size = arg in self._sizes
            return number_attrs(arg, self._symbol_names[arg], given=self._flags.get(arg), is_size=is_size)
        attrs: dict[str, ir.Attribute] = {
            "te.name": ir.StringAttr.get(self._tensor_name(arg)),
            "te.dtype": dtype_attr(arg.dtype),
        }
        if not isinstance(arg.op, PlaceholderOp):
            attrs["te.output"] = ir.UnitAttr.get()
        elif arg.op.given is not None:
            attrs["te.optional"] = ir.UnitAttr.get()
        if not all(isinstance(extent, int) for extent in arg.shape):
            texts = [self._symbol_text(extent) for extent in arg.shape]
            attrs["te.symbols"] = ir.ArrayAttr.get([ir.StringAttr.get(text) for text in texts])
            attrs.update(known_attrs("te.", arg.shape))
        if arg in self._strides:
            attrs.update(stride_attrs(self._tensor_name(arg), self._strides[arg], self._stride_names))
        return attrs

    def _symbol_text(self, extent: Extent) -> str:
        if isinstance(extent, int):
            return ""
        return self._symbol_names[extent] if isinstance(extent, Var) else str(extent)

    # Values.

    def _emit_symbols(self, block: ir.Block) -> None:
        """Each symbolic extent is a dimension of the first argument that has it, any other number an argument."""
        for var, name in self._symbol_names.items():
            place = dimension_of(var, self._args)
            position = next((i for i, arg in enumerate(self._args) if arg is var), None)
            location = named_location(name, var.source)
            if var.default is not None and position is None:
                raise ValueError(
                    f"{self._source}: te.var {name}: expected it among the arguments, for it has a default, got none "
                    f"of it ({var.source})"
                )
            if place is not None:
                with file_location(var.source):
                    self._symbols[var] = self._dimension(place, location)
            elif position is not None:
                value = block.arguments[position]
                self._symbols[var] = (
                    arith.index_cast(ir.IndexType.get(), value, loc=location) if var.is_index else value
                )
            elif any(extent is var for arg in self._tensors for extent in arg.shape):
                raise ValueError(
                    f"{self._source}: te.var {name}: expected an argument that every call gives to have it as an "
                    f"extent, or itself as an argument, got it in optional ones alone ({var.source})"
                )
            elif var.is_index:
                raise ValueError(
                    f"{self._source}: te.var {name}: expected an argument that has it as an extent, or itself as an "
                    f"argument, got it in none alone ({var.source})"
                )
            else:
                raise ValueError(
                    f"{self._source}: te.var {name}: expected it among the arguments, got none of it ({var.source})"
                )

    def _dimension(self, place: tuple[int, int], location: ir.Location | None = None) -> ir.Value:
        index = ir.IndexType.get()
        number = arith.constant(index, ir.IntegerAttr.get(index, place[1]))
        return tensor.dim(self._block.arguments[place[0]], number, loc=location)

    def _emit_extent(self, extent: Expr, source: Source) -> ir.Value:
        with file_location(source):
            if not isinstance(extent, Var) and (place := dimension_of(extent, self._args)) is not None:
                return self._dimension(place)
            return BodyEmitter(self._values, self._symbols).value(extent)

    def _emit_state(self, op: ScanOp, state: Tensor) -> None:
        sizes = [self._emit_extent(size, op.source) for size in state.shape if isinstance(size, Expr)]
        name, of = ir.StringAttr.get(self._names[state.op]), ir.StringAttr.get(self._names[op])
        with named_location(self._names[state.op], state.op.source):
            self._values[state] = te_ops.state(self._type(state), name, of, sizes)

    def _emit_compute(self, op: ComputeOp) -> None:
        axes = op.axis + op.reduce_axis
        names = axis_names(op)
        dynamic = ir.ShapedType.get_dynamic_size()
        extents = [axis.dom[1] for axis in axes if axis.dom is not None]
        begin = self._first_rows.get(op, 0)
        if begin:
            rows = extents[0]
            extents[0] = max(rows - begin, 0) if isinstance(rows, int) else rows - begin
        rank = len(op.axis)
        kinds = [mlir_type(op.element_types[i]) for i in range(op.num_outputs)]
        shape = [extent if isinstance(extent, int) else dynamic for extent in extents[:rank]]
        operands = [self._emit_extent(extent, op.source) for extent in extents if isinstance(extent, Expr)]
        tensors = [op.output(i) for i in range(op.num_outputs)]
        reduction = op.reduction
        reducer = identity = is_unsigned = None
        if reduction is not None:
            reducer = ir.Attribute.parse(f"#te<reducer {reduction.name}>")
            if reduction.identity:
                identity = ir.ArrayAttr.get([constant_attr(one.value, one.element_type) for one in reduction.identity])
            elif op.element_types[0].kind == "uint" and reduction.name in ("min", "max"):
                is_unsigned = ir.BoolAttr.get(True)
        strings = [ir.StringAttr.get(name) for name in names]
        with file_location(op.source):
            types = [ir.RankedTensorType.get(shape, kind) for kind in kinds]
        made = te_ops.ComputeOp(
            types,
            ir.StringAttr.get(self._names[op]),
            ir.ArrayAttr.get(strings[: len(op.axis)]),
            ir.ArrayAttr.get(strings[len(op.axis) :]),
            ir.DenseI64ArrayAttr.get([extent if isinstance(extent, int) else dynamic for extent in extents]),
            operands,
            reducer=reducer,
            identity=identity,
            is_unsigned=is_unsigned,
            scan=isinstance(op, ScanOp) or None,
            loc=named_location(self._names[op], op.source),
        )
        locations = [named_location(name, axis.source) for name, axis in zip(names, axes)]
        body = ir.Block.create_at_start(made.regions[0], [ir.IndexType.get()] * len(axes), locations)
        bound = dict(self._symbols) | dict(zip(axes, body.arguments))
        with ir.InsertionPoint(body), file_location(op.source):
            begins: dict[Expr, int] = {op.axis[0]: begin} if begin else {}
            emitter = BodyEmitter(self._values, bound, begins, self._first_rows, self._layouts)
            values = [emitter.element(expr) for expr in (reduction.exprs if reduction is not None else op.body)]
            te_ops.yield_(values, loc=file_location(op.source if reduction is None else reduction.source))
        if reduction is not None and reduction.combined:
            self._emit_combiner(made, op)
        self._values.update(zip(tensors, made.operation.results))

    def _emit_extern(self, op: ExternOp) -> None:
        for one in op.inputs:
            if is_optional(one):
                raise ValueError(
                    f"{op.source}: extern {op.name}: expected tensors that every call gives, got {one.name}, which is "
                    "optional: choose by te.if_given in a te.compute"
                )
        tensors = [op.output(i) for i in range(op.num_outputs)]
        types = [self._type(one) for one in tensors]
        inits: list[ir.Value] = []
        for one in tensors:
            with file_location(op.source):
                sizes = [self._emit_extent(size, op.source) if isinstance(size, Expr) else size for size in one.shape]
                inits.append(tensor.empty(sizes, mlir_type(one.op.element_types[one.value_index])))
        made = te_ops.ExternOp(
            types,
            ir.StringAttr.get(self._names[op]),
            [self._values[one] for one in op.inputs],
            inits,
            loc=named_location(self._names[op], op.source),
        )
        kinds = [buffer_type(buffer) for buffer in op.buffers]
        locations = [named_location(buffer.name, buffer.source) for buffer in op.buffers]
        body = ir.Block.create_at_start(made.regions[0], kinds, locations)
        with ir.InsertionPoint(body), file_location(op.source):
            buffers = dict(zip(op.buffers, body.arguments))
            StatementEmitter(buffers, self._symbols, before=made.operation).emit(op.statements)
        self._values.update(zip(tensors, made.operation.results))

    def _emit_combiner(self, made: te_ops.ComputeOp, op: ComputeOp) -> None:
        reduction = op.reduction
        assert reduction is not None
        elements = reduction.lhs + reduction.rhs
        locations = [named_location(var.name, var.source) for var in elements]
        block = ir.Block.create_at_start(made.regions[1], [mlir_type(var.element_type) for var in elements], locations)
        with ir.InsertionPoint(block), file_location(reduction.source):
            emitter = BodyEmitter(self._values, dict(zip(elements, block.arguments)))
            te_ops.yield_([emitter.element(expr) for expr in reduction.combined])
