// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// Attributes of the dialect tilewright: one that is not known, on another op, or of another type.
func.func @unknown() {
  // expected-error @below {{'arith.constant' op expected an attribute that the dialect tilewright has for other dialects' ops, got "tilewright.lunch"}}
  %x = arith.constant {tilewright.lunch} 1.0 : f32
  return
}

// -----

func.func @on_launch() {
  // expected-error @below {{'arith.constant' op expected "tilewright.launch" on a schedule, a function or a kernel}}
  %x = arith.constant {tilewright.launch = {}} 1.0 : f32
  return
}

// -----

func.func @on_nonempty() {
  // expected-error @below {{'arith.constant' op expected "tilewright.nonempty" on a launch}}
  %x = arith.constant {tilewright.nonempty} 1.0 : f32
  return
}

// -----

func.func @on_launch_origin() {
  // expected-error @below {{'arith.constant' op expected "tilewright.launch_origin" on a launch}}
  %x = arith.constant {tilewright.launch_origin = {}} 1.0 : f32
  return
}

// -----

func.func @on_workspace_bytes() {
  // expected-error @below {{'arith.constant' op expected "tilewright.workspace_bytes" on a function}}
  %x = arith.constant {tilewright.workspace_bytes = 1} 1.0 : f32
  return
}

// -----

func.func @on_uniform() {
  // expected-error @below {{'arith.constant' op expected "tilewright.uniform" on a shuffle}}
  %x = arith.constant {tilewright.uniform} 1.0 : f32
  return
}

// -----

func.func @on_operand_type() {
  // expected-error @below {{'arith.constant' op expected "tilewright.operand_type" on nvgpu.mma.sync}}
  %x = arith.constant {tilewright.operand_type = f32} 1.0 : f32
  return
}

// -----

func.func @on_scheduled() {
  // expected-error @below {{'arith.constant' op expected "tilewright.scheduled" on a function}}
  %x = arith.constant {tilewright.scheduled} 1.0 : f32
  return
}

// -----

func.func @on_arguments() {
  // expected-error @below {{'arith.constant' op expected "tilewright.arguments" on a host function}}
  %x = arith.constant {tilewright.arguments = []} 1.0 : f32
  return
}

// -----

func.func @on_kernels() {
  // expected-error @below {{'arith.constant' op expected "tilewright.kernels" on a host function}}
  %x = arith.constant {tilewright.kernels = []} 1.0 : f32
  return
}

// -----

func.func @on_kernel() {
  // expected-error @below {{'arith.constant' op expected "tilewright.kernel" on a call of the launcher (llvm.call)}}
  %x = arith.constant {tilewright.kernel = "k"} 1.0 : f32
  return
}

// -----

func.func @on_cluster() {
  // expected-error @below {{'arith.constant' op expected "tilewright.cluster" on a call of the launcher (llvm.call)}}
  %x = arith.constant {tilewright.cluster = array<i32: 1, 1, 1>} 1.0 : f32
  return
}

// -----

func.func @on_cubins() {
  // expected-error @below {{'arith.constant' op expected "tilewright.cubins" on a host function}}
  %x = arith.constant {tilewright.cubins = {}} 1.0 : f32
  return
}

// -----

func.func @on_ptx() {
  // expected-error @below {{'arith.constant' op expected "tilewright.ptx" on a module of kernels}}
  %x = arith.constant {tilewright.ptx = ""} 1.0 : f32
  return
}

// -----

func.func @on_object() {
  // expected-error @below {{'arith.constant' op expected "tilewright.object" on a module}}
  %x = arith.constant {tilewright.object = ""} 1.0 : f32
  return
}

// -----

func.func @on_cuda() {
  // expected-error @below {{'arith.constant' op expected "tilewright.cuda" on a module}}
  %x = arith.constant {tilewright.cuda = ""} 1.0 : f32
  return
}

// -----

func.func @on_cpp() {
  // expected-error @below {{'arith.constant' op expected "tilewright.cpp" on a function}}
  %x = arith.constant {tilewright.cpp = ""} 1.0 : f32
  return
}

// -----

func.func @on_sim_kernel() {
  // expected-error @below {{'arith.constant' op expected "tilewright.sim_kernel" on a function}}
  %x = arith.constant {tilewright.sim_kernel} 1.0 : f32
  return
}

// -----

func.func @on_argument() {
  // expected-error @below {{'arith.constant' op expected "tilewright.argument" on a buffer}}
  %x = arith.constant {tilewright.argument = 0} 1.0 : f32
  return
}

// -----

func.func @on_copy() {
  // expected-error @below {{'arith.constant' op expected "tilewright.copy" on a store of vectors}}
  %x = arith.constant {tilewright.copy} 1.0 : f32
  return
}

// -----

// expected-error @below {{'func.func' op expected "tilewright.launch" to be a dictionary of dependent and cooperative without a value and cluster of three numbers, array<i32: ...>, got {dependant}}}
func.func private @f() attributes {tilewright.launch = {dependant}}

// -----

// expected-error @below {{'func.func' op expected "tilewright.launch" to be a dictionary of dependent and cooperative without a value and cluster of three numbers, array<i32: ...>, got {dependent = 1 : i64}}}
func.func private @f() attributes {tilewright.launch = {dependent = 1}}

// -----

// expected-error @below {{'func.func' op expected "tilewright.launch" to be a dictionary of dependent and cooperative without a value and cluster of three numbers, array<i32: ...>, got {cluster = array<i32: 2, 1>}}}
func.func private @f() attributes {tilewright.launch = {cluster = array<i32: 2, 1>}}

// -----

// expected-error @below {{'func.func' op expected "tilewright.launch" to be a dictionary of dependent and cooperative without a value and cluster of three numbers, array<i32: ...>, got {cluster = array<i32: 2, 0, 1>}}}
func.func private @f() attributes {tilewright.launch = {cluster = array<i32: 2, 0, 1>}}

// -----

// expected-error @below {{'func.func' op expected "tilewright.workspace_bytes" to be an i64 of at least 0, got -1 : i64}}
func.func private @f() attributes {tilewright.workspace_bytes = -1 : i64}

// -----

// expected-error @below {{'func.func' op expected "tilewright.scheduled" to be no value, got 1 : i64}}
func.func private @f() attributes {tilewright.scheduled = 1}

// -----

// expected-error @below {{'func.func' op expected "tilewright.arguments" to be an array of dictionaries, got [1]}}
func.func private @f() attributes {tilewright.arguments = [1]}

// -----

// expected-error @below {{'func.func' op expected "tilewright.kernels" to be an array of strings, got [1]}}
func.func private @f() attributes {tilewright.kernels = [1]}

// -----

// expected-error @below {{'llvm.func' op expected "tilewright.cubins" to be a dictionary of strings, got {sm_90a = 1 : i64}}}
llvm.func @f() attributes {tilewright.cubins = {sm_90a = 1}}

// -----

func.func @on_exchanged() {
  // expected-error @below {{'arith.constant' op expected "tilewright.exchanged" on a load (memref.load)}}
  %x = arith.constant {tilewright.exchanged} 1.0 : f32
  return
}
