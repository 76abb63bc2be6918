// The text of a whole engine: a right engine on Markov tables passes, slips are found, and the evidence is an e-value.
#include <cmath>
#include <functional>
#include <set>

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

/// Notes what it is asked, and is silent on texts beyond a length.
class SlowEngine final : public Served {
 public:
  explicit SlowEngine(int longest, EngineSlip slip = EngineSlip::none) : engine_{slip}, longest_{longest} {}
  const Declaration& declaration() const override { return engine_.declaration(); }
  void verify(const ServedBatch&, ServedResult&) override {}
  std::vector<std::int32_t> generate(const ServedModels& models) override {
    asked.push_back(models.length);
    seeds.insert(models.seed);
    if (models.length > longest_) throw ProgramSilent("did not answer within 60 s");
    return engine_.generate(models);
  }
  std::vector<int> asked{};
  std::set<std::int64_t> seeds{};

 private:
  MarkovEngine engine_;
  int longest_;
};

TEST(TextChecks, TextsGrowAndHaveSeedsOfTheirOwn) {
  SlowEngine engine(1 << 20);
  EXPECT_EQ(check_text(engine, {.log2_tokens = 13}).front().work, 1u << 13);
  EXPECT_EQ(engine.asked, (std::vector{1024, 1024, 2048, 4096}));
  EXPECT_EQ(engine.seeds.size(), 4u);
  SlowEngine small(1 << 20);
  EXPECT_EQ(check_text(small, {.log2_tokens = 9}).front().work, 512u);
  EXPECT_EQ(small.asked, std::vector{512});
}

TEST(TextChecks, WhatIsKnownIsSaidWhereATextTakesTooLong) {
  for (const auto& [longest, known] : {std::pair{0, 0}, {1024, 2048}, {4096, 8192}}) {
    SlowEngine engine(longest);
    const GateFinding finding = check_text(engine, {}).front();
    EXPECT_EQ(finding.status, Status::undecided);
    EXPECT_EQ(finding.work, static_cast<std::uint64_t>(known));
    EXPECT_TRUE(finding.evidence.starts_with("a text of " + std::to_string(std::max(known, 1024)) +
                                             " tokens: did not answer within 60 s; e = 10^"))
        << finding.evidence;
    EXPECT_NE(finding.evidence.find(" after " + std::to_string(known) + " tokens"), std::string::npos);
  }
  // Enough is known of a wrong engine before it is slow.
  SlowEngine wrong(4096, EngineSlip::residual_is_target);
  EXPECT_EQ(check_text(wrong, {}).front().status, Status::violated);
}

TEST(TextChecks, TheEvidenceOfTwoTextsHasMeanOne) {
  // All pairs of texts of five tokens, weighted by their probability.
  const std::vector<double> target{0.25, 0.75, 0.5, 0.5};
  double mean = 0;
  for (unsigned bits = 0; bits < 1024; ++bits) {
    std::vector<std::vector<std::int32_t>> texts(2);
    double probability = 1;
    for (int i = 0; i < 10; ++i) {
      auto& text = texts[i < 5 ? 0 : 1];
      const auto token = static_cast<std::int32_t>((bits >> i) & 1u);
      probability *= target[static_cast<std::size_t>(2 * (text.empty() ? 0 : text.back()) + token)];
      text.push_back(token);
    }
    mean += probability * std::exp(evidence_of_texts(texts, target, 2).log_e);
  }
  EXPECT_NEAR(mean, 1, 1e-12) << "1,024 terms, each with some 200 roundings of 2^-53";
}

TEST(TextChecks, ATokenOfProbabilityZeroIsAProof) {
  const std::vector<double> target{0.5, 0.5, 0, 1, 0, 0, 0, 0, 1};
  const std::vector<std::int32_t> text{1, 0, 2};
  const TextEvidence evidence = evidence_of_texts({&text, 1}, target, 3);
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
    mean += probability * std::exp(evidence_of_texts({&text, 1}, target, 2).log_e);
  }
  EXPECT_NEAR(mean, 1, 1e-12) << "1,024 terms, each with some 200 roundings of 2^-53";
}

}  // namespace
}  // namespace draftproof::doors
