#ifndef TILEWRIGHT_SCHEDULE_OPS
#define TILEWRIGHT_SCHEDULE_OPS

include "dialects/Schedule/ScheduleAttrs.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

defvar NamesResults = DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>;

/// What a primitive does to axes.
class Schedule_Trait<string name> : NativeOpTrait<name> { let cppNamespace = "::tilewright::schedule"; }
def Schedule_RootAxes : Schedule_Trait<"RootAxes">;
def Schedule_AxisTransform : Schedule_Trait<"AxisTransform">;
def Schedule_AxisAnnotation : Schedule_Trait<"AxisAnnotation">;
def Schedule_ReplacesAxes : Schedule_Trait<"ReplacesAxes">;
/// A primitive that only a GPU can follow.
def Schedule_GPUOnly : Schedule_Trait<"GPUOnly">;

class Schedule_Op<string mnemonic, list<Trait> traits = []> : Op<Schedule_Dialect, mnemonic, traits>;
/// A primitive stands inside `schedule.of`.
class Schedule_Primitive<string mnemonic, list<Trait> traits = []>
    : Schedule_Op<mnemonic, traits # [HasParent<"OfOp">]> { let hasVerifier = 1; }

def Schedule_OfOp : Schedule_Op<"of", [NoTerminator, SingleBlock, NoRegionArguments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the schedule of a function";
  let description = [{
    ```mlir
    schedule.of @mmult {
      %C = schedule.stage "C"
      %i, %j = schedule.axes %C : !schedule.axis, !schedule.axis
      %io, %jo, %ii, %ji = schedule.tile %i, %j by 32, 32
      schedule.bind %io to <blockIdx.y>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$function);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$function $body attr-dict";
}

def Schedule_StageOp : Schedule_Primitive<"stage", [NamesResults]> {
  let summary = "the handle of a stage, by its name";
  let arguments = (ins StrAttr:$name);
  let results = (outs Schedule_StageType:$stage);
  let assemblyFormat = "$name attr-dict";
}

def Schedule_AxesOp : Schedule_Primitive<"axes", [Schedule_RootAxes, NamesResults]> {
  let summary = "the spatial axes of a stage";
  let arguments = (ins Schedule_StageType:$stage, StrArrayAttr:$names);
  let results = (outs Variadic<Schedule_AxisType>:$axes);
  let assemblyFormat = "$stage $names attr-dict `:` type($axes)";
}

def Schedule_ReduceAxesOp : Schedule_Primitive<"reduce_axes", [Schedule_RootAxes, NamesResults]> {
  let summary = "the reduction axes of a stage";
  let arguments = (ins Schedule_StageType:$stage, StrArrayAttr:$names);
  let results = (outs Variadic<Schedule_AxisType>:$axes);
  let assemblyFormat = "$stage $names attr-dict `:` type($axes)";
}

def Schedule_SplitOp : Schedule_Primitive<"split", [Schedule_AxisTransform, NamesResults]> {
  let summary = "one loop becomes two";
  let description = [{
    `by f` makes an inner loop of extent `f`; `into n` makes an outer loop of extent `n`. Where the extent is no
    multiple, the iterations beyond it are predicated off; with `exact`, an extent that is no multiple is an error.
    `by_symbol` and `into_symbol` name a symbolic extent or a number that a call gives in place of the number; one below 1
    counts as 1.

    ```mlir
    %io, %ii = schedule.split %i by 32
    %jo, %ji = schedule.split %j by_symbol "n"
    ```
  }];
  let arguments = (ins Schedule_AxisType:$axis, OptionalAttr<I64Attr>:$factor, OptionalAttr<I64Attr>:$nparts,
                       OptionalAttr<StrAttr>:$factor_symbol, OptionalAttr<StrAttr>:$nparts_symbol,
                       UnitAttr:$disable_predication);
  let results = (outs Schedule_AxisType:$outer, Schedule_AxisType:$inner);
  let assemblyFormat = [{
    $axis (`by` $factor^)? (`into` $nparts^)? (`by_symbol` $factor_symbol^)? (`into_symbol` $nparts_symbol^)?
    (`exact` $disable_predication^)? attr-dict
  }];
}

def Schedule_TileOp : Schedule_Primitive<"tile", [Schedule_AxisTransform, NamesResults]> {
  let summary = "two loops become a loop nest over tiles and one within them";
  let description = [{
    Splits both axes and orders the four loops: outer x, outer y, inner x, inner y.
  }];
  let arguments = (ins Schedule_AxisType:$x, Schedule_AxisType:$y, I64Attr:$x_factor, I64Attr:$y_factor);
  let results = (outs Schedule_AxisType:$x_outer, Schedule_AxisType:$y_outer, Schedule_AxisType:$x_inner, Schedule_AxisType:$y_inner);
  let assemblyFormat = "$x `,` $y `by` $x_factor `,` $y_factor attr-dict";
}

def Schedule_SingletonOp : Schedule_Primitive<"singleton", [Schedule_RootAxes, NamesResults]> {
  let summary = "a loop of one iteration around the loops that a stage has";
  let description = [{
    What a stage without axes can bind.

    ```mlir
    %singleton = schedule.singleton %C
    ```
  }];
  let arguments = (ins Schedule_StageType:$stage);
  let results = (outs Schedule_AxisType:$axis);
  let assemblyFormat = "$stage attr-dict";
}

def Schedule_FuseOp : Schedule_Primitive<"fuse", [Schedule_AxisTransform, NamesResults]> {
  let summary = "neighbouring loops become one, the outermost the slowest";
  let description = [{
    Each of the axes is a neighbour of those before it. In which order they are given changes the name alone.
  }];
  let arguments = (ins Variadic<Schedule_AxisType>:$axes);
  let results = (outs Schedule_AxisType:$fused);
  let assemblyFormat = "$axes attr-dict";
}

def Schedule_ReorderOp : Schedule_Primitive<"reorder"> {
  let summary = "the named loops take their places among themselves in the order given, outermost first";
  let arguments = (ins Variadic<Schedule_AxisType>:$axes);
  let assemblyFormat = "$axes attr-dict";
}

def Schedule_BindOp : Schedule_Primitive<"bind", [Schedule_AxisAnnotation]> {
  let summary = "a loop becomes a block or thread index, or a virtual thread";
  let description = [{
    One thread runs the iterations of a loop bound to `vthread` side by side. It executes each op of the body for all
    iterations before the next op. What is shared among threads is shared among virtual threads too. A reduction axis
    may be bound to a thread index: each thread then reduces its part, and the parts are combined across the threads.
  }];
  let arguments = (ins Schedule_AxisType:$axis, Schedule_ThreadTagAttr:$thread, OptionalAttr<I64Attr>:$extent);
  let assemblyFormat = "$axis `to` $thread (`extent` $extent^)? attr-dict";
}

def Schedule_VectorizeOp : Schedule_Primitive<"vectorize", [Schedule_AxisAnnotation]> {
  let summary = "the iterations of a loop become the lanes of vectors";
  let arguments = (ins Schedule_AxisType:$axis);
  let assemblyFormat = "$axis attr-dict";
}

def Schedule_UnrollOp : Schedule_Primitive<"unroll", [Schedule_AxisAnnotation]> {
  let summary = "the iterations of a loop are written out";
  let arguments = (ins Schedule_AxisType:$axis);
  let assemblyFormat = "$axis attr-dict";
}

def Schedule_ParallelOp : Schedule_Primitive<"parallel", [Schedule_AxisAnnotation]> {
  let summary = "the iterations of a loop are shared out among the threads of a CPU";
  let arguments = (ins Schedule_AxisType:$axis);
  let assemblyFormat = "$axis attr-dict";
}

def Schedule_AutoUnrollOp : Schedule_Primitive<"auto_unroll"> {
  let summary = "a loop and those in it are written out, innermost first, up to a number of stores";
  let description = [{
    A loop is written out where all in it are, its extent is constant, and it makes at most `max_step` stores.
  }];
  let arguments = (ins Schedule_AxisType:$axis, I64Attr:$max_step);
  let assemblyFormat = "$axis `max_step` $max_step attr-dict";
}

def Schedule_CacheReadOp : Schedule_Primitive<"cache_read", [NamesResults]> {
  let summary = "readers of a tensor read a copy in another memory";
  let description = [{
    `tensor` is the name of a stage or of an input; `name` is the name of the new stage.
  }];
  let arguments = (ins StrAttr:$tensor, Schedule_ScopeAttr:$scope, Variadic<Schedule_StageType>:$readers, StrAttr:$name);
  let results = (outs Schedule_StageType:$stage);
  let assemblyFormat = "$tensor `in` $scope `for` $readers `as` $name attr-dict";
}

def Schedule_CacheWriteOp : Schedule_Primitive<"cache_write", [Schedule_ReplacesAxes, NamesResults]> {
  let summary = "a stage computes into another memory and is then copied to its tensor";
  let description = [{
    The new stage, named `name`, takes over the computation with its reduction. The old stage keeps its spatial axes and
    copies. Before this primitive, the old stage's loops may only be split, fused and reordered, and only the spatial
    ones. The resulting loops are the axes of the new stage, and its tensor is laid out in their order.
  }];
  let arguments = (ins Schedule_StageType:$of, Schedule_ScopeAttr:$scope, StrAttr:$name);
  let results = (outs Schedule_StageType:$stage);
  let assemblyFormat = "$of `in` $scope `as` $name attr-dict";
}

def Schedule_SetScopeOp : Schedule_Primitive<"set_scope"> {
  let summary = "the memory that a stage's tensor lives in";
  let arguments = (ins Schedule_StageType:$stage, Schedule_ScopeAttr:$scope);
  let assemblyFormat = "$stage `to` $scope attr-dict";
}

def Schedule_ComputeAtOp : Schedule_Primitive<"compute_at"> {
  let summary = "a stage is computed inside a loop of its consumer, just what that iteration needs";
  let arguments = (ins Schedule_StageType:$stage, Schedule_StageType:$consumer, Schedule_AxisType:$axis);
  let assemblyFormat = "$stage `at` $consumer `,` $axis attr-dict";
}

def Schedule_LoopPartitionOp : Schedule_Primitive<"loop_partition", [Schedule_AxisAnnotation]> {
  let summary = "the iterations of a loop that need no predicates become a loop of their own";
  let description = [{
    Before and after them stand the others, with the predicates. A loop that needs none stays as it is.
  }];
  let arguments = (ins Schedule_AxisType:$axis);
  let assemblyFormat = "$axis attr-dict";
}

def Schedule_LaunchBoundsOp : Schedule_Primitive<"launch_bounds", [Schedule_GPUOnly]> {
  let summary = "how many blocks of the stage's kernel a multiprocessor is to hold at least";
  let description = [{
    Bounds the registers of a thread: the assembler spills rather than take so many that fewer blocks fit. The stage is
    one that is computed at the root. CUDA calls it the second argument of `__launch_bounds__`, PTX `.minnctapersm`.
  }];
  let arguments = (ins Schedule_StageType:$stage, I64Attr:$min_blocks);
  let assemblyFormat = "$stage `min_blocks` $min_blocks attr-dict";
}

def Schedule_StorageAlignOp : Schedule_Primitive<"storage_align"> {
  let summary = "pads a buffer so that neighbours along an axis lie a chosen distance apart";
  let description = [{
    The distance between neighbours along `axis`, in elements, becomes `offset` more than a multiple of `factor`. Rows
    of 32 floats that are 33 apart, for example, lie in different banks of shared memory.
  }];
  let arguments = (ins Schedule_StageType:$stage, Schedule_AxisType:$axis, I64Attr:$factor, I64Attr:$offset);
  let assemblyFormat = "$stage `,` $axis `by` $factor `offset` $offset attr-dict";
}

def Schedule_SoftwarePipelineOp : Schedule_Primitive<"software_pipeline"> {
  let summary = "the stages attached to a loop are computed some iterations before they are needed";
  let description = [{
    Each shared buffer that is filled in the loop gets `depth` places, which iterations take in turn. While one
    iteration computes, the copies for the next `depth - 1` iterations are under way. With `async`, `cp.async` copies
    past the registers. Without it, each thread holds what it fetched in registers until its place is free.
  }];
  let arguments = (ins Schedule_AxisType:$axis, I64Attr:$depth, UnitAttr:$async);
  let assemblyFormat = "$axis `depth` $depth (`async` $async^)? attr-dict";
}

def Schedule_DoubleBufferOp : Schedule_Primitive<"double_buffer"> {
  let summary = "a shared buffer has two places: one is filled while the other is read";
  let arguments = (ins Schedule_StageType:$stage);
  let assemblyFormat = "$stage attr-dict";
}

def Schedule_SetStorePredicateOp : Schedule_Primitive<"set_store_predicate"> {
  let summary = "some threads of an index alone store: of what all of its threads have, one of them does";
  let description = [{
    The threads are those from `from`, or 0, to the one before `to`, if there is a `to`. Where a loop of the stage is bound to the
    index, these are all that have an element.

    ```mlir
    schedule.set_store_predicate %B on <threadIdx.x> from 0 to 1
    ```
  }];
  let arguments = (ins Schedule_StageType:$stage, Schedule_ThreadTagAttr:$thread, OptionalAttr<I64Attr>:$from,
                       OptionalAttr<I64Attr>:$to);
  let assemblyFormat = "$stage `on` $thread (`from` $from^)? (`to` $to^)? attr-dict";
}

def Schedule_DecomposeReductionOp : Schedule_Primitive<"decompose_reduction"> {
  let summary = "a reduction's elements are all set to its identity before a loop, not where they are reduced";
  let arguments = (ins Schedule_StageType:$stage, Schedule_AxisType:$axis);
  let assemblyFormat = "$stage `at` $axis attr-dict";
}

def Schedule_ReverseComputeAtOp : Schedule_Primitive<"reverse_compute_at"> {
  let summary = "a stage is computed inside a loop of a stage that it reads, just what that iteration made possible";
  let description = [{
    It follows what the iteration computes of `producer`. Where only such stages read the producer, its tensor lives within the
    iteration.
  }];
  let arguments = (ins Schedule_StageType:$stage, Schedule_StageType:$producer, Schedule_AxisType:$axis);
  let assemblyFormat = "$stage `at` $producer `,` $axis attr-dict";
}

def Schedule_ReverseComputeInlineOp : Schedule_Primitive<"reverse_compute_inline"> {
  let summary = "a stage is computed where the elementwise stage is that it reads, which keeps its loops";
  let arguments = (ins Schedule_StageType:$stage, Schedule_StageType:$producer);
  let assemblyFormat = "$stage `into` $producer attr-dict";
}

def Schedule_RfactorOp : Schedule_Primitive<"rfactor", [Schedule_ReplacesAxes, NamesResults]> {
  let summary = "a reduction is split into one that keeps an axis and one over that axis";
  let description = [{
    The new stage, named `name`, reduces over all the reduction axes but `axis`, which becomes its spatial axis at
    `factor_axis`. The old stage reduces over that axis alone. `axis` is a reduction axis of the stage or a loop that
    was split from one. It stands before the stage's loops are used in any other way.
  }];
  let arguments = (ins Schedule_StageType:$of, Schedule_AxisType:$axis, I64Attr:$factor_axis, StrAttr:$name);
  let results = (outs Schedule_StageType:$stage);
  let assemblyFormat = "$of `,` $axis `at` $factor_axis `as` $name attr-dict";
}

def Schedule_RollingUpdateOp : Schedule_Primitive<"rolling_update"> {
  let summary = "a reduction that reads another one's result is reduced together with it";
  let description = [{
    The stage of `axis`, a reduction axis, reduces elements that read the result x of `of`. `of` is another reduction
    over as many elements. Both become one reduction of pairs: the sum (or maximum) so far, and the x with which it was
    computed. Where two pairs are combined, each is repaired to the x of both. The repair is found in the element. A sum
    of `c * exp(a(x))` is multiplied by `exp(a(x') - a(x))`. To a maximum or minimum of `c + a(x)`, `a(x') - a(x)` is
    added. Anything else is refused. Inlined stages between both are inlined before.

    ```mlir
    %L = te.compute "L" (%i: 64) sum (%k: 128) {   // exp(S[i, k] - M[i])
    ```

    becomes

    ```mlir
    %L, %M = te.compute "L" (%i: 64) reduce (%k: 128) {
      %x = te.read %S[%i, %k]
      ...                                          // 1, or 0 where x is minus infinity
      te.yield %one, %x : f32, f32
    } combine (%l0: f32, %m0: f32, %l1: f32, %m1: f32) identity [0.0 : f32, 0xFF800000 : f32] {
      ...                                          // m = max(m0, m1); l0 * exp(m0 - m) + l1 * exp(m1 - m)
      te.yield %l, %m : f32, f32
    } : tensor<64xf32>, tensor<64xf32>
    ```

    Stages that read `of` read the second result, and `of` is gone. Where the stage has more axes than `of`, `of` stays for them.
  }];
  let arguments = (ins Schedule_AxisType:$axis, Schedule_StageType:$of);
  let assemblyFormat = "$axis `of` $of attr-dict";
  let extraClassDeclaration = [{
    /// The stage that the axis is of.
    ::mlir::Value getStage();
  }];
}

def Schedule_TensorizeOp : Schedule_Primitive<"tensorize", [Schedule_AxisAnnotation, SymbolTable, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "the loops from one on become an intrinsic, which computes the same on a tile";
  let description = [{
    The region holds functions. `@describe` says on tensors, in one `te.compute`, what the intrinsic computes. The loops
    of the stage must compute the same. The other functions do it on memrefs, for the inputs and then for the results.
    `@body` computes the whole. Where only a part of the reduction axes is in the tile, `@reset` sets the results to the
    identity, and `@update` adds to them. The functions access their arguments element by element. The elements are
    those of the tile's buffers, in whatever memory they are.

    ```mlir
    schedule.tensorize %i_inner by "add4" {
      func.func @describe(%a: tensor<4xf32>, %c: tensor<4xf32> {te.output}) -> tensor<4xf32> { ... }
      func.func @body(%a: memref<4xf32>, %c: memref<4xf32>) { ... }
    }
    ```
  }];
  let arguments = (ins Schedule_AxisType:$axis, StrAttr:$name);
  let regions = (region SizedRegion<1>:$intrinsic);
  let assemblyFormat = "$axis `by` $name $intrinsic attr-dict";
  let hasRegionVerifier = 1;
}

def Schedule_TransformLayoutOp : Schedule_Primitive<"transform_layout"> {
  let summary = "where the elements of a stage's buffer lie";
  let description = [{
    The element that stands at `indices` in the part of the tensor that the buffer holds is stored at `layout(indices)`.
    Different elements must have different places.

    ```mlir
    schedule.transform_layout %B_shared by affine_map<(i, j) -> (i floordiv 4, j, i mod 4)>
    ```
  }];
  let arguments = (ins Schedule_StageType:$stage, AffineMapAttr:$layout);
  let assemblyFormat = "$stage `by` $layout attr-dict";
}

def Schedule_SwizzleOp : Schedule_Primitive<"swizzle"> {
  let summary = "the columns of a buffer are exchanged, in every row others, so that a column lies in many banks";
  let description = [{
    In row r the granule c of `granule` elements lies where the granule c xor (r mod number of granules in a row) would.
    The elements of a granule stay together.
  }];
  let arguments = (ins Schedule_StageType:$stage, I64Attr:$granule);
  let assemblyFormat = "$stage `granule` $granule attr-dict";
}

def Schedule_CopyByOp : Schedule_Primitive<"copy_by", [Schedule_GPUOnly]> {
  let summary = "a hardware engine copies a stage's elements, a tile at a time";
  let description = [{
    The stage is a copy from global memory to shared memory, or from shared memory to an output. It copies a part of a
    tensor; elements beyond the tensor's end are zero. The shared buffer's rows are whole spans of `swizzle` bytes,
    whose chunks of 16 bytes are permuted as TMA does it. With `columns`, the tile is stored through a buffer of so many
    columns. An output that is `deferred` is held in registers until the next tile's first matmuls are under way.

    ```mlir
    schedule.copy_by <tma> %A_shared swizzle 128
    schedule.copy_by <tma> %C swizzle 128 columns 64
    schedule.copy_by <tma> %D swizzle 128 columns 128 deferred
    ```
  }];
  let arguments = (ins Schedule_CopierAttr:$copier, Schedule_StageType:$stage, I64Attr:$swizzle,
                       OptionalAttr<I64Attr>:$columns, UnitAttr:$deferred);
  let assemblyFormat = "$copier $stage `swizzle` $swizzle (`columns` $columns^)? (`deferred` $deferred^)? attr-dict";
}

def Schedule_SpecializeOp : Schedule_Primitive<"specialize", [Schedule_GPUOnly]> {
  let summary = "some warps of the block fill the buffers of a pipelined loop, the others compute";
  let description = [{
    The registers of a thread of each. With several `consumers` there are so many sets of those that compute, which take
    the tiles of a persistent block in turn.

    ```mlir
    schedule.specialize %k_outer producer 40 consumer 232
    schedule.specialize %k_outer producer 40 consumer 232 consumers 2
    ```
  }];
  let arguments = (ins Schedule_AxisType:$axis, I64Attr:$producer, I64Attr:$consumer,
                       DefaultValuedAttr<I64Attr, "1">:$consumers);
  let assemblyFormat = "$axis `producer` $producer `consumer` $consumer (`consumers` $consumers^)? attr-dict";
}

def Schedule_ClusterOp : Schedule_Primitive<"cluster", [Schedule_GPUOnly]> {
  let summary = "neighbouring blocks along a block index are a cluster, and copy to each other's shared memory what both need";
  let description = [{
    ```mlir
    schedule.cluster %i_outer blocks 2
    ```
  }];
  let arguments = (ins Schedule_AxisType:$axis, I64Attr:$blocks);
  let assemblyFormat = "$axis `blocks` $blocks attr-dict";
}

def Schedule_PersistentOp : Schedule_Primitive<"persistent", [Schedule_GPUOnly]> {
  let summary = "as many blocks as run at once go through the tiles that a block each would compute";
  let description = [{
    `row`: along x, then y, then z. `grouped`: down `group` tiles of y, then to the next x, and then to the next group.
    `hilbert`: on Hilbert's curve through squares of `group` by `group` tiles of x and y. The squares are visited side
    by side, and those below them in the opposite direction. The tiles left over at the ends of x and y are visited as
    in groups.

    ```mlir
    schedule.persistent %C on 132 <grouped> by 8
    schedule.persistent %C on 132 <grouped> by 8 stream_k
    schedule.persistent %C on 132 <grouped> by 8 narrower 16
    schedule.persistent %C on 132 <grouped> by 8 serpentine_k
    ```

    With `stream_k`, each block computes whole tiles as long as there is one for each block. The reduction iterations of
    the last tiles are distributed equally. If several blocks have parts of a tile, the block that finishes last adds up
    the parts, always in the same order.

    With `narrower`, the last rows of tiles get one tile more each. There are as many such rows as blocks without a tile
    in the last wave. In such a row, some of the tiles have so many columns less than the others; they come last.

    With `serpentine_k` blocks go through the reduction of every second tile from its end.
  }];
  let arguments = (ins Schedule_StageType:$stage, I64Attr:$blocks, Schedule_RasterAttr:$raster, I64Attr:$group,
                       UnitAttr:$streamK, DefaultValuedAttr<I64Attr, "0">:$narrower, UnitAttr:$serpentineK);
  let assemblyFormat = [{
    $stage `on` $blocks $raster `by` $group (`stream_k` $streamK^)? (`narrower` $narrower^)?
    (`serpentine_k` $serpentineK^)? attr-dict
  }];
}

def Schedule_RollingBufferOp : Schedule_Primitive<"rolling_buffer"> {
  let summary = "a stage keeps from one iteration to the next what both need, in a circular buffer";
  let description = [{
    The stage is attached to a loop whose iterations need windows of its tensor that overlap. Its buffer then lives around
    that loop, and each iteration after the first computes the elements that are new.
  }];
  let arguments = (ins Schedule_StageType:$stage);
  let assemblyFormat = "$stage attr-dict";
}

def Schedule_PrefetchOp : Schedule_Primitive<"prefetch"> {
  let summary = "each iteration of a loop asks for the lines of a tensor that a later one will read";
  let description = [{
    The lines go to the cache of level 2. `tensor` is the name of an input or stage in global memory; `offset` says how many
    iterations later.
  }];
  let arguments = (ins Schedule_StageType:$stage, StrAttr:$tensor, Schedule_AxisType:$axis, I64Attr:$offset);
  let assemblyFormat = "$stage `of` $tensor `at` $axis `offset` $offset attr-dict";
}

def Schedule_EnvThreadsOp : Schedule_Primitive<"env_threads", [Schedule_GPUOnly]> {
  let summary = "the kernel of a stage has threads along an index, whether a loop of it is bound to it or not";
  let description = [{
    Loops that are bound to the index have its extent. Where none is, all its threads compute the same, and what they
    store is stored once; shared buffers are filled by all of them together.
  }];
  let arguments = (ins Schedule_StageType:$stage, Schedule_ThreadTagAttr:$thread, I64Attr:$extent);
  let assemblyFormat = "$stage `on` $thread `extent` $extent attr-dict";
}

def Schedule_PadEinsumOp : Schedule_Primitive<"pad_einsum", [Schedule_ReplacesAxes, NamesResults]> {
  let summary = "the extents of a sum of products grow to multiples, the tensors that it reads with zeros";
  let description = [{
    `padding` has a number for each axis, spatial axes first. Each tensor that is read gets a new stage, which is zero
    beyond the tensor's end. Another new stage has the sum over the longer axes, and the old stage copies its elements
    from there. `names` are the names of the new stages, in that order.

    ```mlir
    %A_pad, %B_pad, %C_pad = schedule.pad_einsum %C by [16, 16, 8] as ["A.pad", "B.pad", "C.pad"] : !schedule.stage, !schedule.stage, !schedule.stage
    ```
  }];
  let arguments = (ins Schedule_StageType:$of, DenseI64ArrayAttr:$padding, StrArrayAttr:$names);
  let results = (outs Variadic<Schedule_StageType>:$stages);
  let assemblyFormat = "$of `by` $padding `as` $names attr-dict `:` type($stages)";
}

def Schedule_ComputeInlineOp : Schedule_Primitive<"compute_inline"> {
  let summary = "a stage is computed where it is read";
  let arguments = (ins Schedule_StageType:$stage);
  let assemblyFormat = "$stage attr-dict";
}

def Schedule_ComputeRootOp : Schedule_Primitive<"compute_root"> {
  let summary = "a stage is computed whole, before its consumers";
  let arguments = (ins Schedule_StageType:$stage);
  let assemblyFormat = "$stage attr-dict";
}

#endif
