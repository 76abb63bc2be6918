// The capture schema: the names of arrays, the kinds of values, and the place of the metadata.
//
//   array                     shape    meaning
//   target                    [N, V]   the target's row at each position
//   draft*                    [N, V]   a proposal's row; one or more arrays
//   ids                       [N, K]   truncated form: token of each column, ascending, then -1 as padding; target
//                                      and proposals are then [N, K] probabilities, 0 at padding
//   rest_target, rest_draft*  [N]      truncated form: probability of all tokens not in ids
//   tokens                    [N, W]   optional: ids of the context, left padded with -1
//   next_token                [N]      optional: the token that came next
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <draftproof/captures/array.hpp>

namespace draftproof {

inline constexpr std::string_view capture_schema = "draftproof.capture/1";

/// The kind of a stored number.
enum class Values { LogProbability, Logit, Probability };

/// `log_probability`, `logit` or `probability`, as in the metadata.
std::string_view to_string(Values values);

/// Whether it is an array of the table above; a reader skips all others.
bool is_capture_array(std::string_view name);

/// Whether it has the form `draft*`.
bool is_proposal_array(std::string_view name);

/// Path of a capture's sidecar: `NAME.json` beside `NAME.npz`, else `SET.json` for `SET_positions.npz`,
/// `SET_topk.npz` and `SET_trees.npz`. Nothing if neither exists.
std::optional<std::filesystem::path> sidecar_of(const std::filesystem::path& capture);

/// The declarations in the metadata. The default values are log-probabilities, and probabilities if there are ids.
struct Declared {
  Values values = Values::LogProbability;
  std::optional<std::size_t> vocabulary = {};
};
/// Reads the declarations of `file`. Throws: InputError on an unknown schema or version, on unknown values, and on a
/// vocabulary that is not a whole number.
Declared read_declared(const nlohmann::json& metadata, bool truncated, const std::string& file);

}  // namespace draftproof
