// Compares simulation on a device with simulation on the host. Without a device the exit code is 77, which CTest reads
// as skipped.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/simulate.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/gpu/joint_on_host.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/table_parity.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::found {
void device_trials_everything();
}

namespace {

using namespace draftproof;

/// Compares more trials than a device has threads: as one range, as the sum of two ranges, and without a histogram.
int compare_long_range() {
  constexpr int vocabulary = 6000, drafts = 4;
  std::vector<double> p, q;
  for (int x = 0; x < vocabulary; ++x) {
    p.push_back(x == 17 ? .9 : .1 / (vocabulary - 1));
    q.push_back(2.0 * (x + 1) / (double{vocabulary} * (vocabulary + 1)));
  }
  const RatioTable table(p, q);
  const gpu::TrialRange all{.seed = 3, .first = std::uint64_t{1} << 35, .count = 1'500'007, .drafts = drafts};
  Tally wanted;
  wanted.histogram.resize(static_cast<std::size_t>(vocabulary));
  const verifiers::RecursiveRejection verifier;
  for (std::uint64_t i = 0; i < all.count; ++i) {
    Token out[max_drafts];
    Philox drafting(all.seed, all.first + i, Philox::Role::draft),
        verifying(all.seed, all.first + i, Philox::Role::verify);
    const int length = drafters::Iid{}.draw(table, drafts, drafting, out);
    wanted.add(verifier.verify(DraftedPosition<RatioTable>(table, out, length), verifying), out, length);
  }
  const auto same = [&wanted](const Tally& found) {
    return found.trials == wanted.trials && found.draft_accepted == wanted.draft_accepted &&
           found.draft_emitted == wanted.draft_emitted && found.impossible == wanted.impossible &&
           found.by_draft == wanted.by_draft;
  };
  const gpu::DeviceTable device(table);
  gpu::TrialRange first = all, second = all;
  first.count = 700'001;
  second.first += first.count;
  second.count -= first.count;
  Tally halves = gpu::simulate(verifier, drafters::Iid{}, device, first);
  halves += gpu::simulate(verifier, drafters::Iid{}, device, second);
  const Tally whole = gpu::simulate(verifier, drafters::Iid{}, device, all);
  const Tally bare = gpu::simulate(verifier, drafters::Iid{}, device, all, false);
  const bool right = same(whole) && whole.histogram == wanted.histogram && same(halves) &&
                     halves.histogram == wanted.histogram && same(bare) && bare.histogram.empty();
  std::printf("a long range of trials: %s\n", right ? "equal" : "NOT equal");
  return right ? 0 : 1;
}

/// Compares the joint counts that a gate uses, on more trials than a device has threads.
int compare_joint_counts() {
  constexpr int vocabulary = 5000, groups = 32;
  std::vector<double> p, q;
  std::vector<std::uint32_t> group;
  for (int x = 0; x < vocabulary; ++x) {
    p.push_back(x == 17 ? .9 : .1 / (vocabulary - 1));
    q.push_back(2.0 * (x + 1) / (double{vocabulary} * (vocabulary + 1)));
    group.push_back(static_cast<std::uint32_t>(x * 7 % groups));
  }
  const RatioTable table(p, q);
  const gpu::DeviceTable device(table);
  const gpu::TrialRange range{.seed = 5, .first = (std::uint64_t{1} << 40) + 3, .count = 700'003, .drafts = 3};
  int different = 0;
  for (const gpu::JointCounting& what : {gpu::JointCounting{}, gpu::JointCounting{4, 3, groups, group, 300'000},
                                         gpu::JointCounting{2, 0, groups, group, 7}}) {
    const gpu::DeviceCounts counts(device, what);
    gpu::count_trials(verifiers::RecursiveRejection{}, "iid", device, range, counts, {});
    const gpu::JointTally found = counts.joint_tally(range.count, {});
    const gpu::JointTally wanted =
        parity::joint_on_host<verifiers::RecursiveRejection, drafters::Iid>(table, range, what);
    different += found.tally.draft_emitted != wanted.tally.draft_emitted ||
                 found.tally.by_draft != wanted.tally.by_draft || found.cells != wanted.cells ||
                 found.drafts != wanted.drafts || found.serial_dependence != wanted.serial_dependence;
  }
  std::printf("joint counts: %s\n", different == 0 ? "equal" : "NOT equal");
  return different;
}

}  // namespace

int main() {
  return draftproof::parity::outcome_on_device(draftproof::gpu::device_count, [] {
    found::device_trials_everything();
    // With 6000 tokens not every token has a counter in a block's shared memory.
    int mismatches = parity::run({.vocabularies = {1, 7, 100}, .drafts = {1, 2, 8}, .trials = 5000});
    mismatches += parity::run({.vocabularies = {6000}, .drafts = {2, 4}, .trials = 500});
    mismatches += compare_long_range();
    mismatches += compare_joint_counts();
    return mismatches == 0 ? 0 : 1;
  });
}
