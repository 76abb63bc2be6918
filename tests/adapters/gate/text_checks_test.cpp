// The text of a whole engine: a right engine on Markov tables passes, bugs are found, and the evidence is an e-value.
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include <draftproof/adapters/gate/text_checks.hpp>
#include <draftproof/adapters/gate/text_models.hpp>
#include <draftproof/adapters/wire/result_reader.hpp>
#include <draftproof/sim/numeric/short_float.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/tests/support/adapters_rejection.hpp>

namespace draftproof::adapters {
namespace {

enum class EngineBug {
  none,
  residual_is_target,
  bonus_of_last_row,
  coin_again,
  loses_tokens,          ///< drops the last two of every 64 tokens
  keeps_rejected,        ///< rejected drafts stay in the state
  goes_on_after_an_end,  ///< stops only if the last token of a step is an end token
};

/// An engine that drafts chains from one Markov table and verifies them against another by token verification.
class MarkovEngine final : public Served {
 public:
  explicit MarkovEngine(EngineBug bug, int memory = 1, std::vector<std::int32_t> ends = {}) : bug_{bug} {
    declaration_.name = "engine";
    declaration_.randomness = {Randomness::seeded};
    declaration_.functions = {"generate"};
    declaration_.memory = memory;
    declaration_.end_tokens = std::move(ends);
  }
  const Declaration& declaration() const override { return declaration_; }
  void verify(const ServedBatch&, ServedResult&) override {}
  std::vector<std::int32_t> generate(const ServedModels& models) override {
    const auto v = static_cast<std::size_t>(models.vocabulary), n = static_cast<std::size_t>(models.memory);
    Philox random(static_cast<std::uint64_t>(models.seed), 0, Philox::Role::verify);
    const auto uniform = [&] { return static_cast<double>(random.next(Purpose::flip) >> 11) * 0x1p-53; };
    /// Returns the row after the last n tokens of `context`, which has at least n.
    const auto row = [v, n](std::span<const double> table, const std::vector<Token>& context) {
      std::size_t at = 0;
      for (std::size_t i = context.size() - n; i < context.size(); ++i)
        at = at * v + static_cast<std::size_t>(context[i]);
      const auto values = table.subspan(at * v, v);
      return Weights(values.begin(), values.end());
    };
    const auto ends = [this](Token x) {
      return std::find(declaration_.end_tokens.begin(), declaration_.end_tokens.end(), x) !=
             declaration_.end_tokens.end();
    };
    std::vector<Token> text, state(n, 0);
    const auto wanted = static_cast<std::size_t>(models.length) * (bug_ == EngineBug::loses_tokens ? 2 : 1);
    for (bool over = false; !over && text.size() < wanted;) {
      std::vector<Token> step, drafted = state;
      for (int i = 0; i < models.drafts; ++i) drafted.push_back(inverted(row(models.proposal, drafted), uniform()));
      std::vector<Token> context = state;
      bool open = true;
      for (std::size_t i = n; open && i < drafted.size(); ++i) {
        const Weights p = row(models.target, context), q = row(models.proposal, context);
        const auto x = static_cast<std::size_t>(drafted[i]);
        const double coin = uniform();
        open = coin * q[x] < p[x];
        step.push_back(open ? drafted[i]
                            : inverted(bug_ == EngineBug::residual_is_target ? p : residual_of(p, q),
                                       bug_ == EngineBug::coin_again ? coin : uniform()));
        context.push_back(step.back());
      }
      if (open) {
        if (bug_ == EngineBug::bonus_of_last_row) context.pop_back();
        step.push_back(inverted(row(models.target, context), uniform()));
      }
      const auto end = std::find_if(step.begin(), step.end(), ends);
      over = bug_ == EngineBug::goes_on_after_an_end ? ends(step.back()) : end != step.end();
      if (over && bug_ != EngineBug::goes_on_after_an_end) step.erase(end + 1, step.end());
      if (bug_ == EngineBug::keeps_rejected) state = drafted;
      state.insert(state.end(), step.begin() + (bug_ == EngineBug::keeps_rejected ? std::ssize(step) - 1 : 0),
                   step.end());
      state.erase(state.begin(), state.end() - static_cast<std::ptrdiff_t>(n));
      text.insert(text.end(), step.begin(), step.end());
    }
    if (bug_ == EngineBug::loses_tokens) {
      std::vector<Token> kept;
      for (std::size_t i = 0; i < text.size(); ++i)
        if (i % 64 < 62) kept.push_back(text[i]);
      text = std::move(kept);
    }
    text.resize(std::min(text.size(), static_cast<std::size_t>(models.length)));
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

/// Draws each token from the target's row after moving mass `shift` from the second half of the row to the first half,
/// and loses each token with probability `lost`.
class ShiftedEngine final : public Served {
 public:
  ShiftedEngine(double shift, double lost) : shift_{shift}, lost_{lost} {
    declaration_ = MarkovEngine(EngineBug::none).declaration();
  }
  const Declaration& declaration() const override { return declaration_; }
  void verify(const ServedBatch&, ServedResult&) override {}
  std::vector<std::int32_t> generate(const ServedModels& models) override {
    const auto v = static_cast<std::size_t>(models.vocabulary);
    Philox random(static_cast<std::uint64_t>(models.seed), 0, Philox::Role::verify);
    const auto uniform = [&] { return unit_interval(random.next(Purpose::flip)); };
    std::vector<std::int32_t> text;
    for (Token last = 0; std::ssize(text) < models.length;) {
      const auto values = models.target.subspan(static_cast<std::size_t>(last) * v, v);
      Weights row(values.begin(), values.end());
      double low = 0, high = 0;
      for (std::size_t x = 0; x < v; ++x) (x < v / 2 ? low : high) += row[x];
      for (std::size_t x = 0; x < v && low > 0 && high > shift_; ++x)
        row[x] *= x < v / 2 ? 1 + shift_ / low : 1 - shift_ / high;
      last = inverted(row, uniform());
      if (!(uniform() < lost_)) text.push_back(last);
    }
    return text;
  }

 private:
  double shift_, lost_;
  Declaration declaration_;
};

TEST(TextChecks, ThePassedLineStatesWhatTheTextsShow) {
  const Finding right = checked(EngineBug::none);
  double distance = 0, tokens = 0;
  ASSERT_EQ(std::sscanf(
                right.sensitivity.c_str(),
                "a total variation of %lf in every row, in about 99 of 100 runs; a token lost, doubled or displaced "
                "once in %lf tokens",
                &distance, &tokens),
            2)
      << right.sensitivity;
  EXPECT_GT(distance, 0.01);
  EXPECT_LT(distance, 0.1);
  EXPECT_GT(tokens, 500);
  int shifted = 0, lost = 0;
  constexpr int seeds = 20;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    ShiftedEngine off(distance, 0), loses(0, 1 / tokens), exact(0, 0);
    const auto status = [seed](Served& engine) {
      return check_text(engine, {.log2_tokens = 15, .seed = seed}).front().status;
    };
    shifted += status(off) == Status::failed;
    lost += status(loses) == Status::failed;
    EXPECT_EQ(status(exact), Status::passed) << seed;
  }
  EXPECT_GE(shifted, seeds - 1);
  EXPECT_GE(lost, seeds - 1);
}

TEST(TextChecks, AResultBetweenPassedAndFailedIsContinued) {
  constexpr std::uint64_t planned = 1 << 12;
  int continued = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    ShiftedEngine engine(0.06, 0);
    const Finding finding = check_text(engine, {.log2_tokens = 12, .seed = seed}).front();
    continued += finding.status == Status::failed && finding.work > planned;
    double log10_e = 0;
    if (finding.status != Status::passed) continue;
    ASSERT_EQ(std::sscanf(finding.evidence.c_str(), "e = 10^%lf", &log10_e), 1) << finding.evidence;
    EXPECT_LE(log10_e, 2);
  }
  EXPECT_GT(continued, 0);
  // No number of tokens suffices for this threshold.
  ShiftedEngine engine(0.07, 0);
  const Finding between = check_text(engine, {.log2_tokens = 12, .alpha = 0x1p-1022}).front();
  EXPECT_EQ(between.status, Status::undecided);
  EXPECT_EQ(between.work, 16 * planned);
  expect_words(between.evidence, "neither passed nor failed, with e from 10^2 to 10^3");
}

/// Records the lengths and seeds that it is called with, and does not answer for texts longer than `longest`.
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
  EXPECT_EQ(engine.asked, (std::vector{1024, 1024, 2048, 1024, 3072}));
  EXPECT_EQ(engine.seeds.size(), 5u);
  SlowEngine small(1 << 20);
  EXPECT_EQ(check_text(small, {.log2_tokens = 9}).front().work, 512u);
  EXPECT_EQ(small.asked, std::vector{512});
}

TEST(TextChecks, WhatIsKnownIsSaidWhereATextTakesTooLong) {
  for (const auto& [longest, known] : {std::pair{0, 0}, {1024, 2048}, {4096, 5120}}) {
    SlowEngine engine(longest);
    const Finding finding = check_text(engine, {}).front();
    EXPECT_EQ(finding.status, Status::undecided);
    EXPECT_EQ(finding.work, static_cast<std::uint64_t>(known));
    expect_parts(finding.evidence, {"^a text of " + std::to_string(std::max(known, 1024)) +
                                        " tokens: did not answer within 60 s; e = 10^",
                                    " after " + std::to_string(known) + " tokens"});
  }
  // A wrong engine is refuted by texts that are short enough to get an answer.
  SlowEngine wrong(4096, EngineBug::residual_is_target);
  EXPECT_EQ(check_text(wrong, {}).front().status, Status::failed);
}

/// Fails on the calls from number `first` on; with `seed` it draws the same numbers in every call.
class FailingEngine final : public Served {
 public:
  explicit FailingEngine(int first, std::optional<std::int64_t> seed = {}) : first_{first}, seed_{seed} {}
  const Declaration& declaration() const override { return engine_.declaration(); }
  void verify(const ServedBatch&, ServedResult&) override {}
  std::vector<std::int32_t> generate(const ServedModels& models) override {
    if (++calls >= first_) throw RequestFailed("engine: refused: no memory");
    ServedModels seeded = models;
    seeded.seed = seed_.value_or(models.seed);
    return engine_.generate(seeded);
  }
  int calls = 0;

