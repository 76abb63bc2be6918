// What a benchmark should cost against another of the same run: a peer, a floor, or a form of our own.
//
// A group of bench/groups/ declares goals where it registers its benchmarks; the report finds both medians and says
// whether the goal is met. A goal whose benchmarks did not both run is left out.
#pragma once

#include <string>
#include <vector>

namespace draftproof {

/// ratio = time per item of `slower` / time per item of `faster`, from medians over repetitions.
struct Goal {
  enum class Sense { at_least, at_most };

  std::string what;    ///< one line: what is compared, and why it matters
  std::string slower;  ///< full names of benchmarks, as `draftproof bench --list` prints them
  std::string faster;
  Sense sense;
  double bound;
};

inline std::vector<Goal>& found_goals() {
  static std::vector<Goal> all;
  return all;
}

}  // namespace draftproof
