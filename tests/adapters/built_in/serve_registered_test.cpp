#include <draftproof/adapters/built_in/serve_registered.hpp>

#include <cmath>
#include <map>

#include <draftproof/tests/adapters/built_in/built_in_inputs.hpp>
#include <draftproof/tests/support/adapters_messages.hpp>
#include <draftproof/tests/support/adapters_served.hpp>

namespace draftproof::adapters {
namespace {

constexpr int places = 48, rounds = 24;

std::vector<double> random_tape(Engine& engine, int bits) {
  std::vector<double> tape;
  for (int i = 0; i < places; ++i) tape.push_back(std::ldexp(static_cast<double>(engine() >> (64 - bits)), -bits));
  return tape;
}

/// Returns the random bits whose uniforms are the tape's values.
Tape words_on(const std::vector<double>& tape) {
  std::vector<std::uint64_t> words;
  for (const double u : tape) words.push_back(Tape::word(u));
  return Tape(words);
}

/// The result of a run without an adapter.
struct Direct {
  std::vector<Token> tokens;
  std::vector<::draftproof::Draw> draws;
};

Direct direct_position(const AnyVerifier& verifier, const Input& input, Words& words) {
  const Rows<double> rows(input.p[0], input.q);
  const auto decider = verifier.scripted_on(rows, static_cast<int>(input.drafts.size()));
  const ScriptedDecision played = run_scripted(*decider, input.drafts, words);
  return {{played.verdict.token}, played.draws};
}

Direct direct_tree(const AnyPathVerifier& verifier, const RandomTree& made, Words& words) {
  const auto decider = verifier.scripted_on(*made.model, made.shape);
  const ScriptedStep played = run_scripted(*decider, made.tree, {}, words);
  return {step_tokens(played.output, made.tree), played.draws};
}

/// Compares row 0 of a served batch with a run without an adapter.
void expect_same(ServedResult& served, const Direct& direct, bool scripted, const std::string& where) {
  if (direct.tokens.back() == no_token) {
    EXPECT_EQ(served.status[0], static_cast<std::int32_t>(RowStatus::no_mass)) << where;
  } else {
    EXPECT_EQ(served.status[0], 0) << where << ": " << served.messages[0];
    EXPECT_EQ(tokens_in(served, 0), direct.tokens) << where;
  }
  if (!scripted) return;
  ASSERT_EQ(served.draws[0].size(), direct.draws.size()) << where;
  for (std::size_t n = 0; n < direct.draws.size(); ++n) {
    EXPECT_EQ(served.draws[0][n].kind, DrawKind::coin) << where;
    EXPECT_EQ(served.draws[0][n].stream == "accept", direct.draws[n].purpose == Purpose::flip) << where;
  }
}

/// Compares decisions made through the adapter with the decisions of `run`, which uses no adapter: for seed `trial`
/// and, unless the scheme reads shared noise (`noise`), on a random tape.
template <class Run>
void compare(const std::string& name, Served& adapter, const Input& input, bool noise, std::uint64_t trial,
             Engine& engine, const Run& run) {
  ServedCall call(adapter.declaration().level, {input}, Dtype::float64);
  WordsOf trial_words(Philox(0, trial, Philox::Role::verify));
  ServedResult seeded = call.seeded(adapter, {static_cast<std::int64_t>(trial)});
  expect_same(seeded, run(trial_words), false, name + " seeded, trial " + std::to_string(trial));
  const std::vector<double> tape = random_tape(engine, 53);
  ServedResult scripted = call.scripted(adapter, {tape});
  if (noise) {
    EXPECT_EQ(scripted.status[0], static_cast<std::int32_t>(RowStatus::unsupported)) << name;
    return;
  }
  WordsOf words(words_on(tape));
  expect_same(scripted, run(words), true, name + " scripted, round " + std::to_string(trial));
}

TEST(ServeRegistered, EveryVerifierDecidesAsItDoesWithoutADoor) {
  for (const BuiltInName& own : built_in_names()) {
    if (own.name == "bonus_from_draft") continue;  // the scheme reads q after the last draft, a row that no input has
    if (own.name.starts_with("second_call_accepts")) continue;  // its decisions depend on earlier calls
    const auto adapter = serve_registered(own.name);
    EXPECT_EQ(adapter->declaration().can(Randomness::scripted), !own.shared_noise) << own.name;
    Engine engine(7);
    int compared = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      if (own.level == Level::position) {
        const AnyVerifier& verifier = *registry().verifier(own.name);
        const AnyDrafter& drafter = *registry().drafter(adapter->declaration().draft_sampling);
        const auto input = random_position(engine, verifier, drafter, round);
        if (!input) continue;
        compare(own.name, *adapter, *input, own.shared_noise, round, engine,
                [&](Words& words) { return direct_position(verifier, *input, words); });
      } else {
        const AnyPathVerifier& verifier = *path_registry().verifier(own.name);
        const AnyTreeDrafter& drafter = *path_registry().drafter(adapter->declaration().draft_sampling);
        const bool chain = own.level == Level::chain;
        const RandomTree made = random_tree(engine, verifier, drafter, chain, round);
        if (verifier.info().most_drafts > 1 && made.shape.drafts > verifier.info().most_drafts) continue;
        compare(own.name, *adapter, made.input, own.shared_noise, round, engine,
                [&](Words& words) { return direct_tree(verifier, made, words); });
      }
      ++compared;
    }
    EXPECT_GE(compared, 4) << own.name;
  }
}

TEST(ServeRegistered, LeavesHaveTheProposalOfTheirDraft) {
  const Input input{.p = {{0.5, 0.5}, {1, 0}}, .q = {{0.25, 0.75}}, .drafts = {0}};
  const auto adapter = serve_registered("bonus_from_draft");
  ServedCall call(Level::chain, {input, input}, Dtype::float64);
  ServedResult result = call.scripted(*adapter, {{0, 0.249}, {0, 0.25}});
  EXPECT_EQ(tokens_in(result, 0), (std::vector<Token>{0, 0}));
  EXPECT_EQ(tokens_in(result, 1), (std::vector<Token>{0, 1}));
}

/// Returns the first random position on which the verifier and the drafter are defined, and the number of the trial
/// whose random numbers drew its drafts.
std::pair<Input, std::uint64_t> first_position(const AnyVerifier& verifier, const AnyDrafter& drafter) {
  Engine engine(3);
  for (std::uint64_t trial = 0;; ++trial)
    if (auto input = random_position(engine, verifier, drafter, trial)) return {std::move(*input), trial};
}

TEST(ServeRegistered, SeededRowsAreTrials) {
  for (const BuiltInName& own : built_in_names()) {
    if (own.level != Level::position) continue;
    const AnyVerifier& verifier = *registry().verifier(own.name);
    const auto adapter = serve_registered(own.name, {.seed = 11});
    const Input input = first_position(verifier, *registry().drafter(adapter->declaration().draft_sampling)).first;
    constexpr int trials = 50;
    const int count = static_cast<int>(input.drafts.size());
    std::vector<Token> drafts;
    std::vector<int> lengths(trials, count);
    std::vector<std::int64_t> seeds;
    for (int t = 0; t < trials; ++t) {
      drafts.insert(drafts.end(), input.drafts.begin(), input.drafts.end());
      seeds.push_back(100 + t);
    }
    std::vector<Verdict> verdicts(trials);
    const Rows<double> rows(input.p[0], input.q);
    const auto decider = verifier.simulate_on(rows, count);
    decider->decide({.seed = 11,
                     .first = 100,
                     .count = trials,
                     .stride = count,
                     .drafts = drafts.data(),
                     .lengths = lengths.data()},
                    verdicts.data());
    ServedResult result =
        ServedCall(Level::position, std::vector<Input>(trials, input), Dtype::float64).seeded(*adapter, seeds);
    for (int t = 0; t < trials; ++t)
      EXPECT_EQ(result.tokens_of(t)[0], verdicts[static_cast<std::size_t>(t)].token) << own.name << ", trial " << t;
  }
}

TEST(ServeRegistered, DraftsAreThoseOfTheTrials) {
  for (const auto& drafter : registry().drafters()) {
    if (drafter->info().several_proposals) continue;
    const auto verifier = std::ranges::find_if(
        registry().verifiers(), [&](const auto& each) { return each->info().drafts.lists(drafter->info().name); });
    if (verifier == registry().verifiers().end()) continue;
    const auto adapter = serve_registered((*verifier)->info().name, {.drafter = std::string(drafter->info().name)});
    const auto [input, trial] = first_position(**verifier, *drafter);
    const int wanted = std::max(drafter->info().fewest_drafts, 1);
    ServedResult result = ServedCall(Level::position, {input}, Dtype::float64)
                              .drafts(*adapter, wanted, {static_cast<std::int64_t>(trial)});
    ASSERT_EQ(result.status[0], 0) << drafter->info().name << ": " << result.messages[0];
    WordsOf<Philox> words = drafting_words(trial);
    Scripted random{WordsFrom(words)};
    std::vector<Token> drawn(max_drafts);
    drawn.resize(
        static_cast<std::size_t>(drafter->draw(Rows<double>(input.q[0], input.q), wanted, random, drawn.data())));
    EXPECT_EQ(tokens_in(result, 0), drawn) << drafter->info().name;
  }
}

TEST(ServeRegistered, CoinsHaveTheirGrid) {
  const auto coarse = serve_registered("single_draft", {.coin_bits = 2});
  const Input half{.p = {{0.6, 0.4}}, .q = {{1, 0}}, .drafts = {0}};  // u < 0.6 accepts the draft
  ServedCall call(Level::position, {half, half}, Dtype::float64);
  ServedResult result = call.scripted(*coarse, {{0.749, 0}, {0.75, 0}});
  EXPECT_EQ(tokens_in(result, 0), std::vector<Token>{0});
  EXPECT_EQ(tokens_in(result, 1), std::vector<Token>{1});
  EXPECT_EQ(result.draws[0].at(0).bits, 2);
  EXPECT_EQ(result.draws[1].at(1).bits, 53) << "the draw from the residual";
  EXPECT_EQ(coarse->declaration().coin_bits, 2);
}

TEST(ServeRegistered, ShortTapesSaySoAndLogWhatTheyGave) {
  const auto adapter = serve_registered("token_path");
  Engine engine(2);
  const Input input{.p = {{0.5, 0.5}, {0.5, 0.5}}, .q = {{0.5, 0.5}}, .drafts = {1}};
  ServedCall call(Level::chain, {input, input}, Dtype::float32);
  ServedResult result = call.scripted(*adapter, {{0.5}, {0.25}});
  EXPECT_EQ(result.status, (std::vector<std::int32_t>(2, static_cast<std::int32_t>(RowStatus::tape_short))));
  EXPECT_EQ(result.counts, (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(result.draws[1].size(), 1u);
  EXPECT_EQ(result.messages[0], "the tape has 1 places, the program draws more");
}

TEST(ServeRegistered, RefusesRowsAndSaysWhere) {
  const auto tree = serve_registered("recursive_rejection_tree");
  const std::vector<double> half{0.5, 0.5};
  using Change = void (*)(Input & input);
  for (const auto& [change, words] : std::vector<std::pair<Change, std::string>>{
           {[](Input& input) { input.parents[1] = 1; }, "parents[1]: got 1, expected -1 .. 0"},
           {[](Input& input) {
              input.q[1] = {1, 0};
            },
            "q[1]: got a row that differs from the row of a sibling, expected equal rows of q after equal prefixes"},
           {[](Input& input) {
              input.drafts[1] = 0, input.p[2] = {1, 0};
            },
            "p[2]: got a row that differs from the row after an equal prefix, expected equal rows of p after equal "
            "prefixes"},
           {[](Input& input) { input.drafts[1] = 2; }, "drafts[1]: got 2, expected 0 .. 1"},
           {[](Input& input) {
              input.p[1] = {NAN, 1};
            },
            "p[1][0]: got nan, expected a probability"},
           {[](Input& input) {
              input.p[1] = {0, 0};
            },
            "p[1]: got zeros only, expected a distribution"}}) {
    Input input{.p = {half, half, half}, .q = {half, half}, .drafts = {0, 1}, .parents = {-1, -1}};
    change(input);
    ServedCall call(Level::tree, {input}, Dtype::float64);
    const ServedResult result = call.seeded(*tree, {1});
    EXPECT_EQ(result.status[0], static_cast<std::int32_t>(RowStatus::bad_input));
    EXPECT_EQ(result.messages.at(0), words);
  }
}

TEST(ServeRegistered, RefusesNamesAndOptions) {
  const auto refusal = [](std::string_view name, const BuiltInOptions& options) {
    return error_of([&] { serve_registered(name, options); });
  };
  EXPECT_EQ(refusal("no_such_scheme", {}),
            "verifier: got \"no_such_scheme\", expected a name from `draftproof list`");
  EXPECT_EQ(refusal("single_draft", {.coin_bits = 0}), "verifier single_draft: coin_bits: got 0, expected 1 .. 53");
  EXPECT_EQ(refusal("single_draft", {.level = Level::tree}),
            "verifier single_draft: level: got tree, expected position");
  EXPECT_EQ(refusal("block", {.level = Level::position}),
            "verifier block: level: got position, expected chain or tree");
  EXPECT_EQ(refusal("recursive_rejection_wor", {.drafter = "greedy"}),
            "verifier recursive_rejection_wor: drafter: got greedy, expected a draft sampling that the "
            "verifier supports");
  EXPECT_EQ(refusal("block", {.drafter = "nothing"}),
            "verifier block: drafter: got nothing, expected a draft sampling that the verifier supports");
  EXPECT_EQ(serve_registered("single_draft", {.drafter = "truncated_draft_raw_q"})->declaration().draft_sampling,
            "iid");
}

}  // namespace
}  // namespace draftproof::adapters
