//===- GuardIntegerOps.cpp - integer ops have a result for every operand --===//
#include "passes/PassSupport.h"
#include "passes/kernel-math/NonZero.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_GUARDINTEGEROPS
#include "passes/kernel-math/Passes.h.inc"

/// Whether `value` is a constant all of whose lanes are as `holds` says.
static bool isConstant(Value value, function_ref<bool(const APInt &)> holds) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return false;
  if (auto number = dyn_cast<IntegerAttr>(attr))
    return holds(number.getValue());
  auto elements = dyn_cast<DenseIntElementsAttr>(attr);
  return elements && llvm::all_of(elements.getValues<APInt>(), holds);
}

static bool isNotZero(const APInt &number) { return !number.isZero(); }

bool isKnownNonZero(Value value) {
  if (isConstant(value, isNotZero))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<arith::ExtUIOp, arith::ExtSIOp, vector::BroadcastOp>(op))
    return isKnownNonZero(op->getOperand(0));
  if (isa<arith::MaxUIOp, arith::OrIOp>(op))
    return llvm::any_of(op->getOperands(), isKnownNonZero);
  auto choice = dyn_cast<arith::SelectOp>(op);
  return choice && isKnownNonZero(choice.getTrueValue()) && isKnownNonZero(choice.getFalseValue());
}

static bool isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp>(op);
}

bool mayDivideByZero(Operation *op) { return isDivision(op) && !isKnownNonZero(op->getOperand(1)); }

namespace {

/// Puts ops around one that is undefined for some operands.
class Guard {
public:
  explicit Guard(Operation *op) : op(op), b(op->getLoc(), op), type(op->getResult(0).getType()) {}

  void divide();
  void shift();
  void convert();
  void convertToNarrow();

private:
  Value constant(Type type, const APInt &value) {
    return splat(type, b.getIntegerAttr(getElementTypeOrSelf(type), value));
  }
  /// By its bits, as of 1 bit 1 is -1 and of 2 bits 2 is -2.
  Value constant(int64_t value) {
    return constant(type, APInt(width(), value, /*isSigned=*/true, /*implicitTrunc=*/true));
  }
  /// In a float type too narrow for it, a number becomes an infinity.
  Value number(Type type, double value) {
    APFloat exact(value);
    bool losesInfo;
    auto element = cast<FloatType>(getElementTypeOrSelf(type));
    exact.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return splat(type, b.getFloatAttr(element, exact));
  }
  Value splat(Type type, TypedAttr value) {
    auto vector = dyn_cast<VectorType>(type);
    return arith::ConstantOp::create(b, vector ? cast<TypedAttr>(DenseElementsAttr::get(vector, Attribute(value)))
                                               : value);
  }
  unsigned width() {
    Type element = getElementTypeOrSelf(type);
    return element.isIndex() ? IndexType::kInternalStorageBitWidth : element.getIntOrFloatBitWidth();
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) { return arith::CmpIOp::create(b, predicate, x, y); }
  Value compare(arith::CmpFPredicate predicate, Value x, double y) {
    return arith::CmpFOp::create(b, predicate, x, number(x.getType(), y));
  }
  /// The result is `value` where `condition` holds.
  void insteadIf(Value condition, Value value) { result = arith::SelectOp::create(b, condition, value, result); }
  /// What `build` makes of the op's result takes its place everywhere else.
  template <typename Function> void replaceUses(Function build) {
    b.setInsertionPointAfter(op);
    result = op->getResult(0);
    SmallVector<OpOperand *> uses =
        llvm::map_to_vector(op->getResult(0).getUses(), [](OpOperand &use) { return &use; });
    build();
    for (OpOperand *use : uses)
      use->set(result);
  }

