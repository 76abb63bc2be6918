// Sources of positions for all commands: a capture file or a parametric family behind one interface. Opening checks
// everything that can be checked without reading every row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/captures/filter.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof {

/// The positions of a source to use: all positions in [first, end), or, if `sample` > 0, one position drawn from each
/// of `sample` ranges of [first, end) whose lengths differ by at most 1. The default is every position.
struct Selection {
  std::uint64_t first = 0, end = std::numeric_limits<std::uint64_t>::max(), sample = 0;
  bool operator==(const Selection&) const = default;
};

struct SourceOptions {
  // If empty: the proposals that the spec names; without names, the first proposal of a file or all of a family.
  std::vector<std::string> proposals = {};
  Filter target_filter = {};
  Filter proposal_filter = {};
  /// If not empty, draft k is drawn from the one chosen proposal at temperature draft_temperatures[k]; the other
  /// settings of proposal_filter are applied after the temperature.
  std::vector<double> draft_temperatures = {};
  std::uint64_t seed = 1;  // seed of families and of sampled positions
  Selection selection = {};
};

class Source {
 public:
  /// Opens `spec`: a path (.npz, .safetensors, .npy), optionally with proposals after a colon, as in
  /// `data/stories512_positions.npz:draft_q4,draft_q3`, or a family, as in `zipf:vocabulary=32000,positions=8`.
  /// Throws: InputError.
  static Source open(std::string_view spec, const SourceOptions& options = {});

  /// Short name: the file's stem or the family's specification.
  const std::string& name() const;

  /// Number of selected positions.
  std::size_t positions() const;
  /// Returns the index of selected position i < positions() in the whole source.
  std::size_t address(std::size_t i) const;
  /// Number of symbols of a row.
  std::size_t vocabulary() const;

  /// Names in the order of pair().proposals, at least one. With draft temperatures "draft@0.7", "draft@1.2", ....
  const std::vector<std::string>& proposal_names() const;

  /// Returns the filtered distributions at position i < positions(). Thread-safe; the same i gives the same bits.
  /// Throws: InputError if a stored row is not a distribution.
  RowPair pair(std::size_t i) const;

  /// Settings, metadata and provenance, for reports.
  nlohmann::json describe() const;

  /// Base class of the two kinds of source: captures and families.
  struct Rows;

 private:
  Source(std::shared_ptr<const Rows> rows, const SourceOptions& options);

  std::shared_ptr<const Rows> rows_;
  Filter target_filter_, proposal_filter_;
  std::vector<double> draft_temperatures_;
  Selection selection_;
  std::uint64_t seed_;
  std::vector<std::string> names_;
  std::vector<Filter> filters_;  ///< one for each proposal
};

}  // namespace draftproof
