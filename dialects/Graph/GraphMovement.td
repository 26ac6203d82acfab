#ifndef TILEWRIGHT_GRAPH_MOVEMENT
#define TILEWRIGHT_GRAPH_MOVEMENT

include "dialects/Graph/GraphBase.td"

def Graph_ConstantOp : Graph_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]>, DefaultBuilders {
  let summary = "a small tensor whose elements stand in the IR";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_AnyTensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Graph_WeightOp : Graph_Op<"weight", [Pure]>, DefaultBuilders {
  let summary = "a tensor whose elements are kept outside of the IR, by its name";
  let arguments = (ins StrAttr:$name);
  let results = (outs Graph_AnyTensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

def Graph_IotaOp : Graph_Op<"iota", [Pure, Graph_Operator, Graph_MovesElements]>, DefaultBuilders {
  let summary = "the position along one dimension, as a tensor of `shape`";
  let description = [{
    ```mlir
    %i = graph.iota {shape = [2, "n"], axis = 1 : i64, to = "int64"} : tensor<2x?xi64, #graph.extents<"", "n">>
    ```
  }];
  let arguments = (ins ArrayAttr:$shape, I64Attr:$axis, StrAttr:$to);
  let results = (outs Graph_AnyTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

// An extent in `shape` is an integer, or the text of a symbolic one.
def Graph_ReshapeOp : Graph_PlainOp<"reshape", "the same elements in row-major order in another shape", [
    Graph_MovesElements, Graph_PermutesElements]>, DefaultBuilders {
  let arguments = (ins Graph_AnyTensor:$x, ArrayAttr:$shape);
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def Graph_ExpandOp : Graph_PlainOp<"expand", "broadcast to a shape, as NumPy does it", [Graph_MovesElements]> {
  let arguments = (ins Graph_AnyTensor:$x, ArrayAttr:$shape);
  let hasFolder = 1;
}
def Graph_TransposeOp : Graph_PlainOp<"transpose", "the dimensions in the order of the permutation", [
    Graph_MovesElements, Graph_PermutesElements]>, DefaultBuilders {
  let description = "Dimension `d` of the result is dimension `permutation[d]` of the operand.";
  let arguments = (ins Graph_AnyTensor:$x, DenseI64ArrayAttr:$permutation);
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def Graph_WindowsOp : Graph_PlainOp<"windows", "the windows of images N…C, one a row">, DefaultBuilders {
  let description = [{
    Row n * (windows of an image) + i is window i of image n. Its columns are the places in the window, and the channels
    of each place lie together. What is outside of the image is 0.

    ```mlir
    %w = graph.windows %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, before = array<i64: 1, 1>, after = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
        : (tensor<2x8x8x16xbf16>) -> tensor<128x144xbf16>
    ```
  }];
  let arguments = (ins Graph_AnyTensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$before,
                       DenseI64ArrayAttr:$after, DenseI64ArrayAttr:$dilations);
}
def Graph_ConcatOp : Graph_PlainOp<"concat", "one behind the other along an axis", [Graph_MovesElements]>, DefaultBuilders {
  let arguments = (ins Variadic<Graph_AnyTensor>:$inputs, I64Attr:$axis);
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Graph_SliceOp : Graph_PlainOp<"slice", "in each dimension the elements from `starts` on in steps of `steps`", [
    Graph_MovesElements]>, DefaultBuilders {
  let description = "A start counts from 0; a step may be negative. An extent in `sizes` is an integer or the text of a symbolic one.";
  let arguments = (ins Graph_AnyTensor:$x, ArrayAttr:$starts, DenseI64ArrayAttr:$steps, ArrayAttr:$sizes);
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def Graph_PadOp : Graph_PlainOp<"pad", "with elements before and after, fewer where a number is negative">, DefaultBuilders {
  let description = "`mode` is \"constant\" (of `value`, of rank 0), \"reflect\", \"edge\" or \"wrap\".";
  let arguments = (ins Graph_AnyTensor:$x, Graph_AnyTensor:$value, DenseI64ArrayAttr:$before, DenseI64ArrayAttr:$after, StrAttr:$mode);
}
def Graph_TileOp : Graph_PlainOp<"tile", "repeated along each dimension"> {
  let arguments = (ins Graph_AnyTensor:$x, DenseI64ArrayAttr:$repeats);
}
def Graph_GatherOp : Graph_PlainOp<"gather", "the slices along an axis that the indices name", [Graph_MovesElements]>, DefaultBuilders {
  let description = "A negative index counts from the end.";
  let arguments = (ins Graph_AnyTensor:$x, Graph_IntegerTensor:$indices, I64Attr:$axis);
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}
def Graph_GatherElementsOp : Graph_PlainOp<"gather_elements", "for each index the element at its place with the index along the axis"> {
  let arguments = (ins Graph_AnyTensor:$x, Graph_IntegerTensor:$indices, I64Attr:$axis);
}
def Graph_GatherNdOp : Graph_PlainOp<"gather_nd", "the slices that tuples of indices name"> {
  let arguments = (ins Graph_AnyTensor:$x, Graph_IntegerTensor:$indices, I64Attr:$batch_dims);
}
def Graph_ScatterElementsOp : Graph_PlainOp<"scatter_elements", "x with updates at the indices along an axis"> {
  let description = "`reduction` is \"none\" (the last update stays), \"add\", \"mul\", \"min\" or \"max\" with what is there.";
  let arguments = (ins Graph_AnyTensor:$x, Graph_IntegerTensor:$indices, Graph_AnyTensor:$updates, I64Attr:$axis, StrAttr:$reduction);
}
def Graph_ScatterNdOp : Graph_PlainOp<"scatter_nd", "x with updates of the slices that tuples of indices name"> {
  let arguments = (ins Graph_AnyTensor:$x, Graph_IntegerTensor:$indices, Graph_AnyTensor:$updates, StrAttr:$reduction);
}
def Graph_ReverseSequenceOp : Graph_PlainOp<"reverse_sequence", "the first elements of each sequence in reverse order"> {
  let arguments = (ins Graph_AnyTensor:$x, Graph_IntegerTensor:$lengths, I64Attr:$time_axis, I64Attr:$batch_axis);
}
def Graph_TriluOp : Graph_PlainOp<"trilu", "the upper or lower triangle of matrices, 0 elsewhere", [SameOperandsAndResultType]> {
  let arguments = (ins Graph_AnyTensor:$x, I64Attr:$k, BoolAttr:$upper);
}
def Graph_GridSampleOp : Graph_PlainOp<"grid_sample", "interpolated at the places that a grid gives"> {
  let arguments = (ins Graph_AnyTensor:$x, Graph_FloatTensor:$grid, StrAttr:$mode, StrAttr:$padding, BoolAttr:$align_corners);
}

#endif
