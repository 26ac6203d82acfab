#ifndef TILEWRIGHT_PASSES_PASSSUPPORT_H
#define TILEWRIGHT_PASSES_PASSSUPPORT_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include "dialects/Program/Program.h"
#include "dialects/Schedule/Schedule.h"
#include "dialects/TE/TE.h"
#include "dialects/Target/Architectures.h"
#include "dialects/Target/ElementBytes.h"
#include "dialects/Target/Limits.h"

#endif
