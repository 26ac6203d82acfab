// RUN: tilewright-opt %s --convert-host-to-ffi | FileCheck %s
// RUN: tilewright-opt %s --convert-host-to-ffi=target=cpu | FileCheck %s --check-prefix=CPU
// RUN: tilewright-opt %s --convert-host-to-ffi=target=sim | FileCheck %s --check-prefix=SIM
// RUN: tilewright-opt %s --convert-host-to-ffi=managed=true | FileCheck %s --check-prefix=MANAGED
// RUN: tilewright-opt %s --convert-host-to-ffi=export=true | FileCheck %s --check-prefix=EXPORT

llvm.func @scale(%data: !llvm.ptr, %shape: !llvm.ptr, %workspace: !llvm.ptr, %launcher: !llvm.ptr) -> i32 attributes {
    tilewright.kernels = ["scale_kernel0"], tilewright.cubins = {sm_80 = "\7FELF80", sm_90a = "\7FELF90"},
    tilewright.arguments = [
      {te.name = "A", te.dtype = ui8, te.symbols = ["n", ""], te.divisible_by = array<i64: 16, 1>, te.minimum = array<i64: 32, 0>, te.maximum = array<i64: 4096, 9223372036854775807>, type = memref<?x4xi8>},
      {te.name = "B", te.symbols = ["n"], te.output, type = memref<?xf32>}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
llvm.func @scale_workspace_bytes(%shape: !llvm.ptr) -> i64 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  llvm.return %zero : i64
}

// The constants that say what is expected, for whoever explains what was given instead.
// CHECK-DAG: llvm.mlir.global internal constant @scale_text{{[0-9]+}}("scale(A: uint8[n, 4], B: float32[n])\00")
// CHECK-DAG: llvm.mlir.global internal constant @scale_image{{[0-9]+}}("\7FELF80") {addr_space = 0 : i32, alignment = 64 : i64}
// CHECK-DAG: llvm.mlir.global internal constant @scale_image{{[0-9]+}}("\7FELF90")
// CHECK-DAG: llvm.mlir.global external constant @scale_signature()
// CHECK-DAG: llvm.mlir.global external @scale_program()

// CHECK-LABEL: llvm.func @scale_call(
// CHECK-SAME: %[[STREAM:.*]]: !llvm.ptr, %[[ARGS:.*]]: !llvm.ptr, %[[COUNT:.*]]: i32) -> i32
// CHECK-DAG: %[[LEAST:.*]] = llvm.mlir.constant(32 : i64) : i64
// CHECK-DAG: %[[MOST:.*]] = llvm.mlir.constant(4096 : i64) : i64
// CHECK-DAG: %[[BELOW_UNIT:.*]] = llvm.mlir.constant(15 : i64) : i64
// CHECK-DAG: %[[DATA:.*]] = llvm.alloca %{{.*}} x i64
// CHECK: %[[SHAPES:.*]] = llvm.alloca %{{.*}} x i64
// CHECK: llvm.icmp "eq" %[[COUNT]], %{{.*}} : i32
// CHECK: llvm.cond_br {{.*}} weights([2000, 1]), ^{{.*}}, ^[[BIND:bb[0-9]+]]

// Tensor objects, or pointers to a DLTensor, in one branch.
// CHECK: %[[TYPE:.*]] = llvm.load %[[ARGS]] : !llvm.ptr -> i32
// CHECK: %[[IS_TENSOR:.*]] = llvm.icmp "eq" %[[TYPE]], %{{.*}} : i32
// CHECK: llvm.icmp "eq" %[[TYPE]], %{{.*}} : i32
// CHECK: %[[OFFSET:.*]] = llvm.select %[[IS_TENSOR]], %{{.*}}, %{{.*}} : i1, i64
// CHECK: %[[TENSOR:.*]] = llvm.getelementptr %{{.*}}[%[[OFFSET]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: llvm.cond_br {{.*}} weights([2000, 1]), ^{{.*}}, ^[[BIND]]

// Devices, dtypes with ranks, and that there are strides. B is where A is.
// CHECK: %[[WHERE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: llvm.xor %{{.*}}, %[[WHERE]] : i64
// CHECK: llvm.cond_br {{.*}} weights([2000, 1]), ^{{.*}}, ^[[BIND]]

// Of the symbol's first place: its divisor, its least and its greatest value.
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[TENSOR]][24]
// CHECK: %[[SHAPE:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[N:.*]] = llvm.load %[[SHAPE]] : !llvm.ptr -> i64
// CHECK: llvm.and %[[N]], %[[BELOW_UNIT]] : i64
// CHECK: llvm.sub %[[N]], %[[LEAST]] : i64
// CHECK: llvm.sub %[[MOST]], %[[N]] : i64
// CHECK: llvm.store %[[N]], %[[SHAPES]] : i64
// No memory begins below the address 4096, which is the symbol's greatest value, too.
// CHECK: llvm.sub %{{.*}}, %[[MOST]] : i64

