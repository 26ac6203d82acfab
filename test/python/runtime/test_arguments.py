"""What built functions take and what they refuse: the full text of each message."""

from __future__ import annotations

import types

import numpy as np
import pytest
from mlir import ir as mlir_ir

from kinds import kind_of
from tilewright import nd
from tilewright.ir import context
from tilewright.runtime import Argument, DeviceKind, Signature, Symbol, cpu, cuda
from tilewright.runtime.stream import Stream

N = Symbol("n")
MATMUL = Signature(
    "mmult",
    (
        Argument("A", "float32", (N, 4)),
        Argument("B", "float32", (4, 8)),
        Argument("C", "float32", (N, 8), output=True),
    ),
)
ON_CUDA = Signature("mmult", MATMUL.arguments, DeviceKind.CUDA)
TEXT = "mmult(A: float32[n, 4], B: float32[4, 8], C: float32[n, 8])"


def f32(*shape: int) -> np.ndarray:
    return np.zeros(shape, "float32")


def misaligned(*shape: int) -> np.ndarray:
    size = int(np.prod(shape)) * 4
    raw = np.zeros(size + 32, "uint8")
    start = -raw.ctypes.data % 16 + 4
    return raw[start : start + size].view("float32").reshape(shape)


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


class Broken:
    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **_options: object) -> object:
        raise BufferError("it is broken")


class OnDevice:
    """NumPy's array, said to be elsewhere."""

    def __init__(self, kind: int, index: int, array: np.ndarray) -> None:
        from tilewright.runtime import dlpack

        self.device = (kind, index)
        self._array = array
        self._export = dlpack.export_capsule
        self.streams: list[object] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: object = None, max_version: object = None) -> object:
        self.streams.append(stream)
        array = self._array
        return self._export(
            array.ctypes.data, array.shape, array.dtype.name, self.device, array, max_version is not None
        )


def test_signature_text() -> None:
    assert str(MATMUL) == TEXT


@pytest.mark.parametrize(
    "make",
    [
        lambda array: array,
        nd.array,
        nd.from_dlpack,
        lambda array: OnDevice(1, 0, array),
        lambda array: OnDevice(3, 0, array),  # pinned memory is the cpu's
    ],
)
def test_arrays_on_the_cpu(make) -> None:
    arrays = [make(f32(3, 4)), make(f32(4, 8)), make(f32(3, 8))]
    bound = MATMUL.bind(arrays)
    assert bound.shape == [3, 4, 4, 8, 3, 8]
    assert bound.device == cpu() and bound.stream is None
    assert all(address % 16 == 0 and address for address in bound.data)


def test_tvm_ffi_tensors() -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    arrays = [f32(3, 4), f32(4, 8), f32(3, 8)]
    bound = MATMUL.bind([tvm_ffi.from_dlpack(array) for array in arrays])
    assert bound.data == [array.ctypes.data for array in arrays]


def test_inputs_may_be_read_only_and_shared() -> None:
    square = Signature(
        "f",
        (Argument("A", "float32", (4,)), Argument("B", "float32", (4,)), Argument("C", "float32", (4,), output=True)),
    )
    shared = read_only(f32(4))
    assert len(set(square.bind([shared, shared, f32(4)]).data[:2])) == 1


def test_dimensions_of_one_element_have_any_stride() -> None:
    once = Signature("f", (Argument("A", "float32", (1, 4)), Argument("B", "float32", (4, 1), output=True)))
    once.bind([f32(8, 4)[::8], f32(4, 8)[:, :1].copy()])
    with pytest.raises(ValueError, match="row-major"):
        once.bind([f32(1, 4), f32(4, 8)[:, :1]])


def test_without_elements() -> None:
    bound = MATMUL.bind([f32(0, 4), f32(4, 8), f32(0, 8)])
    assert bound.shape == [0, 4, 4, 8, 0, 8]


A, B, C = f32(3, 4), f32(4, 8), f32(3, 8)


