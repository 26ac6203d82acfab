#ifndef TILEWRIGHT_GRAPH_CONTRACTIONS
#define TILEWRIGHT_GRAPH_CONTRACTIONS

include "dialects/Graph/GraphBase.td"

// `acc` is the type in which a contraction is accumulated, and `to` that of the result. "tf32" is f32, whose factors
// tensor cores may round to tf32.
def Graph_MatmulOp : Graph_PlainOp<"matmul", "matmul of the last two dimensions; the others are broadcast">, DefaultBuilders {
  let arguments = (ins Graph_AnyTensor:$a, Graph_AnyTensor:$b, StrAttr:$acc, StrAttr:$to);
  let hasVerifier = 1;
}
def Graph_EinsumOp : Graph_PlainOp<"einsum", "the sum of products that an equation in Einstein's notation gives"> {
  let arguments = (ins Variadic<Graph_AnyTensor>:$inputs, StrAttr:$equation);
}
def Graph_ConvOp : Graph_PlainOp<"conv", "convolution of images NC… with filters OI…, of any number of spatial dimensions">, DefaultBuilders {
  let arguments = (ins Graph_AnyTensor:$x, Graph_AnyTensor:$w, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$before,
                       DenseI64ArrayAttr:$after, DenseI64ArrayAttr:$dilations, I64Attr:$groups, StrAttr:$acc, StrAttr:$to);
  let hasVerifier = 1;
}
def Graph_ConvTransposeOp : Graph_PlainOp<"conv_transpose", "the transpose of a convolution, filters IO…"> {
  let arguments = (ins Graph_AnyTensor:$x, Graph_AnyTensor:$w, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$before,
                       DenseI64ArrayAttr:$after, DenseI64ArrayAttr:$dilations, I64Attr:$groups, StrAttr:$acc, StrAttr:$to);
}
def Graph_DeformConvOp : Graph_PlainOp<"deform_conv", "convolution that reads at places moved by offsets, times a mask"> {
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$w, Graph_FloatTensor:$offset, Graph_FloatTensor:$mask,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$before, DenseI64ArrayAttr:$after,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups, I64Attr:$offset_groups);
}

