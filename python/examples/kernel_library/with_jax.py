"""The library from JAX, as part of compiled functions: python with_jax.py kernels.so

It runs on the GPU if the library was built for one. Needs jax and jax-tvm-ffi.
"""

import os
import sys

import jax
import jax.numpy as jnp
import jax_tvm_ffi
import numpy as np
import tvm_ffi

kernels = tvm_ffi.load_module(os.path.abspath(sys.argv[1]))
platform = "gpu" if hasattr(kernels, "add_load") else "cpu"

# XLA allocates the results, which come after the arguments.
for name in ("add", "softmax"):
    jax_tvm_ffi.register_ffi_target(f"kernels.{name}", getattr(kernels, name), ["args", "rets"], platform=platform)


def add(a: jax.Array, b: jax.Array) -> jax.Array:
    return jax.ffi.ffi_call("kernels.add", jax.ShapeDtypeStruct(a.shape, a.dtype))(a, b)


@jax.jit
def normalized(x: jax.Array) -> jax.Array:
    doubled = add(x.reshape(-1), x.reshape(-1)).reshape(x.shape)
    return jax.ffi.ffi_call("kernels.softmax", jax.ShapeDtypeStruct(x.shape, x.dtype))(doubled)


with jax.default_device(jax.devices(platform)[0]):
    for dtype in ("float32", "float16", "int32"):
        a, b = jnp.arange(1000).astype(dtype), jnp.ones(1000, dtype)
        np.testing.assert_array_equal(add(a, b), a + b)

    x = jax.random.normal(jax.random.key(0), (64, 1000))
    np.testing.assert_allclose(normalized(x), jax.nn.softmax(2 * x), rtol=1e-4)
print("right")
