// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// Groups that say that a library computes them, as it does not.
func.func @results(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) {
  // expected-error @below {{'graph.group' op library: expected a group of one result, got 2}}
  %y:2 = graph.group "g" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    graph.yield %m, %m : tensor<4x16xf32>, tensor<4x16xf32>
  } {library = #graph.library_matmul<library = cublaslt, a = 0, b = 1>} : tensor<4x16xf32>, tensor<4x16xf32>
  return
}

// -----

func.func @number_of_b(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) {
  // expected-error @below {{'graph.group' op library: b: expected the number of an input, from 0 to 1, got 2}}
  %y = graph.group "g" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    graph.yield %m : tensor<4x16xf32>
  } {library = #graph.library_matmul<library = cublaslt, a = 0, b = 2>} : tensor<4x16xf32>
  return
}

// -----

func.func @number_of_residual(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) {
  // expected-error @below {{'graph.group' op library: residual: expected the number of an input, from -1 to 1, got -2}}
  %y = graph.group "g" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    graph.yield %m : tensor<4x16xf32>
  } {library = #graph.library_matmul<library = cublaslt, a = 0, b = 1, residual = -2>} : tensor<4x16xf32>
  return
}

// -----

func.func @times(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) {
  // expected-error @below {{'graph.group' op library: expected times of at least 0, got -1 and 0}}
  %y = graph.group "g" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    graph.yield %m : tensor<4x16xf32>
  } {library = #graph.library_matmul<library = cublaslt, a = 0, b = 1, own_ns = -1>} : tensor<4x16xf32>
  return
}

// -----

func.func @types(%x: tensor<4x8xf64>, %w: tensor<8x16xf64>) {
  // expected-error @below {{'graph.group' op library: expected a matmul of types that cublaslt has, got 'f64' by 'f64' to 'f64'}}
  %y = graph.group "g" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float64"} : (tensor<4x8xf64>, tensor<8x16xf64>) -> tensor<4x16xf64>
    graph.yield %m : tensor<4x16xf64>
  } {library = #graph.library_matmul<library = cublaslt, a = 0, b = 1>} : tensor<4x16xf64>
  return
}

// -----

func.func @rank(%x: tensor<4xf32>, %w: tensor<4xf32>) {
  // expected-error @below {{'graph.group' op library: expected operands of 2 to 8 dimensions, and a result of as many, got 'tensor<4xf32>' by 'tensor<4xf32>' to 'tensor<4xf32>'}}
  %y = graph.group "g" {
    %m = graph.add %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %m : tensor<4xf32>
  } {library = #graph.library_matmul<library = cublaslt, a = 0, b = 1>} : tensor<4xf32>
  return
}

// -----

func.func @order(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) {
  // expected-error @below {{'graph.group' op library: b_order: expected a permutation of 2 dimensions that keeps the last one among the last two, got [1, 1]}}
  %y = graph.group "g" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    graph.yield %m : tensor<4x16xf32>
  } {library = #graph.library_matmul<library = cublaslt, a = 0, b = 1, b_order = [1, 1]>} : tensor<4x16xf32>
  return
}

// -----

func.func @extents(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) {
  // expected-error @below {{'graph.group' op library: expected a result of the rows of a and the columns of b, and as many columns of a as rows of b, got 'tensor<4x8xf32>' by 'tensor<8x16xf32>' to 'tensor<4x16xf32>'}}
  %y = graph.group "g" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    graph.yield %m : tensor<4x16xf32>
  } {library = #graph.library_matmul<library = cublaslt, a = 0, b = 1, b_order = [1, 0]>} : tensor<4x16xf32>
  return
}

// -----

func.func @bias(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %c: tensor<4x1xf32>) {
  // expected-error @below {{'graph.group' op library: expected a bias of an element for each column of 'tensor<4x16xf32>', got 'tensor<4x1xf32>'}}
  %y = graph.group "g" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %s = graph.add %m, %c : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
    graph.yield %s : tensor<4x16xf32>
  } {library = #graph.library_matmul<library = cublaslt, a = 0, b = 1, bias = 2>} : tensor<4x16xf32>
  return
}

// -----

func.func @no_bias(%x: tensor<4x8xf8E4M3FN>, %w: tensor<8x16xf8E4M3FN>, %c: tensor<16xf32>) {
  // expected-error @below {{'graph.group' op library: expected no bias, which cublaslt does not have for 'f8E4M3FN' to 'f32'}}
  %y = graph.group "g" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf8E4M3FN>, tensor<8x16xf8E4M3FN>) -> tensor<4x16xf32>
    %s = graph.add %m, %c : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
    graph.yield %s : tensor<4x16xf32>
  } {library = #graph.library_matmul<library = cublaslt, a = 0, b = 1, bias = 2>} : tensor<4x16xf32>
  return
}

// -----

func.func @residual(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %c: tensor<1x16xf32>) {
  // expected-error @below {{'graph.group' op library: expected a residual of the result's type, 'tensor<4x16xf32>', got 'tensor<1x16xf32>'}}
  %y = graph.group "g" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %s = graph.add %m, %c : (tensor<4x16xf32>, tensor<1x16xf32>) -> tensor<4x16xf32>
    graph.yield %s : tensor<4x16xf32>
  } {library = #graph.library_matmul<library = cublaslt, a = 0, b = 1, residual = 2>} : tensor<4x16xf32>
  return
}
