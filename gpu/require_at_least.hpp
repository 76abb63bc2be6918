// The check of a size that a caller gave.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace draftproof::gpu {

/// Throws: std::invalid_argument with the place, the name of the number, `found` and `least` if found < least.
inline void require_at_least(const char* place, const char* name, std::int64_t found, std::int64_t least) {
  if (found < least)
    throw std::invalid_argument(std::string{place} + ": " + name + ": got " + std::to_string(found) + ", expected " +
                                std::to_string(least) + " or more");
}

}  // namespace draftproof::gpu
