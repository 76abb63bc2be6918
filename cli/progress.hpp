// Progress on standard error: a line that is rewritten on a terminal, an occasional line elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace draftproof {

/// To be updated from one thread at a time. Shows nothing for short work.
class Progress {
 public:
  /// `total` is the number of units of work; `quiet` suppresses all output.
  Progress(std::string label, std::uint64_t total, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports `done` of `total` units.
  void update(std::uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  std::uint64_t total_;
  bool terminal_, quiet_, shown_ = false;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace draftproof
