"""Built functions as libraries that need nothing of this project: object files, shared libraries, C headers.

A library holds the functions of tvm-ffi's ABI with their checks, the kernels' machine code for one or several
architectures, and a small run time. It needs libtvm_ffi, and libcuda once a function of target cuda is called.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlir import ir

from ..errors import TilewrightError
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..ir.passes import run_passes
from ..messages.printable import in_c_comment
from ..messages.progress import progress
from ..native.callable import CallableBase
from ..storage.private_files import checked_path, write_result
from .linking import find_compiler, find_linker, link_library

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ..compiler import Dispatch, Function
    from ..runtime import Argument

__all__ = [
    "PORTABLE", "export_header", "export_library", "export_object", "find_compiler", "object_code", "object_of",
    "processors_of",
]  # fmt: skip

_LEVELS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
"""The levels of the x86-64 psABI. A library may hold code for several."""

PORTABLE = "x86-64-v2"
"""What code for target cpu is made for if nothing is said: any processor of the last fifteen years."""


def object_code(module: ir.Module, mcpu: Sequence[str], level: int) -> bytes:
    """The object file of a module: for the first of `mcpu`, with versions for the others."""
    versions = f"multiversion-host-functions{{levels={','.join(mcpu[1:])}}}," if mcpu[1:] else ""
    emit = f"emit-host-object{{mcpu={mcpu[0]} opt-level={level}}}"
    run_passes(module, f"builtin.module({versions}{emit})", "emitting the object file of host functions", "host")
    with module.context:
        return ir.StringAttr(module.operation.attributes["tilewright.object"]).value_bytes


def _checked(functions: Function | Dispatch | Sequence[Function | Dispatch]) -> list[Function | Dispatch]:
    """What is exported, in order; before a function that chooses between others stand those."""
    if not isinstance(functions, (CallableBase, Iterable)):
        raise TypeError(f"expected functions that tw.build has made, got {type(functions).__name__}")
    given = [functions] if isinstance(functions, CallableBase) else list(functions)
    if not given:
        raise ValueError("expected one function or more to export, got none")
    found: list[Function | Dispatch] = []
    for function in given:
        parts = (*function.functions, function) if _is_dispatch(function) else (function,)
        # One that several choose is there once; what the user names twice is a mistake.
        found += [part for part in parts if part is function or not any(part is known for known in (*found, *given))]
    names: set[str] = set()
    for function in found:
        if _is_dispatch(function):
            if function.name in names:
                raise ValueError(_twice(function.name))
            names.add(function.name)
            continue
        if not isinstance(function, CallableBase):
            raise TypeError(f"expected functions that tw.build has made, got {type(function).__name__}")
        if function.target.kind == "sim":
            raise TilewrightError(
                f"{function.name} is built for target sim, which runs in this process alone: build it for cuda or cpu"
            )
        if function.entry_name in names:
            raise ValueError(_twice(function.entry_name))
        names.add(function.entry_name)
    return found


def _is_dispatch(function: object) -> TypeIs[Dispatch]:
    """Whether it is what `tw.dispatch` has made; its class is in a package that imports this module."""
    return isinstance(function, CallableBase) and hasattr(function, "functions")


def _twice(name: str) -> str:
    return f"expected functions of different names in one library, got two called {name!r}: tw.build takes a name"


def processors_of(mcpu: str | Sequence[str] | None) -> list[str] | None:
    """The processors that `mcpu=` says, checked, the lowest level first."""
    if mcpu is None:
        return None
    names = [mcpu] if isinstance(mcpu, str) else list(mcpu)
    for name in names:
        if not isinstance(name, str) or not re.fullmatch(r"[\w.+-]*", name):
            raise ValueError(f"expected LLVM's name of a processor, or 'native', as mcpu, got {name!r}")
    if len(names) == 1:
        return names
    if not names or len(set(names)) < len(names) or not set(names) <= set(_LEVELS):
        raise ValueError(f"expected one processor, or different levels of {', '.join(_LEVELS)}, as mcpu, got {mcpu!r}")
    return sorted(names, key=_LEVELS.index)


def export_object(
    function: Function,
    path: str | os.PathLike[str],
    *,
    mcpu: str | Sequence[str] | None = None,
    architectures: Sequence[str] = (),
) -> None:
    """Writes a function as an object file: `__tvm_ffi_<name>` and what belongs to it.

    It is linked with `libtilewright_host.a`, the run time that stands in this package beside the library
    (`tilewright/_lib`), and with libtvm_ffi.

    Parameters
    ----------
    function
        What `tw.build` has made, for target cuda or cpu.
    path
        Where the file goes.
    mcpu
        The processor that the code is made for: LLVM's name of one ("x86-64-v3"), or "native" for this machine's. By
        default that is "x86-64-v2" for target cpu, and any x86-64 for target cuda, whose host code is short. Several
        levels, `("x86-64-v2", "x86-64-v3", "x86-64-v4")`, become versions of each function of target cpu; a call runs
        the highest that the processor has.
    architectures
        GPUs that kernels are compiled for beside the function's own target: `("sm_80", "sm_90a")`.

    Raises
    ------
    ValueError
        For an `mcpu` that is no processor.
    TypeError
        Where the function chooses between several, as `tw.dispatch` makes it.
    TilewrightError
        Where the function is built for target sim.

    >>> export_object(mmult, "mmult.o")                     # doctest: +SKIP
    """
    if _is_dispatch(function):
        names = ", ".join(part.name for part in function.functions)
        raise TypeError(
            f"expected one function that tw.build has made, got {function.name}, which chooses between {names}: "
            "export_library takes it"
        )
    (checked,) = _checked(function)
    write_result(checked_path(path), object_of(checked, processors_of(mcpu), architectures), 0o666)


def object_of(function: Function | Dispatch, mcpu: list[str] | None, architectures: Sequence[str]) -> bytes:
    from ..ir import context

    if _is_dispatch(function):
        with context():
            return object_code(ir.Module.parse(function.module_text(export=True)), (mcpu or [""])[:1], 2)
    on_cpu = function.target.kind == "cpu"
    if mcpu is None:
        mcpu = [PORTABLE if on_cpu else ""]
    host = function.host_program(architectures)
    # What surrounds kernels is too short to have versions.
    return object_code(host.ffi_module(export=True), mcpu if on_cpu else mcpu[:1], 3 if on_cpu else 2)


def export_library(
    functions: Function | Dispatch | Sequence[Function | Dispatch],
    path: str | os.PathLike[str],
    *,
    mcpu: str | Sequence[str] | None = None,
    architectures: Sequence[str] = (),
    header: bool = False,
    linker: str | None = None,
) -> None:
    """Writes functions as one shared library, which `tvm_ffi.load_module` loads in a process without this package.

    Parameters
    ----------
    functions
        What `tw.build` has made, for targets cuda and cpu, with different names; and what `tw.dispatch` has made of
        such: the library then holds those under their own names, too.
    path
        Where the library goes.
    mcpu, architectures
        As `export_object` takes them.
    header
        Writes a C header beside it, of the same name with `.h`.
    linker
        The compiler that links, as a command: by default that of the environment's `CC`, or cc, gcc or clang.

    Raises
    ------
    TypeError, ValueError
        For what `tw.build` has not made, two functions of one name, and an `mcpu` that is no processor.
    TilewrightError
        Where there is no compiler to link with, or it fails; where a function is built for target sim; where the
        library cannot be written.

    >>> export_library([mmult, softmax], "kernels.so")      # doctest: +SKIP
    >>> tvm_ffi.load_module("./kernels.so").mmult(a, b, c)  # doctest: +SKIP
    """
    path = checked_path(path)
    checked, processors = _checked(functions), processors_of(mcpu)
    command = find_linker(linker)
    with tempfile.TemporaryDirectory() as folder, progress(f"exporting {path.name}") as line:
        objects: list[Path] = []
        has_kernels = any(not _is_on_cpu(function) for function in checked)
        for number, function in enumerate(checked):
            line.show(number, len(checked), "functions", function.entry_name)
            objects.append(Path(folder) / f"{function.entry_name}.o")
            # Beside functions with kernels those of target cpu have none; alone they refuse them.
            takes_none = has_kernels and _is_on_cpu(function)
            objects[-1].write_bytes(object_of(function, processors, () if takes_none else architectures))
        line.show(len(checked), len(checked), "functions", "linking")
        link_library(command, objects, path, Path(folder))
    if header:
        export_header(checked, path.with_suffix(".h"))


_C_NAME = re.compile(r"\W")
# Of C and of C++, for a header is for both.
_C_KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl const
    const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern false
    float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register reinterpret_cast restrict return short signed sizeof static static_assert static_cast
    struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void
    volatile wchar_t while xor xor_eq""".split()
)

