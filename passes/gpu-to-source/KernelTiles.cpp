//===- KernelTiles.cpp - rings, barriers and TMA copies as CUDA C++ -------===//
//
// Of kernels whose roles and elected threads are conditions already (expand-tile-roles). Each op is what tile-to-nvvm
// makes of it, in words: a slot's address, its two barriers, the boxes of a copy.
//
//===----------------------------------------------------------------------===//
#include "dialects/Target/ElementBytes.h"
#include "passes/gpu-to-source/KernelWriter.h"
#include "passes/tile-to-nvvm/TileKernel.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::source {

static std::string inShared(int64_t offset) { return "shared_memory" + (offset ? " + " + std::to_string(offset) : ""); }

static tile::RingOp ringOf(Value ring) { return ring.getDefiningOp<tile::RingOp>(); }

void KernelWriter::call(StringRef helper, const Twine &arguments, const Twine &templateArguments) {
  needs(helper);
  std::string of = templateArguments.str();
  line() << helper << (of.empty() ? "" : "<" + of + ">") << "(" << arguments << ");\n";
}

void KernelWriter::call(const InstructionFunction &function, const Twine &arguments, const Twine &templateArguments) {
  instructions.try_emplace(function.name, function.text);
  std::string of = templateArguments.str();
  line() << function.name << (of.empty() ? "" : "<" + of + ">") << "(" << arguments << ");\n";
}

// ------------------------------------------------------------------ names

std::string KernelWriter::nameOfTensor(Value map) {
  auto argument = dyn_cast<BlockArgument>(map);
  auto found = mapNames.find(currentKernel.getName());
  if (!argument || found == mapNames.end() || argument.getArgNumber() >= found->second.size())
    return "";
  return found->second[argument.getArgNumber()];
}

/// What a buffer of a ring holds: what is copied to it.
static Value findMap(tile::RingOp ring, unsigned buffer) {
  for (Operation *user : ring->getUsers()) {
    auto load = dyn_cast<tile::TMALoadOp>(user);
    if (!load)
      continue;
    Value target = load.getBuffer();
    while (auto part = target.getDefiningOp<tile::PartOp>())
      target = part.getSource();
    if (auto result = dyn_cast<OpResult>(target); result && result.getResultNumber() == buffer)
      return load.getMap();
  }
  return {};
}

/// What a loop carries for a ring, the surest last: a slot to release, the slot and the phase that its users have.
enum class RingPart { None, Released, Slot, Phase };

static RingPart getRingPart(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto release = dyn_cast<tile::ReleaseOp>(user))
    return &release.getSlotMutable() == &use ? RingPart::Released : RingPart::None;
  auto ofUser = [&](auto op) {
    return &op.getSlotMutable() == &use    ? RingPart::Slot
           : &op.getPhaseMutable() == &use ? RingPart::Phase
                                           : RingPart::None;
  };
  return llvm::TypeSwitch<Operation *, RingPart>(user)
      .Case<tile::AcquireOp, tile::WaitOp, tile::AdvanceOp>(ofUser)
      .Default(RingPart::None);
}

static RingPart getRingPart(Value value) {
  RingPart found = RingPart::None;
  for (OpOperand &use : value.getUses()) {
    auto loop = dyn_cast<scf::ForOp>(use.getOwner());
    BlockArgument inner = loop ? loop.getTiedLoopRegionIterArg(&use) : BlockArgument();
    found = std::max(found, inner ? getRingPart(inner) : getRingPart(use));
  }
  return found;
}

std::string KernelWriter::carriedName(Value value) {
  if (isa<tile::AccumulatorType>(value.getType()))
    return "accumulator";
  if (isa<tile::FragmentType>(value.getType()))
    return "fragment";
  switch (getRingPart(value)) {
  case RingPart::None:
    break;
  case RingPart::Released:
    return "slot_before";
  case RingPart::Slot:
    return "slot";
  case RingPart::Phase:
    return "phase";
  }
  return "carried";
}

std::string KernelWriter::clusterIndex(tile::ClusterAxis axis) {
  std::string helper = axis == tile::ClusterAxis::X ? "block_id_in_cluster_x" : "block_id_in_cluster_y";
  needs(helper);
  return helper + "()";
}

// ------------------------------------------------------------------ rings

std::string KernelWriter::barrier(Value ring, StringRef kind, Value slot) {
  return "&" + use(ring, Binding::Primary) + "_" + kind.str() + "[" + use(slot) + "]";
}

