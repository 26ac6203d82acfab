"""The IR that expressions become."""

import pytest

from tilewright import te
from tilewright.te.emit import emit_module


def text(program, args, name="main"):
    """The module with the user's names, without its first and last line."""
    lines = (
        emit_module(program, args, name)
        .operation.get_asm(use_name_loc_as_prefix=True, use_local_scope=True)
        .strip()
        .splitlines()
    )
    return "\n".join(line[2:] for line in lines[1:-1])


def body(program, args):
    """The lines inside the computes."""
    lines = [line for line in text(program, args).splitlines() if line.startswith("    ")]
    return "\n".join(line[4:] for line in lines)


def test_matmul():
    A = te.placeholder((64, 32), name="A")
    B = te.placeholder((32, 48), name="B")
    k = te.reduce_axis((0, 32), name="k")
    C = te.compute((64, 48), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    assert (
        text(C, [A, B, C], "mmult")
        == """\
func.func @mmult(%A: tensor<64x32xf32> {te.dtype = f32, te.name = "A"}, %B: tensor<32x48xf32> {te.dtype = f32, te.name = "B"}, %C: tensor<64x48xf32> {te.dtype = f32, te.name = "C", te.output}) -> tensor<64x48xf32> {
  %C_0 = te.compute "C" (%i: 64, %j: 48) sum (%k: 32) {
    %A_1 = te.read %A[%i, %k] : tensor<64x32xf32>
    %B_2 = te.read %B[%k, %j] : tensor<32x48xf32>
    %0 = arith.mulf %A_1, %B_2 fastmath<contract> : f32
    te.yield %0 : f32
  } : tensor<64x48xf32>
  return %C_0 : tensor<64x48xf32>
}"""
    )


def test_convolution_with_padding():
    A = te.placeholder((1, 4, 13, 13), name="A")
    W = te.placeholder((8, 4, 3, 3), name="W")
    pad = te.compute(
        (1, 4, 15, 15),
        lambda n, c, y, x: te.if_then_else(te.all(y >= 1, y < 14, x >= 1, x < 14), A[n, c, y - 1, x - 1], 0.0),
        name="pad",
    )
    rc, ry, rx = te.reduce_axis((0, 4), "rc"), te.reduce_axis((0, 3), "ry"), te.reduce_axis((0, 3), "rx")
    B = te.compute(
        (1, 8, 13, 13),
        lambda n, f, y, x: te.sum(pad[n, rc, y + ry, x + rx] * W[f, rc, ry, rx], axis=[rc, ry, rx]),
        name="B",
    )
    assert (
        body(B, [A, W, B])
        == """\
%c1 = arith.constant 1 : index
%0 = arith.cmpi sge, %y, %c1 : index
%c14 = arith.constant 14 : index
%1 = arith.cmpi slt, %y, %c14 : index
%2 = arith.andi %0, %1 : i1
%c1_1 = arith.constant 1 : index
%3 = arith.cmpi sge, %x, %c1_1 : index
%4 = arith.andi %2, %3 : i1
%c14_2 = arith.constant 14 : index
%5 = arith.cmpi slt, %x, %c14_2 : index
%6 = arith.andi %4, %5 : i1
%7 = scf.if %6 -> (f32) {
  %A_3 = te.read %A[%n, %c, %y - 1, %x - 1] : tensor<1x4x13x13xf32>
  scf.yield %A_3 : f32
} else {
  %cst = arith.constant 0.000000e+00 : f32
  scf.yield %cst : f32
}
te.yield %7 : f32
%pad_1 = te.read %pad[%n, %rc, %y + %ry, %x + %rx] : tensor<1x4x15x15xf32>
%W_2 = te.read %W[%f, %rc, %ry, %rx] : tensor<8x4x3x3xf32>
%0 = arith.mulf %pad_1, %W_2 fastmath<contract> : f32
te.yield %0 : f32"""
    )


def test_argmax():
    A = te.placeholder((4, 8), name="A")
    k = te.reduce_axis((0, 8), "k")

    def combine(x, y):
        first = te.any(x[1] > y[1], te.all(x[1] == y[1], x[0] < y[0]))
        return te.select(first, x[0], y[0]), te.select(first, x[1], y[1])

    argmax = te.comm_reducer(combine, lambda t0, t1: (te.const(-1, t0), te.min_value(t1)), name="argmax")
    at, value = te.compute((4,), lambda i: argmax((k, A[i, k]), axis=k), name="T")
    assert (
        text([at, value], [A, at, value])
        == """\
func.func @main(%A: tensor<4x8xf32> {te.dtype = f32, te.name = "A"}, %T.v0: tensor<4xi32> {te.dtype = i32, te.name = "T.v0", te.output}, %T.v1: tensor<4xf32> {te.dtype = f32, te.name = "T.v1", te.output}) -> (tensor<4xi32>, tensor<4xf32>) {
  %T:2 = te.compute "T" (%i: 4) reduce (%k: 8) {
    %0 = arith.index_cast %k : index to i32
    %A_0 = te.read %A[%i, %k] : tensor<4x8xf32>
    te.yield %0, %A_0 : i32, f32
  } combine (%lhs0: i32, %lhs1: f32, %rhs0: i32, %rhs1: f32) identity [-1 : i32, 0xFF800000 : f32] {
    %0 = arith.cmpf ogt, %lhs1, %rhs1 : f32
    %1 = arith.cmpf oeq, %lhs1, %rhs1 : f32
    %2 = arith.cmpi slt, %lhs0, %rhs0 : i32
    %3 = arith.andi %1, %2 : i1
    %4 = arith.ori %0, %3 : i1
    %5 = arith.select %4, %lhs0, %rhs0 : i32
    %6 = arith.select %4, %lhs1, %rhs1 : f32
    te.yield %5, %6 : i32, f32
  } : tensor<4xi32>, tensor<4xf32>
  return %T#0, %T#1 : tensor<4xi32>, tensor<4xf32>
}"""
    )


def test_symbolic_extents():
    n, m = te.var("n"), te.size_var("m")
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), "k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    C = te.compute((n * 2 - 1,), lambda i: B[i // 2] + (i * n).astype("float32"), name="C")
    assert (
        text(C, [A, C])
        == """\
func.func @main(%A: tensor<?x?xf32> {te.dtype = f32, te.name = "A", te.symbols = ["n", "m"]}, %C: tensor<?xf32> {te.dtype = f32, te.name = "C", te.output, te.symbols = ["n * 2 - 1"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %A, %c0 : tensor<?x?xf32>
  %c1 = arith.constant 1 : index
  %m = tensor.dim %A, %c1 : tensor<?x?xf32>
  %B = te.compute "B" (%i: %n) sum (%k: %m) {
    %A_2 = te.read %A[%i, %k] : tensor<?x?xf32>
    te.yield %A_2 : f32
  } : tensor<?xf32>
  %c0_0 = arith.constant 0 : index
  %dim = tensor.dim %C, %c0_0 : tensor<?xf32>
  %C_1 = te.compute "C" (%i: %dim) {
    %B_2 = te.read %B[%i floordiv 2] : tensor<?xf32>
    %0 = arith.muli %i, %n : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.trunci %1 : i64 to i32
    %3 = arith.sitofp %2 : i32 to f32
    %4 = arith.addf %B_2, %3 fastmath<contract> : f32
    te.yield %4 : f32
  } : tensor<?xf32>
  return %C_1 : tensor<?xf32>
}"""
    )


