"""The choice between several functions in the LLVM dialect: what `convert-host-to-ffi` makes of one, of several.

It has the constants that the run time chooses by (runtime/host/Dispatch.cpp) and the functions of tvm-ffi's ABI. What
they refer to, the functions' signatures and calls, is in other modules, to be linked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .llvm_text import text_constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runtime import Argument, Group
    from .function import Function

__all__ = ["module_text"]

_SAFE_CALL = "(%handle: !p, %args: !p, %count: i32, %result: !p) -> i32"
_MODULE = """\
!p = !llvm.ptr
!table = !llvm.array<{count} x struct<(ptr, ptr)>>
!described = !llvm.struct<(ptr, ptr, i32)>
module {{
  llvm.func @tilewrightHostDispatch(!p, !p, !p, i32, !p) -> i32
  llvm.func @tilewrightHostReturnText(!p, i64, !p) -> i32
  {declarations}
  llvm.mlir.global internal constant @{name}_name({name_text})
  llvm.mlir.global internal constant @{name}_variants() : !table {{
    %row0 = llvm.mlir.undef : !table
    {rows}
    llvm.return %row{count} : !table
  }}
  llvm.mlir.global internal constant @{name}_dispatch() : !described {{
    %none = llvm.mlir.undef : !described
    %name = llvm.mlir.addressof @{name}_name : !p
    %variants = llvm.mlir.addressof @{name}_variants : !p
    %count = llvm.mlir.constant({count} : i32) : i32
    %0 = llvm.insertvalue %name, %none[0] : !described
    %1 = llvm.insertvalue %variants, %0[1] : !described
    %2 = llvm.insertvalue %count, %1[2] : !described
    llvm.return %2 : !described
  }}
  llvm.func {linkage}@{name}_call(%stream: !p, %args: !p, %count: i32) -> i32 {{
    %choice = llvm.mlir.addressof @{name}_dispatch : !p
    %none = llvm.mlir.zero : !p
    %status = llvm.call @tilewrightHostDispatch(%choice, %stream, %args, %count, %none) : (!p, !p, !p, i32, !p) -> i32
    llvm.return %status : i32
  }}
  llvm.func @__tvm_ffi_{name}{safe_call} {{
    %choice = llvm.mlir.addressof @{name}_dispatch : !p
    %zero = llvm.mlir.constant(0 : i64) : i64
    %second = llvm.getelementptr %result[1] : (!p) -> !p, i64
    llvm.store %zero, %result : i64, !p
    llvm.store %zero, %second : i64, !p
    %none = llvm.mlir.zero : !p
    %status = llvm.call @tilewrightHostDispatch(%choice, %none, %args, %count, %result) : (!p, !p, !p, i32, !p) -> i32
    llvm.return %status : i32
  }}
  {functions}
}}
"""
_FUNCTION = """
  llvm.mlir.global external constant @{each}_signature() : i8
  llvm.func @{each}_call(!p, !p, i32) -> i32"""
_ROW = """
    %signature{i} = llvm.mlir.addressof @{each}_signature : !p
    %half{i} = llvm.insertvalue %signature{i}, %row{i}[{i}, 0] : !table
    %call{i} = llvm.mlir.addressof @{each}_call : !p
    %row{next} = llvm.insertvalue %call{i}, %half{i}[{i}, 1] : !table"""
_DOCUMENT = """
  llvm.mlir.global internal constant @{name}_{what}({text})
  llvm.func @__tvm_ffi__{what}_{name}{safe_call} {{
    %text = llvm.mlir.addressof @{name}_{what} : !p
    %length = llvm.mlir.constant({length} : i64) : i64
    %status = llvm.call @tilewrightHostReturnText(%text, %length, %result) : (!p, i64, !p) -> i32
    llvm.return %status : i32
  }}"""
_LOAD = """
  {declarations}
  llvm.func @__tvm_ffi_{name}_load{safe_call} {{
    %zero = llvm.mlir.constant(0 : i32) : i32
    {steps}
    llvm.return %zero : i32
  ^failed(%status: i32):
    llvm.return %status : i32
  }}"""
_LOAD_ONE = """
    %status{i} = llvm.call @__tvm_ffi_{each}_load(%handle, %args, %count, %result) : (!p, !p, i32, !p) -> i32
    %loaded{i} = llvm.icmp "eq" %status{i}, %zero : i32
    llvm.cond_br %loaded{i}, ^next{i}, ^failed(%status{i} : i32)
  ^next{i}:"""


def module_text(name: str, functions: Sequence[Function], *, export: bool) -> str:
    """The module. With `export` it is one of an exported library, where functions of target cuda have others that load
    their kernels: so has this one then."""
    names = [function.entry_name for function in functions]
    made = [
        _DOCUMENT.format(
            name=name, what=what, text=text_constant(text), length=len(text.encode()), safe_call=_SAFE_CALL
        )
        for what, text in (("metadata", _metadata(name, functions)), ("doc", _documentation(name, functions)))
    ]
    on_gpu = [function.entry_name for function in functions if function.target.kind == "cuda"]
    if export and on_gpu:
        declared = "".join(f"\n  llvm.func @__tvm_ffi_{each}_load(!p, !p, i32, !p) -> i32" for each in on_gpu)
        steps = "".join(_LOAD_ONE.format(i=i, each=each) for i, each in enumerate(on_gpu))
        made.append(_LOAD.format(name=name, declarations=declared, steps=steps, safe_call=_SAFE_CALL))
    return _MODULE.format(
        name=name,
        name_text=text_constant(name),
        count=len(names),
        declarations="".join(_FUNCTION.format(each=each) for each in names),
        rows="".join(_ROW.format(i=i, next=i + 1, each=each) for i, each in enumerate(names)),
        # In this process it is called by its address; a library shows tvm-ffi's functions alone.
        linkage="internal " if export else "",
        functions="".join(made),
        safe_call=_SAFE_CALL,
    )


def _short(name: str, functions: Sequence[Function]) -> str:
    return f"{name}({', '.join(parameter.name for parameter in functions[0].signature.parameters)})"


def _type_of(argument: Argument | Group) -> dict[str, object]:
    """What an argument is in tvm-ffi's schema."""
    from ..runtime import Group

    if isinstance(argument, Group):
        elements = [_type_of(element) for element in argument.elements]
        return {"type": "ffi.Shape"} if argument.is_shape else {"type": "Tuple", "args": elements}
    if argument.is_pointer:
        return {"type": "void*"}
    if not argument.is_number:
        tensor: dict[str, object] = {"type": "DLTensor*"}
        return {"type": "Optional", "args": [tensor]} if argument.optional else tensor
    return {"type": "bool" if argument.dtype == "bool" else "float" if "float" in argument.dtype else "int"}


def _metadata(name: str, functions: Sequence[Function]) -> str:
    types = [_type_of(parameter) for parameter in functions[0].signature.parameters]
    # tvm-ffi's schema is JSON in a string.
    schema = json.dumps({"type": "ffi.Function", "args": [{"type": "None"}, *types]})
    signatures = [str(function.signature) for function in functions]
    described = {"type_schema": schema, "name": name, "signature": _short(name, functions), "functions": signatures}
    return json.dumps(described)


def _documentation(name: str, functions: Sequence[Function]) -> str:
    listed = "".join(f"- {function.signature}\n" for function in functions)
    return f"{_short(name, functions)}\n\nCalls the first of these that takes the arguments:\n\n{listed}"
