// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'schedule.of' op expected the name of a function, got 'nobody'}}
schedule.of @nobody {
}

// -----

func.func @f() { return }
schedule.of @f {
  // expected-error @+1 {{'schedule.stage' op expected the name of a stage, got none}}
  %C = schedule.stage ""
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @+1 {{'schedule.axes' op expected one name an axis, 1, got 2}}
  %i = schedule.axes %C ["i", "j"] : !schedule.axis
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @+1 {{'schedule.split' op expected either a factor or a number of parts}}
  %io, %ii = schedule.split %i by 2 into 3
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @+1 {{'schedule.split' op expected either a factor or a number of parts}}
  %io, %ii = schedule.split %i by 2 by_symbol "n"
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @+1 {{'schedule.split' op expected a factor of at least 1, got 0}}
  %io, %ii = schedule.split %i by 0
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @+1 {{'schedule.split' op expected a number of parts of at least 1, got -1}}
  %io, %ii = schedule.split %i into -1
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-note @+1 {{split here}}
  %io, %ii = schedule.split %i by 4
  // expected-error @+1 {{'schedule.unroll' op axis 'i' of stage 'C': expected a loop, got an axis that was already split}}
  schedule.unroll %i
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  // expected-note @+1 {{fused here}}
  %f = schedule.fuse %i, %j
  // expected-error @+1 {{'schedule.reorder' op axis 'j' of stage 'C': expected a loop, got an axis that was already fused}}
  schedule.reorder %j, %f
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %x = schedule.axes %D ["x"] : !schedule.axis
  // expected-error @+1 {{'schedule.reorder' op expected axes of one stage, got 'i' of 'C' and 'x' of 'D'}}
  schedule.reorder %i, %x
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %x = schedule.axes %D ["x"] : !schedule.axis
  // expected-error @+1 {{'schedule.tile' op expected axes of one stage, got 'i' of 'C' and 'x' of 'D'}}
  %a, %b, %c, %d = schedule.tile %i, %x by 2, 2
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  // expected-error @+1 {{'schedule.tile' op expected a y factor of at least 1, got 0}}
  %a, %b, %c, %d = schedule.tile %i, %j by 2, 0
}

// -----

// Neighbours are what reorder, tile and split made neighbours.
func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %io, %jo, %ii, %ji = schedule.tile %i, %j by 2, 2
  %f = schedule.fuse %io, %jo
  schedule.reorder %ji, %ii
  %g = schedule.fuse %ji, %ii
  %go, %gi = schedule.split %g by 2
  %fo, %fi = schedule.split %f by 2
  // In whatever order neighbours are given.
  %h = schedule.fuse %go, %fi
  // expected-error @+1 {{'schedule.fuse' op stage 'C': expected neighbouring loops, got 'j.inner.i.inner.fused.inner' and 'i.outer.j.outer.fused.outer' apart: reorder them first}}
  %x = schedule.fuse %gi, %fo
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-error @+1 {{'schedule.fuse' op expected spatial axes or reduction axes, got 'i' and 'k'}}
  %f = schedule.fuse %i, %k
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @+1 {{'schedule.bind' op expected an extent of at least 1, got 0}}
  schedule.bind %i to <threadIdx.x> extent 0
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-note @+1 {{bound here}}
  schedule.bind %i to <threadIdx.x>
  // expected-error @+1 {{'schedule.split' op axis 'i' of stage 'C': expected a plain loop, got one that is bound to threadIdx.x}}
  %io, %ii = schedule.split %i by 2
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  // expected-note @+1 {{bound here}}
  schedule.bind %i to <threadIdx.x>
  // expected-error @+1 {{'schedule.bind' op stage 'C': expected one axis on threadIdx.x, got 'j' beside 'i'}}
  schedule.bind %j to <threadIdx.x>
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-error @+1 {{'schedule.vectorize' op expected a spatial axis, got the reduction axis 'k': its iterations depend on each other}}
  schedule.vectorize %k
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-note @+1 {{unrolled here}}
  schedule.unroll %i
  // expected-error @+1 {{'schedule.bind' op axis 'i' of stage 'C': expected a plain loop, got one that is unrolled}}
  schedule.bind %i to <threadIdx.x>
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-note @+1 {{used here}}
  schedule.unroll %k
  // expected-error @+1 {{'schedule.cache_write' op expected to stand before the loops of stage 'C' are used for more than to split, fuse and reorder its spatial axes}}
  %L = schedule.cache_write %C in <local> as "C.local"
}

