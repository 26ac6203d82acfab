//===- SharedAccess.h - which elements of a buffer a thread touches -------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_SHAREDACCESS_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_SHAREDACCESS_H

#include "passes/index/AccessForm.h"
#include "passes/loops-to-gpu/KernelMemory.h"

namespace tilewright {

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
  /// If the index of the thread along `dim` can be read off the number alone that a form of this access is, the place
  /// value of its digit: index = (number floordiv place) mod threads. Negative where the digit counts backwards.
  std::optional<int64_t> getThreadPlace(const index::LinearForm &number, unsigned dim) const;
  /// A thread's index that can be read off the same number, a form of each access, in the same way is the same: it is
  /// taken out of `open`.
  void closeThreads(unsigned &open, const index::LinearForm &here, const SharedAccess &other,
                    const index::LinearForm &there) const;
  /// How far apart in memory, in elements, neighbours along each dimension are.
  llvm::SmallVector<int64_t> getStrides() const;
  /// Where in the block's shared memory the element is, counted in elements of its size.
  std::optional<index::LinearForm> getAddress() const;

  std::array<int64_t, 3> blockSize;
  /// Bytes of the block's shared memory that the buffer occupies.
  mlir::Value root;
  int64_t begin = 0, end = INT64_MAX;
  /// Its indices, where they are known and there are any.
  std::optional<index::AccessForm> form;
  /// By thread dimension: the only index whose thread gets here.
  std::array<std::optional<int64_t>, 3> pinned;
};

} // namespace tilewright

#endif
