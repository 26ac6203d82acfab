//===- ArgumentLayouts.cpp - arguments that are not row-major -------------===//
#include "passes/ArgumentLayouts.h"

using namespace mlir;

namespace tilewright {

bool isStridedArgument(func::FuncOp function, unsigned position) {
  return function.getArgAttrOfType<DenseI64ArrayAttr>(position, te::kStridesAttr) != nullptr;
}

MemRefType getArgumentMemRef(func::FuncOp function, unsigned position, ShapedType like) {
  auto type = MemRefType::get(like.getShape(), like.getElementType());
  auto strides = function.getArgAttrOfType<DenseI64ArrayAttr>(position, te::kStridesAttr);
  if (!strides || strides.size() != like.getRank())
    return type;
  auto each = llvm::map_to_vector(strides.asArrayRef(),
                                  [](int64_t stride) { return stride < 0 ? ShapedType::kDynamic : stride; });
  return MemRefType::Builder(type).setLayout(StridedLayoutAttr::get(function.getContext(), /*offset=*/0, each));
}

int64_t getStrideDivisor(Value buffer, int64_t dimension) {
  int64_t stride = cast<MemRefType>(buffer.getType()).getStridesAndOffset().first[dimension];
  if (!ShapedType::isDynamic(stride))
    return stride;
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  if (!function)
    return 1;
  auto known = function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), te::kStrideDivisibleByAttr);
  return known && dimension < known.size() ? known[dimension] : 1;
}

bool isTooLarge(MemRefType type) {
  int64_t elements = 1;
  return llvm::any_of(type.getShape(), [&](int64_t extent) {
    return !ShapedType::isDynamic(extent) && llvm::MulOverflow(elements, extent, elements);
  });
}

bool hasArgumentLayout(MemRefType type) {
  return !isTooLarge(type) && type.isStrided() && type.getStridesAndOffset().second == 0;
}

bool hasShortIndices(MemRefType type) {
  if (!type.hasStaticShape() || type.getLayout().isIdentity())
    return type.hasStaticShape() && type.getNumElements() <= INT32_MAX;
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip(type.getShape(), type.getStridesAndOffset().first)) {
    if (ShapedType::isDynamic(stride) || stride > INT32_MAX)
      return false;
    last += (extent - 1) * stride;
  }
  return last < INT32_MAX;
}

int64_t getNumDynamicStrides(MemRefType type) {
  return type.getLayout().isIdentity() ? 0 : llvm::count_if(type.getStridesAndOffset().first, ShapedType::isDynamic);
}

bool hasUnitRows(MemRefType type) {
  return type.getLayout().isIdentity() || (type.getRank() != 0 && type.getStridesAndOffset().first.back() == 1);
}

} // namespace tilewright
