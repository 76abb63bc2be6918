// Where positions come from, for all commands: a capture file or a parametric family behind one interface.
// Opening checks everything that can be checked without touching every row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/captures/filter.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof {

struct SourceOptions {
  std::vector<std::string> proposals = {};  // empty: those of the spec, else of a file the first, of a family all
  Filter target_filter = {};
  Filter proposal_filter = {};
  /// One proposal at several temperatures, one for each draft: K proposals made from the single one chosen, with the
  /// rest of proposal_filter after each temperature. Empty: proposals as they are.
  std::vector<double> draft_temperatures = {};
  std::uint64_t seed = 1;  // of a family; a file has none
};

class Source {
 public:
  /// `spec` is a path (.npz, .safetensors, .npy), optionally with proposals after a colon, as in
  /// `data/stories512_positions.npz:draft_q4,draft_q3`, or a family, as in
  /// `zipf:vocabulary=32000,positions=8`. Throws InputError.
  static Source open(std::string_view spec, const SourceOptions& options = {});

  /// The spec's short name: the file's stem or the family's spec.
  const std::string& name() const;

  std::size_t positions() const;
  std::size_t vocabulary() const;

  /// As in pair().proposals; each at least once. With draft temperatures "draft@0.7", "draft@1.2", ...
  const std::vector<std::string>& proposal_names() const;

  /// The filtered laws at position i < positions(). Thread-safe; the same i gives the same bits. Throws
  /// InputError if a stored row is no law.
  RowPair pair(std::size_t i) const;

  /// Settings, metadata and provenance, for reports.
  nlohmann::json describe() const;

  /// The two kinds of source derive from this.
  struct Rows;

 private:
  Source(std::shared_ptr<const Rows> rows, const SourceOptions& options);

  std::shared_ptr<const Rows> rows_;
  Filter target_filter_, proposal_filter_;
  std::vector<double> draft_temperatures_;
  std::vector<std::string> names_;
  std::vector<Filter> filters_;  ///< one for each proposal
};

}  // namespace draftproof
