#include <draftproof/cli/session.hpp>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include <draftproof/adapters/gate/external_verifier.hpp>
#include <draftproof/captures/array.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/cli/ranks.hpp>
#include <draftproof/cli/report/registration.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

namespace {

std::atomic<bool> stop_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

/// The code that may write to standard output. The first that claims it keeps it, because the handler of a second signal
/// may run on another thread while the main thread begins to write the result.
enum class OutputOwner { none, result, signal_handler };

/// State of the signal handler: the number of signals, the owner of standard output, and the text that is printed if
/// there is no result.
std::atomic<int> signals{0};
std::atomic<OutputOwner> output_owner{OutputOwner::none};
static_assert(std::atomic<OutputOwner>::is_always_lock_free, "a signal handler may only touch lock-free atomics");
bool said_incomplete = false;
std::array<char, 128> stopped_text{};
std::atomic<std::size_t> stopped_length{0};

/// Makes `claimant` the owner of standard output if there is no owner yet. Returns whether `claimant` is the owner now.
bool claim_output(OutputOwner claimant) {
  OutputOwner before = OutputOwner::none;
  return output_owner.compare_exchange_strong(before, claimant) || before == claimant;
}

extern "C" void on_signal(int number) {
  stop_flag.store(true, std::memory_order_relaxed);
  const int before = signals.fetch_add(1);
  if (before > 1) {  // at a third signal the default action ends the process
    std::signal(number, SIG_DFL);
    raise(number);
  } else if (before == 1 && claim_output(OutputOwner::signal_handler)) {
    constexpr char text[] = "draftproof: stopped before there was a result\n";
    if (write(STDOUT_FILENO, stopped_text.data(), stopped_length) < 0 ||
        write(STDERR_FILENO, text, sizeof text - 1) < 0)
      _exit(exit_internal);
    _exit(exit_undecided);
  }
}

/// Handles SIGBUS, which a read of a mapped capture raises if the file was truncated. With no capture mapped, the
/// default action applies.
extern "C" void on_lost_file(int number) {
  if (!MappedFile::any()) {
    std::signal(number, SIG_DFL);
    raise(number);
    return;
  }
  constexpr char text[] =
      "draftproof: got a capture that became shorter while it was read, expected an unchanged file\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(exit_internal);
  _exit(exit_bad_input);
}

/// Whether to use colour. After no-color.org, any non-empty NO_COLOR switches it off.
bool colour_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && !(terminal && std::string(terminal) == "dumb");
}

/// Whether some table of the document has a column of times.
bool has_times(const Document& document) {
  const auto timed = [](const Column& column) { return column.title.starts_with("ns") || column.title == "time"; };
  return std::any_of(document.sections.begin(), document.sections.end(), [&](const Section& section) {
    return std::any_of(section.table.columns.begin(), section.table.columns.end(), timed);
  });
}

/// Returns the terminal's columns (ioctl TIOCGWINSZ), or 0 if standard output is not a terminal.
std::size_t terminal_width() {
  winsize size{};
  return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

[[noreturn]] void refuse(const std::string& output) {
  throw InputError({.file = output, .got = "a file that cannot be written", .expected = "a writable path"});
}

/// Throws: InputError if `folder` exists and is not a directory, or if one of its request files is not a regular file.
void check_dumps(const std::filesystem::path& folder) {
  if (folder.empty()) return;
  std::error_code ignored;  // an unreadable folder is reported when a request is written
  std::string found = write_target(folder).special;
  if (std::filesystem::is_regular_file(folder, ignored)) found = "a regular file";
  if (!found.empty() && !std::filesystem::is_directory(folder, ignored))
    throw InputError({.file = folder.string(), .got = found, .expected = "a folder for requests"});
  for (const char* name : {"request.jsonl", "request.frame"})
    if (const WriteTarget file = write_target(folder / name); !file.special.empty())
      throw InputError({.file = file.file.string(), .got = file.special, .expected = "a regular file, or no file"});
}

}  // namespace

const std::atomic<bool>& stop_requested() { return stop_flag; }

bool wrote_incomplete_result() { return said_incomplete; }

void set_last_words(const std::string& text) { stopped_length = text.copy(stopped_text.data(), stopped_text.size()); }

void end_at_first_signal() { signals = 1; }

void install_stop_handler() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) std::signal(number, on_signal);  // ignored signals stay ignored, as under nohup
  }
  std::signal(SIGXFSZ, SIG_IGN);  // makes write() return EFBIG instead of killing the process
  std::signal(SIGBUS, on_lost_file);
}

void keep_standard_streams_apart() {
  // open() returns the lowest free descriptor, which is the closed stream's. The mode is the opposite of the stream's,
  // so that every use of the stream fails with EBADF.
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0 && open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
}

