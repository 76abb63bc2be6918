// A batch as the rejection sampler of an engine gets it: requests with different numbers of drafts, packed rows, a
// pitch between rows, and slots that may have been reordered since drafting.
//
//   s            slot: place of a request in this batch
//   length[s]    drafts of slot s, 0 .. longest
//   target       length[s] + 1 rows for each slot, in slot order, packed
//   proposal     length rows for each request in the order of *drafting*: drafted_at[s] is the place of slot s then
//   mask         V bytes for each target row, 0 where the token may not be emitted; null: no masks
//   drafts       `longest` ids for each slot; a slot with fewer drafts is filled up with pad_id
//
// Rows are weights, not probabilities: with rows of small integers every product of verification is exact.
#pragma once

#include <cstdint>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

inline constexpr Token pad_id = -1;

/// The settings of a request.
struct BatchRequest {
  std::uint64_t seed = 0;
  bool seeded = true;          ///< false: draws from the engine's seed in a stream of its own
  std::uint32_t id = 0;        ///< names the request in the engine, independently of its slot
  std::uint32_t position = 0;  ///< tokens emitted so far: the same seed and position give the same words
  Token stop = no_token;       ///< the step ends with this token
  int limit = 0;               ///< most tokens to emit; 0: no limit
};

struct RaggedBatch {
  int vocabulary = 0, slots = 0, longest = 0;
  std::int64_t pitch = 0;  ///< elements from a row to the next, target and proposal
  const float* target = nullptr;
  const float* proposal = nullptr;
  const std::uint8_t* mask = nullptr;
  const Token* drafts = nullptr;
  const int* length = nullptr;
  const int* drafted_at = nullptr;
  const BatchRequest* request = nullptr;
  std::uint64_t engine_seed = 0;
};

/// Address of the words of a decision; no other decision reads them.
struct StreamAddress {
  std::uint64_t key;
  std::uint32_t stream;  ///< 0 for a request with a seed of its own
  std::uint32_t position;
  auto operator<=>(const StreamAddress&) const = default;
};

/// The output of a batch, slot by slot.
struct BatchOutput {
  std::vector<std::vector<Token>> emitted;
  std::vector<int> accepted;  ///< drafts among the emitted tokens
  std::vector<bool> refused;  ///< rows that are no laws, or drafts that cannot have been drawn: nothing is emitted
};

}  // namespace draftproof
