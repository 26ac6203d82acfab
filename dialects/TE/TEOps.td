#ifndef TILEWRIGHT_TE_OPS
#define TILEWRIGHT_TE_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def TE_Dialect : Dialect {
  let name = "te";
  let cppNamespace = "::tilewright::te";
  let summary = "Tensor expressions: what is computed, never how";
  let description = [{
    A function of tensor expressions takes every tensor of the program as an argument, in the order in which the user
    passes them. Outputs are arguments too, marked `te.output`, and the function returns them. Each `te.compute` defines
    one or more tensors element by element. The dialect says nothing of loops, memory or threads: that is the `schedule`
    dialect's.
  }];
  let usePropertiesForAttributes = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = ["arith::ArithDialect"];
}

class TE_Op<string mnemonic, list<Trait> traits = []> : Op<TE_Dialect, mnemonic, traits>;

def TE_ReducerKind : I32EnumAttr<"ReducerKind", "how a reduction combines its elements", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Max", 3, "max">,
    I32EnumAttrCase<"Custom", 4, "reduce">]> {
  let cppNamespace = "::tilewright::te";
  let genSpecializedAttr = 0;
}
def TE_ReducerKindAttr : EnumAttr<TE_Dialect, TE_ReducerKind, "reducer">;

def TE_ComputeOp : TE_Op<"compute", [
    RecursiveMemoryEffects, RecursivelySpeculatable,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames", "getAsmResultNames"]>]> {
  let summary = "tensors defined element by element";
  let description = [{
    `te.compute` gives the value of each element of its results as a function of named axes. The spatial axes, in
    parentheses, span the results, each from 0 to its extent. The axes of a reduction follow the name of its combiner:
    `sum`, `prod`, `min`, `max` or `reduce`. `reduce` has a region that combines two tuples of elements, and its
    identity. An extent is a number or an `index` value. Inside, `te.read` reads other tensors. A read that must not
    happen everywhere stands in an `scf.if`.

    ```mlir
    %C = te.compute "C" (%i: 1024, %j: 1024) sum (%k: 512) {
      %a = te.read %A[%i, %k] : tensor<1024x512xf32>
      %b = te.read %B[%k, %j] : tensor<512x1024xf32>
      %ab = arith.mulf %a, %b : f32
      te.yield %ab : f32
    } : tensor<1024x1024xf32>
    ```

    A tuple reduction, here the position of the largest element of each row:

    ```mlir
    %at, %max = te.compute "argmax" (%i: 64) reduce (%k: 128) {
      %x = te.read %X[%i, %k] : tensor<64x128xf32>
      %n = arith.index_cast %k : index to i32
      te.yield %n, %x : i32, f32
    } combine (%n0: i32, %x0: f32, %n1: i32, %x1: f32) identity [-1 : i32, 0xFF800000 : f32] {
      %ge = arith.cmpf oge, %x0, %x1 : f32
      %n = arith.select %ge, %n0, %n1 : i32
      %x = arith.select %ge, %x0, %x1 : f32
      te.yield %n, %x : i32, f32
    } : tensor<64xi32>, tensor<64xf32>
    ```

    Axes are named by their block arguments; where a name was taken, `as "name"` follows it.

    With `scan`, the elements are computed in the order of the first axis. `te.previous` has earlier elements at the
    same place of the other axes. This makes a recurrence, here the cumulative sum of each column.

    ```mlir
    %S = te.compute "S" scan (%t: 128, %i: 64) {
      %x = te.read %X[%t, %i] : tensor<128x64xf32>
      %first = arith.cmpi slt, %t, %c1 : index
      %s = scf.if %first -> f32 {
        scf.yield %x : f32
      } else {
        %before = te.previous 0 by 1 : f32
        %sum = arith.addf %before, %x : f32
        scf.yield %sum : f32
      }
      te.yield %s : f32
    } : tensor<128x64xf32>
    ```
  }];
  // static_extents: one per axis, spatial axes first; ShapedType::kDynamic takes the next of `extents`.
  let arguments = (ins StrAttr:$name, StrArrayAttr:$axes, StrArrayAttr:$reduce_axes, DenseI64ArrayAttr:$static_extents,
                       Variadic<Index>:$extents,
                       OptionalAttr<TE_ReducerKindAttr>:$reducer, OptionalAttr<ArrayAttr>:$identity,
                       OptionalAttr<BoolAttr>:$is_unsigned, UnitAttr:$scan);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body, AnyRegion:$combiner);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumSpatial() { return getAxes().size(); }
    unsigned getNumReduce() { return getReduceAxes().size(); }
    unsigned getNumAxes() { return getNumSpatial() + getNumReduce(); }
    /// The extent of every axis, spatial axes first, as a constant or an `index` value.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedExtents();
    /// The name of axis `i`, counted over spatial and reduction axes.
    ::llvm::StringRef getAxisName(unsigned i);
    /// Builds `lhs combined with rhs` for this reduction at the builder's place: a named combiner or a copy of the region.
    ::llvm::SmallVector<::mlir::Value> buildCombine(::mlir::OpBuilder &builder, ::mlir::Location loc,
                                                     ::mlir::ValueRange lhs, ::mlir::ValueRange rhs);
    /// The identity of the reduction, one attribute a result.
    ::llvm::SmallVector<::mlir::TypedAttr> getIdentities();
  }];
}

