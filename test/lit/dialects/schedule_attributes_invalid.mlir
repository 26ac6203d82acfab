// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// The parameters of the dialect's attributes.
// expected-error @below {{expected the name of an axis, got an empty one}}
func.func private @f() attributes {test.value = #schedule.axis<"">}

// -----

// expected-error @below {{expected a shape of m, n and k, got 16x8}}
func.func private @f() attributes {test.value = #schedule.instruction<mma_sync, 16x8>}

// -----

// expected-error @below {{expected 16 rows and 8 columns of mma_sync, got 16x16x16}}
func.func private @f() attributes {test.value = #schedule.instruction<mma_sync, 16x16x16>}

// -----

// expected-error @below {{expected 64 rows and a multiple of 8 columns up to 256 of wgmma, got 64x260x64}}
func.func private @f() attributes {test.value = #schedule.instruction<wgmma, 64x260x64>}

// -----

// expected-error @below {{expected to promote after 0 to 2147483647 iterations, got -1}}
func.func private @f() attributes {test.value = #schedule.instruction<wgmma, 64x64x64, promote = -1>}

// -----

// expected-error @below {{expected to promote the accumulators of wgmma alone, got mma_sync}}
func.func private @f() attributes {test.value = #schedule.instruction<mma_sync, 16x8x16, promote = 1>}

// -----

// expected-error @below {{expected tf32x3 of wgmma alone, got mma_sync}}
func.func private @f() attributes {test.value = #schedule.instruction<mma_sync, 16x8x16, tf32x3>}

// -----

// expected-error @below {{expected 'promote'}}
func.func private @f() attributes {test.value = #schedule.instruction<wgmma, 64x64x64, tf32x3, tf32x3>}

// -----

// expected-error @below {{expected 2 to 2147483647 stages of a pipeline, got 1}}
func.func private @f() attributes {test.value = #schedule.pipeline<stages = 1>}

// -----

// expected-error @below {{expected a multiple of 8 registers from 24 to 240, got 20}}
func.func private @f() attributes {test.value = #schedule.specialize<producer = 20, consumer = 232>}

// -----

// expected-error @below {{expected 1 to 7 consumer warpgroups, got 8}}
func.func private @f() attributes {test.value = #schedule.specialize<producer = 40, consumer = 232, consumers = 8>}

// -----

// expected-error @below {{expected at least 1 block, got 0}}
func.func private @f() attributes {test.value = #schedule.persistent<blocks = 0, raster = row>}

// -----

// expected-error @below {{expected groups of at least 1 tile, got 0}}
func.func private @f() attributes {test.value = #schedule.persistent<blocks = 132, raster = grouped, group = 0>}

// -----

// expected-error @below {{expected numbers up to 2147483647, got 4294967296}}
func.func private @f() attributes {test.value = #schedule.persistent<blocks = 4294967296, raster = row>}

// -----

// expected-error @below {{expected squares of a power of two of tiles for Hilbert's curve, got 6}}
func.func private @f() attributes {test.value = #schedule.persistent<blocks = 132, raster = hilbert, group = 6>}

// -----

// expected-error @below {{expected some tiles to be narrower by at least 0 columns, got -8}}
func.func private @f() attributes {test.value = #schedule.persistent<blocks = 132, raster = row, narrower = -8>}

// -----

// expected-error @below {{expected narrower tiles or stream_k, which both fill the last wave, got both}}
func.func private @f() attributes {test.value = #schedule.persistent<blocks = 132, raster = row, stream_k = true, narrower = 8>}

// -----

// expected-error @below {{expected serpentine_k or stream_k, whose blocks begin tiles at different steps, got both}}
func.func private @f() attributes {test.value = #schedule.persistent<blocks = 132, raster = row, stream_k = true, serpentine_k = true>}

// -----

// expected-error @below {{expected a swizzle of 32, 64 or 128 bytes, got 16}}
func.func private @f() attributes {test.value = #schedule.copy<by = tma, swizzle = 16>}

// -----

// expected-error @below {{expected columns of at least 1, got -1}}
func.func private @f() attributes {test.value = #schedule.copy<by = tma, swizzle = 64, columns = -1>}
