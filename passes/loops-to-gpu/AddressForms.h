//===- AddressForms.h - which elements of a buffer a thread touches -------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_ADDRESSFORMS_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_ADDRESSFORMS_H

#include "passes/loops-to-gpu/KernelMemory.h"

namespace tilewright {

/// A range of integers, both ends included; an end that is not known is missing.
struct Range {
  std::optional<int64_t> min, max;
};

/// `constant` + the sum of `coefficient` times a value. A value is the index of a thread (`thread` is its dimension)
/// or any other in `range`.
struct LinearForm {
  struct Term {
    int64_t coefficient;
    int thread; // -1 for a value that is no thread index
    Range range;
  };
  int64_t constant = 0;
  llvm::SmallVector<Term> terms;

  Range getRange() const;
  /// If the index of the thread along `dim`, one of `extent`, can be read off the number alone, the place value of
  /// its digit: index = (number floordiv place) mod extent. Negative where the digit counts the threads backwards.
  std::optional<int64_t> getThreadPlace(unsigned dim, int64_t extent) const;
  /// Whether the two can never be one number: their ranges are apart, or they leave different remainders.
  bool isNever(const LinearForm &other) const;
};

/// One access to a shared buffer, and what is known of where.
class SharedAccess {
public:
  SharedAccess(mlir::Operation *op, mlir::Value buffer, bool isWrite, std::array<int64_t, 3> blockSize);

  /// True if different threads of a block may touch the same byte by these accesses, at least one of them writing.
  /// `isSame` tells which values both accesses, by whatever threads, see alike.
  bool conflictsWith(const SharedAccess &other, llvm::function_ref<bool(mlir::Value)> isSame = nullptr) const;

  mlir::Operation *op;
  mlir::Value buffer;
  bool isWrite;

private:
  bool overlaps(const SharedAccess &other) const;
  /// Whether some index differs whatever the threads: places of a buffer that iterations take in turn.
  bool takesOtherPlace(const SharedAccess &other, llvm::function_ref<bool(mlir::Value)> isSame) const;
  /// Whether different threads touch different elements where what `isSame` holds for is one number for both.
  bool isApartInIteration(const SharedAccess &other, llvm::function_ref<bool(mlir::Value)> isSame) const;
  bool isBySameThread(const SharedAccess &other) const;
  /// The thread indices, as bits, along which the threads of the two accesses may differ.
  unsigned getOpenThreads(const SharedAccess &other) const;
  /// An index that can be read off the same number in the same way is the same: it is taken out of `open`.
  void closeThreads(unsigned &open, const LinearForm &here, const LinearForm &there) const;
  /// A sum of the indices; without the parts that `isApart` takes with their factors.
  LinearForm getForm(llvm::ArrayRef<int64_t> weights,
                     llvm::function_ref<bool(mlir::AffineExpr, int64_t)> isApart = nullptr) const;
  /// An expression of the indices' operands over `common` values, those for which `isSame` holds; null where it is of
  /// others, too.
  mlir::AffineExpr overCommon(mlir::AffineExpr expr, llvm::SmallVectorImpl<mlir::Value> &common,
                              llvm::function_ref<bool(mlir::Value)> isSame) const;
  /// How far apart in memory, in elements, neighbours along each dimension are.
  llvm::SmallVector<int64_t> getStrides() const;
  /// Where in the block's shared memory the element is, counted in elements of its size.
  std::optional<LinearForm> getAddress() const;

  std::array<int64_t, 3> blockSize;
  /// Bytes of the block's shared memory that the buffer occupies.
  mlir::Value root;
  int64_t begin = 0, end = INT64_MAX;
  /// The element, as functions of `operands`, and how many elements from there on along the last dimension.
  bool hasIndices = false;
  mlir::AffineMap indices;
  llvm::SmallVector<mlir::Value> operands;
  int64_t length = 1;
  llvm::SmallVector<Range> ranges;
  /// By thread dimension: the only index whose thread gets here.
  std::array<std::optional<int64_t>, 3> pinned;
};

} // namespace tilewright

#endif
