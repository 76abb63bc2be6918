// Tests of verifiers in floating point: their exact distribution, and decisions on rows at the ends of formats and on
// captured rows.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include <draftproof/captures/source.hpp>
#include <draftproof/captures/stored_format.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>
#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/numeric/sums.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/random/tape.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/tests/support/nightly.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/ladder_independent.hpp>
#include <draftproof/verifiers/ladder_wor.hpp>
#include <draftproof/verifiers/lossy/cactus.hpp>
#include <draftproof/verifiers/lossy/cascade_token_v3.hpp>
#include <draftproof/verifiers/lossy/diversed.hpp>
#include <draftproof/verifiers/lossy/ears.hpp>
#include <draftproof/verifiers/lossy/entropy_verify.hpp>
#include <draftproof/verifiers/lossy/lenience.hpp>
#include <draftproof/verifiers/lossy/mars.hpp>
#include <draftproof/verifiers/lossy/mentored_decoding.hpp>
#include <draftproof/verifiers/lossy/spec_rl.hpp>
#include <draftproof/verifiers/naive_tree.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/paths/branch_reentry.hpp>
#include <draftproof/verifiers/paths/greedy_block.hpp>
#include <draftproof/verifiers/paths/greedy_multipath_block.hpp>
#include <draftproof/verifiers/paths/ladder_block.hpp>
#include <draftproof/verifiers/paths/layerwise_rejection.hpp>
#include <draftproof/verifiers/paths/token_path.hpp>
#include <draftproof/verifiers/paths/traversal.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_independent.hpp>
#include <draftproof/verifiers/recursive_rejection_random_order.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>
#include <draftproof/verifiers/single_draft.hpp>
#include <draftproof/verifiers/tournament.hpp>
#include <draftproof/verifiers/truncated_alphabet.hpp>
#include <draftproof/verifiers/truncated_lp.hpp>

