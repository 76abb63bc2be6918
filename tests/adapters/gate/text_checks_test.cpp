// The text of a whole engine: a right engine on Markov tables passes, bugs are found, and the evidence is an e-value.
#include <cmath>
#include <set>

#include <draftproof/adapters/gate/text_checks.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/tests/support/adapters_rejection.hpp>

namespace draftproof::adapters {
namespace {

enum class EngineBug { none, residual_is_target, bonus_of_last_row, coin_again };

/// Token verification of chains on two Markov tables, block after block.
class MarkovEngine final : public Served {
 public:
  explicit MarkovEngine(EngineBug bug) : bug_{bug} {
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
    const auto row = [v](std::span<const double> table, Token t) {
      const auto values = table.subspan(static_cast<std::size_t>(t) * v, v);
      return Weights(values.begin(), values.end());
    };
    std::vector<Token> text{0};  // after token 0
    while (std::ssize(text) <= models.length) {
      std::vector<Token> path{text.back()};
      for (int i = 0; i < models.drafts; ++i) path.push_back(inverted(row(models.proposal, path.back()), uniform()));
      std::size_t taken = 1;
      for (bool open = true; open && taken < path.size();) {
        const Weights p = row(models.target, path[taken - 1]), q = row(models.proposal, path[taken - 1]);
        const auto x = static_cast<std::size_t>(path[taken]);
        const double coin = uniform();
        open = coin * q[x] < p[x];
        if (!open)
          path[taken] = inverted(bug_ == EngineBug::residual_is_target ? p : residual_of(p, q),
                                 bug_ == EngineBug::coin_again ? coin : uniform());
        text.push_back(path[taken]);
        if (open) ++taken;
      }
      if (taken < path.size()) continue;
      const bool early = bug_ == EngineBug::bonus_of_last_row && path.size() > 2;
      text.push_back(inverted(row(models.target, path[path.size() - (early ? 2 : 1)]), uniform()));
    }
    text.erase(text.begin());
    text.resize(static_cast<std::size_t>(models.length));
    return text;
  }

 private:
  EngineBug bug_;
  Declaration declaration_;
};

Finding checked(EngineBug bug) {
  MarkovEngine engine(bug);
  return check_text(engine, {.log2_tokens = 15}).front();
}

TEST(TextChecks, RightEnginesPassAndWrongOnesAreFound) {
  for (const EngineBug bug :
       {EngineBug::none, EngineBug::residual_is_target, EngineBug::bonus_of_last_row, EngineBug::coin_again}) {
    const Finding finding = checked(bug);
    EXPECT_EQ(finding.status, bug == EngineBug::none ? Status::passed : Status::failed)
        << static_cast<int>(bug) << ": " << finding.evidence;
  }
}

/// Notes what it is asked, and is silent on texts beyond a length.
class SlowEngine final : public Served {
 public:
  explicit SlowEngine(int longest, EngineBug bug = EngineBug::none) : engine_{bug}, longest_{longest} {}
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
    const Finding finding = check_text(engine, {}).front();
    EXPECT_EQ(finding.status, Status::undecided);
    EXPECT_EQ(finding.work, static_cast<std::uint64_t>(known));
    expect_parts(finding.evidence, {"^a text of " + std::to_string(std::max(known, 1024)) +
                                        " tokens: did not answer within 60 s; e = 10^",
                                    " after " + std::to_string(known) + " tokens"});
  }
  // Enough is known of a wrong engine before it is slow.
  SlowEngine wrong(4096, EngineBug::residual_is_target);
  EXPECT_EQ(check_text(wrong, {}).front().status, Status::failed);
}

TEST(TextChecks, TheEvidenceHasMeanOne) {
  // All texts of ten tokens, or pairs of five, weighted by their probability.
  const std::vector<double> target{0.25, 0.75, 0.5, 0.5};
  for (const std::size_t count : {1u, 2u}) {
    double mean = 0;
    for (unsigned bits = 0; bits < 1024; ++bits) {
      std::vector<std::vector<Token>> texts(count);
      double probability = 1;
      for (std::size_t i = 0; i < 10; ++i) {
        auto& text = texts[i * count / 10];
        const auto token = static_cast<Token>((bits >> i) & 1u);
        probability *= target[static_cast<std::size_t>(2 * (text.empty() ? 0 : text.back()) + token)];
        text.push_back(token);
      }
      mean += probability * std::exp(evidence_of_texts(texts, target, 2).log_e);
    }
    EXPECT_NEAR(mean, 1, 1e-12) << "1,024 terms, each with some 200 roundings of 2^-53";
  }
}

TEST(TextChecks, ATokenOfProbabilityZeroIsAProof) {
  const std::vector<double> target{0.5, 0.5, 0, 1, 0, 0, 0, 0, 1};
  const std::vector<std::int32_t> text{1, 0, 2};
  const TextEvidence evidence = evidence_of_texts({&text, 1}, target, 3);
  EXPECT_TRUE(std::isinf(evidence.log_e));
  EXPECT_EQ(evidence.worst, "token 2 of the text is 2 after 0, which has p = 0");
}

}  // namespace
}  // namespace draftproof::adapters
