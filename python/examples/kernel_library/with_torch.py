"""The library from torch: python with_torch.py kernels.so, on the GPU if it was built for one."""

import os
import sys

import torch
import tvm_ffi

kernels = tvm_ffi.load_module(os.path.abspath(sys.argv[1]))
on_gpu = hasattr(kernels, "add_load")
device = "cuda" if on_gpu else "cpu"
if on_gpu:
    kernels.add_load(0)  # eagerly: otherwise at the first call on each GPU

for dtype in (torch.float32, torch.float16, torch.int32):
    a, b = (torch.arange(1000, device=device).to(dtype) for _ in range(2))
    c = torch.empty_like(a)
    kernels.add(a, b, c)  # on torch's current stream
    assert torch.equal(c, a + b)

x = torch.randn(64, 1000, device=device)
y = torch.from_dlpack(kernels.softmax(x))  # given its inputs alone, a function allocates the outputs, as torch does
torch.testing.assert_close(y, torch.softmax(x, dim=1))
print("right")
