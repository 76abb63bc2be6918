// A goal is a bound on the ratio of the times of two benchmarks of one run. One of the two may measure an
// implementation without draftproof (a peer) or a lower bound on the time.
//
// A group in bench/groups/ declares its goals where it registers its benchmarks. The report computes the ratio of the
// two medians and compares it with the bound. A goal is left out unless both of its benchmarks ran.
#pragma once

#include <string>
#include <vector>

namespace draftproof {

/// ratio = time per item of `slower` / time per item of `faster`, from medians over repetitions.
struct Goal {
  enum class Sense { at_least, at_most };

  std::string what;    ///< description of the comparison in one line
  std::string slower;  ///< full names of benchmarks, as `draftproof bench --list` prints them
  std::string faster;
  Sense sense;
  double bound;
};

/// Returns the goals declared so far.
inline std::vector<Goal>& found_goals() {
  static std::vector<Goal> all;
  return all;
}

}  // namespace draftproof
