//===- SplitSharedAddresses.cpp - what loops share of their addresses -----===//
//
// Once loops are unrolled, the accesses of a fragment differ by constants, which an instruction holds itself: but
// only if all the rest is one value. LLVM sums an address in the order of the dimensions, the constants in between.
//
//===----------------------------------------------------------------------===//
#include "passes/AddressSpaces.h"
#include "passes/gpu-to-nvvm/UnrolledLoops.h"
#include "passes/index/AccessForm.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_SPLITSHAREDADDRESSES
#include "passes/gpu-to-nvvm/Passes.h.inc"

/// Whether `value` counts the iterations of a loop that LLVM writes out, so that each use of it is a constant then.
static bool becomesConstant(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return loop && isToBeWrittenOut(loop) && value == loop.getInductionVar();
}

/// Whether `buffer` lies in shared memory, all of it at distances that are known.
static bool isStaticShared(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return isSharedMemory(type) && type.hasStaticShape() && type.getLayout().isIdentity();
}

namespace {
struct SplitSharedAddresses : impl::SplitSharedAddressesBase<SplitSharedAddresses> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto access = index::getElementAccess(op))
        split(op, *access->buffer, access->indices);
    });
  }

  static void split(Operation *access, OpOperand &buffer, MutableOperandRange indices);
};
} // namespace

void SplitSharedAddresses::split(Operation *access, OpOperand &buffer, MutableOperandRange indices) {
  if (!isStaticShared(buffer.get()))
    return;
  auto type = cast<MemRefType>(buffer.get().getType());
  OpBuilder builder(access);
  AffineExpr sum = builder.getAffineConstantExpr(0);
  for (auto [d, stride] : llvm::enumerate(type.getStridesAndOffset().first))
    sum = sum + builder.getAffineDimExpr(d) * stride;
  AffineMap map = AffineMap::get(type.getRank(), 0, sum);
  SmallVector<Value> operands;
  for (OpOperand &index : indices)
    operands.push_back(index.get());
  affine::fullyComposeAffineMapAndOperands(&map, &operands);
  affine::canonicalizeMapAndOperands(&map, &operands);

  auto isLate = [&](AffineExpr term) {
    return llvm::any_of(llvm::enumerate(operands), [&](auto operand) {
      unsigned position = operand.index();
      return becomesConstant(operand.value()) &&
             (position < map.getNumDims() ? term.isFunctionOfDim(position)
                                          : term.isFunctionOfSymbol(position - map.getNumDims()));
    });
  };
  auto whole = index::LinearForm::get(simplifyAffineExpr(map.getResult(0), map.getNumDims(), map.getNumSymbols()));
  index::LinearForm early, late;
  late.constant = whole.constant;
  for (const index::LinearForm::Term &term : whole.terms)
    (isLate(term.expr) ? late : early).add(term.expr, term.coefficient);
  AffineExpr base = early.getExpr(builder.getContext()), rest = late.getExpr(builder.getContext());
  if (isa<AffineConstantExpr>(base))
    return;
  auto apply = [&](AffineExpr expr) {
    return affine::makeComposedFoldedAffineApply(builder, access->getLoc(),
                                                 AffineMap::get(map.getNumDims(), map.getNumSymbols(), expr),
                                                 getAsOpFoldResult(operands));
  };
  // From the base on, the elements are counted one after the other.
  OpFoldResult size = builder.getIndexAttr(type.getNumElements()), stride = builder.getIndexAttr(1),
               offset = apply(base);
  auto flat =
      MemRefType::get({type.getNumElements()}, type.getElementType(),
                      StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, {1}), type.getMemorySpace());
  Value view =
      memref::ReinterpretCastOp::create(builder, access->getLoc(), flat, buffer.get(), offset, {size}, {stride});
  Value index = getValueOrCreateConstantIndexOp(builder, access->getLoc(), apply(rest));
  buffer.set(view);
  indices.assign(index);
}
} // namespace tilewright
