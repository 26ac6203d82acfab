// RUN: tilewright-opt %s --emit-cuda-source | FileCheck %s

// CHECK: tilewright.cuda = "{{.*}}const float (*__restrict__ A)[8]{{.*}}long long A_extent0{{.*}}float carried = 0.0f;{{.*}}for (long long k_inner = 0LL; k_inner < 8LL; ++k_inner) {  // C.k.inner{{.*}}carried = carried + A[i][k_inner];{{.*}}out[i] = carried;
gpu.module @m {
  gpu.func @rows(%a: memref<?x8xf32> {te.name = "A"}, %o: memref<?xf32> {te.name = "out"}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%bx, %tx)
    %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> f32 {
      %x = memref.load %a[%i, %k] : memref<?x8xf32>
      %y = arith.addf %s, %x fastmath<contract> : f32
      scf.yield %y : f32
    } {schedule.axis = #schedule.axis<"k.inner" of "C">}
    memref.store %sum, %o[%i] : memref<?xf32>
    gpu.return
  }
}

// Values that two iterations exchange are both computed before one changes, and a while loop is one that is left.
// CHECK: tilewright.cuda = "{{.*}}const int next_carried = carried_2;{{.*}}const int next_carried_2 = carried;{{.*}}carried = next_carried;{{.*}}carried_2 = next_carried_2;{{.*}}while (true) {{[{].*}}if (!(carried_3 < carried)) break;
gpu.module @exchange {
  gpu.func @swap(%o: memref<2xi32> {te.name = "out"}, %n: i32 {te.name = "n"}, %m: i32 {te.name = "m"}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %one = arith.constant 1 : i32
    %r:2 = scf.for %k = %c0 to %c5 step %c1 iter_args(%a = %n, %b = %m) -> (i32, i32) {
      scf.yield %b, %a : i32, i32
    }
    %w = scf.while (%x = %r#1) : (i32) -> i32 {
      %less = arith.cmpi slt, %x, %r#0 : i32
      scf.condition(%less) %x : i32
    } do {
    ^bb0(%y: i32):
      %z = arith.addi %y, %one : i32
      scf.yield %z : i32
    }
    memref.store %w, %o[%c0] : memref<2xi32>
    gpu.return
  }
}

// Each operator in each other that binds more tightly keeps its parentheses, in indices as well; an index that comes from
// 64 bits of data has 64.
// CHECK: tilewright.cuda = "{{.*}}A[(o[0LL] & 7LL) + 1LL]{{.*}}A[(o[1LL] ^ 3LL) + 1LL]{{.*}}A[(o[2LL] | 3LL) * 2LL]{{.*}}A[(o[3LL] >> 3LL) + 1LL]{{.*}}A[(is ? o[4LL] : o[5LL]) + 1LL]{{.*}}A[1LL - (long long)((unsigned long long)(o[6LL]) + (unsigned long long)(o[7LL]))]{{.*}}A[o[8LL]
gpu.module @operators {
  gpu.func @in_indices(%a: memref<64xf32> {te.name = "A"}, %o: memref<64xi64> {te.name = "o"}, %b: memref<64xf32> {te.name = "B"}, %is: i1 {te.name = "is"}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %0 = memref.load %o[%c0] : memref<64xi64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = arith.andi %1, %c7 : index
    %3 = affine.apply affine_map<(d0) -> (d0 + 1)>(%2)
    %4 = memref.load %a[%3] : memref<64xf32>
    memref.store %4, %b[%c0] : memref<64xf32>
    %5 = memref.load %o[%c1] : memref<64xi64>
    %6 = arith.index_cast %5 : i64 to index
    %7 = arith.xori %6, %c3 : index
    %8 = affine.apply affine_map<(d0) -> (d0 + 1)>(%7)
    %9 = memref.load %a[%8] : memref<64xf32>
    memref.store %9, %b[%c1] : memref<64xf32>
    %10 = memref.load %o[%c2] : memref<64xi64>
    %11 = arith.index_cast %10 : i64 to index
    %12 = arith.ori %11, %c3 : index
    %13 = affine.apply affine_map<(d0) -> (d0 * 2)>(%12)
    %14 = memref.load %a[%13] : memref<64xf32>
    memref.store %14, %b[%c2] : memref<64xf32>
    %15 = memref.load %o[%c3] : memref<64xi64>
    %16 = arith.index_cast %15 : i64 to index
    %17 = arith.shrsi %16, %c3 : index
    %18 = affine.apply affine_map<(d0) -> (d0 + 1)>(%17)
    %19 = memref.load %a[%18] : memref<64xf32>
    memref.store %19, %b[%c3] : memref<64xf32>
    %20 = memref.load %o[%c4] : memref<64xi64>
    %21 = memref.load %o[%c5] : memref<64xi64>
    %22 = arith.select %is, %20, %21 : i64
    %23 = arith.index_cast %22 : i64 to index
    %24 = affine.apply affine_map<(d0) -> (d0 + 1)>(%23)
    %25 = memref.load %a[%24] : memref<64xf32>
    memref.store %25, %b[%c4] : memref<64xf32>
    %26 = memref.load %o[%c6] : memref<64xi64>
    %27 = memref.load %o[%c7] : memref<64xi64>
    %28 = arith.addi %26, %27 : i64
    %29 = arith.index_cast %28 : i64 to index
    %30 = arith.subi %c1, %29 : index
    %31 = memref.load %a[%30] : memref<64xf32>
    memref.store %31, %b[%c5] : memref<64xf32>
    %32 = memref.load %o[%c8] : memref<64xi64>
    %33 = arith.index_cast %32 : i64 to index
    %34 = memref.load %a[%33] : memref<64xf32>
    memref.store %34, %b[%c6] : memref<64xf32>
    gpu.return
  }
}

