// Reads everything that a capture has for its first rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>

#include <draftproof/captures/capture.hpp>
#include <draftproof/captures/input_error.hpp>

namespace draftproof::fuzz {

/// Reads a capture as a survey does. InputError, which bad files must give, is caught.
inline void read_capture(const std::filesystem::path& path) {
  try {
    const Capture capture = Capture::open(path);
    for (std::size_t i = 0; i < std::min<std::size_t>(capture.positions(), 4); ++i) {
      capture.context(i);
      capture.next_token(i);
      try {
        capture.target(i);
        for (const std::string& name : capture.proposals())
          capture.proposal(name, i, {.temperature = 0.7, .top_k = 3, .top_p = 0.9});
      } catch (const InputError&) {  // this row is not a distribution, but the next may be
      }
    }
  } catch (const InputError&) {
  }
}

}  // namespace draftproof::fuzz
