#ifndef TILEWRIGHT_SCHEDULE_OPS
#define TILEWRIGHT_SCHEDULE_OPS

include "dialects/Schedule/ScheduleKernelOps.td"
include "dialects/Schedule/ScheduleLoopOps.td"

// Where stages are computed, in which memory, and in which form.

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

def Schedule_SetScopeOp : Schedule_Primitive<"set_scope">, DefaultBuilders {
  let hasVerifier = 0;
  let summary = "the memory that a stage's tensor lives in";
  let arguments = (ins Schedule_StageType:$stage, Schedule_ScopeAttr:$scope);
  let assemblyFormat = "$stage `to` $scope attr-dict";
}

def Schedule_ComputeAtOp : Schedule_Primitive<"compute_at"> {
  let summary = "a stage is computed inside a loop of its consumer, just what that iteration needs";
  let arguments = (ins Schedule_StageType:$stage, Schedule_StageType:$consumer, Schedule_AxisType:$axis);
  let assemblyFormat = "$stage `at` $consumer `,` $axis attr-dict";
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
    iteration. A stage that does not read `producer` stands beside it, if it reads what is computed in the producer's loops.
    Its axes are then the producer's first ones, and each iteration computes all of the others.
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

def Schedule_RollingBufferOp : Schedule_Primitive<"rolling_buffer"> {
  let hasVerifier = 0;
  let summary = "a stage keeps from one iteration to the next what both need, in a circular buffer";
  let description = [{
    The stage is attached to a loop whose iterations need windows of its tensor that overlap. Its buffer then lives around
    that loop, and each iteration after the first computes the elements that are new.
  }];
  let arguments = (ins Schedule_StageType:$stage);
  let assemblyFormat = "$stage attr-dict";
}

def Schedule_PadEinsumOp : Schedule_Primitive<"pad_einsum", [Schedule_ReplacesAxes, NamesResults]> {
  let summary = "the extents of a matmul or convolution are padded to multiples, its operands with zeros";
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
  let hasVerifier = 0;
  let summary = "a stage is computed where it is read";
  let arguments = (ins Schedule_StageType:$stage);
  let assemblyFormat = "$stage attr-dict";
}

def Schedule_ComputeRootOp : Schedule_Primitive<"compute_root"> {
  let hasVerifier = 0;
  let summary = "a stage is computed whole, before its consumers";
  let arguments = (ins Schedule_StageType:$stage);
  let assemblyFormat = "$stage attr-dict";
}

#endif // TILEWRIGHT_SCHEDULE_OPS
