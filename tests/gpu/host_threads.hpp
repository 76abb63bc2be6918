// Threads of the host in the place of a CUDA block: the model of cooperating threads with which the
// algorithms of gpu/ run, and are tested, on a machine without a device.
#pragma once

#include <barrier>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace draftproof::parity {

/// `warps` warps of `lanes` lanes. What the threads of a block share.
class HostBlock {
 public:
  HostBlock(int warps, int lanes) : warps_{warps}, lanes_{lanes}, all_{warps * lanes} {
    for (int warp = 0; warp < warps; ++warp) warp_barriers_.push_back(std::make_unique<std::barrier<>>(lanes));
    slots_.resize(static_cast<std::size_t>(warps * lanes));
  }

  /// Calls body(threads) on all threads at once.
  template <class Body>
  void run(Body body);

 private:
  friend class HostThreads;
  int warps_, lanes_;
  std::barrier<> all_;
  std::vector<std::unique_ptr<std::barrier<>>> warp_barriers_;
  std::vector<std::uint64_t> slots_;  ///< one value per thread, for the exchange within a warp
};

/// One thread's view of its block; the calls of gpu::ThreadBlock.
class HostThreads {
 public:
  HostThreads(HostBlock& block, int index) : block_{&block}, index_{index} {}

  int lanes() const { return block_->lanes_; }
  int lane() const { return index_ % lanes(); }
  int warp() const { return index_ / lanes(); }
  int warps() const { return block_->warps_; }
  void barrier() const { block_->all_.arrive_and_wait(); }

  template <class T>
  T lane_sum(T value) const {
    T sum{};
    for (const T other : exchange(value)) sum += other;
    return sum;
  }
  template <class T>
  T lane_running_sum(T value) const {
    const std::vector<T> values = exchange(value);
    T sum{};
    for (std::size_t i = 0; i <= static_cast<std::size_t>(lane()); ++i) sum += values[i];
    return sum;
  }
  template <class T>
  T lane_max(T value) const {
    for (const T other : exchange(value))
      if (other > value) value = other;
    return value;
  }
  template <class T>
  T lane_get(T value, int from) const {
    return exchange(value)[static_cast<std::size_t>(from)];
  }
  int first_lane(bool here) const {
    const std::vector<int> flags = exchange(static_cast<int>(here));
    for (int i = 0; i < lanes(); ++i)
      if (flags[static_cast<std::size_t>(i)] != 0) return i;
    return lanes();
  }

 private:
  template <class T>
  std::vector<T> exchange(T value) const {
    auto& barrier = *block_->warp_barriers_[static_cast<std::size_t>(warp())];
    std::uint64_t* slots = block_->slots_.data() + warp() * lanes();
    std::memcpy(slots + lane(), &value, sizeof value);
    barrier.arrive_and_wait();
    std::vector<T> values(static_cast<std::size_t>(lanes()));
    for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&values[i], slots + i, sizeof value);
    barrier.arrive_and_wait();
    return values;
  }

  HostBlock* block_;
  int index_;
};

template <class Body>
void HostBlock::run(Body body) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < warps_ * lanes_; ++i) threads.emplace_back([this, i, &body] { body(HostThreads(*this, i)); });
}

}  // namespace draftproof::parity
