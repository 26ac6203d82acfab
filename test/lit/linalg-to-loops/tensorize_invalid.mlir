// RUN: tilewright-opt %s --tilewright-pipeline="to=loops" --split-input-file --verify-diagnostics

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    // expected-note @below {{the stage computes this}}
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'square': expected 'arith.mulf', as the intrinsic describes, got 'arith.addf'}}
  schedule.tensorize %i by "square" {
    func.func @describe(%a: tensor<4xf32>, %b: tensor<4xf32> {te.output}) -> tensor<4xf32> {
      %0 = te.compute "b" (%n: 4) {
        %x = te.read %a[%n] : tensor<4xf32>
        // expected-note @below {{the intrinsic computes this}}
        %y = arith.mulf %x, %x : f32
        te.yield %y : f32
      } : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @body(%a: memref<4xf32>, %b: memref<4xf32>) { return }
  }
}

// -----

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'two': expected a description that is one te.compute, got 2}}
  schedule.tensorize %i by "two" {
    func.func @describe(%a: tensor<4xf32>, %b: tensor<4xf32> {te.output}) -> tensor<4xf32> {
      %0 = te.compute "x" (%n: 4) {
        %x = te.read %a[%n] : tensor<4xf32>
        te.yield %x : f32
      } : tensor<4xf32>
      %1 = te.compute "y" (%n: 4) {
        %x = te.read %0[%n] : tensor<4xf32>
        te.yield %x : f32
      } : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    func.func @body(%a: memref<4xf32>, %b: memref<4xf32>) { return }
  }
}

// -----

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'any': expected tensors of constant extents in the description, got 'tensor<?xf32>'}}
  schedule.tensorize %i by "any" {
    func.func @describe(%a: tensor<?xf32> {te.symbols = ["n"]}, %b: tensor<?xf32> {te.symbols = ["n"], te.output}) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %m = tensor.dim %a, %c0 : tensor<?xf32>
      %0 = te.compute "x" (%n: %m) {
        %x = te.read %a[%n] : tensor<?xf32>
        te.yield %x : f32
      } : tensor<?xf32>
      return %0 : tensor<?xf32>
    }
    func.func @body(%a: memref<?xf32>, %b: memref<?xf32>) { return }
  }
}

// -----

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'copy': expected an intrinsic with a body, got one without}}
  schedule.tensorize %i by "copy" {
    func.func @describe(%a: tensor<4xf32>, %b: tensor<4xf32> {te.output}) -> tensor<4xf32> {
      %0 = te.compute "x" (%n: 4) {
        %x = te.read %a[%n] : tensor<4xf32>
        te.yield %x : f32
      } : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @update(%a: memref<4xf32>, %b: memref<4xf32>) { return }
  }
}

// -----

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'copy': expected a description that reads the whole of each input, got input 1, of extent 4 along dimension 0, which it does not read}}
  schedule.tensorize %i by "copy" {
    func.func @describe(%a: tensor<4xf32>, %o: tensor<4xf32>, %b: tensor<4xf32> {te.output}) -> tensor<4xf32> {
      %0 = te.compute "x" (%n: 4) {
        %x = te.read %a[%n] : tensor<4xf32>
        te.yield %x : f32
      } : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @body(%a: memref<4xf32>, %o: memref<4xf32>, %b: memref<4xf32>) { return }
  }
}