@pytest.mark.parametrize(
    ("arrays", "kind", "message"),
    [
        ([A, B], TypeError, "expected 3 arguments, got 2"),
        ([A, B, C, C], TypeError, "expected 3 arguments, got 4"),
        (
            [[1.0], B, C],
            TypeError,
            "argument 0 (A): expected an array (NumPy, DLPack or __cuda_array_interface__), got list",
        ),
        (
            [A, 1.0, C],
            TypeError,
            "argument 1 (B): expected an array (NumPy, DLPack or __cuda_array_interface__), got float",
        ),
        (
            [A, None, C],
            TypeError,
            "argument 1 (B): expected an array (NumPy, DLPack or __cuda_array_interface__), got NoneType",
        ),
        (
            [Broken(), B, C],
            TypeError,
            "argument 0 (A): expected an array that DLPack can hand over, got Broken: it is broken",
        ),
        ([A.astype(">f4"), B, C], TypeError, "argument 0 (A): expected the machine's own byte order, got dtype >f4"),
        ([A.astype(object), B, C], TypeError, "argument 0 (A): expected an array of numbers, got dtype object"),
        ([A.astype("float64"), B, C], TypeError, "argument 0 (A): expected dtype float32, got float64"),
        ([A.astype("int32"), B, C], TypeError, "argument 0 (A): expected dtype float32, got int32"),
        ([nd.zeros((3, 4), "bfloat16"), B, C], TypeError, "argument 0 (A): expected dtype float32, got bfloat16"),
        ([f32(3, 4, 1), B, C], ValueError, "argument 0 (A): expected 2 dimensions, got shape (3, 4, 1)"),
        ([f32(12), B, C], ValueError, "argument 0 (A): expected 2 dimensions, got shape (12,)"),
        ([f32(3, 5), B, C], ValueError, "argument 0 (A): expected extent 4 in dimension 1, got shape (3, 5)"),
        ([A, f32(5, 8), C], ValueError, "argument 1 (B): expected extent 4 in dimension 0, got shape (5, 8)"),
        (
            [A, B, f32(2, 8)],
            ValueError,
            "argument 2 (C): expected extent n = 3, as in dimension 0 of A, in dimension 0, got shape (2, 8)",
        ),
        (
            [A, f32(8, 4).T, C],
            ValueError,
            "argument 1 (B): expected a row-major array, got strides (1, 4) for shape (4, 8)",
        ),
        (
            [f32(6, 4)[::2], B, C],
            ValueError,
            "argument 0 (A): expected a row-major array, got strides (8, 1) for shape (3, 4)",
        ),
        (
            [f32(3, 4)[::-1], B, C],
            ValueError,
            "argument 0 (A): expected a row-major array, got strides (-4, 1) for shape (3, 4)",
        ),
        (
            [misaligned(3, 4), B, C],
            ValueError,
            "argument 0 (A): expected memory aligned to 16 bytes, got an address 4 bytes past that",
        ),
        (
            [A, B, read_only(f32(3, 8))],
            ValueError,
            "argument 2 (C): expected a writable array, for the function writes it, got a read-only one",
        ),
        ([OnDevice(2, 0, A), B, C], ValueError, "argument 0 (A): expected an array on cpu, got one on cuda"),
        ([OnDevice(10, 0, A), B, C], ValueError, "argument 0 (A): expected an array on cpu, got one on rocm"),
        ([OnDevice(99, 0, A), B, C], ValueError, "argument 0 (A): expected an array on cpu, got one on device 99"),
    ],
)
def test_refused(arrays, kind, message) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        MATMUL.bind(arrays)
    assert str(caught.value) == f"{TEXT}: {message}"
    assert kind_of(caught.value) is kind


def test_a_stream_for_the_cpu() -> None:
    with pytest.raises(TypeError) as caught:
        MATMUL.bind([A, B, C], stream=0)
    assert str(caught.value) == f"{TEXT}: expected no stream for arrays on the cpu, got one"


def test_overlap() -> None:
    memory = f32(64)
    with pytest.raises(ValueError) as caught:
        MATMUL.bind([memory[:12].reshape(3, 4), B, memory[8:32].reshape(3, 8)])
    assert str(caught.value) == (
        f"{TEXT}: argument 2 (C): expected memory of its own beside A, for the function writes C, got 16 bytes shared"
    )
    MATMUL.bind([memory[:12].reshape(3, 4), B, memory[12:36].reshape(3, 8)])


def test_bounds_of_symbols() -> None:
    bounded = Signature("f", (Argument("A", "int8", (Symbol("n", divisible_by=16, minimum=32, maximum=96),)),))
    assert bounded.bind([np.zeros(64, "int8")]).shape == [64]
    for extent, message in (
        (40, "expected extent n in dimension 0 to be divisible by 16, got shape (40,)"),
        (16, "expected extent n in dimension 0 to be at least 32, got shape (16,)"),
        (112, "expected extent n in dimension 0 to be at most 96, got shape (112,)"),
    ):
        with pytest.raises(ValueError) as caught:
            bounded.bind([np.zeros(extent, "int8")])
        assert str(caught.value) == f"f(A: int8[n]): argument 0 (A): {message}"


# ---------------------------------------------------------------------------- arrays on a GPU


def cuda_arrays(index: int = 0) -> list[nd.NDArray]:
    return [nd.zeros(shape, "float32", cuda(index)) for shape in ((3, 4), (4, 8), (3, 8))]


