#include <draftproof/adapters/library/load_library.hpp>

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include <draftproof/tests/support/adapters_messages.hpp>
#include <draftproof/tests/support/adapters_served.hpp>

namespace draftproof::adapters {
namespace {

dp_verifier linked_table;

const dp_verifier* linked_adapter(std::uint32_t abi) {
  return abi == DRAFTPROOF_ADAPTER_ABI ? &linked_table : nullptr;
}

/// The faults of linked_verify(), which computes tokens from the tape or the seeds; `bug` selects one.
enum class Bug { none, past_end, changes_input, unknown_row, no_count, bad_count, bad_status, refuses, stays_silent };
Bug bug = Bug::none;

std::int32_t linked_verify(void*, const dp_batch* batch, dp_result* result) {
  for (std::int32_t row = 0; row < batch->rows; ++row) {
    const std::int32_t at = bug == Bug::unknown_row ? batch->rows : row;
    std::int32_t token = 0;
    if (batch->tape != nullptr)
      token =
          static_cast<std::int32_t>(batch->tape->uniform(batch->tape->self, at, 24, "accept") * batch->vocabulary);
    else if (batch->seeds != nullptr)
      token = static_cast<std::int32_t>(batch->seeds[row] % 7);
    if (bug == Bug::stays_silent) continue;
    result->tokens[row * result->stride] = token;
    if (bug != Bug::no_count) result->counts[row] = bug == Bug::bad_count ? batch->lengths[row] + 2 : 1;
    result->status[row] = bug == Bug::bad_status ? 6 : DP_OK;
  }
  if (bug == Bug::past_end) result->tokens[batch->rows * result->stride] = 0;
  if (bug == Bug::changes_input) const_cast<std::int32_t*>(batch->drafts)[0] += 1;
  if (bug == Bug::refuses) {
    std::strncpy(result->message, "no such rows today", result->message_size);
    return DP_UNSUPPORTED;
  }
  return DP_OK;
}

dp_verifier sound_table() {
  dp_verifier table{};
  table.size = sizeof table;
  table.abi = DRAFTPROOF_ADAPTER_ABI;
  table.name = "linked";
  table.level = DP_CHAIN;
  table.verify = linked_verify;
  return table;
}

std::unique_ptr<Served> linked(const dp_verifier& table, Bug how = Bug::none) {
  linked_table = table;
  bug = how;
  return linked_library("linked.so", linked_adapter);
}

const Input two_drafts{.p = {{0.5, 0.5}, {0.25, 0.75}, {1, 0}}, .q = {{0.5, 0.5}, {0.5, 0.5}}, .drafts = {0, 1}};

std::string bug_found(Bug how) {
  const auto adapter = linked(sound_table(), how);
  ServedCall call(Level::chain, {two_drafts, two_drafts}, Dtype::float32);
  return error_of([&] {
    ServedResult result = call.scripted(*adapter, {{0.5, 0.5}, {0.75, 0.5}});
    if (!result.messages.empty()) throw AdapterError(result.messages.begin()->second);
  });
}

TEST(LoadLibrary, RefusesFilesThatAreNoAdapters) {
  const auto refused = [](const std::string& path, const std::string& words) {
    expect_error([&] { load_library(path); }, words);
  };
  refused("/nowhere/verifier.so", "^library /nowhere/verifier.so: file: got none, expected a shared library$");
  refused(DRAFTPROOF_SOURCE_DIR "/LICENSE", "expected a shared library that this machine can load");
  Dl_info c_library{};
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "getpid"), &c_library), 0);
  const std::string other = c_library.dli_fname;
  refused(other, "^library " + other +
                     ": symbol: got no draftproof_adapter, expected the function of draftproof_adapter.h, exported "
                     "with C linkage$");
}

