// Writes the inputs of libFuzzer to a file in memory, for readers that take paths. Each process has its own folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <unistd.h>

namespace draftproof::fuzz {

/// A file with a fixed name, deleted at the end of the process; every input replaces its content.
class FuzzFile {
 public:
  /// `name` is a file name; its extension selects the reader.
  explicit FuzzFile(std::string_view name)
      : folder_{std::filesystem::path("/dev/shm") / ("draftproof_fuzz_" + std::to_string(::getpid()))},
        path_{folder_ / name} {
    std::filesystem::create_directories(folder_);
  }
  FuzzFile(const FuzzFile&) = delete;
  FuzzFile& operator=(const FuzzFile&) = delete;
  ~FuzzFile() { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& path() const { return path_; }

  /// Writes the bytes and returns the path. Throws: std::runtime_error if they cannot be written.
  const std::filesystem::path& with(const std::uint8_t* bytes, std::size_t size) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path_.string());
    return path_;
  }

 private:
  std::filesystem::path folder_, path_;
};

/// Returns the bytes as text.
inline std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// Aborts the process if `holds` is false; libFuzzer then reports the input.
inline void demand(bool holds) {
  if (!holds) std::abort();
}

}  // namespace draftproof::fuzz
