"""What users of tvm-ffi do with functions of their own compilers, done with ours: loading, names, containers, objects that
stand for others, opaque pointers, errors, streams, threads. It follows the subjects of tvm-ffi's own tests.
"""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from fake_arrays import WITHOUT_TORCH
from tilewright import te
from tilewright.runtime.ffi import libtvm_ffi, raise_error

tvm_ffi = pytest.importorskip("tvm_ffi")

TEXT = "scale(A: float32[n], B: float32[n])"


def build(factor: float = 2.0, name: str = "scale") -> tw.Function:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] * factor, name="B")
    return tw.build(te.create_schedule(b.op), [a, b], "cpu", name=name)


@pytest.fixture(scope="module")
def function() -> tw.Function:
    return build()


@pytest.fixture(scope="module")
def libraries(function: tw.Function, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two libraries with one name in each, which do different things."""
    if shutil.which("cc") is None:
        pytest.skip("no compiler to link with")
    folder = tmp_path_factory.mktemp("libraries")
    double, triple = folder / "double.so", folder / "triple.so"
    function.export_library(double)
    build(3.0).export_library(triple)
    return double, triple


def arrays(n: int = 8) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n, dtype="float32"), np.zeros(n, "float32")


def check(call, factor: float = 2.0) -> None:
    a, b = arrays()
    assert call(a, b) is None
    np.testing.assert_array_equal(b, factor * a)


# ---------------------------------------------------------------------------- loading


def test_two_libraries_with_the_same_names(libraries: tuple[Path, Path]) -> None:
    double, triple = map(tvm_ffi.load_module, libraries)
    check(double.scale, 2)
    check(triple.scale, 3)
    check(double["scale"], 2)


def test_a_function_keeps_its_library(libraries: tuple[Path, Path]) -> None:
    function = tvm_ffi.load_module(libraries[0]).scale
    gc.collect()
    check(function)


@pytest.mark.sweep
def test_loading_again(libraries: tuple[Path, Path]) -> None:
    for _ in range(20):
        check(tvm_ffi.load_module(libraries[0], keep_module_alive=False).scale)
        gc.collect()


def test_a_relative_name(libraries: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(libraries[0].parent)
    check(tvm_ffi.load_module(f"./{libraries[0].name}").scale)


def test_names_that_are_not_there(libraries: tuple[Path, Path]) -> None:
    module = tvm_ffi.load_module(libraries[0])
    assert module.implements_function("scale") and not module.implements_function("shift")
    with pytest.raises(AttributeError, match="shift"):
        _ = module.shift
    assert module.get_function_metadata("shift") is None and module.get_function_doc("shift") is None


def test_many_threads_load_and_call(libraries: tuple[Path, Path]) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(10):
                check(tvm_ffi.load_module(libraries[number % 2]).scale, 2 + number % 2)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_process_that_ends_while_it_is_loaded(libraries: tuple[Path, Path]) -> None:
    """Nothing is torn down in a wrong order at the end."""
    script = (
        f"{WITHOUT_TORCH}import numpy as np, tvm_ffi\n"
        "scale = tvm_ffi.load_module(sys.argv[1]).scale\n"
        "a = np.ones(8, 'float32'); b = np.zeros(8, 'float32'); scale(a, b)\n"
        "try: scale(a)\nexcept Exception as error: kept = error\n"
        "print(b.sum())"
    )
    packages = os.pathsep.join(str(Path(package.__file__).parents[1]) for package in (np, tvm_ffi))
    done = subprocess.run(
        [sys.executable, "-c", script, libraries[0]], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": packages},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "16.0\n", "")


# ---------------------------------------------------------------------------- names of the process


def test_a_global_function(function: tw.Function) -> None:
    tvm_ffi.register_global_func("tilewright.test.scale", function.ffi, override=True)
    try:
        check(tvm_ffi.get_global_func("tilewright.test.scale"))
    finally:
        tvm_ffi.registry.remove_global_func("tilewright.test.scale")
    assert tvm_ffi.get_global_func("tilewright.test.scale", allow_missing=True) is None


def test_functions_as_arguments(function: tw.Function) -> None:
    """A function that came through another one is the same function."""
    echo = tvm_ffi.get_global_func("testing.echo", allow_missing=True) or tvm_ffi.convert(lambda value: value)
    check(echo(function.ffi))
    assert function.ffi.same_as(function.ffi)


def test_a_function_is_freed(function: tw.Function) -> None:
    made = build(5.0)
    taken, alive = made.ffi, weakref.ref(made._program)
    del made
    gc.collect()
    check(taken, 5)
    del taken
    gc.collect()
    assert alive() is None


# ---------------------------------------------------------------------------- arguments that are no plain arrays


class StandsFor:
    """An object that a tensor of tvm-ffi stands for in calls."""

    def __init__(self, array: np.ndarray) -> None:
        self.tensor = tvm_ffi.from_dlpack(array)

    def __tvm_ffi_object__(self):
        return self.tensor


class OnlyDLPack:
    """An array of a library with the protocol of Python alone, in its first form."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, *, stream=None, **_options):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize("kind", [StandsFor, OnlyDLPack, tvm_ffi.from_dlpack, tw.nd.array])
def test_objects_that_are_tensors(function: tw.Function, kind) -> None:
    a, b = arrays()
    given = kind(a), kind(b)
    function.ffi(*given)
    written = given[1].numpy() if kind is tw.nd.array else b
    np.testing.assert_array_equal(written, 2 * a)


class OpaquePointer:
    def __tvm_ffi_opaque_ptr__(self) -> int:
        return 0x10


A, B = arrays()
TENSORS = [tvm_ffi.from_dlpack(A), tvm_ffi.from_dlpack(B)]


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (TENSORS, "a tuple or list"),
        (tuple(TENSORS), "a tuple or list"),
        (tvm_ffi.Array(TENSORS), "a tuple or list"),
        (tvm_ffi.Map({"A": TENSORS[0]}), "dict"),
        (ctypes.c_void_p(0x10), "a pointer"),
        (ctypes.c_void_p(None), "a pointer"),
        (OpaquePointer(), "a pointer"),
        (tvm_ffi.Shape((8,)), "a shape"),
        (np.float32(1), "float"),
        (np.int64(1), "int"),
        (np.bool_(True), "a Python object that is no tensor"),
        (lambda: None, "a function"),
    ],
)
def test_containers_pointers_and_numbers_are_no_tensors(function: tw.Function, given: object, what: str) -> None:
    for position, call in enumerate((lambda: function.ffi(given, B), lambda: function.ffi(A, given))):
        with pytest.raises(TypeError) as caught:
            call()
        argument = f"argument {position} ({'AB'[position]})"
        assert str(caught.value) == f"{TEXT}: {argument}: expected a tensor, got {what}"


