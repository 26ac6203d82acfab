// What is wrong with stages in the steps of a scan.
// RUN: tilewright-opt %s --convert-te-to-linalg --apply-schedule --split-input-file --verify-diagnostics

// A step that reads its own, and one of the steps to come.
func.func @f(%X: tensor<5x4xf32> {te.name = "X"}, %out: tensor<5x4xf32> {te.name = "S", te.output}) -> tensor<5x4xf32> {
  %state = te.state "state" of "S" : tensor<5x4xf32>
  // expected-error @below {{stage 'total': expected to read 'S' in the steps of scan 'S' at earlier steps, got others}}
  %total = te.compute "total" (%t: 4) sum (%k: 4) {
    %x = te.read %state[%t + 1, %k] : tensor<5x4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  %S = te.compute "S" scan (%t: 5, %i: 4) {
    %c1 = arith.constant 1 : index
    %begins = arith.cmpi slt, %t, %c1 : index
    %s = scf.if %begins -> f32 {
      %x = te.read %X[%t, %i] : tensor<5x4xf32>
      scf.yield %x : f32
    } else {
      %x = te.read %total[%t - 1] : tensor<4xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4xf32>
  return %S : tensor<5x4xf32>
}

// -----

// Updates that go different numbers of steps.
func.func @f(%X: tensor<5x4xf32> {te.name = "X"}, %out: tensor<5x4xf32> {te.name = "S", te.output}) -> tensor<5x4xf32> {
  %state = te.state "state" of "S" : tensor<5x4xf32>
  %other = te.state "other" of "T" : tensor<6xf32>
  %total = te.compute "total" (%t: 4) {
    %x = te.read %state[%t, 0] : tensor<5x4xf32>
    %y = te.read %other[%t] : tensor<6xf32>
    %z = arith.addf %x, %y : f32
    te.yield %z : f32
  } : tensor<4xf32>
  %S = te.compute "S" scan (%t: 5, %i: 4) {
    %c1 = arith.constant 1 : index
    %begins = arith.cmpi slt, %t, %c1 : index
    %s = scf.if %begins -> f32 {
      %x = te.read %X[%t, %i] : tensor<5x4xf32>
      scf.yield %x : f32
    } else {
      %x = te.read %total[%t - 1] : tensor<4xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4xf32>
  // expected-error @below {{scan 'T': expected as many steps as 'S' has, for they are computed together, got another number}}
  %T = te.compute "T" scan (%t: 6) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1] : tensor<4xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<6xf32>
  return %S : tensor<5x4xf32>
}

// -----

// The scan itself, at a loop of what it reads.
func.func @f(%X: tensor<5x4x6xf32> {te.name = "X"}, %out: tensor<5x4x6xf32> {te.name = "S", te.output}) -> tensor<5x4x6xf32> {
  %Y = te.compute "Y" (%t: 5, %i: 4, %j: 6) {
    %x = te.read %X[%t, %i, %j] : tensor<5x4x6xf32>
    te.yield %x : f32
  } : tensor<5x4x6xf32>
  %state = te.state "state" of "S" : tensor<5x4x6xf32>
  %total = te.compute "total" (%t: 4, %i: 4, %j: 6) {
    %x = te.read %state[%t, %i, %j] : tensor<5x4x6xf32>
    %y = te.read %Y[%t, %i, %j] : tensor<5x4x6xf32>
    %z = arith.addf %x, %y : f32
    te.yield %z : f32
  } : tensor<4x4x6xf32>
  %S = te.compute "S" scan (%t: 5, %i: 4, %j: 6) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1, %i, %j] : tensor<4x4x6xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4x6xf32>
  return %S : tensor<5x4x6xf32>
}
schedule.of @f {
  %Y = schedule.stage "Y"
  %S = schedule.stage "S"
  %t, %i, %j = schedule.axes %Y ["t", "i", "j"] : !schedule.axis, !schedule.axis, !schedule.axis
  // expected-error @below {{reverse_compute_at: expected a stage of which a part can be computed, got the scan 'S', whose steps have other stages in them}}
  schedule.reverse_compute_at %S at %Y, %t
}

// -----

// Blocks along an axis of the second update.
func.func @f(%X: tensor<5x4x6xf32> {te.name = "X"}, %out: tensor<5x4x6xf32> {te.name = "S", te.output}) -> tensor<5x4x6xf32> {
  %state = te.state "state" of "S" : tensor<5x4x6xf32>
  %other = te.state "other" of "T" : tensor<5x4x6xf32>
  %total = te.compute "total" (%t: 4, %i: 4, %j: 6) {
    %x = te.read %state[%t, %i, %j] : tensor<5x4x6xf32>
    %y = te.read %other[%t, %i, %j] : tensor<5x4x6xf32>
    %z = arith.addf %x, %y : f32
    te.yield %z : f32
  } : tensor<4x4x6xf32>
  %S = te.compute "S" scan (%t: 5, %i: 4, %j: 6) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1, %i, %j] : tensor<4x4x6xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4x6xf32>
  %T = te.compute "T" scan (%t: 5, %i: 4, %j: 6) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1, %i, %j] : tensor<4x4x6xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4x6xf32>
  return %S : tensor<5x4x6xf32>
}
schedule.of @f {
  %T = schedule.stage "T"
  %t, %i, %j = schedule.axes %T ["t", "i", "j"] : !schedule.axis, !schedule.axis, !schedule.axis
  // expected-error @below {{bind: expected block indices to be bound to axes of 'S', the first of the updates of a scan, from which the others have theirs, got axis 'i' of 'T' on blockIdx.x}}
  schedule.bind %i to <blockIdx.x>
}

// -----

// An update that reads all of another.
func.func @f(%X: tensor<5x4x6xf32> {te.name = "X"}, %out: tensor<5x4x6xf32> {te.name = "S", te.output}) -> tensor<5x4x6xf32> {
  %state = te.state "state" of "S" : tensor<5x4x6xf32>
  %other = te.state "other" of "T" : tensor<5x4x6xf32>
  %total = te.compute "total" (%t: 4, %i: 4, %j: 6) {
    %x = te.read %state[%t, %i, %j] : tensor<5x4x6xf32>
    %y = te.read %other[%t, %i, %j] : tensor<5x4x6xf32>
    %z = arith.addf %x, %y : f32
    te.yield %z : f32
  } : tensor<4x4x6xf32>
  %S = te.compute "S" scan (%t: 5, %i: 4, %j: 6) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1, %i, %j] : tensor<4x4x6xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4x6xf32>
  // expected-error @below {{stage 'last': expected what the steps of scan 'S' read to be there before the scan, got a stage that reads its stage 'S'}}
  %last = te.compute "last" (%i: 4, %j: 6) {
    %x = te.read %S[4, %i, %j] : tensor<5x4x6xf32>
    te.yield %x : f32
  } : tensor<4x6xf32>
  %T = te.compute "T" scan (%t: 5, %i: 4, %j: 6) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1, %i, %j] : tensor<4x4x6xf32>
      %y = te.read %last[%i, %j] : tensor<4x6xf32>
      %z = arith.addf %x, %y : f32
      scf.yield %z : f32
    }
    te.yield %s : f32
  } : tensor<5x4x6xf32>
  return %S : tensor<5x4x6xf32>
}

