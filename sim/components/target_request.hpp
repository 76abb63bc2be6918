// What a source of target rows is given: the model's weights at every position of a drafted chain, and the settings
// of one request. Integers and fractions throughout, so that rows can be compared with `==`.
//
//   w        weight       exp(logit): weight of a token before any setting
//   1/T      coldness     inverse temperature: weights are raised to it; 0 is temperature 0, the most probable token
//   c        count        occurrences of a token in the text before a position, committed and drafted
//   d        penalty      weights are divided by d once for each occurrence
#pragma once

#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// Which of an engine's implementations is at work; all of them owe the same rows.
enum class TargetBackend { specialised, generic };

struct TargetRequest {
  std::vector<std::vector<int>> weights;  ///< L + 1 rows of V: at each draft position, then the bonus row
  std::vector<Token> committed;           ///< text before the first draft
  int coldness = 1;
  int top_k = 0;          ///< 0: off; equal weights: lowest ids stay
  int min_p_over = 0;     ///< tokens below 1/min_p_over of the largest weight go; 0: off
  std::vector<int> bias;  ///< factor for each token; empty: off
  int penalty = 1;
  std::vector<std::vector<int>> masks;  ///< L + 1 rows of 0 and 1; empty: off
  TargetBackend backend = TargetBackend::specialised;

  int vocabulary() const { return static_cast<int>(weights.front().size()); }
  int drafts() const { return static_cast<int>(weights.size()) - 1; }
  bool operator==(const TargetRequest&) const = default;
};

}  // namespace draftproof
