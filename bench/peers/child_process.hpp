// A program run to its end with its output caught: how peers are measured. No shell sees the words.
//
// Cost: one process. Invalid while another thread changes the environment.
#pragma once

#include <string>
#include <vector>

namespace draftproof::benchmarks {

struct Finished {
  int code = 127;  ///< exit code; minus the signal that killed it; 127 if it could not be started
  std::string out, err;
};

/// `words[0]` is looked for in PATH if it has no slash. `environment` ("NAME=value") is added to our own.
Finished run_child(const std::vector<std::string>& words, const std::vector<std::string>& environment = {});

}  // namespace draftproof::benchmarks
