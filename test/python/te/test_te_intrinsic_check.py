"""What is tried of an intrinsic: numbers of the whole range of a type, its edges, how it rounds, infinities."""

from __future__ import annotations

import pytest

from tilewright import te, tir


def elementwise(described, computed, dtype="float32", out=None, extent=64):
    """An intrinsic of one input that is described so, and computed so."""
    a = te.placeholder((extent,), dtype, name="a")
    b = te.compute((extent,), lambda i: described(a[i]), name="b")
    assert b.dtype == (out or dtype)

    def statements(ins, outs):
        ib = tir.ir_builder.create()
        with ib.for_range(0, extent, name="i") as i:
            ib.buffer_ptr(outs[0])[i] = computed(ins[0][i])
        return ib.get()

    return te.decl_tensor_intrin(b.op, statements, name="mine")


def dot(product, sum_of, dtype, out, scratch=None, extent=16):
    """An intrinsic that is described as the sum of products cast to `out`, and adds up in a scratch element."""
    a, b = (te.placeholder((4, extent), dtype, name=name) for name in "ab")
    k = te.reduce_axis((0, extent), name="k")
    c = te.compute((4,), lambda i: te.sum(a[i, k].astype(out) * b[i, k].astype(out), axis=k), name="c")

    def statements(ins, outs):
        ib = tir.ir_builder.create()
        with ib.for_range(0, 4, name="i") as i:
            total = ib.allocate(scratch or out, (1,), name="total", scope="local")
            total[0] = te.const(0, scratch or out)
            with ib.for_range(0, extent, name="k") as j:
                total[0] = sum_of(total[0], product(ins[0][i, j], ins[1][i, j]))
            ib.buffer_ptr(outs[0])[i] = total[0].astype(out)
        return ib.get()

    return te.decl_tensor_intrin(c.op, statements, name="mine")


def refusal(make) -> str:
    with pytest.raises(ValueError) as caught:
        make()
    return str(caught.value).split(": ", 1)[1]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "float32", "float64", "bfloat16"])
def test_one_that_clamps_at_100(dtype: str) -> None:
    text = refusal(lambda: elementwise(lambda x: x, lambda x: te.min(x, te.const(100, dtype)), dtype))
    assert text.startswith("decl_tensor_intrin mine: expected the body to compute what is described, got 100")


def test_one_that_clamps_the_least_number() -> None:
    """-128 has no opposite in int8."""
    text = refusal(lambda: elementwise(lambda x: x, lambda x: te.max(x, te.const(-127, "int8")), "int8"))
    assert "got -127 in place of -128" in text


@pytest.mark.parametrize("dtype", ["int64", "uint32", "uint64"])
@pytest.mark.filterwarnings("error")
def test_one_that_changes_the_largest_number(dtype: str) -> None:
    largest, seven = te.max_value(dtype), te.const(7, dtype)
    text = refusal(lambda: elementwise(lambda x: x, lambda x: te.select(x.equal(largest), seven, x), dtype))
    assert f"got 7 in place of {largest}" in text


@pytest.mark.parametrize(
    ("dtype", "number"),
    [("int8", 55), ("int32", 12345), ("int64", -(2**62)), ("uint64", 2**63 + 5), ("float16", 77.0)]
    + [("bfloat16", 260.0), ("float32", 12345.5), ("float64", 1e300)],
)
def test_one_that_is_wrong_for_a_number_that_it_names(dtype: str, number: float) -> None:
    """Random numbers do not meet it: those that stand in the intrinsic are tried, too."""
    named, seven = te.const(number, dtype), te.const(7, dtype)
    text = refusal(lambda: elementwise(lambda x: x, lambda x: te.select(x.equal(named), seven, x), dtype))
    assert "got 7" in text
    refusal(lambda: elementwise(lambda x: x, lambda x: te.select(x > named, seven, x), dtype))


def test_a_product_that_is_wrong_for_a_number_that_it_names() -> None:
    big = te.const(300000, "float32")
    refusal(lambda: dot(lambda x, y: te.select(x == big, y, x * y), lambda s, p: s + p, "float32", "float32"))
    four = te.const(40, "int32")
    refusal(lambda: dot(lambda x, y: te.select(x * y == four, x, x * y), lambda s, p: s + p, "int32", "int32"))


def test_one_that_sums_in_int8() -> None:
    text = refusal(lambda: dot(lambda x, y: x * y, lambda s, p: s + p, "int8", "int32", "int8"))
    assert "expected the body to compute what is described" in text


def test_one_that_multiplies_in_int8() -> None:
    text = refusal(lambda: dot(lambda x, y: (x * y).astype("int32"), lambda s, p: s + p, "int8", "int32"))
    assert "expected the body to compute what is described" in text


