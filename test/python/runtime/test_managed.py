"""Functions of target cuda that take this machine's arrays, with the driver replaced."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright import te


@pytest.fixture
def scale(fake) -> tw.Function:
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] * 2.0, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))

    def kernel(function: int, params) -> None:
        read = [ctypes.cast(params[i], ctypes.POINTER(ctypes.c_int64)).contents.value for i in range(2)]
        a, b = (np.ctypeslib.as_array(ctypes.cast(at, ctypes.POINTER(ctypes.c_float)), (64,)) for at in read)
        b[:] = a * 2

    fake.kernel = kernel
    return tw.build(s, [A, B], tw.Target("cuda", arch="sm_90a"), "scale", host="managed")


def test_arrays_are_copied_there_and_back(fake, scale: tw.Function) -> None:
    a = np.arange(64, dtype="float32")
    b = np.zeros(64, "float32")
    scale(a, b)
    np.testing.assert_array_equal(b, 2 * a)
    names = fake.names()
    assert names.count("cuMemcpyHtoDAsync") == 1, "outputs are not copied there"
    assert names.count("cuMemcpyDtoHAsync") == 1, "inputs are not copied back"
    assert len(fake.launches) == 1


def test_arguments_are_checked_as_this_machines(fake, scale: tw.Function) -> None:
    a, b = np.zeros(64, "float32"), np.zeros(64, "float32")
    with pytest.raises(ValueError, match=r"argument 0 \(A\): expected an array on cpu, got one on cuda$"):
        scale(tw.nd.array(a, tw.cuda(0)), b)
    b.flags.writeable = False
    with pytest.raises(ValueError, match=r"argument 1 \(B\): expected a writable array"):
        scale(a, b)
    assert fake.launches == []


def test_it_stays_managed_once_it_is_loaded(fake, scale: tw.Function) -> None:
    scale.load()
    a, b = np.ones(64, "float32"), np.zeros(64, "float32")
    scale(a, b)
    assert (b == 2).all()


def test_one_of_several_functions(fake, scale: tw.Function) -> None:
    A = te.placeholder((64,), "int32", name="A")
    B = te.compute((64,), lambda i: A[i] * 3, name="B")
    either = tw.dispatch([tw.build(te.create_schedule(B.op), [A, B], "cpu", "thrice"), scale], "either")
    a, b = np.ones(64, "float32"), np.zeros(64, "float32")
    either(a, b)
    assert (b == 2).all() and len(fake.launches) == 1
    assert (either(np.ones(64, "int32")) == 3).all() and len(fake.launches) == 1


def test_it_is_none_of_tvm_ffi(fake, scale: tw.Function, tmp_path: Path) -> None:
    for use in (lambda: scale.ffi, lambda: tw.export_library(scale, tmp_path / "scale.so"), scale.host_program):
        with pytest.raises(tw.TilewrightError) as caught:
            use()
        assert str(caught.value) == (
            'scale is built with host="managed", whose copies are made in this process alone: build it without for tvm-ffi '
            'and for libraries, or take source("host"), which has the copies, too'
        )


def test_other_targets_are_managed_anyway() -> None:
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] + 1.0, name="B")
    a, b = np.zeros(8, "float32"), np.zeros(8, "float32")
    tw.build(te.create_schedule(B.op), [A, B], "cpu", host="managed")(a, b)
    np.testing.assert_array_equal(b, 1)
