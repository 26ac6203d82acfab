"""What scripts begin with that run beside a driver that is not there: arrays that say that they are on the GPU."""

# tvm_ffi imports torch where it is installed, which takes two seconds.
WITHOUT_TORCH = 'import sys; sys.modules["torch"] = None\n'

ON_GPU = """
import ctypes, sys
import numpy as np
import tvm_ffi

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("dtype", ctypes.c_uint8 * 4), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]

class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

TYPES = {
    "float32": (2, 32), "float16": (2, 16), "bfloat16": (4, 16), "float8_e4m3fn": (10, 8), "int8": (0, 8),
    "int32": (0, 32), "int64": (0, 64),
}
new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
keep = []

class OnGPU:
    def __init__(self, array):
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        kind = TYPES[array.dtype.name]
        tensor = Tensor(array.ctypes.data, (2, 0), array.ndim, (*kind, 1, 0), ctypes.addressof(shape), None, 0)
        self.managed = Managed(tensor, None, None)
        keep.append((self, shape, array))
    def __dlpack_device__(self):
        return 2, 0
    def __dlpack__(self, **options):
        return new(ctypes.addressof(self.managed), b"dltensor", None)

"""
