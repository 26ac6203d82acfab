"""Hybrid scripts: functions of Python that are read as loops, on every target, and run as Python on arrays."""

from __future__ import annotations

# ruff: noqa: F821 - scripts call what hybrid script has by name
from collections.abc import Callable

import numpy as np
import pytest

import tilewright as tvm
from tilewright import te

script = te.hybrid.script
SCALE = 3


@script
def outer_product(n, m, a, b):
    """The script of TVM's tutorial."""
    c = output_tensor((n, m), a.dtype)
    for i in range(n):
        for j in range(m):
            assert_free = a[i] * b[j]
            c[i, j] = assert_free
    return c


@script
def fanout(n, a):
    three = 3.0
    b = output_tensor((a.shape[0] - 3,), a.dtype)
    for i in range(a.shape[0] - 3):
        sigma = 0.0
        for j in range(3):
            sigma += a[i + j]
        sigma = sigma / three
        b[i] = sigma
    return b


@script
def running_maximum(a):
    b = output_tensor(a.shape, a.dtype)
    best = ninf(a.dtype)
    best = max(best, a[0])
    for i in range(len(a)):
        if a[i] > best:
            best = a[i]
        b[i] = best
    return b


@script
def branches(a, b):
    c = output_tensor(a.shape, a.dtype)
    d = output_tensor(a.shape, "int32")
    for i in serial(a.shape[0]):
        if 2 <= i < 6 and not a[i] < 0.0:
            c[i] = sqrt(a[i]) + SCALE
            d[i] = 1
        elif i == 7 or b[i] > 0.5:
            c[i] = -b[i] if b[i] < 0.75 else float32(i)
            d[i] = int32(b[i] * 10.0)
        else:
            c[i] = 0.0
            d[i] = i // 2 + i % 3
    return c, d


@script
def written_out(a, w):
    b = output_tensor((a.shape[0], 2), a.dtype)
    for i in parallel(a.shape[0]):
        for j in const_range(2):
            b[i, j] = 0.0
            for k in const_range(1, 4):
                b[i, j] += a[i, k] * w[j][k]
    return b


@script
def kinds_of_loops(a):
    b = output_tensor(a.shape, a.dtype)
    buffer = allocate((4,), a.dtype)
    for i in parallel(a.shape[0]):
        for j in unroll(2):
            for k in vectorize(4):
                b[i, j * 4 + k] = exp(a[i, j * 4 + k]) * 2.0
    for k in range(4):
        buffer[k] = b[0, k]
    for k in range(4):
        b[0, 3 - k] = buffer[k]
    return b


@script
def collatz(a):
    steps = output_tensor(a.shape, "int32")
    for i in range(a.shape[0]):
        n = a[i]
        count = 0
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = n * 3 + 1
            count += 1
        steps[i] = count
    return steps


@script
def swapped_rows(a):
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[a.shape[0] - 1 - i, j] = a[i, j]
    return b


@script
def calls_others(a):
    turned = swapped_rows(a)
    c = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[i, j] = half(turned[i, j]) + tanh(a[i, j])
    return c


def half(x):
    return x * 0.5


@script
def with_threads(a):
    b = output_tensor((a.shape[0],), a.dtype)
    total = allocate((1,), a.dtype, "local")
    for i in bind("blockIdx.x", ceil_div(a.shape[0], 8)):
        for j in bind("threadIdx.x", 8):
            total[0] = 0.0
            if i * 8 + j < a.shape[0]:
                for k in range(a.shape[1]):
                    total[0] += a[i * 8 + j, k]
                b[i * 8 + j] = total[0]
    return b


@script
def in_shared_memory(a):
    b = output_tensor(a.shape, a.dtype)
    row = allocate((16,), a.dtype, "shared")
    for i in bind("blockIdx.x", a.shape[0]):
        for j in bind("threadIdx.x", 16):
            row[j] = a[i, j]
            b[i, j] = row[15 - j]
    return b


@script
def two_kernels(a):
    b = output_tensor(a.shape, a.dtype)
    between = allocate(a.shape, a.dtype, "global")
    for i in bind("threadIdx.x", a.shape[0]):
        between[i] = a[i] * 2.0
    for i in bind("threadIdx.x", a.shape[0]):
        b[i] = between[a.shape[0] - 1 - i] + 1.0
    return b


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1, 1, shape).astype("float32")


