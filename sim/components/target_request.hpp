// The input of a source of target rows: the model's weights at every position of a drafted chain, and the settings of
// one request. All are integers, so rows in fractions can be compared with `==`.
//
//   w        weight       exp(logit): weight of a token before any setting
//   1/T      coldness     inverse temperature, exponent of the weights; 0 is temperature 0: the most probable token
//   c        count        occurrences of a token in the text before a position, committed and drafted
//   d        penalty      weights are divided by d once for each occurrence
#pragma once

#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// Which of an engine's implementations runs; all of them must give the same rows.
enum class TargetBackend { specialised, generic };

struct TargetRequest {
  std::vector<std::vector<int>> weights;  ///< L + 1 rows of V: at each draft position, then the bonus row
  std::vector<Token> committed;           ///< text before the first draft
  int coldness = 1;
  int top_k = 0;          ///< 0: off; among equal weights the lowest ids stay
  int min_p_over = 0;     ///< removes tokens below 1/min_p_over of the largest weight; 0: off
  std::vector<int> bias;  ///< factor for each token; empty: off
  int penalty = 1;
  std::vector<std::vector<int>> masks;  ///< L + 1 rows of 0 and 1; empty: off
  TargetBackend backend = TargetBackend::specialised;

  int vocabulary() const { return static_cast<int>(weights.front().size()); }
  int drafts() const { return static_cast<int>(weights.size()) - 1; }
  bool operator==(const TargetRequest&) const = default;
};

}  // namespace draftproof
