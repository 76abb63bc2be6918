// What every command shares: the global options, where results and talk go, and the wish to stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <draftproof/cli/exit_code.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

struct Session {
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  std::string format = "table";
  std::string output{};  ///< file for the result; empty: standard output
  bool timings = false;  ///< times in the machine-readable data, which is then not reproducible
  bool quiet = false;    ///< no progress

  /// Throws InputError if `output` cannot be written: before the work, not after it. Changes no file.
  void check_output() const;
  /// Writes the result in the chosen format. Throws InputError if it cannot be written.
  void write(const Document& document) const;
};

/// Set by Ctrl-C or SIGTERM: long work finishes what it has at hand and reports that. A second signal kills.
const std::atomic<bool>& stop_requested();
void install_stop_handler();

}  // namespace draftproof
