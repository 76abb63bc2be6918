// Tests of couplings through shared noise: their output distribution is p, their acceptance has a closed form, and a
// wrong use of the noise has known effects. Couplings cannot be enumerated, because they read noise for every token, so
// all tests compare trials of fixed seeds with confidence intervals.
#include <gtest/gtest.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/race_acceptance.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/sim/drafters/shared_noise.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/tests/support/golden.hpp>
#include <draftproof/verifiers/gls.hpp>
#include <draftproof/verifiers/gumbel_coupling.hpp>
#include <draftproof/verifiers/gumbel_top_k_coupling.hpp>
#include <draftproof/verifiers/weighted_minhash.hpp>

namespace draftproof {
namespace {

/// Probability that an interval misses the true value. At most 1000 intervals are evaluated on correct programs in this
/// file, so a false alarm has probability 1e-9 over the choice of the seeds, which are fixed.
constexpr double alpha = 1e-12;
int intervals_asked = 0;

bool covers(std::uint64_t count, std::uint64_t trials, double probability) {
  ++intervals_asked;
  const auto [low, high] = clopper_pearson(count, trials, alpha);
  return low <= probability + 1e-12 && probability - 1e-12 <= high;
}

/// Calls visit(name, K, expected acceptance) for every coupling with the case's number of drafts.
template <class Visit>
void for_couplings(const golden::Case& c, Visit visit) {
  const auto &p = c.p, &q = c.q.front();
  visit("gls", c.drafts, acceptance::gls_exact(p, q, c.drafts));
  if (c.drafts > 1) {
    visit("gumbel_top_k_coupling", c.drafts, acceptance::shared_race_exact(p, q, c.drafts));
  } else {
    visit("gumbel_coupling", 1, acceptance::gumbel(p, q));
    visit("weighted_minhash", 1, acceptance::minhash(p, q));
  }
}

TEST(Couplings, EmitTheTargetAndAcceptTheirClosedForm) {
  int compared = 0;
  for (const golden::Case& c : golden::cases()) {
    if (c.scheme != "gls") continue;
    const RatioTable table(c.p, c.q);
    for_couplings(c, [&](std::string_view name, int drafts, double wanted) {
      const AnyVerifier& verifier = *registry().verifier(name);
      const AnyDrafter& drafter = *registry().drafter(verifier.info().drafts.names[0]);
      const Tally tally = simulate({verifier, drafter, drafts, 8, 0, true}, table, {.trials = 20'000});
      EXPECT_EQ(tally.impossible, 0u);
      EXPECT_EQ(tally.draft_accepted, tally.draft_emitted);
      EXPECT_TRUE(covers(tally.draft_emitted, tally.trials, wanted))
          << c.id << " " << name << ": " << tally.draft_emitted << " of " << tally.trials << ", expected " << wanted;
      for (std::size_t x = 0; x < c.p.size(); ++x)
        EXPECT_TRUE(covers(tally.histogram[x], tally.trials, c.p[x])) << c.id << " " << name << " token " << x;
      ++compared;
    });
  }
  EXPECT_EQ(compared, 23 * (1 + 2 + 2 + 2));
  EXPECT_LT(intervals_asked, 900);
}

// With two keys, key A gives the noise that draws the draft from q, and key B the noise that draws the correction from
// the residual.
TEST(Couplings, TwoKeysGiveTheTargetAndOneKeyItsClosedForm) {
  const std::vector<double> p{0, 2 / 3., 1 / 3.}, q{2 / 3., 1 / 3., 0};
  const RatioTable table(p, q);
  const auto ran = [&](std::string_view name) {
    const AnyVerifier& verifier = *registry().verifier(name);
    return simulate({verifier, *registry().drafter("gumbel_iid"), 1, 8, 0, true}, table, {.trials = 200'000});
  };
  const auto expect = [](const Tally& tally, const std::vector<double>& distribution, bool same) {
    bool all = true;
    for (std::size_t x = 0; x < distribution.size(); ++x)
      all = covers(tally.histogram[x], tally.trials, distribution[x]) && all;
    EXPECT_EQ(all, same);
    EXPECT_TRUE(covers(tally.draft_accepted, tally.trials, 1 / 3.));  // sum min(p, q)
  };
  const std::vector<double> one_key{0, 7 / 12., 5 / 12.};
  expect(ran("dual_key_gumbel"), p, true);
  expect(ran("one_key_gumbel"), one_key, true);
  expect(ran("one_key_gumbel"), p, false);
}

/// A source with a bug: all streams have the same noise (one_stream), or drafter and verifier read different noise
/// (own_noise).
class Broken : public Philox {
 public:
  Broken(std::uint64_t trial, Role role, bool one_stream, bool own_noise)
      : Philox(9, trial, role),
        one_stream_{one_stream},
        own_stream_{own_noise && role == Role::verify ? 1000u : 0u} {}
  NoiseBlock noise(std::uint32_t stream, std::uint32_t block) const {
    return Philox::noise((one_stream_ ? 0 : stream) + own_stream_, block);
  }

 private:
  bool one_stream_;
  std::uint32_t own_stream_;
};

struct Counts {
  std::uint64_t draft_emitted = 0;
  std::vector<std::uint64_t> histogram;
};

constexpr std::uint64_t trials = 100'000;
const std::vector<double> target{0.4, 0.05, 0.25, 0.1, 0.2}, proposal{0.1, 0.3, 0.3, 0.3, 0};

Counts run_gls(bool one_stream, bool own_noise) {
  const Rows<double> rows(target, proposal);
  Counts counts{0, std::vector<std::uint64_t>(target.size())};
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    Token drafts[3];
    Broken drafting(trial, Philox::Role::draft, one_stream, own_noise);
    Broken verifying(trial, Philox::Role::verify, one_stream, own_noise);
    drafters::GumbelIid{}.draw(rows, 3, drafting, drafts);
    const Verdict verdict = verifiers::Gls{}.verify(DraftedPosition(rows, drafts, 3), verifying);
    counts.draft_emitted += verdict.accepted >= 0;
    ++counts.histogram[static_cast<std::size_t>(verdict.token)];
  }
  return counts;
}

// The output has distribution p in all three cases, so only acceptance reveals a wrong use of the noise.
TEST(Couplings, AWrongUseOfTheNoiseIsSeenByItsAcceptance) {
  const double list = acceptance::gls_exact(target, proposal, 3);
  for (const auto& [one_stream, own_noise, wanted] :
       {std::tuple(false, false, list),
        {true, false, acceptance::gumbel(target, proposal)},  // three copies of one draft
        {false, true, acceptance::sample_and_match(target, proposal, 3)}}) {
    const Counts counts = run_gls(one_stream, own_noise);
    for (std::size_t x = 0; x < target.size(); ++x) EXPECT_TRUE(covers(counts.histogram[x], trials, target[x])) << x;
    EXPECT_TRUE(covers(counts.draft_emitted, trials, wanted));
    EXPECT_EQ(covers(counts.draft_emitted, trials, list), !one_stream && !own_noise);
  }
}

/// Returns the tokens of 100 trials of the verifier V, whose drafts are all token 0.
template <class V, class L>
std::vector<Token> tokens(const L& distributions, int drafts) {
  std::vector<Token> found;
  const std::vector<Token> none(static_cast<std::size_t>(drafts), 0);
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    Philox random(10, trial, Philox::Role::verify);
    found.push_back(V{}.verify(DraftedPosition<L>(distributions, none.data(), drafts), random).token);
  }
  return found;
}

template <class V>
void expect_invariant(int drafts) {
  const auto p = examples::random_row(21, 300, 4, 0.2);
  const std::vector<float> narrow(p.begin(), p.end());
  const auto q = examples::random_row(22, 300, 2, 0.5);
  const auto wanted = tokens<V>(Rows<double>(p, q), drafts);
  const auto wanted_narrow = tokens<V>(FreshRows<float>(narrow, std::span<const float>(narrow)), drafts);
  const auto on_table = tokens<V>(RatioTable(p, q), drafts);
  for (std::uint64_t seed = 30; seed < 34; ++seed) {
    const auto other = examples::random_row(seed, 300, 5, 0.3);
    const std::vector<float> narrow_other(other.begin(), other.end());
    EXPECT_EQ(tokens<V>(Rows<double>(p, other), drafts), wanted);
    EXPECT_EQ(tokens<V>(RatioTable(p, other), drafts), on_table);
    EXPECT_EQ(tokens<V>(FreshRows<float>(narrow, std::span<const float>(narrow_other)), drafts), wanted_narrow);
  }
}

TEST(Couplings, TokensDoNotMoveWithTheProposalOnAnyModel) {
  expect_invariant<verifiers::GumbelCoupling>(1);
  expect_invariant<verifiers::WeightedMinhash>(1);
  expect_invariant<verifiers::Gls>(3);
  expect_invariant<verifiers::GumbelTopKCoupling>(3);
}

TEST(Couplings, AreOneSchemeAtOneDraft) {
  const Rows<double> rows(target, proposal);
  EXPECT_EQ(tokens<verifiers::Gls>(rows, 1), tokens<verifiers::GumbelCoupling>(rows, 1));
  EXPECT_EQ(tokens<verifiers::GumbelTopKCoupling>(rows, 1), tokens<verifiers::GumbelCoupling>(rows, 1));
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    Philox random(10, trial, Philox::Role::draft);
    Token race = no_token, first = no_token;
    drafters::GumbelIid{}.draw(rows, 1, random, &race);
    drafters::GumbelTopK{}.draw(rows, 1, random, &first);
    EXPECT_EQ(race, first);
  }
}

TEST(Couplings, EqualDistributionsAlwaysAgree) {
  for (const auto& row : examples::awkward_rows()) {
    const RatioTable table(row, row);
    for (const auto& verifier : registry().verifiers()) {
      if (!verifier->info().shared_noise) continue;
      const AnyDrafter& drafter = *registry().drafter(verifier->info().drafts.names[0]);
      const int drafts = verifier->takes(3) ? 3 : 1;
      const Tally tally = simulate({*verifier, drafter, drafts, 12}, table, {.trials = 200});
      EXPECT_EQ(tally.draft_accepted, tally.trials) << verifier->info().name << ", V = " << row.size();
    }
  }
}

}  // namespace
}  // namespace draftproof
