// A regular file mapped into memory, read-only. Pages are read when they are used.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace draftproof {

class MappedFile {
 public:
  /// Throws: InputError if `path` is missing, is not a regular file, or cannot be mapped.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// All bytes of the file, from its first on; valid as long as the object.
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_{};
};

}  // namespace draftproof
