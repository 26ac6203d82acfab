"""torch's own conversion in place of its exchange API: only where it gives the same, and what it throws is caught.

The library and the tensors here are stand-ins that lie as torch's do: a symbol of C++ in libtorch_cpu.so, and objects
whose tensor stands behind their header.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = r"""
#include <cstring>
#include <stdexcept>
struct DLTensor { char bytes[48]; };
extern "C" { int conversions, offset_of_bytes, wrong, negative; }
namespace at {
struct Tensor { char *bytes; };
void toDLPackNonOwning(const Tensor &tensor, DLTensor *result) {
  ++conversions;
  std::memcpy(result, tensor.bytes + offset_of_bytes, sizeof(DLTensor));
  if (result->bytes[16] == 99) // of rank 99
    throw std::runtime_error("no memory");
  result->bytes[0] += wrong;
}
namespace native {
bool is_neg(const Tensor &) { return negative; }
}
}
"""
SCRIPT = r"""
import ctypes, sys
import numpy as np
import tilewright as tw
from tilewright import te
from tilewright.runtime.dlpack import DLTensor

torch = ctypes.CDLL(sys.argv[1])
ctypes.c_int.in_dll(torch, "offset_of_bytes").value = bytes.__basicsize__ - 1
conversions, wrong, negative = (ctypes.c_int.in_dll(torch, name) for name in ("conversions", "wrong", "negative"))
SHAPE, STRIDES = (ctypes.c_int64 * 1)(8), (ctypes.c_int64 * 1)(1)

@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
def read(tensor, out):
    if tensor.failing:
        return -1
    reads.append(tensor)
    ctypes.memmove(out, tensor.described, 48)
    return 0

reads = []
API = (ctypes.c_void_p * 7)(1 | 3 << 32, None, None, None, None, ctypes.cast(read, ctypes.c_void_p).value, None)
new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)

def tensor_type():
    class Tensor:
        __slots__ = ("described", "array", "failing", "place")
        __dlpack_c_exchange_api__ = new(ctypes.addressof(API), b"dlpack_exchange_api", None)

        def __init__(self, array, rank=1):
            tensor = DLTensor(array.ctypes.data, 1, 0, rank, 2, 32, 1, SHAPE, STRIDES, 0)
            self.described, self.array, self.failing, self.place = bytes(tensor), array, False, None

        @property
        def _cdata(self):
            return id(self.described if self.place is None else self.place)

    return Tensor

a = te.placeholder((8,), name="A")
b = te.compute((8,), lambda i: a[i] * 2, name="B")
double = tw.build(te.create_schedule(b.op), [a, b], "cpu", name="double")

def call(kind):
    # How often the API and the conversion are asked by a call of two tensors.
    x, y = kind(np.arange(8, dtype="float32")), kind(np.zeros(8, "float32"))
    conversions.value = 0
    reads.clear()
    double(x, y)
    assert (y.array == 2 * x.array).all()
    return len(reads), conversions.value

def refused(kind, rank=99):
    # Of a tensor without memory torch's conversion throws, and its API fails.
    good, bad = (kind(np.zeros(8, "float32"), rank) for rank in (1, rank))
    bad.failing = rank == 99
    try:
        double(bad, good)
    except TypeError as error:
        return str(error)
"""
TEXT = (
    "double(A: float32[8], B: float32[8]): argument 0 (A): expected an array (NumPy, DLPack or "
    "__cuda_array_interface__), got Tensor"
)
CASES = {
    # A type's first tensor is read by both, to compare.
    "it gives the same": ("kind = tensor_type(); print(call(kind), call(kind))", "(1, 3) (0, 2)"),
    "it gives something else": (
        "wrong.value = 4; kind = tensor_type(); print(call(kind), call(kind))",
        "(3, 1) (2, 0)",
    ),
    "the tensor is elsewhere": (
        "kind = tensor_type(); kind._cdata = property(lambda tensor: 8 + id(tensor)); print(call(kind), call(kind))",
        "(2, 0) (2, 0)",
    ),
    "it throws": ("kind = tensor_type(); call(kind); print(refused(kind)); print(call(kind))", f"{TEXT}\n(0, 2)"),
    "torch negates it": ("kind = tensor_type(); call(kind); negative.value = 1; print(refused(kind, 1))", TEXT),
    "the first tensor has no memory": (
        "kind = tensor_type(); print(refused(kind)); print(call(kind), call(kind))",
        f"{TEXT}\n(1, 3) (0, 2)",
    ),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    folder = tmp_path_factory.mktemp("torch")
    (folder / "torch.cpp").write_text(LIBRARY)
    made = folder / "libtorch_cpu.so"
    command = (compiler, "-shared", "-fPIC", f"-Wl,-soname,{made.name}", "-o", made, folder / "torch.cpp")
    subprocess.run(command, check=True)
    return made


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", CASES)
def test_the_conversion_is_used_where(library: Path, case: str) -> None:
    script, expected = CASES[case]
    command = [sys.executable, "-c", SCRIPT + script, library]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == expected