@pytest.mark.parametrize("narrow", ["float16", "bfloat16"])
def test_one_that_rounds(narrow: str) -> None:
    """An element, an operand of a sum, a sum: all by less than 0.05 % in float16."""
    text = refusal(lambda: elementwise(lambda x: x, lambda x: x.astype(narrow).astype("float32")))
    assert "expected the body to compute what is described" in text

    def rounded(x):
        return x.astype(narrow).astype("float32")

    refusal(lambda: dot(lambda x, y: rounded(x) * y, lambda s, p: s + p, "float32", "float32"))
    refusal(lambda: dot(lambda x, y: x * y, lambda s, p: rounded(s + p), "float32", "float32"))
    refusal(lambda: dot(lambda x, y: (x * y).astype(narrow), lambda s, p: s + p, "float32", "float32", narrow))


def test_one_that_computes_float64_in_float32() -> None:
    refusal(
        lambda: elementwise(lambda x: x * x, lambda x: (x.astype("float32") * x.astype("float32")).astype("float64"),
                            "float64")
    )  # fmt: skip


def test_one_that_drops_what_is_no_number() -> None:
    zero = te.const(0, "float32")
    text = refusal(lambda: elementwise(lambda x: x, lambda x: te.if_then_else(te.isnan(x), zero, x)))
    assert "got 0.0 in place of nan" in text
    text = refusal(lambda: elementwise(lambda x: x * 0, lambda x: zero))
    assert "in place of nan" in text


@pytest.mark.sweep
def test_what_computes_the_same_passes() -> None:
    for dtype in ("int8", "uint8", "int32", "int64", "bool"):
        elementwise(lambda x: x, lambda x: x, dtype)
    for dtype in ("float16", "bfloat16", "float32", "float64", "float8_e5m2", "float8_e4m3fn"):
        elementwise(lambda x: x, lambda x: x, dtype)
    for function in (te.exp, te.tanh, te.sin, te.sqrt, te.log, te.erf, te.sigmoid, te.floor):
        elementwise(function, function)
    elementwise(lambda x: x.astype("int32"), lambda x: x.astype("int32"), out="int32")
    elementwise(lambda x: x.astype("int8"), lambda x: x.astype("int8"), "int32", "int8")


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("dtype", "out"),
    [("int8", "int32"), ("uint8", "int32"), ("int32", "int32"), ("float16", "float16"), ("float16", "float32")]
    + [("bfloat16", "float32"), ("float32", "float32"), ("float64", "float64")],
)
def test_sums_that_are_right_pass(dtype: str, out: str) -> None:
    dot(lambda x, y: x.astype(out) * y.astype(out), lambda s, p: s + p, dtype, out)
    # The other way round, and of more.
    dot(lambda x, y: y.astype(out) * x.astype(out), lambda s, p: p + s, dtype, out, extent=48)


@pytest.mark.parametrize(("reduce", "dtype"), [(te.max, "float32"), (te.min, "int8"), (te.max, "float16")])
def test_largest_and_least(reduce, dtype: str) -> None:
    a = te.placeholder((8, 4), dtype, name="a")
    k = te.reduce_axis((0, 4), name="k")
    c = te.compute((8,), lambda i: reduce(a[i, k], axis=k), name="c")

    def part(outs, ins, adds):
        ib = tir.ir_builder.create()
        out = ib.buffer_ptr(outs[0])
        first = te.min_value(dtype) if reduce is te.max else te.max_value(dtype)
        with ib.for_range(0, 8, name="i") as i:
            if not adds:
                out[i] = first
            else:
                with ib.for_range(0, 4, name="k") as j:
                    out[i] = reduce(out[i], ins[0][i, j])
        return ib.get()

    te.decl_tensor_intrin(c.op, lambda ins, outs: (None, part(outs, ins, False), part(outs, ins, True)), name="largest")


def test_reads_at_indices_that_are_read() -> None:
    a, at = te.placeholder((8,), name="a"), te.placeholder((8,), "int32", name="at")
    b = te.compute((8,), lambda i: a[at[i]], name="b")

    def statements(ins, outs):
        ib = tir.ir_builder.create()
        ib.buffer_ptr(outs[0])[0] = ins[0][0]
        return ib.get()

    text = refusal(lambda: te.decl_tensor_intrin(b.op, statements, name="gather"))
    assert text == "decl_tensor_intrin gather: expected reads at indices of the axes, got one at an index that is read"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8", "bool"])
def test_an_operand_without_dimensions(dtype: str) -> None:
    a = te.placeholder((), dtype, name="a")
    b = te.compute((), lambda: a[()], name="b")

    def statements(ins, outs):
        ib = tir.ir_builder.create()
        ib.buffer_ptr(outs[0])[()] = ins[0][()]
        return ib.get()

    assert te.decl_tensor_intrin(b.op, statements, name="mine")
