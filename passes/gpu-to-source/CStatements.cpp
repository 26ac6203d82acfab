//===- CStatements.cpp - structured control flow and accesses as C++ ------===//
#include "passes/gpu-to-nvvm/UnrolledLoops.h"
#include "passes/gpu-to-source/CText.h"
#include "passes/gpu-to-source/CWriter.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

/// An expression of more ops than this gets a name, so that lines stay readable.
static constexpr unsigned kMaxWeight = 8;

namespace tilewright::source {

static bool isConstant(Operation *op) { return op->hasTrait<OpTrait::ConstantLike>(); }

/// Whether an op, or one in its regions, may write to memory.
static bool mayWriteWithin(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return !inner->getNumRegions() && mayWrite(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether the value read by `load` can be read where it is used as well: nothing is written on the way there.
bool CWriter::mayMove(Operation *load) {
  Operation *point = load;
  do {
    Operation *user = *point->getResult(0).getUsers().begin();
    if (user->getBlock() != load->getBlock())
      return false;
    point = user;
  } while (inlined.contains(point));
  // The bounds of a loop are looked at again and again.
  if (isa<scf::ForOp, scf::WhileOp>(point))
    return false;
  for (Operation *op = load->getNextNode(); op != point; op = op->getNextNode())
    if (mayWriteWithin(op))
      return false;
  return true;
}

void CWriter::findInlined(Block &block) {
  SmallVector<Operation *> loads;
  for (Operation &op : block) {
    if (op.getNumResults() != 1 || op.getNumRegions() || isConstant(&op) || !op.hasOneUse())
      continue;
    bool isLoad = isa<memref::LoadOp>(op);
    // Where a thread is has a name of its own.
    if ((!isLoad && !isMemoryEffectFree(&op)) || isa_and_nonnull<gpu::GPUDialect>(op.getDialect()) ||
        isa<ShapedType>(op.getResult(0).getType()) || hasName(&op))
      continue;
    // In a loop of lanes a scalar is the same for all of them: it is computed before.
    Operation *user = *op.getResult(0).getUsers().begin();
    if (user->getNumResults() && isa<VectorType>(user->getResult(0).getType()))
      continue;
    unsigned weight = 1;
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && inlined.contains(producer))
        weight += weights[producer];
    if (weight > kMaxWeight)
      continue;
    weights[&op] = weight;
    inlined.insert(&op);
    if (isLoad)
      loads.push_back(&op);
  }
  for (Operation *load : llvm::reverse(loads))
    if (!mayMove(load))
      inlined.erase(load);
}

void CWriter::writeBlock(Block &block) {
  size_t outer = enter();
  findInlined(block);
  for (Operation &op : block)
    writeOp(&op);
  // Beside this block its names can be used again.
  leave(outer);
}

void CWriter::writeOp(Operation *op) {
  llvm::SaveAndRestore written(current, op);
  if (failed || isConstant(op) || inlined.contains(op) || writeOwnOp(op))
    return;
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (std::optional<int64_t> index = dim.getConstantIndex())
      return bind(dim.getResult(), extent(op, dim.getSource(), *index));
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return writeFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return writeIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return writeWhile(loop);
  if (auto choice = dyn_cast<scf::IndexSwitchOp>(op))
    return writeSwitch(choice);
  if (auto yield = dyn_cast<scf::YieldOp>(op)) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return assign(op, loop.getRegionIterArgs(), yield.getResults());
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      return assign(op, loop.getBeforeArguments(), yield.getResults());
    return assign(op, parent->getResults(), yield.getResults());
  }
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    auto loop = cast<scf::WhileOp>(op->getParentOp());
    assign(op, loop.getResults(), condition.getArgs());
    line() << "if (" << prefix("!", expression(condition.getCondition())).text << ") break;\n";
    return;
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    writeOrigin(op);
    line() << element(op, store.getMemRef(), store.getIndices()) << " = " << use(store.getValue()) << ";\n";
    return;
  }
  if (op->getNumResults() == 1 && isa<VectorType>(op->getResult(0).getType()) &&
      OpTrait::hasElementwiseMappableTraits(op))
    return writeElementwise(op);
  if (op->getNumResults() == 1) {
    Value result = op->getResult(0);
    std::optional<Expression> made = pureExpression(op);
    if (!made)
      return fail(op);
    if (result.use_empty())
      return;
    std::string type = typeName(result.getType());
    if (type.empty())
      return fail(op, "expected values of a type that " + Twine(language) + " has");
    std::string wanted = result.getType().isIndex() ? "i" : result.getType().isInteger(1) ? "is" : "v";
    if (auto load = dyn_cast<memref::LoadOp>(op))
      wanted = use(load.getMemRef(), Binding::Primary) + "_value";
    line() << "const " << type << " " << name(result, wanted) << " = " << made->text << ";\n";
    return;
  }
  fail(op);
}

