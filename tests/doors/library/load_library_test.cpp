#include <draftproof/doors/library/load_library.hpp>

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include <gtest/gtest.h>

#include <draftproof/tests/doors/library/served_call.hpp>

namespace draftproof::doors {
namespace {

/// The table that `linked_door` hands out.
dp_verifier linked_table;

const dp_verifier* linked_door(std::uint32_t abi) { return abi == DRAFTPROOF_DOOR_ABI ? &linked_table : nullptr; }

/// Emits what the tape and the seeds give, and misbehaves as `slip` says.
enum class Slip { none, past_end, changes_input, stranger, no_count, bad_count, bad_status, refuses, stays_silent };
Slip slip = Slip::none;

std::int32_t linked_verify(void*, const dp_batch* batch, dp_result* result) {
  for (std::int32_t row = 0; row < batch->rows; ++row) {
    const std::int32_t at = slip == Slip::stranger ? batch->rows : row;
    std::int32_t token = 0;
    if (batch->tape != nullptr)
      token =
          static_cast<std::int32_t>(batch->tape->uniform(batch->tape->self, at, 24, "accept") * batch->vocabulary);
    else if (batch->seeds != nullptr)
      token = static_cast<std::int32_t>(batch->seeds[row] % 7);
    if (slip == Slip::stays_silent) continue;
    result->tokens[row * result->stride] = token;
    if (slip != Slip::no_count) result->counts[row] = slip == Slip::bad_count ? batch->lengths[row] + 2 : 1;
    result->status[row] = slip == Slip::bad_status ? 6 : DP_OK;
  }
  if (slip == Slip::past_end) result->tokens[batch->rows * result->stride] = 0;
  if (slip == Slip::changes_input) const_cast<std::int32_t*>(batch->drafts)[0] += 1;
  if (slip == Slip::refuses) {
    std::strncpy(result->message, "no such rows today", result->message_size);
    return DP_UNSUPPORTED;
  }
  return DP_OK;
}

dp_verifier sound_table() {
  dp_verifier table{};
  table.size = sizeof table;
  table.abi = DRAFTPROOF_DOOR_ABI;
  table.name = "linked";
  table.level = DP_CHAIN;
  table.verify = linked_verify;
  return table;
}

std::unique_ptr<Served> linked(const dp_verifier& table, Slip how = Slip::none) {
  linked_table = table;
  slip = how;
  return linked_library("linked.so", linked_door);
}

std::string table_refusal(const dp_verifier& table) {
  try {
    linked(table);
  } catch (const DoorError& error) {
    return error.what();
  }
  return "none";
}

const Input two_drafts{.p = {{0.5, 0.5}, {0.25, 0.75}, {1, 0}}, .q = {{0.5, 0.5}, {0.5, 0.5}}, .drafts = {0, 1}};

std::string slip_found(Slip how) {
  const auto door = linked(sound_table(), how);
  ServedCall call(Level::chain, {two_drafts, two_drafts}, Dtype::float32);
  try {
    ServedResult result = call.scripted(*door, {{0.5, 0.5}, {0.75, 0.5}});
    return result.messages.empty() ? "none" : result.messages.begin()->second;
  } catch (const DoorError& error) {
    return error.what();
  }
}

TEST(LoadLibrary, RefusesFilesThatAreNoDoors) {
  const auto refusal = [](const std::string& path) -> std::string {
    try {
      load_library(path);
    } catch (const DoorError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal("/nowhere/verifier.so"),
            "library /nowhere/verifier.so: file: found none, wanted a shared library");
  const std::string here = std::string(DRAFTPROOF_SOURCE_DIR) + "/LICENSE";
  EXPECT_NE(refusal(here).find("wanted a shared library of this machine"), std::string::npos) << refusal(here);
  Dl_info c_library{};
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "getpid"), &c_library), 0);
  const std::string other = c_library.dli_fname;
  EXPECT_EQ(refusal(other), "library " + other +
                                ": symbol: found no draftproof_door, wanted the function of draftproof_door.h, "
                                "exported with C linkage");
}

TEST(LoadLibrary, RefusesTablesThatItCannotRead) {
  dp_verifier table = sound_table();
  table.size = 8;
  EXPECT_EQ(table_refusal(table), "library linked.so: table: found 8 bytes, wanted at least 16 of ABI 1");
  constexpr std::size_t first_version = offsetof(dp_verifier, state_size);
  table.size = first_version - 1;
  EXPECT_EQ(table_refusal(table), "library linked.so: table: found " + std::to_string(first_version - 1) +
                                      " bytes, wanted at least " + std::to_string(first_version) + " of ABI 1");
  table = sound_table();
  table.abi = 2;
  EXPECT_EQ(table_refusal(table), "library linked.so: table: found ABI 2, wanted ABI 1");
  table = sound_table();
  table.name = nullptr;
  EXPECT_EQ(table_refusal(table), "library linked.so: name: found none, wanted a name");
  table = sound_table();
  table.verify = nullptr;
  EXPECT_EQ(table_refusal(table), "library linked.so: functions: found none, wanted verify, draft or generate");
  table = sound_table();
  table.level = 3;
  EXPECT_EQ(table_refusal(table), "library linked.so: level: found 3, wanted 0 .. 2");
  table = sound_table();
  table.dtypes = 1u << 9;
  EXPECT_EQ(table_refusal(table), "library linked.so: dtypes: found bits 0x200, wanted bits of 0xf");
  table = sound_table();
  table.devices = DP_BIT(DP_CUDA);
  EXPECT_NE(table_refusal(table).find("without upload and release"), std::string::npos);
  EXPECT_THROW(linked_library("x", [](std::uint32_t) -> const dp_verifier* { return nullptr; }), DoorError);
}

TEST(LoadLibrary, ReadsTheDeclaration) {
  dp_verifier table = sound_table();
  Declaration declared = linked(table)->declaration();
  EXPECT_EQ(declared.name, "linked");
  EXPECT_EQ(declared.law, "iid");
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

TEST(LoadLibrary, FindsSlipsOfACall) {
  EXPECT_EQ(slip_found(Slip::none), "none");
  EXPECT_NE(slip_found(Slip::past_end).find("a write outside the buffers"), std::string::npos);
  EXPECT_NE(slip_found(Slip::changes_input).find("inputs that the call changed"), std::string::npos);
  EXPECT_NE(slip_found(Slip::stranger).find("a draw for row 2, wanted rows 0 .. 1"), std::string::npos);
  EXPECT_EQ(slip_found(Slip::bad_count), "counts: found 4, wanted 0 .. 3");
  EXPECT_EQ(slip_found(Slip::bad_status), "status: found 6, wanted 0 .. 5");
  EXPECT_NE(slip_found(Slip::no_count).find("counts: found "), std::string::npos);
  EXPECT_NE(slip_found(Slip::stays_silent).find("status: found "), std::string::npos);
  EXPECT_EQ(slip_found(Slip::refuses),
            "library linked.so: verify: found status 2 (unsupported) \"no such rows today\", wanted 0");
}

/// Memory that stands for a device's.
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
  const auto door = linked(table);
  ServedCall call(Level::chain, {two_drafts}, Dtype::float64);
  ServedResult result = call.seeded(*door, {1});
  EXPECT_EQ(tokens_in(result, 0), std::vector<Token>{1});
  EXPECT_EQ(uploads, 0);
}

}  // namespace
}  // namespace draftproof::doors
