// The state shared by all commands: the global options, exit codes, the output of results, progress, and the stop
// flag.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <draftproof/adapters/open_adapter.hpp>
#include <draftproof/captures/written_file.hpp>
#include <draftproof/cli/report/document.hpp>
#include <draftproof/properties/blocks/checkpoint.hpp>
#include <draftproof/properties/proof/finding.hpp>

namespace draftproof {

/// The exit codes of the program, the same for every command.
enum ExitCode : int {
  exit_passed = 0,     ///< every check passed
  exit_failed = 1,     ///< a check failed
  exit_bad_input = 2,  ///< wrong usage or invalid input
  exit_undecided = 3,  ///< not decided within the budget
  exit_internal = 4,   ///< a defect of draftproof, or a failed device
  exit_skipped = 77,   ///< not possible here, for example without a device
};

/// Returns the exit code of a status.
constexpr ExitCode exit_code_of(Status status) {
  switch (status) {
    case Status::failed:
      return exit_failed;
    case Status::undecided:
      return exit_undecided;
    case Status::skipped:
      return exit_skipped;
    case Status::passed:
      break;
  }
  return exit_passed;
}

/// Set by SIGINT, SIGTERM or SIGHUP. Long work then completes the current part and reports it.
const std::atomic<bool>& stop_requested();

struct Session {
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  std::string format = "table";
  std::string output{};  ///< file for the result; empty: standard output
  bool timings = false;  ///< whether machine-readable results have times, which differ from run to run
  bool stored = false;   ///< whether results come from files; write() then adds no field to the data
  bool quiet = false;    ///< whether progress is suppressed
  std::vector<adapters::OpenAdapter> external{};  ///< adapters of --adapter, in order
  std::shared_ptr<Checkpoint> checkpoint{};       ///< blocks from the calling command, such as merge; else null

  /// Throws: InputError if `output` cannot be written. Called before the work, so that the error comes early; changes
  /// no file.
  void check_output() const;
  /// Opens the adapters and registers, under their declared names, all verifiers of the adapters that can run trials.
  /// If a name is taken, "@adapter" is appended to it. With several adapters, each has a numbered subfolder in the dump
  /// folder.
  /// Throws: InputError, AdapterError.
  void open_adapters(const std::vector<std::string>& texts, const adapters::WireOptions& options);
  /// Copies the session's seed, threads and stop flag to `options`.
  void set(auto& options) const {
    options.seed = seed;
    options.threads = threads;
    options.stop = &stop_requested();
  }
  /// Writes the result in the selected format, with a field for whether the result is complete; with `timings` the data
  /// also name version and processor. A file is replaced whole or not at all; if it cannot be written, the result goes
  /// to standard output.
  /// Throws: WriteFailure if it cannot be written.
  void write(const Document& result) const;
  /// Returns the text that a run prints if it ends before it has a result, in the selected format.
  std::string last_words() const;

 private:
  void write_to_standard_output(const std::string& text) const;
};

/// Whether write() wrote a result that is marked as not complete.
bool wrote_incomplete_result();
/// Makes SIGINT, SIGTERM and SIGHUP set the stop flag. A second signal ends the program with exit code 3 and prints the
/// text of set_last_words(), unless the result is being written; a third signal kills it.
void install_stop_handler();
/// Sets the text that is printed if the run is interrupted before it has a result; at most 128 bytes are kept.
void set_last_words(const std::string& text);
/// Makes the first Ctrl-C exit at once, for code that cannot be interrupted.
void end_at_first_signal();
/// Reopens closed standard descriptors on /dev/null, so that a later open() cannot return descriptors 0 to 2. Reading
/// or writing a descriptor that was closed still fails.
void keep_standard_streams_apart();

/// Progress on standard error: a line that is rewritten on a terminal, an occasional line elsewhere. May be updated
/// from only one thread at a time. Work that ends before the first line is due shows nothing.
class Progress {
 public:
  /// `total` is the number of units of work; `quiet` suppresses all output. The time left is shown only if the units are
  /// `even`, that is, take about the same time.
  Progress(std::string label, std::uint64_t total, bool quiet, bool even = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports `done` of `total` units.
  void update(std::uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  std::uint64_t total_;
  bool terminal_, quiet_, even_, shown_ = false;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

/// Returns the model name of the processor; empty if the kernel does not report it.
std::string processor_name();

}  // namespace draftproof