/// Whether an expression has this name.
static bool mentions(StringRef text, StringRef name) {
  auto isOfName = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1))
    if ((at == 0 || !isOfName(text[at - 1])) && (at + name.size() == text.size() || !isOfName(text[at + name.size()])))
      return true;
  return false;
}

void CWriter::assign(Operation *at, ValueRange targets, ValueRange sources) {
  SmallVector<std::pair<std::string, Value>> changes;
  for (auto [target, source] : llvm::zip_equal(targets, sources))
    if (std::string to = use(target, Binding::Primary); to != use(source))
      changes.emplace_back(to, source);
  // First those that no other one reads.
  auto isRead = [&](const auto &change) {
    return llvm::any_of(
        changes, [&](const auto &other) { return &other != &change && mentions(use(other.second), change.first); });
  };
  while (!changes.empty()) {
    auto *free = llvm::find_if_not(changes, isRead);
    if (free == changes.end())
      break;
    line() << free->first << " = " << use(free->second) << ";\n";
    changes.erase(free);
  }
  // Each may be read by the others: all are computed before one changes.
  SmallVector<std::string> next;
  for (auto &[to, source] : changes) {
    next.push_back(unique("next_" + to));
    line() << "const " << typeName(source.getType()) << " " << next.back() << " = " << use(source) << ";\n";
  }
  for (auto [change, value] : llvm::zip_equal(changes, next))
    line() << change.first << " = " << value << ";\n";
}

/// Whether a loop goes on with the variable of an init, which nobody else reads.
bool CWriter::continues(Value init, scf::ForOp loop) {
  if (!init.hasOneUse() || init.getParentBlock() != loop->getBlock())
    return false;
  if (auto argument = dyn_cast<BlockArgument>(init)) {
    auto outer = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return outer && argument != outer.getInductionVar();
  }
  return isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp>(init.getDefiningOp()) || isVariable(init);
}

StringRef CWriter::pragmaOf(scf::ForOp loop) {
  return isToBeWrittenOut(loop) || loop->hasAttr(schedule::kUnrollAttr) ? "#pragma unroll" : "";
}

void CWriter::writeFor(scf::ForOp loop) {
  for (auto [argument, init, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getResults())) {
    if (typeName(argument.getType()).empty())
      return fail(loop);
    if (continues(init, loop)) {
      std::string variable = use(init, Binding::Primary);
      bind(argument, variable);
      bind(result, variable);
      continue;
    }
    std::string variable = name(argument, carriedName(argument));
    bind(result, variable);
    line() << typeName(argument.getType()) << " " << variable << " = " << use(init) << ";\n";
  }
  std::string axis = axisOf(loop);
  size_t outer = enter();
  std::string variable = name(loop.getInductionVar(), axis.empty() ? "i" : axis);
  std::string type = typeName(loop.getInductionVar().getType());
  if (StringRef pragma = pragmaOf(loop); !pragma.empty())
    line() << pragma << "\n";
  line() << "for (" << type << " " << variable << " = " << use(loop.getLowerBound()) << "; "
         << infix({variable}, "<", expression(loop.getUpperBound())).text << "; ";
  if (matchPattern(loop.getStep(), m_One()))
    stream << "++" << variable << ") {";
  else
    stream << variable << " += " << use(loop.getStep()) << ") {";
  std::string origin = getFileAndLine(loop.getLoc());
  if (auto attr = loop->getAttrOfType<schedule::AxisAttr>(schedule::kAxisAttr))
    stream << "  // " << inComment(attr.str() + (origin.empty() ? "" : ", " + origin));
  stream << "\n";
  ++depth;
  writeBlock(*loop.getBody());
  close();
  leave(outer);
}

