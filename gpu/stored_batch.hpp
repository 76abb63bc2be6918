// A batch of decisions on stored rows: float, bf16 or fp16, probabilities or logits. Format and contents are values
// at run time, so one kernel per verifier serves all of them.
//
//   field      shape        meaning
//   target     [B, V]       target rows, `target_stride` entries apart
//   proposal   [B, M, V]    proposal rows; M = `proposals` is 1 or the number of drafts
//   drafts     [B, K]       and `counts` [B]: as in batch.hpp
//   faults     [B]          written unless null: a word of row_fault.hpp for each position
//   verdicts   [B]          written; no_token at a position with a fault
//
// Offsets are 64-bit throughout, so a stride may exceed 2^32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <draftproof/gpu/batch.hpp>
#include <draftproof/gpu/row_fault.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>

namespace draftproof::gpu {

enum class Format { float32, bfloat16, float16 };
enum class Contents { probabilities, logits };

/// Bytes of one entry.
DRAFTPROOF_DEVICE constexpr int bytes_of(Format format) { return format == Format::float32 ? 4 : 2; }

template <class Entry>
inline constexpr bool has_format =
    std::is_same_v<Entry, float> || std::is_same_v<Entry, Bfloat16> || std::is_same_v<Entry, Half>;
template <class Entry>
requires has_format<Entry>
inline constexpr Format format_of = std::is_same_v<Entry, float>      ? Format::float32
                                    : std::is_same_v<Entry, Bfloat16> ? Format::bfloat16
                                                                      : Format::float16;

/// Calls use(entries), where `entries` is `row` as a pointer to its entry type.
template <class Use>
DRAFTPROOF_DEVICE void with_entries(Format format, const void* row, const Use& use) {
  switch (format) {
    case Format::float32:
      return use(static_cast<const float*>(row));
    case Format::bfloat16:
      return use(static_cast<const Bfloat16*>(row));
    case Format::float16:
      return use(static_cast<const Half*>(row));
  }
}

/// The views are in host or in device memory, as the function that takes the batch requires. Strides are in entries;
/// 0 means one row for all positions.
struct StoredBatch {
  /// Largest V of a row of logits. It keeps the integer sum over the row in the softmax at most 2^62 (softmax.hpp).
  static constexpr int most_tokens = 1 << 22;

  Format format = Format::float32;
  Contents contents = Contents::probabilities;
  Temperatures temperatures{};  ///< of logits
  int positions = 0, vocabulary = 0, proposals = 1;
  const void* target = nullptr;
  std::int64_t target_stride = 0;
  const void* proposal = nullptr;
  std::int64_t proposal_stride = 0, proposal_row_stride = 0;
  const Token* drafts = nullptr;
  std::int64_t draft_stride = 0;
  const std::int32_t* counts = nullptr;
  std::uint64_t seed = 0, first_trial = 0;
  std::uint64_t* faults = nullptr;
  Verdict* verdicts = nullptr;

  DRAFTPROOF_DEVICE const void* target_row(std::int64_t i) const { return entry(target, i * target_stride); }
  DRAFTPROOF_DEVICE const void* proposal_row(std::int64_t i, int k) const {
    return entry(proposal, i * proposal_stride + (proposals == 1 ? 0 : k) * proposal_row_stride);
  }
  DRAFTPROOF_DEVICE const void* entry(const void* first, std::int64_t offset) const {
    return static_cast<const char*>(first) + offset * bytes_of(format);
  }
  /// The float nearest to 1 / temperature, equal to inverse_temperature().
  DRAFTPROOF_DEVICE float inverse(bool of_target) const {
    return static_cast<float>(1 / (of_target ? temperatures.target : temperatures.proposal));
  }
  DRAFTPROOF_DEVICE bool refused(std::int64_t i) const { return faults != nullptr && faults[i] != no_fault; }

  /// Returns the batch with other rows of type Entry, at these addresses and strides.
  template <class Entry>
  DRAFTPROOF_DEVICE Batch<Entry> with_rows(const Entry* targets, std::int64_t target_apart, const Entry* proposed,
                                           std::int64_t proposal_apart, std::int64_t row_apart) const {
    Batch<Entry> batch;
    batch.positions = positions;
    batch.vocabulary = vocabulary;
    batch.proposals = proposals;
    batch.target = targets;
    batch.target_stride = target_apart;
    batch.proposal = proposed;
    batch.proposal_stride = proposal_apart;
    batch.proposal_row_stride = row_apart;
    batch.drafts = drafts;
    batch.draft_stride = draft_stride;
    batch.counts = counts;
    batch.seed = seed;
    batch.first_trial = first_trial;
    batch.faults = faults;
    batch.verdicts = verdicts;
    return batch;
  }
  /// Positions first .. first + count - 1, as a batch without a copy.
  StoredBatch part(std::int64_t first, int count) const {
    StoredBatch part = *this;
    part.positions = count;
    part.target = target_row(first);
    part.proposal = proposal_row(first, 0);
    part.drafts += first * draft_stride;
    part.counts += first;
    part.first_trial += static_cast<std::uint64_t>(first);
    if (faults != nullptr) part.faults += first;
    if (verdicts != nullptr) part.verdicts += first;
    return part;
  }
};

/// Returns `batch` with its format as a run-time value.
template <class Entry>
requires has_format<Entry> StoredBatch stored(const Batch<Entry>& batch, Contents contents = Contents::probabilities,
                                              Temperatures temperatures = {}) {
  return {format_of<Entry>,          contents,     temperatures,        batch.positions, batch.vocabulary,
          batch.proposals,           batch.target, batch.target_stride, batch.proposal,  batch.proposal_stride,
          batch.proposal_row_stride, batch.drafts, batch.draft_stride,  batch.counts,    batch.seed,
          batch.first_trial,         batch.faults, batch.verdicts};
}

/// Returns `batch`; reads no memory that it points to.
/// Throws: std::invalid_argument, with the field, if a size, stride or temperature is out of range.
const StoredBatch& checked_shape(const StoredBatch& batch);

/// Returns the largest |sum - 1| that a row of probabilities of this batch may have by rounding.
double sum_tolerance_of(const StoredBatch& batch);

}  // namespace draftproof::gpu
