#include <draftproof/cli/session.hpp>

#include <sys/ioctl.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <utility>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/machine.hpp>
#include <draftproof/cli/ranks.hpp>
#include <draftproof/doors/gate/foreign_paths.hpp>
#include <draftproof/doors/gate/foreign_verifier.hpp>
#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/report/register_writer.hpp>

namespace draftproof {

namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void on_signal(int number) {
  stop.store(true, std::memory_order_relaxed);
  std::signal(number, SIG_DFL);
}

/// A mapped capture that became shorter gives this signal in place of data.
extern "C" void on_lost_file(int) {
  constexpr char text[] = "draftproof: found a capture that became shorter while it was read, wanted it whole\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(exit_internal);
  _exit(exit_bad_input);
}

/// Whether to use colour. After no-color.org, any non-empty NO_COLOR switches it off.
bool colour_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && !(terminal && std::string(terminal) == "dumb");
}

/// Columns of the terminal that standard output is; 0 if it is none, or does not say.
std::size_t terminal_width() {
  winsize size{};
  return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

[[noreturn]] void refuse(const std::string& output) {
  throw InputError({.file = output, .found = "a file that cannot be written", .wanted = "a writable path"});
}

}  // namespace

const std::atomic<bool>& stop_requested() { return stop; }

void install_stop_handler() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGHUP, on_signal);  // the terminal is gone: the result may still go to a file
  std::signal(SIGXFSZ, SIG_IGN);   // a file beyond its limit is an error of its write
  std::signal(SIGBUS, on_lost_file);
}

void Session::open_doors(const std::vector<std::string>& texts, const doors::WireOptions& options) {
  for (const std::string& text : texts) {
    doors::WireOptions own = options;
    if (texts.size() > 1 && !own.dump_folder.empty()) own.dump_folder /= std::to_string(doors.size());
    doors.push_back(doors::open_door(text, own));
    const doors::Declaration& declaration = doors.back().served->declaration();
    if (!declaration.has("verify") ||
        !(declaration.can(doors::Randomness::seeded) || declaration.can(doors::Randomness::opaque)))
      continue;
    std::string name = declaration.name;
    while (registry().verifier(name) || path_registry().verifier(name)) name += "@door";
    if (declaration.level != doors::Level::position)
      PathRegistry::instance().add(std::make_unique<doors::ForeignPathVerifier>(doors.back().served, name));
    if (declaration.level != doors::Level::tree)
      Registry::instance().add(std::make_unique<doors::ForeignVerifier>(doors.back().served, name));
  }
}

void Session::check_output() const {
  if (output.empty()) return;
  const std::filesystem::path path(output);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) refuse(output);
  const bool exists = std::filesystem::exists(path, ignored);
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  if (access(exists ? path.c_str() : folder.c_str(), W_OK) != 0) refuse(output);
}

void Session::write(const Document& result) const {
  if (rank_of_job().first > 0) return;  // rank 0 alone prints
  Document document = result;
  if (timings && document.data.is_object() && !document.data.contains("context"))  // benchmarks have one of their own
    document.data["run"] = {{"draftproof", DRAFTPROOF_VERSION}, {"processor", processor_name()}};
  for (const Writer& writer : found_writers()) {
    if (writer.name != format) continue;
    if (output.empty()) {
      writer.write(document, std::cout, {.colour = colour_wanted(), .width = terminal_width()});
      std::cout.flush();
      if (!std::cout) throw WriteFailure("standard output cannot be written");
      return;
    }
    std::ostringstream text;
    writer.write(document, text, {});
    namespace fs = std::filesystem;
    std::error_code failed;
    if (!fs::exists(output, failed) || fs::is_regular_file(output, failed)) {
      write_whole(output, text.str());
    } else {  // a device, for example
      std::ofstream file(output);
      file << text.str() << std::flush;
      if (!file) throw WriteFailure(output + ": cannot be written");
    }
    return;
  }
}

}  // namespace draftproof
