#ifndef TILEWRIGHT_SCHEDULE_LOOP_OPS
#define TILEWRIGHT_SCHEDULE_LOOP_OPS

include "dialects/Schedule/ScheduleBase.td"

// The axes of stages, the loops that are made of them, and how their iterations run.

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

def Schedule_StageOp : Schedule_Primitive<"stage", [NamesResults]>, DefaultBuilders {
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

def Schedule_SplitOp : Schedule_Primitive<"split", [Schedule_AxisTransform, Schedule_IndependentIterations, NamesResults]> {
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

def Schedule_TileOp : Schedule_Primitive<"tile", [Schedule_AxisTransform, Schedule_IndependentIterations, NamesResults]> {
  let summary = "two loops become a loop nest over tiles and one within them";
  let description = [{
    Splits both axes and orders the four loops: outer x, outer y, inner x, inner y.
  }];
  let arguments = (ins Schedule_AxisType:$x, Schedule_AxisType:$y, I64Attr:$x_factor, I64Attr:$y_factor);
  let results = (outs Schedule_AxisType:$x_outer, Schedule_AxisType:$y_outer, Schedule_AxisType:$x_inner, Schedule_AxisType:$y_inner);
  let assemblyFormat = "$x `,` $y `by` $x_factor `,` $y_factor attr-dict";
}

def Schedule_SingletonOp : Schedule_Primitive<"singleton", [Schedule_RootAxes, NamesResults]> {
  let hasVerifier = 0;
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

def Schedule_FuseOp : Schedule_Primitive<"fuse", [Schedule_AxisTransform, Schedule_IndependentIterations, NamesResults]> {
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

def Schedule_BindOp : Schedule_Primitive<"bind", [Schedule_AxisAnnotation, Schedule_IndependentIterations]> {
  let summary = "a loop becomes a block or thread index, or a virtual thread";
  let description = [{
    One thread runs the iterations of a loop bound to `vthread` side by side. It executes each op of the body for all
    iterations before the next op. What is shared among threads is shared among virtual threads too. A reduction axis
    may be bound to a thread index: each thread then reduces its part, and the parts are combined across the threads.

    With `reduce_add`, the reduction axis of a sum is bound to a block index. Each block then adds its part to the
    result in global memory by an atomic operation. A kernel before it fills the result with zeros.
  }];
  let arguments = (ins Schedule_AxisType:$axis, Schedule_ThreadTagAttr:$thread, OptionalAttr<I64Attr>:$extent,
                       UnitAttr:$reduce_add);
  let assemblyFormat = "$axis `to` $thread (`extent` $extent^)? (`reduce_add` $reduce_add^)? attr-dict";
}

def Schedule_VectorizeOp : Schedule_Primitive<"vectorize", [Schedule_AxisAnnotation, Schedule_IndependentIterations]> {
  let summary = "the iterations of a loop become the lanes of vectors";
  let arguments = (ins Schedule_AxisType:$axis);
  let assemblyFormat = "$axis attr-dict";
}

def Schedule_UnrollOp : Schedule_Primitive<"unroll", [Schedule_AxisAnnotation]> {
  let summary = "the iterations of a loop are unrolled";
  let arguments = (ins Schedule_AxisType:$axis);
  let assemblyFormat = "$axis attr-dict";
}

def Schedule_ParallelOp : Schedule_Primitive<"parallel", [Schedule_AxisAnnotation, Schedule_IndependentIterations]> {
  let summary = "the iterations of a loop are distributed among the threads of a CPU";
  let arguments = (ins Schedule_AxisType:$axis);
  let assemblyFormat = "$axis attr-dict";
}

def Schedule_AutoUnrollOp : Schedule_Primitive<"auto_unroll"> {
  let summary = "a loop and those in it are unrolled, innermost first, up to a number of stores";
  let description = [{
    A loop is unrolled where all loops in it are, its extent is constant, and it makes at most `max_step` stores.
  }];
  let arguments = (ins Schedule_AxisType:$axis, I64Attr:$max_step);
  let assemblyFormat = "$axis `max_step` $max_step attr-dict";
}

def Schedule_LoopPartitionOp : Schedule_Primitive<"loop_partition", [Schedule_AxisAnnotation]> {
  let summary = "the iterations of a loop that need no predicates become a loop of their own";
  let description = [{
    Before and after them stand the others, with the predicates. A loop that needs none stays as it is.
  }];
  let arguments = (ins Schedule_AxisType:$axis);
  let assemblyFormat = "$axis attr-dict";
}

#endif // TILEWRIGHT_SCHEDULE_LOOP_OPS
