// Peers in Python: chooses an interpreter, and runs a script on the rows p and q of the benchmarks.
//
// The scripts are in this folder and are compiled in, so installed programs and programs that use the library have them
// too. On a machine without an interpreter that has the modules, the benchmarks of peers are skipped with a reason.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace draftproof::benchmarks {

/// The interpreter set by --python. If empty, DRAFTPROOF_PYTHON is used, or else the first interpreter that has the
/// modules: `python3` in PATH, then the system's.
std::string& chosen_python();

/// Returns an interpreter that can import `module`. Without such an interpreter returns an empty string, with the
/// reason in `why`.
std::string python_with(const std::string& module, std::string& why);

struct PeerAnswer {
  nlohmann::json data{};
  std::string error{};  ///< why there is no data
};

/// Runs a script on one thread with `--pq FILE`, where FILE holds p, then q, and with `words`. `script` is
/// "numpy_peer", "scipy_peer" or "check_peer"; `module` names the modules that the script imports. Returns the JSON
/// that the script printed, or an error.
PeerAnswer ask_peer(std::string_view script, const std::string& module, std::span<const double> target,
                    std::span<const double> proposal, const std::vector<std::string>& words);

}  // namespace draftproof::benchmarks