HOST: dict[str, tuple[Callable, list, Callable]] = {
    "fanout": (lambda a: fanout(a.shape[0], a), [(13,)], lambda a: np.convolve(a, np.ones(3), "valid")[:-1] / 3),
    "running_maximum": (running_maximum, [(40,)], np.maximum.accumulate),
    "kinds_of_loops": (
        kinds_of_loops, [(5, 8)],
        lambda a: np.concatenate([2 * np.exp(a[:1, [3, 2, 1, 0, 4, 5, 6, 7]]), 2 * np.exp(a[1:])]),
    ),
    "calls_others": (calls_others, [(6, 5)], lambda a: a[::-1] / 2 + np.tanh(a)),
    "outer_product": (lambda a, b: outer_product(a.shape[0], b.shape[0], a, b), [(9,), (7,)], np.outer),
    "written_out": (lambda a, b, c: written_out(a, (b, c)), [(9, 4), (4,), (4,)],
                    lambda a, b, c: np.stack([a[:, 1:] @ b[1:], a[:, 1:] @ c[1:]], axis=1)),
}  # fmt: skip
THREADS: dict[str, tuple[Callable, list, Callable]] = {
    "with_threads": (with_threads, [(27, 9)], lambda a: a.sum(axis=1)),
    "in_shared_memory": (in_shared_memory, [(3, 16)], lambda a: a[:, ::-1]),
    "two_kernels": (two_kernels, [(33,)], lambda a: a[::-1] * 2 + 1),
}


def run(made: Callable, shapes: list, target: str) -> tuple[list[np.ndarray], np.ndarray]:
    tensors = [te.placeholder(shape, name=f"A{place}") for place, shape in enumerate(shapes)]
    result = made(*tensors)
    func = tvm.build(te.create_schedule(result.op), [*tensors, result], target)
    arrays = [random(*shape) for shape in shapes]
    out = np.full(tuple(map(int, result.shape)), np.nan, "float32")
    func(*arrays, out)
    return arrays, out


@pytest.mark.parametrize("name", HOST)
def test_scripts_of_loops(name: str) -> None:
    made, shapes, reference = HOST[name]
    arrays, out = run(made, shapes, "llvm")
    np.testing.assert_allclose(out, reference(*arrays), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", THREADS)
def test_scripts_of_threads(name: str) -> None:
    made, shapes, reference = THREADS[name]
    arrays, out = run(made, shapes, "sim")
    np.testing.assert_allclose(out, reference(*arrays), rtol=1e-5, atol=1e-6)
    tensors = [te.placeholder(shape, name="A") for shape in shapes]
    result = made(*tensors)
    s = te.create_schedule(result.op)
    assert ".visible .entry" in tvm.build(s, [*tensors, result], "cuda -arch=sm_90a").imported_modules[0].get_source()


# Python runs the threads of a block one after the other, and knows no tuples of arrays.
@pytest.mark.parametrize("name", sorted({*HOST, *THREADS} - {"in_shared_memory", "written_out"}))
def test_scripts_run_as_python(name: str) -> None:
    made, shapes, reference = (HOST | THREADS)[name]
    arrays = [random(*shape) for shape in shapes]
    np.testing.assert_allclose(made(*arrays), reference(*arrays), rtol=1e-5, atol=1e-6)


def test_several_results_and_kinds() -> None:
    A, B = te.placeholder((9,), name="A"), te.placeholder((9,), name="B")
    c, d = branches(A, B)
    assert isinstance(c.op, te.HybridOp) and c.op is d.op and c.op.name == "branches" and c.op.tag == "hybrid"
    assert [axis.name for axis in c.op.axis] == ["i"] and (c.dtype, d.dtype) == ("float32", "int32")
    func = tvm.build(te.create_schedule(c.op), [A, B, c, d], "llvm")
    a, b = random(9), np.linspace(0, 1, 9, dtype="float32")
    out, kinds = np.empty(9, "float32"), np.empty(9, "int32")
    func(a, b, out, kinds)
    expected, expected_kinds = branches(a, b)
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    np.testing.assert_array_equal(kinds, expected_kinds)


def test_while_and_integers() -> None:
    A = te.placeholder((6,), "int32", name="A")
    steps = collatz(A)
    func = tvm.build(te.create_schedule(steps.op), [A, steps], "llvm")
    a, out = np.array([1, 2, 7, 9, 12, 27], "int32"), np.empty(6, "int32")
    func(a, out)
    assert list(out) == [0, 1, 16, 19, 9, 111] == list(collatz(a))


def test_symbolic_extents_and_stages_around() -> None:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2, name="B")
    C = running_maximum(B)
    D = te.compute((n,), lambda i: C[i] - 1, name="D")
    func = tvm.build(te.create_schedule(D.op), [A, D], "llvm")
    for size in (1, 17):
        a, out = random(size), np.empty(size, "float32")
        func(a, out)
        np.testing.assert_allclose(out, np.maximum.accumulate(a * 2) - 1, rtol=1e-6)
    assert tvm.hybrid.script is te.hybrid.script


