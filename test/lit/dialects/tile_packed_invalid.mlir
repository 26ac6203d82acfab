// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// Fragments of 8-bit elements.
// expected-error@+1 {{expected a multiple of 16 columns of f8E4M3FN}}
func.func @columns(%f: !tile.fragment<64x24xf8E4M3FN>) {
  return
}

// -----

func.func @pack(%f: !tile.fragment<64x32xf16>) {
  // expected-error@+1 {{'tile.pack' op expected a fragment of f32, and one of f8E4M3FN of its size, got '!tile.fragment<64x32xf16>' and '!tile.fragment<64x32xf8E4M3FN>'}}
  %g = tile.pack %f : !tile.fragment<64x32xf16> -> !tile.fragment<64x32xf8E4M3FN>
  return
}

// -----

func.func @in_order(%f: !tile.fragment<64x32xf32>) {
  // expected-error@+1 {{'tile.map' op expected a result of f8E4M3FN to be interleaved, and no other, got '!tile.fragment<64x32xf8E4M3FN>'}}
  %g = tile.map %f : !tile.fragment<64x32xf32> -> !tile.fragment<64x32xf8E4M3FN> {
  ^bb0(%x: f32, %row: index, %column: index):
    %y = arith.truncf %x : f32 to f8E4M3FN
    tile.yield %y : f8E4M3FN
  }
  return
}

// -----

func.func @interleaved(%f: !tile.fragment<64x32xf32>) {
  // expected-error@+1 {{'tile.map' op expected a result of f8E4M3FN to be interleaved, and no other, got '!tile.fragment<64x32xf32>'}}
  %g = tile.map %f : !tile.fragment<64x32xf32> interleaved -> !tile.fragment<64x32xf32> {
  ^bb0(%x: f32, %row: index, %column: index):
    tile.yield %x : f32
  }
  return
}