void KernelWriter::write(tile::RingOp ring) {
  if (!ring.getOffset() || !ring.getBarriers())
    return fail(ring, "expected a ring with its place in shared memory (plan-tile-memory)");
  needs("shared_memory");
  tile::RingType type = ring.getRing().getType();
  std::string base = "ring";
  for (unsigned i = 0; i < type.getBuffers().size(); ++i)
    if (Value map = findMap(ring, i))
      base += "_" + nameOfTensor(map);
  base = name(ring.getRing(), base);
  std::string full = unique(base + "_full"), empty = unique(base + "_empty");
  line() << "// " << type.getDepth() << " slots of " << type.getSlotBytes()
         << " bytes, and of each the barriers that say full and empty.\n";
  line() << "unsigned char *const " << base << " = " << inShared(*ring.getOffset()) << ";\n";
  line() << "unsigned long long *const " << full << " = reinterpret_cast<unsigned long long *>(shared_memory + "
         << *ring.getBarriers() << "), *const " << empty << " = " << full << " + " << type.getDepth() << ";\n";
}

void KernelWriter::write(tile::InitOp init) {
  tile::RingOp ring = ringOf(init.getRing());
  std::string base = use(init.getRing(), Binding::Primary);
  line() << "#pragma unroll\n";
  open("for (int slot = 0; slot < " + Twine(ring.getRing().getType().getDepth()) + "; ++slot)");
  call("mbarrier_init", "&" + base + "_full[slot], 1");
  // Each peer's consumers release a slot here too.
  call("mbarrier_init", "&" + base + "_empty[slot], " + Twine(ring.getConsumers() * countPeers(currentKernel, ring)));
  close();
}

void KernelWriter::write(tile::AdvanceOp advance) {
  int64_t count = advance.getRing().getType().getDepth(), left = advance.getBy() % count;
  Expression slot = expression(advance.getSlot()), phase = expression(advance.getPhase());
  Expression other = infix(phase, "^", {"1"});
  // Whole turns change the phase alone; of what is left the slot goes past the end once at most.
  bool isOdd = advance.getBy() / count % 2;
  if (!left) {
    bind(advance.getNextSlot(), slot.text, slot.binding);
    std::string variable = name(advance.getNextPhase(), "next_phase");
    line() << "const int " << variable << " = " << (isOdd ? other : phase).text << ";\n";
    return;
  }
  std::string next = name(advance.getNextSlot(), "next_slot"), turned = name(advance.getNextPhase(), "next_phase");
  Expression sum = infix(slot, "+", {std::to_string(left)});
  Expression past = infix(sum, left == 1 ? "==" : ">=", {std::to_string(count)});
  Expression first = left == 1 ? Expression{"0"} : infix(sum, "-", {std::to_string(count)});
  line() << "const int " << next << " = " << conditional(past, first, sum).text << ";\n";
  line() << "const int " << turned << " = " << conditional(past, isOdd ? phase : other, isOdd ? other : phase).text
         << ";\n";
}

void KernelWriter::writeBuffers(tile::RingOp ring, Value slot, ValueRange buffers) {
  tile::RingType type = ring.getRing().getType();
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    if (buffer.use_empty())
      continue;
    Value map = findMap(ring, i);
    Expression place =
        infix(expression(ring.getRing()), "+", infix(expression(slot), "*", {std::to_string(type.getSlotBytes())}));
    if (int64_t offset = type.getBufferOffset(i))
      place = infix(place, "+", {std::to_string(offset)});
    line() << "unsigned char *const " << name(buffer, (map ? nameOfTensor(map) : "") + "_tile") << " = " << place.text
           << ";\n";
  }
}

void KernelWriter::write(tile::AcquireOp acquire) {
  // In the first turn nobody has released the slot: a barrier counts as being past the phase before its first.
  call("mbarrier_wait", barrier(acquire.getRing(), "empty", acquire.getSlot()) + ", " +
                            infix(expression(acquire.getPhase()), "^", {"1"}).text);
  writeBuffers(ringOf(acquire.getRing()), acquire.getSlot(), acquire.getBuffers());
}

void KernelWriter::write(tile::WaitOp wait) {
  call("mbarrier_wait", barrier(wait.getRing(), "full", wait.getSlot()) + ", " + use(wait.getPhase()));
  writeBuffers(ringOf(wait.getRing()), wait.getSlot(), wait.getBuffers());
}

void KernelWriter::write(tile::CommitOp commit) {
  call("mbarrier_arrive_and_expect_tx",
       barrier(commit.getRing(), "full", commit.getSlot()) + ", " +
           std::to_string(ringOf(commit.getRing()).getRing().getType().getDataBytes()));
}

