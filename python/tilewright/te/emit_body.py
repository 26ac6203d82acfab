"""The body of one compute as IR: expressions become arith, math, scf and te ops."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mlir import ir
from mlir.dialects import affine, arith, math, scf

from ..dtypes import DType, dtype_of
from ..ir import te as te_ops
from .emit_arithmetic import (
    ARITHMETIC,
    FLOAT_PREDICATES,
    MATH,
    PREDICATES,
    SIGNED_PREDICATES,
    UNSIGNED_PREDICATES,
    float_floordiv,
    float_floormod,
    sigmoid,
    signed_floormod,
)
from .emit_types import constant_attr, file_location, mlir_type, named_location
from .expr import Call, Cast, Const, Expr, IterVar, Previous, Read, ReduceItem, Select, Var
from .intervals import Intervals
from .map_operands import MapOperands, combine, is_number
from .walks import Steps, run

if TYPE_CHECKING:
    from .schedule.input_layouts import InputLayout
    from .tensor import Operation, Tensor

__all__ = ["BodyEmitter"]


class BodyEmitter:
    """Emits expressions at the current insertion point, each once in a region.

    `tensors` are the values of tensors, `bound` those of axes, symbols and combiner elements. An axis in `begins`
    starts there instead of at 0; the rows of the tensors in `first_rows` start with that one. Those in `layouts` have
    their elements at the places that these say.
    """

    def __init__(
        self,
        tensors: Mapping[Tensor, ir.Value],
        bound: Mapping[Expr, ir.Value],
        begins: Mapping[Expr, int] | None = None,
        first_rows: Mapping[Operation, int] | None = None,
        layouts: Mapping[Tensor, InputLayout] | None = None,
    ) -> None:
        self._tensors, self._bound = tensors, bound
        self._begins, self._first_rows, self._layouts = begins or {}, first_rows or {}, layouts or {}
        self._scopes: list[dict[int, ir.Value]] = [{}]
        self._shared: dict[int, list[Select]] = {}
        self._fast = ir.Attribute.parse("#arith.fastmath<contract>")
        self._index = ir.IndexType.get()
        self._intervals = Intervals()

    def value(self, expr: Expr) -> ir.Value:
        """The value of an expression: an `index` for index arithmetic, otherwise one of its own type."""
        found = self._known(expr)
        return run(self._value(expr)) if found is None else found

    def _value(self, expr: Expr) -> Steps[ir.Value]:
        todo = [expr]
        while todo:
            top = todo[-1]
            if self._known(top) is not None:
                todo.pop()
                continue
            waiting = [child for child in self._eager(top) if self._known(child) is None]
            if waiting:
                todo.extend(reversed(waiting))
                continue
            made = self._emit(todo.pop())
            self._scopes[-1][id(top)] = (yield made) if isinstance(made, Generator) else made
        found = self._known(expr)
        assert found is not None
        return found

    def element(self, expr: Expr) -> ir.Value:
        """The value of an expression in its own type, index arithmetic converted."""
        return run(self._element(expr))

    def _element(self, expr: Expr) -> Steps[ir.Value]:
        value = yield self._value(expr)
        if not expr.is_index:
            return value
        with file_location(expr.source):
            return self._index_as(value, expr, expr.element_type)

    def _known(self, expr: Expr) -> ir.Value | None:
        for scope in reversed(self._scopes):
            if id(expr) in scope:
                return scope[id(expr)]
        return None

    @contextmanager
    def _scope(self, block: ir.Block) -> Generator[None]:
        self._scopes.append({})
        with ir.InsertionPoint(block):
            yield
        self._scopes.pop()

    def _eager(self, expr: Expr) -> tuple[Expr, ...]:
        """The operands that are needed as values wherever `expr` is."""
        if isinstance(expr, (Read, ReduceItem)) or expr.is_index and not isinstance(expr, Select):
            return ()  # indices are made into maps
        if isinstance(expr, Select) and expr.lazy:
            return (expr.condition,)
        return expr.operands()

    def _emit(self, expr: Expr) -> ir.Value | Steps[ir.Value]:
        """The value of an expression whose eager operands are known, or the steps that make it."""
        if isinstance(expr, Select):
            return self._select(expr)
        if expr.is_index:
            return self._index_value(expr)
        if isinstance(expr, Read):
            return self._read(expr)
        with file_location(expr.source):
            if isinstance(expr, Const):
                return arith.constant(mlir_type(expr.element_type), constant_attr(expr.value, expr.element_type))
            if isinstance(expr, Var):
                return self._bound[expr]
            if isinstance(expr, Cast):
                return self._cast(expr)
            if isinstance(expr, Previous):
                return te_ops.previous(mlir_type(expr.element_type), expr.result, expr.lag)
            assert isinstance(expr, Call), expr
            if expr.op == "reinterpret":
                value, kind = self.value(expr.args[0]), mlir_type(expr.element_type)
                return value if value.type == kind else arith.bitcast(kind, value)
            return self._call(expr.op, [self.value(arg) for arg in expr.args], expr.args[0])

    # Index arithmetic.

    def _index_value(self, expr: Expr) -> Steps[ir.Value]:
        with file_location(expr.source):
            if isinstance(expr, Const):
                return arith.constant(self._index, ir.IntegerAttr.get(self._index, int(expr.value)))
            if isinstance(expr, (Var, IterVar)) and not self._offset(expr):
                return self._bound[expr]
            operands = MapOperands()
            result = yield self._affine(expr, operands)
            if result is not None:
                return affine.AffineApplyOp(operands.map([result]), operands.values).result
            assert isinstance(expr, Call)
            args: list[ir.Value] = []
            for arg in expr.args:
                args.append((yield self._value(arg)))
            return self._call(expr.op, args, expr.args[0])

    def _offset(self, expr: Expr) -> int:
        if not isinstance(expr, IterVar):
            return 0
        return (expr.dom[0] if expr.dom is not None else 0) + self._begins.get(expr, 0)

    def _affine(self, expr: Expr, operands: MapOperands) -> Steps[ir.AffineExpr | None]:
        """An index as an affine expression of axes and symbols, or None where it is none.

        Affine expressions are of 64 bits. Data wraps around in its own type, so arithmetic on it is affine only where
        it cannot.
        """
        if isinstance(expr, Const):
            return ir.AffineExpr.get_constant(int(expr.value))
        if isinstance(expr, IterVar):
            return operands.dim(self._bound[expr]) + self._offset(expr)
        if isinstance(expr, Var) and expr.is_index:
            return operands.symbol(self._bound[expr])
        if isinstance(expr, Cast) and expr.value.is_index and expr.element_type.kind == "int":
            return None if self._intervals.wraps(expr) else (yield self._affine(expr.value, operands))
        if not isinstance(expr, Call) or expr.element_type.kind != "int":
            return None
        if expr.op in ("add", "sub", "mul"):
            if expr.op == "mul" and not any(map(is_number, expr.args)) or self._intervals.wraps(expr):
                return None
            lhs = yield self._affine_or_symbol(expr.args[0], operands)
            return combine(expr.op, lhs, (yield self._affine_or_symbol(expr.args[1], operands)))
        divisor = expr.args[-1]
        if expr.op in ("floordiv", "floormod") and isinstance(divisor, Const) and divisor.value > 0:
            lhs = yield self._affine_or_symbol(expr.args[0], operands)
            by = ir.AffineExpr.get_constant(int(divisor.value))
            return ir.AffineExpr.get_floor_div(lhs, by) if expr.op == "floordiv" else ir.AffineExpr.get_mod(lhs, by)
        return None

    def _affine_or_symbol(self, expr: Expr, operands: MapOperands) -> Steps[ir.AffineExpr]:
        result = yield self._affine(expr, operands)
        return operands.symbol((yield self._as_index(expr))) if result is None else result

    def _whole_index(self, expr: Expr, extent: int | Expr, operands: MapOperands) -> Steps[ir.AffineExpr]:
        """An index that is used as it stands, of a dimension of that extent.

        Where a sum of data and axes wraps around, it lies outside of the tensor, and so does the sum of 64 bits: terms
        of known size are affine here. This is what keeps `A[first[i] + j]` a row of neighbours.
        """
        apart: list[tuple[str, Expr]] = []
        low = high = 0
        bits = expr.element_type.bits
        while (
            isinstance(expr, Call)
            and expr.op in ("add", "sub")
            and expr.element_type.kind == "int"
            and not expr.is_index
        ):
            if not self._intervals.wraps(expr):
                break
            lhs, rhs = expr.args
            for op, term, rest in ((expr.op, rhs, lhs), *((("add", lhs, rhs),) if expr.op == "add" else ())):
                least, most = self._intervals.of(term)
                new = (low + least, high + most) if op == "add" else (low - most, high - least)
                fits = isinstance(extent, int) and extent <= (1 << bits - 1) + new[0]
                if new[1] < 1 << bits - 1 and (new[0] >= 0 or fits):
                    apart.append((op, term))
                    (low, high), expr = new, rest
                    break
            else:
                break
        result = yield self._affine_or_symbol(expr, operands)
        for op, term in reversed(apart):
            result = combine(op, result, (yield self._affine_or_symbol(term, operands)))
        return result

    def _as_index(self, expr: Expr) -> Steps[ir.Value]:
        value = yield self._value(expr)
        if expr.is_index:
            return value
        with file_location(expr.source):
            cast = arith.index_castui if expr.element_type.is_unsigned else arith.index_cast
            return cast(self._index, value)

    def _read(self, expr: Read) -> Steps[ir.Value]:
        operands = MapOperands()
        results: list[Any] = []
        for index, extent in zip(expr.indices, expr.tensor.shape):
            results.append((yield self._whole_index(index, extent, operands)))
        if first_row := self._first_rows.get(expr.tensor.op):
            results[0] = results[0] - first_row
        place = operands.map(results)
        if expr.tensor in self._layouts:
            of = self._layouts[expr.tensor].map
            place = ir.AffineMap.get(place.n_dims, place.n_symbols, [one.compose(place) for one in of.results])
        with named_location(expr.tensor.name, expr.source):
            return te_ops.read(
                mlir_type(expr.element_type),
                self._tensors[expr.tensor],
                operands.values,
                ir.AffineMapAttr.get(place),
            )

    # Data.

    def _index_as(self, value: ir.Value, expr: Expr, dtype: DType) -> ir.Value:
        """The value of an index in a signed type."""
        low, high = self._intervals.of(expr)
        kind = mlir_type(dtype)
        if dtype.bits == 64 or -(1 << dtype.bits - 1) <= low and high < 1 << dtype.bits - 1:
            return arith.index_cast(kind, value)
        # MLIR takes an index_cast there and back for nothing, whatever is lost on the way.
        return arith.trunci(kind, arith.index_cast(mlir_type(dtype_of("int64")), value))

    def _select(self, expr: Select) -> Steps[ir.Value]:
        emit = self._value if expr.is_index else self._element
        kind = self._index if expr.is_index else mlir_type(expr.element_type)
        with file_location(expr.source):
            condition = yield self._value(expr.condition)
            if not expr.lazy:
                yes = yield emit(expr.true_value)
                return arith.select(condition, yes, (yield emit(expr.false_value)))
            # Each branch is a region of its own: what both need is computed before, not once in each.
            for shared in (yield self._in_both_branches(expr)):
                yield self._value(shared)
            op = scf.IfOp(condition, [kind], has_else=True)
            for block, branch in zip((region.blocks[0] for region in op.regions), (expr.true_value, expr.false_value)):
                with self._scope(block):
                    scf.yield_([(yield emit(branch))])
            return op.results[0]

    def _in_both_branches(self, expr: Select) -> Steps[list[Select]]:
        """The conditional expressions that are computed whichever branch is taken."""
        if id(expr) not in self._shared:
            yes = yield self._computed_with(expr.true_value)
            no = yield self._computed_with(expr.false_value)
            self._shared[id(expr)] = [one for key, one in yes.items() if key in no]
        return self._shared[id(expr)]

    def _computed_with(self, expr: Expr) -> Steps[dict[int, Select]]:
        """The conditional expressions that are computed wherever `expr` is."""
        found: dict[int, Select] = {}
        todo, seen = [expr], set[int]()
        while todo:
            top = todo.pop()
            if id(top) in seen:
                continue
            seen.add(id(top))
            if isinstance(top, Select) and top.lazy:
                found[id(top)] = top
                todo.append(top.condition)
                todo.extend((yield self._in_both_branches(top)))
            elif not isinstance(top, ReduceItem):  # whose elements are computed in loops, perhaps none
                todo.extend(top.operands())
        return found

    def _call(self, name: str, values: list[ir.Value], first: Expr) -> ir.Value:
        dtype = first.element_type
        if name in SIGNED_PREDICATES:
            if dtype.is_float:
                return arith.cmpf(FLOAT_PREDICATES[name], *values)
            predicates = UNSIGNED_PREDICATES if dtype.is_unsigned and not first.is_index else SIGNED_PREDICATES
            return arith.cmpi(predicates[name], *values)
        if name in ARITHMETIC:
            by_float, by_signed, by_unsigned = ARITHMETIC[name]
            if dtype.is_float and name in ("floordiv", "floormod"):
                return self._in_single(dtype, float_floordiv if name == "floordiv" else float_floormod, values)
            if dtype.is_float:
                return by_float(*values, fastmath=self._fast)
            if name == "power" and dtype.is_unsigned:
                return self._unsigned_power(values, dtype)
            if dtype.is_unsigned:
                return by_unsigned(*values)
            if name == "floormod":
                return signed_floormod(*values)
            return by_signed(*values)
        if name == "neg":
            return arith.negf(*values, fastmath=self._fast)
        if name == "abs":
            return math.absf(*values, fastmath=self._fast) if dtype.is_float else math.absi(*values)
        if name in PREDICATES:
            return PREDICATES[name](*values)
        if name == "sigmoid":
            return self._in_single(dtype, functools.partial(sigmoid, fast=self._fast), values)
        return MATH[name](*values, fastmath=self._fast)

    def _unsigned_power(self, values: list[ir.Value], dtype: DType) -> ir.Value:
        # math.ipowi takes the exponent as signed. Below 2^64 nothing changes modulo 2^bits in a wider type.
        if dtype.bits == 64:
            return math.ipowi(*values)
        wide, narrow = mlir_type(dtype_of("int64")), mlir_type(dtype)
        return arith.trunci(narrow, math.ipowi(*(arith.extui(wide, value) for value in values)))

    def _in_single(self, dtype: DType, function: Callable[..., ir.Value], values: list[ir.Value]) -> ir.Value:
        """What `function` makes of floats; of those of 16 bits, it computes in float32, and the result is rounded."""
        single = dtype_of("float32")
        if dtype.bits >= single.bits:
            return function(*values)
        wide = function(*(self._convert(value, dtype, single) for value in values))
        return self._convert(wide, single, dtype)

    def _cast(self, expr: Cast) -> ir.Value:
        source, to = expr.value.element_type, expr.element_type
        value = self.value(expr.value)
        if expr.value.is_index:
            if to.kind == "int":
                return self._index_as(value, expr.value, to)
            value = self._index_as(value, expr.value, source)
        return self._convert(value, source, to)

    def _convert(self, value: ir.Value, source: DType, to: DType) -> ir.Value:
        kind = mlir_type(to)
        if source is to:
            return value
        if to.kind == "bool":
            zero = arith.constant(mlir_type(source), constant_attr(0, source))
            return arith.cmpf(FLOAT_PREDICATES["ne"], value, zero) if source.is_float else arith.cmpi(1, value, zero)
        single = dtype_of("float32")
        if source.is_float and to.is_float:
            if source.bits == to.bits:  # no direct way between the formats of one width
                return self._convert(self._convert(value, source, single), single, to)
            return arith.extf(kind, value) if to.bits > source.bits else arith.truncf(kind, value)
        if source.storage:
            return self._convert(self._convert(value, source, single), single, to)
        if source.is_float:
            return arith.fptoui(kind, value) if to.is_unsigned else arith.fptosi(kind, value)
        if to.storage:
            return self._convert(self._convert(value, source, single), single, to)
        if to.is_float:
            return arith.uitofp(kind, value) if source.is_unsigned else arith.sitofp(kind, value)
        if to.bits == source.bits:
            return value
        if to.bits < source.bits:
            return arith.trunci(kind, value)
        return arith.extui(kind, value) if source.is_unsigned else arith.extsi(kind, value)