// What C++ computes of narrow integers is an int: templates are told the type. A bool that is true is the smallest number
// with a sign.
// CHECK: tilewright.cuda = "{{.*}}floor_div<signed char>(a & b, b){{.*}}(signed char)(count_ones((unsigned char)(a ^ b))){{.*}}(signed char)(is > maybe)
gpu.module @narrow {
  gpu.func @k(%o: memref<4xi8> {te.name = "out"}, %a: i8 {te.name = "a"}, %b: i8 {te.name = "b"}, %is: i1 {te.name = "is"}, %maybe: i1 {te.name = "maybe"}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %0 = arith.andi %a, %b : i8
    %1 = arith.floordivsi %0, %b : i8
    memref.store %1, %o[%c0] : memref<4xi8>
    %2 = arith.xori %a, %b : i8
    %3 = math.ctpop %2 : i8
    memref.store %3, %o[%c1] : memref<4xi8>
    %4 = arith.cmpi sgt, %maybe, %is : i1
    %5 = arith.extui %4 : i1 to i8
    memref.store %5, %o[%c2] : memref<4xi8>
    gpu.return
  }
}

// What stands in the names of others stays in its comment: no end of a line, and no backslash at one.
// CHECK: tilewright.cuda = "{{.*}}const float *__restrict__ A_int_x,{{.*}}// C.i\\n*/ int x; \\033[31m\\, emit-cuda-source.mlir:{{.*}}
gpu.module @names {
  gpu.func @k(%a: memref<4xf32> {te.name = "A\0Aint x"}, %o: memref<4xf32> {te.name = "out"}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %x = memref.load %a[%i] : memref<4xf32>
      memref.store %x, %o[%i] : memref<4xf32>
    } {schedule.axis = #schedule.axis<"i\0A*/ int x; \1B[31m\5C" of "C">}
    gpu.return
  }
}

// A program of asynchronous tiles and other kernels has both.
// CHECK: tilewright.cuda = "{{.*}}void tma_store_fence() { asm volatile(\22fence.proxy.async.shared::cta;\22 ::: \22memory\22); }{{.*}}tiles(\0A    const __grid_constant__ CUtensorMap x_map) {\0A  tma_store_fence();\0A}\0A\0Aextern \22C\22 __global__ void __launch_bounds__(1024) plain({{.*}}out[0LL] = 1.0f;
gpu.module @mixed {
  gpu.func @tiles(%map: !tile.tensor_map<64x64xbf16, swizzle = 128>) kernel {
    tile.fence_async
    gpu.return
  }
  gpu.func @plain(%o: memref<1xf32> {te.name = "out"}) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    memref.store %one, %o[%c0] : memref<1xf32>
    gpu.return
  }
}

// A sum without `contract` is rounded by itself, and its product too; nvcc would make one instruction of both.
// CHECK: tilewright.cuda = "{{.*}}out[0LL] = __fadd_rn(x * y, y);{{.*}}out[1LL] = __fmul_rn(x, y) + y;{{.*}}out[2LL] = x * y + y;
gpu.module @rounded {
  gpu.func @k(%x: f32 {te.name = "x"}, %y: f32 {te.name = "y"}, %o: memref<3xf32> {te.name = "out"}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %0 = arith.mulf %x, %y fastmath<contract> : f32
    %1 = arith.addf %0, %y : f32
    memref.store %1, %o[%c0] : memref<3xf32>
    %2 = arith.mulf %x, %y : f32
    %3 = arith.addf %2, %y fastmath<contract> : f32
    memref.store %3, %o[%c1] : memref<3xf32>
    %4 = arith.mulf %x, %y fastmath<contract> : f32
    %5 = arith.addf %4, %y fastmath<contract> : f32
    memref.store %5, %o[%c2] : memref<3xf32>
    gpu.return
  }
}

// Of two products with `contract`, the one that becomes one instruction with the sum is said, as LLVM chooses it: the
// first, or the one that nobody else reads. A product by a constant is said too; nvcc would move it into a selection.
// CHECK: tilewright.cuda = "{{.*}}out[0LL] = __fmaf_rn(x, x, -(y * y));{{.*}}out[1LL] = __fmaf_rn(-x, 3.0f, y);{{.*}}out[2LL] = __fadd_rn(__fmaf_rn(y, y, v), v);
gpu.module @fused {
  gpu.func @k(%x: f32 {te.name = "x"}, %y: f32 {te.name = "y"}, %o: memref<3xf32> {te.name = "out"}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %three = arith.constant 3.0 : f32
    %0 = arith.mulf %x, %x fastmath<contract> : f32
    %1 = arith.mulf %y, %y fastmath<contract> : f32
    %2 = arith.subf %0, %1 fastmath<contract> : f32
    memref.store %2, %o[%c0] : memref<3xf32>
    %3 = arith.mulf %x, %three fastmath<contract> : f32
    %4 = arith.subf %y, %3 fastmath<contract> : f32
    memref.store %4, %o[%c1] : memref<3xf32>
    %5 = arith.mulf %x, %y fastmath<contract> : f32
    %6 = arith.mulf %y, %y fastmath<contract> : f32
    %7 = arith.addf %5, %6 fastmath<contract> : f32
    %8 = arith.addf %7, %5 : f32
    memref.store %8, %o[%c2] : memref<3xf32>
    gpu.return
  }
}