 private:
  MarkovEngine engine_{EngineBug::none};
  int first_;
  std::optional<std::int64_t> seed_;
};

TEST(TextChecks, ACallThatFailsIsAFindingBesideTheTextsBeforeIt) {
  FailingEngine engine(4);
  const std::vector<Finding> findings = check_text(engine, {});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].status, Status::undecided);
  EXPECT_EQ(findings[0].work, 4096u);
  expect_words(findings[0].evidence, "a call failed; before it e = 10^");
  EXPECT_EQ(findings[1].property, "answers");
  EXPECT_EQ(findings[1].status, Status::failed);
  expect_parts(findings[1].evidence, {"^a text of 1024 tokens, V = 14, 3 drafts a step, seed ", "no memory"});
  FailingEngine never(1);
  expect_error<ProgramFails>([&] { check_text(never, {}); }, "engine fails on every input: engine: refused");
  EXPECT_EQ(never.calls, 8);
}

TEST(TextChecks, EqualTextsShowThatTheSeedIsNotUsed) {
  FailingEngine engine(1 << 20, 5);
  const Finding finding = check_text(engine, {}).front();
  EXPECT_EQ(finding.status, Status::failed);
  expect_words(finding.evidence, "texts of equal prompts are equal in two calls with different seeds");
}