# What the functions of a header call something of their own.
_C_LOCALS = frozenset(("args", "result", "tuples"))


def _parameter(argument: Argument) -> str:
    name = _C_NAME.sub("_", argument.name)
    return f"arg_{name}" if not name or name[0].isdigit() or name in _C_KEYWORDS | _C_LOCALS else name


def _declared(argument: Argument, name: str) -> str:
    """The parameter of a C function for an argument. C has no narrow floats of its own."""
    if argument.is_pointer:
        return f"{'' if argument.output else 'const '}void *{name}"
    if not argument.is_number:
        return f"DLTensor *{name}"
    kind = argument.dtype
    if kind == "bool":
        return f"bool {name}"
    if "float" in kind:
        return f"{'double' if kind == 'float64' else 'float'} {name}"
    # What is beyond 63 bits has no place in a value of tvm-ffi's.
    return f"int64_t {name}" if kind == "uint64" else f"{kind}_t {name}"


def _field(argument: Argument, name: str) -> tuple[str, str]:
    """The type of a value of tvm-ffi's that an argument is, and the field that has it."""
    if argument.is_pointer:
        return "kTVMFFIOpaquePtr", "v_ptr"
    if not argument.is_number:
        kind = "kTVMFFIDLTensorPtr"
        return (f"{name} ? {kind} : kTVMFFINone" if argument.optional else kind), "v_ptr"
    if argument.dtype == "bool":
        return "kTVMFFIBool", "v_int64"
    return ("kTVMFFIFloat", "v_float64") if "float" in argument.dtype else ("kTVMFFIInt", "v_int64")


