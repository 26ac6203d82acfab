//===- ScheduleAttrs.td - the dialect, its types and attributes -----------===//
#ifndef TILEWRIGHT_SCHEDULE_ATTRS
#define TILEWRIGHT_SCHEDULE_ATTRS

include "mlir/IR/OpBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Schedule_Dialect : Dialect {
  let name = "schedule";
  let cppNamespace = "::tilewright::schedule";
  let summary = "Schedules: how tensor expressions are computed, on typed stage and axis handles";
  let description = [{
    A `schedule.of @f` stands beside the function `@f` and lists, in order, the primitives that are applied to its
    stages. Stages and axes are values: a primitive takes handles and returns the handles of what it made. An axis that
    was split or fused can therefore not be used again, and every primitive can be checked where it stands. A schedule
    never changes what is computed.
  }];
  let usePropertiesForAttributes = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class Schedule_Type<string name, string mnemonicText> : TypeDef<Schedule_Dialect, name> {
  let mnemonic = mnemonicText;
}
def Schedule_StageType : Schedule_Type<"Stage", "stage"> { let summary = "handle of a stage: one computed or cached tensor"; }
def Schedule_AxisType : Schedule_Type<"Axis", "axis"> { let summary = "handle of one loop of a stage"; }

def Schedule_ThreadTag : I32EnumAttr<"ThreadTag", "a hardware index that a loop can be bound to", [
    I32EnumAttrCase<"BlockIdxX", 0, "blockIdx.x">, I32EnumAttrCase<"BlockIdxY", 1, "blockIdx.y">,
    I32EnumAttrCase<"BlockIdxZ", 2, "blockIdx.z">, I32EnumAttrCase<"ThreadIdxX", 3, "threadIdx.x">,
    I32EnumAttrCase<"ThreadIdxY", 4, "threadIdx.y">, I32EnumAttrCase<"ThreadIdxZ", 5, "threadIdx.z">,
    I32EnumAttrCase<"VThread", 6, "vthread">]> {
  let cppNamespace = "::tilewright::schedule";
  let genSpecializedAttr = 0;
}
def Schedule_ThreadTagAttr : EnumAttr<Schedule_Dialect, Schedule_ThreadTag, "thread"> { let assemblyFormat = "`<` $value `>`"; }

def Schedule_Scope : I32EnumAttr<"Scope", "the memory that a stage's tensor lives in", [
    I32EnumAttrCase<"Global", 0, "global">, I32EnumAttrCase<"Shared", 1, "shared">, I32EnumAttrCase<"Local", 2, "local">,
    I32EnumAttrCase<"Warp", 3, "warp">]> {
  let cppNamespace = "::tilewright::schedule";
  let genSpecializedAttr = 0;
}
def Schedule_ScopeAttr : EnumAttr<Schedule_Dialect, Schedule_Scope, "scope"> { let assemblyFormat = "`<` $value `>`"; }

def Schedule_Copier : I32EnumAttr<"Copier", "what copies a stage's elements", [
    I32EnumAttrCase<"TMA", 0, "tma">, I32EnumAttrCase<"Threads", 1, "threads">]> {
  let cppNamespace = "::tilewright::schedule";
  let genSpecializedAttr = 0;
}
def Schedule_CopierAttr : EnumAttr<Schedule_Dialect, Schedule_Copier, "copier"> { let assemblyFormat = "`<` $value `>`"; }

def Schedule_Raster : I32EnumAttr<"Raster", "the order in which blocks go through the tiles of a result", [
    I32EnumAttrCase<"Row", 0, "row">, I32EnumAttrCase<"Grouped", 1, "grouped">,
    I32EnumAttrCase<"Hilbert", 2, "hilbert">]> {
  let cppNamespace = "::tilewright::schedule";
  let genSpecializedAttr = 0;
}
def Schedule_RasterAttr : EnumAttr<Schedule_Dialect, Schedule_Raster, "raster"> { let assemblyFormat = "`<` $value `>`"; }

