//===- Lanes.h - loops whose iterations become lanes ----------------------===//
#ifndef TILEWRIGHT_LOOPS_TO_GPU_LANES_H
#define TILEWRIGHT_LOOPS_TO_GPU_LANES_H

#include "passes/PassSupport.h"

#include "mlir/IR/IRMapping.h"

namespace tilewright {

/// Whether a condition in a loop of that many lanes is the same in all of them.
bool isSameInAllLanes(mlir::Value condition, mlir::scf::ForOp loop, int64_t lanes);

/// Whether a condition holds in no lane behind one in which it does not: it is the same in all, or an index that grows
/// by one from lane to lane is below a bound.
bool holdsInFirstLanes(mlir::Value condition, mlir::scf::ForOp loop, int64_t lanes);

/// Whether the iterations of a loop, so many, compute the same as lanes that all do one access before the next: no
/// iteration loads or stores an element that an earlier iteration stores or loads behind that.
bool areLanesIndependent(mlir::scf::ForOp loop, int64_t lanes);

/// Whether an index is computed from the loop's variable and what is the same in all iterations, so that its expression
/// with a lane's number in place of the variable is that lane's index. One that is loaded in the loop is not.
bool isComputed(mlir::Value index, mlir::scf::ForOp loop);

/// Whether an access moves by one element along the last dimension with each step of a loop's variable.
bool isAlongRow(mlir::ValueRange indices, mlir::Value variable);

/// How many lanes of a loop an access may take at once: all that lie together, as far as the address is aligned.
int64_t getVectorWidth(mlir::Value memref, mlir::ValueRange indices, mlir::scf::ForOp loop, int64_t lanes,
                       bool onProcessor);

/// The most lanes of a processor's vector; LLVM cuts it into registers. Longer loops run over several such vectors.
inline constexpr int64_t kMaxProcessorLanes = 64;

/// Puts loops over lanes, each of them marked, and a loop for what is left in the place of a marked loop. Appends those
/// over lanes.
void splitIntoLanes(mlir::scf::ForOp loop, llvm::SmallVectorImpl<mlir::scf::ForOp> &loops);

/// The predicates in the body of a loop that is to become vectors: `scf.if` at any depth.
class LanePredicates {
public:
  LanePredicates(mlir::scf::ForOp loop, int64_t lanes) : loop(loop), lanes(lanes) {}

  /// Whether there are any, and whether all can be known before the loop.
  bool canHoist();

  /// A copy of the loop, in front of it, with the code of the predicates' `then` regions in their place.
  mlir::scf::ForOp createUnguarded();

  /// Puts the copy where all predicates hold in all lanes. Where the lanes may differ, or where something else is done
  /// when they do not hold, the loop itself stays for the rest; otherwise it goes. Returns the copy.
  mlir::scf::ForOp hoist(mlir::scf::ForOp unguarded);

private:
  bool isKnownBefore(mlir::Value value);
  void copyUnguarded(mlir::OpBuilder &builder, mlir::Block &block, mlir::IRMapping &mapping);
  mlir::Value valueInLane(mlir::OpBuilder &builder, mlir::Value value, int64_t lane);
  mlir::Value holdsInAllLanes(mlir::OpBuilder &builder, mlir::Value condition);

  mlir::scf::ForOp loop;
  int64_t lanes;
  mlir::SmallVector<mlir::scf::IfOp> guards;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> known;
};

} // namespace tilewright

#endif
