#include <draftproof/cli/session.hpp>

#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <utility>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/machine.hpp>
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

/// Whether to use colour. After no-color.org, any non-empty NO_COLOR switches it off.
bool colour_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && !(terminal && std::string(terminal) == "dumb");
}

[[noreturn]] void refuse(const std::string& output) {
  throw InputError({.file = output, .found = "a file that cannot be written", .wanted = "a writable path"});
}

}  // namespace

const std::atomic<bool>& stop_requested() { return stop; }

void install_stop_handler() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
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
  Document document = result;
  if (timings && document.data.is_object() && !document.data.contains("context"))  // benchmarks have one of their own
    document.data["run"] = {{"draftproof", DRAFTPROOF_VERSION}, {"processor", processor_name()}};
  for (const Writer& writer : found_writers()) {
    if (writer.name != format) continue;
    if (output.empty()) {
      writer.write(document, std::cout, {.colour = colour_wanted()});
      std::cout.flush();
      if (!std::cout) refuse("standard output");
      return;
    }
    // The file appears whole, or an earlier one stays. What is no plain file, a device for example, is written to.
    namespace fs = std::filesystem;
    std::error_code failed;
    const fs::path target = fs::weakly_canonical(output, failed);  // not a link to it
    const bool exists = fs::exists(target, failed);
    std::string part = target.string() + "." + std::to_string(getpid()) + ".part";
    const bool whole = (!exists || fs::is_regular_file(target, failed)) && std::ofstream(part);
    if (!whole) part = output;
    std::ofstream file(part);
    writer.write(document, file, {});
    file.close();
    bool written = static_cast<bool>(file);
    if (whole && written) {
      if (exists) fs::permissions(part, fs::status(target).permissions(), failed);
      fs::rename(part, target, failed);
      written = !failed;
    }
    if (!written) {
      if (whole) fs::remove(part, failed);
      refuse(output);
    }
    return;
  }
}

}  // namespace draftproof
