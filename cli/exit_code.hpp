// The exit codes of the program, the same for every command.
#pragma once

#include <draftproof/properties/proof/finding.hpp>

namespace draftproof {

enum ExitCode : int {
  exit_held = 0,       ///< every check holds
  exit_violated = 1,   ///< a check does not hold
  exit_bad_input = 2,  ///< wrong usage or invalid input
  exit_undecided = 3,  ///< not decided within the budget
  exit_internal = 4,   ///< a defect of draftproof, or a failed device
  exit_skipped = 77,   ///< not possible here, for example without a device
};

// The exit code of a status.

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
