// A regular file read front to back, whose size is known before anything is allocated. Short reads are errors
// that name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>

namespace draftproof {

class FileBytes {
 public:
  /// Throws InputError if `path` is missing, not a regular file, or cannot be opened.
  explicit FileBytes(const std::filesystem::path& path);

  std::uint64_t size() const { return size_; }

  /// Fills `bytes` with what comes next; throws InputError if the file ends before.
  void read(std::span<std::byte> bytes);

 private:
  std::filesystem::path path_;
  std::ifstream stream_;
  std::uint64_t size_ = 0;
};

}  // namespace draftproof
