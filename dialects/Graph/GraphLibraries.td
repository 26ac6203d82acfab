#ifndef TILEWRIGHT_GRAPH_LIBRARIES
#define TILEWRIGHT_GRAPH_LIBRARIES

include "dialects/Graph/GraphBase.td"
include "mlir/IR/EnumAttr.td"

def Graph_Library : I32EnumAttr<"Library", "a library of kernels, found at run time", [
    I32EnumAttrCase<"CublasLt", 0, "cublaslt">]> {
  let cppNamespace = "::tilewright::graph";
  let genSpecializedAttr = 0;
}

def Graph_LibraryEpilogue : I32EnumAttr<"LibraryEpilogue", "what a library does with each element of a result", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Relu", 1, "relu">, I32EnumAttrCase<"GeluTanh", 2, "gelu_tanh">]> {
  let cppNamespace = "::tilewright::graph";
  let genSpecializedAttr = 0;
}

def Graph_LibraryMatmulAttr : AttrDef<Graph_Dialect, "LibraryMatmul"> {
  let mnemonic = "library_matmul";
  let summary = "a group as one call of a library: epilogue(a b + residual + bias)";
  let description = [{
    `a`, `b`, `residual` and `bias` are numbers of the group's inputs. These are the values from outside that its
    operators read, in the order in which they first do. A `bias` has as many elements as the result has columns, and a
    `residual` has the result's type; -1 is none. The matmul reads `a` as `a_order` transposes it, if that is there, and `b` as
    `b_order` does. The last dimension of `a` and `b` in memory is one of the last two that the matmul reads.
    `own_ns` and `library_ns` are what the group took when it was measured, in nanoseconds: by its own kernel, and by
    the library. 0 says that it was not measured.

    ```mlir
    #graph.library_matmul<library = cublaslt, a = 1, b = 0, b_order = [1, 0], bias = 2, epilogue = relu, own_ns = 12500, library_ns = 9250>
    ```
  }];
  let parameters = (ins EnumParameter<Graph_Library>:$library, "int64_t":$a, "int64_t":$b,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$a_order,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$b_order,
                        DefaultValuedParameter<"int64_t", "-1">:$bias, DefaultValuedParameter<"int64_t", "-1">:$residual,
                        DefaultValuedParameter<"::tilewright::graph::LibraryEpilogue",
                                               "::tilewright::graph::LibraryEpilogue::None">:$epilogue,
                        DefaultValuedParameter<"int64_t", "0">:$own_ns, DefaultValuedParameter<"int64_t", "0">:$library_ns);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
