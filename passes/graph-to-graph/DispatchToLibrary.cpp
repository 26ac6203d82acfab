//===- DispatchToLibrary.cpp - groups that a library computes --------------===//
#include "dialects/Graph/Graph.h"
#include "passes/graph-to-graph/Passes.h"
#include "passes/graph-to-graph/TensorTypes.h"

#include <cmath>

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_DISPATCHTOLIBRARY
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

bool isNear(double a, double b) { return std::fabs(a - b) <= 0.002 * std::fabs(b); }

/// Reads expressions element by element, but for conversions to float32 or the result's type: a library rounds once.
struct Reader {
  Type result;

  Value skipCasts(Value value) const {
    while (auto cast = value.getDefiningOp<graph::CastOp>()) {
      Type to = getElementTypeOrSelf(cast.getType());
      if (!isa<FloatType>(getElementTypeOrSelf(cast.getX())) || !(to.isF32() || to == result))
        break;
      value = cast.getX();
    }
    return value;
  }

  std::optional<double> getNumber(Value value) const {
    auto constant = skipCasts(value).getDefiningOp<graph::ConstantOp>();
    auto elements = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : nullptr;
    if (!elements || !elements.isSplat())
      return std::nullopt;
    APFloat number = elements.getSplatValue<APFloat>();
    bool losesInfo;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return number.convertToDouble();
  }

  /// Of a sum of two, the one beside a value for which `isIt`; null where there is none.
  Value findBeside(Value sum, function_ref<bool(Value)> isIt) const {
    auto add = skipCasts(sum).getDefiningOp<graph::AddOp>();
    if (!add)
      return {};
    return isIt(add.getA()) ? add.getB() : isIt(add.getB()) ? add.getA() : Value();
  }
};

/// A product: its constant, and what else it is of, powers as so many of one.
struct Product {
  double constant = 1.0;
  SmallVector<Value> of;

  Product(const Reader &reader, Value value) { add(reader, value); }

  void add(const Reader &reader, Value value) {
    value = reader.skipCasts(value);
    if (auto mul = value.getDefiningOp<graph::MulOp>()) {
      add(reader, mul.getA());
      add(reader, mul.getB());
    } else if (std::optional<double> number = reader.getNumber(value)) {
      constant *= *number;
    } else if (auto pow = value.getDefiningOp<graph::PowOp>(); pow && reader.getNumber(pow.getB()) == 3.0) {
      of.append(3, reader.skipCasts(pow.getA()));
    } else {
      of.push_back(value);
    }
  }
};

/// The x of x / 2 * (1 + tanh(0.7979 * (x + 0.0447 * x^3))); null of another value.
Value findGeluOperand(const Reader &reader, Value value) {
  Product whole(reader, value);
  if (whole.of.size() != 2 || whole.constant != 0.5)
    return {};
  for (auto [x, factor] : {std::make_pair(whole.of[0], whole.of[1]), {whole.of[1], whole.of[0]}}) {
    Value beside = reader.findBeside(factor, [&](Value one) { return reader.getNumber(one) == 1.0; });
    auto tanh = beside ? reader.skipCasts(beside).getDefiningOp<graph::TanhOp>() : graph::TanhOp();
    if (!tanh)
      continue;
    Product inner(reader, tanh.getX());
    if (inner.of.size() != 1 || !isNear(inner.constant, 0.7978845608))
      return {};
    Value cubic = reader.findBeside(inner.of.front(), [&](Value one) { return reader.skipCasts(one) == x; });
    if (!cubic)
      return {};
    Product cube(reader, cubic);
    bool isCube = cube.of.size() == 3 && llvm::all_equal(cube.of) && cube.of.front() == x;
    return isCube && isNear(cube.constant, 0.044715) ? x : Value();
  }
  return {};
}

/// What a group is as a call of a library, found from its result backwards.
class Recognizer {
public:
  Recognizer(graph::Library library, graph::GroupOp group)
      : library(library), group(group), inputs(group.getInputs()) {}

  /// The call, or null where the library does not compute the group.

  graph::LibraryMatmulAttr find(int64_t ownNs, int64_t libraryNs) {
    if (group.getNumResults() != 1)
      return {};
    Value value = group.getBody().front().getTerminator()->getOperand(0);
    result = typeOfTensor(value);
    reader = {result.getElementType()};
    graph::MatmulOp matmul = findMatmul(findActivated(reader.skipCasts(value)));
    if (!matmul)
      return {};
    int64_t a = -1, b = -1;
    DenseI64ArrayAttr aOrder, bOrder;
    if (!findOperand(matmul.getA(), a, aOrder) || !findOperand(matmul.getB(), b, bOrder) || !hasTypes(matmul, a, b))
      return {};
    return graph::LibraryMatmulAttr::get(group.getContext(), library, a, b, aOrder, bOrder, bias, residual, epilogue,
                                         ownNs, libraryNs);
  }

private:
  int64_t numberOf(Value value) const {
    const auto *found = llvm::find(inputs, value);
    return found == inputs.end() ? -1 : found - inputs.begin();
  }

