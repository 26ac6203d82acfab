//===- Links.h - pointers that are const where what holds them is ---------===//
#ifndef TILEWRIGHT_PASSES_LINALGTOLOOPS_LINKS_H
#define TILEWRIGHT_PASSES_LINALGTOLOOPS_LINKS_H

#include <memory>

namespace tilewright {

/// A pointer whose target cannot be changed through what is const: of a const model, all that can be reached is const.
template <typename T> class Link {
public:
  Link(T *target = nullptr) : target(target) {}
  operator T *() { return target; }
  operator const T *() const { return target; }
  T *operator->() { return target; }
  const T *operator->() const { return target; }

private:
  T *target;
};

/// The same of what is owned.
template <typename T> class Owned {
public:
  Owned(std::unique_ptr<T> target) : target(std::move(target)) {}
  T *get() { return target.get(); }
  const T *get() const { return target.get(); }
  T *operator->() { return target.get(); }
  const T *operator->() const { return target.get(); }
  T &operator*() { return *target; }
  const T &operator*() const { return *target; }

private:
  std::unique_ptr<T> target;
};

} // namespace tilewright

#endif
