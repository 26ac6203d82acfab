"""TVM's intrinsics on fragments of matrices, `tir.tvm_load_matrix_sync` and its sisters, as statements.

In TVM they are calls of CUDA's ``wmma``. Here a fragment is a buffer of a stage in scope ``"wmma.matrix_a"``,
``"wmma.matrix_b"`` or ``"wmma.accumulator"``. Its elements are distributed over the lanes of a warp. The calls become
the loops that their intrinsic describes: copies, and matmuls that ``mma.sync`` computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.location import Source, user_source
from . import functions
from .arithmetic import constant
from .expr import Call, Cast, Const, Expr, IterVar, Read
from .rewrite import rewrite
from .statements import Buffer, Instruction, Load, Loop, MatrixCall, Pointer, Statement, Store
from .tensor import ComputeOp, Tensor

__all__ = ["FRAGMENT_SCOPES", "call_intrin", "fragment_calls", "statements_of"]

FRAGMENT_SCOPES = ("wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator")

_ARGUMENTS = {
    "tvm_fill_fragment": ("fragment", "m", "n", "k", "index", "value"),
    "tvm_load_matrix_sync": ("fragment", "m", "n", "k", "index", "buffer_ptr", "stride", "layout"),
    "tvm_mma_sync": (
        "fragment_d", "index_d", "fragment_a", "index_a", "fragment_b", "index_b", "fragment_c", "index_c",
    ),
    "tvm_store_matrix_sync": ("fragment", "m", "n", "k", "index", "buffer_ptr", "stride", "layout"),
}  # fmt: skip
_TILES = ((16, 16), (32, 8), (8, 32))
# Of each type of the operands the extent along K of one instruction.
_EXTENTS_OF_K = {"float16": 16, "bfloat16": 16, "float32": 8}
_ROWS, _COLUMNS = 16, 8  # of an instruction


def _call(name: str) -> Callable[..., MatrixCall]:
    def call(*args: Any) -> MatrixCall:
        source = user_source()
        expected = _ARGUMENTS[name]
        if len(args) != len(expected):
            raise TypeError(f"{source}: {name}: expected {', '.join(expected)}, got {len(args)} arguments")
        return MatrixCall(name, args, source)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"TVM's `tir.{name}` of {', '.join(_ARGUMENTS[name])}, for `te.decl_tensor_intrin`."
    return call


fragment_calls: Mapping[str, Callable[..., MatrixCall]] = {name: _call(name) for name in _ARGUMENTS}


def call_intrin(dtype: object, func_name: str, *args: Any, span: object = None) -> Any:
    """TVM's call of an intrinsic by its name: of those on fragments (``"tir.tvm_mma_sync"``), and of te's functions.

    >>> from tilewright import te
    >>> A = te.placeholder((4,), name="A")
    >>> call_intrin("float32", "tir.exp", A[0])
    exp(A[0])

    Raises
    ------
    ValueError
        Where there is no such intrinsic.
    """
    source = user_source()
    name = func_name.removeprefix("tir.") if isinstance(func_name, str) else ""
    if name in fragment_calls:
        return fragment_calls[name](*args)
    if name not in functions.__all__:
        known = ", ".join(f"tir.{one}" for one in fragment_calls)
        raise ValueError(
            f"{source}: call_intrin: expected one of {known}, or a function of te as in 'tir.exp', got {func_name!r}"
        )
    made = getattr(functions, name)(*args)
    if isinstance(made, Expr) and made.dtype != dtype:
        raise TypeError(f"{source}: call_intrin {name}: expected {made.dtype}, which it has, as dtype, got {dtype!r}")
    return made


def statements_of(
    parts: Mapping[str, Sequence[Statement]], op: ComputeOp, buffers: Sequence[Buffer], what: str
) -> dict[str, Sequence[Statement]]:
    """The parts of an intrinsic that are calls on fragments, as the statements that compute what `op` describes."""
    made: dict[str, Sequence[Statement]] = {}
    described = _Described(op, buffers, what)
    for role, statements in parts.items():
        calls = [one for one in statements if isinstance(one, MatrixCall)]
        other = next((one for one in statements if not isinstance(one, MatrixCall)), None)
        if other is not None or len(calls) > 2 or len(calls) == 2 and calls[0].name != "tvm_fill_fragment":
            at = calls[-1].source
            raise ValueError(
                f"{at}: {what}: expected one intrinsic on fragments, or tvm_fill_fragment and tvm_mma_sync, as the "
                f"{role}, got {', '.join(map(_called, statements))}"
            )
        # TVM's tutorial gives what adds to the sums as the body as well, for what is never the whole.
        if role == "body" and [one.name for one in calls] == ["tvm_mma_sync"] and "update" in parts:
            continue
        made[role] = [one for call in calls for one in described.statements(call, role)]
    return made


@dataclass(frozen=True, slots=True)
class _Operand:
    """One operand of the matmul: what is read, and the axis of the results that it goes along."""

    expr: Expr
    axis: IterVar


class _Described:
    def __init__(self, op: ComputeOp, buffers: Sequence[Buffer], what: str) -> None:
        self._op, self._what = op, what
        self._inputs: dict[Tensor, Buffer] = dict(zip(op.input_tensors, buffers))
        self._output = buffers[-1]

    def statements(self, call: MatrixCall, role: str) -> list[Statement]:
        arguments = dict(zip(_ARGUMENTS[call.name], call.args))
        if call.name == "tvm_mma_sync":
            return self._product(call, arguments, role)
        self._check_tile(call, arguments)
        if call.name == "tvm_fill_fragment":
            return self._fill(call, arguments)
        return self._copy(call, arguments)

    def _refuse(self, call: MatrixCall, wanted: str, got: object) -> ValueError:
        return ValueError(f"{call.source}: {self._what}: {call.name}: expected {wanted}, got {got}")

    def _check_tile(self, call: MatrixCall, arguments: Mapping[str, Any]) -> None:
        """The fragment has as many elements as one of its kind has of such matmuls."""
        m, n, k = (arguments[name].value if isinstance(arguments[name], Const) else arguments[name] for name in "mnk")
        fragment = self._fragment(call, arguments["fragment"])
        if not all(isinstance(one, int) for one in (m, n, k)) or (m, n) not in _TILES:
            raise self._refuse(call, "m, n and k of 16 x 16 x k, 32 x 8 x k or 8 x 32 x k", f"{m}, {n} and {k}")
        kinds = {"matrix_a": m * k, "matrix_b": k * n, "accumulator": m * n}
        kind = fragment.declared.removeprefix("wmma.")
        if prod(fragment.shape) != kinds[kind]:  # type: ignore[type-var]
            wanted = f"{kinds[kind]} elements in a {kind} of {m} x {n} x {k}"
            raise self._refuse(call, wanted, f"{fragment.name} of {list(fragment.shape)}")

    def _fragment(self, call: MatrixCall, data: object) -> Buffer:
        if not isinstance(data, Pointer) or data.buffer not in (*self._inputs.values(), self._output):
            raise self._refuse(call, "the data of a buffer of this intrinsic as fragment", repr(data))
        if data.buffer.declared not in FRAGMENT_SCOPES:
            raise self._refuse(
                call,
                f"a buffer of scope {', '.join(FRAGMENT_SCOPES)} as fragment",
                f"{data.buffer.name} of scope {data.buffer.declared or 'global'!r}",
            )
        return data.buffer

    def _loops(self, axes: Mapping[IterVar, int], body: list[Statement], source: Source) -> list[Statement]:
        for axis, extent in reversed(list(axes.items())):
            if extent > 1:
                body = [Loop(axis, extent, "serial", source, body=body)]
        return body

    def _value(self, expr: Expr, at: Mapping[IterVar, Expr]) -> Expr:
        """A part of the description as one of the buffers."""

        def replace(part: Expr) -> Expr | None:
            if isinstance(part, Read):
                indices = tuple(self._value(index, at) for index in part.indices)
                return Load(self._inputs[part.tensor], indices, part.source)
            return at.get(part) if isinstance(part, IterVar) else None

        return rewrite(expr, replace)

    def _axes(self) -> tuple[dict[IterVar, int], dict[IterVar, Expr]]:
        """The axes with their extents, and the index that stands for each: an axis of one element is at 0."""
        extents = {axis: int(axis.dom[1]) for axis in self._op.axis if axis.dom is not None}  # type: ignore[arg-type]
        at: dict[IterVar, Expr] = {axis: axis if extent > 1 else _index(0, axis) for axis, extent in extents.items()}
        return extents, at

    def _fill(self, call: MatrixCall, arguments: Mapping[str, Any]) -> list[Statement]:
        if arguments["fragment"].buffer is not self._output:
            raise self._refuse(call, f"the result {self._output.name} as fragment", arguments["fragment"].buffer.name)
        value = arguments["value"]
        number = value.value if isinstance(value, Const) else value
        if isinstance(number, bool) or not isinstance(number, (int, float)) or number != 0:
            raise self._refuse(call, "0, where sums begin, as value", str(value))
        extents, at = self._axes()
        zero = constant(0, self._output.element_type, call.source)
        return self._loops(extents, [Store(self._output, tuple(at.values()), zero, call.source)], call.source)

    def _copy(self, call: MatrixCall, arguments: Mapping[str, Any]) -> list[Statement]:
        pointer, fragment = arguments["buffer_ptr"], arguments["fragment"].buffer
        memory = pointer.buffer if isinstance(pointer, Pointer) else None
        into, of = (fragment, memory) if call.name == "tvm_load_matrix_sync" else (memory, fragment)
        if into is not self._output or of not in self._inputs.values():
            wanted_pointer = "the access_ptr of the other buffer of this intrinsic as buffer_ptr"
            raise self._refuse(call, wanted_pointer, repr(arguments["buffer_ptr"]))
        if arguments["layout"] not in ("row_major", "col_major"):
            raise self._refuse(call, "row_major or col_major as layout", repr(arguments["layout"]))
        extents, at = self._axes()
        body = self._op.body[0]
        wanted = [axis for axis, extent in extents.items() if extent > 1]
        read = [index for index in body.indices if not _is_zero(index, at)] if isinstance(body, Read) else None
        if self._op.reduction is not None or read is None or not _are(read, wanted):
            raise self._refuse(call, "an intrinsic that describes a copy, as lambda i, j: A[i, j]", str(body))
        value = self._value(body, at)
        return self._loops(extents, [Store(self._output, tuple(at.values()), value, call.source)], call.source)

    def _product(self, call: MatrixCall, arguments: Mapping[str, Any], role: str) -> list[Statement]:
        fragments = [self._fragment(call, arguments[f"fragment_{name}"]) for name in "dabc"]
        if fragments[0] is not self._output or fragments[3] is not self._output:
            got = f"{fragments[0].name}, {fragments[3].name}"
            raise self._refuse(call, f"the result {self._output.name} as fragment_d and fragment_c", got)
        first, second, k = self._read_matmul(call)
        extents, at = self._axes()
        rows, columns = extents[first.axis], extents[second.axis]
        if rows < _ROWS:  # the transpose: its rows are those of an instruction
            first, second, rows, columns = second, first, columns, rows
        source = call.source

        def variable(name: str, extent: int) -> IterVar:
            return IterVar(name, (0, extent), "spatial", source)

        m, n = variable("m", _ROWS), variable("n", _COLUMNS)
        tiles = (("m_outer", rows // _ROWS), ("n_outer", columns // _COLUMNS))
        outer = {variable(name, extent): extent for name, extent in tiles}
        places = [
            inner if extent == 1 else _sum_of_steps(axis, step, inner)
            for (axis, extent), inner, step in zip(outer.items(), (m, n), (_ROWS, _COLUMNS))
        ]
        at |= {first.axis: places[0], second.axis: places[1]}
        spatial = tuple(at.values())
        operands = tuple(self._value(one.expr, at) for one in (first, second))
        dtype = self._output.element_type
        sum_of = Call("add", (Load(self._output, spatial, source), Call("mul", operands, dtype, source)), dtype, source)
        extent = int(k.dom[1])  # type: ignore[index, arg-type]
        body: list[Statement] = [Store(self._output, spatial, sum_of, source)]
        body = [Loop(k, extent, "serial", source, body=body)]
        body = [Loop(n, _COLUMNS, "serial", source, body=body)]
        instruction = Instruction("mma_sync", (_ROWS, _COLUMNS, extent))
        body = [Loop(m, _ROWS, "serial", source, body=body, instruction=instruction)]
        return self._loops(outer, body, source)

    def _read_matmul(self, call: MatrixCall) -> tuple[_Operand, _Operand, IterVar]:
        """The operands of the matmul that is described, in the order of the axes that the results have."""
        reduction = self._op.reduction
        extents, _ = self._axes()
        axes = [axis for axis, extent in extents.items() if extent > 1]
        expr = reduction.exprs[0] if reduction is not None and reduction.name == "sum" else None
        operands: list[_Operand] = []
        if isinstance(expr, Call) and expr.op == "mul" and reduction is not None and len(reduction.axis) == 1:
            for one in expr.args:
                read = one.value if isinstance(one, Cast) else one
                along = [axis for axis in axes if isinstance(read, Read) and _has(read.indices, axis)]
                if isinstance(read, Read) and len(along) == 1 and _has(read.indices, reduction.axis[0]):
                    operands.append(_Operand(one, along[0]))
        if reduction is None or len(operands) != 2 or {one.axis for one in operands} != set(axes) or len(axes) != 2:
            raise self._refuse(
                call,
                "an intrinsic that describes a matmul, as lambda i, j: te.sum(A[i, k] * B[k, j], axis=k)",
                f"{', '.join(map(str, self._op.body))} along {', '.join(axis.name for axis in axes)}",
            )
        first, second = operands
        k = reduction.axis[0]
        operand = next(iter(self._inputs.values())).dtype
        sizes = (extents[first.axis], extents[second.axis], k.dom[1] if k.dom is not None else 0)
        known = _EXTENTS_OF_K.get(operand)
        if known is None or sizes[:2] not in _TILES or sizes[2] != known:
            raise self._refuse(
                call,
                "tiles of 16 x 16, 32 x 8 or 8 x 32 along 16 elements of float16 or bfloat16, or 8 of float32",
                f"{sizes[0]} x {sizes[1]} along {sizes[2]} of {operand}",
            )
        return first, second, k


def _called(statement: Statement) -> str:
    return statement.name if isinstance(statement, MatrixCall) else type(statement).__name__


def _index(value: int, like: IterVar) -> Const:
    return Const(value, like.element_type, like.source, is_index=True)


def _sum_of_steps(axis: IterVar, step: int, inner: IterVar) -> Expr:
    """``axis * step + inner``."""
    begin = Call("mul", (axis, _index(step, axis)), axis.element_type, axis.source, True)
    return Call("add", (begin, inner), axis.element_type, axis.source, True)


def _is_zero(index: Expr, at: Mapping[IterVar, Expr]) -> bool:
    made = at.get(index, index) if isinstance(index, IterVar) else index
    return isinstance(made, Const) and made.value == 0


def _are(read: Sequence[Expr], wanted: Sequence[IterVar]) -> bool:
    """The indices are the axes, in any order."""
    return len(read) == len(wanted) and all(any(one is axis for axis in wanted) for one in read)


def _has(indices: Sequence[Expr], axis: IterVar) -> bool:
    return any(index is axis for index in indices)