TEST(TextModels, NearTiesAreEqualInHalfPrecisionAlone) {
  Declaration declaration{.name = "engine", .functions = {"generate"}, .greedy = Greedy::first, .requests = true};
  const auto near = [&](const TextTable& table) {
    int found = 0;
    for (std::uint64_t state = 0; state < table.states(); ++state) {
      std::vector<double> row(table.row(state).begin(), table.row(state).end());
      std::sort(row.rbegin(), row.rend());
      if (row[0] == row[1] || row[0] > row[1] * 1.001) continue;
      EXPECT_GT(static_cast<float>(row[0]), static_cast<float>(row[1]));
      found += static_cast<float>(Half(row[0])) == static_cast<float>(Half(row[1]));
    }
    return found;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_GE(near(all_transitions(declaration, seed, 6).target), 3) << seed;
    EXPECT_GE(near(two_successors(declaration, seed, 26).target), 3) << seed;
    EXPECT_EQ(near(all_transitions(declaration, seed, 6).proposal), 0) << seed;
  }
  // A truncation may not separate the two, so the rows of the sparse tables, which have no others, have no near ties.
  declaration.settings = {Setting::temperature, Setting::top_k, Setting::top_p, Setting::min_p};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const TextTable dense = all_transitions(declaration, seed, 6).target;
    EXPECT_GE(near(dense), 3) << seed;
    EXPECT_EQ(near(two_successors(declaration, seed, 26).target), 0) << seed;
    std::size_t truncations = 0;
    for (const TextSettings& given : draw_settings(declaration, dense, requests_at_once, seed)) {
      if (given.at_zero()) continue;
      Filter filter = given.filter;
      filter.temperature = 1;
      truncations += !filter.changes_nothing();
      for (std::uint64_t state = 0; state < dense.states(); ++state) {
        std::vector<double> row(dense.row(state).begin(), dense.row(state).end());
        const std::vector<double> kept = filtered_distribution(row, filter);
        for (std::size_t x = 0; x < row.size(); ++x)
          if (row[x] > *std::max_element(row.begin(), row.end()) * 0.999) {
            EXPECT_GT(kept[x], 0) << seed << to_text(given);
          }
      }
    }
    EXPECT_GT(truncations, 0u) << seed;
  }
  declaration.dtypes = {Dtype::float16};
  EXPECT_EQ(near(all_transitions(declaration, 1, 6).target), 0);
}

