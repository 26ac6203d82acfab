//===- FragmentAccumulation.cpp - additions to fragments -----------------===//
#include "passes/loops-to-tile/FragmentAccumulation.h"

using namespace mlir;

namespace tilewright {

Value makeSum(OpBuilder &builder, Location loc, Value sum, Value part) {
  auto map = tile::MapOp::create(builder, loc, sum.getType(), ValueRange{sum, part});
  OpBuilder::InsertionGuard guard(builder);
  Type element = cast<tile::FragmentType>(sum.getType()).getElementType(), index = builder.getIndexType();
  Block *body = builder.createBlock(&map.getBody(), {}, {element, element, index, index}, {loc, loc, loc, loc});
  Value x = body->getArgument(0), y = body->getArgument(1);
  Value added = isa<FloatType>(element) ? arith::AddFOp::create(builder, loc, x, y).getResult()
                                        : arith::AddIOp::create(builder, loc, x, y).getResult();
  tile::YieldOp::create(builder, loc, added);
  return map.getResult();
}
} // namespace tilewright