void CWriter::writeIf(scf::IfOp op) {
  for (Value result : op.getResults()) {
    if (typeName(result.getType()).empty())
      return fail(op);
    std::string variable = name(result, "chosen");
    line() << typeName(result.getType()) << " " << variable << ";\n";
  }
  open("if (" + use(op.getCondition()) + ")");
  writeBlock(*op.thenBlock());
  if (op.elseBlock() && (!llvm::hasSingleElement(*op.elseBlock()) || !op.getResults().empty())) {
    --depth;
    open("} else");
    writeBlock(*op.elseBlock());
  }
  close();
}

void CWriter::writeSwitch(scf::IndexSwitchOp op) {
  for (Value result : op.getResults()) {
    if (typeName(result.getType()).empty())
      return fail(op);
    line() << typeName(result.getType()) << " " << name(result, "chosen") << ";\n";
  }
  open("switch (" + use(op.getArg()) + ")");
  auto writeCase = [&](const Twine &label, Block &block) {
    --depth;
    open(label + ":");
    writeBlock(block);
    line() << "break;\n";
    --depth;
    line() << "}\n";
    ++depth;
  };
  for (auto [value, region] : llvm::zip_equal(op.getCases(), op.getCaseRegions()))
    writeCase("case " + Twine(value), region.front());
  writeCase("default", op.getDefaultBlock());
  close();
}

void CWriter::writeWhile(scf::WhileOp op) {
  for (auto [argument, init] : llvm::zip_equal(op.getBeforeArguments(), op.getInits()))
    line() << typeName(argument.getType()) << " " << name(argument, "carried") << " = " << use(init) << ";\n";
  for (auto [argument, result] : llvm::zip_equal(op.getAfterArguments(), op.getResults())) {
    line() << typeName(argument.getType()) << " " << name(result, "state") << ";\n";
    bind(argument, use(result));
  }
  open("while (true)");
  writeBlock(*op.getBeforeBody());
  writeBlock(*op.getAfterBody());
  close();
}

void CWriter::writeElementwise(Operation *op) {
  auto type = cast<VectorType>(op->getResult(0).getType());
  if (type.getRank() != 1 || typeName(type.getElementType()).empty())
    return fail(op);
  std::string variable = unique("v");
  line() << typeName(type) << " " << variable << ";\n";
  line() << "#pragma unroll\n";
  lane = "lane";
  std::optional<Expression> made = pureExpression(op);
  lane.clear();
  if (!made)
    return fail(op);
  line() << "for (int lane = 0; lane < " << type.getNumElements() << "; ++lane) " << variable
         << "[lane] = " << made->text << ";\n";
  bind(op->getResult(0), variable);
}

Expression CWriter::expression(Value value) {
  if (auto found = values.find(value); found != values.end()) {
    if (!lane.empty() && isa<VectorType>(value.getType()))
      return {found->second.text + "[" + lane + "]"};
    return found->second;
  }
  Operation *op = value.getDefiningOp();
  if (op) {
    if (Attribute constant; matchPattern(op, m_Constant(&constant))) {
      Type type = value.getType();
      if (auto vector = dyn_cast<VectorType>(type)) {
        auto elements = dyn_cast<DenseElementsAttr>(constant);
        if (elements && elements.isSplat()) {
          std::string scalar = literal(op, elements.getSplatValue<Attribute>(), vector.getElementType());
          if (!lane.empty())
            return {scalar};
          needs("Vector"), needs("broadcast");
          // A number alone is an int.
          if (vector.getElementType().isInteger() && vector.getElementTypeBitWidth() < 32 &&
              !vector.getElementType().isInteger(1))
            scalar = construct(typeName(vector.getElementType()), {scalar}).text;
          return {"broadcast<" + std::to_string(vector.getNumElements()) + ">(" + scalar + ")"};
        }
        if (elements && vector.getRank() == 1) {
          std::string text = typeName(vector) + "{{";
          for (auto [i, element] : llvm::enumerate(elements.getValues<Attribute>()))
            text += (i ? ", " : "") + literal(op, element, vector.getElementType());
          return {text + "}}" + (lane.empty() ? "" : "[" + lane + "]")};
        }
        fail(op);
        return {"0"};
      }
      std::string text = literal(op, constant, type);
      return {text, text[0] == '-' ? Binding::Unary : Binding::Primary};
    }
    if (inlined.contains(op)) {
      note(op);
      if (std::optional<Expression> made = pureExpression(op))
        return *made;
    }
    fail(op);
  } else {
    fail(value.getParentBlock()->getParentOp());
  }
  return {"0"};
}

std::string CWriter::use(Value value, Binding least) { return within(least, expression(value)); }

} // namespace tilewright::source
