// A team of fibers on the host in place of a device's threads, with which the algorithms of gpu/ run in tests without a
// device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/tests/support/gpu/fibers.hpp>

namespace draftproof::parity {

struct TeamShape {
  int partitions = 1, warps = 1, lanes = 1;
  int threads() const { return partitions * warps * lanes; }
};

/// The shared state of a team's threads. Each partition has separate scratch memory, like a block of a cluster.
class HostTeam {
 public:
  explicit HostTeam(const TeamShape& shape)
      : shape_{shape},
        all_{shape.threads()},
        slots_(static_cast<std::size_t>(shape.threads())),
        scratch_(static_cast<std::size_t>(shape.partitions)),
        slices_(static_cast<std::size_t>(shape.partitions)),
        memories_(static_cast<std::size_t>(shape.partitions)) {
    for (int warp = 0; warp < shape.partitions * shape.warps; ++warp) warps_.emplace_back(shape.lanes);
    for (int partition = 0; partition < shape.partitions; ++partition)
      blocks_.emplace_back(shape.warps * shape.lanes);
  }

  const TeamShape& shape() const { return shape_; }
  /// Returns the row memory of a partition, at least `size` floats.
  float* slice(int partition, std::size_t size) {
    auto& own = slices_[static_cast<std::size_t>(partition)];
    if (own.size() < size) own.resize(size);
    return own.data();
  }

  /// Allocates each partition's memory for plans, as a kernel does for the verifier.
  void give_memory(std::size_t bytes) {
    for (auto& memory : memories_) memory.assign(bytes / sizeof(Chunk), Chunk{});
  }

  /// Calls body(thread) on all threads, concurrently.
  template <class Body>
  void run(const Body& body);

 private:
  friend class HostThread;
  struct alignas(16) Chunk {
    unsigned char bytes[16];
  };
  TeamShape shape_;
  Fibers fibers_;
  Fibers::Barrier all_;
  std::vector<Fibers::Barrier> warps_, blocks_;
  std::vector<std::uint64_t> slots_;  ///< one value per thread, for the exchange within a warp
  std::vector<gpu::TeamScratch> scratch_;
  std::vector<std::vector<float>> slices_;
  std::vector<std::vector<Chunk>> memories_;
};

/// One thread of the team; the interface that algorithms of gpu/ call.
class HostThread {
 public:
  HostThread(HostTeam& team, int index) : team_{&team}, index_{index} {}

  int lanes() const { return team_->shape_.lanes; }
  int lane() const { return index_ % lanes(); }
  int warps() const { return team_->shape_.warps; }
  int warp() const { return index_ / lanes() % warps(); }
  int partitions() const { return team_->shape_.partitions; }
  int partition() const { return index_ / lanes() / warps(); }
  int index() const { return index_; }

  void barrier() const { team_->all_.wait(team_->fibers_); }
  void put(int i, Fixed sum) const {
    if (lane() == 0)
      for (gpu::TeamScratch& scratch : team_->scratch_) scratch.partial[i] = sum;
  }
  void add_to_sum(int i, Fixed sum) const {
    for (gpu::TeamScratch& scratch : team_->scratch_) scratch.partial[i] += sum;
  }
  Fixed get(int i) const { return own().partial[i]; }
  void put_first(const Candidate& arrival) const {
    if (lane() == 0)
      for (gpu::TeamScratch& scratch : team_->scratch_)
        scratch.first[index_ / lanes()] = {arrival.time, arrival.token};
  }
  Candidate first(int warp) const { return {own().first[warp].time, own().first[warp].token}; }
  void partition_barrier() const {
    team_->blocks_[static_cast<std::size_t>(partition())].wait(team_->fibers_);
    team_->fibers_.linger();
  }
  const HostThread& own_partition() const { return *this; }
  void add_shared(Fixed& sum, Fixed more) const { sum += more; }
  gpu::TeamMemory memory() const { return memory_of(partition()); }
  /// Returns the address in another partition that corresponds to `place` in this partition's slice or memory.
  template <class T>
  T* of_partition(T* place, int partition) const {
    const auto bytes_of = [this](int of, bool memory) {
      if (memory) return memory_of(of).data;
      return reinterpret_cast<unsigned char*>(team_->slices_[static_cast<std::size_t>(of)].data());
    };
    auto* const byte = reinterpret_cast<unsigned char*>(place);
    const gpu::TeamMemory own = memory();
    const bool in_memory = own.data <= byte && byte < own.data + own.bytes;
    return reinterpret_cast<T*>(bytes_of(partition, in_memory) + (byte - bytes_of(this->partition(), in_memory)));
  }

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
  gpu::TeamMemory memory_of(int partition) const {
    auto& memory = team_->memories_[static_cast<std::size_t>(partition)];
    return {memory.empty() ? nullptr : memory.front().bytes, memory.size() * sizeof(HostTeam::Chunk)};
  }
  const gpu::TeamScratch& own() const { return team_->scratch_[static_cast<std::size_t>(partition())]; }

  template <class T>
  std::vector<T> exchange(T value) const {
    Fibers::Barrier& barrier = team_->warps_[static_cast<std::size_t>(index_ / lanes())];
    std::uint64_t* slots = team_->slots_.data() + index_ / lanes() * lanes();
    std::memcpy(slots + lane(), &value, sizeof value);
    barrier.wait(team_->fibers_);
    std::vector<T> values(static_cast<std::size_t>(lanes()));
    for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&values[i], slots + i, sizeof value);
    barrier.wait(team_->fibers_);
    return values;
  }

  HostTeam* team_;
  int index_;
};

static_assert(gpu::Team<HostThread>);

template <class Body>
void HostTeam::run(const Body& body) {
  fibers_.run(shape_.threads(), [this, &body](int i) { body(HostThread(*this, i)); });
}

}  // namespace draftproof::parity