def test_arrays_on_a_gpu(fake) -> None:
    bound = ON_CUDA.bind(cuda_arrays(1))
    assert bound.device == cuda(1)
    assert bound.stream == Stream.from_handle(0, cuda(1))
    with Stream(cuda(1)) as stream:
        assert ON_CUDA.bind(cuda_arrays(1)).stream == stream
    assert ON_CUDA.bind(cuda_arrays(1), stream=0x77).stream.handle == 0x77


def test_a_producer_is_told_the_stream_of_the_launch(fake) -> None:
    _, b, c = cuda_arrays()
    theirs = OnDevice(2, 0, A)
    ON_CUDA.bind([theirs, b, c])
    ON_CUDA.bind([theirs, b, c], stream=0x77)
    assert theirs.streams == [1, 0x77]


def test_cuda_array_interface(fake) -> None:
    _, b, c = cuda_arrays()
    interface = {"shape": (3, 4), "typestr": "<f4", "data": (A.ctypes.data, True), "version": 3, "stream": 0x99}
    fake.calls.clear()
    bound = ON_CUDA.bind([types.SimpleNamespace(__cuda_array_interface__=interface), b, c])
    assert bound.data[0] == A.ctypes.data
    record, wait = (call for call in fake.calls if call[0] in ("cuEventRecord", "cuStreamWaitEvent"))
    assert (record[2], wait[1]) == (0x99, 0)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"strides": (4, 12)}, ValueError, "expected a row-major array, got strides (1, 3) for shape (3, 4)"),
        ({"mask": object()}, TypeError, "expected an array without mask, got a masked one"),
        ({"typestr": "<f8"}, TypeError, "expected dtype float32, got float64"),
        ({"shape": None}, TypeError, None),
    ],
)
def test_wrong_cuda_array_interfaces(fake, change, kind, message) -> None:
    _, b, c = cuda_arrays()
    interface = {"shape": (3, 4), "typestr": "<f4", "data": (A.ctypes.data, False), "version": 2, **change}
    with pytest.raises(kind) as caught:
        ON_CUDA.bind([types.SimpleNamespace(__cuda_array_interface__=interface), b, c])
    if message is not None:
        assert str(caught.value) == f"{TEXT}: argument 0 (A): {message}"


def test_wrong_devices(fake) -> None:
    a, b, c = cuda_arrays()
    for arrays, position, message in (
        ([A, b, c], "0 (A)", "expected an array on cuda, got one on cpu"),
        ([a, b, C], "2 (C)", "expected an array on cuda, got one on cpu"),
        ([a, cuda_arrays(1)[1], c], "1 (B)", "expected an array on cuda:0, got one on cuda:1"),
        ([A, B, C], "0 (A)", "expected an array on cuda, got one on cpu"),
    ):
        with pytest.raises(ValueError) as caught:
            ON_CUDA.bind(arrays)
        assert str(caught.value) == f"{TEXT}: argument {position}: {message}"


def test_wrong_streams(fake) -> None:
    with pytest.raises(ValueError) as caught:
        ON_CUDA.bind(cuda_arrays(), stream=Stream(cuda(1)))
    assert str(caught.value) == f"{TEXT}: expected a stream of cuda:0, got one of cuda:1"
    with pytest.raises(TypeError) as caught:
        ON_CUDA.bind(cuda_arrays(), stream="main")
    assert str(caught.value) == f"{TEXT}: expected a stream (Stream, __cuda_stream__ or a handle), got str"


# ---------------------------------------------------------------------------- signatures from IR


def test_from_functions() -> None:
    with context():
        module = mlir_ir.Module.parse("""
          func.func private @f(%a: tensor<?x4xi8> {te.name = "A", te.dtype = ui8, te.symbols = ["n", ""]},
                               %b: tensor<?xf8E4M3FN> {te.name = "B"},
                               %c: tensor<?xbf16> {te.name = "C", te.symbols = ["n"], te.output})
          func.func private @g(%a: memref<4xf32> {te.name = "A"}, %workspace: memref<?xi8>)
          func.func private @h(%a: memref<4xi1>, %b: memref<i64>)
          llvm.func @i() attributes {tilewright.kernels = [],
            tilewright.arguments = [{te.name = "A", te.output, type = memref<?xf64>}]}""")
        texts = {}
        outputs = {}
        for function in module.body.operations:
            signature = Signature.from_function(function.operation, DeviceKind.CPU)
            texts[signature.name] = str(signature)
            outputs[signature.name] = [argument.output for argument in signature.arguments]
    assert texts == {
        "f": "f(A: uint8[n, 4], B: float8_e4m3fn[arg1_0], C: bfloat16[n])",
        "g": "g(A: float32[4])",
        "h": "h(arg0: bool[4], arg1: int64[])",
        "i": "i(A: float64[arg0_0])",
    }
    assert outputs["f"] == [False, False, True] and outputs["i"] == [True]
