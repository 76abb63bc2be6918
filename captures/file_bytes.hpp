// A regular file, read from front to back. Its size is known before memory is allocated. Short reads are errors that
// name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>

namespace draftproof {

class FileBytes {
 public:
  /// Throws: InputError if `path` is missing, is not a regular file, or cannot be opened.
  explicit FileBytes(const std::filesystem::path& path);

  /// Size of the file in bytes.
  std::uint64_t size() const { return size_; }

  /// Fills `bytes` with the next bytes. Throws: InputError if the file ends before.
  void read(std::span<std::byte> bytes);

 private:
  std::filesystem::path path_;
  std::ifstream stream_;
  std::uint64_t size_ = 0;
};

}  // namespace draftproof
