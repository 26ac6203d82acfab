#ifndef TILEWRIGHT_GRAPH_OPS
#define TILEWRIGHT_GRAPH_OPS

include "dialects/Graph/GraphBase.td"
include "dialects/Graph/GraphElementwise.td"
include "dialects/Graph/GraphMovement.td"
include "dialects/Graph/GraphReductions.td"
include "dialects/Graph/GraphContractions.td"
include "dialects/Graph/GraphQuantization.td"
include "dialects/Graph/GraphLibraries.td"

def Graph_GroupOp : Graph_Op<"group", [Pure, SingleBlock, NoRegionArguments]>, DefaultBuilders {
  let summary = "operators that are computed together, as one program of tensor expressions";
  let description = [{
    The operators may read values from outside of the group. The values that others read are the group's results. `ends`
    says for each result why the group ends there. `offsets` is the place of each result in the model's arena, in bytes.
    A result without a place has -1. `library` says that a library computes the group, and how. The operators stay, for
    the group's own kernel is there, too.

    ```mlir
    %y = graph.group "matmul_relu" {
      %h = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
      %r = graph.relu %h : tensor<4x64xf32>
      graph.yield %r : tensor<4x64xf32>
    } {ends = ["an output of the model"]} : tensor<4x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<StrArrayAttr>:$ends, OptionalAttr<DenseI64ArrayAttr>:$offsets,
                       OptionalAttr<Graph_LibraryMatmulAttr>:$library);
  let results = (outs Variadic<Graph_AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name $body attr-dict `:` type($results)";
  let extraClassDeclaration = [{
    /// The values from outside that the operators read, in the order in which they first do.
    ::llvm::SmallVector<::mlir::Value> getInputs();
  }];
  let hasVerifier = 1;
}

def Graph_YieldOp : Graph_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"GroupOp">]>, DefaultBuilders {
  let summary = "the results of a group";
  let arguments = (ins Variadic<Graph_AnyTensor>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif
