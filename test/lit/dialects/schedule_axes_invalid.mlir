// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// Axes and stages that a primitive names twice, or of another stage.
func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @+1 {{'schedule.tile' op expected two axes, got 'i' twice}}
  %io, %jo, %ii, %ji = schedule.tile %i, %i by 16, 8
}

// -----

func.func @f() { return }
schedule.of @f {
  // expected-error @+1 {{'schedule.reorder' op expected at least one axis}}
  "schedule.reorder"() : () -> ()
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @+1 {{'schedule.reorder' op expected different axes, got 'i' twice}}
  schedule.reorder %i, %i
}

// -----

func.func @f() { return }
schedule.of @f {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @+1 {{'schedule.rfactor' op expected a reduction axis of stage 'B', got 'i' of 'C'}}
  %R = "schedule.rfactor"(%B, %i) {factor_axis = 0 : i64, name = "B.rf"} : (!schedule.stage, !schedule.axis) -> !schedule.stage
}

// -----

func.func @f() { return }
schedule.of @f {
  %C = schedule.stage "C"
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // expected-error @+1 {{'schedule.rolling_update' op expected another stage than 'C', got the stage itself}}
  schedule.rolling_update %k of %C
}
