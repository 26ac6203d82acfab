// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// Attributes that passes leave on ops of other dialects: each stands on another op here, or is of another type.

func.func @nonempty(%n: index) {
  // expected-error @below {{'gpu.launch' op expected "tilewright.nonempty" to be no value, got 1 : i64}}
  gpu.launch blocks(%a, %b, %c) in (%d = %n, %e = %n, %f = %n) threads(%x, %y, %z) in (%u = %n, %v = %n, %w = %n) {
    gpu.terminator
  } {tilewright.nonempty = 1 : i64}
  return
}

// -----

func.func @launch_origin(%n: index) {
  // expected-error @below {{'gpu.launch' op expected "tilewright.launch_origin" to be a dictionary of strings, got {grid = 1 : i64}}}
  gpu.launch blocks(%a, %b, %c) in (%d = %n, %e = %n, %f = %n) threads(%x, %y, %z) in (%u = %n, %v = %n, %w = %n) {
    gpu.terminator
  } {tilewright.launch_origin = {grid = 1 : i64}}
  return
}

// -----

func.func @uniform(%x: f32, %o: i32) {
  // expected-error @below {{'gpu.shuffle' op expected "tilewright.uniform" to be no value, got 1 : i64}}
  %r, %v = gpu.shuffle xor %x, %o, %o {tilewright.uniform = 1 : i64} : f32
  return
}

// -----

func.func @exchanged(%m: memref<f32>) {
  // expected-error @below {{'memref.load' op expected "tilewright.exchanged" to be no value, got 1 : i64}}
  %x = memref.load %m[] {tilewright.exchanged = 1 : i64} : memref<f32>
  return
}

// -----

func.func @operand_type(%a: vector<4x2xf16>, %b: vector<2x2xf16>, %c: vector<2x2xf32>) {
  // expected-error @below {{'nvgpu.mma.sync' op expected "tilewright.operand_type" to be a type, got 1 : i64}}
  %d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 16], tilewright.operand_type = 1 : i64} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
  return
}

// -----

llvm.func @launcher()
llvm.func @kernel() {
  // expected-error @below {{'llvm.call' op expected "tilewright.kernel" to be a string, got 1 : i64}}
  llvm.call @launcher() {tilewright.kernel = 1 : i64} : () -> ()
  llvm.return
}

// -----

llvm.func @launcher()
llvm.func @cluster() {
  // expected-error @below {{'llvm.call' op expected "tilewright.cluster" to be three numbers, array<i32: ...>, got array<i32: 2>}}
  llvm.call @launcher() {tilewright.cluster = array<i32: 2>} : () -> ()
  llvm.return
}

// -----

// expected-error @below {{'gpu.module' op expected "tilewright.ptx" to be a string, got 1 : i64}}
gpu.module @ptx attributes {tilewright.ptx = 1 : i64} {
}

// -----

// expected-error @below {{'builtin.module' op expected "tilewright.object" to be a string, got 1 : i64}}
module attributes {tilewright.object = 1 : i64} {
}

// -----

// expected-error @below {{'builtin.module' op expected "tilewright.cuda" to be a string, got 1 : i64}}
module attributes {tilewright.cuda = 1 : i64} {
}

// -----

// expected-error @below {{'builtin.module' op expected "tilewright.cuda_lines" to be an array of locations, got [1]}}
module attributes {tilewright.cuda_lines = [1]} {
}

// -----

// expected-error @below {{'func.func' op expected "tilewright.cuda_lines" on a module}}
func.func private @f() attributes {tilewright.cuda_lines = []}

// -----

// expected-error @below {{'func.func' op expected "tilewright.cpp" to be a string, got 1 : i64}}
func.func private @f() attributes {tilewright.cpp = 1 : i64}

// -----

// expected-error @below {{'func.func' op expected "tilewright.cpp_lines" to be an array of locations, got [1]}}
func.func private @f() attributes {tilewright.cpp_lines = [1]}

// -----

// expected-error @below {{'builtin.module' op expected "tilewright.cpp_lines" on a function}}
module attributes {tilewright.cpp_lines = []} {
}

// -----

// expected-error @below {{'func.func' op expected "tilewright.sim_kernel" to be no value, got 1 : i64}}
func.func private @f() attributes {tilewright.sim_kernel = 1 : i64}

// -----

func.func @argument() {
  // expected-error @below {{'memref.alloca' op expected "tilewright.argument" to be an i64 of at least 0, got -1 : i64}}
  %0 = memref.alloca() {tilewright.argument = -1 : i64} : memref<8xf32>
  return
}

// -----

// expected-error @below {{'builtin.module' op expected "tilewright.sim_sites" to be an i64 of at least 0, got -1 : i64}}
module attributes {tilewright.sim_sites = -1 : i64} {
}

// -----

// expected-error @below {{'func.func' op expected "tilewright.sim_sites" on a module}}
func.func private @f() attributes {tilewright.sim_sites = 1 : i64}

// -----

func.func @copy(%x: vector<4xf32>, %m: memref<8xf32>, %i: index) {
  // expected-error @below {{'vector.store' op expected "tilewright.copy" to be no value, got 1 : i64}}
  vector.store %x, %m[%i] {tilewright.copy = 1 : i64} : memref<8xf32>, vector<4xf32>
  return
}

