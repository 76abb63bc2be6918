// A trace is a recording of a running engine. It has the rows, drafts and emitted tokens of every call of the verifier,
// in one .safetensors file (docs/captures.md, "Layout"). All arrays but the rows are checked on opening; each row is
// checked when it is read.
//
//   R, B, D, Q   records (emitted tokens), blocks (calls of the verifier for one request), drafts, proposal rows
//   S            symbols of a row: V, or n + 1 in the truncated form, whose last symbol is the rest
//
// Cost: opening reads all arrays but the rows, which are mapped into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/captures/capture.hpp>

namespace draftproof {

/// Selects the target's rows, one per record, or the proposal's rows.
enum class RowsOf { target, proposal };

class Trace {
 public:
  static constexpr std::string_view schema = "draftproof.trace/1";

  /// Maps a file. Throws: InputError, with the array, if it is not a trace, or if its arrays contradict each other.
  static Trace open(const std::filesystem::path& path);
  /// Reads a trace from the bytes of a file, whose name in messages is `name`. Throws: InputError, in the cases of
  /// open().
  static Trace of_bytes(std::vector<std::byte> bytes, std::string name);

  const std::string& file() const { return file_; }
  std::size_t records() const { return emitted_.size(); }
  std::size_t blocks() const { return accepted_.size(); }
  std::size_t drafts() const { return drafts_.size(); }
  std::size_t proposal_rows() const { return rows_[1].count; }
  /// Number V of tokens.
  std::size_t vocabulary() const { return vocabulary_; }
  /// Number S of symbols of a row.
  std::size_t symbols() const { return columns_ + (truncated_ ? 1 : 0); }
  bool truncated() const { return truncated_; }
  Values values() const { return values_; }
  /// Storage type of the rows.
  DType dtype() const { return dtype_; }
  /// `iid`, `without_replacement`, `greedy`, `unknown` or another name that the recorder wrote.
  const std::string& draft_sampling() const { return draft_sampling_; }
  const nlohmann::json& metadata() const { return metadata_; }
  /// Returns the number of bytes of all rows.
  std::size_t row_bytes() const;

  // Fields of record r < R.
  std::int32_t emitted(std::size_t r) const { return emitted_[r]; }
  /// The number of the proposal row after the record's prefix, or -1 if the trace does not have this row.
  std::int64_t emitted_q(std::size_t r) const { return emitted_q_[r]; }

  // Fields of draft d < D. Block b has the drafts draft_start(b) to draft_start(b + 1) - 1.
  std::int32_t draft(std::size_t d) const { return drafts_[d]; }
  /// The parent's number within the block, or -1 if the parent is the root.
  std::int32_t draft_parent(std::size_t d) const { return draft_parent_[d]; }
  std::size_t draft_q(std::size_t d) const { return static_cast<std::size_t>(draft_q_[d]); }

  // First record, draft and proposal row of block b < B; for b = B the end of the arrays: R, D and Q.
  std::size_t block_start(std::size_t b) const { return static_cast<std::size_t>(block_start_[b]); }
  std::size_t draft_start(std::size_t b) const { return static_cast<std::size_t>(draft_start_[b]); }
  std::size_t q_start(std::size_t b) const { return static_cast<std::size_t>(q_start_[b]); }
  /// Number of accepted drafts of block b < B, as the engine counted them.
  std::int32_t accepted(std::size_t b) const { return accepted_[b]; }
  std::int64_t request(std::size_t b) const { return request_[b]; }

  /// Returns the symbol of `token` in a row: the token itself; in the truncated form the column of the token, or the
  /// last symbol if the row does not store the token.
  std::size_t symbol(RowsOf whose, std::size_t row, std::int32_t token) const;

  /// Writes the probabilities of a row to out [S], normalised; returns the logarithm of the sum that divided the
  /// probabilities.
  /// Throws: InputError, with array, row and token, if the stored row is not a distribution.
  double distribution(RowsOf whose, std::size_t row, std::span<float> out) const;

  /// Whether the stored probability of a symbol is 0.
  bool is_zero(RowsOf whose, std::size_t row, std::size_t symbol) const;

 private:
  struct Rows {
    std::string name;                   // name of the array, for messages
    const std::byte* values = nullptr;  // [count, columns]
    const std::byte* ids = nullptr;     // int32 [count, columns], truncated form
    const std::byte* rest = nullptr;    // float [count], truncated form
    std::size_t count = 0;
  };

  Trace(std::span<const std::byte> bytes, std::string name);
  const Rows& rows(RowsOf whose) const { return rows_[whose == RowsOf::target ? 0 : 1]; }
  void check_indices() const;
  void check_ids() const;
  template <class Entry>
  double distribution_of_logits(const Rows& rows, std::size_t row, std::span<float> out) const;
  double distribution_of_probabilities(const Rows& rows, std::size_t row, std::span<float> out) const;

  std::string file_, draft_sampling_;
  nlohmann::json metadata_;
  Values values_ = Values::Logit;
  DType dtype_ = DType::F32;
  bool truncated_ = false;
  std::size_t vocabulary_ = 0, columns_ = 0;
  Rows rows_[2];
  std::vector<std::int32_t> emitted_, drafts_, draft_parent_, accepted_;
  std::vector<std::int64_t> emitted_q_, draft_q_, block_start_, draft_start_, q_start_, request_;
  std::shared_ptr<const MappedFile> mapped_{};
  std::shared_ptr<const std::vector<std::byte>> held_{};
};

}  // namespace draftproof