def test_two_symbols_of_one_name_and_one_only_in_the_output():
    n, other = te.var("n"), te.var("n")
    A = te.placeholder((n,), name="A")
    C = te.compute((other, n), lambda i, j: A[j] + other.astype("float32"), name="C")
    lines = text(C, [A, C]).splitlines()
    assert 'te.symbols = ["n"]' in lines[0] and 'te.output, te.symbols = ["n_1", "n"]' in lines[0]
    assert "  %n = tensor.dim %A, %c0 : tensor<?xf32>" in lines
    assert "  %n_1 = tensor.dim %C, %c0_0 : tensor<?x?xf32>" in lines


def test_gather():
    A = te.placeholder((16, 8), name="A")
    at = te.placeholder((4,), "int32", name="at")
    byte = te.placeholder((4,), "uint8", name="byte")
    C = te.compute((4, 8), lambda i, j: A[at[i] * 2 + j - 1, byte[i]], name="C")
    assert (
        body(C, [A, at, byte, C])
        == """\
%at_1 = te.read %at[%i] : tensor<4xi32>
%c2_i32 = arith.constant 2 : i32
%0 = arith.muli %at_1, %c2_i32 : i32
%1 = arith.index_cast %0 : i32 to index
%byte_2 = te.read %byte[%i] : tensor<4xi8>
%2 = arith.index_castui %byte_2 : i8 to index
%A_3 = te.read %A[%j + symbol(%1) - 1, symbol(%2)] : tensor<16x8xf32>
te.yield %A_3 : f32"""
    )


