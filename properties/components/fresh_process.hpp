// A copy of this process as it was before a component was called: the place to ask whether a finding shows without the
// calls that came before it, which may have left something in static variables.
//
// Cost: a fork at the start, and two a question; the copies share the memory of this process until they write.
// Correctness: each question is answered in a copy of the first copy, so none sees what another has left.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

namespace draftproof {

class FreshProcess {
 public:
  using Answer = std::function<bool(const std::string& question)>;

  /// `answer` is called in copies of this process as it is now; what it refers to is to exist now.
  explicit FreshProcess(const Answer& answer);
  FreshProcess(const FreshProcess&) = delete;
  FreshProcess& operator=(const FreshProcess&) = delete;
  ~FreshProcess();

  /// The answer; true as well if the copy ends without one, as it would here. Nothing if the system allows no copy.
  std::optional<bool> ask(const std::string& question) const;

 private:
  int socket_ = -1;
  pid_t copy_ = -1;
};

}  // namespace draftproof
