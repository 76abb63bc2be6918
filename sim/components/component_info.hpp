// The declaration of a component around a verifier. Batch runners, sources of target rows and samplers are tested
// like verifiers, because most reported defects are in them.
//
//   name      snake_case
//   budget    samplers: largest total variation between the realised distribution and the weights
//   chunk     batch runners: number of slots, or of tokens of a row, that are processed together; tests use batches and
//             vocabularies of about this size
#pragma once

#include <string_view>

namespace draftproof {

struct ComponentInfo {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view source;   ///< report, paper, or "derived here"
  double budget = 1e-6;      ///< the default is for samplers of large vocabularies
  int chunk = 0;             ///< 0: no chunks
};

}  // namespace draftproof
