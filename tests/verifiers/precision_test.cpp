// The exact law of the floating-point programs, at sizes beyond fractions: the change of the output law by rounding,
// sorted tables and one-pass sums.
#include <cmath>
#include <iostream>
#include <optional>

#include <gtest/gtest.h>

#include <draftproof/properties/proof/output_law.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/numeric/neumaier_sum.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

struct Rounded {
  double variation;
  double mass;
};

template <class L>
Rounded explore(const AnyVerifier& verifier, const AnyDrafter& drafter, const L& laws, const std::vector<double>& p,
                int drafts) {
  const auto decider = verifier.explore_on(laws, drafts);
  if (!decider) return {0, 1};  // its info says why: a plan for small vocabularies
  const auto law = explore_law(drafter, *decider, laws, drafts, {.leaves = 100'000'000});
  EXPECT_TRUE(law.complete);
  NeumaierSum distance;
  for (std::size_t x = 0; x < p.size(); ++x) distance.add(std::abs(law.output[x] - p[x]));
  return {distance.value() / 2, law.mass};
}

/// Visits every lossless verifier with every law it takes.
void for_each_pair(int drafts, auto&& visit) {
  int visited = 0;
  for (const auto& verifier : registry().verifiers()) {
    if (verifier->kind() != Kind::verifier || verifier->info().promise != Promise::lossless) continue;
    if (!verifier->info().unsupported.explore.empty()) continue;
    for (const AnyDrafter* drafter : registry().drafters_of(verifier->info())) {
      SCOPED_TRACE(std::string(verifier->info().name) + " on " + std::string(drafter->info().name));
      visit(*verifier, *drafter, verifier->takes(drafts) ? drafts : verifier->info().most_drafts);
      ++visited;
    }
  }
  EXPECT_GE(visited, 11) << "the verifiers and laws this test was written for";
}

std::vector<std::vector<double>> proposals(const AnyDrafter& drafter, int drafts, std::size_t size) {
  std::vector<std::vector<double>> rows;
  for (int k = 0; k < (drafter.info().several_proposals ? drafts : 1); ++k)
    rows.push_back(examples::random_row(900 + static_cast<std::uint64_t>(k), size, 3));
  return rows;
}

// Up to K + 1 = 5 stages modify a law; each rounds every token's mass a few times, 2^-53 each, relative to a mass of
// at least about 1e-3 on these rows: 5 * 4 * 2^-53 * 1e3 = 2e-12 at the very worst; the test requires 1e-12.
constexpr double small_tolerance = 1e-12;

void expect_small(std::size_t size, int drafts) {
  double largest = 0;
  for_each_pair(drafts, [&](const AnyVerifier& verifier, const AnyDrafter& drafter, int most) {
    const auto p = examples::random_row(31, size, 3);
    const Rows<double> rows(p, proposals(drafter, most, size));
    const Rounded found = explore(verifier, drafter, rows, p, most);
    EXPECT_LE(found.variation, small_tolerance);
    EXPECT_NEAR(found.mass, 1, small_tolerance);
    largest = std::max(largest, found.variation);
  });
  std::cout << "largest total variation at V = " << size << ", K = " << drafts << ": " << largest << '\n';
}

TEST(Precision, FortyEightTokensThreeDrafts) { expect_small(48, 3); }
TEST(Precision, SixteenTokensFourDrafts) { expect_small(16, 4); }

constexpr std::size_t vocabulary = 262144;
/// The ids of the six tokens: ends of the vocabulary, ends of a block of 1024, and two in between.
constexpr std::size_t places[] = {0, 1023, 1024, 77777, 200001, vocabulary - 1};

std::vector<double> scattered(const std::vector<double>& support) {
  std::vector<double> row(vocabulary, 0);
  for (std::size_t i = 0; i < support.size(); ++i) row[places[i]] = support[i];
  return row;
}

