#ifndef TILEWRIGHT_SCHEDULE_KERNEL_OPS
#define TILEWRIGHT_SCHEDULE_KERNEL_OPS

include "dialects/Schedule/ScheduleBase.td"

// How kernels use the hardware: pipelines, instructions, copies, roles and launches.

def Schedule_LaunchBoundsOp : Schedule_Primitive<"launch_bounds", [Schedule_GPUOnly]> {
  let summary = "how many blocks of the stage's kernel an SM is to hold at least";
  let description = [{
    Bounds the registers of a thread: the assembler spills rather than take so many that fewer blocks fit. The stage is
    one that is computed at the root. CUDA calls it the second argument of `__launch_bounds__`, PTX `.minnctapersm`.
  }];
  let arguments = (ins Schedule_StageType:$stage, I64Attr:$min_blocks);
  let assemblyFormat = "$stage `min_blocks` $min_blocks attr-dict";
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
  let hasVerifier = 0;
  let summary = "a shared buffer has two places: one is filled while the other is read";
  let arguments = (ins Schedule_StageType:$stage);
  let assemblyFormat = "$stage attr-dict";
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
  let summary = "TMA or threads copy a stage's elements, a tile at a time";
  let description = [{
    The stage is a copy from global memory to shared memory, or from shared memory to an output. It copies a part of a
    tensor; elements beyond the tensor's end are zero. The shared buffer's rows are whole spans of `swizzle` bytes,
    whose chunks of 16 bytes are permuted as TMA does it. With `columns`, the tile is stored through a buffer of so many
    columns. An output that is `deferred` is held in registers until the next tile's first matmuls are under way. Threads
    copy outputs alone. Rows of these may then begin at any element, where TMA needs multiples of 16 bytes.

    ```mlir
    schedule.copy_by <tma> %A_shared swizzle 128
    schedule.copy_by <tma> %C swizzle 128 columns 64
    schedule.copy_by <tma> %D swizzle 128 columns 128 deferred
    schedule.copy_by <threads> %E swizzle 128
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

def Schedule_PrefetchOp : Schedule_Primitive<"prefetch">, DefaultBuilders {
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

#endif // TILEWRIGHT_SCHEDULE_KERNEL_OPS