namespace draftproof {
namespace {

struct Rounded {
  double variation;
  double mass;
};

template <class L>
Rounded explore(const AnyVerifier& verifier, const AnyDrafter& drafter, const L& distributions,
                const std::vector<double>& p, int drafts) {
  const auto decider = verifier.explore_on(distributions, drafts);
  if (!decider) return {0, 1};  // not supported (Info::unsupported) at this vocabulary size
  const auto distribution = explore_distribution(drafter, *decider, distributions, drafts, {.leaves = 100'000'000});
  EXPECT_TRUE(distribution.complete);
  NeumaierSum distance;
  for (std::size_t x = 0; x < p.size(); ++x) distance.add(std::abs(distribution.output[x] - p[x]));
  return {distance.value() / 2, distribution.mass};
}

/// Visits every lossless verifier with every draft sampling that it supports.
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
  EXPECT_GE(visited, 11) << "the verifiers and distributions this test was written for";
}

std::vector<std::vector<double>> proposals(const AnyDrafter& drafter, int drafts, std::size_t size) {
  std::vector<std::vector<double>> rows;
  for (int k = 0; k < (drafter.info().several_proposals ? drafts : 1); ++k)
    rows.push_back(examples::random_row(900 + static_cast<std::uint64_t>(k), size, 3));
  return rows;
}

// Up to K + 1 = 5 stages modify a distribution; each rounds every token's mass a few times, 2^-53 each, relative to a
// mass of at least about 1e-3 on these rows: 5 * 4 * 2^-53 * 1e3 = 2e-12 at the very worst; the test requires 1e-12.
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

TEST(Precision, ThirtyTwoTokensThreeDrafts) { expect_small(32, 3); }
TEST(Precision, SixteenTokensFourDrafts) { expect_small(16, 4); }

constexpr std::size_t vocabulary = 262144;
/// The ids of the six tokens: both ends of the vocabulary, both sides of the end of a block of 1024, and two in
/// between.
constexpr std::size_t places[] = {0, 1023, 1024, 77777, 200001, vocabulary - 1};

std::vector<double> scattered(const std::vector<double>& support) {
  std::vector<double> row(vocabulary, 0);
  for (std::size_t i = 0; i < support.size(); ++i) row[places[i]] = support[i];
  return row;
}

// Some tokens have only p > 0, some only q > 0, others both. At least three tokens have q > 0, so that three drafts
// never exhaust it.
const std::vector<double> target_row_of_six = examples::normalised({5, 0, 3, 1, 7, 2});
const std::vector<std::vector<double>> rows_of_q{examples::normalised({2, 3, 1, 0, 4, 6}),
                                                 examples::normalised({1, 1, 5, 2, 0, 3}),
                                                 examples::normalised({0, 6, 1, 1, 1, 2})};

// Sums over the vocabulary truncate each of at most 6 positive terms by 2^-60 and masses by 2^-62; with the stages and
// divisions counted for small_tolerance, no error exceeds 1e-12. A full support, with V 2^-60 = 2e-13 per sum, would
// need 1e-11.
constexpr double large_tolerance = 1e-11;

void expect_large(auto&& make_distributions, std::string_view name) {
  double largest = 0;
  const auto p = scattered(target_row_of_six);
  std::vector<std::vector<double>> q;
  for (const auto& row : rows_of_q) q.push_back(scattered(row));
  const auto one = make_distributions(p, std::vector<std::vector<double>>{q.front()});
  const auto several = make_distributions(p, q);
  for_each_pair(3, [&](const AnyVerifier& verifier, const AnyDrafter& drafter, int drafts) {
    const auto& distributions = drafter.info().several_proposals ? several : one;
    const Rounded found = explore(verifier, drafter, distributions, p, drafts);
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
  std::vector<std::vector<std::vector<double>>> kept;  // FreshRows refer to these rows
  kept.reserve(2);
  expect_large(
      [&](const std::vector<double>& p, const auto& q) {
        kept.push_back(q);
        return FreshRows<double>(p, std::vector<std::span<const double>>(kept.back().begin(), kept.back().end()));
      },
      "FreshRows");
}

// After K - 1 drafts without replacement, or without its most probable tokens, little mass of a row is left. Drafts
// must be drawn from this mass with the same probabilities that verifiers use as divisors. Only the plan of ladder_wor
// on fresh rows has an error, of V 2^-60 over this mass, because its buckets are sums in units of 2^-60
// (verifiers/ladder_wor.hpp).
TEST(Precision, LittleIsLeftOfAProposal) {
  const std::vector<double> p{0.3, 0.3, 0.1, 0.1, 0.1, 0.1};
  for (const double rest : {1e-6, 1e-9, 1e-12}) {
    const std::vector<double> q{0.5, 0.5 - rest, rest / 8, rest / 4, rest / 8, rest / 2};
    for (const std::string_view distribution : {"greedy", "without_replacement", "tail_draw", "hub"}) {
      const AnyDrafter& drafter = *registry().drafter(distribution);
      for (const auto& verifier : registry().verifiers()) {
        if (verifier->kind() != Kind::verifier || !verifier->info().unsupported.explore.empty()) continue;
        if (!verifier->info().drafts.lists(distribution) || !verifier->takes(distribution == "hub" ? 2 : 3)) continue;
        const int drafts = distribution == "hub" ? 2 : 3;
        const FreshRows<double> rows(p, q);
        const double of_buckets =
            verifier->info().name == "ladder_wor" ? static_cast<double>(q.size()) * 0x1p-60 / rest : 0;
        EXPECT_LE(explore(*verifier, drafter, rows, p, drafts).variation, small_tolerance + of_buckets)
            << verifier->info().name << " on " << distribution << ", rest " << rest;
      }
    }
  }
}

// Nearly all mass of the proposal is on one token, as at a low temperature of the draft, so drafts without replacement
// have a second token from the little that is left. 1 - q is then 0 in double, or has few correct bits. The target has
// most of its mass on another token, on this one, or on both. Two drafts: more on such rows are asked by simulation.
TEST(Precision, NearlyOneTokenIsProposed) {
  int visited = 0;
  for (const double e : {1e-9, 1e-13, 1e-16, 1e-17})
    for (const std::vector<double>& p : {std::vector<double>{1 - 3 * e, e, e, e},
                                         {e, e, e, 1 - 3 * e},
                                         {0.5, e, 0.25, 0.25 - e},
                                         {e, 0.5, e, 0.5 - 2 * e}}) {
      const std::vector<double> q{e, 2 * e, e, 1 - 4 * e};
      for (const auto& verifier : registry().verifiers()) {
        const Info& info = verifier->info();
        if (verifier->kind() != Kind::verifier || !info.unsupported.explore.empty()) continue;
        if (info.promise != Promise::lossless || !info.drafts.lists("without_replacement")) continue;
        if (!verifier->takes(2)) continue;
        const AnyDrafter& drafter = *registry().drafter("without_replacement");
        EXPECT_LE(explore(*verifier, drafter, RatioTable(p, q), p, 2).variation, small_tolerance)
            << info.name << ", e = " << e << ", p(0) = " << p[0] << ", p(3) = " << p[3];
        EXPECT_LE(explore(*verifier, drafter, Rows<double>(p, q), p, 2).variation, small_tolerance)
            << info.name << " on rows, e = " << e << ", p(0) = " << p[0] << ", p(3) = " << p[3];
        ++visited;
      }
    }
  EXPECT_GE(visited, 16);
}

// Tests of rows at the ends of double: zeros, denormals, one large token among the least positive doubles, sums that
// are not 1, q = p.

using Dice = std::mt19937_64;

std::vector<double> extreme_row(Dice& dice, int vocabulary) {
  constexpr double least = 0x1p-1074;
  std::vector<double> row;
  const auto kind = dice() % 4;
  double sum = 0;
  for (int x = 0; x < vocabulary; ++x) {
    row.push_back(kind == 0   ? static_cast<double>(dice() % 4)
                  : kind == 1 ? std::exp2(-static_cast<double>(dice() % 1074))
                  : kind == 2 ? (dice() % 8 == 0 ? 1.0 : least)
                              : static_cast<double>(dice() >> 11));
    sum += row.back();
  }
  row[dice() % row.size()] += 1;  // every distribution has an entry that is not tiny
  sum += 1;
  for (double& entry : row)
    if (entry > least) entry /= sum;
  return row;
}

/// 64-bit random numbers, a third of which are at an end of the unit interval.
struct ExtremeWords {
  Dice* dice;
  std::uint64_t next(Purpose) {
    const auto side = (*dice)() % 6;
    return side == 0 ? 0 : side == 1 ? ~std::uint64_t{0} : (*dice)();
  }
  static NoiseBlock noise(std::uint32_t, std::uint32_t) { return {}; }
};

template <class V>
class OnExtremeRows : public testing::Test {};
using Schemes = testing::Types<verifiers::LadderIndependent, verifiers::Tournament, verifiers::TruncatedAlphabet,
                               verifiers::TruncatedLp, verifiers::SingleDraft, verifiers::NaiveTree, verifiers::KSeq,
                               verifiers::RecursiveRejection, verifiers::RecursiveRejectionIndependent,
                               verifiers::RecursiveRejectionRandomOrder>;
TYPED_TEST_SUITE(OnExtremeRows, Schemes);

TYPED_TEST(OnExtremeRows, EveryTokenHasTargetProbability) {
  Dice dice(5);
  const TypeParam verifier;
  const bool several = TypeParam::info.drafts.lists("independent");
  int decided = 0;
  for (int n = 0; n < 300; ++n) {
    const int most = TypeParam::info.most_drafts > 0 ? TypeParam::info.most_drafts : 6;
    const int drafts = 1 + static_cast<int>(dice() % static_cast<std::uint64_t>(most)),
              vocabulary = 1 + static_cast<int>(dice() % 40);
    const auto p = extreme_row(dice, vocabulary);
    std::vector<std::vector<double>> q;
    for (int k = 0; k < (several ? drafts : 1); ++k) q.push_back(dice() % 6 == 0 ? p : extreme_row(dice, vocabulary));
    const Rows<double> distributions(p, q);
    const auto plan = prepare(verifier, distributions, drafts);
    for (int trial = 0; trial < 10; ++trial) {
      Token tuple[max_drafts];
      for (int k = 0; k < drafts; ++k) do
          tuple[k] = static_cast<Token>(dice() % static_cast<std::uint64_t>(vocabulary));
        while (!(distributions.proposal(tuple[k], several ? k : 0) > 0));
      Recorder<ExtremeWords> random{ExtremeWords{&dice}};
      const Verdict verdict =
          verify(verifier, DraftedPosition<Rows<double>>(distributions, tuple, drafts), plan, random);
      ASSERT_TRUE(verdict.token >= 0 && verdict.token < vocabulary) << verdict.token;
      ASSERT_GT(distributions.target(verdict.token), 0) << "instance " << n << ", trial " << trial;
      if (verdict.accepted >= 0) {
        ASSERT_EQ(tuple[verdict.accepted], verdict.token);
      }
      ++decided;
    }
  }
  EXPECT_EQ(decided, 3000);
}

// Tests of fresh rows that differ from p = q by units in the last place: the residual is empty or has one such unit.

template <class Entry>
constexpr StoredFormat format_of = std::same_as<Entry, float>    ? float32
                                   : std::same_as<Entry, double> ? float64
                                   : std::same_as<Entry, Half>   ? float16
                                                                 : bfloat16;

/// Rows of `size` tokens. Every `every`-th entry of p is one unit in the last place below q's, and the first entry is
/// `first` units above.
template <class Entry>
struct NearRows {
  std::vector<Entry> p, q;
  NearRows(std::uint64_t seed, std::size_t size, std::size_t every, int first) {
    for (const double value : examples::random_row(seed, size, 2, 0.2)) {
      const StoredFormat& format = format_of<Entry>;
      const double entry = format.round(value);
      const int units = p.empty() ? first : p.size() % every == 0 ? -1 : 0;
      q.push_back(static_cast<Entry>(entry));
      p.push_back(static_cast<Entry>(entry > 0 ? entry + units * format.unit(entry) : entry));
    }
  }
  FreshRows<Entry> rows() const { return {std::span<const Entry>(p), std::span<const Entry>(q)}; }
};

template <class Entry>
class NearEqualRows : public testing::Test {
 protected:
  template <class Decide>
  void every_decision(Decide decide) {
    for (const auto& [seed, size, every, first] : {std::array{1, 2, 1, -1},
                                                   {2, 2, 2, -1},
                                                   {3, 3, 1, 1},
                                                   {4, 5, 2, -1},
                                                   {5, 40, 1, -1},
                                                   {6, 1500, 3, -1},
                                                   {7, 1500, 1, 1}}) {
      const NearRows<Entry> near(static_cast<std::uint64_t>(seed), static_cast<std::size_t>(size),
                                 static_cast<std::size_t>(every), first);
      const FreshRows<Entry> rows = near.rows();
      for (Token x = 0; x < size; x += 1 + size / 8)
        for (const std::uint64_t inner : {edge::zero, edge::largest})
          for (const std::uint64_t last : {edge::zero, edge::largest}) {
            if (!(rows.proposal(x) > 0)) continue;
            BoundaryWords words(inner, last);
            Scripted random{WordsFrom(words)};
            const Token token = decide(rows, x, random);
            ASSERT_TRUE(token >= 0 && token < size)
                << token << " of rows " << seed << ", draft " << x << ", coins " << inner;
            ASSERT_GT(static_cast<double>(rows.target(token)), 0) << "rows " << seed << ", draft " << x;
          }
    }
  }
  /// Decides with a scheme of one position on `drafts` drafts: one token `drafts` times or, if `distinct`, successive
  /// tokens.
  template <class V>
  void position(int drafts, bool distinct = false) {
    SCOPED_TRACE(V::info.name);
    every_decision([&](const FreshRows<Entry>& rows, Token x, auto& random) {
      const int count = distinct ? std::min(drafts, rows.vocabulary()) : drafts;
      Token tuple[max_drafts];
      for (int k = 0; k < count; ++k) tuple[k] = distinct ? (x + k) % rows.vocabulary() : x;
      const V verifier{};
      const auto plan = prepare(verifier, rows, drafts);
      return verify(verifier, DraftedPosition<FreshRows<Entry>>(rows, tuple, count), plan, random).token;
    });
  }
  /// Decides with a scheme of paths on the path x, x, or on two such paths if the scheme takes several.
  template <class V>
  void paths() {
    SCOPED_TRACE(V::info.name);
    every_decision([&](const FreshRows<Entry>& rows, Token x, auto& random) {
      const PrefixTable<FreshRows<Entry>> conditionals({rows});
      DraftTree tree(0);
      const int copies = V::info.most_drafts == 1 ? 1 : 2;
      for (int k = 0; k < copies; ++k) tree.draw(tree.draw(DraftTree::root, x, 0), x, 0);
      PathDeciderOf<V, FreshRows<Entry>, Scripted> decider({}, conditionals, {.drafts = copies, .length = 2});
      return decider.decide(tree, {}, random).extra.token;
    });
  }
};
using Entries = testing::Types<float, Half, Bfloat16, double>;
TYPED_TEST_SUITE(NearEqualRows, Entries);

TYPED_TEST(NearEqualRows, OfOnePosition) {
  using namespace verifiers;
  this->template position<SingleDraft>(1);
  this->template position<lossy::Lenience>(1);
  this->template position<lossy::Cactus>(1);
  this->template position<lossy::MentoredDecoding>(1);
  this->template position<lossy::Diversed>(1);
  this->template position<lossy::CascadeTokenV3>(1);
  this->template position<lossy::EntropyVerify>(1);
  this->template position<lossy::Ears>(1);
  this->template position<lossy::Mars>(1);
  this->template position<lossy::SpecRl>(1);
  for (const int drafts : {1, 2, 3}) {
    this->template position<NaiveTree>(drafts);
    this->template position<RecursiveRejection>(drafts);
    this->template position<KSeq>(drafts);
    this->template position<Ladder>(drafts);
    this->template position<RecursiveRejectionWor>(drafts, true);
    this->template position<LadderWor>(drafts, true);
  }
}

TYPED_TEST(NearEqualRows, OfPaths) {
  using namespace verifiers::paths;
  this->template paths<TokenPath>();
  this->template paths<Block>();
  this->template paths<GreedyBlock>();
  this->template paths<Traversal>();
  this->template paths<LayerwiseRejection>();
  this->template paths<GreedyMultipathBlock>();
  this->template paths<BranchReentry>();
  this->template paths<LadderBlock>();
}

TEST(CapturedClaims, AFlagIsMembershipWhereClaimedAndNoTrialReachesNothing) {
  registry();
  int simulated = 0;
  for (const auto& [name, most] : {std::pair("/data/stories512_positions.npz", swept(12u, 32u)),
                                   {"/data/mixed32k_positions.npz", swept(4u, 12u)}}) {
    const Source source = Source::open(std::string(DRAFTPROOF_SOURCE_DIR) + name);
    for (std::size_t i = 0; i < source.positions(); i += std::max<std::size_t>(1, source.positions() / most)) {
      const RowPair pair = source.pair(i);
      const RatioTable table(pair.target, pair.proposals);
      for (const auto& verifier : registry().verifiers()) {
        const Info& info = verifier->info();
        if (verifier->kind() == Kind::mutant || !info.unsupported.simulate.empty()) continue;
        for (const AnyDrafter* drafter : registry().drafters_of(info)) {
          const int drafts = verifier->takes(2) ? 2 : info.most_drafts;
          if (!drafter->defined(table.vocabulary(), drafts, table.proposals())) continue;
          // With shared noise, the drafter and the verifier each read the whole vocabulary once per draft, which takes
          // milliseconds per trial at V = 32,000.
          const bool races = info.shared_noise || drafter->info().shared_noise();
          const Tally tally = simulate({*verifier, *drafter, drafts, 5, first_trial(i)}, table,
                                       {.trials = races ? 8u : 2000u, .threads = 1});
          EXPECT_EQ(tally.impossible, 0u) << info.name << ", position " << i;
          if (info.claims.emitted_drafts_are_accepted) {
            EXPECT_EQ(tally.draft_accepted, tally.draft_emitted)
                << info.name << " on " << drafter->info().name << ", " << name << ", position " << i;
          }
          ++simulated;
        }
      }
    }
  }
  EXPECT_GT(simulated, swept(150, 500));
}

}  // namespace
}  // namespace draftproof
