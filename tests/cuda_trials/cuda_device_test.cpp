// Tests of the CUDA device of the framework: every verifier has its kernel, a missing device is reported, and a
// device counts the same trials as the CPU.
#include <gtest/gtest.h>

#include <draftproof/gpu/trials/cuda_device.hpp>
#include <draftproof/gpu/trials/trial_kernels.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/device_parity.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

TEST(CudaDevice, IsInAProgramThatLinksIt) {
  const TrialDevice* device = trial_device("cuda");
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->name(), "cuda");
  EXPECT_EQ(trial_device("nowhere"), nullptr);
}

TEST(CudaDevice, HasTheKernelOfEveryVerifier) {
  std::size_t verifiers = 0;
  for (const auto& verifier : registry().verifiers()) {
    if (verifier->kind() != Kind::verifier) continue;
    ++verifiers;
    EXPECT_TRUE(found_trial_kernels().contains(verifier->info().name)) << verifier->info().name;
  }
  EXPECT_GT(verifiers, 10u);
  EXPECT_EQ(found_trial_kernels().size(), verifiers);
}

TEST(CudaDevice, NamesTheCallThatFails) {
  const CudaDevice device;
  if (device.missing().empty()) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_EQ(device.missing(), "no CUDA device");
  const RatioTable table(examples::random_row(1, 20, 1), {examples::random_row(2, 20, 1)});
  try {
    device.load(table);
    ADD_FAILURE() << "a table on no device";
  } catch (const DeviceFailure& failure) {
    EXPECT_TRUE(std::string_view(failure.what()).starts_with("cuda: cudaM")) << failure.what();
  }
}

TEST(CudaDevice, CountsWhatTheCpuCounts) {
  const CudaDevice device;
  if (!device.missing().empty()) GTEST_SKIP() << device.missing();
  constexpr int vocabulary = 300, drafts = 3;
  std::size_t compared = 0;
  for (const auto& verifier : registry().verifiers()) {
    const AnyDrafter& drafter = usual_drafter(verifier->info());
    const int taken = drafts_taken(*verifier, drafter, drafts);
    if (!verifier->takes(taken)) continue;
    std::vector<std::vector<double>> proposals;
    for (int k = 0; k < (drafter.info().several_proposals ? taken : 1); ++k)
      proposals.push_back(examples::random_row(static_cast<std::uint64_t>(k) + 2, vocabulary, 1));
    const RatioTable table(examples::random_row(1, vocabulary, 1), proposals);
    const auto on = device.load(table);
    const Unsupported& unsupported = verifier->info().unsupported;
    const std::string refusal = on->refusal(*verifier, drafter, taken);
    const bool runs = verifier->kind() == Kind::verifier && unsupported.simulate.empty() &&
                      unsupported.device.empty() && unsupported.device_trials.empty();
    EXPECT_EQ(refusal.empty(), runs) << verifier->info().name << ": " << refusal;
    if (!refusal.empty()) continue;
    ++compared;
    const SampledNull null(verifier->info().name, drafter, table, taken);
    const DeviceParity parity =
        device_parity(*verifier, drafter, table, *on, null, taken, {.trials = 20'001, .seed = 5, .first = 77});
    EXPECT_TRUE(parity.equal()) << verifier->info().name << ": " << parity.difference << "; " << parity.alone;
  }
  EXPECT_GT(compared, 10u);
}

}  // namespace
}  // namespace draftproof
