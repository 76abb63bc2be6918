// Tests of the ladder for drafts without replacement, beyond the tests of both ladders in ladders_test.cpp: its choice
// among drafts, its race and buckets, and drafts that are uniform after the support of q is exhausted.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/captures/family.hpp>
#include <draftproof/captures/source.hpp>
#include <draftproof/optimum/distributions/closed_forms.hpp>
#include <draftproof/optimum/race_acceptance.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/tests/support/enumerated.hpp>
#include <draftproof/tests/support/exact.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/ladder/levels.hpp>
#include <draftproof/verifiers/ladder_wor.hpp>
#include <draftproof/verifiers/mutants/ladder_choice.hpp>

namespace draftproof {
namespace {

using verifiers::LadderWor;

template <class V, class L>
auto distribution_of_wor(const V& verifier, const L& distributions, int drafts) {
  return enumerated<drafters::WithoutReplacement>(verifier, distributions, drafts);
}

// Compares the race in double with sums over all subsets in fractions. The integral that gives the race in double has a
// relative error of 1e-14, and V terms are rounded.
TEST(LadderWor, TheRaceHasTheChordsOfTheSubsets) {
  int compared = 0;
  for (int n = 0; n < 150; ++n) {
    const Instance instance = generate_instance(71, n, 5, false);
    const auto exact = instance.rows();
    const Rows<double> rows(exact::as_doubles(normalised(instance.target)),
                            exact::as_doubles(normalised(instance.proposals.front())));
    const auto bins = exact.bins();
    const auto near = rows.bins();
    if (bins.by_token() != near.by_token()) continue;  // equal ratios may round to different doubles
    ++compared;
    for (int drafts = 1; drafts <= 6; ++drafts) {
      const WorCoverage<Rational> want(exact, bins, drafts);
      const WorCoverage<double> got(rows, near, drafts);
      for (int i = 0; i < bins.size(); ++i)
        ASSERT_NEAR(got.chord(i, i + 1), static_cast<double>(want.chord(i, i + 1)), 2e-13)
            << instance.text() << " K = " << drafts << ", bin " << i;
    }
  }
  EXPECT_GT(compared, 100);
}

// Let G be the group from which the draft is chosen, H the tokens above and Z the tokens below. Let F(S) be the
// probability that some draft is in S. For any three sets, the choice among drafts without replacement
// (ladder/group_choice.hpp) has distribution q(x) / q(G) (F(H + G) - F(H)). The claim is tested on RapidCheck's
// instances, by an enumeration of every branch in fractions. The first or the last draft of the group does not have
// this distribution.

/// Rows whose tokens are in three bins, whatever their ratios.
struct InThreeBins : Rows<Rational> {
  struct Bins {
    std::array<Rational, 4> below{};
    int size() const { return 3; }
    const Rational& proposal_below(int i) const { return below[static_cast<std::size_t>(i)]; }
  };
  std::vector<int> bin_of;

