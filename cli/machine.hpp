// The machine of a run, for results that name it.
#pragma once

#include <fstream>
#include <string>

namespace draftproof {

/// The model name of the processor; empty if the kernel does not report it.
inline std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const auto at = line.find(": "); at != std::string::npos) return line.substr(at + 2);
  return {};
}

}  // namespace draftproof
