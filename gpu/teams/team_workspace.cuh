// A workspace (sim/device/cooperative_memory.hpp) whose threads are the threads of a partition: a plan's lists lie in
// the partition's memory, and its threads make the plan together. Each partition of a team makes the same plan.
//
//   memory    partition.memory(): persistent lists from its beginning, after a retained one; scratch lists from its
//             end
//   each      threads take turns, then a barrier
//   once      the first thread computes, then all read its result
//   scan      one run of entries per thread; prefix over lanes by shuffles, over warps by a note in memory
//   chain     one warp, whose lanes look ahead
//   first     each warp by itself, without a barrier
//
// Cost: two barriers per call, but no barrier for `first`.
// Correctness: within one call threads write different entries, and a barrier ends each call before the next begins.
// A list is an address and a length, so a copy is the same list.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/device/host_device.hpp>

namespace draftproof::gpu {

/// The list type of all workspaces of teams: a view of memory.
class ListsOfTeams {
 public:
  template <class T>
  class List {
   public:
    List() = default;
    DRAFTPROOF_DEVICE List(T* items, int size) : place_{place_of(items)}, size_{size} {}
    DRAFTPROOF_DEVICE std::size_t size() const { return static_cast<std::size_t>(size_); }
    DRAFTPROOF_DEVICE T& operator[](std::size_t i) const { return data()[i]; }
    DRAFTPROOF_DEVICE T* data() const {
#if defined(__CUDA_ARCH__)
      return static_cast<T*>(__cvta_shared_to_generic(place_));
#else
      return reinterpret_cast<T*>(place_);
#endif
    }
    /// Shortens the list to `size` entries, at most the current size.
    DRAFTPROOF_DEVICE void resize(std::size_t size) { size_ = static_cast<int>(size); }

   private:
    /// Returns, on a device, the address in shared memory, because with a generic address the compiled code would test
    /// the memory space at every access, and with __builtin_assume(__isShared(p)) nvcc 13.0 removes accesses that are
    /// reached.
    DRAFTPROOF_DEVICE static std::size_t place_of(T* items) {
#if defined(__CUDA_ARCH__)
      return __cvta_generic_to_shared(items);
#else
      return reinterpret_cast<std::size_t>(items);
#endif
    }

    std::size_t place_ = 0;
    int size_ = 0;
  };
  /// The type of a bin's index; a plan has at most 1024 bins.
  using Index = std::uint16_t;
};

/// One object per thread; all threads of a partition make the same calls.
template <Partition S>
class TeamWorkspace : public ListsOfTeams {
 public:
  DRAFTPROOF_DEVICE explicit TeamWorkspace(const S& partition) : partition_{partition} {}

  template <class E>
  DRAFTPROOF_DEVICE List<E> persistent(int size) const {
    auto* const items = reinterpret_cast<E*>(partition_.memory().data + persistent_);
    persistent_ += bytes_of<E>(size);
    check();
    return {items, size};
  }
  template <class E>
  DRAFTPROOF_DEVICE List<E> scratch(int size) const {
    scratch_ += bytes_of<E>(size);
    check();
    return {reinterpret_cast<E*>(partition_.memory().data + (partition_.memory().bytes - scratch_)), size};
  }
  /// Returns a list that clear() does not release. It must be made before the first plan.
  template <class E>
  DRAFTPROOF_DEVICE List<E> retained(int size) const {
    clear();
    const List<E> list = persistent<E>(size);
    retained_ = persistent_;
    return list;
  }
  DRAFTPROOF_DEVICE void release_scratch() const { end_brief_after(0); }
  /// Returns the number of bytes of scratch lists. end_brief_after() with this number releases the scratch lists that
  /// were made after this call.
  DRAFTPROOF_DEVICE unsigned brief_so_far() const { return scratch_; }
  DRAFTPROOF_DEVICE void end_brief_after(unsigned mark) const {
    partition_.partition_barrier();
    scratch_ = mark;
  }
  /// Releases all lists except the retained list, for the next plan.
  DRAFTPROOF_DEVICE void clear() const {
    release_scratch();
    persistent_ = retained_;
  }

  DRAFTPROOF_DEVICE void meet() const { partition_.partition_barrier(); }
  /// The number of this thread, and the number of threads, a multiple of four.
  DRAFTPROOF_DEVICE int thread() const { return partition_.warp() * partition_.lanes() + partition_.lane(); }
  DRAFTPROOF_DEVICE int threads() const { return partition_.warps() * partition_.lanes(); }
  /// Returns the value of the first lane of this lane's group of four (lanes 0-3, 4-7, ..). Collective over a warp.
  template <class E>
  DRAFTPROOF_DEVICE E of_first_in_four(const E& value) const {
    return from_lane(value, partition_.lane() / 4 * 4);
  }

