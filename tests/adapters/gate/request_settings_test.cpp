// Verifiers that apply the settings of requests: correct and wrong ones, as a library with the C interface and as a
// child; and the rows and settings that they get.
#include <cmath>
#include <set>
#include <string>

#include <fmt/format.h>

#include <draftproof/adapters/gate/external_gate.hpp>
#include <draftproof/adapters/gate/small_model.hpp>
#include <draftproof/adapters/open_adapter.hpp>
#include <draftproof/tests/support/adapters_messages.hpp>

namespace draftproof::adapters {
namespace {

GateResult proof_with_settings(const std::string& adapter_text, Tier tier = Tier::proof) {
  const OpenAdapter adapter = open_adapter(adapter_text);
  const ExternalGate gate(adapter.text, adapter.program, adapter.served, adapter.fresh);
  expect_words(gate.refusal(Tier::sampled), "trials have no settings");
  return run_gate({.external = &gate, .tier = tier}, {.profile = profiles[2]});
}

TEST(RequestSettings, OfALibrary) {
  const auto library = [](const std::string& rule) {
    return "exec:DRAFTPROOF_SETTINGS=" + rule +
           " exec '" DRAFTPROOF_PROGRAM "' serve 'lib:" DRAFTPROOF_REQUEST_SETTINGS "'";
  };
  const GateResult passed = proof_with_settings(library("right"));
  EXPECT_EQ(passed.status, Status::passed) << passed.findings.front().evidence;
  EXPECT_GE(passed.counts.front().second, 20u);
  // The edge tier runs rows of a batch again one by one, so it finds a program that uses the settings of another row.
  EXPECT_EQ(proof_with_settings(library("right"), Tier::edge).status, Status::passed);
  EXPECT_EQ(proof_with_settings(library("first_request"), Tier::edge).status, Status::failed);
  for (const std::string wrong : {"bonus_without_settings", "no_min_p", "temperature_twice"})
    EXPECT_EQ(proof_with_settings(library(wrong)).status, Status::failed) << wrong;
}

TEST(RequestSettings, OfAChild) {
  const auto child = [](const std::string& rule) {
    return "exec:python3 '" DRAFTPROOF_SOURCE_DIR "/tests/adapters/children/request_settings.py' " + rule;
  };
  EXPECT_EQ(proof_with_settings(child("right")).status, Status::passed);
  EXPECT_EQ(proof_with_settings(child("top_k_first")).status, Status::failed);
}

/// The target is the rows of p of an input with its settings applied; inputs of one model have different settings.
TEST(RequestSettings, TurnTheRowsIntoTheTarget) {
  const Declaration declaration{.name = "program",
                                .settings = {Setting::temperature, Setting::top_k, Setting::top_p, Setting::min_p}};
  std::set<std::string> texts;
  int truncated = 0, mixed = 0;
  for (const char* text : {"L=1 K=1 [] p=(1 0 3)/4 q=(1 1 1)/3 [0] p=(1 1 0)/2 q=(1 0 0)/1",
                           "L=1 K=1 [] p=(2 3 5)/10 q=(1 1 2)/4 [0] p=(1 0 0)/1 q=(1 0 0)/1",
                           "L=2 K=1 [] p=(1 2)/3 q=(1 1)/2 [0] p=(0 1)/1 q=(1 1)/2",
                           "L=1 K=1 [] p=(1 1 0 0)/2 q=(1 1 1 1)/4 [0] p=(0 0 1 3)/4 q=(1 0 0 0)/1"}) {
    const PathInstance instance = PathInstance::parse(text);
    const Declaration plain{.name = "program"};
    const SmallModel model = small_model_of(instance, declaration), target = small_model_of(instance, plain);
    ASSERT_EQ(model.inputs.size(), target.inputs.size());
    std::set<std::string> of_model;
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      const Input& input = model.inputs[i];
      texts.insert(to_text(input.settings));
      of_model.insert(to_text(input.settings));
      truncated += input.settings.top_k > 0 || input.settings.top_p < 1 || input.settings.min_p > 0;
      for (std::size_t row = 0; row < input.p.size(); ++row) {
        double sum = 0;
        for (const double share : input.p[row]) sum += share;
        EXPECT_NEAR(sum, 1, 1e-12);
        const std::vector<double> applied = filtered_distribution(input.p[row], input.settings);
        for (std::size_t x = 0; x < applied.size(); ++x)
          EXPECT_NEAR(applied[x], target.inputs[i].p[row][x], 1e-12) << text << ": " << to_text(input.settings);
      }
    }
    mixed += of_model.size() > 1;
  }
  EXPECT_GE(mixed, 2) << "models whose inputs differ in their settings";
  EXPECT_GE(texts.size(), 5u);
  EXPECT_GE(truncated, 3);
}

TEST(RequestSettings, OfAnyVocabularyAndLevel) {
  const Declaration declaration{.name = "program", .level = Level::position, .settings = {Setting::top_p}};
  std::string weights = "1";
  for (int x = 1; x < 20; ++x) weights += " 1";
  const SmallModel wide =
      small_model_of(Instance::parse(fmt::format("p=({0})/20 q=({0})/20 K=1", weights)), declaration);
  EXPECT_EQ(wide.inputs.front().p.front().size(), 20u);
}

TEST(RequestSettings, DeclarationsThatDoNotFitAreRefused) {
  const auto refused = [](const Declaration& declaration, const std::string& words) {
    try {
      check_settings(declaration);
      ADD_FAILURE() << "accepted, expected " << words;
    } catch (const AdapterError& error) {
      expect_words(error.what(), words);
    }
  };
  refused({.name = "a", .functions = {"draft"}, .settings = {Setting::top_k}}, "settings without a verify function");
  refused({.name = "a", .settings = {Setting::top_k, Setting::top_k}}, "a setting twice");
  refused({.name = "a", .dtypes = {Dtype::bfloat16}, .settings = {Setting::temperature}}, "rows of bfloat16");
  check_settings({.name = "a", .dtypes = {Dtype::bfloat16}, .settings = {Setting::top_k}});
}

TEST(RequestSettings, ApplyInTheirOrder) {
  const Filter settings{.temperature = 0.5, .top_k = 2, .top_p = 1, .min_p = 0.3};
  // Temperature 0.5 gives the ratios 1 : 4 : 9; top-k 2 keeps 4 and 9, and min-p 0.3 keeps 4 because 4 > 0.3 * 9.
  EXPECT_EQ(filtered_distribution({1.0 / 6, 2.0 / 6, 3.0 / 6}, settings).front(), 0);
  EXPECT_NEAR(filtered_distribution({1.0 / 6, 2.0 / 6, 3.0 / 6}, settings)[1], 4.0 / 13, 1e-15);
  EXPECT_EQ(filtered_distribution({0.2, 0.8}, {.min_p = 0.5}), (std::vector{0.0, 1.0}));
  EXPECT_EQ(to_text(settings), "temperature 0.5, top_k 2, min_p 0.3");
  EXPECT_TRUE(Filter{}.changes_nothing());
}

}  // namespace
}  // namespace draftproof::adapters