// The second place has the same extent. B has memory, and overlaps nothing.
// CHECK: llvm.xor %{{.*}}, %[[N]] : i64
// CHECK: llvm.sub %{{.*}}, %[[MOST]] : i64
// CHECK: %[[BEFORE:.*]] = llvm.sub
// CHECK: %[[AFTER:.*]] = llvm.sub
// CHECK: llvm.and %[[AFTER]], %[[BEFORE]] : i64
// CHECK: llvm.cond_br {{.*}} weights([2000, 1]), ^{{.*}}, ^[[BIND]]

// What is no plain call the run time looks at.
// CHECK: ^[[BIND]]:
// CHECK: %[[SIGNATURE:.*]] = llvm.mlir.addressof @scale_signature
// CHECK: %[[BOUND:.*]] = llvm.call @tilewrightHostBind(%[[SIGNATURE]], %[[ARGS]], %[[COUNT]], %[[DATA]], %[[SHAPES]])
// CHECK: %[[FAILED:.*]] = llvm.icmp "slt" %[[BOUND]]
// CHECK: llvm.cond_br %[[FAILED]], ^[[REFUSED:.*]], ^[[GO:.*]](%[[BOUND]] : i32)
// CHECK: ^[[REFUSED]]:
// CHECK: llvm.return %[[BOUND]] : i32
// CHECK: ^[[GO]](%[[DEVICE:.*]]: i32):
// CHECK: %[[PROGRAM:.*]] = llvm.mlir.addressof @scale_program
// CHECK: %[[STATUS:.*]] = llvm.call @tilewrightHostRunCuda(%[[PROGRAM]], %[[STREAM]], %[[DEVICE]], %[[DATA]], %[[SHAPES]])
// CHECK: llvm.return %[[STATUS]] : i32

// CHECK: llvm.func @__tvm_ffi__metadata_scale(
// CHECK: llvm.func @__tvm_ffi__doc_scale(
// CHECK: llvm.func @__tvm_ffi_scale_load(
// CHECK: llvm.func @__tvm_ffi_scale(%{{.*}}: !llvm.ptr, %[[ARGS:.*]]: !llvm.ptr, %[[COUNT:.*]]: i32, %{{.*}}: !llvm.ptr) -> i32
// Given the one input alone, the function allocates B.
// CHECK: %[[BOTH:.*]] = llvm.mlir.constant(2 : i32) : i32
// CHECK: %[[ALL:.*]] = llvm.icmp "eq" %[[COUNT]], %[[BOTH]] : i32
// CHECK: llvm.cond_br %[[ALL]] weights([100, 1]), ^[[PLAIN:.*]], ^[[ALLOCATING:.*]]
// CHECK: ^[[PLAIN]]:
// CHECK: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: llvm.call @scale_call(%[[NULL]], %[[ARGS]], %[[COUNT]])
// CHECK: ^[[ALLOCATING]]:
// CHECK: llvm.call @tilewrightHostCallAllocating(%{{.*}}, %{{.*}}, %[[ARGS]], %[[COUNT]], %{{.*}})

// CPU-NOT: _program
// CPU: llvm.func @scale_call
// CPU: llvm.call @scale(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CPU-NOT: @__tvm_ffi_scale_load

// SIM: llvm.call @tilewrightSimRun(

// EXPORT: llvm.func internal @scale(
// EXPORT: llvm.func internal @scale_workspace_bytes(
// EXPORT: llvm.mlir.global internal @scale_program()
// EXPORT: llvm.func hidden @scale_call(
// EXPORT: llvm.func @__tvm_ffi_scale(

// Of arrays of this machine's, which the run time copies.
// MANAGED-LABEL: llvm.func @scale_call(
// MANAGED: llvm.call @tilewrightHostRunManaged(
// MANAGED: @__tvm_ffi_scale_load
