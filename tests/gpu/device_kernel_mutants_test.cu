// Tests on a device that some case distinguishes each mutant kernel from the host, and that no case distinguishes the
// correct kernel. Without a device the exit code is 77, which CTest reads as skipped.
#include <cstdio>
#include <memory>
#include <type_traits>
#include <vector>

#include <draftproof/found/kernel_mutants.hpp>
#include <draftproof/gpu/device/device_buffer.cuh>
#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/teams/block_teams.cuh>
#include <draftproof/tests/support/gpu/kernel_cases.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>

namespace {

using namespace draftproof;
using namespace draftproof::kernel_mutants;

/// A block that delays one of three warps after each barrier; the delayed warps change from barrier to barrier.
class UnevenBlock : public gpu::BlockTeam {
 public:
  using gpu::BlockTeam::BlockTeam;
  DRAFTPROOF_DEVICE void barrier() const {
    gpu::BlockTeam::barrier();
#if defined(__CUDA_ARCH__)
    if ((warp() + calls_++) % 3 == 0) __nanosleep(2000);
#endif
  }

 private:
  mutable int calls_ = 0;
};

template <class M>
__global__ void __launch_bounds__(256, 1) by_block(const gpu::Batch<float> batch) {
  __shared__ gpu::TeamScratch scratch;
  const Verdict verdict = decide_with<M, Verifier>(batch, blockIdx.x, UnevenBlock(&scratch));
  if (threadIdx.x == 0) batch.verdicts[blockIdx.x] = verdict;
}

/// A copy of a case in device memory; memory outside its rows is zero.
class DeviceCase {
 public:
  explicit DeviceCase(const KernelCase& host)
      : host_{host},
        rows_{nullptr, host.size()},
        tuples_{host.tuples().data(), host.tuples().size()},
        counts_{host.counts().data(), host.counts().size()},
        verdicts_{nullptr, host.wanted().size()},
        batch_{host.batch()} {
    gpu::device_call("cudaMemset", cudaMemset(rows_.data(), 0, host.size() * sizeof(float)));
    const std::size_t pair = 2 * static_cast<std::size_t>(host.batch().vocabulary) * sizeof(float);
    for (const std::int64_t start : host.starts())
      gpu::device_call("cudaMemcpy",
                       cudaMemcpy(rows_.data() + start, host.data() + start, pair, cudaMemcpyHostToDevice));
    batch_.target = rows_.data() + (host.batch().target - host.data());
    batch_.proposal = rows_.data() + (host.batch().proposal - host.data());
    batch_.drafts = tuples_.data();
    batch_.counts = counts_.data();
    batch_.verdicts = verdicts_.data();
  }

  template <class M>
  int wrong_verdicts() const {
    gpu::device_call("cudaMemset", cudaMemset(verdicts_.data(), 0xFF, host_.wanted().size() * sizeof(Verdict)));
    by_block<M><<<static_cast<unsigned>(batch_.positions), 256>>>(batch_);
    gpu::device_call("cudaLaunchKernel", cudaGetLastError());
    gpu::device_call("cudaDeviceSynchronize", cudaDeviceSynchronize());
    const std::vector<Verdict> found = verdicts_.copy();
    int wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i) wrong += !same(found[i], host_.wanted()[i]);
    return wrong;
  }

 private:
  const KernelCase& host_;
  gpu::DeviceBuffer<float> rows_;
  gpu::DeviceBuffer<Token> tuples_;
  gpu::DeviceBuffer<std::int32_t> counts_;
  gpu::DeviceBuffer<Verdict> verdicts_;
  gpu::Batch<float> batch_;
};

}  // namespace

int main() {
  return draftproof::parity::outcome_on_device(draftproof::gpu::device_count, [] {
    const auto cases = kernel_cases(2000);
    std::vector<std::unique_ptr<DeviceCase>> on_device;
    for (const auto& one : cases) on_device.push_back(std::make_unique<DeviceCase>(*one));
    int failures = 0;
    const auto run = [&]<class M>(M) {
      const bool sound = std::is_same_v<M, SoundKernel>;
      failures += judge(M::name, sound, cases, [&](std::size_t i) { return on_device[i]->wrong_verdicts<M>(); });
    };
    run(SoundKernel{});
    for_each_kernel_mutant(run);
    std::printf("kernel mutants on a device: %d failures\n", failures);
    return failures == 0 ? 0 : 1;
  });
}
