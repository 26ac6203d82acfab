// RUN: tilewright-opt %s --convert-gpu-to-sim --insert-sim-checks | FileCheck %s

// CHECK-LABEL: func.func @k(
// CHECK-SAME: %[[STATE:.*]]: !llvm.ptr,
// CHECK: %[[PLACES:.*]] = memref.alloca() : memref<16xi64>
// CHECK: %[[MARKS:.*]] = llvm.alloca %{{.*}} x i8
// CHECK: %[[A:.*]] = builtin.unrealized_conversion_cast {{.*}} {te.name = "A", tilewright.argument = 0 : i64}

// A vector's first and last element are inside its row; then the run time looks at the address.
// CHECK: %[[SITE:.*]] = llvm.mlir.addressof @[[NAME:site[0-9]+]]
// CHECK: %[[ROW:.*]] = arith.cmpi ult, %[[I:.*]], %{{.*}} : index
// CHECK: arith.cmpi ult, %[[J:.*]], %[[LIMIT:.*]] : index
// CHECK: %[[END:.*]] = arith.addi %[[J]], %c3
// CHECK: arith.cmpi ult, %[[END]], %[[LIMIT]]
// CHECK: %[[DEFECT:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK:   %[[BYTES:.*]] = arith.constant 16 : i64
// CHECK:   %[[ARGUMENT:.*]] = arith.constant 0 : i32
// CHECK:   %[[FOUND:.*]] = func.call @tw_sim_load_global(%[[STATE]], %[[ARGUMENT]], %{{.*}}, %[[BYTES]])
// CHECK:   scf.yield %[[FOUND]] : i32
// CHECK: } else {
// CHECK:   arith.constant 1 : i32
// The indices and extents go to the report through memory.
// CHECK: scf.if
// CHECK:   memref.store %{{.*}}, %[[PLACES]]
// CHECK:   func.call @tw_sim_report(%[[STATE]], %[[DEFECT]], %c0_i32{{.*}}, %[[SITE]], %c2_i32{{.*}}, %c4_i64
// CHECK: }
// CHECK: %[[VALUE:.*]] = scf.if %{{.*}} -> (vector<4xf32>) {
// CHECK:   %[[LOADED:.*]] = vector.load %[[A]]
// CHECK:   scf.yield %[[LOADED]]
// CHECK: } else {
// CHECK:   arith.constant dense<0.000000e+00> : vector<4xf32>

// A write to shared memory shows the run time what it is about to write.
// CHECK: memref.store %[[X:.*]], %[[SPILL:.*]][] : memref<f32>
// CHECK: func.call @tw_sim_store_shared(%[[STATE]],
// CHECK: func.call @tw_sim_report(%[[STATE]], %{{.*}}, %c3_i32
// CHECK: scf.if
// CHECK-NEXT: memref.store %[[X]], %{{.*}} : memref<64xf32, #gpu.address_space<workgroup>>

// A local array is no other thread's business: a byte beside each of its own says whether that is written. A write makes
// them 1, a read compares them, and where the array begins they are 0.
// CHECK: "llvm.intr.memset"(%[[MARKS]], %{{.*}}, %{{.*}}) <{isVolatile = false}>
// CHECK: scf.if %{{.*}} -> (i32) {
// CHECK:   %[[PLACE:.*]] = llvm.getelementptr %[[MARKS]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK:   %[[ONES:.*]] = llvm.mlir.constant(16843009 : i32)
// CHECK:   llvm.store %[[ONES]], %[[PLACE]] {alignment = 1 : i64}
// CHECK:   arith.constant 0 : i32
// CHECK-NEXT: scf.yield
// CHECK: func.call @tw_sim_report(%[[STATE]], %{{.*}}, %c5_i32
// CHECK: %[[FOUND:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> i32
// CHECK: %[[SAME:.*]] = llvm.icmp "eq" %[[FOUND]], %{{.*}} : i32
// CHECK: arith.select %[[SAME]], %c0_i32{{.*}}, %c2_i32
// CHECK: llvm.mlir.global internal constant @[[NAME]]("A\00k.py:3\00")
// CHECK: llvm.mlir.global internal constant @{{.*}}("A_shared\00k.py:4\00")
// CHECK: llvm.mlir.global internal constant @{{.*}}("acc\00k.py:5\00")
gpu.module @p_kernels {
  memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024}
  gpu.func @k(%A: memref<8x64xf32> loc("A"), %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.block_id x
    %j = gpu.thread_id x
    %v = vector.load %A[%i, %j] : memref<8x64xf32>, vector<4xf32> loc("k.py":3:0)
    %shared = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
    %tile = memref.view %shared[%c0][] {te.stage = "A_shared"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %x, %tile[%j] : memref<64xf32, #gpu.address_space<workgroup>> loc("k.py":4:0)
    %l = memref.alloca() {te.stage = "acc"} : memref<4xf32, #gpu.address_space<private>>
    memref.store %x, %l[%j] : memref<4xf32, #gpu.address_space<private>> loc("k.py":5:0)
    %y = memref.load %l[%i] : memref<4xf32, #gpu.address_space<private>> loc("k.py":6:0)
    memref.store %y, %A[%i, %j] : memref<8x64xf32> loc("k.py":7:0)
    gpu.return
  }
}