def TE_ReadOp : TE_Op<"read", [Pure]> {
  let summary = "one element of a tensor at affine or computed indices";
  let description = [{
    Reads `tensor[indices]`, each index an affine expression of axes and of computed `index` values.

    ```mlir
    %x = te.read %X[%n, %y * 2 + %ry - 1, %at] : tensor<1x15x15xf32>
    ```

    Outside an `scf.if`, the read happens at every point of the axes. An index that provably leaves the tensor at some
    point is therefore an error.
  }];
  let arguments = (ins AnyRankedTensor:$tensor, Variadic<Index>:$indices, AffineMapAttr:$map);
  let results = (outs AnyType:$element);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def TE_PreviousOp : TE_Op<"previous", []> {
  let summary = "an element of the scan itself, some steps earlier";
  let description = [{
    In a `te.compute` with `scan`: the element of result number `of` that was computed `lag` steps of the first axis
    earlier. Its place along the other axes is the same. It stands where that step exists, in an `scf.if` as a rule.

    ```mlir
    %before = te.previous 0 by 1 : f32
    ```
  }];
  let arguments = (ins I64Attr:$of, I64Attr:$lag);
  let results = (outs AnyType:$element);
  let assemblyFormat = "$of `by` $lag attr-dict `:` type($element)";
  let hasVerifier = 1;
}

def TE_StateOp : TE_Op<"state", [
    MemoryEffects<[MemAlloc]>, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "what the steps of a scan hand on, as a tensor that other stages read";
  let description = [{
    The state of the `te.compute` with `scan` that is called `of`, which is the tensor that it computes. A stage in the
    scan's steps reads the rows of earlier steps from it, at any place of the other axes. Such a stage is computed once
    a step: its first axis is the scan's, maybe some steps behind.

    ```mlir
    %S = te.state "S" of "scan" : tensor<9x64xf32>
    %m = te.compute "m" (%t: 8, %i: 64) sum (%k: 64) {   // of step %t + 1
      %s = te.read %S[%t, %k] : tensor<9x64xf32>
      %w = te.read %W[%k, %i] : tensor<64x64xf32>
      %p = arith.mulf %s, %w : f32
      te.yield %p : f32
    } : tensor<8x64xf32>
    %scan = te.compute "scan" scan (%t: 9, %i: 64) {
      %first = arith.cmpi slt, %t, %c1 : index
      %s = scf.if %first -> f32 {
        %x = te.read %X[%i] : tensor<64xf32>
        scf.yield %x : f32
      } else {
        %x = te.read %m[%t - 1, %i] : tensor<8x64xf32>
        scf.yield %x : f32
      }
      te.yield %s : f32
    } : tensor<9x64xf32>
    ```

    In the linalg stage the op stands where the scan's result is no output: it is what the scan writes into. Of an output
    it is the output's argument.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$of, Variadic<Index>:$sizes);
  let results = (outs AnyRankedTensor:$state);
  let assemblyFormat = "$name `of` $of (`(` $sizes^ `)`)? attr-dict `:` type($state)";
  let hasVerifier = 1;
}

def TE_ExternOp : TE_Op<"extern", [
    NoMemoryEffect, AttrSizedOperandSegments, SingleBlock, NoTerminator, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames", "getAsmResultNames"]>]> {
  let summary = "tensors that statements compute";
  let description = [{
    `te.extern` gives its results by statements instead of by elements: loops, choices, loads and stores of single
    elements. They access the buffers of the tensors that it reads and of the tensors that it computes. They may also
    allocate buffers, which live until the end of the block that allocates them. The results have the shapes of `outs`,
    whose elements are not read before they are stored. The tensors that it reads stay as they are.

    ```mlir
    %init = tensor.empty() : tensor<64xf32>
    %C = te.extern "C" ins(%a = %A : tensor<64xf32>) outs(%c = %init : tensor<64xf32>) {
      scf.for %i = %c0 to %c64 step %c1 {
        %x = memref.load %a[%i] : memref<64xf32>
        %y = arith.addf %x, %x : f32
        memref.store %y, %c[%i] : memref<64xf32>
      } {schedule.axis = #schedule.axis<"i">}
    }
    ```

    A loop with `schedule.bind` is a thread axis: all threads run its body at once. They exchange values through
    `#gpu.address_space<workgroup>` memory and always see what was stored before; the compiler inserts the barriers.
    Such loops are not nested in other loops, and each thread index is bound once. On the CPU there are none.
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
    /// The buffer that stands for a tensor in the statements: what it reads, then what it computes.
    ::mlir::BlockArgument getBuffer(unsigned i) { return getBody().getArgument(i); }
    /// The type of the buffer that stands for a tensor of this type.
    static ::mlir::MemRefType getBufferType(::mlir::Type tensor);
  }];
}

def TE_YieldOp : TE_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["ComputeOp"]>]> {
  let summary = "the value of the element";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif
