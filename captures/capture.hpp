// A capture: target and proposal distributions of real models in the same contexts, from one .npz, .safetensors or
// .npy file with its metadata. Shapes and ids are checked on opening; each row is checked when it is read.
//
//   array                     shape    meaning
//   target                    [N, V]   the target's row at each position
//   draft*                    [N, V]   a proposal's row; one or more arrays
//   ids                       [N, K]   truncated form: token of each column, ascending, then -1 as padding; target
//                                      and proposals are then [N, K] probabilities, 0 at padding
//   rest_target, rest_draft*  [N]      truncated form: probability of all tokens not in ids
//   tokens                    [N, W]   optional: ids of the context, left padded with -1
//   next_token                [N]      optional: the token that came next
//
// The metadata is `NAME.json` beside `NAME.npz`, else `SET.json` for `SET_positions.npz`, `SET_topk.npz` and
// `SET_trees.npz`, or the metadata inside a .safetensors file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/captures/array.hpp>
#include <draftproof/captures/filter.hpp>

namespace draftproof {

inline constexpr std::string_view capture_schema = "draftproof.capture/1";

/// The kind of a stored number.
enum class Values { LogProbability, Logit, Probability };

/// Returns `log_probability`, `logit` or `probability`, as in the metadata.
constexpr std::string_view to_string(Values values) {
  constexpr std::string_view names[]{"log_probability", "logit", "probability"};
  return names[static_cast<int>(values)];
}
/// Returns the kind called `name`, or nullopt.
constexpr std::optional<Values> values_named(std::string_view name) {
  for (const Values values : {Values::LogProbability, Values::Logit, Values::Probability})
    if (name == to_string(values)) return values;
  return std::nullopt;
}

/// Returns the file beside a capture that has its metadata; nullopt if there is none.
std::optional<std::filesystem::path> metadata_file(const std::filesystem::path& capture);

class Capture {
 public:
  /// Opens a capture: .npz and .npy are read whole, .safetensors is mapped. A plain .npy must be [D, N, V] with D >= 2:
  /// the target, then proposals called `draft`, or `draft_1`, `draft_2`, .... Throws: InputError.
  static Capture open(const std::filesystem::path& path);

  /// Reads a .npz without its contexts: in a capture of trees only the roots have contexts. Throws: InputError.
  static Capture open_rows(const std::filesystem::path& path);

  /// Path of the file.
  const std::string& file() const { return file_; }
  /// Number N of positions.
  std::size_t positions() const { return positions_; }

  /// Number of symbols of a row: V, or K + 1 in the truncated form, whose last symbol stands for all tokens not in
  /// ids.
  std::size_t vocabulary() const { return truncated_ ? columns_ + 1 : columns_; }

  /// Whether the file has the truncated form.
  bool truncated() const { return truncated_; }
  Values values() const { return values_; }

  /// Names of the proposals, in the order of the file.
  const std::vector<std::string>& proposals() const { return proposals_; }

  /// Returns the target's distribution [vocabulary()] at position i < positions(). Throws: InputError, with array, row
  /// and token, if the stored row is not a distribution, or if a filter other than the default is applied to the
  /// truncated form.
  std::vector<double> target(std::size_t i, const Filter& filter = {}) const;

  /// Returns the distribution of the proposal `name`. Throws: InputError, with the known names, for an unknown name,
  /// and under the conditions of target().
  std::vector<double> proposal(std::string_view name, std::size_t i, const Filter& filter = {}) const;

  /// Throws: the InputError of proposal() for an unknown name.
  void require_proposal(std::string_view name) const;

  /// Returns the token id of `symbol` < vocabulary() at position i. In the truncated form it is -1 for padding and
  /// for the last symbol, which stands for all tokens not in ids.
  std::int64_t token_id(std::size_t i, std::size_t symbol) const;

  /// Returns the context at position i without its padding; empty if the file has no contexts.
  std::vector<std::int64_t> context(std::size_t i) const;

  /// Returns the token that followed in the text; nullopt if the file has no next_token.
  std::optional<std::int64_t> next_token(std::size_t i) const;

  /// The metadata of the file, or an empty object.
  const nlohmann::json& metadata() const { return metadata_; }

 private:
  Capture(std::string file, NamedArrays arrays, nlohmann::json metadata);

  void read_declared();
  const Array& require(std::string_view name) const;
  void check_shape(std::string_view name, std::size_t columns) const;
  void check_ids() const;
  void check_context() const;
  std::vector<double> distribution(std::string_view name, std::size_t i, const Filter& filter) const;

  std::string file_;
  NamedArrays arrays_;
  nlohmann::json metadata_;
  Values values_ = Values::LogProbability;
  std::optional<std::size_t> vocabulary_ = {};  // V in the metadata
  std::vector<std::string> proposals_;
  std::size_t positions_ = 0, columns_ = 0;
  bool truncated_ = false;
};

}  // namespace draftproof
