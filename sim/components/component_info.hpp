// What a component around a verifier says about itself: batch runners, sources of target rows and samplers are
// examined beside verifiers, because most reported defects lie in them.
//
//   name      snake_case, the file's name
//   budget    of samplers: largest total variation between the law served and the weights
#pragma once

#include <string_view>

namespace draftproof {

struct ComponentInfo {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view source;   ///< report, paper, or "derived here"
  double budget = 1e-6;      ///< what samplers of large vocabularies may miss where they say nothing
};

}  // namespace draftproof