  Bins bins() const {
    Bins bins;
    for (Token x = 0; x < vocabulary(); ++x)
      for (int i = bin_of[static_cast<std::size_t>(x)]; i < 3; ++i)
        bins.below[static_cast<std::size_t>(i) + 1] += proposal(x);
    return bins;
  }
  int bin(const Bins&, Token x) const { return bin_of[static_cast<std::size_t>(x)]; }
};

/// The members of a ladder that choose_distinct() reads. The levels 1 raise both breaks in every trial, so each bin is
/// a group.
struct ThreeGroups {
  InThreeBins::Bins bins;
  LadderLevels<Rational> levels{std::vector<Rational>{0, 1, 1}};
  LadderPlan<Rational> plan{};
  int bin(const InThreeBins& distributions, Token x) const { return distributions.bin(bins, x); }
};

/// Emits the chosen draft without an acceptance test.
template <class Choice>
struct Chooses {
  template <class P, class R>
  Verdict verify(const P& at, R& random) const {
    const int chosen = choose_distinct(at, ThreeGroups{at.distributions().bins()}, random, Choice{});
    return accepted(at.draft(chosen), chosen);
  }
};
template <class Choice>
std::vector<Rational> chosen_by(const InThreeBins& distributions, int drafts) {
  return distribution_of_wor(Chooses<Choice>{}, distributions, drafts).output;
}

/// Whether the choice has the stated distribution in each of the three groups. The chosen draft lies in the best bin
/// that is drafted, so Pr(best = i) is F(first i + 1 bins) - F(first i).
template <class Choice>
bool has_the_distribution(const InThreeBins& distributions, int drafts) {
  const auto bins = distributions.bins();
  const std::vector<Rational> distribution = chosen_by<Choice>(distributions, drafts);
  std::array<Rational, 3> best{};
  for (Token x = 0; x < distributions.vocabulary(); ++x)
    best[static_cast<std::size_t>(distributions.bin(bins, x))] += distribution[static_cast<std::size_t>(x)];
  for (Token x = 0; x < distributions.vocabulary(); ++x) {
    const int i = distributions.bin(bins, x);
    const Rational width = bins.proposal_below(i + 1) - bins.proposal_below(i);
    if (width == 0) continue;
    if (distribution[static_cast<std::size_t>(x)] * width !=
        distributions.proposal(x) * best[static_cast<std::size_t>(i)])
      return false;
  }
  return true;
}

InThreeBins split(const Instance& instance, std::vector<int> bins) { return {instance.rows(), std::move(bins)}; }

RC_GTEST_PROP(DistinctChoice, HasTheDistributionOfTheProposalOnItsGroup, (const Instance& instance)) {
  const auto bins = *rc::gen::container<std::vector<int>>(instance.target.size(), rc::gen::inRange(0, 3));
  RC_CLASSIFY(has_the_distribution<mutants::detail::FirstOfGroup>(split(instance, bins), instance.drafts),
              "the first draft would do");
  RC_ASSERT(has_the_distribution<DistinctChoice>(split(instance, bins), instance.drafts));
}

// On this smallest instance, V = 3 and K = 2, the first and the last draft of the group do not have the distribution
// stated above.
TEST(DistinctChoice, FirstAndLastDraftDoNotHaveIt) {
  const Instance instance = Instance::parse("p=(1 1 1) q=(3 2 1) K=2");
  const InThreeBins distributions = split(instance, {0, 1, 1});
  EXPECT_TRUE(has_the_distribution<DistinctChoice>(distributions, 2));
  EXPECT_FALSE(has_the_distribution<mutants::detail::FirstOfGroup>(distributions, 2));
  EXPECT_FALSE(has_the_distribution<mutants::detail::LastOfGroup>(distributions, 2));
  const auto first = chosen_by<mutants::detail::FirstOfGroup>(distributions, 2),
             last = chosen_by<mutants::detail::LastOfGroup>(distributions, 2);
  EXPECT_EQ(std::pair(first[1], first[2]), std::pair(Rational("1/12"), Rational("1/15")));
  EXPECT_EQ(std::pair(last[1], last[2]), std::pair(Rational("1/15"), Rational("1/12")));
}

// Tests of buckets of fresh rows: their coverage equals a race over single tokens, and draws come from the remaining
// bins.

/// Returns the coverage F as a plan uses it: an approximate F is refined at `breaks`.
WorCoverage<double> at_breaks(const WorCoverage<double>& coverage, const std::vector<int>& breaks) {
  return coverage.rough() ? coverage.refined(breaks) : coverage;
}

// Compares the coverage of buckets, in which light tokens count by sums of powers, with missed_without_replacement(),
// another implementation that computes the race over single tokens. Both integrals have an error of at most 1e-13, and
// both sides add V masses in double. If bins are joined, F at the remaining breaks must not change.
TEST(LadderWor, BucketsHaveTheCoverageOfTheirTokens) {
  registry();
  for (const char* spec : {"gaussian_logits:vocabulary=32000,sigma=2.5,noise=1", "zipf:vocabulary=4096",
                           "gaussian_logits:vocabulary=4096,sigma=0.3,noise=1"}) {
    const RowPair pair = parse_family(spec).pair(7, 0);
    const FreshRows<double> rows(pair.target, std::span<const double>(pair.proposals[0]));
    const RatioTable table(pair.target, pair.proposals);
    const auto bins = rows.bins();
    const double tolerance = 2e-13 + 2 * rows.vocabulary() * 0x1p-53;
    for (const int drafts : {2, 3, 4, 8, 12}) {
      const RaceBins race(rows, bins, drafts);
      const auto with_light = [](const auto& powers) { return powers[1] > 0; };
      EXPECT_GT(std::count_if(race.light.begin(), race.light.end(), with_light), bins.size() / 4) << spec;
      std::vector<int> every(static_cast<std::size_t>(bins.size()) + 1), few{0};
      std::iota(every.begin(), every.end(), 0);
      const WorCoverage<double> rough(rows, bins, drafts), coverage = at_breaks(rough, every);
      for (int i = 5; i < bins.size(); i += 7) few.push_back(i);
      few.push_back(bins.size());
      const WorCoverage<double> joined = at_breaks(rough, few);
      const auto missed = missed_without_replacement(table, drafts);
      // end[i + 1]: rank in the table's order after the last token of bin i.
      std::vector<std::size_t> end(static_cast<std::size_t>(bins.size()) + 1, 0);
      for (std::size_t j = 0; j < table.order().size(); ++j)
        if (const Token x = table.order()[j]; rows.proposal(x) > 0)
          end[static_cast<std::size_t>(rows.bin(bins, x)) + 1] = j + 1;
      int compared = 0;
      for (int i = 1; i < bins.size(); ++i)
        if (const std::size_t j = end[static_cast<std::size_t>(i)]; j > 0) {
          ASSERT_NEAR(coverage.covered(i), missed[j], tolerance) << spec << ", K = " << drafts << ", break " << i;
          ASSERT_NEAR(rough.covered(i), missed[j], drafts > 2 ? 1e-5 : tolerance) << spec << ", K = " << drafts;
          if (i % 7 == 5) {
            ASSERT_NEAR(joined.covered(i), missed[j], tolerance) << spec << ", K = " << drafts << ", break " << i;
          }
          ++compared;
        }
      EXPECT_GT(compared, bins.size() / 2);
    }
  }
}

// Tests RaceBins::slowest, a lower bound of the mass outside the K - 1 largest tokens, where this mass is hard to find:
// one token has nearly all the mass, few tokens are large, or the support is hardly larger than K.
TEST(LadderWor, TheSlowestClocksAreBoundedFromBelow) {
  for (const int tokens : {3, 40, 5000})
    for (const double rest : {1e-20, 1e-9, 1e-4, 0.5}) {
      std::vector<float> q(6000, 0.0f);
      for (int x = 0; x < tokens; ++x) q[static_cast<std::size_t>(7 * x % 6000)] = static_cast<float>(rest / tokens);
      q[3] = static_cast<float>(1 - rest);
      const FreshRows<float> rows{std::span<const float>(q), std::span<const float>(q)};
      const auto bins = rows.bins();
      for (const int drafts : {2, 4, 8}) {
        std::vector<double> falling(q.begin(), q.end());
        std::sort(falling.begin(), falling.end());
        double exact = 0;
        for (std::size_t x = 0; x + static_cast<std::size_t>(drafts - 1) < falling.size(); ++x) exact += falling[x];
        const RaceBins race(rows, bins, drafts);
        EXPECT_LE(race.slowest, exact * (1 + 1e-9)) << tokens << " tokens of " << rest << ", K = " << drafts;
        EXPECT_GE(race.slowest, exact * 0.5) << tokens << " tokens of " << rest << ", K = " << drafts;
      }
    }
}

// Tests draws after the race on fresh rows: they invert the running sum, in token order, of the integers (masses in
// fixed point) of the remaining tokens.
TEST(LadderWor, FreshRowsDrawWhatIsLeftOfTheBinsBelow) {
  registry();
  const RowPair pair = parse_family("gaussian_logits:vocabulary=3001,sigma=2,noise=1").pair(5, 0);
  const std::vector<float> p(pair.target.begin(), pair.target.end()),
      q(pair.proposals[0].begin(), pair.proposals[0].end());
  const FreshRows<float> rows{std::span<const float>(p), std::span<const float>(q)};
  const auto bins = rows.bins();
  const double sum = std::accumulate(q.begin(), q.end(), 0.0);  // the last bin absorbs 1 - sum
  for (const int first : {1, bins.size() / 3, 3 * bins.size() / 4}) {
    std::vector<Token> below;
    for (Token x = 0; x < rows.vocabulary(); ++x)
      if (rows.proposal(x) > 0 && rows.bin(bins, x) >= first) below.push_back(x);
    ASSERT_GT(below.size(), 3u);
    const Token seen[] = {below.back(), below[0], below[below.size() / 2]};
    std::vector<std::pair<Token, Fixed>> left;
    Fixed all = 0;
    for (const Token x : below)
      if (!among(x, seen, 3)) left.emplace_back(x, all += to_fixed(rows.proposal(x)));
    const RemainingBins remaining(rows, bins, first, seen, 3);
    EXPECT_NEAR(remaining.mass(), from_fixed(all), 1e-12 + std::abs(1 - sum));
    for (std::uint64_t i = 0; i < 50; ++i) {
      const std::uint64_t word = i * 0x9E3779B97F4A7C15;
      const auto place = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(all)));
      const auto token =
          std::find_if(left.begin(), left.end(), [place](const auto& one) { return place < one.second; });
      EXPECT_EQ(remaining.draw(word), token->first) << first;
    }
    const RemainingBins none(rows, bins, bins.size(), seen, 0);
    EXPECT_EQ(none.mass(), 0);
    EXPECT_EQ(none.draw(0), no_token);
  }
}

