//===- CWriter.h - structured IR as readable C++ --------------------------===//
//
// What kernels and host programs have in common: values as C++ expressions, structured control flow as statements,
// buffers as arrays with their extents. A value becomes part of the expression that uses it where that is its only use
// and nothing is written in between; any other gets a name. An op that has no form is an error at that op.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PASSES_GPUTOSOURCE_CWRITER_H
#define TILEWRIGHT_PASSES_GPUTOSOURCE_CWRITER_H

#include "passes/PassSupport.h"
#include "passes/gpu-to-source/COperators.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <set>
#include <string>
#include <vector>

namespace tilewright::source {

class CWriter {
public:
  explicit CWriter(llvm::StringRef language) : language(language), stream(text) {}
  virtual ~CWriter() = default;

  /// The ops of a block, one after the other.
  void writeBlock(mlir::Block &block);
  bool hasFailed() const { return failed; }
  /// For each line of the program, which begins with `prelude`, the locations of the ops that it has, fused to one.
  mlir::ArrayAttr lineLocations(mlir::MLIRContext *context, llvm::StringRef prelude);

protected:
  /// The ops that one of the two kinds of program has alone. Whether it is such an op.
  virtual bool writeOwnOp(mlir::Operation *op) { return false; }
  /// The expression of a pure op that one of the two has alone.
  virtual std::optional<Expression> ownExpression(mlir::Operation *op) { return std::nullopt; }
  /// The type of a float in C++, or nothing.
  virtual std::string floatType(mlir::Type type);
  /// A number as a float of another type, rounded to nearest even.
  virtual std::string convertFloat(mlir::Operation *op, mlir::Type from, mlir::Type to, const std::string &number) {
    return floatType(to) + "(" + number + ")";
  }
  /// The name of a type that one of the two has alone.
  virtual std::string ownTypeName(mlir::Type type) { return ""; }
  /// What a value is called that goes from one iteration of a loop to the next.
  virtual std::string carriedName(mlir::Value value) { return "carried"; }
  /// Whether an op's result has a name where it has one use alone, too.
  virtual bool hasName(mlir::Operation *op) { return false; }
  /// Whether what has a value's name is no constant.
  virtual bool isVariable(mlir::Value value) { return false; }
  /// The line before a loop.
  virtual llvm::StringRef pragmaOf(mlir::scf::ForOp loop);
  /// What `min` and `max` are called.
  virtual std::string functionName(llvm::StringRef function) { return function.str(); }

  // Lines.
  llvm::raw_ostream &line();
  /// Notes that the line that is written has `op`.
  void note(mlir::Operation *op);
  /// The user's line that `op` came from, as a comment where it is not the one before.
  void writeOrigin(mlir::Operation *op);
  void open(const llvm::Twine &head);
  void close(const llvm::Twine &tail = "}");
  void fail(mlir::Operation *op, const llvm::Twine &why = "");

  // Names.
  std::string unique(llvm::StringRef wanted);
  bool isTaken(llvm::StringRef wanted) const;
  std::string name(mlir::Value value, llvm::StringRef wanted);
  /// Names from here on can be used again after `leave`.
  size_t enter() const { return scope.size(); }
  void leave(size_t entered);
  void bind(mlir::Value value, std::string expression, Binding binding = Binding::Primary) {
    values[value] = {std::move(expression), binding};
  }