def test_index_that_is_no_affine_map():
    A = te.placeholder((64,), name="A")
    C = te.compute(
        (4, 8), lambda i, j: A[i * j + te.if_then_else(i < 2, i, 0) + te.min(j, 3) + i % 3 + j // 2], name="C"
    )
    assert (
        body(C, [A, C])
        == """\
%0 = arith.muli %i, %j : index
%c2 = arith.constant 2 : index
%1 = arith.cmpi slt, %i, %c2 : index
%2 = scf.if %1 -> (index) {
  scf.yield %i : index
} else {
  %c0 = arith.constant 0 : index
  scf.yield %c0 : index
}
%c3 = arith.constant 3 : index
%3 = arith.minsi %j, %c3 : index
%A_1 = te.read %A[%i mod 3 + symbol(%0) + symbol(%2) + symbol(%3) + %j floordiv 2] : tensor<64xf32>
te.yield %A_1 : f32"""
    )


def test_several_outputs_and_their_order():
    A = te.placeholder((16, 8), "float16", "A")
    B, C = te.compute((16, 8), lambda i, j: (A[i, j] + 1, A[i, j].astype("float32") * 2.5), name="B")
    lines = text([B, C], [A, C, B]).splitlines()
    assert lines[1] == '  %B:2 = te.compute "B" (%i: 16, %j: 8) {'
    assert lines[-3] == "  } : tensor<16x8xf16>, tensor<16x8xf32>"
    assert lines[-2] == "  return %B#1, %B#0 : tensor<16x8xf32>, tensor<16x8xf16>"


def test_intermediate_as_an_output():
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] + 1, name="B")
    C = te.compute((8,), lambda i: B[i] * 2, name="C")
    assert "return %B_0, %C_1 : tensor<8xf32>, tensor<8xf32>" in text(C, [A, B, C])


def test_stages_of_one_name_get_names_of_their_own():
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] + 1, name="T")
    C = te.compute((8,), lambda i: B[i] * 2, name="T")
    assert [line.split('"')[1] for line in text(C, [A, C]).splitlines() if "te.compute" in line] == ["T", "T_1"]


def test_axes_of_one_name_get_names_of_their_own():
    A = te.placeholder((8, 8), name="A")
    i = te.reduce_axis((0, 8), "i")
    C = te.compute((8,), lambda i_: te.sum(A[i_, i], axis=i), name="C")
    D = te.compute((8,), lambda i: A[i, i], name="D")
    k, n = te.reduce_axis((0, 8)), te.reduce_axis((0, 8))
    E = te.compute((), lambda: te.sum(A[k, n], axis=[k, n]), name="E")
    assert 'te.compute "C" (%i_: 8) sum (%i: 8)' in text(C, [A, C])
    assert 'te.compute "D" (%i: 8) {' in text(D, [A, D])
    assert 'te.compute "E" () sum (%rv: 8, %rv_1: 8) {' in text(E, [A, E]).replace(' as "rv_1"', "")