// One token has nearly all of q and the third draft nearly no mass: slopes of F reach 2^149, times of the race 2^155.
TEST(LadderWor, SelectedDistributionsSumToOneWhereDraftsAllButCannotBe) {
  const std::vector<double> p{0x1p-24, 0x1p-126, 0x1p-1074, 0.5, 0.5 - 0x1p-24},
      q{1 - 0x1p-24, 0x1p-24, 0x1p-1074, 0, 0x1p-149};
  const auto total = [](const auto& distributions, int drafts) {
    const auto plan = verifiers::LadderWor{}.prepare(distributions, drafts);
    double sum = 0;
    for (Token x = 0; x < distributions.vocabulary(); ++x) sum += plan.core().selected(distributions, x);
    return sum;
  };
  const Rows<double> rows(p, q);
  const FreshRows<double> fresh{std::span<const double>(p), std::span<const double>(q)};
  for (const int drafts : {1, 2, 3}) {  // with four drafts the slope at 2^-1074 overflows
    EXPECT_NEAR(total(rows, drafts), 1, 1e-13) << drafts;
    EXPECT_NEAR(total(fresh, drafts), 1, 1e-13) << drafts;
  }
}

// Tests of drafts that are uniform over the remaining tokens after the support of q is exhausted.

using verifiers::LadderWor;