/// The rank in the cluster of the block that thread `i` of a warpgroup tells: those in this one's row, then those in
/// its column.
std::string KernelWriter::peerOf(tile::RingOp ring) {
  std::string alongX = std::to_string(getClusterExtent(currentKernel, tile::ClusterAxis::X)),
              i = "int(threadIdx.x % 128)";
  bool inRow = isMulticastAlong(ring, tile::ClusterAxis::X), inColumn = isMulticastAlong(ring, tile::ClusterAxis::Y);
  if (inRow && getClusterExtent(currentKernel, tile::ClusterAxis::Y) == 1)
    return i;
  std::string x = clusterIndex(tile::ClusterAxis::X), y = clusterIndex(tile::ClusterAxis::Y);
  std::string row = i + " + " + y + " * " + alongX;
  if (!inColumn)
    return row;
  if (!inRow)
    return x + " + " + i + " * " + alongX;
  // This block is one of its row's already.
  std::string other = i + " - " + alongX;
  return i + " < " + alongX + " ? " + row + " : " + x + " + (" + other + " + (" + other + " >= " + y + ")) * " + alongX;
}

void KernelWriter::write(tile::ReleaseOp release) {
  tile::RingOp ring = ringOf(release.getRing());
  int64_t peers = countPeers(currentKernel, ring);
  std::string empty = barrier(release.getRing(), "empty", release.getSlot());
  StringRef helper = peers > 1 ? "mbarrier_arrive_cluster" : "mbarrier_arrive";
  needs(helper);
  line() << "if (threadIdx.x % 128 " << (peers > 1 ? "< " + std::to_string(peers) : "== 0") << ") " << helper << "("
         << empty << (peers > 1 ? ", " + peerOf(ring) : "") << ");\n";
}

// ------------------------------------------------------------------ buffers and copies

void KernelWriter::write(tile::AllocOp alloc) {
  if (!alloc.getOffset())
    return fail(alloc, "expected a tile with its place in shared memory (plan-tile-memory)");
  needs("shared_memory");
  std::string wanted;
  std::function<void(Value)> findStore = [&](Value buffer) {
    for (Operation *user : buffer.getUsers()) {
      if (auto part = dyn_cast<tile::PartOp>(user))
        findStore(part.getPart());
      if (auto store = dyn_cast<tile::TMAStoreOp>(user))
        wanted = nameOfTensor(store.getMap());
    }
  };
  findStore(alloc.getBuffer());
  line() << "unsigned char *const " << name(alloc.getBuffer(), wanted + "_tile") << " = "
         << inShared(*alloc.getOffset()) << ";\n";
}

Expression KernelWriter::partOf(tile::PartOp op) {
  tile::BufferType source = op.getSource().getType(), part = op.getPart().getType();
  Expression place = expression(op.getSource());
  auto add = [&](Value index, int64_t bytes) {
    if (!matchPattern(index, m_Zero()))
      place = infix(place, "+", infix(expression(index), "*", {std::to_string(bytes)}));
  };
  if (part.getRows() < source.getRows())
    add(op.getRow(), op.getEvery().value_or(part.getRows()) * source.getPanelRowBytes());
  if (part.getColumns() < source.getColumns())
    add(op.getColumn(), part.getColumns() / part.getPanelColumns() * source.getPanelBytes());
  return place;
}

void KernelWriter::write(tile::PartOp part) {
  std::string place = partOf(part).text;
  line() << "unsigned char *const " << name(part.getPart(), use(part.getSource(), Binding::Primary) + "_part") << " = "
         << place << ";\n";
}

void KernelWriter::forEachBox(tile::TensorMapType map, Value buffer, ValueRange indices,
                              llvm::function_ref<void(std::string, std::string)> copy) {
  auto type = cast<tile::BufferType>(buffer.getType());
  for (int64_t column = 0; column < type.getColumns(); column += type.getPanelColumns())
    for (int64_t row = 0; row < type.getRows(); row += map.getBoxRows()) {
      // Innermost first.
      std::string coordinates;
      for (auto [i, index] : llvm::enumerate(llvm::reverse(indices))) {
        int64_t more = i == 0 ? column : i == 1 ? row : 0;
        Expression at = expression(index);
        if (more)
          at =
              matchPattern(index, m_Zero()) ? Expression{std::to_string(more)} : infix(at, "+", {std::to_string(more)});
        coordinates += ", " + at.text;
      }
      Expression place = expression(buffer);
      if (int64_t bytes = column / type.getPanelColumns() * type.getPanelBytes() + row * type.getPanelRowBytes())
        place = infix(place, "+", {std::to_string(bytes)});
      copy(place.text, coordinates);
    }
}