// -----

func.func @f() { return }
schedule.of @f {
  // expected-error @+1 {{'schedule.cache_read' op expected at least one reader}}
  %S = schedule.cache_read "A" in <shared> for as "A.shared"
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @+1 {{'schedule.compute_at' op expected a consumer of stage 'C', got the stage itself}}
  schedule.compute_at %C at %C, %i
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @+1 {{'schedule.compute_at' op expected an axis of stage 'D', got 'i' of 'C'}}
  schedule.compute_at %C at %D, %i
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  %x = schedule.axes %D ["x"] : !schedule.axis
  // expected-note @+1 {{split here}}
  %xo, %xi = schedule.split %x by 2
  // expected-error @+1 {{'schedule.compute_at' op axis 'x' of stage 'D': expected a loop, got an axis that was already split}}
  schedule.compute_at %C at %D, %x
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-error @+1 {{'schedule.rfactor' op expected a factor_axis from 0 to 1, got 2}}
  %F = schedule.rfactor %C, %k at 2 as "C.rf"
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-note @+1 {{used here}}
  %io, %ii = schedule.split %i by 2
  // expected-error @+1 {{'schedule.rfactor' op expected to stand before the loops of stage 'C' are used for more than to split and fuse its reduction axes}}
  %F = schedule.rfactor %C, %k at 0 as "C.rf"
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  %x = schedule.axes %D ["x"] : !schedule.axis
  // expected-error @+1 {{'schedule.reverse_compute_at' op expected an axis of stage 'C', got 'x' of 'D'}}
  schedule.reverse_compute_at %D at %C, %x
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %x = schedule.axes %C ["x"] : !schedule.axis
  // expected-error @+1 {{'schedule.reverse_compute_at' op expected a producer of stage 'C', got the stage itself}}
  schedule.reverse_compute_at %C at %C, %x
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @+1 {{'schedule.reverse_compute_inline' op expected a producer of stage 'C', got the stage itself}}
  schedule.reverse_compute_inline %C into %C
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  %x = schedule.axes %D ["x"] : !schedule.axis
  // expected-error @+1 {{'schedule.decompose_reduction' op expected an axis of stage 'C', got 'x' of 'D'}}
  schedule.decompose_reduction %C at %x
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %x = schedule.axes %C ["x"] : !schedule.axis
  // expected-note @+1 {{parallel here}}
  schedule.parallel %x
  // expected-error @+1 {{'schedule.bind' op axis 'x' of stage 'C': expected a plain loop, got one that is parallel}}
  schedule.bind %x to <threadIdx.x>
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %x = schedule.axes %C ["x"] : !schedule.axis
  // expected-error @+1 {{'schedule.auto_unroll' op expected a number of steps of at least 0, got -1}}
  schedule.auto_unroll %x max_step -1
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @+1 {{'schedule.set_store_predicate' op expected threadIdx.x, threadIdx.y or threadIdx.z, got blockIdx.x}}
  schedule.set_store_predicate %C on <blockIdx.x> to 1
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @+1 {{'schedule.set_store_predicate' op expected threads from a number of at least 0 to a larger one, got 4 to 4}}
  schedule.set_store_predicate %C on <threadIdx.x> from 4 to 4
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %x = schedule.axes %C ["x"] : !schedule.axis
  // expected-note @+1 {{partitioned here}}
  schedule.loop_partition %x
  // expected-error @+1 {{'schedule.unroll' op axis 'x' of stage 'C': expected a plain loop, got one that is partitioned}}
  schedule.unroll %x
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @+1 {{'schedule.split' op expected factor of 32 bits, got 9223372036854775807}}
  %o, %r = schedule.split %i by 9223372036854775807
}