def refused(body: str, *, shape: tuple[int, ...] = (8,)) -> str:
    """The message for a script with that body, its place in the file replaced."""
    import linecache

    text = f"def f(a):\n{body}"
    file = f"<script {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict = {"te": te, "table": [1.0], "B": te.placeholder((4,), name="B"), "fanout": fanout, "half": half}
    exec(compile(text, file, "exec"), names)
    with pytest.raises(tvm.TVMError) as caught:
        script(names["f"])(te.placeholder(shape, name="a"))
    return str(caught.value).replace(file, "f.py")


OUT = "    c = output_tensor((8,), 'float32')\n"
LOOP = OUT + "    for i in range(8):\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (OUT, "f.py:1: hybrid.script f: expected a return of output tensors at its end, got none"),
        (OUT + "    d = output_tensor((8,))\n    return c",
         "f.py:1: hybrid.script f: expected all output tensors to be returned, got d left out"),
        (OUT + "    return a", "f.py:3: hybrid.script f: expected a return of output tensors, got a"),
        (OUT + "    return c, c", "f.py:3: hybrid.script f: expected different output tensors to be returned, got one twice"),
        (OUT + "    return c\n    c[0] = 1.0", "f.py:4: hybrid.script f: expected the return to be the last statement, got more after it"),
        (LOOP + "        return c", "f.py:4: hybrid.script f: expected the return outside of loops and choices, got it inside"),
        (LOOP + "        c[i] = nothing\n    return c", "f.py:4: hybrid.script f: expected a name that has a value here, got nothing"),
        (LOOP + "        c[i] = B[0]\n    return c", "f.py:4: hybrid.script f: expected the tensor B as an argument, got it from outside"),
        (LOOP + "        c[i, 0] = a[i]\n    return c", "f.py:4: buffer c: expected 1 indices, got 2"),
        (LOOP + "        c[i] = a[9]\n    return c", "f.py:4: index 0 of a: expected 0 to 7, got 9"),
        (LOOP + "        c[i] = a[i] + te.const(1, 'int32')\n    return c",
         "f.py:4: '+': expected operands of one dtype, got float32 and int32: convert one with .astype"),
        (LOOP + "        a[i] = 1.0\n    return c", "f.py:4: hybrid.script f: expected stores to its results, got one to the input a"),
        (LOOP + "        i = 3\n    return c", "f.py:4: hybrid.script f: expected the loop variable i to stay as it is, got an assignment"),
        (LOOP + "        break\n    return c",
         "f.py:4: hybrid.script f: expected loops, choices, assignments and a return, got the statement 'break'"),
        (LOOP + "        x += a[i]\n    return c", "f.py:4: hybrid.script f: expected a value of x before, got none"),
        (LOOP + "        x = a[i]\n    c[0] = x\n    return c", "f.py:5: hybrid.script f: expected a name that has a value here, got x"),
        (LOOP + "        a[i]\n    return c", "f.py:4: hybrid.script f: expected a statement that has an effect, got a[i]"),
        (LOOP + "        c[i] = [x for x in a]\n    return c",
         "f.py:4: hybrid.script f: expected an expression of numbers and elements, got [x for x in a]"),
        (LOOP + "        c[i] = a\n    return c", "f.py:4: hybrid.script f: expected a number to store, got buffer(a, [8], float32)"),
        (OUT + "    for i in a:\n        c[i] = 1.0\n    return c",
         "f.py:3: hybrid.script f: expected a loop over one of range, serial, unroll, parallel, vectorize, const_range, bind, got a"),
        (OUT + "    for i in range(0, 8, 2):\n        c[i] = 1.0\n    return c",
         "f.py:3: hybrid.script f: expected range(end) or range(begin, end), got range(0, 8, 2)"),
        (OUT + "    for i in const_range(te.var('n')):\n        c[i] = 1.0\n    return c",
         "f.py:3: hybrid.script f: expected const_range of numbers that are known now, got 0 to n"),
        (OUT + "    for i in bind('threadIdx.q', 8):\n        c[i] = 1.0\n    return c",
         "f.py:3: te.thread_axis: expected one of blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, "
         "vthread, vthread.x, vthread.y, vthread.z, got 'threadIdx.q'"),
        (LOOP + "        for j in bind('threadIdx.x', 8):\n            c[j] = 1.0\n    return c",
         "f.py:4: scope_attr threadIdx.x: expected a thread axis outside of loops and choices, got one in that of line 3"),
        (OUT + "    t = allocate((1,), 'float32', 'register')\n    return c",
         "f.py:3: hybrid.script f: expected one of local, shared, global as scope of t, got 'register'"),
        (OUT + "    t = allocate((1,), 'float32', 'local')\n    t[0] = 1.0\n    for i in bind('threadIdx.x', 8):\n        c[i] = t[0]\n    return c",
         "f.py:4: hybrid.script f: expected the local buffer t in one nest of bind loops, got it before that"),
        (OUT + "    c[0] = table[3]\n    return c", "f.py:3: hybrid.script f: expected an index below 1, got 3"),
        (OUT + "    c[0] = a.size\n    return c", "f.py:3: hybrid.script f: expected an attribute of a, got size"),
        (OUT + "    x, y = half(1.0)\n    return c", "f.py:3: hybrid.script f: expected 2 values, got half(1.0)"),
        (OUT + "    c[0] = range(3)\n    return c", "f.py:3: hybrid.script f: expected range in a loop, for i in range(3), got it elsewhere"),
        (OUT + "    c[0] = max(a[0], b=1)\n    return c", "f.py:3: hybrid.script f: expected arguments of max by position, got max(a[0], b=1)"),
        (OUT + "    c[0] = fanout(a)\n    return c", "f.py:3: hybrid.script fanout: expected 2 arguments (n, a), got 1"),
        (LOOP + "        d = output_tensor((8,))\n    return c", "f.py:4: hybrid.script f: expected the output d outside of loops and choices, got it inside"),
        (OUT + "    for i, j in range(8):\n        c[i] = 1.0\n    return c",
         "f.py:3: hybrid.script f: expected one name as the loop's variable, got several"),
        (LOOP + "        c[i] = 1.0\n    else:\n        pass\n    return c", "f.py:3: hybrid.script f: expected a loop without else, got one with"),
        (OUT + "    for i in bind('threadIdx.x'):\n        c[i] = 1.0\n    return c",
         "f.py:3: hybrid.script f: expected bind(thread_index, extent), such as bind(\"threadIdx.x\", 64), got others"),
        (OUT + "    for i in const_range(100000):\n        c[i] = 1.0\n    return c",
         "f.py:3: hybrid.script f: expected const_range of at most 16384 iterations, got 100000"),
        (OUT + "    x = y = 1.0\n    return c", "f.py:3: hybrid.script f: expected one assignment in a statement, got several"),
        (OUT + "    x, y = allocate((4,))\n    return c", "f.py:3: hybrid.script f: expected one name for a buffer, got x, y = allocate((4,))"),
        (OUT + "    a.shape = 3\n    return c", "f.py:3: hybrid.script f: expected an element or a name to assign to, got a.shape"),
        (OUT + "    table[0] = 3\n    return c", "f.py:3: hybrid.script f: expected a tensor to assign an element of, got table"),
        (OUT + "    t = allocate(dtype='float32')\n    return c",
         "f.py:3: hybrid.script f: expected allocate(shape, dtype, scope), got allocate(dtype='float32')"),
        (OUT + "    t = output_tensor((4,), 'float32', 'local')\n    return c",
         "f.py:3: hybrid.script f: expected output_tensor(shape, dtype), got output_tensor((4,), 'float32', 'local')"),
        (OUT + "    c[0] = table['x']\n    return c", "f.py:3: hybrid.script f: expected an element of a tensor or a tuple, got table['x']"),
        (OUT + "    c[0] = a @ a\n    return c", "f.py:3: hybrid.script f: expected an operator on numbers, got a @ a"),
        (OUT + "    c[0] @= 2.0\n    return c", "f.py:3: hybrid.script f: expected an operator on numbers, got c[0] @= 2.0"),
        (OUT + "    c[0] = a is a\n    return c", "f.py:3: hybrid.script f: expected a comparison of numbers, got a is a"),
        (OUT + "    c[0] = table(3)\n    return c", "f.py:3: hybrid.script f: expected a function, got table"),
        (OUT + "    c[0] = te.placeholder((4,))\n    return c", "f.py:3: hybrid.script f: expected a value or a script, got a tensor of te.placeholder"),
        (OUT + "    c[0] = len(allocated)\n    return c", "f.py:3: hybrid.script f: expected a name that has a value here, got allocated"),
        (OUT + "    t = allocate((1,), 'float32', 'shared')\n    for i in bind('threadIdx.x', 8):\n        t[0] = a[0]\n"
         "    for i in bind('threadIdx.x', 8):\n        c[i] = t[0]\n    return c",
         "f.py:7: hybrid.script f: expected the shared buffer t in one nest of bind loops, got it after that"),
    ],
)  # fmt: skip
def test_what_is_refused(body: str, message: str) -> None:
    assert refused(body) == message


