// Settings of requests for texts: the rows that they give, compared with values computed by hand; the e-value of texts
// generated with them; and the random choice of settings.
#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <draftproof/adapters/gate/text_checks.hpp>
#include <draftproof/adapters/gate/text_settings.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/tests/support/adapters_in_process.hpp>
#include <draftproof/tests/support/adapters_messages.hpp>

namespace draftproof::adapters {
namespace {

using Tokens32 = std::vector<std::int32_t>;

void expect_row(const std::vector<double>& found, const std::vector<double>& weights) {
  double mass = 0;
  for (const double weight : weights) mass += weight;
  ASSERT_EQ(found.size(), weights.size());
  for (std::size_t x = 0; x < found.size(); ++x) EXPECT_NEAR(found[x], weights[x] / mass, 1e-15) << "token " << x;
}

TEST(TextSettings, RowsAreThoseByHand) {
  const std::vector<double> p{0.5, 0.25, 0.25};
  const TextTable table{.vocabulary = 3, .rows = p, .ends = {2}};
  const Tokens32 prompt{0};
  const auto after = [&](const TextSettings& settings, const Tokens32& text) {
    RowsUnderSettings rows(settings, prompt, table);
    for (const std::int32_t token : text) rows.read(token);
    return rows.row(p);
  };
  expect_row(after({}, {0, 1}), p);
  expect_row(after({.filter = {.temperature = 0.5}}, {}), {0.25, 0.0625, 0.0625});
  expect_row(after({.filter = {.top_k = 1}}, {}), {1, 0, 0});
  // The repetition penalty also applies to tokens of the prompt, and only once to each token.
  expect_row(after({.repetition_penalty = 2}, {}), {0.25, 0.25, 0.25});
  expect_row(after({.repetition_penalty = 2}, {1, 1}), {0.25, 0.0625, 0.25});
  expect_row(after({.presence_penalty = 1}, {}), p);
  expect_row(after({.presence_penalty = 1}, {1, 1}), {0.5, 0.25 * std::exp(-1.0), 0.25});
  expect_row(after({.frequency_penalty = 1}, {1, 1}), {0.5, 0.25 * std::exp(-2.0), 0.25});
  expect_row(after({.logit_bias = {{1, 1.0}}}, {}), {0.5, 0.25 * std::exp(1.0), 0.25});
  expect_row(after({.min_tokens = 2}, {1}), {0.5, 0.25, 0});
  expect_row(after({.min_tokens = 2}, {1, 1}), p);

  const TextSettings stops{.stop = {1, 0}};
  RowsUnderSettings rows(stops, prompt, table);
  std::vector<bool> stopped;
  for (const std::int32_t token : {0, 1, 1, 0}) {
    rows.read(token);
    stopped.push_back(rows.stopped());
  }
  EXPECT_EQ(stopped, (std::vector<bool>{false, false, false, true}));
}

/// Computes the mean of the e-value over all texts of ten tokens, weighted by their probability, for a model with two
/// states.
TEST(TextSettings, TheEvidenceHasMeanOne) {
  const TextTable target{.vocabulary = 2, .rows = {0.25, 0.75, 0.5, 0.5}, .next = {0, 1, 1, 0}};
  for (const TextSettings& settings :
       {TextSettings{.frequency_penalty = 0.5}, TextSettings{.repetition_penalty = 1.5},
        TextSettings{.filter = {.temperature = 0.5}, .presence_penalty = 1},
        TextSettings{.logit_bias = {{0, 1.0}}}}) {
    double mean = 0;
    for (unsigned bits = 0; bits < 1024; ++bits) {
      GeneratedTexts of{.texts = {{}}, .starts = {{.state = 1, .prompt = {1}}}, .settings = {settings}};
      RowsUnderSettings rows(settings, of.starts.front().prompt, target);
      double probability = 1;
      std::uint64_t state = 1;
      for (std::size_t i = 0; i < 10; ++i) {
        const auto token = static_cast<std::int32_t>((bits >> i) & 1u);
        probability *= rows.row(target.row(state))[static_cast<std::size_t>(token)];
        rows.read(token);
        state = target.after(state, token);
        of.texts.front().push_back(token);
      }
      mean += probability * std::exp(evidence_of_texts(of, target).log_e);
    }
    EXPECT_NEAR(mean, 1, 1e-12) << "1,024 terms, each with some 300 roundings of 2^-53" << to_text(settings);
  }
}

TEST(TextSettings, TemperatureZeroIsGreedyAndOthersDraw) {
  const TextTable target{.vocabulary = 3, .rows = {0.25, 0.375, 0.375}};
  const auto possible = [&](const TextSettings& settings, std::int32_t token) {
    return std::isfinite(
        evidence_of_texts(
            {.texts = {{token}}, .settings = {settings}, .greedy = Greedy::first, .greedy_at_zero = true}, target)
            .log_e);
  };
  const TextSettings zero{.filter = {.temperature = 0}},
      biased{.filter = {.temperature = 0}, .logit_bias = {{0, 1.0}}};
  const auto which = [&](const TextSettings& settings) {
    return std::vector<bool>{possible(settings, 0), possible(settings, 1), possible(settings, 2)};
  };
  EXPECT_EQ(which(zero), (std::vector<bool>{false, true, false})) << "the first of equally likely tokens";
  EXPECT_EQ(which(biased), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(which({.filter = {.temperature = 0.5}}), (std::vector<bool>{true, true, true}));
}

TEST(TextSettings, NoLeastLengthWhereAStateAllowsEndTokensOnly) {
  const Declaration declaration{.name = "engine",
                                .functions = {"generate"},
                                .end_tokens = {1},
                                .requests = true,
                                .settings = {Setting::temperature, Setting::top_p, Setting::min_tokens}};
  const TextTable both{.vocabulary = 2, .rows = {0.75, 0.25, 0.5, 0.5}, .ends = {1}, .next = {0, 1, 1, 0}};
  TextTable end_only = both;
  end_only.rows = {0.75, 0.25, 0, 1};
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    int with = 0;
    for (const TextSettings& given : draw_settings(declaration, both, 8, seed)) with += given.min_tokens > 0;
    EXPECT_GT(with, 0) << seed;
    for (const TextSettings& given : draw_settings(declaration, end_only, 8, seed)) EXPECT_EQ(given.min_tokens, 0);
  }
}

TEST(TextSettings, WhatFollowsAStopSequenceIsImpossible) {
  const TextTable target{.vocabulary = 2, .rows = {0.5, 0.5}, .ends = {}, .next = {0, 0}};
  const auto worst = [&](const Tokens32& text, int length) {
    return evidence_of_texts({.texts = {text},
                              .starts = {{.state = 0, .prompt = {1}}},
                              .lengths = {length},
                              .settings = {TextSettings{.stop = {0, 1}}}},
                             target);
  };
  EXPECT_TRUE(std::isfinite(worst({1, 0, 1}, 9).log_e)) << "a text may end with its stop sequence";
  EXPECT_EQ(worst({0, 1, 1}, 9).worst,
            "token 2 of the text after a prompt of 1 tokens with stop (0 1) follows the stop sequence (0 1)");
  expect_words(worst({1, 0}, 9).worst, "no end token or stop sequence, expected 9 tokens");
}

TEST(TextSettings, EachTemperatureComesWithAndWithoutAPenalty) {
  const Declaration declaration{.name = "engine",
                                .functions = {"generate"},
                                .greedy = Greedy::first,
                                .requests = true,
                                .settings = {Setting::temperature, Setting::frequency_penalty}};
  const TextTable table{.vocabulary = 2, .rows = {0.25, 0.75, 0.5, 0.5}, .next = {0, 1, 1, 0}};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::set<std::pair<double, double>> pairs;
    for (const TextSettings& settings : draw_settings(declaration, table, 8, seed))
      pairs.insert({settings.filter.temperature, settings.frequency_penalty});
    EXPECT_EQ(pairs.size(), 8u) << "seed " << seed;
  }
}

/// Draws a token of a row.
std::int32_t drawn(std::span<const double> row, Philox& random) {
  return inverted(Weights(row.begin(), row.end()), unit_interval(random.next(Purpose::flip)));
}

/// An end token of probability s = 1/32 is withheld from the three places after `min_tokens`, and is drawn later: only
/// the bet on these places shows it. m = 3 s end tokens a text are expected there and none comes. With c = 1 the bet
/// gains at least s m_i / (1 + m_i) at each token, m_i being m before it: m - log(1 + m) - s = 34 in all. It loses about
/// log(400) / 2 = 3 at the later places, where the counts of 400 end tokens are right, and is one of 84, log(84) = 4.
/// This leaves 27; m / 2 = 19 is required.
TEST(TextSettings, EndTokensThatAreWithheldAfterTheLeastLengthAreEvidence) {
  const TextTable target{.vocabulary = 3, .rows = {31. / 64, 31. / 64, 1. / 32}, .ends = {2}, .next = {0, 0, 0}};
  constexpr int texts = 400;
  for (const bool withheld : {false, true}) {
    GeneratedTexts of;
    Philox random(1, 0, Philox::Role::verify);
    for (int n = 0; n < texts; ++n) {
      const TextSettings settings{.min_tokens = 10};
      of.settings.push_back(settings);
      of.starts.push_back({.state = 0, .prompt = {0}});
      of.lengths.push_back(1 << 20);
      Tokens32& text = of.texts.emplace_back();
      for (RowsUnderSettings rows(settings, of.starts.back().prompt, target); text.empty() || text.back() != 2;) {
        std::vector<double> row = rows.row(target.row(0));
        if (const std::size_t i = text.size(); withheld && i >= 10 && i < 13) row[2] = 0;
        text.push_back(drawn(row, random));
        rows.read(text.back());
      }
    }
    constexpr double end = 1. / 32, m = 3 * end * texts;
    const double log_e = evidence_of_texts(of, target).log_e;
    if (withheld)
      EXPECT_GT(log_e, m / 2);
    else
      EXPECT_LT(log_e, std::log(100));
  }
}

/// Each state has a different row, so that no state and no token has enough counts; only the tokens' probabilities show
/// the temperature.
TEST(TextSettings, ATemperatureThatIsNotTheRequestsIsEvidence) {
  constexpr int vocabulary = 6, states = 199;
  TextTable target{.vocabulary = vocabulary};
  for (int state = 0; state < states; ++state)
    for (int x = 0; x < vocabulary; ++x) {
      target.rows.push_back(std::exp2(-1 - (x + state) % vocabulary) / (1 - std::exp2(-vocabulary)));
      target.next.push_back((2 * state + x + 1) % states);
    }
  for (const double temperature : {1.0, 1.15}) {
    GeneratedTexts of{.requests = 2};
    Philox random(1, 0, Philox::Role::verify);
    const Filter filter{.temperature = temperature};
    for (int n = 0; n < 2; ++n) {
      of.settings.emplace_back();
      of.starts.push_back({.state = 0, .prompt = {0}});
      of.lengths.push_back(10'000);
      std::uint64_t state = 0;
      for (Tokens32& text = of.texts.emplace_back(); std::ssize(text) < of.lengths.back();) {
        const std::span<const double> row = target.row(state);
        text.push_back(drawn(filtered_distribution({row.begin(), row.end()}, filter), random));
        state = target.after(state, text.back());
      }
    }
    const double log_e = evidence_of_texts(of, target).log_e;
    if (temperature > 1)
      EXPECT_GT(log_e, std::log(1e9));
    else
      EXPECT_LT(log_e, std::log(100));
  }
}

TEST(TextSettings, EachDeclaredOneIsGivenToSomeRequest) {
  Declaration declaration{.name = "engine", .functions = {"generate"}, .requests = true};
  for (int i = 0; i < text_setting_count; ++i) declaration.settings.push_back(static_cast<Setting>(i));
  const TextTable table{.vocabulary = 4,
                        .rows = {0.1, 0.2, 0.3, 0.4, 0.45, 0.35, 0.15, 0.05},
                        .ends = {3},
                        .next = {1, 0, 1, 0, 0, 1, 0, 1}};
  std::set<std::size_t> stops, biases;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::set<std::string> given;
    const nlohmann::json usual = to_json(TextSettings{}, declaration);
    for (const TextSettings& settings : draw_settings(declaration, table, 8, seed)) {
      const nlohmann::json fields = to_json(settings, declaration);
      for (const auto& [name, value] : fields.items())
        if (value != usual.at(name)) given.insert(name);
      stops.insert(settings.stop.size());
      biases.insert(settings.logit_bias.size());
    }
    EXPECT_EQ(given.size(), static_cast<std::size_t>(text_setting_count)) << "seed " << seed;
  }
  EXPECT_EQ(stops, (std::set<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(biases.contains(2));
}

}  // namespace
}  // namespace draftproof::adapters