def Schedule_Fragment : I32EnumAttr<"Fragment", "TVM's scope of a fragment of a matrix instruction", [
    I32EnumAttrCase<"MatrixA", 0, "matrix_a">, I32EnumAttrCase<"MatrixB", 1, "matrix_b">,
    I32EnumAttrCase<"Accumulator", 2, "accumulator">]> {
  let cppNamespace = "::tilewright::schedule";
  let genSpecializedAttr = 0;
}
def Schedule_FragmentAttr : EnumAttr<Schedule_Dialect, Schedule_Fragment, "fragment"> { let assemblyFormat = "`<` $value `>`"; }

def Schedule_MatrixAxis : I32EnumAttr<"MatrixAxis", "an axis of a matmul: rows, columns, or the axis that is summed over", [
    I32EnumAttrCase<"M", 0, "m">, I32EnumAttrCase<"N", 1, "n">, I32EnumAttrCase<"K", 2, "k">]> {
  let cppNamespace = "::tilewright::schedule";
  let genSpecializedAttr = 0;
}
def Schedule_MatrixAxisAttr : EnumAttr<Schedule_Dialect, Schedule_MatrixAxis, "matrix_axis"> { let assemblyFormat = "`<` $value `>`"; }

def Schedule_MatrixOperand : I32EnumAttr<"MatrixOperand", "an operand of a matmul", [
    I32EnumAttrCase<"A", 0, "a">, I32EnumAttrCase<"B", 1, "b">, I32EnumAttrCase<"Accumulator", 2, "accumulator">]> {
  let cppNamespace = "::tilewright::schedule";
  let genSpecializedAttr = 0;
}
def Schedule_MatrixOperandAttr : EnumAttr<Schedule_Dialect, Schedule_MatrixOperand, "operand"> { let assemblyFormat = "`<` $value `>`"; }

//===----------------------------------------------------------------------===//
// What the loops stage says of loops, buffers and stores
//===----------------------------------------------------------------------===//

class Schedule_Attr<string name, string mnemonicText> : AttrDef<Schedule_Dialect, name> {
  let mnemonic = mnemonicText;
  let genVerifyDecl = 1;
}

def Schedule_AxisAttr : Schedule_Attr<"Axis", "axis"> {
  let summary = "the axis that a loop came from, and the stage that the axis is of";
  let description = [{
    The statements of an intrinsic or a `te.extern` have no stage until they are those of one.

    ```mlir
    #schedule.axis<"i.outer" of "C">
    #schedule.axis<"i">
    ```
  }];
  let parameters = (ins StringRefParameter<"the name of the axis">:$axis,
                        StringRefParameter<"the name of the stage, empty where there is none", [{""}]>:$stage);
  let assemblyFormat = "`<` $axis (`of` $stage^)? `>`";
  let extraClassDeclaration = [{
    /// The axis as errors call it: `C.i.outer`.
    std::string str() const;
  }];
}

def Schedule_MatrixInstruction : I32EnumAttr<"MatrixInstruction", "an instruction that multiplies tiles of matrices", [
    I32EnumAttrCase<"MmaSync", 0, "mma_sync">, I32EnumAttrCase<"Wgmma", 1, "wgmma">]> {
  let cppNamespace = "::tilewright::schedule";
  let genSpecializedAttr = 0;
}

def Schedule_InstructionAttr : Schedule_Attr<"Instruction", "instruction"> {
  let summary = "the instruction that multiplies a tile of matrices in place of a nest of loops";
  let description = [{
    The shape is that of the loops: m rows and n columns of the accumulator, and k. The 32 lanes of a warp execute
    `mma_sync`. The 128 threads of a warpgroup execute `wgmma`, and one instruction may go a part of the way along k.
    With `promote`, the tensor cores accumulate only so many iterations of the pipelined loop. Other instructions add up
    these sums. With `tf32x3`, elements of f32 are split in two of tf32 each. Three products of these are as exact as one
    of f32. Without it, tensor cores read f32 as tf32.

    `apply-schedule` proves the nest when it applies `schedule.tensorize`. It leaves the proof on the nest, and passes
    that make the instruction read it. Each loop has `schedule.matrix_axis`, and each access to a buffer
    `schedule.operand`. The verifier checks the nest against them. The nest has one statement, which adds A times B to
    the accumulator. A is indexed by m and k, B by n and k, and the accumulator by m and n. An intrinsic's loops have no
    such attributes before they are applied.

    ```mlir
    #schedule.instruction<mma_sync, 16x8x16>
    #schedule.instruction<wgmma, 64x256x64>
    #schedule.instruction<wgmma, 64x128x128, promote = 2>
    #schedule.instruction<wgmma, 64x64x32, tf32x3>
    ```
  }];
  let parameters = (ins EnumParameter<Schedule_MatrixInstruction>:$kind, ArrayRefParameter<"int64_t", "m, n and k">:$shape,
                        DefaultValuedParameter<"int64_t", "0">:$promote,
                        DefaultValuedParameter<"bool", "false">:$tf32x3);
  let assemblyFormat = "`<` $kind `,` custom<Product>($shape, $promote, $tf32x3) `>`";
}

