// The program as a function.
#pragma once

namespace draftproof {

/// Parses the arguments, runs the command and returns its exit code (cli/exit_code.hpp). Errors become exit codes with a
/// message on standard error.
int run_program(int argc, char** argv);

}  // namespace draftproof