  template <class F>
  DRAFTPROOF_DEVICE void each(int count, const F& f) const {
    for (int i = thread(); i < count; i += threads()) f(i);
    partition_.partition_barrier();
  }

  template <class F>
  DRAFTPROOF_DEVICE auto once(const F& f) const {
    using Answer = decltype(f());
    if constexpr (std::is_void_v<Answer>) {
      if (thread() == 0) f();
      partition_.partition_barrier();
    } else {
      const unsigned mark = scratch_;
      const List<Answer> note = scratch<Answer>(1);
      if (thread() == 0) note[0] = f();
      partition_.partition_barrier();
      const Answer answer = note[0];
      end_brief_after(mark);
      return answer;
    }
  }

  template <class E, class Value, class Join, class Visit>
  DRAFTPROOF_DEVICE E scan(int count, const E& none, const Value& value, const Join& join, const Visit& visit) const {
    const int run = (count + threads() - 1) / threads(), begin = thread() * run;
    const int end = begin + run < count ? begin + run : count;
    E own = none;
    for (int i = begin; i < end; ++i) own = join(own, value(i));
    for (int step = 1; step < partition_.lanes(); step *= 2) {
      const E before = from_lane(own, partition_.lane() < step ? partition_.lane() : partition_.lane() - step);
      if (partition_.lane() >= step) own = join(before, own);
    }
    const unsigned mark = scratch_;
    const List<E> warps = scratch<E>(partition_.warps());
    if (partition_.lane() == partition_.lanes() - 1) warps[static_cast<std::size_t>(partition_.warp())] = own;
    E before = from_lane(own, partition_.lane() == 0 ? 0 : partition_.lane() - 1);
    if (partition_.lane() == 0) before = none;
    partition_.partition_barrier();
    E all = none;
    for (int warp = 0; warp < partition_.warps(); ++warp) {
      if (warp == partition_.warp()) before = join(all, before);
      all = join(all, warps[static_cast<std::size_t>(warp)]);
    }
    for (int i = begin; i < end; ++i) {
      const E here = value(i);
      visit(i, before, here);
      before = join(before, here);
    }
    end_brief_after(mark);
    return all;
  }

  template <class Follows, class Visit>
  DRAFTPROOF_DEVICE int chain(int count, const Follows& follows, const Visit& visit) const {
    const unsigned mark = scratch_;
    const List<int> note = scratch<int>(1);
    if (partition_.warp() == 0) {
      int found = 0;
      for (int i = 1, last = 0; i < count;) {
        const int own = i + partition_.lane();
        const int hit = partition_.first_lane(own < count && follows(last, own));
        i += hit;
        if (hit == partition_.lanes()) continue;
        if (partition_.lane() == 0) visit(found, i);
        ++found;
        last = i++;
      }
      if (partition_.lane() == 0) note[0] = found;
    }
    partition_.partition_barrier();
    const int found = note[0];
    end_brief_after(mark);
    return found;
  }

  template <class Holds>
  DRAFTPROOF_DEVICE int first(int begin, int end, const Holds& holds) const {
    for (; begin < end; begin += partition_.lanes()) {
      const int own = begin + partition_.lane();
      const int hit = partition_.first_lane(own < end && holds(own));
      if (hit < partition_.lanes()) return begin + hit;
    }
    return end;
  }

 private:
  template <class E>
  DRAFTPROOF_DEVICE static constexpr unsigned bytes_of(int size) {
    static_assert(alignof(E) <= 16);
    return (static_cast<unsigned>(size) * static_cast<unsigned>(sizeof(E)) + 15) / 16 * 16;
  }
  DRAFTPROOF_DEVICE void check() const {
#if defined(__CUDA_ARCH__)
    assert(persistent_ + scratch_ <= partition_.memory().bytes);
#else
    if (persistent_ + scratch_ > partition_.memory().bytes)
      throw std::logic_error("workspace: a plan needs more memory than its team of threads has");
#endif
  }

  template <class E>
  DRAFTPROOF_DEVICE E from_lane(const E& value, int lane) const {
    if constexpr (std::is_arithmetic_v<E>) {
      return partition_.lane_get(value, lane);
    } else {
      struct Words {
        std::uint64_t words[sizeof(E) / sizeof(std::uint64_t)];
      };
      static_assert(sizeof(E) == sizeof(Words));
      auto bits = bit_cast<Words>(value);
      for (auto& word : bits.words) word = partition_.lane_get(word, lane);
      return bit_cast<E>(bits);
    }
  }

  S partition_;
  mutable unsigned persistent_ = 0, scratch_ = 0;  ///< bytes in use
  mutable unsigned retained_ = 0;                  ///< bytes of the retained list
};

}  // namespace draftproof::gpu