def test_reduction_from_a_first_value_where():
    A = te.placeholder((16,), "uint8", "A")
    k = te.reduce_axis((2, 16), "k")
    R = te.compute((), lambda: te.max(A[k], axis=k, where=k % 2 == 0), name="R")
    assert 'te.compute "R" () unsigned max (%k: 14) {' in text(R, [A, R])
    assert (
        body(R, [A, R])
        == """\
%0 = affine.apply affine_map<(d0) -> (d0 mod 2)>(%k)
%c0 = arith.constant 0 : index
%1 = arith.cmpi eq, %0, %c0 : index
%2 = scf.if %1 -> (i8) {
  %A_1 = te.read %A[%k + 2] : tensor<16xi8>
  scf.yield %A_1 : i8
} else {
  %c0_i8 = arith.constant 0 : i8
  scf.yield %c0_i8 : i8
}
te.yield %2 : i8"""
    )


def ops(dtype, function):
    """The names of the ops, and the attributes that matter, that `function` of one element becomes."""
    A = te.placeholder((8,), dtype, "A")
    C = te.compute((8,), lambda i: function(A[i]), name="C")
    lines = [line.split(" = ")[-1] for line in body(C, [A, C]).splitlines()]
    return [line for line in lines if not line.startswith(("te.", "arith.constant"))]


