// A CUDA call that failed, as an exception that names it.
#pragma once

#include <stdexcept>
#include <string>

namespace draftproof::gpu {

/// `call` is the function of the CUDA runtime, `message` its own text for the error.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(const std::string& call, const std::string& message)
      : std::runtime_error(call + ": " + message), call_{call} {}
  const std::string& call() const { return call_; }

 private:
  std::string call_;
};

}  // namespace draftproof::gpu
