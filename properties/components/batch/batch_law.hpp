// The exact law of the tokens of one request in its batch, while the other requests read their counters.
//
//   emitted    probability of each list of tokens, over all branches of drafts and verification
//   unseen     probability that the limit on branches cut off; `emitted` has lower bounds then
//   allowed    weight of a token at a position under the request's mask
#pragma once

#include <fmt/format.h>
#include <sys/mman.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof {

struct BatchLaw {
  std::map<std::vector<Token>, Rational> emitted;
  Rational unseen = 0;

  /// The first prefix after which the next token does not have the law of the request's target, as "after [0] got
  /// (1 0), wanted (1/2 1/2), TV 1/2; reached with probability 1"; nothing if there is none. Of a law with unseen
  /// probability, only lists that no right law emits.
  std::optional<std::string> wrong_prefix(const BatchCaseRequest& request) const;
  /// A token that must not be emitted, with its probability; nothing if there is none.
  std::optional<std::string> forbidden(const BatchCaseRequest& request) const;
};

/// Walks the decisions of `request` in the case `one` at this turn. Adds the branches walked to `work`.
BatchLaw explore_batch_row(const BatchRunner& runner, const BatchCase& one, std::uint32_t turn, int request,
                           std::uint64_t& work, ExplorerLimits limits = {});

/// The answer of a check that `complaint` makes of every request's law in three turns: violated by the first complaint,
/// else undecided if a law has unseen probability.
Answer judge_rows(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work, ExplorerLimits limits,
                  std::optional<std::string> (BatchLaw::*complaint)(const BatchCaseRequest&) const);

// Rows far apart in memory: a mapping of gigabytes in which only the pages of rows are allocated.
//
//   pitch     elements from a row to the next
//   before    2^31 elements before the first row, where an offset that wraps in 32 bits ends up
//
// Cost: address space, and one or two pages a row. If address space is limited, the mapping fails and the check
// reports it.

class SparseRows {
 public:
  static constexpr std::size_t before = std::size_t{1} << 31;

  /// `rows` has rows of `size` entries each, one after another.
  SparseRows(const std::vector<float>& rows, std::size_t size, std::size_t pitch) {
    const std::size_t count = rows.size() / size;
    bytes_ = (before + (count + 1) * pitch) * sizeof(float);
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!mapped()) return;
    for (std::size_t row = 0; row < count; ++row)
      for (std::size_t x = 0; x < size; ++x) first()[row * pitch + x] = rows[row * size + x];
  }
  SparseRows(const SparseRows&) = delete;
  SparseRows& operator=(const SparseRows&) = delete;
  ~SparseRows() {
    if (mapped()) munmap(memory_, bytes_);
  }

  /// Whether the mapping succeeded.
  bool mapped() const { return memory_ != MAP_FAILED; }
  /// The first entry of the first row; requires mapped().
  float* first() const { return static_cast<float*>(memory_) + before; }

 private:
  std::size_t bytes_;
  void* memory_;
};

// A copy of all inputs of a batch, for a comparison later. Rows are compared bit for bit, padding between rows
// included.

class BatchInputs {
 public:
  explicit BatchInputs(const RaggedBatch& batch) {
    std::size_t drafts = 0;
    for (int s = 0; s < batch.slots; ++s) drafts += static_cast<std::size_t>(batch.length[s]);
    const auto rows = drafts + static_cast<std::size_t>(batch.slots), pitch = static_cast<std::size_t>(batch.pitch);
    keep("target rows", batch.target, rows * pitch);
    keep("proposal rows", batch.proposal, drafts * pitch);
    if (batch.mask) keep("masks", batch.mask, rows * static_cast<std::size_t>(batch.vocabulary));
    keep("drafts", batch.drafts, static_cast<std::size_t>(batch.slots * batch.longest));
    keep("lengths", batch.length, static_cast<std::size_t>(batch.slots));
    keep("order of drafting", batch.drafted_at, static_cast<std::size_t>(batch.slots));
  }

  /// The first input that is no longer what it was, by name and entry; nothing if all are.
  std::optional<std::string> difference() const {
    for (const Kept& kept : inputs_)
      for (std::size_t byte = 0; byte < kept.bytes.size(); ++byte)
        if (static_cast<const unsigned char*>(kept.at)[byte] != kept.bytes[byte])
          return fmt::format("entry {} of the {} has changed", byte / kept.entry, kept.name);
    return std::nullopt;
  }

 private:
  struct Kept {
    const char* name;
    const void* at;
    std::size_t entry;  ///< bytes
    std::vector<unsigned char> bytes;
  };

  template <class Entry>
  void keep(const char* name, const Entry* at, std::size_t count) {
    Kept kept{name, at, sizeof(Entry), std::vector<unsigned char>(count * sizeof(Entry))};
    if (count > 0) std::memcpy(kept.bytes.data(), at, kept.bytes.size());
    inputs_.push_back(std::move(kept));
  }

  std::vector<Kept> inputs_;
};

}  // namespace draftproof
