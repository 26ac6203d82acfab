// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-error @below {{'schedule.bind' op expected a spatial axis on vthread, got the reduction axis 'k'}}
  schedule.bind %k to <vthread>
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-error @below {{'schedule.bind' op expected a spatial axis on blockIdx.x, got the reduction axis 'k': blocks combine what they computed with reduce_add alone}}
  schedule.bind %k to <blockIdx.x>
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-error @below {{'schedule.bind' op expected a reduction axis on a block index for reduce_add, got 'k' on threadIdx.x}}
  schedule.bind %k to <threadIdx.x> reduce_add
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.launch_bounds' op expected a number of blocks of at least 1, got 0}}
  schedule.launch_bounds %C min_blocks 0
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @below {{'schedule.storage_align' op expected a factor of at least 1, got 0}}
  schedule.storage_align %C, %i by 0 offset 0
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @below {{'schedule.storage_align' op expected an offset from 0 to 31, got 32}}
  schedule.storage_align %C, %i by 32 offset 32
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @below {{'schedule.storage_align' op expected an offset from 0 to 31, got -1}}
  schedule.storage_align %C, %i by 32 offset -1
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %o, %n = schedule.split %i by 4
  // expected-error @below {{'schedule.storage_align' op expected a spatial axis of the tensor of stage 'C', got 'i.outer' of 'C'}}
  schedule.storage_align %C, %o by 32 offset 1
}

// -----

func.func @f(%A: tensor<8xf32>) { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @below {{'schedule.software_pipeline' op expected at least 2 stages, got 1}}
  schedule.software_pipeline %i depth 1
}
