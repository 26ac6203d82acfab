// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.copy_by' op expected a swizzle of 32, 64 or 128 bytes, got 16}}
  schedule.copy_by <tma> %C swizzle 16
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.copy_by' op expected columns of at least 1, got 0}}
  schedule.copy_by <tma> %C swizzle 128 columns 0
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-note @below {{the first is here}}
  schedule.copy_by <tma> %C swizzle 128
  // expected-error @below {{'schedule.copy_by' op expected the producer of stage 'C' once, got it twice}}
  schedule.copy_by <tma> %C swizzle 64
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-error @below {{'schedule.specialize' op expected a multiple of 8 registers from 24 to 240, got 41}}
  schedule.specialize %k producer 41 consumer 232
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-error @below {{'schedule.specialize' op expected 1 to 7 consumer warpgroups, got 8}}
  schedule.specialize %k producer 40 consumer 232 consumers 8
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-note @below {{the first is here}}
  schedule.specialize %k producer 40 consumer 232
  // expected-error @below {{'schedule.specialize' op expected specialize of axis 'k' once, got it twice}}
  schedule.specialize %k producer 40 consumer 232
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-note @below {{split here}}
  %ko, %ki = schedule.split %k by 4
  // expected-error @below {{'schedule.specialize' op axis 'k' of stage 'C': expected a loop, got an axis that was already split}}
  schedule.specialize %k producer 40 consumer 232
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @below {{'schedule.cluster' op expected a cluster of 1 to 8 blocks, got 9}}
  schedule.cluster %i blocks 9
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-error @below {{'schedule.cluster' op expected a spatial axis, got 'k' of the reduction of stage 'C'}}
  schedule.cluster %k blocks 2
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  // expected-note @below {{fused here}}
  %ij = schedule.fuse %i, %j
  // expected-error @below {{'schedule.cluster' op axis 'i' of stage 'C': expected a loop, got an axis that was already fused}}
  schedule.cluster %i blocks 2
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.persistent' op expected at least 1 block, got 0}}
  schedule.persistent %C on 0 <row> by 8
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.persistent' op expected groups of at least 1 tile, got 0}}
  schedule.persistent %C on 132 <grouped> by 0
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.persistent' op expected squares of a power of two of tiles for Hilbert's curve, got 12}}
  schedule.persistent %C on 132 <hilbert> by 12
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.persistent' op expected some tiles to be narrower by at least 0 columns, got -8}}
  schedule.persistent %C on 132 <row> by 8 narrower -8
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.persistent' op expected narrower tiles or stream_k, which both fill the last wave, got both}}
  schedule.persistent %C on 132 <row> by 8 stream_k narrower 8
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.persistent' op expected serpentine_k or stream_k, whose blocks begin tiles at different steps, got both}}
  schedule.persistent %C on 132 <row> by 8 stream_k serpentine_k
}
