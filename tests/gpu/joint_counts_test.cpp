// Joint counts of a kernel of simulation on fibers: cells of accepted draft and token, tokens of each draft, pairs of
// successive trials, against a plain loop over the same trials.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/gpu/simulation/hot_tokens.hpp>
#include <draftproof/sim/drafters/iid.hpp>
#include <draftproof/tests/gpu/trial_fibers.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::joint_counts_test {
namespace {

using Counts = std::vector<gpu::TotalCounts::Count>;

struct Joint {
  Counts cells, drafts, neighbours;
  bool operator==(const Joint&) const = default;
};

struct Wanted {
  int paths, drafts, groups;
  std::uint64_t pairs;
};

std::uint32_t group_of(Token x, int groups) { return static_cast<std::uint32_t>(x * 3 % groups); }

Joint nothing(int vocabulary, const Wanted& wanted) {
  const auto size = [](int rows, int columns) { return static_cast<std::size_t>(rows * columns); };
  return {Counts(size(wanted.paths, vocabulary)), Counts(size(wanted.drafts, vocabulary)),
          Counts(size(wanted.groups, wanted.groups))};
}

template <class V, class D>
Joint on_host(const RatioTable& table, const gpu::TrialRange& range, const Wanted& wanted) {
  const int vocabulary = table.vocabulary();
  Joint joint = nothing(vocabulary, wanted);
  const auto plan = prepare(V{}, table, range.drafts);
  Token before = no_token;
  for (std::uint64_t i = 0; i < range.count; ++i) {
    Token drafts[max_drafts];
    Philox drafting(range.seed, range.first + i, Philox::Role::draft);
    Philox verifying(range.seed, range.first + i, Philox::Role::verify);
    const int length = D{}.draw(table, range.drafts, drafting, drafts);
    const Verdict verdict = verify(V{}, At<RatioTable>(table, drafts, length), plan, verifying);
    const Token last = std::exchange(before, verdict.token);
    if (verdict.token < 0) continue;
    const bool own_path = verdict.accepted >= 0 && verdict.accepted < wanted.paths - 1;
    ++joint.cells[static_cast<std::size_t>((own_path ? verdict.accepted : wanted.paths - 1) * vocabulary +
                                           verdict.token)];
    for (int k = 0; k < length && k < wanted.drafts; ++k)
      ++joint.drafts[static_cast<std::size_t>(k * vocabulary + drafts[k])];
    if (wanted.groups > 0 && i % 2 == 1 && i / 2 < wanted.pairs && last >= 0)
      ++joint.neighbours[group_of(last, wanted.groups) * static_cast<std::size_t>(wanted.groups) +
                         group_of(verdict.token, wanted.groups)];
  }
  return joint;
}

template <class V, class D>
Joint on_fibers(const RatioTable& table, const gpu::TrialRange& range, const Wanted& wanted,
                const parity::Grid& grid) {
  const TableView view = table.view();
  const gpu::ChosenHotTokens hot = gpu::chosen_hot_tokens(view);
  const auto plan = prepare(V{}, view, range.drafts);
  Counts by_draft(max_drafts);
  gpu::TotalCounts::Count members = 0, impossible = 0;
  const gpu::TotalCounts totals{by_draft.data(), &members, &impossible, nullptr};
  std::vector<std::uint32_t> groups;
  for (Token x = 0; wanted.groups > 0 && x < view.vocabulary(); ++x) groups.push_back(group_of(x, wanted.groups));
  Joint joint = nothing(view.vocabulary(), wanted);
  const gpu::JointTotals counted{.paths = wanted.paths,
                                 .counted_drafts = wanted.drafts,
                                 .groups = wanted.groups,
                                 .vocabulary = view.vocabulary(),
                                 .pairs = wanted.pairs,
                                 .cells = joint.cells.data(),
                                 .drafts = wanted.drafts > 0 ? joint.drafts.data() : nullptr,
                                 .neighbours = wanted.groups > 0 ? joint.neighbours.data() : nullptr,
                                 .group = groups.data()};
  parity::run_grid(grid, [&](const parity::HostTrialThread& own, gpu::BlockCounts& block) {
    gpu::TrialCounts<parity::HostTrialThread> trials(own, block, hot.view(), totals);
    gpu::run_trials(own, trials, V{}, D{}, plan, view, range, counted);
    trials.flush();
  });
  return joint;
}

/// Tuples of different lengths, with tokens behind their ends.
struct Shortened {
  static constexpr DrafterInfo info{.name = "shortened", .summary = ""};
  template <Laws L, RandomSource R>
  int draw(const L& laws, int drafts, R& random, Token* out) const {
    drafters::Iid{}.draw(laws, drafts, random, out);
    return 1 + out[0] % drafts;
  }
};

int failures = 0, comparisons = 0;

void expect(bool holds, const std::string& what) {
  ++comparisons;
  if (holds) return;
  ++failures;
  std::printf("failed: %s\n", what.c_str());
}

template <class V, class D>
void compare(int vocabulary, const gpu::TrialRange& range, const Wanted& wanted, const parity::Grid& grid) {
  const RatioTable table = parity::peaked(vocabulary);
  const Joint host = on_host<V, D>(table, range, wanted), found = on_fibers<V, D>(table, range, wanted, grid);
  const std::string where = std::string{V::info.name} + ", V = " + std::to_string(vocabulary) + ", " +
                            std::to_string(range.count) + " trials, lanes " + std::to_string(grid.lanes) + ": ";
  expect(host.cells == found.cells, where + "cells");
  expect(host.drafts == found.drafts, where + "drafts");
  expect(host.neighbours == found.neighbours, where + "neighbours");
}

void everything() {
  const std::uint64_t far = (std::uint64_t{1} << 40) + 12345;  // trials with odd numbers are even ones of the range
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
  std::printf("joint counts: %d comparisons, %d failed\n", comparisons, failures);
}

}  // namespace
}  // namespace draftproof::joint_counts_test

int main() try {
  draftproof::joint_counts_test::everything();
  return draftproof::joint_counts_test::failures == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::printf("error: %s\n", error.what());
  return 1;
}
