// Says on standard error that a program wrote to rows that it was given to read.
#pragma once

#include <cstddef>
#include <span>

namespace draftproof::doors {

/// From now on a fault at an address of `memory`, which is mapped for reading, prints a line and is then handled as it
/// was before the first call: by default it ends the process. `memory` replaces the one before; empty ends the watch.
void watch_writes(std::span<const std::byte> memory);

}  // namespace draftproof::doors
