// The state shared by all commands: the global options, the output of results, and the stop flag.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <draftproof/cli/exit_code.hpp>
#include <draftproof/doors/open_door.hpp>
#include <draftproof/properties/blocks/ledger.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

struct Session {
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  std::string format = "table";
  std::string output{};                  ///< file for the result; empty: standard output
  bool timings = false;                  ///< whether the machine-readable data has times; it is then not reproducible
  bool quiet = false;                    ///< whether progress is suppressed
  std::vector<doors::OpenDoor> doors{};  ///< of --door, in order
  std::shared_ptr<BlockLedger> ledger{};  ///< known blocks, in a command that another one runs; null otherwise

  /// Throws: InputError if `output` cannot be written. Called before the work; changes no file.
  void check_output() const;
  /// Opens the doors and registers the verifiers behind them that trials can run through, under their declared names, or
  /// with "@door" after a name that is taken. Of several doors with a dump folder each has a numbered folder in it.
  /// Throws: InputError, DoorError.
  void open_doors(const std::vector<std::string>& texts, const doors::WireOptions& options);
  /// Writes the result in the selected format; with `timings` the data names version and processor. A file is replaced
  /// whole or not at all. Throws: WriteFailure if it cannot be written.
  void write(const Document& result) const;
};

/// Set by Ctrl-C, SIGTERM or SIGHUP. Long work then completes the current part and reports it; a second signal kills the
/// program.
const std::atomic<bool>& stop_requested();
/// Makes both signals set the stop flag.
void install_stop_handler();

}  // namespace draftproof