def _told(function: Function | Dispatch) -> str:
    """What a function takes, in a comment of C's."""
    if _is_dispatch(function):
        parts = "".join(f"\n *   {part.signature}" for part in function.functions)
        return f"{function}: calls the first of these that takes the dtypes and extents:{parts}"
    if function.is_managed:
        where = "the cpu; copied to a GPU and back, on the stream of TVMFFIEnvSetStream, and waited for"
    else:
        where = "one GPU, on the stream of TVMFFIEnvSetStream" if function.target.kind == "cuda" else "the cpu"
    strided = any(argument.strides is not None for argument in function.signature.arguments)
    return f"{function.signature}: row-major{' where no strides are said' * strided}, on {where}"


def _is_on_cpu(function: Function | Dispatch) -> bool:
    """Whether it has no kernels for GPUs, nor chooses functions that have some."""
    parts = function.functions if _is_dispatch(function) else (function,)
    return all(part.target.kind == "cpu" for part in parts)


def export_header(functions: Function | Dispatch | Sequence[Function | Dispatch], path: str | os.PathLike[str]) -> None:
    """Writes a C header for exported functions to the file `path`.

    For each function it declares the one of tvm-ffi's ABI, and one with typed parameters. An array is a `DLTensor *`,
    and NULL stands for none. A number is a number. Elements of tuples and shapes are parameters of their own. C has no
    defaults: it gives everything. C++ takes it too. It includes tvm-ffi's own header, and nothing of this project.

    Raises ValueError where a function has a name that means something else to C or C++, and what `export_library`
    raises.

    >>> export_header([mmult], "mmult.h")                   # doctest: +SKIP
    """
    checked = _checked(functions)
    for function in checked:
        if function.entry_name in _C_KEYWORDS:
            raise ValueError(f"expected functions with names that C and C++ can have, got {function.entry_name!r}")
    guard = _C_NAME.sub("_", checked_path(path).name).upper()
    lines = [
        f"#ifndef {guard}", f"#define {guard}", "", "#include <stdbool.h>", "#include <stdint.h>",
        "#include <string.h>", "",
        "#include <tvm/ffi/c_api.h>", "",
        "/* Each function returns 0, or -1 with the error in the thread's TVMFFIErrorMoveFromRaised. */", "",
        "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
    ]  # fmt: skip
    for function in checked:
        lines += _function_lines(function)
    lines += ["#ifdef __cplusplus", "}", "#endif", "", f"#endif /* {guard} */", ""]
    write_result(checked_path(path), "\n".join(lines).encode(), 0o666)


