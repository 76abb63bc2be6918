// Tests `--device cuda` without a device: gpu/trials/cuda_device.cpp is compiled unchanged, host memory replaces
// device memory, and the simulation kernel runs on fibers. The counts must equal those of the CPU.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/simulation/hot_tokens.hpp>
#include <draftproof/gpu/trials/cuda_device.hpp>
#include <draftproof/gpu/trials/trial_kernels.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/device_parity.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/tests/support/gpu/trial_fibers.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::gpu {

class DeviceTable::Buffers {
 public:
  explicit Buffers(const RatioTable& table) : view{table.view()}, chosen{chosen_hot_tokens(view)} {}

  TableView view;
  ChosenHotTokens chosen;
  HotTokens hot = chosen.view();
};
DeviceTable::DeviceTable(const RatioTable& table) : buffers_{std::make_unique<Buffers>(table)} {}
DeviceTable::~DeviceTable() = default;
const TableView& DeviceTable::host() const { return buffers_->view; }
const TableView& DeviceTable::device() const { return buffers_->view; }
const HotTokens& DeviceTable::hot() const { return buffers_->hot; }

struct DeviceCounts::Buffers {
  using Counts = std::vector<TotalCounts::Count>;
  std::array<TotalCounts::Count, max_drafts> by_draft{};
  TotalCounts::Count draft_emitted = 0, impossible = 0;
  Counts histogram, cells, drafts, serial_dependence;
  TotalCounts totals;
  JointTotals joint;

  void point() {
    const auto data = [](Counts& counts) { return counts.empty() ? nullptr : counts.data(); };
    totals = {by_draft.data(), &draft_emitted, &impossible, data(histogram)};
    joint.cells = data(cells);
    joint.drafts = data(drafts);
    joint.serial_dependence = data(serial_dependence);
  }
};
DeviceCounts::DeviceCounts(const DeviceTable& table, bool histogram) : buffers_{std::make_unique<Buffers>()} {
  if (histogram) buffers_->histogram.resize(static_cast<std::size_t>(table.host().size));
  buffers_->point();
}
DeviceCounts::DeviceCounts(const DeviceTable& table, const JointCounting& what)
    : buffers_{std::make_unique<Buffers>()} {
  const auto size = [](int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  };
  buffers_->cells.resize(size(what.paths, table.host().size));
  buffers_->drafts.resize(size(what.drafts, table.host().size));
  buffers_->serial_dependence.resize(size(what.groups, what.groups));
  buffers_->joint = {.paths = what.paths,
                     .counted_drafts = what.drafts,
                     .groups = what.groups,
                     .vocabulary = table.host().size,
                     .pairs = what.pairs,
                     .group = what.group.data()};
  buffers_->point();
}
DeviceCounts::~DeviceCounts() = default;
const TotalCounts& DeviceCounts::totals() const { return buffers_->totals; }
const JointTotals& DeviceCounts::joint() const { return buffers_->joint; }
Tally DeviceCounts::tally(std::uint64_t trials, Stream) const {
  Tally tally;
  tally.trials = trials;
  std::copy(buffers_->by_draft.begin(), buffers_->by_draft.end(), tally.by_draft.begin());
  tally.draft_accepted = std::accumulate(tally.by_draft.begin(), tally.by_draft.end(), std::uint64_t{0});
  tally.draft_emitted = buffers_->draft_emitted;
  tally.impossible = buffers_->impossible;
  tally.histogram.assign(buffers_->histogram.begin(), buffers_->histogram.end());
  return tally;
}
JointTally DeviceCounts::joint_tally(std::uint64_t trials, Stream stream) const {
  JointTally joint;
  joint.tally = tally(trials, stream);
  joint.cells.assign(buffers_->cells.begin(), buffers_->cells.end());
  joint.drafts.assign(buffers_->drafts.begin(), buffers_->drafts.end());
  joint.serial_dependence.assign(buffers_->serial_dependence.begin(), buffers_->serial_dependence.end());
  return joint;
}