/// Returns an instance with weights of 0 to `most`, `support` tokens with q > 0, and K > `support`.
Instance exhausted_instance(InstanceRng& dice, int vocabulary, int support, int most) {
  Instance instance;
  for (int x = 0; x < vocabulary; ++x) instance.target.push_back(dice.between(0, most));
  instance.proposals.emplace_back();
  for (int x = 0; x < vocabulary; ++x) instance.proposals[0].push_back(x < support ? dice.between(1, most) : 0);
  for (int x = vocabulary; x-- > 1;)
    std::swap(instance.proposals[0][static_cast<std::size_t>(x)],
              instance.proposals[0][static_cast<std::size_t>(dice.between(0, x))]);
  instance.target[static_cast<std::size_t>(dice.between(0, vocabulary - 1))] += 1;
  instance.drafts = dice.between(support + 1, std::min(vocabulary, support + 2));
  return instance;
}

TEST(LadderUniformRest, TheDistributionIsExactAndTheOptimumAttained) {
  const AnyVerifier& ladder = *registry().verifier("ladder_wor");
  const AnyDrafter& drafter = *registry().drafter("without_replacement_uniform");
  int between = 0;
  for (int n = 0; n < 1200; ++n) {
    InstanceRng dice(81, static_cast<std::uint64_t>(n));
    const int vocabulary = dice.between(2, 6), support = dice.between(1, std::min(vocabulary - 1, 2));
    const Instance instance = exhausted_instance(dice, vocabulary, support, n % 2 == 0 ? 4 : 30);
    InstanceAnalysis at(ladder, drafter, instance);
    ASSERT_TRUE(at.distribution().complete) << instance.text();
    ASSERT_EQ(at.distribution().output, normalised(instance.target)) << instance.text();
    ASSERT_EQ(at.distribution().draft_emitted, at.optimum()) << instance.text();
    ASSERT_EQ(at.distribution().draft_accepted, at.optimum()) << instance.text();
    const auto rows = instance.rows();
    const auto plan = LadderWor{}.prepare(rows, instance.drafts);
    ASSERT_TRUE(plan.rest) << instance.text();
    Rational overlap = 0, selected = 0;
    for (Token x = 0; x < vocabulary; ++x) {
      const bool inside = rows.proposal(x) > 0;
      const Rational one = inside ? rows.target(x) : plan.rest->selected(x);
      selected += one;
      overlap += std::min(rows.target(x), one);
    }
    ASSERT_EQ(selected, 1) << instance.text();
    ASSERT_EQ(overlap, at.optimum()) << instance.text();
    between += at.optimum() < 1;
  }
  EXPECT_GT(between, 200);  // instances with optimum below 1; at 1 every choice is accepted
}