def test_lengths_of_more_dimensions() -> None:
    message = refused(OUT + "    for i in range(len(a)):\n        c[i] = 1.0\n    return c", shape=(4, 4))
    assert message == "f.py:3: len: expected a tensor of one dimension, got 2"


@script
def endless(a):
    return_ = endless(a)
    return return_


@script
def options(a, *rest):
    return a


def test_what_is_no_script() -> None:
    with pytest.raises(
        ValueError,
        match=r"test_hybrid.py:\d+: hybrid.script options: expected parameters by position alone, got others$",
    ):
        options(te.placeholder((4,)))
    with pytest.raises(TypeError, match=r"test_hybrid.py:\d+: hybrid.script: expected a function, got 3$"):
        script(3)
    with pytest.raises(ValueError, match="hybrid.script: expected a function made by def, got "):
        script(lambda a: a)(te.placeholder((4,)))
    names: dict = {}
    exec("def f(a): return a", names)
    with pytest.raises(ValueError, match="hybrid.script: expected a function whose source can be read, got "):
        script(names["f"])(te.placeholder((4,)))
    with pytest.raises(TypeError, match="hybrid.script fanout: expected tensors, expressions and numbers, got None"):
        fanout(te.placeholder((4,)), None)
    A = te.placeholder((8,), name="A")
    s = te.create_schedule(running_maximum(A).op)
    with pytest.raises(
        tvm.ScheduleError, match="expected a stage with loops of its own, got the script 'running_maximum'"
    ):
        s[s.outputs[0]].split(s.outputs[0].axis[0], factor=4)


@script
def with_a_table(a, table):
    b = output_tensor(a.shape, a.dtype)
    for i in const_range(2):
        for j in const_range(len(table[0])):
            b[i, j] = a[i, j] * table[i, j] + table[i][0]
    return b


def test_a_table_of_numbers() -> None:
    """Of two indices, as `tvm.runtime.convert` makes one of nested lists."""
    numbers = np.array([[1, 2, 3], [5, 4, 3]], "int32")
    a = te.placeholder((2, 3), "int32", name="a")
    b = with_a_table(a, tvm.runtime.convert(numbers.tolist()))
    f = tvm.build(te.create_schedule(b.op), [a, b], target="llvm")
    given = np.arange(6, dtype="int32").reshape(2, 3)
    (got,) = tvm.testing.run(f, [given], [((2, 3), "int32")])
    np.testing.assert_array_equal(got, given * numbers + numbers[:, :1])
    with pytest.raises(ValueError, match=r"hybrid.script with_a_table: expected an index below 1, got 1$"):
        with_a_table(a, [[1, 2]])
