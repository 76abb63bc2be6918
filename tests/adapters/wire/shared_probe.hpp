// A child for tests of shared memory, which is this very program: what it serves is named in a variable. Batches for it.
//
//   reads           a row's tokens say whether rows are mapped, and sums of the rows
//   no descriptor   the same without a descriptor left for the region
//   dies            a chain verifier that dies on a struck row, one with p[0][0] = 3/4
//   writes          a library that writes into a struck row
#pragma once

#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <draftproof/adapters/library/load_library.hpp>
#include <draftproof/tests/support/doors_wire.hpp>

namespace draftproof::adapters::wired {

inline constexpr const char* probe_variable = "DRAFTPROOF_TEST_SERVES_PROBE";
inline constexpr float struck_value = 0.75f;

/// Entries of `folder`, 0 if it cannot be opened.
inline std::ptrdiff_t entries_in(const char* folder) {
  std::error_code error;
  return std::distance(std::filesystem::directory_iterator(folder, error), std::filesystem::directory_iterator());
}

inline std::int32_t sum_of_bytes(std::span<const std::byte> bytes, int vocabulary) {
  std::uint32_t sum = 17;
  for (const std::byte byte : bytes) sum = sum * 31 + static_cast<std::uint32_t>(byte);
  return static_cast<std::int32_t>(sum % static_cast<std::uint32_t>(vocabulary));
}

/// A row's tokens: whether rows are mapped, sums of the whole p and q, and the open descriptors.
class Probe final : public ChainVerifier {
 public:
  Probe() { mine_ = ChainVerifier::declaration(), mine_.randomness = {Randomness::seeded}; }
  const Declaration& declaration() const override { return mine_; }
  void verify(const ServedBatch& batch, ServedResult& result) override {
    for (int row = 0; row < batch.rows; ++row) {
      const auto tokens = result.tokens_of(row);
      tokens[0] = batch.mapped ? 1 : 0;
      tokens[1] = sum_of_bytes(batch.p, batch.vocabulary);
      tokens[2] = sum_of_bytes(batch.q, batch.vocabulary);
      tokens[3] = static_cast<std::int32_t>(entries_in("/proc/self/fd"));
      result.counts[static_cast<std::size_t>(row)] = 4;
    }
  }

 private:
  Declaration mine_;
};

/// Dies on a struck row of any batch, with the region mapped.
class DyingChain final : public ChainVerifier {
 public:
  void verify(const ServedBatch& batch, ServedResult& result) override {
    for (int row = 0; row < batch.rows; ++row)
      if (batch.target<float>(row, 0)[0] == struck_value) std::raise(SIGKILL);
    ChainVerifier::verify(batch, result);
  }
};

/// A library that writes into its rows if they are struck.
inline std::int32_t writing_verify(void*, const dp_batch* batch, dp_result* result) {
  const auto stride = static_cast<std::size_t>(batch->p_rows) * static_cast<std::size_t>(batch->vocabulary);
  auto* const p = const_cast<float*>(static_cast<const float*>(batch->p));
  for (std::int32_t row = 0; row < batch->rows; ++row) {
    if (p[static_cast<std::size_t>(row) * stride] == struck_value) p[static_cast<std::size_t>(row) * stride] = 1;
    result->tokens[row * result->stride] = 0;
    result->counts[row] = 1;
    result->status[row] = DP_OK;
  }
  return DP_OK;
}

inline const dp_verifier* writing_door(std::uint32_t) {
  static const dp_verifier table = [] {
    dp_verifier made{};
    made.size = sizeof made;
    made.abi = DRAFTPROOF_DOOR_ABI;
    made.name = "writes";
    made.level = DP_CHAIN;
    made.randomness = DP_BIT(DP_SEEDED);
    made.verify = writing_verify;
    return made;
  }();
  return &table;
}

/// In a process with the variable: serves what it names, and ends before any test runs.
inline const bool serves_probe = serves_and_ends(probe_variable, [](const std::string& name) {
  std::unique_ptr<Served> served = std::make_unique<Probe>();
  if (name == "dies") served = std::make_unique<DyingChain>();
  if (name == "writes") served = linked_library("writes.so", writing_door);
  if (name == "no descriptor") {
    constexpr rlimit as_many_as_serving_takes{5, 5};
    setrlimit(RLIMIT_NOFILE, &as_many_as_serving_takes);
  }
  return served;
});

inline std::string probe_command(const std::string& kind) { return this_program(probe_variable, kind); }

/// `rows` chains of three drafts with random laws of V tokens, seeded. One row may be struck.
struct SeededChains : ServedCall {
  SeededChains(int rows, int v, unsigned seed, int struck = -1)
      : ServedCall(Level::chain, inputs(rows, v, seed, struck)) {
    std::vector<std::int64_t> seeds(static_cast<std::size_t>(rows));
    std::iota(seeds.begin(), seeds.end(), std::int64_t{seed});
    seeded(seeds);
  }

 private:
  static std::vector<Input> inputs(int rows, int v, unsigned seed, int struck) {
    std::mt19937 random(seed);
    std::vector<Input> made;
    while (std::ssize(made) < rows) made.push_back(random_input(random, v, 3));
    if (struck >= 0) made[static_cast<std::size_t>(struck)].p[0][0] = struck_value;
    return made;
  }
};

}  // namespace draftproof::adapters::wired