// While K is at most the size of q's support, without_replacement and without_replacement_uniform draw the same drafts.
TEST(LadderUniformRest, BothDraftSamplingsAgreeWhileTheSupportLasts) {
  const AnyVerifier& ladder = *registry().verifier("ladder_wor");
  for (int n = 0; n < 60; ++n) {
    InstanceRng dice(82, static_cast<std::uint64_t>(n));
    Instance instance = exhausted_instance(dice, 4, 3, 9);
    instance.drafts = dice.between(1, 3);
    InstanceAnalysis stop(ladder, *registry().drafter("without_replacement"), instance),
        uniform(ladder, *registry().drafter("without_replacement_uniform"), instance);
    EXPECT_EQ(stop.distribution().draft_emitted, uniform.distribution().draft_emitted) << instance.text();
    EXPECT_EQ(stop.distribution().draft_emitted, stop.optimum()) << instance.text();
  }
}

template <class L>
double accepted_share(const L& distributions, int drafts, int trials) {
  const LadderWor ladder;
  const auto plan = ladder.prepare(distributions, drafts);
  int accepted = 0;
  Token tuple[max_drafts];
  for (int t = 0; t < trials; ++t) {
    Philox draws(3, static_cast<std::uint64_t>(t), Philox::Role::draft),
        random(4, static_cast<std::uint64_t>(t), Philox::Role::verify);
    const int count = drafters::WithoutReplacementUniform{}.draw(distributions, drafts, draws, tuple);
    const Verdict verdict = ladder.verify(DraftedPosition<L>(distributions, tuple, count), plan, random);
    accepted += verdict.accepted >= 0;
    EXPECT_EQ(verdict.accepted >= 0, among(verdict.token, tuple, count));
  }
  return accepted / static_cast<double>(trials);
}

