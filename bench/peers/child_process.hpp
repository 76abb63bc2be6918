// Runs a program to its end and captures its output, for measurements of peers. The arguments pass through no shell.
//
// Cost: one process. A call is not safe while another thread changes the environment.
#pragma once

#include <string>
#include <vector>

namespace draftproof::benchmarks {

struct Finished {
  int code = 127;  ///< exit code; -N if signal N killed the program; 127 if the program could not be started
  std::string out, err;
};

/// Runs `words`; words[0] is looked up in PATH if it has no slash. `environment` ("NAME=value") is added to this
/// process's variables. Returns exit code and output.
Finished run_child(const std::vector<std::string>& words, const std::vector<std::string>& environment = {});

}  // namespace draftproof::benchmarks
