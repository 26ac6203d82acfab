"""Calls by the library in an interpreter that has nothing of this project: `python3.13t other_interpreter.py ROOT COUNTER.so`.

Only native/callable.py and the library are taken, which have to work on every version of Python, with and without GIL.
What is called is a function in C, which counts.
"""

import ctypes
import gc
import importlib.util
import sys
import threading
import types
import weakref
from pathlib import Path

root, counter = Path(sys.argv[1]), ctypes.CDLL(sys.argv[2])
library = ctypes.CDLL(str(root / "_lib" / "libtilewright.so"))
for name, content in (
    ("numpy", {"ndarray": type("ndarray", (), {})}),
    ("tilewright", {"__path__": [str(root)]}),
    ("tilewright.native", {"__path__": [str(root / "native")]}),
    ("tilewright.native.library", {"library": lambda: library}),
):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(content)
spec = importlib.util.spec_from_file_location("tilewright.native.callable", root / "native" / "callable.py")
assert spec is not None and spec.loader is not None
made_callable = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made_callable)
function = made_callable._function


@made_callable.shorten_calls
class Called(made_callable.CallableBase):
    __slots__ = ("__weakref__", "name")


def made(target):
    called = Called()
    made_callable.set_target(called, target)
    return called


def objects_that_call():
    called = made(lambda *args, **named: (args, named))
    assert called() == ((), {}) and called(1, *range(3), a=2, **{"b": 3}) == ((1, 0, 1, 2), {"a": 2, "b": 3})
    assert Called.__flags__ & 1 << 11, "no vectorcall"
    before = sys.getrefcount(Called)
    for _ in range(1000):
        made(len)
    gc.collect()
    assert abs(sys.getrefcount(Called) - before) < 3
    alive = weakref.ref(called)
    del called
    gc.collect()
    assert alive() is None


API = (ctypes.c_void_p * 7)(1 | 3 << 32, None, None, None, None, ctypes.cast(counter.read, ctypes.c_void_p).value, None)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Tensor:
    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(API), b"dlpack_exchange_api", None)


def slow(*args, **named):
    return "slow", args, named


def fail():
    raise ValueError("refused")


class Item(ctypes.Structure):
    """TilewrightCallerItem, its TilewrightAny as three fields."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        *[(field, ctypes.c_int32) for field in ("kind", "first", "count", "padding", "type", "otherwise_padding")],
        ("value", ctypes.c_int64),
    ]


def calls():
    new = function(
        "tilewrightCallerNew",
        ctypes.py_object,
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_char_p,
        *[ctypes.py_object] * 3,
    )
    builtin = new(ctypes.addressof(made_callable.interpreter()), b"count", b"counts", slow, slow, fail)
    assert builtin(1) == ("slow", (1,), {})
    kinds = (None, ctypes.py_object, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p)
    entry = ctypes.cast(counter.entry, ctypes.c_void_p)
    items = (Item * 2)(Item(b"A", 0, 0, 0, 0, -1), Item(b"B", 1, 0, 0, 0, -1))
    function("tilewrightCallerSet", *kinds)(builtin, entry, 1, 2, 2, items)
    called, a, b = made(builtin), Tensor(), Tensor()
    number = ctypes.c_int64.in_dll(counter, "calls")
    number.value = 0
    for call in (builtin, called):
        assert call(a, b) is None and call(a, B=b) is None and call(B=b, A=a) is None
        assert call(a) == ("slow", (a,), {}) and call(a, 1) == ("slow", (a, 1), {})
        try:
            call(a, a)
        except ValueError as error:
            assert str(error) == "refused"
        else:
            raise AssertionError("a call that fails went through")
    assert number.value == 6

    def work():
        for _ in range(5000):
            called(a, b)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert number.value == 6 + 8 * 5000
    counted = (a, b, builtin, Tensor)
    before = [sys.getrefcount(each) for each in counted]
    for _ in range(1000):
        called(a, b)
        called(a, B=b)
        called(a, 1)
    assert all(abs(sys.getrefcount(each) - count) < 5 for each, count in zip(counted, before))


objects_that_call()
calls()
print("free-threaded" if not getattr(sys, "_is_gil_enabled", lambda: True)() else "with GIL")
