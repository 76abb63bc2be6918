// Compares a complete simulation kernel on fibers with the host's Tally of the same trials: the trials, sums within a
// warp, tokens with and without a counter in shared memory, and sums at the end of a block.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include <draftproof/gpu/simulation/hot_tokens.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/tally.hpp>
#include <draftproof/tests/support/gpu/expect.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/trial_fibers.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>
#include <draftproof/verifiers/sample_and_match.hpp>

namespace draftproof::trial_counts_test {
namespace {

using parity::Grid;
using parity::HostTrialThread;
using parity::peaked;
using parity::SometimesImpossible;

template <class V, class D>
Tally on_fibers(const RatioTable& table, const gpu::TrialRange& range, const Grid& grid, std::size_t most_hot,
                bool histogram) {
  const TableView view = table.view();
  const gpu::ChosenHotTokens hot = gpu::chosen_hot_tokens(view, most_hot);
  const auto plan = prepare(V{}, view, range.drafts);
  using Count = gpu::TotalCounts::Count;
  std::vector<Count> by_draft(max_drafts), counted(static_cast<std::size_t>(table.vocabulary()));
  Count draft_emitted = 0, impossible = 0;
  const gpu::TotalCounts totals{by_draft.data(), &draft_emitted, &impossible, histogram ? counted.data() : nullptr};
  parity::run_grid(grid, [&](const HostTrialThread& own, gpu::BlockCounts& block) {
    gpu::TrialCounts<HostTrialThread> trials(own, block, hot.view(), totals);
    gpu::run_trials(own, trials, V{}, D{}, plan, view, range);
    trials.flush();
  });
  Tally tally;
  tally.trials = range.count;
  std::copy(by_draft.begin(), by_draft.end(), tally.by_draft.begin());
  tally.draft_accepted = std::accumulate(by_draft.begin(), by_draft.end(), std::uint64_t{0});
  tally.draft_emitted = draft_emitted;
  tally.impossible = impossible;
  if (histogram) tally.histogram.assign(counted.begin(), counted.end());
  return tally;
}

template <class V, class D>
Tally on_host(const RatioTable& table, const gpu::TrialRange& range, bool histogram) {
  Tally tally;
  if (histogram) tally.histogram.resize(static_cast<std::size_t>(table.vocabulary()));
  const auto plan = prepare(V{}, table, range.drafts);
  for (std::uint64_t i = 0; i < range.count; ++i) {
    Token drafts[max_drafts];
    Philox drafting(range.seed, range.first + i, Philox::Role::draft);
    Philox verifying(range.seed, range.first + i, Philox::Role::verify);
    const int length = D{}.draw(table, range.drafts, drafting, drafts);
    tally.add(verify(V{}, DraftedPosition<RatioTable>(table, drafts, length), plan, verifying), drafts, length);
  }
  return tally;
}

using parity::expect;

template <class V, class D>
void compare(int vocabulary, const gpu::TrialRange& range, const Grid& grid, std::size_t most_hot, bool histogram) {
  const RatioTable table = peaked(vocabulary);
  const Tally wanted = on_host<V, D>(table, range, histogram);
  const Tally found = on_fibers<V, D>(table, range, grid, most_hot, histogram);
  const std::string where = std::string{V::info.name} + ", V = " + std::to_string(vocabulary) + ", " +
                            std::to_string(range.count) + " trials, " + std::to_string(most_hot) + " hot: ";
  expect(found.draft_accepted == wanted.draft_accepted && found.by_draft == wanted.by_draft,
         where + "accepted drafts");
  expect(found.draft_emitted == wanted.draft_emitted, where + "draft_emitted");
  expect(found.impossible == wanted.impossible, where + "impossible trials");
  expect(found.histogram == wanted.histogram, where + "histogram");
}

void hot_tokens() {
  const RatioTable table(std::vector<double>{.1, .3, .1, .3, .2}, std::vector<double>{.2, .2, .2, .2, .2});
  const gpu::ChosenHotTokens hot = gpu::chosen_hot_tokens(table.view(), 4);
  expect(hot.tokens == std::vector<Token>{1, 3, 4, 0}, "hot tokens: by falling p, equal ones by id");
  expect(hot.slot == std::vector<std::uint16_t>{3, 0, gpu::HotTokens::cold, 1, 2}, "hot tokens: places");
  expect(gpu::chosen_hot_tokens(peaked(5000).view()).tokens.size() == gpu::HotTokens::most, "hot tokens: at most");
}

void everything() {
  hot_tokens();
  const std::uint64_t far = (std::uint64_t{1} << 40) + 12345, last = ~std::uint64_t{0} - 700;
  for (const Grid grid : {Grid{1, 1, 4}, Grid{3, 2, 4}, Grid{2, 1, 32}})
    for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{37}, std::uint64_t{1001}})
      for (const std::size_t most_hot : {std::size_t{0}, std::size_t{3}, std::size_t{4096}}) {
        compare<verifiers::SampleAndMatch, drafters::Iid>(61, {7, far, count, 3}, grid, most_hot, true);
        compare<verifiers::RecursiveRejection, drafters::Iid>(61, {7, last, count, 4}, grid, most_hot, true);
        compare<SometimesImpossible, drafters::Iid>(61, {8, 0, count, max_drafts}, grid, most_hot, true);
      }
  const Grid grid{3, 2, 8};
  compare<verifiers::RecursiveRejectionWor, drafters::WithoutReplacement>(5000, {9, far, 2500, 5}, grid, 4096, true);
  compare<verifiers::KSeq, drafters::Iid>(5000, {9, far, 2500, 4}, grid, 4096, true);
  compare<verifiers::KSeq, drafters::Iid>(5000, {9, far, 2500, 4}, grid, 4096, false);
  std::printf("trial counts: %d comparisons, %d failed\n", parity::compared, parity::failures);
}

}  // namespace
}  // namespace draftproof::trial_counts_test

int main() {
  return draftproof::parity::outcome([] {
    draftproof::trial_counts_test::everything();
    return draftproof::parity::failures == 0 ? 0 : 1;
  });
}
