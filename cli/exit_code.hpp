// What the program's exit code means, the same for every command.
#pragma once

namespace draftproof {

enum ExitCode : int {
  exit_held = 0,       ///< everything asked holds
  exit_violated = 1,   ///< something does not hold
  exit_bad_input = 2,  ///< usage, or data from outside
  exit_undecided = 3,  ///< not decided within the budget
  exit_internal = 4,   ///< a defect of draftproof, or a device that failed
  exit_skipped = 77,   ///< not possible here (no device, say)
};

}  // namespace draftproof
