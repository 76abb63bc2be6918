// The text of a whole engine: a right engine on Markov tables passes, slips are found, and the evidence is an e-value.
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include <draftproof/doors/gate/text_checks.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::doors {
namespace {

enum class EngineSlip { none, residual_is_target, bonus_of_last_row, coin_again };

/// Token verification of chains on two Markov tables, block after block.
class MarkovEngine final : public Served {
 public:
  explicit MarkovEngine(EngineSlip slip) : slip_{slip} {
    declaration_.name = "engine";
    declaration_.randomness = {Randomness::seeded};
    declaration_.functions = {"generate"};
  }
  const Declaration& declaration() const override { return declaration_; }
  void verify(const ServedBatch&, ServedResult&) override {}
  std::vector<std::int32_t> generate(const ServedModels& models) override {
    const auto v = static_cast<std::size_t>(models.vocabulary);
    Philox random(static_cast<std::uint64_t>(models.seed), 0, Philox::Role::verify);
    const auto uniform = [&] { return static_cast<double>(random.next(Purpose::flip) >> 11) * 0x1p-53; };
    const auto draw = [&](const std::function<double(std::size_t)>& weight, double u) {
      double total = 0, sum = 0;
      for (std::size_t x = 0; x < v; ++x) total += weight(x);
      std::size_t x = 0;
      while (x + 1 < v && !(u * total < (sum += weight(x)))) ++x;
      return static_cast<std::int32_t>(x);
    };
    const auto row = [v](std::span<const double> table, std::int32_t t) {
      return table.subspan(static_cast<std::size_t>(t) * v, v);
    };
    std::vector<std::int32_t> text;
    std::int32_t last = 0;
    while (std::ssize(text) < models.length) {
      std::vector<std::int32_t> drafts;
      std::int32_t before = last;
      for (int i = 0; i < models.drafts; ++i) {
        const auto q = row(models.proposal, before);
        drafts.push_back(before = draw([&](std::size_t x) { return q[x]; }, uniform()));
      }
      bool rejected = false;
      for (const std::int32_t draft : drafts) {
        const auto p = row(models.target, last), q = row(models.proposal, last);
        const auto x = static_cast<std::size_t>(draft);
        const double coin = uniform();
        if (coin * q[x] < p[x]) {
          text.push_back(last = draft);
          continue;
        }
        const auto residual = [&](std::size_t y) {
          return slip_ == EngineSlip::residual_is_target ? p[y] : std::max(0.0, p[y] - q[y]);
        };
        text.push_back(last = draw(residual, slip_ == EngineSlip::coin_again ? coin : uniform()));
        rejected = true;
        break;
      }
      if (rejected) continue;
      const auto p =
          row(models.target,
              slip_ == EngineSlip::bonus_of_last_row && drafts.size() > 1 ? drafts[drafts.size() - 2] : last);
      text.push_back(last = draw([&](std::size_t y) { return p[y]; }, uniform()));
    }
    text.resize(static_cast<std::size_t>(models.length));
    return text;
  }

 private:
  EngineSlip slip_;
  Declaration declaration_;
};

GateFinding checked(EngineSlip slip) {
  MarkovEngine engine(slip);
  return check_text(engine, {.log2_tokens = 15}).front();
}

TEST(TextChecks, ARightEnginePasses) {
  const GateFinding finding = checked(EngineSlip::none);
  EXPECT_EQ(finding.status, Status::held) << finding.evidence;
}

TEST(TextChecks, SlipsAreFound) {
  for (const EngineSlip slip :
       {EngineSlip::residual_is_target, EngineSlip::bonus_of_last_row, EngineSlip::coin_again}) {
    const GateFinding finding = checked(slip);
    EXPECT_EQ(finding.status, Status::violated) << static_cast<int>(slip) << ": " << finding.evidence;
  }
}

TEST(TextChecks, ATokenOfProbabilityZeroIsAProof) {
  const std::vector<double> target{0.5, 0.5, 0, 1, 0, 0, 0, 0, 1};
  const std::vector<std::int32_t> text{1, 0, 2};
  const TextEvidence evidence = evidence_of_text(text, target, 3);
  EXPECT_TRUE(std::isinf(evidence.log_e));
  EXPECT_EQ(evidence.worst, "token 2 of the text is 2 after 0, which has p = 0");
}

TEST(TextChecks, TheEvidenceOfShortTextsHasMeanOne) {
  // All 2^10 texts of two tokens, weighted by their probability.
  const std::vector<double> target{0.25, 0.75, 0.5, 0.5};
  double mean = 0;
  for (unsigned bits = 0; bits < 1024; ++bits) {
    std::vector<std::int32_t> text;
    double probability = 1;
    std::int32_t last = 0;
    for (int i = 0; i < 10; ++i) {
      const auto token = static_cast<std::int32_t>((bits >> i) & 1u);
      probability *= target[static_cast<std::size_t>(2 * last + token)];
      text.push_back(last = token);
    }
    mean += probability * std::exp(evidence_of_text(text, target, 2).log_e);
  }
  EXPECT_NEAR(mean, 1, 1e-12) << "1,024 terms, each with some 200 roundings of 2^-53";
}

}  // namespace
}  // namespace draftproof::doors
