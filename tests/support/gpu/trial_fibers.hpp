// A block of a simulation kernel on fibers of the host, and inputs for tests of its counts: distributions with one
// dominant token, and a scheme that fails in some trials.
#pragma once

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include <draftproof/gpu/simulation/trial_block.cuh>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/tests/support/gpu/host_team.hpp>

namespace draftproof::parity {

/// A fiber in the role of a thread of a block of a grid.
class HostTrialThread {
 public:
  HostTrialThread(const HostThread& thread, unsigned int block, unsigned int blocks)
      : thread_{thread}, block_{block}, blocks_{blocks} {}

  int index() const { return thread_.index(); }
  int size() const { return thread_.warps() * thread_.lanes(); }
  unsigned int block() const { return block_; }
  unsigned int blocks() const { return blocks_; }
  int lanes() const { return thread_.lanes(); }
  gpu::EqualLanes equal_lanes(int value) const {
    gpu::EqualLanes equal{true, 0};
    for (int lane = 0; lane < lanes(); ++lane) {
      const bool same = thread_.lane_get(value, lane) == value;
      equal.count += same;
      equal.speaks &= !same || lane >= thread_.lane();
    }
    return equal;
  }
  int lane_get(int value, int from) const { return thread_.lane_get(value, from); }
  unsigned int lane_sum(unsigned int n) const { return thread_.lane_sum(n); }
  template <class Count>
  void add(Count& counter, unsigned int n) const {
    counter += n;
  }
  void barrier() const { thread_.barrier(); }

 private:
  HostThread thread_;
  unsigned int block_, blocks_;
};
static_assert(gpu::TrialThreads<HostTrialThread>);

/// A verifier that returns no token in a third of its trials, as on a branch of probability zero, and may report as
/// accepted a draft that it does not emit.
struct SometimesImpossible {
  static constexpr Info info{.name = "sometimes_impossible", .summary = "", .source = ""};
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    if (random.flip(1.0, 3.0)) return {};
    if (random.flip(1.0, 2.0)) return {(at.draft(0) + 1) % at.vocabulary(), at.drafts() - 1};
    return random.emit(at.residual(at.zero()));
  }
};

/// Returns a table whose p falls so fast that half of all trials emit the same token; q is flatter, and every fifth
/// token is not drafted.
inline RatioTable peaked(int vocabulary) {
  std::vector<double> p, q;
  for (int x = 0; x < vocabulary; ++x) {
    const int rank = (x * 7 + 3) % vocabulary;
    p.push_back(rank < 40 ? std::ldexp(1.0, -rank) : 0.001 / vocabulary);
    q.push_back(x % 5 == 4 ? 0 : 1.0 / (1 + rank % 11));
  }
  for (auto* row : {&p, &q}) {
    const double total = std::accumulate(row->begin(), row->end(), 0.0);
    for (double& entry : *row) entry /= total;
  }
  return {p, q};
}

struct Grid {
  unsigned int blocks;
  int warps, lanes;
};

/// Calls body(thread, counters of its block) on all threads of the grid, one block after the other.
template <class Body>
void run_grid(const Grid& grid, const Body& body) {
  for (unsigned int block = 0; block < grid.blocks; ++block) {
    HostTeam team({.partitions = 1, .warps = grid.warps, .lanes = grid.lanes});
    gpu::BlockCounts counts;
    std::memset(&counts, 0xa5, sizeof counts);  // shared memory of a block is uninitialized
    team.run([&](const HostThread& thread) {
      // Later warps start later, as may happen on a device, so the first warps are far ahead until a barrier stops
      // them.
      for (int wait = 0; wait < 40 * thread.warp(); ++wait) thread.lane_sum(0u);
      body(HostTrialThread(thread, block, grid.blocks), counts);
    });
  }
}

}  // namespace draftproof::parity
