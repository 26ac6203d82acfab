"""The IR that expressions become."""

import tilewright as tw
from tilewright import te
from tilewright.te.emit import emit_module


def text(program, args, name="main"):
    """The module with the user's names, without its first and last line."""
    lines = emit_module(program, args, name).operation.get_asm(use_name_loc_as_prefix=True).strip().splitlines()
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
    assert text(C, [A, B, C], "mmult") == """\
func.func @mmult(%A: tensor<64x32xf32> {te.dtype = "float32", te.name = "A"}, %B: tensor<32x48xf32> {te.dtype = "float32", te.name = "B"}, %C: tensor<64x48xf32> {te.dtype = "float32", te.name = "C", te.output}) -> tensor<64x48xf32> {
  %C_0 = te.compute "C" (%i: 64, %j: 48) sum (%k: 32) {
    %A_1 = te.read %A[%i, %k] : tensor<64x32xf32>
    %B_2 = te.read %B[%k, %j] : tensor<32x48xf32>
    %0 = arith.mulf %A_1, %B_2 fastmath<contract> : f32
    te.yield %0 : f32
  } : tensor<64x48xf32>
  return %C_0 : tensor<64x48xf32>
}"""
