#ifndef TILEWRIGHT_GRAPH_QUANTIZATION
#define TILEWRIGHT_GRAPH_QUANTIZATION

include "dialects/Graph/GraphBase.td"

/// `scale` has one element, or one for each place along `axis`, or one for each `block` of places along it. `zero` has
/// one element or the shape of `scale`.
class Graph_QuantizationOp<string mnemonic, string text> : Graph_PlainOp<mnemonic, text> {
  let arguments = (ins Graph_AnyTensor:$x, Graph_FloatTensor:$scale, Graph_AnyTensor:$zero, I64Attr:$axis, I64Attr:$block,
                       StrAttr:$to);
  let hasVerifier = 1;
}
def Graph_QuantizeOp : Graph_QuantizationOp<"quantize", "round(x / scale) + zero, saturated, as integers of type `to`">, DefaultBuilders {
  let description = [{
    Rounds to the nearest integer, halfway to the even one. A float of 8 bits is rounded as conversions round.

    ```mlir
    %q = graph.quantize %x, %scale, %zero {axis = 0 : i64, block = 0 : i64, to = "int8"}
        : (tensor<4x64xf32>, tensor<f32>, tensor<i8>) -> tensor<4x64xi8>
    ```
  }];
}
def Graph_DequantizeOp : Graph_QuantizationOp<"dequantize", "(x - zero) * scale, of integers, as floats of type `to`">, DefaultBuilders {
  let description = [{
    ```mlir
    %x = graph.dequantize %q, %scales, %zero {axis = 1 : i64, block = 0 : i64, to = "float32"}
        : (tensor<64x32xi8>, tensor<32xf32>, tensor<i8>) -> tensor<64x32xf32>
    ```
  }];
}
def Graph_UnpackOp : Graph_PlainOp<"unpack", "the two elements of four bits of each byte along an axis, the low one first">, DefaultBuilders {
  let description = [{
    ```mlir
    %w = graph.unpack %p {axis = 1 : i64} : (tensor<64x16xui8>) -> tensor<64x32xui8>
    ```
  }];
  let arguments = (ins Graph_AnyTensor:$x, I64Attr:$axis);
}

#endif