int device_count() { return 1; }

}  // namespace draftproof::gpu

namespace draftproof {
namespace {

using OnFibers = verifiers::RecursiveRejection;

/// Launches the kernel of OnFibers; fails if there are more than eight drafts.
void launch(std::string_view distribution, const gpu::DeviceTable& table, const gpu::TrialRange& range,
            const gpu::DeviceCounts& counts, gpu::Stream) {
  if (distribution != "iid")
    throw std::logic_error("recursive_rejection has no kernel for drafts of " + std::string(distribution));
  if (range.count == 0) return;
  if (range.drafts > 8) throw gpu::DeviceError("cudaLaunchKernel", "out of memory");
  parity::run_grid(
      {.blocks = 2, .warps = 2, .lanes = 8}, [&](const parity::HostTrialThread& thread, gpu::BlockCounts& block) {
        gpu::TrialCounts<parity::HostTrialThread> trials(thread, block, table.hot(), counts.totals());
        gpu::run_trials(thread, trials, OnFibers{}, drafters::Iid{}, NoPlan{}, table.device(), range, counts.joint());
        trials.flush();
      });
}

class CudaOnFibers : public testing::Test {
 protected:
  void SetUp() override { found_trial_kernels()["recursive_rejection"] = launch; }

  const AnyVerifier& verifier_ = *registry().verifier("recursive_rejection");
  const AnyDrafter& iid_ = *registry().drafter("iid");
  const RatioTable distributions_{examples::random_row(1, 90, 1), {examples::random_row(2, 90, 1)}};
  const CudaDevice device_{};
  const std::unique_ptr<TrialTable> on_ = device_.load(distributions_);
};

TEST_F(CudaOnFibers, CountsWhatTheCpuCounts) {
  EXPECT_EQ(device_.missing(), "");
  for (const int drafts : {1, 4}) {
    ASSERT_EQ(on_->refusal(verifier_, iid_, drafts), "");
    const SampledNull null("recursive_rejection", iid_, distributions_, drafts);
    const DeviceParity parity = device_parity(verifier_, iid_, distributions_, *on_, null, drafts,
                                              {.trials = 3001, .seed = 5, .first = 77, .threads = 1});
    EXPECT_TRUE(parity.equal()) << parity.difference << "; " << parity.alone;
  }
  const DeviceTrials trials{verifier_, iid_, 2, 5, 0, 100};
  EXPECT_TRUE(on_->tally(trials, false).histogram.empty());
}

TEST_F(CudaOnFibers, AddsToWhatIsCounted) {
  const SampledNull null("recursive_rejection", iid_, distributions_, 3);
  SampledCounts whole = null.nothing(), parts = null.nothing();
  on_->count({verifier_, iid_, 3, 5, 40, 500}, null, 180, whole);
  on_->count({verifier_, iid_, 3, 5, 40, 300}, null, 180, parts);
  on_->count({verifier_, iid_, 3, 5, 340, 200}, null, 30, parts);
  EXPECT_EQ(first_difference(parts, whole), "");
  EXPECT_EQ(std::accumulate(whole.serial_dependence.begin(), whole.serial_dependence.end(), std::uint64_t{0}), 180u);
}

TEST_F(CudaOnFibers, SaysWhyNotInTheKernelsWords) {
  EXPECT_EQ(on_->refusal(*registry().verifier("k_seq"), iid_, 2), "k_seq has no simulation kernel");
  EXPECT_EQ(on_->refusal(verifier_, *registry().drafter("without_replacement"), 2),
            "recursive_rejection has no kernel for drafts of without_replacement");
}

TEST_F(CudaOnFibers, NamesTheCallThatFails) {
  try {
    on_->tally({verifier_, iid_, 9, 5, 0, 100}, true);
    ADD_FAILURE() << "a launch that fails";
  } catch (const DeviceFailure& failure) {
    EXPECT_STREQ(failure.what(), "cuda: cudaLaunchKernel: out of memory");
  }
}

}  // namespace
}  // namespace draftproof
