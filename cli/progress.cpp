#include <draftproof/cli/progress.hpp>

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include <fmt/format.h>

namespace draftproof {

Progress::Progress(std::string label, std::uint64_t total, bool quiet)
    : label_{std::move(label)}, total_{total}, terminal_{isatty(STDERR_FILENO) != 0}, quiet_{quiet} {}

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
  const std::string line = fmt::format("{}: {:.0f} %, {:.0f} s left", label_, 100 * share,
                                       share > 0 ? elapsed * (1 - share) / share : 0.0);
  if (terminal_)
    std::cerr << '\r' << line << "\033[K" << std::flush;
  else
    std::cerr << line << std::endl;
}

}  // namespace draftproof
