//===- Extents.cpp - extents of tensors, symbolic ones too ----------------===//
#include "passes/index/Extents.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <numeric>

using namespace mlir;

namespace tilewright::index {

static MemRefType typeOf(Value tensor) { return cast<MemRefType>(tensor.getType()); }

/// The function whose argument a tensor is, or null.
static func::FuncOp getFunction(Value tensor) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  return argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
}

std::optional<Extent> Extent::get(Value value) {
  int64_t unit = 1;
  if (auto quotient = value.getDefiningOp<arith::DivUIOp>())
    if (std::optional<int64_t> divisor = getConstantIntValue(quotient.getRhs()); divisor && *divisor > 0) {
      unit = *divisor;
      value = quotient.getLhs();
    }
  auto dim = value.getDefiningOp<memref::DimOp>();
  std::optional<int64_t> dimension = dim ? dim.getConstantIndex() : std::nullopt;
  if (!dimension || *dimension < 0 || *dimension >= typeOf(dim.getSource()).getRank())
    return std::nullopt;
  return Extent{dim.getSource(), static_cast<unsigned>(*dimension), unit};
}

int64_t Extent::getLeast() const {
  func::FuncOp function = getFunction(tensor);
  auto minima = function ? function.getArgAttrOfType<DenseI64ArrayAttr>(cast<BlockArgument>(tensor).getArgNumber(),
                                                                        te::kMinimumAttr)
                         : nullptr;
  return minima ? minima[dimension] / unit : 0;
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
  std::optional<Extent> extent = Extent::get(value);
  if (!extent || factor != extent->unit)
    return false;
  std::string name = getSymbolName(tensor, dimension);
  return (extent->tensor == tensor && extent->dimension == dimension) ||
         (!name.empty() && name == getSymbolName(extent->tensor, extent->dimension));
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

} // namespace tilewright::index
