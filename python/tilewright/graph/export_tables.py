"""The tables that a model runs by (runtime/host/Model.h), in the LLVM dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from mlir import ir

from ..compiler.llvm_text import numbers_constant, text_constant
from ..dtypes import DLPACK_CODES, dtype_of
from ..errors import TilewrightError
from ..te import Expr, var
from ..te.emit_numbers import known_attrs
from ..te.emit_types import dtype_attr
from ..te.expr import Call, Const, Var
from .memory_needs import lives_of
from .phases import phases_of
from .types import TensorType

if TYPE_CHECKING:
    from ..aot.weights import WeightFile
    from .model import Model
    from .views import View

__all__ = ["ModelTables"]

_CONSTANT, _EXTENT, _READ = 0, 1, 9
_OPERATIONS = {"add": 2, "sub": 3, "mul": 4, "floordiv": 5, "floormod": 6, "min": 7, "max": 8}
_ARGUMENT, _WEIGHT, _ARENA, _ADDRESS, _VIEW = 0, 1, 2, 3, 4
_MODULE = """\
!p = !llvm.ptr
!model = !llvm.struct<({types})>
!groups = !llvm.array<{rows} x struct<(ptr, ptr)>>
!weights = !llvm.struct<(ptr, ptr, i64, i64)>
module {{
  {declarations}
  llvm.mlir.global internal constant @{name}_texts({texts})
  {tables}
  llvm.mlir.global internal constant @{name}_groups() : !groups {{
    %row0 = llvm.mlir.zero : !groups
    {group_rows}
    llvm.return %row{count} : !groups
  }}
  {weights}
  llvm.mlir.global {linkage}@{name}_model() : !model {{
    %none = llvm.mlir.zero : !model
    {fields}
    llvm.return %field{last} : !model
  }}
  {opening}
  llvm.func @{name}(%data: !p, %shape: !p, %workspace: !p, %launcher: !p) -> i32
      attributes {{tilewright.arguments = {arguments}, tilewright.kernels = []}} {{
    %zero = llvm.mlir.constant(0 : i32) : i32
    llvm.return %zero : i32
  }}
  llvm.func @{name}_workspace_bytes(%shape: !p) -> i64 {{
    %zero = llvm.mlir.constant(0 : i64) : i64
    llvm.return %zero : i64
  }}
}}
"""
_OPENING = """\
llvm.func @tilewrightHostOpenModel(!p)
  llvm.func internal @{name}_open() {{
    %model = llvm.mlir.addressof @{name}_model : !p
    llvm.call @tilewrightHostOpenModel(%model) : (!p) -> ()
    llvm.return
  }}
  llvm.mlir.global_ctors ctors = [@{name}_open], priorities = [65535 : i32], data = [#llvm.zero]"""
_WEIGHTS = """
  llvm.mlir.global internal constant @{name}_file({file})
  llvm.mlir.global internal constant @{name}_header({header})
  llvm.mlir.global internal constant @{name}_weights() : !weights {{
    %none = llvm.mlir.zero : !weights
    %file = llvm.mlir.addressof @{name}_file : !p
    %header = llvm.mlir.addressof @{name}_header : !p
    %size = llvm.mlir.constant({size} : i64) : i64
    %bytes = llvm.mlir.constant({bytes} : i64) : i64
    %0 = llvm.insertvalue %file, %none[0] : !weights
    %1 = llvm.insertvalue %header, %0[1] : !weights
    %2 = llvm.insertvalue %size, %1[2] : !weights
    %3 = llvm.insertvalue %bytes, %2[3] : !weights
    llvm.return %3 : !weights
  }}"""


class ModelTables:
    """What the function of a model has of it beside its groups.

    With `addresses` it is the function of this process, where the weights and constants lie at these addresses.
    Otherwise it is that of a library, which has its weights, `weights`, from a file.
    """

    weights: dict[str, np.ndarray]
    number_count: int
    """How many numbers a call computes."""
    count_rows: dict[str, int]
    """Of the function of this process, which of them data decide, by symbol."""

    def __init__(self, model: Model, name: str, addresses: Mapping[ir.Value, int] | None = None) -> None:
        self._model, self._name, self._addresses = model, name, addresses
        self._numbers: dict[tuple[int, int, int], int] = {}
        # A process asks for all numbers that data decide, a library for those that something depends on.
        self._phases = phases_of(model, reads_all=addresses is not None)
        self._number_phases: list[int] = []
        self._places: dict[str, tuple[int, int]] = {}
        self._texts: dict[str, int] = {}
        self._extents: list[int] = []
        self._values: list[list[int]] = []
        self._names: list[str] = []  # of the rows of values
        self._known: dict[ir.Value, int] = {}
        self._copies: list[int] = []
        self._arguments: list[int] = []
        self._begins = [0]
        self.weights = {}
        self._weight_values: dict[str, int] = {}
        self._views: dict[tuple[int, View], int] = {}
        self._add_arguments()
        self._add_weights()
        self._add_groups()
        self._add_outputs()
        self._counted = [self._row(value) for value in model.counts.values()]
        asked = self._phases.of_count if addresses is not None else ()
        self.count_rows = {symbol: self._number(var(symbol)) for symbol in asked}
        self.number_count = len(self._numbers)

    def _add_arguments(self) -> None:
        model = self._model
        for position, (name, kind) in enumerate((*model.inputs, *model.outputs)):
            if name in model.stored and self._addresses is None:
                raise TilewrightError(
                    f"{model.name}: {name!r} is of type {model.stored[name]}, which an exported function does not take"
                )
            if position < len(model.inputs):
                for dim, extent in enumerate(kind.shape):
                    if isinstance(extent, Var):
                        self._places.setdefault(extent.name, (position, dim))
        types = {value: kind for group in model.groups for value, kind in zip(group.results, group.types)}
        for position, value in enumerate(model.arguments):
            self._known[value] = self._add(model.inputs[position][0], model.inputs[position][1], _ARGUMENT, position)
        for number, (name, kind) in enumerate(model.outputs):
            self._add(name, kind, _ARGUMENT, len(model.inputs) + number)
        for index, value in enumerate(model.results, len(model.inputs)):
            # What a group makes is made where it is an output, if as another shape.
            made = model.parts.root_of(value, through_slices=False)
            if made not in types or made in self._known:
                continue
            self._known[value] = index
            if made != value:
                self._known[made] = self._part(types[made], index, 0)

    def _add_weights(self) -> None:
        for number, (value, array) in enumerate(self._model.constants.items()):
            name = self._model.weight_names.get(value, f"constant.{number}")
            kind = TensorType(array.shape, array.dtype.name)  # pyright: ignore[reportUnknownArgumentType]
            if self._addresses is not None:
                self._known[value] = self._add(name, kind, _ADDRESS, self._addresses[value])
                continue
            while name in self.weights:
                name += "_"
            self.weights[name] = array
            self._known[value] = self._weight_values[name] = self._add(name, kind, _WEIGHT, 0)

    def _add_groups(self) -> None:
        model = self._model
        last = lives_of(model.groups, [*model.results, *model.counts.values()], model.parts)
        for position, group in enumerate(self._model.groups):
            for value, kind, offset in zip(group.results, group.types, group.offsets):
                if value not in self._known:
                    self._known[value] = self._add(group.name, kind, _ARENA, offset, position, last[value])
                    self._values[self._known[value]][10] = self._phases.of_group(position)
            places = [self._row(value) for value in (*group.inputs, *group.results)]
            self._arguments += group.viewed(places, self._view)
            self._arguments += [-1 - self._number(symbol) for symbol in group.symbols]
            self._begins.append(len(self._arguments))

    def _add_outputs(self) -> None:
        model = self._model
        for number, value in enumerate(model.results):
            index = len(model.inputs) + number
            row = self._row(value)
            if row != index:
                self._copies += [row, index]

    def _add(self, name: str, kind: TensorType, memory: int, place: int, first: int = 0, last: int = 0) -> int:
        """A tensor's row. Its number is returned."""
        code, bits = DLPACK_CODES[kind.dtype]
        text = self._texts.setdefault(name, sum(len(each.encode()) + 1 for each in self._texts))
        row = [text, len(self._extents), kind.rank, code | bits << 8 | 1 << 16, memory, place, first, last, -1, 0, 0]
        numbers = [self._number(extent) for extent in kind.shape]
        row[10] = max((self._number_phases[number] for number in numbers), default=0)
        self._extents += numbers
        self._values.append(row)
        self._names.append(name)
        return len(self._values) - 1

    def _row(self, value: ir.Value) -> int:
        """The row of a value, of which a part gets one when it is first asked for."""
        if value not in self._known:
            part = self._model.parts[value]
            place = self._row(part.of)
            begin = part.begin * (self._values[place][3] >> 8 & 0xFF) // 8
            self._known[value] = self._part(part.type, place, begin)
        return self._known[value]

    def _part(self, kind: TensorType, place: int, begin: int) -> int:
        """The row of a tensor in the one of row `place`, from byte `begin` on."""
        row = self._add(self._names[place], kind, _VIEW, place)
        self._values[row][9] = begin
        self._values[row][10] = max(self._values[row][10], self._values[place][10])
        return row

    def _view(self, place: int, view: View) -> int:
        """The row of a view of the tensor in row `place`."""
        row = self._values[place]
        key = place, view
        if key not in self._views:
            bits = row[3] >> 8 & 0xFF
            extents, strides = len(self._extents), len(self._extents) + len(view.shape)
            self._extents += [self._number(one) for one in (*view.shape, *view.strides)]
            self._values.append(
                [row[0], extents, len(view.shape), row[3], _VIEW, place, 0, 0, strides, view.begin * bits // 8, row[10]]
            )
            self._names.append(self._names[place])
            self._views[key] = len(self._values) - 1
        return self._views[key]

    def _number(self, extent: int | Expr) -> int:
        """The row of a number that a call computes."""
        phase = 0
        if isinstance(extent, (int, Const)):
            row = _CONSTANT, int(extent), 0
        elif isinstance(extent, Var) and extent.name in self._phases.of_count:
            row, phase = (_READ, [*self._model.counts].index(extent.name), 0), self._phases.of_count[extent.name]
        elif isinstance(extent, Var):
            if extent.name not in self._places:
                raise TilewrightError(
                    f"{self._model.name}: expected an input that has the symbol {extent.name} as an extent, got none"
                )
            row = _EXTENT, *self._places[extent.name]
        elif isinstance(extent, Call) and extent.op in _OPERATIONS:
            a, b = map(self._number, extent.args)
            row, phase = (_OPERATIONS[extent.op], a, b), max(self._number_phases[a], self._number_phases[b])
        else:
            raise TilewrightError(
                f"{self._model.name}: expected an extent of sums, products, quotients, minima and maxima, got {extent}"
            )
        if row not in self._numbers:
            self._numbers[row] = len(self._numbers)
            self._number_phases.append(phase)
        return self._numbers[row]

    def _number_rows(self) -> Iterator[int]:
        for (operation, a, b), phase in zip(self._numbers, self._number_phases, strict=True):
            yield from (operation, self._counted[a] if operation == _READ else a, b, phase)

    def module_text(self, weights: WeightFile | None = None, file: str = "") -> str:
        """The module that `convert-host-to-ffi` makes the model's function of. `file` is the name of the weights'."""
        model, name = self._model, self._name
        if weights is not None:
            for each, index in self._weight_values.items():
                self._values[index][5] = weights.offsets[each]
        names = [group.function.entry_name for group in model.groups]
        has_load = model.target.kind == "cuda"
        calls = [group.library.row(i, len(group.inputs)) for i, group in enumerate(model.groups) if group.library]
        tables = {
            "numbers": [*self._number_rows()],
            "extents": self._extents,
            "values": [number for row in self._values for number in row],
            "arguments": self._arguments, "begins": self._begins, "copies": self._copies,
            "phases": self._phases.begins, "calls": [number for row in calls for number in row.numbers()],
        }  # fmt: skip
        pointers = ["texts", "numbers", "extents", "values", "groups", "arguments", "begins", "copies", "phases",
                    "calls"]  # fmt: skip
        counts = [len(self._numbers), len(self._values), len(names), len(self._copies) // 2, model.plan.arena_bytes,
                  int(model.cuda_graph), len(self._phases.begins), len(calls)]  # fmt: skip
        made = "" if weights is None else _WEIGHTS.format(
            name=name, file=text_constant(file), header=text_constant(weights.header), size=len(weights.header),
            bytes=weights.bytes,
        )  # fmt: skip
        return _MODULE.format(
            name=name, rows=max(len(names), 1), count=len(names), weights=made,
            types=", ".join(["ptr"] * (len(pointers) + 1) + ["i64"] * len(counts) + ["ptr"] * 2),
            linkage="internal " if self._addresses is None else "",
            opening="" if self._addresses is not None else _OPENING.format(name=name),
            declarations="\n  ".join(_declared(each, has_load) for each in dict.fromkeys(names)),
            texts=text_constant("\0".join(self._texts)),
            tables="\n  ".join(numbers_constant(f"{name}_{each}_table", rows) for each, rows in tables.items()),
            group_rows="\n    ".join(_group_row(i, each, has_load) for i, each in enumerate(names)),
            fields=_fields(name, pointers, weights is not None, counts), last=len(pointers) + len(counts),
            arguments=self._described(),
        )  # fmt: skip

    def _described(self) -> str:
        """The arguments, as the pass has them described by `tilewright.arguments`."""
        model = self._model
        with ir.Context(), ir.Location.unknown():
            entries: list[ir.DictAttr] = []
            for position, (name, kind) in enumerate((*model.inputs, *model.outputs)):
                attributes: dict[str, ir.Attribute] = {
                    "te.name": ir.StringAttr.get(name),
                    "te.dtype": dtype_attr(kind.dtype),
                }
                extents = "".join(f"{one}x" if isinstance(one, int) else "?x" for one in kind.shape)
                memref = ir.Type.parse(f"memref<{extents}{dtype_of(kind.dtype).mlir}>")
                attributes["type"] = ir.TypeAttr.get(memref)
                if position >= len(model.inputs):
                    attributes["te.output"] = ir.UnitAttr.get()
                if not kind.is_static:
                    texts = ["" if isinstance(one, int) else str(one) for one in kind.shape]
                    attributes["te.symbols"] = ir.ArrayAttr.get([ir.StringAttr.get(text) for text in texts])
                    attributes.update(known_attrs("te.", kind.shape))
                entries.append(ir.DictAttr.get(attributes))
            return str(ir.ArrayAttr.get(entries))


def _declared(name: str, has_load: bool) -> str:
    load = f"\n  llvm.func @__tvm_ffi_{name}_load(!p, !p, i32, !p) -> i32" if has_load else ""
    return f"llvm.func @{name}_call(!p, !p, i32) -> i32{load}"


def _group_row(i: int, name: str, has_load: bool) -> str:
    call = (
        f"%call{i} = llvm.mlir.addressof @{name}_call : !p\n"
        f"    %{'half' if has_load else 'row'}{i if has_load else i + 1} = "
        f"llvm.insertvalue %call{i}, %row{i}[{i}, 0] : !groups"
    )
    if not has_load:
        return call
    return (
        f"{call}\n    %load{i} = llvm.mlir.addressof @__tvm_ffi_{name}_load : !p\n"
        f"    %row{i + 1} = llvm.insertvalue %load{i}, %half{i}[{i}, 1] : !groups"
    )


def _fields(name: str, pointers: list[str], has_weights: bool, counts: list[int]) -> str:
    """What fills the struct: pointers, that to the weights where there are some, and numbers."""
    symbols = [f"{name}_{each}" if each in ("texts", "groups") else f"{name}_{each}_table" for each in pointers]
    if has_weights:
        symbols.append(f"{name}_weights")
    lines, before = list[str](), "%none"
    for i, symbol in enumerate(symbols):
        lines += [
            f"%pointer{i} = llvm.mlir.addressof @{symbol} : !p",
            f"%field{i} = llvm.insertvalue %pointer{i}, {before}[{i}] : !model",
        ]
        before = f"%field{i}"
    for i, count in enumerate(counts, len(pointers) + 1):
        lines += [
            f"%number{i} = llvm.mlir.constant({count} : i64) : i64",
            f"%field{i} = llvm.insertvalue %number{i}, {before}[{i}] : !model",
        ]
        before = f"%field{i}"
    return "\n    ".join(lines)
