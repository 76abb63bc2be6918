// The exit code of a verdict: how a status, or the worst of several, leaves the program.
#pragma once

#include <draftproof/cli/exit_code.hpp>
#include <draftproof/properties/proof/finding.hpp>

namespace draftproof {

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
