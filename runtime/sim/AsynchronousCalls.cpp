//===- AsynchronousCalls.cpp - what compiled kernels of tiles call --------===//
//
// The names and the parameters are ABI.h's.
//
//===----------------------------------------------------------------------===//
#include "runtime/sim/Machine.h"
#include "runtime/sim/Numbers.h"

using namespace tilewright::sim;

static Thread &of(ThreadState *state) { return static_cast<Thread &>(*state); }

extern "C" {

void tw_sim_load_bytes(ThreadState *state, const char *site, uint64_t address, char *result, uint64_t bytes) {
  of(state).machine->loadBytes(of(state), Site(site), address, result, bytes);
}

void tw_sim_store_bytes(ThreadState *state, const char *site, uint64_t address, const char *value, uint64_t bytes) {
  of(state).machine->storeBytes(of(state), Site(site), address, value, bytes);
}

void tw_sim_store_matrices(ThreadState *state, const char *site, int32_t matrices, int32_t isTransposed,
                           uint64_t address, const char *registers) {
  Thread &thread = of(state);
  char row[16] = {};
  MatrixPart part;
  part.isStore = true;
  part.matrices = matrices;
  part.isTransposed = isTransposed;
  part.row = registers;
  part.result = row;
  thread.machine->exchange(thread, Site(site), part);
  if (thread.number % warpSize < 8 * matrices)
    thread.machine->storeBytes(thread, Site(site), address, row, sizeof(row));
}

int32_t tw_sim_elect(ThreadState *state, const char *site) {
  Thread &thread = of(state);
  uint64_t lane = thread.number % warpSize;
  return thread.machine->shuffle(thread, Site(site), ShuffleMode::Idx, lane, 0, warpSize) == lane;
}

void tw_sim_named_barrier(ThreadState *state, const char *site, int32_t number, int32_t threads) {
  of(state).machine->waitAtNamedBarrier(of(state), Site(site), number, threads);
}

void tw_sim_named_arrive(ThreadState *state, const char *site, int32_t number, int32_t threads) {
  of(state).machine->arriveAtNamedBarrier(of(state), Site(site), number, threads);
}

void tw_sim_cluster_arrive(ThreadState *state, const char *) { of(state).machine->arriveAtCluster(of(state), true); }

void tw_sim_cluster_arrive_relaxed(ThreadState *state, const char *) {
  of(state).machine->arriveAtCluster(of(state), false);
}

void tw_sim_cluster_wait(ThreadState *state, const char *site) {
  of(state).machine->waitForCluster(of(state), Site(site));
}

uint64_t tw_sim_peer_address(ThreadState *state, const char *site, uint64_t address, int32_t rank) {
  return of(state).machine->peerAddress(of(state), Site(site), address, rank);
}

void tw_sim_set_registers(ThreadState *state, const char *site, int32_t registers) {
  of(state).machine->setRegisters(of(state), Site(site), registers);
}

void tw_sim_fence(ThreadState *state, int32_t fence) { of(state).machine->fence(of(state), static_cast<Fence>(fence)); }

void tw_sim_start_barrier(ThreadState *state, const char *site, uint64_t address, int32_t count) {
  of(state).machine->startBarrier(of(state), Site(site), address, count);
}

void tw_sim_arrive(ThreadState *state, const char *site, uint64_t address, int32_t arrivals, int32_t bytes) {
  of(state).machine->arrive(of(state), Site(site), address, arrivals, bytes);
}

void tw_sim_wait_phase(ThreadState *state, const char *site, uint64_t address, int32_t parity) {
  of(state).machine->waitForPhase(of(state), Site(site), address, parity);
}

void tw_sim_load_tile(ThreadState *state, const char *site, uint64_t target, const void *map,
                      const int32_t *coordinates, int32_t rank, uint64_t barrier, int32_t blocks) {
  of(state).machine->loadTile(of(state), Site(site), target, map, coordinates, rank, barrier, blocks);
}

void tw_sim_check_place(ThreadState *state, const char *site, const void *map, int32_t dimension, int32_t coordinate) {
  of(state).machine->checkPlace(of(state), Site(site), map, dimension, coordinate);
}

void tw_sim_store_tile(ThreadState *state, const char *site, const void *map, uint64_t source,
                       const int32_t *coordinates, int32_t rank, int32_t adds) {
  of(state).machine->storeTile(of(state), Site(site), map, source, coordinates, rank, adds);
}

void tw_sim_commit_stores(ThreadState *state) { of(state).machine->commitStores(of(state)); }

void tw_sim_wait_stores(ThreadState *state, int32_t underWay) { of(state).machine->waitForStores(of(state), underWay); }

uint64_t tw_sim_begin_matmul(ThreadState *state, const char *site, uint64_t accumulator, const int32_t *words,
                             const uint64_t *descriptors) {
  return of(state).machine->beginMatmul(of(state), Site(site), {words, descriptors, accumulator});
}

uint64_t tw_sim_begin_register_matmul(ThreadState *state, const char *site, uint64_t accumulator, const int32_t *words,
                                      const uint64_t *descriptors, const char *registers) {
  return of(state).machine->beginMatmul(of(state), Site(site), {words, descriptors, accumulator, registers});
}

uint64_t tw_sim_begin_accumulator(ThreadState *state, const char *site, const int32_t *words, const char *registers) {
  return of(state).machine->beginMatmul(of(state), Site(site), {words, nullptr, 0, registers});
}

void tw_sim_pack(const float *numbers, uint8_t *registers, int32_t count) {
  // Of each 16 columns two registers, one for each row: two neighbours of the first 8 columns, two of the others.
  for (int32_t i = 0; i < 4 * count; ++i)
    registers[i] = toE4M3(numbers[i / 8 * 8 + i / 4 % 2 * 2 + i / 2 % 2 * 4 + i % 2]);
}

void tw_sim_commit_matmuls(ThreadState *state) { of(state).machine->commitMatmuls(of(state)); }

void tw_sim_wait_matmuls(ThreadState *state, int32_t underWay) {
  of(state).machine->waitForMatmuls(of(state), underWay);
}

int32_t tw_sim_count_arrival(ThreadState *state, const char *site, uint64_t counter, int32_t warpgroups,
                             int32_t ifLast) {
  return of(state).machine->countArrival(of(state), Site(site), counter, warpgroups, ifLast);
}

void tw_sim_read_accumulator(ThreadState *state, const char *site, uint64_t accumulator, char *result) {
  of(state).machine->readAccumulator(of(state), Site(site), accumulator, result);
}
}