TEST(LoadLibrary, RefusesTablesThatItCannotRead) {
  constexpr std::size_t first_version = offsetof(dp_verifier, state_size);
  using Change = void (*)(dp_verifier & table);
  const std::pair<Change, std::string> faults[] = {
      {[](dp_verifier& table) { table.size = 8; }, "table: got 8 bytes, expected at least 16 of ABI 1"},
      {[](dp_verifier& table) { table.size = first_version - 1; }, "table: got " + std::to_string(first_version - 1) +
                                                                       " bytes, expected at least " +
                                                                       std::to_string(first_version) + " of ABI 1"},
      {[](dp_verifier& table) { table.abi = 2; }, "table: got ABI 2, expected ABI 1"},
      {[](dp_verifier& table) { table.name = nullptr; }, "name: got none, expected a name"},
      {[](dp_verifier& table) { table.verify = nullptr; },
       "functions: got none, expected verify, draft, generate or select"},
      {[](dp_verifier& table) { table.level = 3; }, "level: got 3, expected 0 .. 2"},
      {[](dp_verifier& table) { table.dtypes = 1u << 9; }, "dtypes: got bits 0x200, expected bits of 0xf"}};
  for (const auto& [change, words] : faults) {
    dp_verifier table = sound_table();
    change(table);
    expect_error([&] { linked(table); }, "^library linked.so: " + words + "$");
  }
  dp_verifier table = sound_table();
  table.devices = DP_BIT(DP_CUDA);
  expect_error([&] { linked(table); }, "without upload and release");
  EXPECT_THROW(linked_library("x", [](std::uint32_t) -> const dp_verifier* { return nullptr; }), AdapterError);
}

TEST(LoadLibrary, ReadsTheDeclaration) {
  dp_verifier table = sound_table();
  Declaration declared = linked(table)->declaration();
  EXPECT_EQ(declared.name, "linked");
  EXPECT_EQ(declared.draft_sampling, "iid");
  EXPECT_EQ(declared.level, Level::chain);
  EXPECT_EQ(declared.randomness, std::vector{Randomness::scripted});
  EXPECT_EQ(declared.dtypes, std::vector{Dtype::float32});
  EXPECT_EQ(declared.functions, std::vector<std::string>{"verify"});
  EXPECT_EQ(declared.most_rows, 4096);
  EXPECT_TRUE(declared.ragged && declared.deterministic);
  table.randomness = DP_BIT(DP_SEEDED) | DP_BIT(DP_OPAQUE);
  table.dtypes = DP_BIT(DP_FLOAT16);
  table.kinds = DP_BIT(DP_LOGITS);
  table.most_rows = 3;
  table.coin_bits = 53;
  table.equal_lengths = table.nondeterministic = 1;
  declared = linked(table)->declaration();
  EXPECT_EQ(declared.randomness, (std::vector{Randomness::seeded, Randomness::opaque}));
  EXPECT_EQ(declared.dtypes, std::vector{Dtype::float16});
  EXPECT_EQ(declared.rows, std::vector{RowKind::logits});
  EXPECT_EQ(declared.most_rows, 3);
  EXPECT_EQ(declared.coin_bits, 53);
  EXPECT_FALSE(declared.ragged || declared.deterministic);
}

TEST(LoadLibrary, FindsBugsOfACall) {
  for (const auto& [how, words] : std::vector<std::pair<Bug, std::string>>{
           {Bug::none, "^none$"},
           {Bug::past_end, "a write outside the buffers"},
           {Bug::changes_input, "inputs changed by the call"},
           {Bug::unknown_row, "a draw for row 2, expected rows 0 .. 1"},
           {Bug::bad_count, "^counts: got 4, expected 0 .. 3$"},
           {Bug::bad_status, "^status: got 6, expected 0 .. 5$"},
           {Bug::no_count, "counts: got "},
           {Bug::stays_silent, "status: got "},
           {Bug::refuses,
            "^library linked.so: verify: got status 2 (unsupported) \"no such rows today\", expected 0$"}})
    expect_words(bug_found(how), words);
}

/// The number of arrays that are allocated in the memory of a fake device.
std::atomic<int> uploads = 0;
std::int32_t fake_upload(void*, const void* from, std::size_t bytes, void** to) {
  ++uploads;
  *to = std::memcpy(new char[bytes], from, bytes);
  return DP_OK;
}
void fake_release(void*, void* uploaded) {
  --uploads;
  delete[] static_cast<char*>(uploaded);
}
std::int32_t device_verify(void*, const dp_batch* batch, dp_result* result) {
  result->tokens[0] =
      batch->device.type == DP_CUDA && uploads == 2 && static_cast<const double*>(batch->p)[3] == 0.75;
  result->counts[0] = 1;
  result->status[0] = DP_OK;
  return DP_OK;
}

TEST(LoadLibrary, PutsRowsOnTheLibrarysDevice) {
  dp_verifier table = sound_table();
  table.verify = device_verify;
  table.devices = DP_BIT(DP_CUDA);
  table.upload = fake_upload;
  table.release = fake_release;
  table.dtypes = DP_BIT(DP_FLOAT64);
  const auto adapter = linked(table);
  ServedCall call(Level::chain, {two_drafts}, Dtype::float64);
  ServedResult result = call.seeded(*adapter, {1});
  EXPECT_EQ(tokens_in(result, 0), std::vector<Token>{1});
  EXPECT_EQ(uploads, 0);
}

