// The words of the capture schema: which arrays a file holds, what their numbers are, and where its metadata
// lies.
//
//   array                 shape           meaning
//   target                [N, V]          the target's row at each position
//   draft*                [N, V]          a proposal's row; one or more
//   ids                   [N, K]          truncated form: token of each column, ascending, then -1 as
//   padding; target
//                                         and proposals are then [N, K] probabilities, 0 at padding
//   rest_target, rest_draft*  [N]         truncated form: probability of all tokens not in ids
//   tokens                [N, W]          optional: ids of the context, left padded with -1
//   next_token            [N]             optional: the token that came next
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

/// What one stored number is.
enum class Values { LogProbability, Logit, Probability };

/// `log_probability`, `logit` or `probability`, as in metadata.
std::string_view to_string(Values values);

/// True for the arrays of the table above; a reader skips all others.
bool is_capture_array(std::string_view name);

/// True for `draft*`.
bool is_proposal_array(std::string_view name);

/// The sidecar of a capture: `NAME.json` beside `NAME.npz`; failing that, for `SET_positions.npz`,
/// `SET_topk.npz` and `SET_trees.npz`, `SET.json`. Nothing if neither exists.
std::optional<std::filesystem::path> sidecar_of(const std::filesystem::path& capture);

/// What the metadata of `file` declares, or the defaults: without ids log-probabilities, with ids
/// probabilities. Throws InputError on an unknown schema or version, on unknown values, on a vocabulary that
/// is no whole number.
struct Declared {
  Values values = Values::LogProbability;
  std::optional<std::size_t> vocabulary = {};
};
Declared read_declared(const nlohmann::json& metadata, bool truncated, const std::string& file);

}  // namespace draftproof
