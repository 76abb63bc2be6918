// Peers in Python: which interpreter, and one run of one of our scripts on the pair that our own benchmarks use.
//
// The scripts lie beside this file and are compiled in, so that an installed program and a program of somebody else's
// have them, too. A machine without an interpreter that has the modules skips these benchmarks and says why.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace draftproof::benchmarks {

/// Set by --python; else DRAFTPROOF_PYTHON; else `python3` of PATH and then the system's, whichever has the modules.
std::string& chosen_python();

/// An interpreter that can import `module`; empty if none can, and `why` says so.
std::string python_with(const std::string& module, std::string& why);

struct PeerAnswer {
  nlohmann::json data{};
  std::string error{};  ///< why there is no data
};

/// Runs the script on one thread with `--pq FILE`, where FILE holds p, then q, and with these words. `script` is
/// "numpy_peer" or "scipy_peer", `module` what it imports.
PeerAnswer ask_peer(std::string_view script, const std::string& module, std::span<const double> target,
                    std::span<const double> proposal, const std::vector<std::string>& words);

}  // namespace draftproof::benchmarks
