#include <draftproof/doors/wire/write_watch.hpp>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <string_view>

#include <unistd.h>

namespace draftproof::doors {
namespace {

std::atomic<std::uintptr_t> watched_first = 0, watched_end = 0;
struct sigaction before_watch {};

/// Returns to the instruction that failed, which fails again under the handling that was there before.
void on_fault(int signal, siginfo_t* fault, void*) {
  const auto at = reinterpret_cast<std::uintptr_t>(fault->si_addr);
  if (fault->si_code == SEGV_ACCERR && at >= watched_first.load() && at < watched_end.load()) {
    constexpr std::string_view words = "the program wrote to the rows p or q of a request, which are for reading\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, words.data(), words.size());
  }
  sigaction(signal, &before_watch, nullptr);
}

void install_watch() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &before_watch);
}

}  // namespace

void watch_writes(std::span<const std::byte> memory) {
  const auto first = reinterpret_cast<std::uintptr_t>(memory.data());
  watched_end = 0;
  watched_first = first;
  watched_end = first + memory.size();
  if (memory.empty()) return;
  static const bool installed = (install_watch(), true);
  (void)installed;
}

}  // namespace draftproof::doors
