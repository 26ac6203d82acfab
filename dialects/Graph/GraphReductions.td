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

def Graph_SoftmaxOp : Graph_PlainOp<"softmax", "exp(x) over its sum along an axis", [SameOperandsAndResultType]> {
  let arguments = (ins Graph_FloatTensor:$x, I64Attr:$axis);
}
def Graph_LogSoftmaxOp : Graph_PlainOp<"log_softmax", "the logarithm of softmax", [SameOperandsAndResultType]> {
  let arguments = (ins Graph_FloatTensor:$x, I64Attr:$axis);
}

#endif
