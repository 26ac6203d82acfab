#ifndef TILEWRIGHT_GRAPH_REDUCTIONS
#define TILEWRIGHT_GRAPH_REDUCTIONS

include "dialects/Graph/GraphBase.td"

/// Over some dimensions, which stay with extent 1 where `keepdims` is true.
class Graph_ReduceOp<string mnemonic, string text> : Graph_PlainOp<mnemonic, text, [Graph_Reduction]>, DefaultBuilders {
  let arguments = (ins Graph_AnyTensor:$x, DenseI64ArrayAttr:$axes, BoolAttr:$keepdims);
  let hasVerifier = 1;
}
def Graph_ReduceSumOp : Graph_ReduceOp<"reduce_sum", "the sum over some dimensions">;
def Graph_ReduceProdOp : Graph_ReduceOp<"reduce_prod", "the product over some dimensions">;
def Graph_ReduceMaxOp : Graph_ReduceOp<"reduce_max", "the largest element over some dimensions">;
def Graph_ReduceMinOp : Graph_ReduceOp<"reduce_min", "the smallest element over some dimensions">;

/// The position of an element along one dimension, as int64.
class Graph_ArgOp<string mnemonic, string text> : Graph_PlainOp<mnemonic, text> {
  let arguments = (ins Graph_AnyTensor:$x, I64Attr:$axis, BoolAttr:$keepdims, BoolAttr:$select_last);
}
def Graph_ArgmaxOp : Graph_ArgOp<"argmax", "where the largest element along an axis is">;
def Graph_ArgminOp : Graph_ArgOp<"argmin", "where the smallest element along an axis is">;

class Graph_CumulativeOp<string mnemonic, string text> : Graph_PlainOp<mnemonic, text, [SameOperandsAndResultType]> {
  let arguments = (ins Graph_AnyTensor:$x, I64Attr:$axis, BoolAttr:$exclusive, BoolAttr:$reverse);
}
def Graph_CumsumOp : Graph_CumulativeOp<"cumsum", "the sum of the elements up to each one along an axis">;
def Graph_CumprodOp : Graph_CumulativeOp<"cumprod", "the product of the elements up to each one along an axis">;

def Graph_TopkOp : Graph_Op<"topk", [Pure, Graph_Operator]> {
  let summary = "the k largest or smallest elements along an axis, in order, and where they are";
  let arguments = (ins Graph_AnyTensor:$x, I64Attr:$k, I64Attr:$axis, BoolAttr:$largest);
  let results = (outs Graph_AnyTensor:$values, Graph_IntegerTensor:$positions);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Graph_SortRowsOp : Graph_PlainOp<"sort_rows", "the places of a matrix's rows in ascending order"> {
  let arguments = (ins Graph_AnyTensor:$x);
}

def Graph_SuppressBoxesOp : Graph_PlainOp<"suppress_boxes", "the boxes of each class that no better box overlaps"> {
  let arguments = (ins Graph_FloatTensor:$edges, Graph_FloatTensor:$scores, Graph_FloatTensor:$least,
                       Graph_FloatTensor:$most, I64Attr:$limit);
}

/// Two results of each matrix of a batch.
class Graph_FactorsOp<string mnemonic, string text> : Graph_Op<mnemonic, [Pure, Graph_Operator]> {
  let summary = text;
  let arguments = (ins Graph_FloatTensor:$x);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Graph_LuOp : Graph_FactorsOp<"lu", "the factors L and U of matrices, and the row that each step takes as its pivot"> {
  let results = (outs Graph_FloatTensor:$factors, Graph_IntegerTensor:$pivots);
}
def Graph_ReflectionsOp : Graph_FactorsOp<"reflections", "the triangles R of matrices, and the reflections of their Q"> {
  let results = (outs Graph_FloatTensor:$factors, Graph_FloatTensor:$scales);
}
def Graph_DiagonalizeOp : Graph_FactorsOp<"diagonalize", "the eigenvalues and eigenvectors of symmetric matrices"> {
  let results = (outs Graph_FloatTensor:$values, Graph_FloatTensor:$vectors);
}
def Graph_OrthogonalizeOp : Graph_FactorsOp<"orthogonalize", "rotations that make matrices' columns orthogonal"> {
  let results = (outs Graph_FloatTensor:$columns, Graph_FloatTensor:$rotations);
}

def Graph_RowOrderOp : Graph_PlainOp<"row_order", "which row comes to each place where rows are exchanged in turn"> {
  let arguments = (ins Graph_IntegerTensor:$pivots, I64Attr:$rows);
}
def Graph_CholeskyOp : Graph_PlainOp<"cholesky", "the lower triangles whose squares are definite matrices"> {
  let arguments = (ins Graph_FloatTensor:$x);
}
def Graph_SolveTriangularOp : Graph_PlainOp<"solve_triangular", "x of a x = b, where a is a triangle"> {
  let arguments = (ins Graph_FloatTensor:$a, Graph_FloatTensor:$b, BoolAttr:$upper, BoolAttr:$unit);
}
def Graph_ReflectOp : Graph_PlainOp<"reflect", "the products of reflections and matrices"> {
  let arguments = (ins Graph_FloatTensor:$factors, Graph_FloatTensor:$scales, Graph_FloatTensor:$x,
                       BoolAttr:$transposed);
}

def Graph_SoftmaxOp : Graph_PlainOp<"softmax", "exp(x) over its sum along an axis", [SameOperandsAndResultType]> {
  let arguments = (ins Graph_FloatTensor:$x, I64Attr:$axis);
}
def Graph_LogSoftmaxOp : Graph_PlainOp<"log_softmax", "the logarithm of softmax", [SameOperandsAndResultType]> {
  let arguments = (ins Graph_FloatTensor:$x, I64Attr:$axis);
}

#endif
