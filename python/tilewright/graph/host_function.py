"""A compiled model as one host function of this process: the function that `Model.export` writes."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from mlir import ir
from mlir.passmanager import PassManager

from ..dtypes import DLPACK_CODES
from ..ir import context
from ..ir.running import run_manager
from ..native.jit import Engine, lookup
from ..native.library import library
from ..runtime.dlpack import CPU, CUDA, DLTensor
from ..runtime.ffi import TYPE_DLTENSOR, Any_, libtvm_ffi, raise_error, run_time_symbols
from ..runtime.libraries import find_library
from ..runtime.stream import current_stream
from .export_tables import ModelTables
from .library_calls import problem_of_model

if TYPE_CHECKING:
    from ..runtime.device import Device
    from ..runtime.ndarray import NDArray
    from .model import Model

__all__ = ["Allocator", "HostFunction", "Made"]

Allocator = Callable[[int, tuple[int, ...]], Any]
Made = tuple[list[Any], dict[str, int]]

_NAME = "model"
_Allocate = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(DLTensor))


class _Outputs(ctypes.Structure):
    """TilewrightOutputs of runtime/host/Model.h."""

    _fields_ = (("allocate", _Allocate), ("context", ctypes.c_void_p), ("numbers", ctypes.POINTER(ctypes.c_int64)))


class HostFunction:
    """Runs all groups of a model in one call. The arena is allocated by the call.

    `placed` are the weights and constants by their values in the IR, in the memory of the target. Calls may be made
    from many threads.
    """

    def __init__(self, model: Model, placed: Mapping[ir.Value, Any]) -> None:
        on_gpu = model.target.kind == "cuda"
        # The groups' machine code, and the weights, live as long as the function does.
        self._programs = [group.function.host_program() for group in model.groups]
        self._placed = dict(placed)
        addresses = {value: address_of(array) for value, array in placed.items()}
        symbols = dict(run_time_symbols())
        for program in self._programs:
            symbols[f"{program.name}_call"] = program.entry
            if on_gpu:
                symbols[f"__tvm_ffi_{program.name}_load"] = lookup(program.engine, f"__tvm_ffi_{program.name}_load")
        with context():
            tables = ModelTables(model, _NAME, addresses)
            module = ir.Module.parse(tables.module_text())
            # The groups of target sim launch on the simulator themselves.
            options = f"target={'cuda' if on_gpu else 'cpu'} model=true"
            run_manager(PassManager.parse(f"builtin.module(convert-host-to-ffi{{{options}}})"), module.operation)
            self._engine = Engine(module, 0, symbols)
        self._entry = lookup(self._engine, f"__tvm_ffi_{_NAME}")
        described = [f"{_NAME}_model", f"{_NAME}_signature", *([f"{_NAME}_program"] if on_gpu else [])]
        self._described = [lookup(self._engine, each) for each in described] + [0] * (not on_gpu)
        self._output_count = len(model.outputs)
        self._number_count, self._count_rows = tables.number_count, tables.count_rows
        if on_gpu:
            weakref.finalize(self, _close, lookup(self._engine, f"{_NAME}_model"), self._engine).atexit = False
        calls = [group.library for group in model.groups if group.library]
        for name in {call.library for call in calls}:
            find_library(name)  # also in the folders that Python knows
        for number, call in enumerate(calls):
            call.asks(partial(_problem_of, weakref.ref(self), number))

    def problem_of(self, call: int) -> str:
        """Why the library's call of that number ran the group's own kernel; "" where none did."""
        return problem_of_model(self._described[0], call)

    def to_tvm_ffi(self) -> Any:
        """The function as tvm-ffi calls it, with inputs alone. It keeps this one alive."""
        import tvm_ffi

        return tvm_ffi.Function.__from_extern_c__(self._entry, keep_alive_object=self)

    def on_host(self, arrays: Sequence[np.ndarray], allocate: Allocator) -> Made:
        """Runs the model in the processor's memory.

        Parameters
        ----------
        arrays
            The inputs.
        allocate
            Makes an output, by its number among the outputs and its shape.

        Returns
        -------
        tuple
            The outputs, and what the numbers are that data decide, by symbol.
        """
        return self._run(arrays, CPU, 0, allocate)

    def on_gpu(self, arrays: Sequence[NDArray], device: Device, allocate: Allocator) -> Made:
        """The same on the GPU that the arrays are on, and its current stream."""
        stream = current_stream(device)
        set_stream = libtvm_ffi().TVMFFIEnvSetStream
        before = ctypes.c_void_p()
        where = ctypes.c_int32(CUDA), ctypes.c_int32(device.index)
        if set_stream(*where, ctypes.c_void_p(stream.handle), ctypes.byref(before)):
            raise_error()
        try:
            outputs, numbers = self._run(arrays, CUDA, device.index, allocate)
        finally:
            set_stream(*where, before, None)
        for array in (*arrays, *outputs):
            array.used_on(stream)
        return outputs, numbers

    def _run(self, arrays: Sequence[Any], kind: int, index: int, allocate: Allocator) -> Made:
        count, outputs, failures = len(arrays), [None] * self._output_count, list[BaseException]()
        arguments, tensors, shapes = (Any_ * count)(), (DLTensor * count)(), list[Any]()
        begin = ctypes.addressof(tensors)
        for i, array in enumerate(arrays):
            shape = array.shape
            extents = (ctypes.c_int64 * len(shape))(*shape)
            shapes.append(extents)
            code, bits = DLPACK_CODES[array.dtype.name]
            tensors[i] = (address_of(array), kind, index, len(shape), code, bits, 1, extents, None, 0)
            arguments[i] = (TYPE_DLTENSOR, 0, begin + i * ctypes.sizeof(DLTensor))

        def made(_context: Any, argument: int, found: Any) -> int:
            try:
                tensor = found.contents
                output = allocate(argument - count, tuple(tensor.shape[: tensor.ndim]))
                tensor.data, outputs[argument - count] = address_of(output), output
            except BaseException as error:  # which a C function cannot pass on
                failures.append(error)
                return -1
            return 0

        numbers = (ctypes.c_int64 * self._number_count)()
        given = _Outputs(_Allocate(made), None, numbers)
        failed = library().tilewrightHostCallModelInto(
            *map(ctypes.c_void_p, self._described), arguments, count, ctypes.byref(given)
        )
        if failures:
            raise failures[0]
        if failed:
            raise_error()
        return outputs, {name: numbers[row] for name, row in self._count_rows.items()}


def _problem_of(function: weakref.ref[HostFunction], call: int) -> str:
    found = function()
    return "" if found is None else found.problem_of(call)


def _close(model: int, engine: Engine) -> None:
    close = library().tilewrightHostCloseModel
    close.argtypes, close.restype = (ctypes.c_void_p,), None
    close(model)
    del engine


def address_of(array: np.ndarray | NDArray) -> int:
    """Where the elements of an array begin."""
    return array.ctypes.data if isinstance(array, np.ndarray) else array.address