// -----

// Blocks whose loop is of two axes.
func.func @f(%X: tensor<5x4x6xf32> {te.name = "X"}, %out: tensor<5x4x6xf32> {te.name = "S", te.output}) -> tensor<5x4x6xf32> {
  %state = te.state "state" of "S" : tensor<5x4x6xf32>
  %other = te.state "other" of "T" : tensor<5x4x6xf32>
  %total = te.compute "total" (%t: 4, %i: 4, %j: 6) {
    %x = te.read %state[%t, %i, %j] : tensor<5x4x6xf32>
    %y = te.read %other[%t, %i, %j] : tensor<5x4x6xf32>
    %z = arith.addf %x, %y : f32
    te.yield %z : f32
  } : tensor<4x4x6xf32>
  %S = te.compute "S" scan (%t: 5, %i: 4, %j: 6) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1, %i, %j] : tensor<4x4x6xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4x6xf32>
  %T = te.compute "T" scan (%t: 5, %i: 4, %j: 6) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1, %i, %j] : tensor<4x4x6xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4x6xf32>
  return %S : tensor<5x4x6xf32>
}
schedule.of @f {
  %S = schedule.stage "S"
  %t, %i, %j = schedule.axes %S ["t", "i", "j"] : !schedule.axis, !schedule.axis, !schedule.axis
  %ij = schedule.fuse %i, %j
  %o, %n = schedule.split %ij by 5
  schedule.reorder %o, %t, %n
  // expected-error @below {{scan 'S': expected each iteration of loop 'i.j.fused.outer' around its steps to compute a block of it, got loops that fuse or split their axes in another way}}
  schedule.bind %o to <blockIdx.x>
}