def Schedule_RollingAttr : Schedule_Attr<"Rolling", "rolling"> {
  let summary = "the reductions of a pipelined loop follow the result of another stage";
  let description = [{
    The loop becomes one with the loop that reduces the stage's rows, as `schedule.rolling_update` says.

    ```mlir
    #schedule.rolling<of = "M">
    ```
  }];
  let parameters = (ins StringRefParameter<"the name of the stage that is followed">:$of);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Schedule_PipelineAttr : Schedule_Attr<"Pipeline", "pipeline"> {
  let summary = "a loop is a software pipeline";
  let description = [{
    Each buffer with `schedule.pipelined` in the loop gets `stages` places, which the iterations take in turn. With `async` the
    buffers are filled by `cp.async`.

    ```mlir
    #schedule.pipeline<stages = 3>
    #schedule.pipeline<stages = 3, async = true>
    ```
  }];
  let parameters = (ins "int64_t":$stages, DefaultValuedParameter<"bool", "false">:$async);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Schedule_SpecializeAttr : Schedule_Attr<"Specialize", "specialize"> {
  let summary = "some warps fill the buffers of a pipelined loop, the others compute";
  let description = [{
    The registers of a thread of the producer warps, the registers of a thread of a consumer warpgroup, and the number
    of sets of consumers. The sets take the tiles of a persistent block in turn.

    ```mlir
    #schedule.specialize<producer = 40, consumer = 232>
    #schedule.specialize<producer = 40, consumer = 232, consumers = 2>
    ```
  }];
  let parameters = (ins "int64_t":$producer, "int64_t":$consumer, DefaultValuedParameter<"int64_t", "1">:$consumers);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Schedule_PersistentAttr : Schedule_Attr<"Persistent", "persistent"> {
  let summary = "how the blocks of a kernel go through its tiles";
  let description = [{
    As `schedule.persistent` says it of a stage.

    ```mlir
    #schedule.persistent<blocks = 132, raster = row>
    #schedule.persistent<blocks = 132, raster = grouped, group = 8, stream_k = true>
    #schedule.persistent<blocks = 132, raster = grouped, group = 8, narrower = 16, serpentine_k = true>
    ```
  }];
  let parameters = (ins "int64_t":$blocks, EnumParameter<Schedule_Raster>:$raster, DefaultValuedParameter<"int64_t", "1">:$group,
                        DefaultValuedParameter<"bool", "false">:$stream_k, DefaultValuedParameter<"int64_t", "0">:$narrower,
                        DefaultValuedParameter<"bool", "false">:$serpentine_k);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Schedule_CopyAttr : Schedule_Attr<"Copy", "copy"> {
  let summary = "what copies the tile that a store writes";
  let description = [{
    TMA, or of a result the threads of each warpgroup. `swizzle` is the swizzle's span in bytes of the buffer in shared
    memory; 0 is none. `columns` is the number of columns that the buffer has at once, where a result is stored through a
    smaller buffer. A result that is `deferred` is stored behind the next tile's first matmuls.

    ```mlir
    #schedule.copy<by = tma, swizzle = 128>
    #schedule.copy<by = tma, swizzle = 128, columns = 64, deferred = true>
    #schedule.copy<by = threads, swizzle = 128>
    ```
  }];
  let parameters = (ins EnumParameter<Schedule_Copier>:$by, "int64_t":$swizzle, DefaultValuedParameter<"int64_t", "0">:$columns,
                        DefaultValuedParameter<"bool", "false">:$deferred);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