void Session::open_adapters(const std::vector<std::string>& texts, const adapters::WireOptions& options) {
  for (const std::string& text : texts) {
    adapters::WireOptions own = options;
    if (texts.size() > 1 && !own.dump_folder.empty()) own.dump_folder /= std::to_string(external.size());
    check_dumps(own.dump_folder);
    external.push_back(adapters::open_adapter(text, own));
    const adapters::Declaration& declaration = external.back().served->declaration();
    if (!declaration.old_names.empty())
      std::cerr << "draftproof: " << declaration.name << ": hello has " << declaration.old_names
                << "; version 0.4 removes the old names\n";
    if (!declaration.has("verify") ||
        !(declaration.can(adapters::Randomness::seeded) || declaration.can(adapters::Randomness::opaque)))
      continue;
    std::string name = declaration.name;
    while (registry().verifier(name) || path_registry().verifier(name)) name += "@adapter";
    if (declaration.level != adapters::Level::position)
      PathRegistry::instance().add(std::make_unique<adapters::ExternalPathVerifier>(external.back().served, name));
    if (declaration.level != adapters::Level::tree)
      Registry::instance().add(std::make_unique<adapters::ExternalVerifier>(external.back().served, name));
  }
}

void Session::check_output() const {
  if (output.empty()) return;
  const std::filesystem::path path(output);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) refuse(output);
  if (const WriteTarget target = write_target(output); target.refused())
    throw InputError({.file = output, .got = target.special, .expected = "a regular file or a character device"});
  if (std::filesystem::exists(path, ignored)) {
    if (access(path.c_str(), W_OK) != 0) refuse(output);
    return;
  }
  // Tests whether the file can be created by creating and removing a file of this name plus the process id.
  const std::string part = output + "." + std::to_string(getpid()) + ".part";
  const int tried = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (tried < 0) refuse(output);
  close(tried);
  unlink(part.c_str());
}

void Session::write_to_standard_output(const std::string& text) const {
  std::cout << text << std::flush;
  if (!std::cout) throw WriteFailure("standard output cannot be written");
}

std::string Session::last_words() const {
  return format == "json" || format == "jsonl" ? "{\"schema\": \"draftproof.stopped/1\", \"complete\": false}\n"
                                               : "stopped before there was a result\n";
}

namespace {

/// Makes every text and every name of a member in `data` one line of UTF-8, because they may come from files and
/// programs. Texts and names inside a member `about`, which describes a source by what its file says, are cut at
/// `longest_name` bytes; all others keep their length, because `longest` is no limit by default. If two names of an
/// object become equal, `+` is appended to the later one, so that both members stay.
void tidy(nlohmann::ordered_json& data, std::size_t longest = std::string::npos) {
  constexpr std::size_t longest_name = 1000;
  if (data.is_string()) {
    data = one_line(data.get_ref<const std::string&>(), longest);
  } else if (data.is_array()) {
    for (auto& element : data) tidy(element, longest);
  } else if (data.is_object()) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (auto& [key, value] : data.items()) {
      tidy(value, key == "about" ? longest_name : longest);
      std::string name = one_line(key, longest);
      while (object.contains(name)) name += '+';
      object[name] = std::move(value);
    }
    data = std::move(object);
  }
}

}  // namespace

void Session::write(const Document& result) const {
  if (rank_of_job().first > 0) return;                 // only rank 0 prints
  while (!claim_output(OutputOwner::result)) pause();  // the handler, on another thread, ends the process
  Document document = result;
  const bool complete = !stop_requested();
  if (!stored) tidy(document.data);
  if (!stored && document.data.is_object() && !document.data.contains("complete"))
    document.data["complete"] = complete;
  if (!complete) said_incomplete = true;
  if (!complete) document.sections.push_back({.title = "stopped early: results so far"});
  if (unoptimised_sources && has_times(document))
    document.sections.push_back(
        {.title = "times are from code compiled without optimisation: build with CMAKE_BUILD_TYPE=Release"});
  if (timings && document.data.is_object() && !document.data.contains("context"))  // benchmarks add their own
    document.data["run"] = {
        {"draftproof", DRAFTPROOF_VERSION}, {"processor", processor_name()}, {"optimised", !unoptimised_sources}};
  for (const Writer& writer : found_writers()) {
    if (writer.name != format) continue;
    std::ostringstream stream;
    const bool to_terminal = output.empty();
    writer.write(document, stream,
                 {.colour = to_terminal && colour_wanted(), .width = to_terminal ? terminal_width() : 0});
    const std::string text = stream.str();
    if (output.empty()) return write_to_standard_output(text);
    try {
      write_whole(output, text);
    } catch (const WriteFailure& error) {
      write_to_standard_output(text);
      throw WriteFailure(std::string(error.what()) + "; the result is on standard output");
    }
    return;
  }
}

Progress::Progress(std::string label, std::uint64_t total, bool quiet, bool even)
    : label_{std::move(label)}, total_{total}, terminal_{isatty(STDERR_FILENO) != 0}, quiet_{quiet}, even_{even} {}

Progress::~Progress() {
  if (shown_ && terminal_) std::cerr << "\r\033[K" << std::flush;
}

void Progress::update(std::uint64_t done) {
  using namespace std::chrono_literals;
  const auto now = Clock::now();
  if (quiet_ || now - last_ < (terminal_ ? 100ms : 10'000ms)) return;
  last_ = now;
  shown_ = true;
  const double share = total_ > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(total_)) : 0;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  std::string line = fmt::format("{}: {:.0f} %", label_, 100 * share);
  if (even_) line += fmt::format(", {:.0f} s left", share > 0 ? elapsed * (1 - share) / share : 0.0);
  if (terminal_)
    std::cerr << '\r' << line << "\033[K" << std::flush;
  else
    std::cerr << line << std::endl;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const auto at = line.find(": "); at != std::string::npos) return line.substr(at + 2);
  return {};
}

}  // namespace draftproof