// -----

// Blocks along an axis that another update has not, or not of this extent.
func.func @f(%X: tensor<5x4x6xf32> {te.name = "X"}, %out: tensor<5x4x6xf32> {te.name = "S", te.output}) -> tensor<5x4x6xf32> {
  %state = te.state "state" of "S" : tensor<5x4x6xf32>
  %other = te.state "other" of "T" : tensor<5x4x1xf32>
  %total = te.compute "total" (%t: 4, %i: 4, %j: 6) {
    %x = te.read %state[%t, %i, %j] : tensor<5x4x6xf32>
    %y = te.read %other[%t, %i, 0] : tensor<5x4x1xf32>
    %z = arith.addf %x, %y : f32
    te.yield %z : f32
  } : tensor<4x4x6xf32>
  %S = te.compute "S" scan (%t: 5, %i: 4, %j: 6) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1, %i, %j] : tensor<4x4x6xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4x6xf32>
  %T = te.compute "T" scan (%t: 5, %i: 4, %j: 1) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1, %i, %j] : tensor<4x4x6xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4x1xf32>
  return %S : tensor<5x4x6xf32>
}
schedule.of @f {
  %S = schedule.stage "S"
  %t, %i, %j = schedule.axes %S ["t", "i", "j"] : !schedule.axis, !schedule.axis, !schedule.axis
  schedule.reorder %j, %t, %i
  // expected-error @below {{scan 'S': expected no loop around its steps that splits axis 'j', which 'T', another of its updates, has not, got loop 'j'}}
  schedule.bind %j to <blockIdx.x>
}

// -----

// An update of two results, with a stage in its steps.
func.func @f(%X: tensor<5x4xf32> {te.name = "X"}, %out: tensor<5x4xf32> {te.name = "S", te.output}) -> tensor<5x4xf32> {
  %state = te.state "state" of "S" : tensor<5x4xf32>
  %total = te.compute "total" (%t: 4, %i: 4) {
    %x = te.read %state[%t, %i] : tensor<5x4xf32>
    te.yield %x : f32
  } : tensor<4x4xf32>
  %S = te.compute "S" scan (%t: 5, %i: 4) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1, %i] : tensor<4x4xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4xf32>
  // expected-error @below {{scan 'T': expected one result, as other stages are in its steps, got 2}}
  %T:2 = te.compute "T" scan (%t: 5, %i: 4) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1, %i] : tensor<4x4xf32>
      scf.yield %x : f32
    }
    te.yield %s, %s : f32, f32
  } : tensor<5x4xf32>, tensor<5x4xf32>
  return %S : tensor<5x4xf32>
}

// -----

// Statements in the steps.
func.func @f(%X: tensor<5x4xf32> {te.name = "X"}, %out: tensor<5x4xf32> {te.name = "S", te.output}) -> tensor<5x4xf32> {
  %state = te.state "state" of "S" : tensor<5x4xf32>
  %i0 = tensor.empty() : tensor<5x4xf32>
  // expected-error @below {{expected stages of te.compute in the steps of scan 'S', got te.extern 'total'}}
  %total = te.extern "total" ins(%s = %state : tensor<5x4xf32>) outs(%c = %i0 : tensor<5x4xf32>) {
  }
  %S = te.compute "S" scan (%t: 5, %i: 4) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1, %i] : tensor<5x4xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4xf32>
  return %S : tensor<5x4xf32>
}