def raw_call(function: tw.Function, *kinds_and_pointers: tuple[int, int | None]) -> int:
    """The function of the C ABI, with values as another language makes them."""

    class Value(ctypes.Structure):
        _fields_ = (("kind", ctypes.c_int32), ("padding", ctypes.c_uint32), ("pointer", ctypes.c_void_p))

    args = (Value * max(len(kinds_and_pointers), 1))(*(Value(kind, 0, where) for kind, where in kinds_and_pointers))
    result = Value(0, 0, None)
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)
    return call(function._program.host.safe_call)(None, args, len(kinds_and_pointers), ctypes.byref(result))


def test_values_of_the_c_abi(function: tw.Function) -> None:
    """A null tensor, kinds that no version has, and no values at all: each is an error that is there to be taken."""
    for values, message in (
        (((7, None), (7, None)), "argument 0 (A): expected a tensor, got a null pointer"),
        (((70, None), (7, None)), "argument 0 (A): expected a tensor, got a null pointer"),
        (((63, 0x10), (7, None)), "argument 0 (A): expected a tensor, got an object that is no tensor"),
        (((4000, 0x10), (7, None)), "argument 0 (A): expected a tensor, got an object that is no tensor"),
        (((-1, None), (7, None)), "argument 0 (A): expected a tensor, got an object that is no tensor"),
        ((), "expected 2 arguments, got 0"),
        (((7, None),) * 70, "expected 2 arguments, got 70"),
    ):
        assert raw_call(function, *values) == -1
        with pytest.raises(TypeError) as caught:
            raise_error()
        assert str(caught.value) == f"{TEXT}: {message}"


# ---------------------------------------------------------------------------- errors


@pytest.mark.sweep
def test_errors_through_other_functions(function: tw.Function) -> None:
    """An error keeps its kind and its text on its way through callbacks of Python and of tvm-ffi."""
    outer = tvm_ffi.convert(lambda *given: function.ffi(*given))
    for call in (function.ffi, outer, tvm_ffi.convert(lambda *given: outer(*given))):
        with pytest.raises(ValueError) as caught:
            call(A, B[:3])
        assert str(caught.value) == (
            f"{TEXT}: argument 1 (B): expected extent n = 8, as in dimension 0 of A, in dimension 0, got shape (3,)"
        )


def test_an_error_is_over_once_it_is_taken(function: tw.Function) -> None:
    for _ in range(100):
        with pytest.raises(TypeError):
            function.ffi()
        check(function.ffi)


def test_an_output_that_nothing_allocates(function: tw.Function) -> None:
    """In a process where neither torch nor anything else has set an allocator."""
    set_ = libtvm_ffi().TVMFFIEnvSetDLPackManagedTensorAllocator
    set_.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    before = ctypes.c_void_p()
    set_(None, 0, ctypes.byref(before))
    try:
        with pytest.raises(RuntimeError) as caught:
            function.ffi(A)
    finally:
        set_(before, 0, None)
    assert str(caught.value) == (
        f"{TEXT}: argument 1 (B): expected an array, for the environment of tvm-ffi has nothing to allocate one by: "
        "import torch, set an allocator, or pass one"
    )


def test_errors_of_many_threads_are_their_own(function: tw.Function) -> None:
    failures: list[object] = []

    def work(n: int) -> None:
        for _ in range(50):
            try:
                function.ffi(np.zeros(n, "float32"), np.zeros(n + 1, "float32"))
            except ValueError as error:
                if not str(error).endswith(f"got shape ({n + 1},)"):
                    failures.append(error)
            else:
                failures.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# ---------------------------------------------------------------------------- arguments by their names


def test_names_and_defaults_by_tvm_ffis_wrapper(function: tw.Function) -> None:
    from tvm_ffi.utils.kwargs_wrapper import make_kwargs_wrapper

    _, b = arrays()
    call = make_kwargs_wrapper(function.ffi, arg_names=["A", "B"], arg_defaults=(b,))
    a = arrays()[0]
    call(A=a)
    np.testing.assert_array_equal(b, 2 * a)
