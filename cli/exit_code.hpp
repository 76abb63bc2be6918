// What the program's exit code means, the same for every command.
#pragma once

#include <draftproof/properties/proof/finding.hpp>

namespace draftproof {

enum ExitCode : int {
  exit_held = 0,       ///< everything asked holds
  exit_violated = 1,   ///< something does not hold
  exit_bad_input = 2,  ///< usage, or data from outside
  exit_undecided = 3,  ///< not decided within the budget
  exit_internal = 4,   ///< a defect of draftproof, or a device that failed
  exit_skipped = 77,   ///< not possible here (no device, say)
};

// The exit code of a verdict: how a status, or the worst of several, leaves the program.

constexpr ExitCode exit_code_of(Status status) {
  switch (status) {
    case Status::violated:
      return exit_violated;
    case Status::undecided:
      return exit_undecided;
    case Status::skipped:
      return exit_skipped;
    case Status::held:
      break;
  }
  return exit_held;
}

}  // namespace draftproof