  Value findActivated(Value value) {
    if (auto relu = value.getDefiningOp<graph::ReluOp>()) {
      epilogue = graph::LibraryEpilogue::Relu;
      return reader.skipCasts(relu.getX());
    }
    Value x = findGeluOperand(reader, value);
    if (x)
      epilogue = graph::LibraryEpilogue::GeluTanh;
    return x ? x : value;
  }

  /// The matmul to which at most a bias and a residual are added; null where there is none.
  graph::MatmulOp findMatmul(Value value) {
    while (auto add = value.getDefiningOp<graph::AddOp>()) {
      if (takeAddend(add.getB()))
        value = reader.skipCasts(add.getA());
      else if (takeAddend(add.getA()))
        value = reader.skipCasts(add.getB());
      else
        return {};
    }
    return value.getDefiningOp<graph::MatmulOp>();
  }

  bool takeAddend(Value value) {
    value = reader.skipCasts(value);
    int64_t number = numberOf(value);
    if (number < 0)
      return false;
    RankedTensorType type = typeOfTensor(value);
    if (type.getElementType() != result.getElementType())
      return false;
    ArrayRef<int64_t> shape = type.getShape();
    bool isRow = !shape.empty() && !ShapedType::isDynamic(shape.back()) && shape.back() == result.getShape().back() &&
                 llvm::all_of(shape.drop_back(), [](int64_t extent) { return extent == 1; });
    if (isRow && bias < 0) {
      bias = number;
      return true;
    }
    if (type != result || residual >= 0)
      return false;
    residual = number;
    return true;
  }

  bool findOperand(Value value, int64_t &number, DenseI64ArrayAttr &order) {
    auto whole = llvm::to_vector(llvm::seq<int64_t>(0, typeOfTensor(value).getRank()));
    auto transpose = value.getDefiningOp<graph::TransposeOp>();
    bool isTransposed = transpose != nullptr;
    for (; transpose; transpose = value.getDefiningOp<graph::TransposeOp>()) {
      for (int64_t &d : whole)
        d = transpose.getPermutation()[d];
      value = transpose.getX();
    }
    number = numberOf(value);
    if (isTransposed)
      order = DenseI64ArrayAttr::get(group.getContext(), whole);
    return number >= 0 && graph::isOrderOfMatrix(whole, whole.size());
  }

  bool hasTypes(graph::MatmulOp matmul, int64_t a, int64_t b) {
    auto type = [&](int64_t number) { return typeOfTensor(inputs[number]); };
    Type element = type(a).getElementType(), made = result.getElementType();
    RankedTensorType sums = typeOfTensor(matmul.getResult());
    return graph::canMultiply(library, element, type(b).getElementType(), made) &&
           (bias < 0 || graph::canAddBias(library, element, made)) &&
           matmul.getAcc() == (isa<FloatType>(element) ? "float32" : "int32") &&
           (sums.getElementType().isF32() || sums.getElementType() == made) && sums.clone(made) == result &&
           result.getRank() == std::max(type(a).getRank(), type(b).getRank()) && result.getRank() <= kMaxRank &&
           (isa<FloatType>(made) || epilogue == graph::LibraryEpilogue::None);
  }

  static constexpr int64_t kMaxRank = 8;
  graph::Library library;
  graph::GroupOp group;
  SmallVector<Value> inputs;
  RankedTensorType result;
  Reader reader;
  int64_t bias = -1, residual = -1;
  graph::LibraryEpilogue epilogue = graph::LibraryEpilogue::None;
};

struct DispatchToLibrary : impl::DispatchToLibraryBase<DispatchToLibrary> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.getOps<graph::GroupOp>().empty() && failed(dispatch(function)))
        return signalPassFailure();
  }

  LogicalResult dispatch(func::FuncOp function) {
    SmallVector<graph::GroupOp> all(function.getOps<graph::GroupOp>());
    if (ownNs.size() != groups.size() || libraryNs.size() != groups.size())
      return function.emitError() << "expected as many own-ns and library-ns as groups, " << groups.size() << ", got "
                                  << ownNs.size() << " and " << libraryNs.size();
    if (groups.empty()) {
      for (graph::GroupOp group : all)
        if (graph::LibraryMatmulAttr call = Recognizer(library, group).find(0, 0))
          group.setLibraryAttr(call);
      return success();
    }
    for (auto [number, own, byLibrary] : llvm::zip(groups, ownNs, libraryNs)) {
      if (number < 0 || number >= int64_t(all.size()))
        return function.emitError() << "expected numbers of groups from 0 to " << all.size() - 1 << ", got " << number;
      graph::LibraryMatmulAttr call = Recognizer(library, all[number]).find(own, byLibrary);
      if (!call)
        return all[number].emitError() << "expected a group that " << graph::stringifyLibrary(library)
                                       << " computes, got " << all[number].getName();
      all[number].setLibraryAttr(call);
    }
    return success();
  }
};

} // namespace
} // namespace tilewright
