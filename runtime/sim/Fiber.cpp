//===- Fiber.cpp - a simulated thread's own stack -------------------------===//
#include "runtime/sim/Fiber.h"

#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

using namespace tilewright::sim;

bool StackPool::reserve(size_t count, size_t bytes) {
  size_t page = sysconf(_SC_PAGESIZE);
  size_t wanted = (bytes + page - 1) / page * page + page;
  if (count <= capacity && wanted <= stride)
    return true;
  release();
  // Pages come when they are touched, so what is reserved and never used costs nothing.
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *mapped = mmap(nullptr, count * wanted, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (mapped == MAP_FAILED)
    return false;
  memory = static_cast<char *>(mapped);
  capacity = count, stride = wanted, guardBytes = page;
  for (size_t index = 0; index < count; ++index)
    if (mprotect(memory + index * stride, guardBytes, PROT_NONE) != 0) {
      release();
      return false;
    }
  return true;
}

void StackPool::swap(StackPool &other) {
  std::swap(memory, other.memory);
  std::swap(capacity, other.capacity);
  std::swap(stride, other.stride);
  std::swap(guardBytes, other.guardBytes);
}

namespace {
/// The stacks that nobody uses; never destroyed, for programs may still run while the process ends.
struct LeftStacks {
  std::mutex mutex;
  StackPool stacks;
  static LeftStacks &get() {
    static auto *left = new LeftStacks;
    return *left;
  }
};
} // namespace

void StackPool::borrow() {
  release();
  LeftStacks &left = LeftStacks::get();
  std::lock_guard<std::mutex> guard(left.mutex);
  swap(left.stacks);
}

void StackPool::giveBack() {
  {
    LeftStacks &left = LeftStacks::get();
    std::lock_guard<std::mutex> guard(left.mutex);
    if (capacity * stride > left.stacks.capacity * left.stacks.stride)
      swap(left.stacks);
  }
  release();
}

void StackPool::release() {
  if (memory)
    munmap(memory, capacity * stride);
  memory = nullptr, capacity = 0, stride = 0;
}

#if defined(__x86_64__)

// Saves what the ABI asks a callee to keep and changes the stack. The control words of the floating-point units are
// left alone: no kernel touches them. ucontext would make a system call at each switch.
extern "C" void tilewrightSwitchStack(void **savedStack, void *nextStack);
asm(R"(
    .text
    .p2align 4
    .globl tilewrightSwitchStack
    .hidden tilewrightSwitchStack
    .type tilewrightSwitchStack, @function
tilewrightSwitchStack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size tilewrightSwitchStack, .-tilewrightSwitchStack

    .p2align 4
    .globl tilewrightEnterFiber
    .hidden tilewrightEnterFiber
    .type tilewrightEnterFiber, @function
tilewrightEnterFiber:
    movq %r12, %rdi
    callq *%rbx
    ud2
    .size tilewrightEnterFiber, .-tilewrightEnterFiber
)");
extern "C" void tilewrightEnterFiber();

struct tilewright::sim::FiberContext {
  void *own = nullptr, *caller = nullptr;
};

void Fiber::start(char *stack, size_t bytes, Entry entry, void *argument) {
  auto *top = reinterpret_cast<void **>((reinterpret_cast<uintptr_t>(stack) + bytes) & ~uintptr_t(15));
  // What the switch pops: r15, r14, r13, r12 (the argument), rbx (the entry), rbp, then the address to return to. The
  // stack is then aligned to 16 bytes, as the call in tilewrightEnterFiber needs it.
  void **frame = top - 9;
  frame[0] = frame[1] = frame[2] = nullptr;
  frame[3] = argument;
  frame[4] = reinterpret_cast<void *>(entry);
  frame[5] = nullptr;
  frame[6] = reinterpret_cast<void *>(&tilewrightEnterFiber);
  frame[7] = frame[8] = nullptr;
  context->own = frame;
}

void Fiber::resume() { tilewrightSwitchStack(&context->caller, context->own); }
void Fiber::suspend() { tilewrightSwitchStack(&context->own, context->caller); }

#else

struct tilewright::sim::FiberContext {
  ucontext_t own, caller;
  Fiber::Entry entry;
  void *argument;
};

/// makecontext passes ints only, so a pointer comes in two halves.
static void enter(unsigned high, unsigned low) {
  auto *context = reinterpret_cast<FiberContext *>(static_cast<uintptr_t>(high) << 32 | low);
  context->entry(context->argument);
}

void Fiber::start(char *stack, size_t bytes, Entry entry, void *argument) {
  getcontext(&context->own);
  context->entry = entry, context->argument = argument;
  context->own.uc_stack.ss_sp = stack;
  context->own.uc_stack.ss_size = bytes;
  context->own.uc_link = nullptr;
  auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(context.get()));
  makecontext(&context->own, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
}

void Fiber::resume() { swapcontext(&context->caller, &context->own); }
void Fiber::suspend() { swapcontext(&context->own, &context->caller); }

#endif

Fiber::Fiber() : context(std::make_unique<FiberContext>()) {}
Fiber::~Fiber() = default;
Fiber::Fiber(Fiber &&) noexcept = default;
