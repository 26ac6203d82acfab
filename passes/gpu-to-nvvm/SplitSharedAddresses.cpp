//===- SplitSharedAddresses.cpp - what loops share of their addresses -----===//
//
// Once loops are unrolled, the accesses of a fragment differ by constants, which an instruction holds itself: but
// only if all the rest is one value. LLVM sums an address in the order of the dimensions, the constants in between.
//
// So it is with what maps of fragments load from global memory, such as a number for each column, where a mask has two
// copies of a map. LLVM moves what is invariant out of the one, and keeps sums for comparisons in the other. Each then
// has an address of its own, and the element that both begin with has a third.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Tile.h"
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

/// Whether all elements of `buffer` are at distances that are known.
static bool isStatic(MemRefType type) { return type.hasStaticShape() && type.getLayout().isIdentity(); }

/// Whether `op` loads from global memory in one of the two copies of a map that a mask makes.
static bool isOfMaskedMap(Operation *op, MemRefType type) {
  auto choice = dyn_cast<scf::IfOp>(op->getParentOp());
  return isa<memref::LoadOp>(op) && !type.getMemorySpace() && choice && choice.getNumResults() == 1 &&
         isa<tile::FragmentType>(choice.getResult(0).getType());
}

namespace {
struct SplitSharedAddresses : impl::SplitSharedAddressesBase<SplitSharedAddresses> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      auto access = index::getElementAccess(op);
      if (!access)
        return;
      auto type = cast<MemRefType>(access->buffer->get().getType());
      if ((isSharedMemory(type) || isOfMaskedMap(op, type)) && isStatic(type))
        split(op, *access->buffer, access->indices);
    });
  }

  static void split(Operation *access, OpOperand &buffer, MutableOperandRange indices);
};
} // namespace

void SplitSharedAddresses::split(Operation *access, OpOperand &buffer, MutableOperandRange indices) {
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
  // Behind a place in global memory, which a condition may keep from being read, nothing is taken for known.
  if (isa<AffineConstantExpr>(base) || (!isSharedMemory(type) && (!late.terms.empty() || late.constant < 0)))
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
