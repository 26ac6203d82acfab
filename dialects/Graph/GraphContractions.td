#ifndef TILEWRIGHT_GRAPH_CONTRACTIONS
#define TILEWRIGHT_GRAPH_CONTRACTIONS

include "dialects/Graph/GraphBase.td"

// `acc` is the type in which a contraction is accumulated, and `to` that of the result.
def Graph_MatmulOp : Graph_PlainOp<"matmul", "matmul of the last two dimensions; the others are broadcast"> {
  let arguments = (ins Graph_AnyTensor:$a, Graph_AnyTensor:$b, StrAttr:$acc, StrAttr:$to);
  let hasVerifier = 1;
}
def Graph_EinsumOp : Graph_PlainOp<"einsum", "the sum of products that an equation in Einstein's notation gives"> {
  let arguments = (ins Variadic<Graph_AnyTensor>:$inputs, StrAttr:$equation);
}
def Graph_ConvOp : Graph_PlainOp<"conv", "convolution of images NC… with filters OI…, of any number of spatial dimensions"> {
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

class Graph_PoolOp<string mnemonic, string text> : Graph_PlainOp<mnemonic, text> {
  let arguments = (ins Graph_AnyTensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$before,
                       DenseI64ArrayAttr:$after, DenseI64ArrayAttr:$dilations);
}
def Graph_MaxPoolOp : Graph_PoolOp<"max_pool", "the largest element of each window">;
def Graph_SumPoolOp : Graph_PoolOp<"sum_pool", "the sum of each window">;
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