  // Types and expressions.
  std::string typeName(mlir::Type type);
  std::string unsignedName(mlir::Type type);
  Expression expression(mlir::Value value);
  /// The expression of a value, in parentheses if it binds less tightly than `least`.
  std::string use(mlir::Value value, Binding least = Binding::Select);
  std::string literal(mlir::Operation *op, mlir::Attribute value, mlir::Type type);
  Expression affine(mlir::AffineExpr expr, mlir::ValueRange operands, unsigned numDims);
  Expression affineMinMax(mlir::AffineMap map, mlir::ValueRange operands, llvm::StringRef function);
  /// `A[i][j]`.
  std::string element(mlir::Operation *op, mlir::Value buffer, mlir::ValueRange indices);
  /// `float A[16][16]`, or with `form` "(&A)" a reference to one.
  std::string declare(mlir::Operation *op, mlir::MemRefType type, llvm::StringRef form);
  /// The extent of a buffer's dimension.
  std::string extent(mlir::Operation *op, mlir::Value buffer, unsigned dim);
  /// Buffers that are pointers without extents of their own, and the extents that they have.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<std::string>> extents;
  llvm::DenseSet<mlir::Value> flat;
  /// Of those that are not row-major the strides.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<std::string>> strides;

  /// Notes that the program uses something that stands at its top.
  void needs(llvm::StringRef what) { needed.insert(what.str()); }

  std::string language, text;
  llvm::raw_string_ostream stream;
  std::set<std::string> needed;
  std::string indexType = "int";
  unsigned depth = 0;
  /// The op that lines are written for.
  mlir::Operation *current = nullptr;

  /// The variables that take the results of an op with regions, for the `scf.yield` in them.
  void assign(mlir::Operation *at, mlir::ValueRange targets, mlir::ValueRange values);

private:
  void writeOp(mlir::Operation *op);
  void writeFor(mlir::scf::ForOp loop);
  bool continues(mlir::Value init, mlir::scf::ForOp loop);
  void writeIf(mlir::scf::IfOp op);
  void writeWhile(mlir::scf::WhileOp op);
  void writeSwitch(mlir::scf::IndexSwitchOp op);
  void writeElementwise(mlir::Operation *op);
  /// Which ops of the block become part of the expressions that use them.
  void findInlined(mlir::Block &block);
  bool mayMove(mlir::Operation *load);

  std::optional<Expression> pureExpression(mlir::Operation *op);
  std::optional<Expression> arithExpression(mlir::Operation *op);
  std::optional<Expression> integerExpression(mlir::Operation *op);
  std::optional<Expression> castExpression(mlir::Operation *op);
  std::optional<Expression> comparison(mlir::Operation *op);
  std::optional<Expression> mathExpression(mlir::Operation *op);
  Expression binary(mlir::Operation *op, llvm::StringRef symbol);
  Expression call(mlir::Operation *op, const llvm::Twine &function);
  Expression templateCall(mlir::Operation *op, llvm::StringRef function, mlir::Type type, bool isUnsigned);
  Expression wrapping(mlir::Operation *op, llvm::StringRef symbol);
  Expression asUnsigned(mlir::Operation *op, llvm::StringRef symbol);
  Expression narrowed(mlir::Type type, const Expression &made);
  bool isNonNegative(mlir::Value value);
  bool isNonNegative(mlir::AffineExpr expr, mlir::ValueRange operands, unsigned numDims);

  llvm::DenseMap<mlir::Value, Expression> values;
  llvm::DenseSet<mlir::Operation *> inlined;
  llvm::DenseMap<mlir::Operation *, unsigned> weights;
  llvm::StringSet<> taken;
  llvm::SmallVector<std::string> scope;
  llvm::StringMap<llvm::SmallVector<std::string>> files;
  std::string lastOrigin;
  std::string lane;
  /// The ops of each line, and how far its lines are counted.
  std::vector<llvm::SmallVector<mlir::Location, 2>> noted;
  size_t counted = 0, lineCount = 0;
  bool failed = false;
};

/// A name of the user's ("A.shared", "k.outer") as an identifier.
std::string identifier(llvm::StringRef name);

/// The axis of a loop ("k.outer" of "C.k.outer"), or nothing.
std::string axisOf(mlir::scf::ForOp loop);

/// The functions of <math.h> that expressions call, as they are called on doubles.
llvm::SmallVector<llvm::StringRef> mathFunctions();

/// The element type of a scalar or vector.
inline mlir::Type scalarOf(mlir::Type type) { return mlir::getElementTypeOrSelf(type); }

} // namespace tilewright::source

#endif
