"""Intrinsics and their statements: what is refused where they are declared."""

from __future__ import annotations

import pytest

import tilewright as tvm
from tilewright import te, tir


def doubling():
    a = te.placeholder((4, 4), name="a")
    return a, te.compute((4, 4), lambda i, j: a[i, j] * 2, name="b")


def declared(write, op=None, **options):
    b = doubling()[1]

    def fcompute(ins, outs):
        ib = tir.ir_builder.create()
        made = write(ib, ins, outs)
        return ib.get() if made is None else made

    return te.decl_tensor_intrin((b if op is None else op).op, fcompute, name="twice", **options)


def fill(ib, ins, outs, value=lambda x: x * 2):
    out = ib.buffer_ptr(outs[0])
    with ib.for_range(0, 4, name="i") as i:
        with ib.for_range(0, 4, name="j") as j:
            out[i, j] = value(ins[0][i, j])


def error(kind, call) -> str:
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value).split(": ", 1)[1]


def test_one_that_keeps_its_promise() -> None:
    assert repr(declared(fill)) == "intrinsic(twice)"


def test_one_that_does_not() -> None:
    text = error(ValueError, lambda: declared(lambda ib, ins, outs: fill(ib, ins, outs, lambda x: x * 3)))
    assert text.startswith("decl_tensor_intrin twice: expected the body to compute what is described, got ")
    assert text.endswith(", for random inputs") and " in place of " in text

    def misses_a_row(ib, ins, outs):
        out = ib.buffer_ptr(outs[0])
        with ib.for_range(0, 3, name="i") as i, ib.for_range(0, 4, name="j") as j:
            out[i, j] = ins[0][i, j] * 2

    assert "at b[3, " in error(ValueError, lambda: declared(misses_a_row))


def test_reset_and_update_are_checked() -> None:
    a = te.placeholder((4,), name="a")
    k = te.reduce_axis((0, 4), name="k")
    c = te.compute((1,), lambda i: te.max(a[k], axis=k), name="c")

    def declare(start, step):
        def fcompute(ins, outs):
            def reset():
                ib = tir.ir_builder.create()
                ib.buffer_ptr(outs[0])[0] = start
                return ib.get()

            def update():
                ib = tir.ir_builder.create()
                with ib.for_range(0, 4, name="k") as i:
                    ib.buffer_ptr(outs[0])[0] = step(outs[0][0], ins[0][i])
                return ib.get()

            return None, reset(), update()

        return te.decl_tensor_intrin(c.op, fcompute, name="top")

    assert repr(declare(te.min_value("float32"), te.max)) == "intrinsic(top)"
    text = error(ValueError, lambda: declare(5.0, te.max))
    assert text.startswith(
        "decl_tensor_intrin top: expected the reset and the update to compute what is described, got 5.0 in "
    )
    text = error(ValueError, lambda: declare(te.min_value("float32"), lambda x, y: y))
    assert text.startswith("decl_tensor_intrin top: expected the ")


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("count", [6, 64])
def test_products_in_another_order(dtype: str, count: int) -> None:
    """What would be an infinity in one order and, with a 0, no number in another, tells nothing of an intrinsic."""
    A = te.placeholder((8, count), dtype, name="A")
    k = te.reduce_axis((0, count), name="k")
    P = te.compute((8,), lambda i: te.prod(A[i, k], axis=k), name="P")

    def declared(factor: float) -> te.TensorIntrin:
        def fcompute(ins, outs):
            def of(*, first: bool):
                ib = tir.ir_builder.create()
                a, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
                with ib.for_range(0, 8, name="i") as i:
                    own = ib.allocate(dtype, (1,), name="own")
                    own[0] = te.const(factor, dtype)
                    with ib.for_range(0, count, name="j") as j:
                        own[0] = own[0] * a[i, count - 1 - j]
                    y[i] = own[0] if first else y[i] * own[0]
                return ib.get()

            return of(first=True), None, of(first=False)

        return te.decl_tensor_intrin(P.op, fcompute, name="prods")

    declared(1.0)
    with pytest.raises(ValueError, match="decl_tensor_intrin prods: expected the body to compute what is described"):
        declared(1.5)


def test_what_is_declared() -> None:
    a, b = doubling()
    c = te.compute((4, 4), lambda i, j: b[i, j] + 1, name="c")
    assert error(ValueError, lambda: declared(fill, c)) == (
        "decl_tensor_intrin twice: expected inputs that are placeholders, got the computed b"
    )
    n = te.var("n")
    x = te.placeholder((n,), name="x")
    y = te.compute((n,), lambda i: x[i] * 2, name="y")
    assert error(ValueError, lambda: declared(fill, y)) == (
        "decl_tensor_intrin twice: expected constant extents of x, got (n,)"
    )
    assert error(TypeError, lambda: te.decl_tensor_intrin(a.op, fill)) == (
        "decl_tensor_intrin tensor_intrin: expected a compute, got PlaceholderOp(a)"
    )
    assert error(TypeError, lambda: declared(fill, scalar_params=[1])) == (
        "decl_tensor_intrin twice: expected no scalar_params: a tile is described by its tensors alone"
    )
    buffer = tir.decl_buffer((4,), "float32", name="wrong")
    assert error(ValueError, lambda: te.decl_tensor_intrin(b.op, fill, binds={a: buffer}, name="twice")) == (
        "decl_tensor_intrin twice: expected a buffer for a of [4, 4] float32, got buffer(wrong, [4], float32)"
    )
    assert error(TypeError, lambda: te.decl_tensor_intrin(b.op, fill, binds=[buffer], name="twice")) == (
        "decl_tensor_intrin twice: expected binds as a dictionary of buffers by tensor, got [buffer(wrong, [4], float32)]"
    )
    assert error(TypeError, lambda: te.decl_tensor_intrin(b.op, fill, binds={a: 3}, name="twice")) == (
        "decl_tensor_intrin twice: expected a buffer of decl_buffer for a, got 3"
    )


