//===- RoleOps.cpp - who does what ----------------------------------------===//
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tilewright::tile;

/// Whether all threads of a warpgroup do the op together.
static bool isOfWarpgroup(Operation *op) {
  if (auto elect = dyn_cast<ElectOp>(op))
    return elect.getScope() == ElectScope::Warpgroup;
  return op->hasTrait<WarpgroupCollective>();
}

LogicalResult RoleOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getNumArguments() > 1 || (body.getNumArguments() == 1 && !body.getArgument(0).getType().isIndex()))
    return emitOpError("expected at most one argument of its region, an index: the number of the warpgroup");
  return success();
}

LogicalResult RolesOp::verifyRegions() {
  int64_t first = 0, registers = 0;
  RoleOp before;
  llvm::StringSet<> names;
  for (Operation &op : getBody().front()) {
    auto role = dyn_cast<RoleOp>(op);
    if (!role)
      return op.emitOpError("expected roles only in tile.roles");
    if (!names.insert(role.getName()).second)
      return role.emitOpError("expected names that differ, got '") << role.getName() << "' twice";
    if (before && before.getRegisters().has_value() != role.getRegisters().has_value())
      return role.emitOpError("expected registers for all roles or for none");
    WalkResult walked = role->walk([&](Operation *inner) { return WalkResult(failure(isOfWarpgroup(inner))); });
    bool wantsWarpgroups = walked.wasInterrupted() || role.getRegisters();
    StringRef why = role.getRegisters() ? "which registers are handed out to" : "which its ops are for";
    int64_t warps = role.getWarps();
    if (wantsWarpgroups && first % kWarpgroupWarps)
      return role.emitOpError("expected role '") << role.getName() << "' to start at a multiple of " << kWarpgroupWarps
                                                 << " warps, a warpgroup, " << why << ", got warp " << first;
    if (wantsWarpgroups && warps % kWarpgroupWarps)
      return role.emitOpError("expected role '") << role.getName() << "' to have a multiple of " << kWarpgroupWarps
                                                 << " warps, warpgroups, " << why << ", got " << warps;
    if (std::optional<int64_t> turns = role.getTurns(); turns && warps % (*turns * kWarpgroupWarps))
      return role.emitOpError("expected role '")
             << role.getName() << "' to have a multiple of " << *turns * kWarpgroupWarps
             << " warps, warpgroups that take " << *turns << " turns, got " << warps;
    if (std::optional<int64_t> each = role.getRegisters()) {
      if (*each < kMinRegisters || *each > kMaxRegisters || *each % kRegisterStep)
        return role.emitOpError("expected a multiple of ")
               << kRegisterStep << " registers from " << kMinRegisters << " to " << kMaxRegisters << ", got " << *each;
      registers += *each * warps * kWarpSize;
    }
    first += warps;
    before = role;
  }
  if (!before)
    return emitOpError("expected at least one role");
  int64_t threads = first * kWarpSize, most = threads * getRegistersAtLaunch(threads);
  if (registers > most)
    return emitOpError("expected roles with at most ")
           << most << " registers in all, which " << threads << " threads are launched with, got " << registers;
  return success();
}
