"""The library from CuPy: python with_cupy.py kernels.so, which was built for cuda."""

import os
import sys

import cupy as cp
import tvm_ffi

kernels = tvm_ffi.load_module(os.path.abspath(sys.argv[1]))

stream = cp.cuda.Stream(non_blocking=True)
with stream, tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), stream.ptr):
    for dtype in ("float32", "float16", "int32"):
        a, b = cp.arange(1000).astype(dtype), cp.ones(1000, dtype)
        c = cp.empty_like(a)
        kernels.add(a, b, c)
        assert (c == a + b).all()
print("right")
