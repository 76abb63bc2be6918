// A batch as the rejection sampler of an engine gets it: requests with different numbers of drafts, packed rows, a
// pitch between rows, and slots that may have been reordered since drafting.
//
//   s            slot: index of a request in this batch
//   length[s]    drafts of slot s, 0 .. longest
//   target       length[s] + 1 rows for each slot, in slot order, packed
//   proposal     length[s] rows for each slot, in the order of drafting, in which slot s has index drafted_at[s]
//   mask         V bytes for each target row, 0 where the token may not be emitted; null: no masks
//   drafts       `longest` ids for each slot; a slot with fewer drafts is filled up with pad_id
//
// Rows are weights, not probabilities. If the weights are small integers, every product in verification is exact.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

inline constexpr Token pad_id = -1;

/// The settings of a request.
struct BatchRequest {
  std::uint64_t seed = 0;
  bool seeded = true;          ///< false: random bits come from the engine's seed, at a stream numbered by `id`
  std::uint32_t id = 0;        ///< identifies the request in the engine, independently of its slot
  std::uint32_t position = 0;  ///< number of tokens emitted so far; equal seed and position give equal bits
  Token stop = no_token;       ///< the step ends with this token
  int limit = 0;               ///< largest number of tokens to emit; 0: no limit

  /// Returns the number of tokens, of `count` tokens, that a step keeps: up to and including the stop token, and at
  /// most the limit.
  int kept(const Token* tokens, int count) const {
    const auto end = std::find(tokens, tokens + count, stop);
    if (end != tokens + count) count = static_cast<int>(end - tokens) + 1;
    return limit > 0 ? std::min(count, limit) : count;
  }
};

/// Address of the random bits of one decision.
struct StreamAddress {
  std::uint64_t key;
  std::uint32_t stream;  ///< 0 for a request with a seed (BatchRequest::seeded)
  std::uint32_t position;
  auto operator<=>(const StreamAddress&) const = default;
};

struct RaggedBatch {
  int vocabulary = 0, slots = 0, longest = 0;
  std::int64_t pitch = 0;  ///< elements from one row to the next, in `target` and `proposal`
  const float* target = nullptr;
  const float* proposal = nullptr;
  const std::uint8_t* mask = nullptr;
  const Token* drafts = nullptr;
  const int* length = nullptr;
  const int* drafted_at = nullptr;
  const BatchRequest* request = nullptr;
  std::uint64_t engine_seed = 0;

  /// Returns the index of the first target row of a slot; the mask rows of the slot have the same indices.
  std::int64_t target_row(int slot) const {
    std::int64_t row = 0;
    for (int s = 0; s < slot; ++s) row += length[s] + 1;
    return row;
  }
  /// Returns the index of the first proposal row of a slot: the rows of requests drafted earlier come first.
  std::int64_t proposal_row(int slot) const {
    std::int64_t row = 0;
    for (int s = 0; s < slots; ++s)
      if (drafted_at[s] < drafted_at[slot]) row += length[s];
    return row;
  }
  /// Returns the address of the random bits for decision i of a slot, which is the test of draft i or the draw of the
  /// token after i accepted drafts.
  StreamAddress address(int slot, int i) const {
    const std::uint32_t position = request[slot].position + static_cast<std::uint32_t>(i);
    if (request[slot].seeded) return {request[slot].seed, 0, position};
    return {engine_seed, request[slot].id + 1, position};
  }
};

/// The output of a batch, slot by slot.
struct BatchOutput {
  std::vector<std::vector<Token>> emitted;
  std::vector<int> accepted;  ///< number of drafts among the emitted tokens
  std::vector<bool> refused;  ///< whether no token is emitted, because a row is invalid or a draft has q(x) = 0
};

/// A runner: one call verifies a batch. `random.at(address)` is the source of one decision, which has
/// `bool flip(double num, double den)`, true with probability min(1, num / den), and `Token pick(weights)` from
/// weights of any sum (ScaledWeights). One object serves many calls, so its members keep their values between calls.
/// Products of a batch's weights are exact. If a runner divides weights, its rounding errors show in the enumeration.
template <class V, class Random>
concept BatchVerifier = std::is_default_constructible_v<V> &&
    requires(V runner, const RaggedBatch& batch, Random& random) {
  { runner.verify(batch, random) } -> std::same_as<BatchOutput>;
};

/// Whether C has a static `info`, the declaration of a component.
template <class C>
concept Described = requires {
  { C::info } -> std::convertible_to<const ComponentInfo&>;
};

}  // namespace draftproof