def test_what_is_returned() -> None:
    whole = "decl_tensor_intrin twice: expected "
    assert error(TypeError, lambda: declared(lambda ib, ins, outs: 3)) == whole + (
        "statements, as ib.get() returns, got 3"
    )
    assert error(ValueError, lambda: declared(lambda ib, ins, outs: ([], [], [], []))) == whole + (
        "a body, or (body, reset, update), got 4 values"
    )
    assert error(ValueError, lambda: declared(lambda ib, ins, outs: (None, []))) == whole + (
        "a body or an update, got neither"
    )
    assert error(ValueError, lambda: declared(lambda ib, ins, outs: ([], []))) == whole + (
        "a body alone for what is no reduction, got a reset or an update"
    )


def test_statements() -> None:
    ib = tir.ir_builder.create()
    b = tir.decl_buffer((4,), "float32", name="b")
    out = ib.buffer_ptr(b)
    assert error(ValueError, lambda: b[0, 1]) == "buffer b: expected 1 indices, got 2"
    assert error(ValueError, lambda: b[4]) == "index 0 of b: expected 0 to 3, got 4"
    assert error(TypeError, lambda: b[1.0]) == "index 0 of b: expected an integer, got float32"
    assert error(TypeError, lambda: out.__setitem__(0, b[1].astype("float16"))) == (
        "buffer b: expected a value of float32 to store, got float16"
    )
    assert error(TypeError, lambda: b.vload([0], "float32x4")) == (
        "buffer b: expected float32, one element, got 'float32x4': load elements in a loop of ib.for_range(0, lanes, "
        "kind='vectorize')"
    )
    assert error(TypeError, lambda: b.vload([0], "float16")) == "buffer b: expected float32, one element, got 'float16'"
    assert error(TypeError, lambda: b.access_ptr("r")) == (
        "buffer b: expected loads and stores of elements, as b[i, j] and ib.buffer_ptr(b)[i, j] = x, got access_ptr: there is "
        "no function outside to hand a pointer to"
    )
    assert error(TypeError, lambda: ib.emit(3)) == (
        "emit: expected a statement on buffers, got 3: a call of a function that is compiled elsewhere has no place in a kernel"
    )
    assert error(TypeError, lambda: ib.buffer_ptr(3)) == "buffer_ptr: expected a buffer, got 3"
    assert error(ValueError, lambda: ib.allocate("float32", (4,), scope="warp")) == (
        "allocate buf: expected one of local, shared, global as scope, got 'warp'"
    )
    assert error(TypeError, lambda: ib.allocate("float32", (te.var("n"),), scope="local")) == (
        "allocate buf: expected constant extents, got n"
    )
    assert error(ValueError, lambda: ib.else_scope().__enter__()) == (
        "else_scope: expected an if_scope right before, got none"
    )
    assert error(TypeError, lambda: ib.if_scope(b[0]).__enter__()) == (
        "if_scope: expected a condition, got b[0] of float32"
    )
    assert error(ValueError, lambda: ib.for_range(0, 4, kind="tensorize").__enter__()) == (
        "for_range: expected one of serial, parallel, unroll, vectorize as kind, got 'tensorize'"
    )
    assert error(TypeError, lambda: ib.for_range(0, b[0]).__enter__()) == (
        "for_range: expected an integer as end, got b[0]"
    )
    assert error(TypeError, lambda: tir.decl_buffer((4,), name="b", stride=1)) == (
        "decl_buffer b: expected data, strides, elem_offset, data_alignment, offset_factor, buffer_type, axis_separators, got "
        "stride"
    )
    assert error(TypeError, lambda: tvm.tir.decl_buffer(("n",), name="b")) == (
        "decl_buffer b: dimension 0: expected an integer or te.var, got 'n'"
    )


def test_inputs_stay_as_they_are() -> None:
    def spoils(ib, ins, outs):
        fill(ib, ins, outs)
        with ib.for_range(0, 4) as i, ib.if_scope(i > 2):
            ib.buffer_ptr(ins[0])[i, 0] = 0.0

    assert error(ValueError, lambda: declared(spoils)) == (
        "decl_tensor_intrin twice: expected stores to its results, got one to the input a"
    )


def test_a_buffer_of_another_intrinsic() -> None:
    other = tir.decl_buffer((4, 4), "float32", name="other")
    assert error(ValueError, lambda: declared(lambda ib, ins, outs: fill(ib, [other], outs))) == (
        "expected one of the buffers of the statements (a, b), got other"
    )
