// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.tensorize' op expected a function @describe, got none}}
  schedule.tensorize %i by "x" {
    func.func @body() { return }
  }
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.tensorize' op expected a function that computes, @body or @update, got none}}
  schedule.tensorize %i by "x" {
    func.func @describe(%a: tensor<4xf32>) { return }
  }
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.tensorize' op expected functions @describe, @body, @reset and @update, got 'other'}}
  schedule.tensorize %i by "x" {
    func.func @describe(%a: tensor<4xf32>) { return }
    func.func @other(%a: memref<4xf32>) { return }
  }
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.tensorize' op expected @body to have a body, got a declaration}}
  schedule.tensorize %i by "x" {
    func.func @describe(%a: tensor<4xf32>) { return }
    func.func private @body(%a: memref<4xf32>)
  }
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.tensorize' op expected @body to take 1 arguments, as @describe, and to return nothing, got 2 arguments and 0 results}}
  schedule.tensorize %i by "x" {
    func.func @describe(%a: tensor<4xf32>) { return }
    func.func @body(%a: memref<4xf32>, %b: memref<4xf32>) { return }
  }
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.tensorize' op expected argument 0 of @body to be 'memref<4xf32>', as @describe has it, got 'memref<8xf32>'}}
  schedule.tensorize %i by "x" {
    func.func @describe(%a: tensor<4xf32>) { return }
    func.func @body(%a: memref<8xf32>) { return }
  }
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.tensorize' op expected argument 0 of @describe to be a tensor, got 'f32'}}
  schedule.tensorize %i by "x" {
    func.func @describe(%a: f32) { return }
    func.func @body(%a: memref<f32>) { return }
  }
}

// -----

func.func private @f()
func.func private @g(memref<4xf32>)
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.tensorize' op expected @body to load and store elements of argument 0, got 'memref.dim'}}
  schedule.tensorize %i by "x" {
    func.func @describe(%a: tensor<4xf32>) { return }
    func.func @body(%a: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      // expected-note @below {{used here}}
      %0 = memref.dim %a, %c0 : memref<4xf32>
      return
    }
  }
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.tensorize' op expected @body to store to its results, got a store to argument 0, an input}}
  schedule.tensorize %i by "x" {
    func.func @describe(%a: tensor<4xf32>, %b: tensor<4xf32> {te.output}) { return }
    func.func @body(%a: memref<4xf32>, %b: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %0 = memref.load %b[%c0] : memref<4xf32>
      // expected-note @below {{stored here}}
      memref.store %0, %a[%c0] : memref<4xf32>
      return
    }
  }
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-note @below {{said here}}
  schedule.bind %i to <threadIdx.x>
  // expected-error @below {{'schedule.tensorize' op axis 'i' of stage 'B': expected a loop that nothing else was said of, got one of an earlier bind}}
  schedule.tensorize %i by "x" {
    func.func @describe(%a: tensor<4xf32>) { return }
    func.func @body(%a: memref<4xf32>) { return }
  }
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  // expected-error @below {{'schedule.transform_layout' op expected a layout of indices alone, got one with 1 symbols}}
  schedule.transform_layout %B by affine_map<(i)[n] -> (i + n)>
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  // expected-error @below {{'schedule.transform_layout' op expected a layout with at least one index, got none}}
  schedule.transform_layout %B by affine_map<(i) -> ()>
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  // expected-note @below {{the first is here}}
  schedule.transform_layout %B by affine_map<(i, j) -> (j, i)>
  // expected-error @below {{'schedule.transform_layout' op expected one layout of stage 'B', got a second}}
  schedule.transform_layout %B by affine_map<(i, j) -> (j, i)>
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  // expected-error @below {{'schedule.swizzle' op expected a granule of a power of two elements, got 3}}
  schedule.swizzle %B granule 3
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.prefetch' op expected an axis of stage 'C', got 'i' of 'B'}}
  schedule.prefetch %C of "A" at %i offset 1
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.prefetch' op expected an offset of at least 0, got -1}}
  schedule.prefetch %B of "A" at %i offset -1
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-note @below {{split here}}
  %io, %ii = schedule.split %i by 4
  // expected-error @below {{'schedule.prefetch' op axis 'i' of stage 'B': expected a loop, got an axis that was already split}}
  schedule.prefetch %B of "A" at %i offset 1
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  // expected-error @below {{'schedule.env_threads' op expected a block or thread index, got vthread}}
  schedule.env_threads %B on <vthread> extent 2
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  // expected-error @below {{'schedule.env_threads' op expected an extent of at least 1, got 0}}
  schedule.env_threads %B on <threadIdx.x> extent 0
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  // expected-note @below {{the first is here}}
  schedule.env_threads %B on <threadIdx.x> extent 2
  // expected-error @below {{'schedule.env_threads' op expected threadIdx.x once for stage 'B', got it twice}}
  schedule.env_threads %B on <threadIdx.x> extent 2
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  // expected-error @below {{'schedule.pad_einsum' op expected multiples of at least 1, got 0}}
  %0 = schedule.pad_einsum %B by [0] as ["B.pad"] : !schedule.stage
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  // expected-error @below {{'schedule.pad_einsum' op expected one name a stage, 1, got 2}}
  %0 = schedule.pad_einsum %B by [4] as ["A.pad", "B.pad"] : !schedule.stage
}

// -----

func.func private @f()
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-note @below {{used here}}
  %io, %ii = schedule.split %i by 4
  // expected-error @below {{'schedule.pad_einsum' op expected to stand before the axes of stage 'B' are used}}
  %0 = schedule.pad_einsum %B by [4] as ["B.pad"] : !schedule.stage
}