const Input example_input{.p = {{0.5, 0.25, 0.25}, {0.25, 0.5, 0.25}, {0.125, 0.375, 0.5}},
                          .q = {{0.25, 0.25, 0.5}, {0.5, 0.25, 0.25}},
                          .drafts = {2, 0}};

std::vector<Token> example_tokens(const std::vector<double>& tape, RowStatus wanted = RowStatus::ok) {
  const auto adapter = load_library(DRAFTPROOF_ADAPTER_EXAMPLE);
  ServedCall call(Level::chain, {example_input});
  ServedResult result = call.scripted(*adapter, {tape});
  EXPECT_EQ(result.status.at(0), static_cast<std::int32_t>(wanted));
  EXPECT_EQ(result.draws.size(), 1u);
  return tokens_in(result, 0);
}

// p / q is 1/2 for draft 2 at the root and 1/2 for draft 0 after it; residuals are (1, 0, 0) and (0, 1, 0).
TEST(AdapterExample, DecidesOnScriptedNumbers) {
  EXPECT_EQ(example_tokens({0.5, 0, 0}), (std::vector<Token>{0}));
  EXPECT_EQ(example_tokens({0.5 - 0x1p-24, 0.5, 0.9}), (std::vector<Token>{2, 1}));
  EXPECT_EQ(example_tokens({0, 0, 0}), (std::vector<Token>{2, 0, 0}));
  EXPECT_EQ(example_tokens({0, 0, 0.125}), (std::vector<Token>{2, 0, 1}));
  EXPECT_EQ(example_tokens({0, 0, -3}), (std::vector<Token>{2, 0, 2}));
  EXPECT_EQ(example_tokens({0, 0}, RowStatus::tape_short), std::vector<Token>{});
}

TEST(AdapterExample, DeclaresItselfAndLogsItsDraws) {
  const auto adapter = load_library(DRAFTPROOF_ADAPTER_EXAMPLE);
  EXPECT_EQ(adapter->declaration().name, "token_path");
  EXPECT_TRUE(adapter->declaration().can(Randomness::scripted) && adapter->declaration().can(Randomness::seeded));
  EXPECT_FALSE(adapter->declaration().has("draft"));
  ServedCall call(Level::chain, {example_input, example_input});
  const ServedResult result = call.scripted(*adapter, {{0.5, 0, 0}, {0, 0, 0}});
  const Draw accept{.kind = DrawKind::coin, .bits = 24, .stream = "accept"};
  const auto pick = [](const char* stream, std::vector<double> weights) {
    return Draw{DrawKind::pick, 3, 0, stream, std::move(weights)};
  };
  EXPECT_TRUE(result.draws == (std::vector<std::vector<Draw>>{{accept, pick("residual", {0.25, 0.0, 0.0})},
                                                              {accept, accept, pick("bonus", {0.125, 0.375, 0.5})}}));
  EXPECT_EQ(call.seeded(*adapter, {3, 4}).tokens, call.seeded(*adapter, {3, 4}).tokens);
}

TEST(AdapterExample, RaggedRowsEndEarly) {
  const auto adapter = load_library(DRAFTPROOF_ADAPTER_EXAMPLE);
  const Input one{.p = {example_input.p[0], example_input.p[1]}, .q = {example_input.q[0]}, .drafts = {2}},
      none{.p = {example_input.p[0]}, .q = {}, .drafts = {}};
  ServedCall call(Level::chain, {example_input, one, none});
  ServedResult result = call.scripted(*adapter, {{0, 0, 0}, {0, 0.9, 0}, {0.6, 0, 0}});
  EXPECT_EQ(tokens_in(result, 0), (std::vector<Token>{2, 0, 0}));
  EXPECT_EQ(tokens_in(result, 1), (std::vector<Token>{2, 2}));
  EXPECT_EQ(tokens_in(result, 2), (std::vector<Token>{1}));
}

TEST(LoadLibrary, LoadsLibrariesWithTheNamesOfVersion02) {
  const auto adapter = load_library(DRAFTPROOF_OLD_NAMES);
  EXPECT_EQ(adapter->declaration().name, "old_names");
  EXPECT_EQ(adapter->declaration().draft_sampling, "iid");
}

}  // namespace
}  // namespace draftproof::adapters
