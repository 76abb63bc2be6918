// Compares the joint counts of a simulation kernel on fibers with a plain loop over the same trials: counts by
// accepted draft and token, of the tokens of each draft, and of pairs of successive trials.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <draftproof/gpu/simulation/hot_tokens.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/gpu/expect.hpp>
#include <draftproof/tests/support/gpu/joint_on_host.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/trial_fibers.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::joint_counts_test {
namespace {

struct Wanted {
  int paths, drafts, groups;
  std::uint64_t pairs;

  /// Returns the description of the counts, with groups of tokens that are not in the order of tokens.
  gpu::JointCounting counting(int vocabulary, std::vector<std::uint32_t>& group) const {
    for (Token x = 0; groups > 0 && x < vocabulary; ++x) group.push_back(static_cast<std::uint32_t>(x * 3 % groups));
    return {.paths = paths, .drafts = drafts, .groups = groups, .group = group, .pairs = pairs};
  }
};

template <class V, class D>
gpu::JointTally on_fibers(const RatioTable& table, const gpu::TrialRange& range, const gpu::JointCounting& what,
                          const parity::Grid& grid) {
  using Counts = std::vector<gpu::TotalCounts::Count>;
  const TableView view = table.view();
  const gpu::ChosenHotTokens hot = gpu::chosen_hot_tokens(view);
  const auto plan = prepare(V{}, view, range.drafts);
  Counts by_draft(max_drafts);
  gpu::TotalCounts::Count draft_emitted = 0, impossible = 0;
  const gpu::TotalCounts totals{by_draft.data(), &draft_emitted, &impossible, nullptr};
  const auto size = [](int rows, int columns) { return static_cast<std::size_t>(rows * columns); };
  Counts cells(size(what.paths, view.vocabulary())), drafts(size(what.drafts, view.vocabulary())),
      serial_dependence(size(what.groups, what.groups));
  const gpu::JointTotals counted{.paths = what.paths,
                                 .counted_drafts = what.drafts,
                                 .groups = what.groups,
                                 .vocabulary = view.vocabulary(),
                                 .pairs = what.pairs,
                                 .cells = cells.data(),
                                 .drafts = what.drafts > 0 ? drafts.data() : nullptr,
                                 .serial_dependence = what.groups > 0 ? serial_dependence.data() : nullptr,
                                 .group = what.group.data()};
  parity::run_grid(grid, [&](const parity::HostTrialThread& own, gpu::BlockCounts& block) {
    gpu::TrialCounts<parity::HostTrialThread> trials(own, block, hot.view(), totals);
    gpu::run_trials(own, trials, V{}, D{}, plan, view, range, counted);
    trials.flush();
  });
  gpu::JointTally joint;
  joint.tally.draft_emitted = draft_emitted;
  joint.cells.assign(cells.begin(), cells.end());
  joint.drafts.assign(drafts.begin(), drafts.end());
  joint.serial_dependence.assign(serial_dependence.begin(), serial_dependence.end());
  return joint;
}

/// A drafter of tuples of different lengths, with tokens after their ends.
struct Shortened {
  static constexpr DrafterInfo info{.name = "shortened", .summary = ""};
  template <Distributions L, RandomSource R>
  int draw(const L& distributions, int drafts, R& random, Token* out) const {
    drafters::Iid{}.draw(distributions, drafts, random, out);
    return 1 + out[0] % drafts;
  }
};

using parity::expect;

template <class V, class D>
void compare(int vocabulary, const gpu::TrialRange& range, const Wanted& wanted, const parity::Grid& grid) {
  const RatioTable table = parity::peaked(vocabulary);
  std::vector<std::uint32_t> group;
  const gpu::JointCounting what = wanted.counting(vocabulary, group);
  const gpu::JointTally host = parity::joint_on_host<V, D>(table, range, what),
                        found = on_fibers<V, D>(table, range, what, grid);
  const std::string where = std::string{V::info.name} + " on " + std::string{D::info.name} +
                            ", V = " + std::to_string(vocabulary) + ", " + std::to_string(range.count) +
                            " trials, lanes " + std::to_string(grid.lanes) + ": ";
  expect(host.tally.draft_emitted == found.tally.draft_emitted, where + "draft_emitted");
  expect(host.cells == found.cells, where + "cells");
  expect(host.drafts == found.drafts, where + "drafts");
  expect(host.serial_dependence == found.serial_dependence, where + "serial_dependence");
}

void everything() {
  const std::uint64_t far = (std::uint64_t{1} << 40) + 12345;  // odd: trial i of the range has another parity than i
  for (const parity::Grid grid : {parity::Grid{1, 1, 4}, parity::Grid{3, 2, 4}, parity::Grid{2, 1, 32}})
    for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{37}, std::uint64_t{1001}})
      for (const Wanted wanted : {Wanted{1, 0, 0, 0}, Wanted{4, 3, 8, ~std::uint64_t{0}}, Wanted{2, 2, 5, 11}}) {
        compare<verifiers::RecursiveRejection, drafters::Iid>(61, {7, far, count, 3}, wanted, grid);
        compare<parity::SometimesImpossible, drafters::Iid>(61, {8, 0, count, 3}, wanted, grid);
      }
  for (const parity::Grid grid : {parity::Grid{1, 1, 4}, parity::Grid{2, 2, 8}})
    compare<verifiers::RecursiveRejection, Shortened>(7, {9, 3, 501, 5}, {6, 5, 3, 200}, grid);
  gpu::JointTotals totals;
  totals.pairs = 10;
  expect(totals.after(0).pairs == 10 && totals.after(12).pairs == 4 && totals.after(40).pairs == 0,
         "pairs that are left");
  std::printf("joint counts: %d comparisons, %d failed\n", parity::compared, parity::failures);
}

}  // namespace
}  // namespace draftproof::joint_counts_test

int main() {
  return draftproof::parity::outcome([] {
    draftproof::joint_counts_test::everything();
    return draftproof::parity::failures == 0 ? 0 : 1;
  });
}
