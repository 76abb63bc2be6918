// Peers in Python: the choice of an interpreter, and one run of a script on the pair of the benchmarks.
//
// The scripts lie beside this file and are compiled in, so installed programs and other users' programs have them
// too. A machine without an interpreter that has the modules skips these benchmarks with a reason.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace draftproof::benchmarks {

/// The interpreter set by --python; if empty, DRAFTPROOF_PYTHON, or else the first of `python3` in PATH and the
/// system's that has the modules.
std::string& chosen_python();

/// Returns an interpreter that can import `module`; empty if none can, with the reason in `why`.
std::string python_with(const std::string& module, std::string& why);

struct PeerAnswer {
  nlohmann::json data{};
  std::string error{};  ///< why there is no data
};

/// Runs a script on one thread with `--pq FILE`, where FILE holds p, then q, and with `words`. `script` is
/// "numpy_peer", "scipy_peer" or "check_peer", `module` what it imports. Returns its JSON, or an error.
PeerAnswer ask_peer(std::string_view script, const std::string& module, std::span<const double> target,
                    std::span<const double> proposal, const std::vector<std::string>& words);

}  // namespace draftproof::benchmarks
