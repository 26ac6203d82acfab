// RUN: tilewright-opt %s --convert-gpu-to-host --split-input-file -verify-diagnostics

// expected-error @below {{'func.func' op expected no results of the host function, got 1}}
func.func @f(%a: memref<4xf32>) -> index {
  %c0 = arith.constant 0 : index
  return %c0 : index
}

// -----

// expected-error @below {{'func.func' op expected argument #1 to be a memref without offset and memory space or a number of at most 64 bits, got 'index'}}
func.func @f(%a: memref<4xf32>, %b: index) {
  return
}

// -----

// expected-error @below {{'func.func' op expected argument #0 to be a memref without offset and memory space or a number of at most 64 bits, got 'memref<4x4xf32, strided<[1, 4], offset: 4>>'}}
func.func @f(%a: memref<4x4xf32, strided<[1, 4], offset: 4>>) {
  return
}

// -----

func.func @f(%a: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'memref.load' op expected a buffer of the host function to be viewed, measured at a constant dimension or passed to a kernel only}}
  %x = memref.load %a[%c0] : memref<4xf32>
  return
}

// -----

module attributes {gpu.container_module} {
  gpu.module @g { gpu.func @k(%a: memref<4xf32>) kernel { gpu.return } }
  func.func @f(%a: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'memref.alloc' op expected a buffer of the host function to be viewed, measured at a constant dimension or passed to a kernel only}}
    %t = memref.alloc() : memref<4xf32>
    gpu.launch_func @g::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%t : memref<4xf32>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @g { gpu.func @k() kernel { gpu.return } }
  func.func @f() {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'gpu.launch_func' op expected a launch without async token or stream, which the launcher knows}}
    %token = gpu.launch_func async @g::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @g { gpu.func @k() kernel { gpu.return } }
  func.func @f() {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'gpu.launch_func' op expected the cluster size that the kernel's known_cluster_size has}}
    gpu.launch_func @g::@k clusters in (%c1, %c1, %c1) blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @g { gpu.func @k(%x: i128) kernel { gpu.return } }
  func.func @f() {
    %c1 = arith.constant 1 : index
    %x = arith.constant 1 : i128
    // expected-error @below {{'gpu.launch_func' op expected kernel arguments to be memrefs, indices or scalars of at most 64 bits, got 'i128'}}
    gpu.launch_func @g::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : i128)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @g { gpu.func @k() kernel { gpu.return } }
  gpu.module @h { gpu.func @k() kernel { gpu.return } }
  func.func @f() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @g::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    // expected-error @below {{'gpu.launch_func' op expected all kernels of @f in @g, got one of @h}}
    gpu.launch_func @h::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

func.func @f(%a: memref<?xf32> {te.name = "A"}, %workspace: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %some = arith.cmpi ne, %n, %c0 : index
  cf.cond_br %some, ^then, ^done
^then:
  // expected-error @below {{'arith.addi' op expected what the workspace's size depends on to stand at the top of @f}}
  %m = arith.addi %n, %n : index
  %t = memref.view %workspace[%c0][%m] : memref<?xi8> to memref<?xf32>
  cf.br ^done
^done:
  return
}

// -----

// The workspace's size cannot depend on the workspace.
func.func @f(%workspace: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'memref.dim' op expected an extent of an argument}}
  %n = memref.dim %workspace, %c0 : memref<?xi8>
  %t = memref.view %workspace[%c0][%n] : memref<?xi8> to memref<?xf32>
  return
}

// -----

func.func @f(%a: memref<?xf32> {te.name = "A"}, %workspace: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  // expected-error @below {{'memref.dim' op expected an extent of an argument}}
  %n = memref.dim %a, %c7 : memref<?xf32>
  %t = memref.view %workspace[%c0][%n] : memref<?xi8> to memref<?xf32>
  return
}

// -----

module attributes {gpu.container_module} {
  gpu.module @f_kernels {
    gpu.func @f_kernel0(%map: !tile.tensor_map<8x8xf32>) kernel {
      gpu.return
    }
  }
  func.func @f(%a: memref<8x8xf32> {te.name = "A"}, %map: !tile.tensor_map<8x8xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'gpu.launch_func' op expected a tensor map that tile.encode made}}
    gpu.launch_func @f_kernels::@f_kernel0 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%map : !tile.tensor_map<8x8xf32>)
    return
  }
}