void KernelWriter::write(tile::TMALoadOp load) {
  writeOrigin(load);
  needs("shared_address");
  std::string full = barrier(load.getRing(), "full", load.getSlot()), blocks;
  if (std::optional<tile::ClusterAxis> axis = load.getMulticast()) {
    int64_t alongX = getClusterExtent(currentKernel, tile::ClusterAxis::X),
            alongY = getClusterExtent(currentKernel, tile::ClusterAxis::Y);
    bool isRow = axis == tile::ClusterAxis::X;
    blocks = ", 0x" + llvm::utohexstr(getMulticastBits(currentKernel, *axis), /*LowerCase=*/true);
    if ((isRow ? alongY : alongX) > 1)
      blocks += isRow ? " << " + clusterIndex(tile::ClusterAxis::Y) + " * " + std::to_string(alongX)
                      : " << " + clusterIndex(tile::ClusterAxis::X);
  }
  forEachBox(load.getMap().getType(), load.getBuffer(), load.getCoordinates(),
             [&](const std::string &place, const std::string &coordinates) {
               call(tmaLoadFunction(load.getCoordinates().size(), !blocks.empty()),
                    place + ", &" + use(load.getMap()) + ", " + full + coordinates + blocks);
             });
}

void KernelWriter::write(tile::TMAStoreOp store) {
  writeOrigin(store);
  needs("shared_address");
  forEachBox(store.getMap().getType(), store.getBuffer(), store.getCoordinates(),
             [&](const std::string &place, const std::string &coordinates) {
               call(tmaStoreFunction(store.getCoordinates().size(), store.getReduceAdd()),
                    place + ", &" + use(store.getMap()) + coordinates);
             });
}

// ------------------------------------------------------------------ the rest of them

void KernelWriter::write(tile::ArriveOp arrive) {
  StringRef helper = arrive.getIfLast() ? "arrive_if_last" : "arrive";
  for (StringRef piece : {"named_barrier_sync", "named_barrier_any", "one_more_arrival", "store_relaxed"})
    needs(piece);
  if (arrive.getIfLast())
    needs("load_acquire");
  else
    needs("load_relaxed"), needs("fence_acq_rel"), needs("compare_and_swap");
  needs(helper);
  std::string counter = address(arrive, arrive.getCounters(), arrive.getIndex());
  line() << "const bool " << name(arrive.getLast(), "is_last") << " = " << helper << "(" << counter << ", "
         << use(arrive.getParts()) << ");\n";
}

/// A set's turn has a barrier behind those of warpgroups, at which that set waits and the one before it arrives.
template <typename Op> static std::string turnBarrier(Op op, const Expression &set) {
  constexpr int64_t kFirst = 1 + kMaxBlockThreads / tile::kWarpgroupSize;
  return infix({std::to_string(kFirst)}, "+", set).text + ", " +
         std::to_string(2 * op.getWarpgroups() * tile::kWarpgroupSize);
}

bool KernelWriter::writeTileOp(Operation *op) {
  if (!isa_and_nonnull<tile::TileDialect>(op->getDialect()))
    return writeInstruction(op);
  if (writeFragmentOp(op))
    return true;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<tile::RingOp, tile::AllocOp, tile::PartOp, tile::InitOp, tile::AdvanceOp, tile::AcquireOp, tile::WaitOp,
            tile::CommitOp, tile::ReleaseOp, tile::TMALoadOp, tile::TMAStoreOp, tile::ArriveOp>([&](auto one) {
        write(one);
        return true;
      })
      .Case([&](tile::CommitStoresOp) { return call("tma_store_arrive"), true; })
      .Case([&](tile::WaitStoresOp wait) {
        return call(wait.getRead() ? "tma_store_wait" : "tma_store_wait_done", "", Twine(wait.getPending())), true;
      })
      .Case([&](tile::FenceAsyncOp) { return call("tma_store_fence"), true; })
      .Case([&](tile::SyncWarpgroupOp sync) {
        if (std::optional<uint64_t> warpgroups = sync.getWarpgroups())
          return call("named_barrier_sync", (Twine(tile::kRoleBarrier) + ", " + Twine(*warpgroups * 128)).str()), true;
        return call("named_barrier_sync", "1 + int(threadIdx.x / 128), 128"), true;
      })
      .Case([&](tile::TakeTurnOp turn) {
        return call("named_barrier_sync", turnBarrier(turn, expression(turn.getSet()))), true;
      })
      .Case([&](tile::PassTurnOp turn) {
        Expression next = infix(infix(expression(turn.getSet()), "+", {"1"}), "%", {std::to_string(turn.getSets())});
        return call("named_barrier_arrive", turnBarrier(turn, next)), true;
      })
      .Default(false);
}

} // namespace tilewright::source
