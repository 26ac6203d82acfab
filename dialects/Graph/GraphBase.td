#ifndef TILEWRIGHT_GRAPH_BASE
#define TILEWRIGHT_GRAPH_BASE

include "dialects/Builders.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::tilewright::graph";
  let summary = "Whole models: operators on tensors";
  let description = [{
    A model is one `func.func` on tensors. Each op is an operator that a Python function of `tilewright.graph.operators`
    defines as tensor expressions; the op's attributes are the function's keyword arguments. An unsigned element type is
    unsigned (`ui8`), any other integer is signed, and a bool is `i1`. A symbolic extent is `?` in the type, with its name
    in the type's encoding:

    ```mlir
    func.func @main(%x: tensor<?x64xf32, #graph.extents<"batch", "">> {graph.name = "x"})
        -> (tensor<?x64xf32, #graph.extents<"batch", "">> {graph.name = "y"}) {
      %w = graph.weight "fc.weight" : tensor<64x64xf32>
      %h = graph.matmul %x, %w : (tensor<?x64xf32, #graph.extents<"batch", "">>, tensor<64x64xf32>)
          -> tensor<?x64xf32, #graph.extents<"batch", "">>
      %y = graph.relu %h : tensor<?x64xf32, #graph.extents<"batch", "">>
      return %y : tensor<?x64xf32, #graph.extents<"batch", "">>
    }
    ```

    Weights are named and their contents are kept outside of the IR. All operators are pure. Operators that are computed
    together are in a `graph.group`.
  }];
  let usePropertiesForAttributes = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, traits>, OneBuilder;

/// What an operator does with elements.
class Graph_Trait<string name> : NativeOpTrait<name> { let cppNamespace = "::tilewright::graph"; }
/// An op that a function of te defines.
def Graph_Operator : Graph_Trait<"Operator">;
def Graph_BroadcastElementwise : Graph_Trait<"BroadcastElementwise">;
def Graph_Reduction : Graph_Trait<"Reduction">;
def Graph_MovesElements : Graph_Trait<"MovesElements">;
def Graph_PermutesElements : Graph_Trait<"PermutesElements">;
/// Its kernels read operands in any order of their dimensions.
def Graph_Attends : Graph_Trait<"Attends">;

def Graph_ExtentsAttr : AttrDef<Graph_Dialect, "Extents", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "extents";
  let summary = "the symbolic extents of a tensor";
  let description = [{
    A string for each dimension: the symbol or the expression of symbols that a `?` is, "" where the extent is a number.
    Extents with one text are the same number in one call.

    ```mlir
    tensor<?x3x?xf32, #graph.extents<"batch", "", "width // 2">>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr", "one a dimension">:$names);
  let assemblyFormat = "`<` $names `>`";
}

def Graph_AnyTensor : RankedTensorOf<[AnyFloat, AnyInteger]>;
def Graph_FloatTensor : RankedTensorOf<[AnyFloat]>;
def Graph_IntegerTensor : RankedTensorOf<[AnyInteger]>;
def Graph_BoolTensor : RankedTensorOf<[I1]>;

/// Of one operand, elementwise, with a result of the operand's type.
class Graph_UnaryOp<string mnemonic, string text, Type tensor = Graph_FloatTensor>
    : Graph_Op<mnemonic, [Pure, Graph_Operator, Graph_BroadcastElementwise, SameOperandsAndResultType]> {
  let summary = text;
  let arguments = (ins tensor:$x);
  let results = (outs tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

/// Of two operands of one element type, which are broadcast together as NumPy does it.
class Graph_BinaryOp<string mnemonic, string text, Type tensor = Graph_AnyTensor, Type resultTensor = tensor>
    : Graph_Op<mnemonic, [Pure, Graph_Operator, Graph_BroadcastElementwise]> {
  let summary = text;
  let arguments = (ins tensor:$a, tensor:$b);
  let results = (outs resultTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

/// Any other operator with one result.
class Graph_PlainOp<string mnemonic, string text, list<Trait> traits = []>
    : Graph_Op<mnemonic, [Pure, Graph_Operator] # traits> {
  let summary = text;
  let results = (outs Graph_AnyTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif
