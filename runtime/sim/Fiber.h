//===- Fiber.h - a simulated thread's own stack ---------------------------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_FIBER_H
#define TILEWRIGHT_RUNTIME_SIM_FIBER_H

#include <cstddef>
#include <memory>
#include <vector>

namespace tilewright::sim {

/// Stacks of one size in one mapping, each with a page below it that faults. They are lent for one launch: each takes
/// two of the mappings that the system has for a process, so those of all programs together would be too many.
class StackPool {
public:
  StackPool() = default;
  ~StackPool() { release(); }
  StackPool(const StackPool &) = delete;
  StackPool &operator=(const StackPool &) = delete;

  /// Takes over stacks that an earlier launch, of any program, has left.
  void borrow();
  /// Leaves the stacks to the next launch, of any program. No fiber on them is resumed any more.
  void giveBack();

  /// Makes room for `count` stacks of at least `bytes`. Returns false if the system has no memory for them. Only
  /// while no fiber is alive: the stacks may move.
  bool reserve(size_t count, size_t bytes);
  char *bottom(size_t index) const { return memory + index * stride + guardBytes; }
  size_t bytes() const { return stride - guardBytes; }

private:
  void release();
  void swap(StackPool &other);

  char *memory = nullptr;
  size_t capacity = 0, stride = 0, guardBytes = 0;
};

struct FiberContext;

/// A function that runs on a stack of its own, a part at a time. It is abandoned by starting another one in its place:
/// compiled kernels own nothing that would have to be destroyed.
class Fiber {
public:
  using Entry = void (*)(void *argument);

  Fiber();
  ~Fiber();
  Fiber(Fiber &&) noexcept;

  /// Prepares `entry(argument)` to run at the next resume. It must not return: its last act is a suspend.
  void start(char *stack, size_t bytes, Entry entry, void *argument);
  /// Runs the fiber until it suspends itself.
  void resume();
  /// Goes back to where the fiber was resumed. Called on the fiber.
  void suspend();

private:
  std::unique_ptr<FiberContext> context;
};

} // namespace tilewright::sim

#endif