// On fresh rows, the tokens with q = 0 are in buckets too. Every branch of a decision is enumerated in double. Sums
// over the vocabulary are truncated by at most V 2^-60, and the masses of a branch are rounded a few times; 1e-12 is
// far above both.
int exhausted = 0;  ///< times that a tuple went beyond the support of q
struct CountsExhausted : drafters::WithoutReplacementUniform {
  template <class L, class R>
  int draw(const L& distributions, int drafts, R& random, Token* out) const {
    const int count = drafters::WithoutReplacementUniform::draw(distributions, drafts, random, out);
    exhausted += count == drafts && !(distributions.proposal(out[count - 1]) > 0);
    return count;
  }
};
TEST(LadderUniformRest, BucketsOfFreshRowsHaveTheExactDistribution) {
  int joined = 0;
  for (int n = 0; n < 200; ++n) {
    InstanceRng dice(83, static_cast<std::uint64_t>(n));
    const int vocabulary = dice.between(3, 9), support = dice.between(1, 2);
    std::vector<double> p, q;
    for (int x = 0; x < vocabulary; ++x) {
      p.push_back(n % 2 == 0 ? dice.between(0, 9) : 100 + dice.between(0, 2));  // far apart, or several to a bucket
      q.push_back(x < support ? dice.between(1, 9) : 0);
    }
    p[0] += 1;
    p = examples::normalised(p);
    q = examples::normalised(q);
    const int drafts = dice.between(support + 1, std::min(vocabulary, support + 2));
    const FreshRows<double> rows{std::span<const double>(p), std::span<const double>(q)};
    const auto distribution = enumerated<CountsExhausted>(LadderWor{}, rows, drafts).output;
    for (std::size_t x = 0; x < p.size(); ++x)
      EXPECT_NEAR(distribution[x], p[x], 1e-12) << "instance " << n << ", token " << x;
    Token all[max_drafts];
    for (Token x = 0; x < support; ++x) all[x] = x;
    const RestBuckets<HostWorkspace> buckets(HostWorkspace{}, rows, all, support);
    joined += buckets.size() - 1 < vocabulary - support;
  }
  EXPECT_GT(exhausted, 1000);
  EXPECT_GT(joined, 50);  // otherwise no bucket has several tokens
}

// q is truncated to its three largest tokens; the target has 512 tokens. The tolerance is five standard errors of the
// accepted share, which chance exceeds about once in a million comparisons.
TEST(LadderUniformRest, TruncatedRowsReachTheOptimum) {
  registry();
  const Source source = Source::open(DRAFTPROOF_SOURCE_DIR "/data/stories512_positions.npz");
  for (std::size_t i = 0; i < source.positions(); i += 97)
    for (const int drafts : {4, 8}) {
      RowPair pair = source.pair(i);
      auto& q = pair.proposals[0];
      std::vector<double> falling = q;
      std::sort(falling.rbegin(), falling.rend());
      double sum = 0;
      for (double& one : q) sum += one = one < falling[2] ? 0 : one;
      for (double& one : q) one /= sum;
      const RatioTable table(pair.target, pair.proposals);
      const double optimum = optima::WithoutReplacementUniform::find(table, drafts)->lower;
      const std::vector<float> p(pair.target.begin(), pair.target.end()), narrow(q.begin(), q.end());
      const FreshRows<float> rows{std::span<const float>(p), std::span<const float>(narrow)};
      constexpr int trials = 4000;
      const double error = 5 * std::sqrt(std::max(optimum * (1 - optimum), 1e-3) / trials);
      EXPECT_NEAR(accepted_share(table, drafts, trials), optimum, error) << "position " << i << ", K = " << drafts;
      EXPECT_NEAR(accepted_share(rows, drafts, trials / 10), optimum, error * std::sqrt(10.0))
          << "position " << i << ", K = " << drafts;
    }
}

}  // namespace
}  // namespace draftproof