TEST(TextChecks, AGreedyFaultIsToldWithBothProbabilities) {
  const auto worst = [](const TextTable& table, Greedy greedy, Token token) {
    return evidence_of_texts({.texts = {{token}}, .greedy = greedy}, table).worst;
  };
  const auto expect_right = [](const TextTable& table, Greedy greedy, Token token) {
    EXPECT_TRUE(std::isfinite(evidence_of_texts({.texts = {{token}}, .greedy = greedy}, table).log_e));
  };
  const TextTable near{.vocabulary = 2, .rows = {0.5, 0.5 * (1 + 0x1p-15)}, .next = {0, 0}};
  EXPECT_EQ(worst(near, Greedy::any, 0),
            "token 0 of the text is 0 in state 0, which is not the likeliest: p = 0.5, and token 1 has p = "
            "0.5000152587890625");
  expect_right(near, Greedy::last, 1);
  const TextTable tied{.vocabulary = 2, .rows = {0.5, 0.5}, .next = {0, 0}};
  EXPECT_EQ(worst(tied, Greedy::first, 1),
            "token 0 of the text is 1 in state 0, which is not the first of the likeliest: token 0 has the same p = "
            "0.5");
  EXPECT_EQ(worst(tied, Greedy::last, 0),
            "token 0 of the text is 0 in state 0, which is not the last of the likeliest: token 1 has the same p = "
            "0.5");
  for (const Token token : {0, 1}) expect_right(tied, Greedy::any, token);
}

TEST(TextChecks, AStateUnderAGrammarIsNamedByBothOfItsParts) {
  const Declaration declaration{.name = "engine", .functions = {"generate"}, .requests = true, .grammar = true};
  TablePair pair = all_transitions(declaration, 1, 6);
  put_under_grammar(pair);
  // Model state 6 with grammar state 2, which allows tokens 0, 2 and 4.
  const GeneratedTexts of{.texts = {{1}}, .starts = {{.state = 6 * grammar_states + 2, .prompt = {0}}}};
  EXPECT_EQ(evidence_of_texts(of, pair.judged).worst,
            "token 0 of the text after a prompt of 1 tokens is 1 in state 6, grammar state 2, which has p = 0");
}

TEST(TextChecks, TheEvidenceHasMeanOne) {
  // Computes the mean of the e-value over all texts of ten tokens, or all pairs of texts of five tokens, weighted by
  // their probability.
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
      mean += probability * std::exp(evidence_of_texts({.texts = texts}, {.vocabulary = 2, .rows = target}).log_e);
    }
    EXPECT_NEAR(mean, 1, 1e-12) << "1,024 terms, each with some 200 roundings of 2^-53";
  }
}

TEST(TextChecks, TheEvidenceOfModelsWithAStateHasMeanOne) {
  // The model's state is the number of tokens with id 1, modulo 2. The state after the prompt is 1.
  const TextTable target{.vocabulary = 2, .rows = {0.25, 0.75, 0.5, 0.5}, .next = {0, 1, 1, 0}};
  double mean = 0;
  for (unsigned bits = 0; bits < 1024; ++bits) {
    GeneratedTexts of{.texts = {{}}, .starts = {{.state = 1, .prompt = {0, 1}}}};
    double probability = 1;
    std::uint64_t state = 1;
    for (std::size_t i = 0; i < 10; ++i) {
      const auto token = static_cast<Token>((bits >> i) & 1u);
      probability *= target.row(state)[static_cast<std::size_t>(token)];
      state = target.after(state, token);
      of.texts.front().push_back(token);
    }
    mean += probability * std::exp(evidence_of_texts(of, target).log_e);
  }
  EXPECT_NEAR(mean, 1, 1e-12) << "1,024 terms, each with some 200 roundings of 2^-53";
  const TextEvidence over =
      evidence_of_texts({.texts = {{0, 1}}, .starts = {{.state = 0, .prompt = {1}}}, .lengths = {1}}, target);
  EXPECT_TRUE(std::isinf(over.log_e));
  EXPECT_EQ(over.worst, "a text after a prompt of 1 tokens has 2 tokens, expected at most 1");
}

