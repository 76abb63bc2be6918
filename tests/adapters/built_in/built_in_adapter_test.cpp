#include <draftproof/adapters/built_in/built_in_adapter.hpp>
#include <draftproof/adapters/built_in/serve_registered.hpp>
#include <draftproof/adapters/library/load_library.hpp>
#include <draftproof/tests/adapters/built_in/built_in_inputs.hpp>
#include <draftproof/tests/support/adapters_messages.hpp>
#include <draftproof/tests/support/adapters_served.hpp>

namespace draftproof::adapters {
namespace {

std::unique_ptr<Served> own_library(const std::string& name, const std::string& more = "") {
  return linked_library("own", built_in_adapter, {.create = R"({"verifier": ")" + name + "\"" + more + "}"});
}

void expect_equal(ServedResult& a, ServedResult& b, const std::string& where) {
  EXPECT_EQ(a.status, b.status) << where << ": " << a.messages.size() << b.messages.size();
  EXPECT_EQ(a.counts, b.counts) << where;
  EXPECT_EQ(a.tokens, b.tokens) << where;
  EXPECT_TRUE(a.draws == b.draws) << where;
}

TEST(AdapterLibrary, EveryVerifierIsTheSameBehindTheInterface) {
  for (const BuiltInName& own : built_in_names()) {
    const auto library = own_library(own.name), direct = serve_registered(own.name);
    const Declaration &a = library->declaration(), &b = direct->declaration();
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.draft_sampling, b.draft_sampling) << own.name;
    EXPECT_EQ(a.level, b.level) << own.name;
    EXPECT_EQ(a.randomness, b.randomness) << own.name;
    EXPECT_EQ(a.functions, b.functions) << own.name;
    EXPECT_EQ(a.most_drafts, b.most_drafts) << own.name;
    EXPECT_EQ(a.coin_bits, b.coin_bits) << own.name;
    Engine engine(9);
    for (std::uint64_t round = 0; round < 12; ++round) {
      const auto input = random_input_of(engine, own, b.draft_sampling, round);
      if (!input) continue;
      ServedCall call(own.level, {*input, *input});
      std::vector<std::vector<double>> tapes(2);
      for (auto& tape : tapes)
        for (int i = 0; i < 40; ++i) tape.push_back(static_cast<double>(engine() >> 11) * 0x1p-53);
      ServedResult seeded = call.seeded(*library, {5, 6}), seeded_direct = call.seeded(*direct, {5, 6});
      expect_equal(seeded, seeded_direct, own.name);
      if (own.shared_noise) continue;
      ServedResult scripted = call.scripted(*library, tapes), scripted_direct = call.scripted(*direct, tapes);
      expect_equal(scripted, scripted_direct, own.name);
    }
  }
}

TEST(AdapterLibrary, TakesOptions) {
  const auto adapter = own_library("recursive_rejection", R"(, "coin_bits": 24, "seed": 3, "drafter": "iid")");
  EXPECT_EQ(adapter->declaration().coin_bits, 24);
  EXPECT_EQ(own_library("recursive_rejection_tree", R"(, "level": "chain")")->declaration().level, Level::chain);
  for (const auto& [create, words] : std::vector<std::pair<std::string, std::string>>{
           {R"({"verifier": "x"})", "create: got verifier: got \"x\""},
           {R"({"verifier": "block", "level": "row"})", "level: got \"row\""},
           {"{", "create: got "}})
    expect_error([&, create = create] { linked_library("own", built_in_adapter, {.create = create}); }, words);
}

TEST(AdapterLibrary, DraftsFromSeeds) {
  const auto library = own_library("gls", R"(, "seed": 4)"), direct = serve_registered("gls", {.seed = 4});
  const Input input{.p = {{0.5, 0.5}}, .q = {{0.25, 0.75}}, .drafts = {0, 1}};
  ServedCall call(Level::position, {input, input, input}, Dtype::float64);
  ServedResult a = call.drafts(*library, 2, {1, 2, 3}), b = call.drafts(*direct, 2, {1, 2, 3});
  EXPECT_EQ(a.counts, (std::vector<std::int32_t>{2, 2, 2}));
  expect_equal(a, b, "gls");
}

}  // namespace
}  // namespace draftproof::adapters
