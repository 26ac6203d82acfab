// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(emit-ptx))' | FileCheck %s

// What an iteration may load, and later ones keep, is undefined before the loop. It is 0 there, for ptxas puts other
// numbers into a register that nothing is written to.
// CHECK-LABEL: gpu.module @m
// CHECK:       @%p1 bra
// CHECK:       mov.b32 \09[[ZERO:%r[0-9]+]], 0;
// CHECK:       mov.b32 \09[[KEPT:%r[0-9]+]], [[ZERO]];
// CHECK:       ld.volatile.global.b32 \09[[KEPT]],
gpu.module @m [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
    %undefined = llvm.mlir.undef : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^next(%zero, %undefined : i32, i32)
  ^next(%i: i32, %kept: i32):
    %flag = llvm.load volatile %in : !llvm.ptr<1> -> i32
    %found = llvm.icmp "eq" %flag, %i : i32
    llvm.cond_br %found, ^load, ^done(%kept : i32)
  ^load:
    %loaded = llvm.load volatile %in : !llvm.ptr<1> -> i32
    llvm.br ^done(%loaded : i32)
  ^done(%now: i32):
    %after = llvm.add %i, %one : i32
    %more = llvm.icmp "slt" %after, %n : i32
    llvm.cond_br %more, ^next(%after, %now : i32, i32), ^end
  ^end:
    llvm.store %now, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}

// Nor has a value of a branch that is not taken, which is read under the same condition later.
// CHECK-LABEL: gpu.module @branches
// CHECK:       mov.b32 \09[[READ:%r[0-9]+]], 0;
// CHECK:       ld.volatile.global.b32 \09[[READ]],
// CHECK:       bar.sync
// CHECK:       st.global.b32 \09[{{.*}}], [[READ]];
gpu.module @branches [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %holds: i1) attributes {nvvm.kernel} {
    %undefined = llvm.mlir.undef : i32
    llvm.cond_br %holds, ^load, ^between(%undefined : i32)
  ^load:
    %loaded = llvm.load volatile %in : !llvm.ptr<1> -> i32
    llvm.br ^between(%loaded : i32)
  ^between(%read: i32):
    nvvm.barrier
    llvm.cond_br %holds, ^store, ^end
  ^store:
    llvm.store %read, %out : i32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }
}

// Nor has a vector, whose elements are undefined in two ways: one of them is poison.
// CHECK-LABEL: gpu.module @halves
// CHECK:       mov.b32 \09[[READ:%r[0-9]+]], 0;
// CHECK:       ld.volatile.global.b32 \09[[READ]],
// CHECK:       st.global.b32 \09[{{.*}}], [[READ]];
gpu.module @halves [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %holds: i1) attributes {nvvm.kernel} {
    %undefined = llvm.mlir.undef : vector<2xi16>
    %poison = llvm.mlir.poison : i16
    %zero = llvm.mlir.constant(0 : i32) : i32
    %some = llvm.insertelement %poison, %undefined[%zero : i32] : vector<2xi16>
    llvm.cond_br %holds, ^load, ^between(%some : vector<2xi16>)
  ^load:
    %loaded = llvm.load volatile %in : !llvm.ptr<1> -> vector<2xi16>
    llvm.br ^between(%loaded : vector<2xi16>)
  ^between(%read: vector<2xi16>):
    nvvm.barrier
    llvm.cond_br %holds, ^store, ^end
  ^store:
    llvm.store %read, %out : vector<2xi16>, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }
}

// Nor has an element of local memory that is loaded before anything writes it: LLVM's pipeline leaves such a load before
// a loop whose registers hold the element.
// CHECK-LABEL: gpu.module @elements
// CHECK:       ld.b32 \09[[WRITTEN:%r[0-9]+]], [%SP+4];
// CHECK:       st.volatile.global.b32 \09[{{.*}}], 0;
// CHECK:       st.volatile.global.b32 \09[{{.*}}], [[WRITTEN]];
gpu.module @elements [#nvvm.target<chip = "sm_90", O = 0>] {
  llvm.func @k(%out: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
    %two = llvm.mlir.constant(2 : i32) : i32
    %memory = llvm.alloca %two x i32 : (i32) -> !llvm.ptr
    %next = llvm.getelementptr %memory[1] : (!llvm.ptr) -> !llvm.ptr, i32
    llvm.store %n, %next : i32, !llvm.ptr
    %first = llvm.load %memory : !llvm.ptr -> i32
    %second = llvm.load %next : !llvm.ptr -> i32
    llvm.store volatile %first, %out : i32, !llvm.ptr<1>
    llvm.store volatile %second, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}
