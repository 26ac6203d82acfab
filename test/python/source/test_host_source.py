"""Printed host programs compile against the driver's header, and do what the functions do: the same launches, the same
results, with a driver that is this machine's memory and kernels that are the printed ones."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from source.host_programs import compile_host
from source.kernels import PROGRAMS, Program
from source.on_cpu import arrays_for, for_cpu
from source.tensors import Tensor, aligned, tensor_of, with_entry
from tilewright import te

TARGET = tw.Target("cuda", arch="sm_90a")


def chain() -> Program:
    """Three kernels with temporaries between them, of which the first and the last can share memory."""
    n = te.var("n", divisible_by=8, min=16, max=4096)
    A = te.placeholder((n, 4), name="A")
    k = te.reduce_axis((0, 4), name="k")
    T = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="T")
    U = te.compute((n,), lambda i: T[i] * 2.0, name="U")
    V = te.compute((n,), lambda i: U[i] + 1.0, name="V")
    W = te.compute((n,), lambda i: V[i] * V[i], name="W")
    s = te.create_schedule(W.op)
    for tensor in (T, U, V, W):
        outer, inner = s[tensor].split(tensor.op.axis[0], factor=32)
        s[tensor].bind(outer, te.thread_axis("blockIdx.x"))
        s[tensor].bind(inner, te.thread_axis("threadIdx.x"))
    return s, [A, W]


class Host:
    """A printed host program with its printed kernels, compiled by g++."""

    def __init__(self, function: tw.Function, folder: Path) -> None:
        self.function, self.source = function, function.source("host")
        count = len(function.signature.arguments)
        kernels = function.source("cuda")
        names = re.findall(r"__global__ void (?:__\w+__\([^)]*\) )*(\w+)\(", kernels)
        cases = "\n".join(f'  if (!strcmp(name, "{name}")) return launch({name}, config, params);' for name in names)
        self.library = compile_host(
            folder,
            with_entry(self.source, function.name, count),
            f"{for_cpu(kernels)}\n"
            f'extern "C" int run_kernel(const char *name, const uint64_t *config, void **params) {{\n{cases}\n  return 2;\n}}\n',
        )

    def __call__(self, *tensors: Tensor, failing: str = "", has_context: bool = True) -> tuple[int, str]:
        self.library.fake_reset(failing.encode(), int(has_context))
        text = ctypes.create_string_buffer(4000)
        pointers = (ctypes.POINTER(Tensor) * len(tensors))(*(ctypes.pointer(tensor) for tensor in tensors))
        code = self.library.call_it(pointers, text)
        return code, text.value.decode()

    @property
    def log(self) -> list[str]:
        return self.library.fake_log().decode().splitlines()


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Host]:
    made: dict[tuple[str, str | None], Host] = {}

    def of(name: str, host: str | None = None) -> Host:
        if (name, host) not in made:
            s, args = chain() if name == "chain" else PROGRAMS[name]()
            function = tw.build(s, args, TARGET, name, host=host)  # type: ignore[arg-type]
            made[name, host] = Host(function, tmp_path_factory.mktemp("host"))
        return made[name, host]

    return of


def chain_arrays(n: int = 64) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(0).standard_normal((n, 4)).astype("float32"), np.zeros(n, "float32")


@pytest.mark.sweep
@pytest.mark.parametrize("host", [None, "managed"])
@pytest.mark.parametrize("name", ["tiled_gemm", "symbolic", "booleans", "layer_norm"])
def test_printed_programs_compute_the_same(name: str, host: str | None, make: Callable[..., Host]) -> None:
    program = make(name, host)
    s, args = PROGRAMS[name]()
    simulated = tw.build(s, args, tw.Target("sim", arch="sm_90a"), name)
    arrays = [aligned(array) for array in arrays_for(simulated.signature)]
    printed = [aligned(array) for array in arrays]
    simulated(*arrays)
    # DLPack's bool is of its own kind; the driver's memory is this machine's.
    assert program(*(tensor_of(array, 1 if host else 2) for array in printed)) == (0, "")
    for expected, got in zip(arrays, printed):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    launches = [line.split()[1:] for line in program.log if line.startswith("cuLaunchKernel")]
    wanted = [
        [launch.kernel, *(str(number) for number in (*launch.grid, *launch.block, launch.shared_bytes))]
        for launch in program.function.launch_config(*printed)
    ]
    assert launches == wanted


@pytest.mark.sweep
def test_a_managed_program_owns_its_memory(make: Callable[..., Host]) -> None:
    program = make("chain", "managed")
    a, w = (aligned(array) for array in chain_arrays())
    assert program(tensor_of(a, 1), tensor_of(w, 1), has_context=False) == (0, "")
    np.testing.assert_allclose(w, (2 * a.sum(axis=1) + 1) ** 2, rtol=1e-5)
    calls = [line for line in program.log if not line.startswith(("cuModule", "cuCtx", "cuDevice", "cuInit"))]
    assert [line.rsplit(" 1 1 32", 1)[0] for line in calls] == [
        "cuMemAllocAsync 1024",
        "cuMemcpyHtoDAsync 1024",
        "cuMemAllocAsync 256",
        "cuMemAllocAsync 512",
        "cuLaunchKernel chain_kernel0 2",
        "cuLaunchKernel chain_kernel1 2",
        "cuLaunchKernel chain_kernel2 2",
        "cuLaunchKernel chain_kernel3 2",
        "cuMemcpyDtoHAsync 256",
        "cuStreamSynchronize",
        "cuMemFreeAsync",
        "cuMemFreeAsync",
        "cuMemFreeAsync",
    ]
    assert program.log[:4] == ["cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"]


@pytest.mark.sweep
def test_temporaries_are_shown_with_their_lives(make: Callable[..., Host]) -> None:
    source = make("chain").source
    assert "const long long i = n / 8LL;\n  const long long i_2 = i * 8LL;\n" in source, "n is a multiple of 8"
    shown = re.findall(r"const long long (\w+)_at = (.*), (\w+)_bytes = (.*);  // alive (.*)\n", source)
    assert [(name, bytes_, life) for name, _, _, bytes_, life in shown] == [
        ("T", "4LL * i_2", "from chain_kernel0 to chain_kernel1"),
        ("U", "4LL * i_2", "from chain_kernel1 to chain_kernel2"),
        ("V", "4LL * i_2", "from chain_kernel2 to chain_kernel3"),
    ]
    assert shown[0][1] == shown[2][1] == "0", "not alive at the same time"
    assert "const Memory arena(std::max({T_at + T_bytes, U_at + U_bytes, V_at + V_bytes}), stream);" in source
    assert "CUdeviceptr U = arena.address + U_at;" in source


@pytest.mark.sweep
def test_each_number_of_a_launch_has_its_axis(make: Callable[..., Host]) -> None:
    source = make("symbolic").source
    assert "unsigned(ceil_div(m, 32LL)),  // grid.x: j.outer of stage B, kernels.py:" in source
    assert "unsigned(n),  // grid.y: i of stage B, kernels.py:" in source
    assert "32,  // block.x: j.inner of stage B, kernels.py:" in source


@pytest.mark.sweep
def test_launches_are_as_the_schedule_wants_them(make: Callable[..., Host]) -> None:
    program = make("launched", "managed")
    a = aligned(np.arange(64, dtype="float32"))
    c = aligned(np.zeros(64, "float32"))
    assert program(tensor_of(a, 1), tensor_of(c, 1)) == (0, "")
    np.testing.assert_array_equal(c, 2 * a[::-1] + 1)
    assert [line for line in program.log if line.startswith("cuLaunch")] == [
        f"cuLaunchKernelEx launched_kernel{i} 4 1 1 16 1 1 0 dependent cooperative" for i in range(2)
    ]
    kernels = program.function.source("cuda")
    assert kernels.count("void __cluster_dims__(2, 1, 1) __launch_bounds__(16) launched_kernel") == 2
    assert kernels.count("\n  wait_for_kernels_before();\n") == 2 and "__restrict__" not in kernels


@pytest.mark.sweep
def test_every_refusal_names_the_argument(make: Callable[..., Host]) -> None:
    program = make("chain")
    a, w = (aligned(array) for array in chain_arrays())
    of = "chain(A: float32[n, 4], W: float32[n])"

    def refused(first: Tensor, second: Tensor) -> str:
        code, text = program(first, second)
        assert code == 1 and not program.log
        assert text.startswith(f"{of}: argument ")
        return text.removeprefix(f"{of}: argument ")

    A, W = (lambda **changed: tensor_of(a, 2, **changed)), (lambda **changed: tensor_of(w, 2, **changed))
    assert refused(A(bits=64), W()) == "0 (A): expected dtype float32, got code 2 with 64 bits and 1 lanes"
    assert refused(A(ndim=1), W()) == "0 (A): expected 2 dimensions, got shape (64,)"
    assert refused(A(), W(ndim=0)) == "1 (W): expected 1 dimension, got shape ()"
    assert refused(A(device_type=1), W()) == (
        "0 (A): expected an array in the memory of a GPU, got one on DLPack's device 1"
    )
    assert program(A(device_type=13), W(device_type=13)) == (0, ""), "memory that both have"
    assert refused(tensor_of(np.ones((4, 64), "float32").T, 2), W()) == (
        "0 (A): expected a row-major array, got stride 64 in dimension 1 of shape (64, 4)"
    )
    assert (
        refused(A(byte_offset=4), W()) == "0 (A): expected memory aligned to 16 bytes, got an address 4 bytes past that"
    )
    assert refused(A(data=None), W()) == "0 (A): expected an array with memory, got the address 0"
    assert refused(tensor_of(aligned(np.ones((64, 5), "float32")), 2), W()) == (
        "0 (A): expected extent 4 in dimension 1, got shape (64, 5)"
    )
    assert (
        refused(A(), tensor_of(aligned(w[:32]), 2)) == "1 (W): expected extent n = 64 in dimension 0, got shape (32,)"
    )
    odd, few = aligned(np.ones((20, 4), "float32")), aligned(np.ones((8, 4), "float32"))
    assert refused(tensor_of(odd, 2), W()) == (
        "0 (A): expected extent n in dimension 0 to be divisible by 8, got shape (20, 4)"
    )
    assert (
        refused(tensor_of(few, 2), W()) == "0 (A): expected extent n in dimension 0 to be at least 16, got shape (8, 4)"
    )
    many = aligned(np.ones((4104, 4), "float32"))
    assert refused(tensor_of(many, 2), W()) == (
        "0 (A): expected extent n in dimension 0 to be at most 4096, got shape (4104, 4)"
    )
    assert refused(A(), W(data=a.ctypes.data)) == "1 (W): expected memory of its own beside A"
    assert program(A(strides=None), W(strides=None)) == (0, "")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("cuLaunchKernel", "cuLaunchKernel of chain_kernel0: CUDA_ERROR_INVALID_VALUE (1)"),
        ("cuMemAllocAsync", "cuMemAllocAsync of 512 bytes: CUDA_ERROR_INVALID_VALUE (1)"),
    ],
)
def test_the_drivers_errors_name_the_call(call: str, text: str, make: Callable[..., Host]) -> None:
    a, w = (aligned(array) for array in chain_arrays())
    assert make("chain")(tensor_of(a, 2), tensor_of(w, 2), failing=call) == (2, text)


def test_a_host_is_managed_or_not() -> None:
    s, args = PROGRAMS["vector_add"]()
    with pytest.raises(ValueError, match="^expected host to be 'managed' or None, got 'mine'$"):
        tw.build(s, args, TARGET, host="mine")  # type: ignore[arg-type]