  Operation *op;
  ImplicitLocOpBuilder b;
  Type type;
  Value result;
};

void Guard::divide() {
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  bool isSigned = !isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op),
       isRemainder = isa<arith::RemSIOp, arith::RemUIOp>(op);
  bool mayBeZero = !isKnownNonZero(divisor);
  // A number that was extended without its sign is not negative.
  bool mayBeMinusOne = isSigned && !divisor.getDefiningOp<arith::ExtUIOp>() &&
                       !isConstant(divisor, [](const APInt &number) { return !number.isAllOnes(); });
  if (!mayBeZero && !mayBeMinusOne)
    return;
  // 0 and -1 are 0 and 1 after 1 is added: one comparison finds both. Of 1 bit there are no other numbers: what is
  // computed is 0 / -1, which fits, unlike -1 / -1.
  Value one = constant(1);
  if (isSigned && width() == 1) {
    op->setOperand(0, constant(0));
    op->setOperand(1, one);
  } else if (mayBeMinusOne) {
    Value next = arith::AddIOp::create(b, divisor, one);
    Value isSpecial = compare(arith::CmpIPredicate::ult, next, constant(2));
    op->setOperand(1, arith::SelectOp::create(b, isSpecial, one, divisor));
  } else {
    op->setOperand(1, arith::MaxUIOp::create(b, divisor, one));
  }
  replaceUses([&] {
    // The remainder by 1 is what that by -1 is.
    if (mayBeMinusOne && !isRemainder)
      insteadIf(compare(arith::CmpIPredicate::eq, divisor, constant(-1)),
                arith::SubIOp::create(b, constant(0), dividend));
    if (mayBeZero)
      insteadIf(compare(arith::CmpIPredicate::eq, divisor, constant(0)), constant(-1));
  });
}

void Guard::shift() {
  Value amount = op->getOperand(1), bits = constant(width());
  if (isConstant(amount, [&](const APInt &number) { return number.ult(width()); }))
    return;
  if (isa<arith::ShRSIOp>(op)) {
    op->setOperand(1, arith::MinUIOp::create(b, amount, constant(width() - 1)));
    return;
  }
  replaceUses([&] { insteadIf(compare(arith::CmpIPredicate::uge, amount, bits), constant(0)); });
}

/// Whether a float lies between two numbers, or is NaN: the last that was done with it is to limit it so.
static bool isWithin(Value x, double least, double most) {
  bool isAbove = false, isBelow = false;
  for (Operation *limit = x.getDefiningOp(); isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(limit);
       limit = limit->getOperand(0).getDefiningOp()) {
    APFloat by(0.0f);
    if (!matchPattern(limit->getOperand(1), m_ConstantFloat(&by)))
      break;
    double number = by.convertToDouble();
    bool isLow = isa<arith::MaximumFOp>(limit);
    isAbove |= isLow && number >= least;
    isBelow |= !isLow && number <= most;
    if (number < least || number > most)
      break;
  }
  return isAbove && isBelow;
}

/// By way of 32 bits, in which every number within the limits has a place.
void Guard::convertToNarrow() {
  Value x = op->getOperand(0);
  auto cloned = [&](Type element) -> Type {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(element)) : element;
  };
  if (getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth() < 32)
    x = arith::ExtFOp::create(b, cloned(b.getF32Type()), x);
  bool isSigned = isa<arith::FPToSIOp>(op);
  double least = isSigned ? -std::ldexp(1.0, width() - 1) : 0.0,
         most = std::ldexp(1.0, isSigned ? width() - 1 : width()) - 1;
  bool isLimited = isWithin(x, least, most);
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  x = arith::SelectOp::create(b, isNaN, number(x.getType(), 0.0), x);
  if (!isLimited) {
    auto flags = arith::FastMathFlags::nnan | arith::FastMathFlags::nsz;
    x = arith::MaximumFOp::create(b, x, number(x.getType(), least), flags);
    x = arith::MinimumFOp::create(b, x, number(x.getType(), most), flags);
  }
  Value wide = arith::FPToSIOp::create(b, cloned(b.getI32Type()), x);
  op->replaceAllUsesWith(ValueRange{arith::TruncIOp::create(b, type, wide)});
  op->erase();
}

void Guard::convert() {
  Value x = op->getOperand(0);
  if (width() < 32 && width() > 1)
    return convertToNarrow();
  bool isSigned = isa<arith::FPToSIOp>(op);
  replaceUses([&] {
    APInt most = isSigned ? APInt::getSignedMaxValue(width()) : APInt::getMaxValue(width());
    double end = std::ldexp(1.0, isSigned ? width() - 1 : width());
    insteadIf(compare(arith::CmpFPredicate::OGE, x, end), constant(type, most));
    if (isSigned) {
      insteadIf(compare(arith::CmpFPredicate::OLE, x, -end), constant(type, APInt::getSignedMinValue(width())));
      insteadIf(arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x), constant(0));
    } else {
      insteadIf(arith::CmpFOp::create(b, arith::CmpFPredicate::ULE, x, number(x.getType(), 0.0)), constant(0));
    }
  });
}

struct GuardIntegerOps : impl::GuardIntegerOpsBase<GuardIntegerOps> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      if (isDivision(op))
        Guard(op).divide();
      else if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
        Guard(op).shift();
      else if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
        Guard(op).convert();
    }
  }
};

} // namespace
} // namespace tilewright