def Graph_AttentionOp : Graph_PlainOp<"attention", "softmax(scale * q k^T + mask) v, of … x heads x rows x width each", [Graph_Attends]>, DefaultBuilders {
  let description = [{
    A mask of bools is true where a query sees a key, one of floats is added to the scaled scores. Query i sees the keys
    from i + `offset` - `before` to i + `offset` + `behind`; -1 is for all keys on that side. A `softcap` c that is not
    0 makes scores c tanh(score / c). `k` and `v` may have fewer heads than `q`. A query that sees no key gets zeros. Both
    matmuls of f32 are accumulated in `acc`, where that is given.

    ```mlir
    %y = graph.attention %q, %k, %v {scale = 0.125 : f64, before = -1 : i64, behind = 0 : i64, offset = 0 : i64, softcap = 0.0 : f64}
        : (tensor<8x16x64xf32>, tensor<2x16x64xf32>, tensor<2x16x64xf32>) -> tensor<8x16x64xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$q, Graph_FloatTensor:$k, Graph_FloatTensor:$v, Optional<Graph_AnyTensor>:$mask,
                       F64Attr:$scale, I64Attr:$before, I64Attr:$behind, I64Attr:$offset, F64Attr:$softcap,
                       OptionalAttr<StrAttr>:$acc);
  let hasVerifier = 1;
}

class Graph_TrainedAttentionOp<string mnemonic, string text> : Graph_Op<mnemonic, [Pure, Graph_Operator, Graph_Attends]> {
  let summary = text;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The mask, or nothing.
    ::mlir::Value getMask() {
      return getOthers().size() > (getDropoutP() ? 1 : 0) ? getOthers().front() : ::mlir::Value();
    }
    /// The seed of dropout, or nothing.
    ::mlir::Value getSeed() { return getDropoutP() && !getOthers().empty() ? getOthers().back() : ::mlir::Value(); }
  }];
}

def Graph_AttentionWithLogarithmsOp : Graph_TrainedAttentionOp<"attention_with_logarithms", "attention, and the logarithms of its sums"> {
  let description = [{
    The first result is that of `graph.attention`, whose operands and attributes these are. The second is the logarithm,
    by 2, of the sum of exponentials of each query: minus infinity where it sees no key.

    With `dropout_p`, weights are dropped with that probability, and the others grow. The last operand is then the seed,
    a number of i32: the same seed drops the same weights.

    ```mlir
    %y, %l = graph.attention_with_logarithms %q, %k, %v {scale = 0.125 : f64, before = -1 : i64, behind = 0 : i64, offset = 0 : i64, softcap = 0.0 : f64}
        : (tensor<8x16x64xbf16>, tensor<2x16x64xbf16>, tensor<2x16x64xbf16>) -> (tensor<8x16x64xbf16>, tensor<8x16xf32>)
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$q, Graph_FloatTensor:$k, Graph_FloatTensor:$v, Variadic<Graph_AnyTensor>:$others,
                       F64Attr:$scale, I64Attr:$before, I64Attr:$behind, I64Attr:$offset, F64Attr:$softcap,
                       OptionalAttr<F64Attr>:$dropout_p, OptionalAttr<StrAttr>:$acc);
  let results = (outs Graph_FloatTensor:$result, Graph_FloatTensor:$logarithms);
}

def Graph_AttentionGradientsOp : Graph_TrainedAttentionOp<"attention_gradients", "the gradients of attention"> {
  let description = [{
    `head` is the gradient by the result, and `result` and `logarithms` are those of `graph.attention_with_logarithms`,
    as the other operands and attributes are.
    `wanted` has the operands whose gradients are computed, in ascending order. 0 is q, 1 is k, 2 is v, and 3 is the mask,
    of floats. If they need not be `deterministic`, the order of sums may differ from run to run.

    ```mlir
    %dq, %dk, %dv = graph.attention_gradients %head, %q, %k, %v, %y, %l {scale = 0.125 : f64, before = -1 : i64, behind = 0 : i64, offset = 0 : i64, softcap = 0.0 : f64, wanted = array<i64: 0, 1, 2>, deterministic = true}
        : (tensor<8x16x64xbf16>, tensor<8x16x64xbf16>, tensor<2x16x64xbf16>, tensor<2x16x64xbf16>, tensor<8x16x64xbf16>, tensor<8x16xf32>)
        -> (tensor<8x16x64xbf16>, tensor<2x16x64xbf16>, tensor<2x16x64xbf16>)
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$head, Graph_FloatTensor:$q, Graph_FloatTensor:$k, Graph_FloatTensor:$v,
                       Graph_FloatTensor:$result, Graph_FloatTensor:$logarithms, Variadic<Graph_AnyTensor>:$others,
                       F64Attr:$scale, I64Attr:$before, I64Attr:$behind, I64Attr:$offset, F64Attr:$softcap,
                       DenseI64ArrayAttr:$wanted, BoolAttr:$deterministic, OptionalAttr<F64Attr>:$dropout_p,
                       OptionalAttr<StrAttr>:$acc);
  let results = (outs Variadic<Graph_FloatTensor>:$gradients);
}

class Graph_PoolOp<string mnemonic, string text, bit isCanonicalized = 0> : Graph_PlainOp<mnemonic, text> {
  let hasCanonicalizer = isCanonicalized;
  let arguments = (ins Graph_AnyTensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$before,
                       DenseI64ArrayAttr:$after, DenseI64ArrayAttr:$dilations);
}
def Graph_MaxPoolOp : Graph_PoolOp<"max_pool", "the largest element of each window", 1>;
def Graph_SumPoolOp : Graph_PoolOp<"sum_pool", "the sum of each window", 1>;
def Graph_MaxPoolIndicesOp : Graph_PoolOp<"max_pool_indices", "where the largest element of each window is in the flattened tensor, as int64"> {
  let arguments = (ins Graph_AnyTensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$before,
                       DenseI64ArrayAttr:$after, DenseI64ArrayAttr:$dilations, BoolAttr:$column_major);
}
def Graph_Col2imOp : Graph_PlainOp<"col2im", "the sum of the columns of windows at their places in the image"> {
  let arguments = (ins Graph_AnyTensor:$x, DenseI64ArrayAttr:$image, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$before, DenseI64ArrayAttr:$after, DenseI64ArrayAttr:$dilations);
}
def Graph_RoiAlignOp : Graph_PlainOp<"roi_align", "regions of images, interpolated to one size"> {
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$rois, Graph_IntegerTensor:$batch_indices, I64Attr:$height,
                       I64Attr:$width, I64Attr:$sampling_ratio, F64Attr:$spatial_scale, StrAttr:$mode, BoolAttr:$half_pixel);
}

#endif
