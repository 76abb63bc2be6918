// The input of a source of target rows: the model's weights at every position of a drafted chain, and the settings of
// one request. All are integers, so rows in fractions can be compared with `==`.
//
//   w        weight       exp(logit / grain): the grain-th root of a token's weight before any setting, as bias and penalty
//   1/T      coldness     inverse temperature in units of 1 / grain: exponent of the roots; 0 is temperature 0, the most
//                         probable token; grain is temperature 1, grain + 1 just below it
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
  int coldness = 1, grain = 1;
  int top_k = 0;           ///< 0: off; among equal weights the lowest ids stay
  int min_p_over = 0;      ///< removes tokens below 1/min_p_over of the largest weight; 0: off
  int top_p = 0;           ///< per cent of the mass that the most probable tokens must have together; 0: off
  int typical_p = 0;       ///< the same in the order of typical-p; 0: off
  bool joint = false;      ///< filters all see the row before them, and not what the others leave of it
  bool cold_last = false;  ///< filters see the row at temperature 1, and the temperature follows them
  std::vector<int> bias;   ///< factor for each token; empty: off
  int penalty = 1;
  std::vector<std::vector<int>> masks;  ///< L + 1 rows of 0 and 1; empty: off
  TargetBackend backend = TargetBackend::specialised;

  int vocabulary() const { return static_cast<int>(weights.front().size()); }
  int drafts() const { return static_cast<int>(weights.size()) - 1; }
  bool operator==(const TargetRequest&) const = default;
};

}  // namespace draftproof
