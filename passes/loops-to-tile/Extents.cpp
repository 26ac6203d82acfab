//===- Extents.cpp - extents of tensors, symbolic ones too ----------------===//
#include "passes/loops-to-tile/Extents.h"
#include "passes/PassSupport.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <numeric>

using namespace mlir;

namespace tilewright {

static MemRefType typeOf(Value tensor) { return cast<MemRefType>(tensor.getType()); }

/// The function whose argument a tensor is, or null.
static func::FuncOp getFunction(Value tensor) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  return argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
}

std::string getSymbolName(Value tensor, unsigned dimension) {
  func::FuncOp function = getFunction(tensor);
  auto symbols =
      function ? function.getArgAttrOfType<ArrayAttr>(cast<BlockArgument>(tensor).getArgNumber(), te::kSymbolsAttr)
               : nullptr;
  return symbols ? cast<StringAttr>(symbols[dimension]).str() : "";
}

/// The size that a temporary is allocated with along a dimension that is dynamic.
static Value getAllocatedSize(Value tensor, unsigned dimension) {
  auto alloc = tensor.getDefiningOp<memref::AllocOp>();
  return alloc ? alloc.getDynamicSizes()[typeOf(tensor).getDynamicDimIndex(dimension)] : Value();
}

bool isExtent(const LinearIndex &index, Value tensor, unsigned dimension) {
  if (!typeOf(tensor).isDynamicDim(dimension))
    return index.terms.empty() && index.constant == typeOf(tensor).getDimSize(dimension);
  if (Value size = getAllocatedSize(tensor, dimension)) {
    std::optional<LinearIndex> allocated = LinearIndex::get(size);
    return allocated && index == *allocated;
  }
  if (index.constant != 0 || index.terms.size() != 1)
    return false;
  auto [value, factor] = *index.terms.begin();
  // Of an extent that is a multiple the loops stage has the quotient.
  int64_t unit = 1;
  if (auto quotient = value.getDefiningOp<arith::DivUIOp>()) {
    unit = getConstantIntValue(quotient.getRhs()).value_or(0);
    value = quotient.getLhs();
  }
  auto dim = value.getDefiningOp<memref::DimOp>();
  std::optional<int64_t> of = dim ? dim.getConstantIndex() : std::nullopt;
  if (!of || factor != unit)
    return false;
  std::string name = getSymbolName(tensor, dimension);
  return (dim.getSource() == tensor && *of == dimension) ||
         (!name.empty() && name == getSymbolName(dim.getSource(), *of));
}

int64_t getKnownDivisor(Value tensor, unsigned dimension) {
  if (!typeOf(tensor).isDynamicDim(dimension))
    return typeOf(tensor).getDimSize(dimension);
  if (Value size = getAllocatedSize(tensor, dimension)) {
    std::optional<LinearIndex> allocated = LinearIndex::get(size);
    if (!allocated)
      return 1;
    int64_t divisor = std::abs(allocated->constant);
    for (auto [value, factor] : allocated->terms)
      divisor = std::gcd(divisor, factor);
    return std::max<int64_t>(divisor, 1);
  }
  func::FuncOp function = getFunction(tensor);
  auto units = function ? function.getArgAttrOfType<DenseI64ArrayAttr>(cast<BlockArgument>(tensor).getArgNumber(),
                                                                       te::kDivisibleByAttr)
                        : nullptr;
  return units ? std::max<int64_t>(units[dimension], 1) : 1;
}
} // namespace tilewright
