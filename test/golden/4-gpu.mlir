#map = affine_map<()[s0, s1] -> (s0 * 16 + s1)>
#map1 = affine_map<(d0)[s0] -> (d0 * 16 + s0)>
module attributes {gpu.container_module} {
  gpu.module @mmult_kernels {
    memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
    gpu.func @mmult_kernel0(%arg0: memref<64x64xf32> {te.name = "A"}, %arg1: memref<64x64xf32> {te.name = "B"}, %arg2: memref<64x64xf32> {te.name = "C"}) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 4, 4, 1>} {
      %cst = arith.constant 0.000000e+00 : f32
      %c16 = arith.constant 16 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c1024 = arith.constant 1024 : index
      %c0 = arith.constant 0 : index
      %0 = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
      %view = memref.view %0[%c0][] {te.stage = "A.shared"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<16x16xf32, #gpu.address_space<workgroup>>
      %view_0 = memref.view %0[%c1024][] {te.stage = "B.shared"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<16x16xf32, #gpu.address_space<workgroup>>
      %block_id_x = gpu.block_id  x
      %block_id_y = gpu.block_id  y
      %thread_id_x = gpu.thread_id  x
      %thread_id_y = gpu.thread_id  y
      %alloca = memref.alloca() {te.stage = "C"} : memref<f32, #gpu.address_space<private>>
      memref.store %cst, %alloca[] : memref<f32, #gpu.address_space<private>>
      scf.for %arg3 = %c0 to %c4 step %c1 {
        %4 = affine.apply #map()[%block_id_y, %thread_id_y]
        %5 = affine.apply #map1(%arg3)[%thread_id_x]
        %6 = memref.load %arg0[%4, %5] : memref<64x64xf32>
        gpu.barrier
        memref.store %6, %view[%thread_id_y, %thread_id_x] : memref<16x16xf32, #gpu.address_space<workgroup>>
        %7 = affine.apply #map1(%arg3)[%thread_id_y]
        %8 = affine.apply #map()[%block_id_x, %thread_id_x]
        %9 = memref.load %arg1[%7, %8] : memref<64x64xf32>
        memref.store %9, %view_0[%thread_id_y, %thread_id_x] : memref<16x16xf32, #gpu.address_space<workgroup>>
        gpu.barrier
        scf.for %arg4 = %c0 to %c16 step %c1 {
          %10 = memref.load %alloca[] : memref<f32, #gpu.address_space<private>>
          %11 = memref.load %view[%thread_id_y, %arg4] : memref<16x16xf32, #gpu.address_space<workgroup>>
          %12 = memref.load %view_0[%arg4, %thread_id_x] : memref<16x16xf32, #gpu.address_space<workgroup>>
          %13 = arith.mulf %11, %12 fastmath<contract> : f32
          %14 = arith.addf %10, %13 fastmath<contract> : f32
          memref.store %14, %alloca[] : memref<f32, #gpu.address_space<private>>
        } {schedule.axis = #schedule.axis<"k.inner" of "C">}
      } {schedule.axis = #schedule.axis<"k.outer" of "C">}
      %1 = memref.load %alloca[] : memref<f32, #gpu.address_space<private>>
      %2 = affine.apply #map()[%block_id_y, %thread_id_y]
      %3 = affine.apply #map()[%block_id_x, %thread_id_x]
      memref.store %1, %arg2[%2, %3] : memref<64x64xf32>
      gpu.return
    }
  }
  func.func @mmult(%arg0: memref<64x64xf32> {te.dtype = f32, te.name = "A"}, %arg1: memref<64x64xf32> {te.dtype = f32, te.name = "B"}, %arg2: memref<64x64xf32> {te.dtype = f32, te.name = "C", te.output}) {
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c2048_i32 = arith.constant 2048 : i32
    gpu.launch_func  @mmult_kernels::@mmult_kernel0 blocks in (%c4, %c4, %c1) threads in (%c16, %c16, %c1)  dynamic_shared_memory_size %c2048_i32 args(%arg0 : memref<64x64xf32>, %arg1 : memref<64x64xf32>, %arg2 : memref<64x64xf32>) {tilewright.launch_origin = {block.x = "j.inner of stage C, 3-loops.mlir:11", block.y = "i.inner of stage C, 3-loops.mlir:10", grid.x = "j.outer of stage C, 3-loops.mlir:9", grid.y = "i.outer of stage C, 3-loops.mlir:8", shared = "A.shared (1024 bytes), B.shared (1024 bytes)"}}
    return
  }
}

