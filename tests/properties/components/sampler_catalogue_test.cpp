// Tests of wrong samplers: the total variation and the tails that float sums, short uniforms and short noise cause, and
// the random bits that reveal the other bugs.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/sampler/checks/samplers.hpp>
#include <draftproof/sim/components/sampler/samplers.hpp>
#include <draftproof/verifiers/mutants/components/sampler/wrong_samplers.hpp>

namespace draftproof {
namespace {

/// Inverse-CDF sampling with uniforms of fewer bits.
template <int bits>
struct UniformOf : InverseCdfSteps {
  static constexpr ComponentInfo info{.name = "uniform_of", .summary = "", .source = ""};
  static double uniform(std::uint64_t word) { return std::ldexp(static_cast<double>(word >> (64 - bits)), -bits); }
  auto prepare(std::span<double> row) const { return InverseCdfTable<UniformOf>(row); }
};

/// Rounds row entries to the 8 significant bits of bfloat16, then draws in double.
struct Bfloat16Row : InverseCdfSteps {
  static constexpr ComponentInfo info{.name = "bfloat16_row", .summary = "", .source = ""};
  auto prepare(std::span<double> row) const {
    std::vector<double> rounded;
    for (const double weight : row) {
      int exponent = 0;
      const double fraction = std::frexp(weight, &exponent);
      rounded.push_back(std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8));
    }
    return InverseCdfTable<Bfloat16Row>(rounded);
  }
};

template <class S>
double zipf_distance(int vocabulary) {
  const SamplerCase one{.form = SamplerCase::Form::zipf, .weights = {}, .size = vocabulary, .gap = 0};
  std::vector<double> row = one.row();
  return program_distance(sampler<S>().pieces(row), row);
}

/// Expects a value within 10 % of the published value, which has two digits and was computed with another random order
/// of the row.
void expect_about(double value, double published) { EXPECT_NEAR(value / published, 1, 0.10) << value; }

TEST(WrongSamplers, FloatSumsAndShortUniformsInTotalVariation) {
  expect_about(zipf_distance<mutants::components::sampler::FloatRunningSum>(32'000), 1.6e-4);
  expect_about(zipf_distance<mutants::components::sampler::FloatRunningSum>(128'256), 7.0e-4);
  expect_about(zipf_distance<mutants::components::sampler::FloatRunningSum>(262'144), 1.4e-3);
  expect_about(zipf_distance<mutants::components::sampler::UniformOf24Bits>(32'000), 3.2e-4);
  expect_about(zipf_distance<mutants::components::sampler::UniformOf24Bits>(128'256), 1.3e-3);
  expect_about(zipf_distance<mutants::components::sampler::UniformOf24Bits>(262'144), 2.5e-3);
  expect_about(zipf_distance<UniformOf<32>>(32'000), 1.3e-6);
  expect_about(zipf_distance<UniformOf<32>>(128'256), 5e-6);
  expect_about(zipf_distance<UniformOf<32>>(262'144), 1e-5);
  expect_about(zipf_distance<Bfloat16Row>(32'000), 7e-4);
}

TEST(Samplers, OfTheProductStayFarBelowTheirBudgets) {
  EXPECT_LT(zipf_distance<components::sampler::AliasSampler>(128'256), 1e-12);
  EXPECT_LT(zipf_distance<components::sampler::InverseCdfSampler>(128'256), 1e-11);
}

TEST(WrongSamplers, ShortNoiseStarvesTails) {
  const Sampler wrong = sampler<mutants::components::sampler::GumbelFrom24BitUniform>();
  // `published` has deviations of the count of rare tokens in 100,000 draws from the true mean, in standard deviations.
  // They are compared with the deviation of the expected count. Each comes from one run, so it has a standard deviation
  // itself: sqrt(111 / 196) at the first logit gap (18), 0 at the second (20), where the count is always 0.
  const double published[] = {-5.9, -5.2}, noise[] = {std::sqrt(111.0 / 196.0), 0.05};
  for (const int n : {0, 1}) {
    const SamplerCase one{.form = SamplerCase::Form::tail, .weights = {}, .size = 129'280, .gap = 18 + 2 * n};
    const double wanted = checks::sampler::TailMass::true_mass(one);
    const auto found = checks::sampler::TailMass::bounds(wrong, one);
    EXPECT_LE(found.high - found.low, 0.01 * wanted);
    const double z = (found.low - wanted) * std::sqrt(1e5 / wanted);
    EXPECT_NEAR(z, published[n], noise[n]);
  }
}

TEST(WrongSamplers, RareTokensHaveTheirShareInTheRightRace) {
  for (const char* tail : {"tail V=2 gap=0", "tail V=1000 gap=5", "tail V=129280 gap=22"})
    EXPECT_EQ(examine_one("race_sampler", "tail_mass", tail)->status, Status::passed) << tail;
}

TEST(WrongSamplers, CoinsOfOne) {
  // Of the 32-bit integers, the last 128 round to 2^32 in float, and so to a uniform of 1: 2^32 - 128 is a tie, which
  // rounds to even.
  using mutants::components::sampler::CoinCanBeOne;
  const auto first = first_word([](std::uint64_t word) { return CoinCanBeOne::uniform(word) >= 1; });
  ASSERT_TRUE(first);
  EXPECT_EQ((std::uint64_t{1} << 32) - (*first >> 32), 128u);
  const auto finding = examine_one("coin_can_be_one", "boundary_words", "w=(1 1)/2");
  ASSERT_EQ(finding->status, Status::failed);
  EXPECT_NE(finding->evidence.find("give 2 which is not in the vocabulary"), std::string::npos) << finding->evidence;
}

TEST(WrongSamplers, TheLastIdWithoutWeight) {
  // In double, 2/6 + 3/6 + 1/6 summed from left to right is one ulp below 1, and the largest uniform is this number.
  const auto finding = examine_one("fallback_to_last_id", "boundary_words", "w=(2 3 1 0)/6");
  ASSERT_EQ(finding->status, Status::failed);
  EXPECT_NE(finding->evidence.find("give 3 of weight 0"), std::string::npos) << finding->evidence;
  EXPECT_EQ(examine_one("fallback_to_last_id", "boundary_words", "w=(1 1 0)/2")->status, Status::passed);
  EXPECT_EQ(examine_one("inverse_cdf_sampler", "boundary_words", "w=(2 3 1 0)/6")->status, Status::passed);
}

TEST(WrongSamplers, NoNumberWinsARace) {
  using mutants::components::sampler::ZeroExponentialWins;
  const auto finding = examine_one("zero_exponential_wins", "boundary_words", "w=(1 0)/1");
  ASSERT_EQ(finding->status, Status::failed);
  EXPECT_EQ(examine_one("race_sampler", "boundary_words", "w=(1 0)/1")->status, Status::passed);
  // One in 2^25 random numbers gives an exponential of 0, so with 152,000 tokens of weight 0, one of them wins every
  // 220 draws.
  const auto zero = first_word([](std::uint64_t word) { return ZeroExponentialWins::clock(word) <= 0; });
  ASSERT_TRUE(zero);
  const double share = static_cast<double>(~*zero + 1) * 0x1p-64;
  EXPECT_EQ(share, 0x1p-25);
  EXPECT_NEAR(1 / (152'000 * share), 220, 1);
}

TEST(WrongSamplers, TheRowIsNoDistributionAfterTheRace) {
  EXPECT_EQ(examine_one("proposal_overwritten_by_race", "row_unchanged", "w=(1 1)/2")->status, Status::failed);
  EXPECT_EQ(examine_one("proposal_overwritten_by_race", "boundary_words", "w=(1 1)/2")->status, Status::passed);
}

/// A sampler whose stated distribution differs from the distribution of its draws.
struct FalseStatement : InverseCdfSteps {
  static constexpr ComponentInfo info{.name = "false_statement", .summary = "", .source = ""};
  struct Table {
    Token draw(std::uint64_t word) const { return word >> 62 == 0 ? 0 : 1; }
    template <class Visit>
    void pieces(Visit visit) const {
      visit(std::uint64_t{0}, 0);
      visit(std::uint64_t{1} << 63, 1);
    }
  };
  auto prepare(std::span<double>) const { return Table{}; }
};

TEST(Samplers, StatedDistributionsAreTiedToDraws) {
  std::uint64_t work = 0;
  const SamplerCase one = SamplerCase::parse("w=(1 1)/2");
  const Answer answer = checks::sampler::DistributionInBudget::check(sampler<FalseStatement>(), one, work);
  EXPECT_EQ(answer.status, Status::failed);
  EXPECT_NE(answer.evidence.find("the sampler declares"), std::string::npos);
}

TEST(SamplerCases, TextIsReadBack) {
  for (const char* text : {"w=(1 1 0)/2", "zipf V=32000", "tail V=129280 gap=18"})
    EXPECT_EQ(SamplerCase::parse(text).text(), text);
  for (const char* text :
       {"", "w=(0 0)/0", "zipf V=1", "zipf", "tail V=9", "tail V=9 gap=101", "w=(1)/1 x", "zipf V=2000000"})
    EXPECT_THROW(SamplerCase::parse(text), std::invalid_argument) << text;
}

}  // namespace
}  // namespace draftproof
