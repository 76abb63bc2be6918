// The kernels of simulation. There is one kernel for each verifier and each draft sampling that the verifier's info
// names. The list of kernels is made at compile time.
//
// Cost: a grid of as many blocks as the device runs at once, whose threads run trials until none are left. A launch
// has fewer than 2^31 trials per block, so a block's 32-bit counters cannot overflow; further trials take further
// launches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <draftproof/gpu/device/device_call.cuh>
#include <draftproof/gpu/simulate.hpp>
#include <draftproof/gpu/simulation/trial_block.cuh>
#include <draftproof/gpu/tables/table_buffers.cuh>
#include <draftproof/gpu/teams/warp_lanes.cuh>
#include <draftproof/verifiers/ladder/plan.hpp>

namespace draftproof::gpu {

/// Threads per block. The loads of one trial depend on each other; many warps hide that latency.
inline constexpr int trial_threads = 256;

/// The team of threads that runs one block's trials on a device.
class DeviceThreads : public WarpLanes {
 public:
#if defined(__CUDA_ARCH__)
  DRAFTPROOF_DEVICE int index() const { return static_cast<int>(threadIdx.x); }
  DRAFTPROOF_DEVICE int size() const { return static_cast<int>(blockDim.x); }
  DRAFTPROOF_DEVICE unsigned int block() const { return blockIdx.x; }
  DRAFTPROOF_DEVICE unsigned int blocks() const { return gridDim.x; }
  DRAFTPROOF_DEVICE EqualLanes equal_lanes(int value) const {
    const unsigned int equal = __match_any_sync(~0u, value);
    return {__ffs(static_cast<int>(equal)) - 1 == lane(), static_cast<unsigned int>(__popc(equal))};
  }
  template <class Count>
  DRAFTPROOF_DEVICE void add(Count& counter, unsigned int n) const {
    atomicAdd(&counter, static_cast<Count>(n));
  }
  DRAFTPROOF_DEVICE void barrier() const { __syncthreads(); }
#else
  DRAFTPROOF_DEVICE int index() const { return 0; }
  DRAFTPROOF_DEVICE int size() const { return 1; }
  DRAFTPROOF_DEVICE unsigned int block() const { return 0; }
  DRAFTPROOF_DEVICE unsigned int blocks() const { return 1; }
  DRAFTPROOF_DEVICE EqualLanes equal_lanes(int) const { return {true, 1}; }
  template <class Count>
  DRAFTPROOF_DEVICE void add(Count&, unsigned int) const {}
  DRAFTPROOF_DEVICE void barrier() const {}
#endif
};
static_assert(TrialThreads<DeviceThreads>);
static_assert(Distributions<TableView> && !FreshDistributions<TableView> && std::is_trivially_copyable_v<TableView>);

template <class V, class D, class Plan>
__global__ void __launch_bounds__(trial_threads, 1)
    trial_kernel(const __grid_constant__ V verifier, const __grid_constant__ D drafter,
                 const __grid_constant__ Plan plan, const __grid_constant__ TableView distributions,
                 const HotTokens hot, const TotalCounts totals, const __grid_constant__ JointTotals joint,
                 const TrialRange range) {
  __shared__ BlockCounts block;
  const DeviceThreads threads;
  TrialCounts<DeviceThreads> counts(threads, block, hot, totals);
  run_trials(threads, counts, verifier, drafter, plan, distributions, range, joint);
  counts.flush();
}

/// Throws: std::logic_error saying that `verifier` has no kernel for drafts of `distribution`.
[[noreturn]] void no_trials(std::string_view verifier, std::string_view distribution);
/// Throws: std::invalid_argument unless verifier and drafter accept `drafts` drafts on the table `distributions`.
void check_drafts(const Info& verifier, const DrafterInfo& drafter, const TableView& distributions, int drafts);
/// Returns how many blocks of this kernel the device runs at once. Throws: DeviceError.
unsigned int resident_blocks(const void* kernel, int threads);

/// The type in which a kernel gets the verifier's plan: the plan, or a view of its arrays in device memory.
template <class V>
struct TrialPlan {
  using type = PlanOf<V, TableView>;
};
template <ViewsPlans V>
struct TrialPlan<V> {
  using type = typename V::TablePlan;
};

/// Prepares the plan on the host and copies the arrays that its view reads to the device. The body is compiled in the
/// compiler's host pass only, because the device pass, which also parses host functions, would find std::vector in it.
template <ViewsPlans V>
typename V::TablePlan plan_on_device(const V& verifier, const DeviceTable& table, int drafts, const PlanCopy& copy) {
#if defined(__CUDA_ARCH__)
  return {};
#else
  return prepare(verifier, PlanningView(table.host()), drafts).view(copy);
#endif
}
/// If the verifier has no plan, the table is not copied to the host.
template <class V>
auto plan_on_device(const V& verifier, const DeviceTable& table, int drafts, const PlanCopy&) {
  if constexpr (std::is_same_v<PlanOf<V, TableView>, NoPlan>)
    return NoPlan{};
  else
    return prepare(verifier, table.host(), drafts);
}

/// Queues trials of any verifier and drafter. Call this function in a CUDA source for a custom verifier or drafter.
/// Throws: as count_trials does.
template <class V, class D>
void count_trials_of(const V& verifier, const D& drafter, const DeviceTable& table, const TrialRange& range,
                     const DeviceCounts& counts, Stream stream) {
  using Plan = typename TrialPlan<V>::type;
  static_assert(
      std::is_trivially_copyable_v<Plan> && std::is_trivially_copyable_v<V>,
      "a plan that owns memory of the host cannot go into a kernel: say so in info.unsupported.device_trials");
  check_drafts(V::info, D::info, table.device(), range.drafts);
  if (range.count == 0) return;
  const PlanCopy copy(stream);
  const Plan plan = plan_on_device(verifier, table, range.drafts, copy);
  const auto kernel = trial_kernel<V, D, Plan>;
  const std::uint64_t most = resident_blocks(reinterpret_cast<const void*>(kernel), trial_threads);
  constexpr std::uint64_t most_of_block = std::uint64_t{1} << 31;
  for (std::uint64_t done = 0; done < range.count;) {
    const std::uint64_t trials = std::min(range.count - done, most * most_of_block);
    const std::uint64_t blocks = std::min<std::uint64_t>(most, trials / trial_threads + 1);
    kernel<<<static_cast<unsigned int>(blocks), trial_threads, 0, stream>>>(
        verifier, drafter, plan, table.device(), table.hot(), counts.totals(), counts.joint().after(done),
        TrialRange{range.seed, range.first + done, trials, range.drafts});
    device_call("cudaLaunchKernel", cudaGetLastError());
    done += trials;
  }
}

/// Finds the drafter with the name `distribution` among `D` and queues its trials, if the verifier V supports it.
template <class... D>
struct TrialDrafters {
  template <class V>
  static void count(const V& verifier, std::string_view distribution, const DeviceTable& table,
                    const TrialRange& range, const DeviceCounts& counts, Stream stream) {
    if constexpr (!V::info.unsupported.device.empty()) {
      no_kernel(V::info.name, V::info.unsupported.device);
    } else if constexpr (!V::info.unsupported.device_trials.empty()) {
      no_kernel(V::info.name, V::info.unsupported.device_trials);
    } else if constexpr (!V::info.unsupported.simulate.empty()) {
      no_kernel(V::info.name, V::info.unsupported.simulate);
    } else {
      const bool found = (count_if_named<D>(verifier, distribution, table, range, counts, stream) || ...);
      if (!found) no_trials(V::info.name, distribution);
    }
  }

 private:
  template <class One, class V>
  static bool count_if_named(const V& verifier, std::string_view distribution, const DeviceTable& table,
                             const TrialRange& range, const DeviceCounts& counts, Stream stream) {
    if constexpr (V::info.drafts.lists(One::info.name) || (V::info.drafts.any() && One::info.name == "iid")) {
      if (distribution != One::info.name) return false;
      count_trials_of(verifier, One{}, table, range, counts, stream);
      return true;
    } else {
      return false;
    }
  }
};

}  // namespace draftproof::gpu