// Tokens of p only, of q only and of both; at least three tokens of q, so that three drafts never exhaust it.
const std::vector<double> target_row_of_six = examples::normalised({5, 0, 3, 1, 7, 2});
const std::vector<std::vector<double>> rows_of_q{examples::normalised({2, 3, 1, 0, 4, 6}),
                                                 examples::normalised({1, 1, 5, 2, 0, 3}),
                                                 examples::normalised({0, 6, 1, 1, 1, 2})};

// Sums over the vocabulary truncate each of at most 6 positive terms by 2^-60 and masses by 2^-62; with the stages
// and divisions above nothing exceeds 1e-12, and 1e-11 is what a full support of V 2^-60 = 2e-13 per sum would need.
constexpr double large_tolerance = 1e-11;

void expect_large(auto&& make_laws, std::string_view name) {
  double largest = 0;
  const auto p = scattered(target_row_of_six);
  std::vector<std::vector<double>> q;
  for (const auto& row : rows_of_q) q.push_back(scattered(row));
  const auto one = make_laws(p, std::vector<std::vector<double>>{q.front()});
  const auto several = make_laws(p, q);
  for_each_pair(3, [&](const AnyVerifier& verifier, const AnyDrafter& drafter, int drafts) {
    const auto& laws = drafter.info().several_proposals ? several : one;
    const Rounded found = explore(verifier, drafter, laws, p, drafts);
    EXPECT_LE(found.variation, large_tolerance);
    EXPECT_NEAR(found.mass, 1, large_tolerance);
    largest = std::max(largest, found.variation);
  });
  std::cout << "largest total variation at V = 262144, K = 3 on " << name << ": " << largest << '\n';
}

TEST(Precision, SixTokensInALargeTable) {
  expect_large([](const auto& p, const auto& q) { return RatioTable(p, q); }, "RatioTable");
}

TEST(Precision, SixTokensInLargeFreshRows) {
  std::vector<std::vector<std::vector<double>>> kept;  // FreshRows only look at rows
  kept.reserve(2);
  expect_large(
      [&](const std::vector<double>& p, const auto& q) {
        kept.push_back(q);
        return FreshRows<double>(p, std::vector<std::span<const double>>(kept.back().begin(), kept.back().end()));
      },
      "FreshRows");
}

// The rest of a row after K - 1 drafts without replacement, or after its likeliest tokens, has little mass: drafts
// are drawn from it with the law that verifiers divide by. Before rests were scaled this was off by V 2^-60 over the
// rest; the plan of ladder_wor on fresh rows still is, because its buckets are sums in units of 2^-60
// (verifiers/ladder_wor.hpp).
TEST(Precision, LittleIsLeftOfAProposal) {
  const std::vector<double> p{0.3, 0.3, 0.1, 0.1, 0.1, 0.1};
  for (const double rest : {1e-6, 1e-9, 1e-12}) {
    const std::vector<double> q{0.5, 0.5 - rest, rest / 8, rest / 4, rest / 8, rest / 2};
    for (const std::string_view law : {"greedy", "without_replacement", "tail_draw", "hub"}) {
      const AnyDrafter& drafter = *registry().drafter(law);
      for (const auto& verifier : registry().verifiers()) {
        if (verifier->kind() != Kind::verifier || !verifier->info().unsupported.explore.empty()) continue;
        if (!verifier->info().drafts.lists(law) || !verifier->takes(law == "hub" ? 2 : 3)) continue;
        const int drafts = law == "hub" ? 2 : 3;
        const FreshRows<double> rows(p, q);
        const double of_buckets =
            verifier->info().name == "ladder_wor" ? static_cast<double>(q.size()) * 0x1p-60 / rest : 0;
        EXPECT_LE(explore(*verifier, drafter, rows, p, drafts).variation, small_tolerance + of_buckets)
            << verifier->info().name << " on " << law << ", rest " << rest;
      }
    }
  }
}

}  // namespace
}  // namespace draftproof