// -----

func.func @axis() {
  // expected-error @below {{'arith.constant' op expected "schedule.axis" on a loop (scf.for)}}
  %0 = arith.constant {schedule.axis = #schedule.axis<"i" of "C">} 0 : index
  return
}

// -----

func.func @bind() {
  // expected-error @below {{'arith.constant' op expected "schedule.bind" on a loop (scf.for)}}
  %0 = arith.constant {schedule.bind = #schedule.thread<threadIdx.x>} 0 : index
  return
}

// -----

func.func @vectorize() {
  // expected-error @below {{'arith.constant' op expected "schedule.vectorize" on a loop (scf.for)}}
  %0 = arith.constant {schedule.vectorize} 0 : index
  return
}

// -----

func.func @parallel() {
  // expected-error @below {{'arith.constant' op expected "schedule.parallel" on a loop (scf.for)}}
  %0 = arith.constant {schedule.parallel} 0 : index
  return
}

// -----

func.func @partition() {
  // expected-error @below {{'arith.constant' op expected "schedule.partition" on a loop (scf.for)}}
  %0 = arith.constant {schedule.partition} 0 : index
  return
}

// -----

func.func @pipeline() {
  // expected-error @below {{'arith.constant' op expected "schedule.pipeline" on a loop (scf.for)}}
  %0 = arith.constant {schedule.pipeline = #schedule.pipeline<stages = 2>} 0 : index
  return
}

// -----

func.func @instruction() {
  // expected-error @below {{'arith.constant' op expected "schedule.instruction" on a loop (scf.for)}}
  %0 = arith.constant {schedule.instruction = #schedule.instruction<wgmma, 64x64x16>} 0 : index
  return
}

// -----

func.func @bound() {
  // expected-error @below {{'arith.constant' op expected "schedule.bound" on a function}}
  %0 = arith.constant {schedule.bound = []} 0 : index
  return
}

// -----

// expected-error @below {{'func.func' op expected "schedule.bound" to be an array of #schedule.thread<...>, got [1]}}
func.func private @f() attributes {schedule.bound = [1]}

// -----

func.func @f() {
  return
}
// expected-error @below {{'schedule.of' op expected "schedule.input_layouts" to be a dictionary of affine maps, got {A = 1 : i64}}}
schedule.of @f {
} {schedule.input_layouts = {A = 1 : i64}}

// -----

func.func @f() {
  return
}
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.set_scope' op expected "schedule.fragment" to be #schedule.fragment<...>, got 1 : i64}}
  schedule.set_scope %C to <local> {schedule.fragment = 1 : i64}
}

// -----

func.func @async(%m: memref<f32>, %x: f32) {
  // expected-error @below {{'memref.store' op expected "schedule.async" to be no value, got 1 : i64}}
  memref.store %x, %m[] {schedule.async = 1 : i64} : memref<f32>
  return
}

// -----

func.func @matrix_axis(%n: index) {
  // expected-error @below {{'scf.for' op expected "schedule.matrix_axis" to be #schedule.matrix_axis<...>, got 1 : i64}}
  scf.for %i = %n to %n step %n {
  } {schedule.matrix_axis = 1 : i64}
  return
}

// -----

func.func @operand(%m: memref<f32>) {
  // expected-error @below {{'memref.load' op expected "schedule.operand" to be #schedule.operand<...>, got 1 : i64}}
  %x = memref.load %m[] {schedule.operand = 1 : i64} : memref<f32>
  return
}

// -----

func.func @copy(%m: memref<f32>, %x: f32) {
  // expected-error @below {{'memref.store' op expected "schedule.copy" to be #schedule.copy<...>, got 1 : i64}}
  memref.store %x, %m[] {schedule.copy = 1 : i64} : memref<f32>
  return
}

// -----

func.func @f(%x: f32, %m: memref<f32>) {
  // expected-error @below {{'memref.store' op expected "schedule.reduce_add" to be no value, got 1 : i64}}
  memref.store %x, %m[] {schedule.reduce_add = 1 : i64} : memref<f32>
  return
}

// -----

func.func @axes(%m: memref<8xf32>) {
  // expected-error @below {{'linalg.generic' op expected "te.axes" to be an array of strings, got [1]}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%m : memref<8xf32>) attrs = {te.stage = "C", te.axes = [1]} {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  return
}

// -----

func.func @scan(%m: memref<8xf32>) {
  // expected-error @below {{'linalg.generic' op expected "te.scan" to be no value, got 1 : i64}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%m : memref<8xf32>) attrs = {te.stage = "C", te.scan = 1 : i64} {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  return
}

// -----

func.func @combine(%x: f32) {
  // expected-error @below {{'arith.addf' op expected "te.combine" to be an array<i64: ...>, got 1 : i64}}
  %y = "arith.addf"(%x, %x) {te.combine = 1 : i64} : (f32, f32) -> f32
  return
}

// -----

func.func @on_reduce_add() {
  // expected-error @below {{'arith.constant' op expected "schedule.reduce_add" on a store of an element (memref.store)}}
  %x = arith.constant {schedule.reduce_add} 1.0 : f32
  return
}