def test_unsigned_integers_take_unsigned_ops():
    found = ops("uint8", lambda a: te.select(a < 3, te.max(a // 3, a >> 1), a % 5).astype("float32"))
    assert [
        line.split()[0] for line in found
    ] == "arith.cmpi arith.divui arith.shrui arith.maxui arith.remui arith.select arith.uitofp".split()
    assert found[0].startswith("arith.cmpi ult")


def test_signed_integers():
    found = ops("int32", lambda a: te.select(a < 3, te.min(a // 3, a >> 1), te.truncmod(a, 5)).astype("int64"))
    assert [
        line.split()[0] for line in found
    ] == "arith.cmpi arith.floordivsi arith.shrsi arith.minsi arith.remsi arith.select arith.extsi".split()
    assert found[0].startswith("arith.cmpi slt")


def test_float_ops_may_be_contracted():
    found = ops("float32", lambda a: te.max(-te.exp(a) + a * a, a / 3) - te.abs(a))
    assert [
        line.split()[0] for line in found
    ] == "math.exp arith.negf arith.mulf arith.addf arith.divf arith.maximumf math.absf arith.subf".split()
    assert all("fastmath<contract>" in line for line in found)


def test_conversions():
    def conversion(dtype, to):
        return [
            line.split(" ", 1)[0].split(".")[1] + " " + line.split(" : ")[-1]
            for line in ops(dtype, lambda a: a.astype(to))
        ]

    assert conversion("float32", "float32") == []
    assert conversion("float16", "bfloat16") == ["extf f16 to f32", "truncf f32 to bf16"]
    assert conversion("float8_e4m3fn", "float16") == ["extf f8E4M3FN to f16"]
    assert conversion("float8_e4m3fn", "float8_e5m2") == ["extf f8E4M3FN to f32", "truncf f32 to f8E5M2"]
    assert conversion("int32", "float8_e5m2") == ["sitofp i32 to f32", "truncf f32 to f8E5M2"]
    assert conversion("float8_e5m2", "uint8") == ["extf f8E5M2 to f32", "fptoui f32 to i8"]
    assert conversion("uint8", "int32") == ["extui i8 to i32"]
    assert conversion("int64", "int8") == ["trunci i64 to i8"]
    assert conversion("int8", "uint8") == []
    assert conversion("float32", "bool") == ["cmpf f32"]
    assert conversion("bool", "float32") == ["uitofp i1 to f32"]
    assert conversion("bool", "int32") == ["extui i1 to i32"]


UNARY = {
    name: f"math.{name}"
    for name in (
        "exp exp2 erf tanh log log2 log10 log1p tan cos cosh sin sinh asin acos atan asinh acosh atanh sqrt rsqrt floor "
        "ceil trunc round isnan isfinite isinf"
    ).split()
} | {"nearbyint": "math.roundeven", "abs": "math.absf"}


@pytest.mark.parametrize("name", UNARY)
def test_function(name):
    (line,) = ops("float32", getattr(te, name))
    assert line.split()[0] == UNARY[name]


def test_functions_of_several_ops():
    assert [line.split()[0] for line in ops("float32", te.sigmoid)] == [
        "math.absf",
        "arith.negf",
        "math.exp",
        "arith.cmpf",
        "arith.select",
        "arith.addf",
        "arith.divf",
    ]
    assert [line.split()[0] for line in ops("float32", lambda a: te.power(a, 2))] == ["math.powf"]
    assert [line.split()[0] for line in ops("float32", lambda a: te.fmod(a, 2))] == ["arith.remf"]
    assert [line.split()[0] for line in ops("float32", lambda a: te.atan2(a, 2))] == ["math.atan2"]
    assert [line.split()[0] for line in ops("int32", te.popcount)] == ["math.ctpop"]
    assert [line.split()[0] for line in ops("int32", te.abs)] == ["math.absi"]
    assert ops("uint32", te.abs) == []


def test_limits():
    def constant(value):
        C = te.compute((2,), lambda i: value, name="C")
        return body(C, [C]).splitlines()[0].split("constant ")[1]

    assert constant(te.max_value("int8")) == "127 : i8"
    assert constant(te.min_value("int8")) == "-128 : i8"
    assert constant(te.max_value("uint8")) == "-1 : i8"
    assert constant(te.min_value("float16")) == "0xFC00 : f16"
    assert constant(te.max_value("float32")) == "0x7F800000 : f32"
    assert constant(te.const(3)) == "3 : i32"
    assert constant(True) == "true"


def test_axes_count_as_int32_where_they_meet_data():
    assert [line.split()[0] for line in ops("int32", lambda a: a + 1)] == ["arith.addi"]
    A = te.placeholder((8,), "int64", "A")
    C = te.compute((8,), lambda i: i + A[i], name="C")
    assert "%0 = arith.index_cast %i : index to i64" in body(C, [A, C])
    assert C.dtype == "int64"
    assert te.compute((8,), lambda i: i * 2).dtype == "int32"


def test_locations_are_the_users_lines():
    A = te.placeholder((8,), name="A")
    C = te.compute(
        (8,),
        lambda i: te.exp(A[i])
        + 1,
        name="C",
    )  # fmt: skip
    first, name = C.op.source.line + 2, __file__
    found = emit_module(C, [A, C]).operation.get_asm(enable_debug_info=True, use_local_scope=True).splitlines()
    assert C.op.source.line == A.op.source.line + 1

    def location(op):
        return next(line.split(" loc(")[-1][:-1] for line in found if op in line)

    assert location("te.read") == f'"A"("{name}":{first}:0)'
    assert location("math.exp") == f'"{name}":{first}:0'
    assert location("arith.addf") == f'"{name}":{first}:0'
    assert location("te.yield") == f'"{name}":{first - 2}:0'
    assert location("} : tensor<8xf32>") == f'"C"("{name}":{first - 2}:0)'
    assert f'%arg0: tensor<8xf32> {{te.dtype = f32, te.name = "A"}} loc("A"("{name}":{first - 3}:0))' in found[1]