TEST(TextChecks, LostTokensAreImpossibleTransitionsAtOnce) {
  MarkovEngine engine(EngineBug::loses_tokens);
  const Finding finding = check_text(engine, {.log2_tokens = 13}).front();
  EXPECT_EQ(finding.status, Status::failed);
  EXPECT_EQ(finding.work, 2048u) << "the first text of the sparse tables";
  expect_words(finding.evidence, "which has p = 0");
}

TEST(TextChecks, TablesOfOrderTwoAndThreeSeeAStateThatKeepsRejectedDrafts) {
  for (const int memory : {2, 3}) {
    MarkovEngine right(EngineBug::none, memory), wrong(EngineBug::keeps_rejected, memory);
    EXPECT_EQ(check_text(right, {.log2_tokens = 15}).front().status, Status::passed) << memory;
    const Finding finding = check_text(wrong, {.log2_tokens = 15}).front();
    EXPECT_EQ(finding.status, Status::failed) << memory;
  }
  MarkovEngine hidden(EngineBug::keeps_rejected);  // With memory 1 only the last token is read, which is right.
  EXPECT_EQ(check_text(hidden, {.log2_tokens = 15}).front().status, Status::passed);
}

TEST(TextChecks, TextsEndWithTheirFirstEndToken) {
  for (const std::vector<std::int32_t>& ends : {std::vector{1}, {2, 9}}) {
    MarkovEngine right(EngineBug::none, 1, ends), wrong(EngineBug::goes_on_after_an_end, 1, ends);
    const Finding passed = check_text(right, {.log2_tokens = 15}).front();
    EXPECT_EQ(passed.status, Status::passed) << passed.evidence;
    EXPECT_GE(passed.work, 1u << 15);
    const Finding failed = check_text(wrong, {.log2_tokens = 15}).front();
    EXPECT_EQ(failed.status, Status::failed);
    expect_words(failed.evidence, "follows the end token");
  }
  const std::vector<double> target{0.5, 0.5, 0.5, 0.5};
  const std::vector<std::int32_t> text{0, 0};
  const TextTable ending{.vocabulary = 2, .rows = target, .ends = {1}};
  EXPECT_FALSE(std::isinf(evidence_of_texts({.texts = {text}}, ending).log_e));
  EXPECT_TRUE(std::isinf(evidence_of_texts({.texts = {text}, .lengths = {3}}, ending).log_e))
      << "short, without an end token";
}

/// Continues after an end token, but only on tables of one vocabulary size and after `first_wrong` tokens in all.
class LateEngine final : public Served {
 public:
  LateEngine(int vocabulary, std::int64_t first_wrong) : vocabulary_{vocabulary}, first_wrong_{first_wrong} {}
  const Declaration& declaration() const override { return engine_.declaration(); }
  void verify(const ServedBatch&, ServedResult&) override {}
  std::vector<std::int32_t> generate(const ServedModels& models) override {
    std::vector<std::int32_t> text = engine_.generate(models);
    if (models.vocabulary == vocabulary_ && tokens_ >= first_wrong_) text.push_back(0);
    tokens_ += std::ssize(text);
    return text;
  }

 private:
  MarkovEngine engine_{EngineBug::none, 1, {1}};
  int vocabulary_;
  std::int64_t first_wrong_, tokens_ = 0;
};

TEST(TextChecks, TheLastTextsCountOnBothTables) {
  constexpr int log2_tokens = 15;
  for (const int v : {7, 15}) {
    LateEngine engine(v, (1 << log2_tokens) - 300);
    const Finding finding = check_text(engine, {.log2_tokens = log2_tokens}).front();
    EXPECT_EQ(finding.status, Status::failed) << v;
    expect_words(finding.evidence, "follows the end token");
  }
}

TEST(TextChecks, ATokenOfProbabilityZeroIsAProof) {
  const std::vector<double> target{0.5, 0.5, 0, 1, 0, 0, 0, 0, 1};
  const std::vector<std::int32_t> text{1, 0, 2};
  const TextEvidence evidence = evidence_of_texts({.texts = {text}}, {.vocabulary = 3, .rows = target});
  EXPECT_TRUE(std::isinf(evidence.log_e));
  EXPECT_EQ(evidence.worst, "token 2 of the text is 2 after 0, which has p = 0");
}

}  // namespace
}  // namespace draftproof::adapters