def _function_lines(function: Function | Dispatch) -> list[str]:
    """The declaration of a function of tvm-ffi's ABI, and the one that calls it."""
    from ..runtime.arguments import Group, by_level

    name, arguments = function.entry_name, function.signature.arguments
    names = [_parameter(argument) for argument in arguments]
    if len(set(names)) != len(names):
        names = [f"{parameter}_{i}" for i, parameter in enumerate(names)]
    parameters = ", ".join(_declared(argument, name) for argument, name in zip(arguments, names)) or "void"
    outputs = [parameter for parameter, argument in zip(names, arguments) if argument.output]
    rows, known = by_level(function.signature.parameters), {id(each): name for each, name in zip(arguments, names)}
    groups = [one for _, one, _ in rows if isinstance(one, Group)]
    told = "\n".join(map(in_c_comment, _told(function).split("\n")))
    lines = [
        f"/* {told}; writes {', '.join(outputs) or 'nothing'}. */",
        f"int __tvm_ffi_{name}(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);",
        f"static inline int {name}({parameters}) {{",
        f"  TVMFFIAny args[{max(len(rows), 1)}], result;",
    ]
    if groups:
        lines += [
            f"  struct {{ TVMFFIObject header; TVMFFISeqCell cell; }} tuples[{len(groups)}];",
            "  memset(tuples, 0, sizeof(tuples));",
        ]
    lines += [
        "  result.type_index = kTVMFFINone;",
        "  result.zero_padding = 0;",
        "  result.v_int64 = 0;",
    ]
    opened = 0
    for i, (_, one, first) in enumerate(rows):
        if isinstance(one, Group):
            lines += [
                f"  tuples[{opened}].header.combined_ref_count = 1;",
                f"  tuples[{opened}].header.type_index = kTVMFFIArray;",
                f"  tuples[{opened}].cell.data = &args[{first}];",
                f"  tuples[{opened}].cell.size = tuples[{opened}].cell.capacity = {len(one.elements)};",
            ]
            kind, field, value = "kTVMFFIArray", "v_obj", f"(TVMFFIObject *)&tuples[{opened}]"
            opened += 1
        else:
            (kind, field), value = _field(one, known[id(one)]), known[id(one)]
            if one.is_pointer:
                value = f"(void *){value}"
        lines += [
            f"  args[{i}].type_index = {kind};",
            f"  args[{i}].zero_padding = 0;",
            f"  args[{i}].{field} = {value};",
        ]
    count = len(function.signature.parameters)
    return [*lines, f"  return __tvm_ffi_{name}(NULL, args, {count}, &result);", "}", ""]
