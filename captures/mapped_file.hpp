// A regular file mapped into memory, read-only. Pages are read when they are used.
#pragma once

#include <atomic>
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
  /// Notes that `count` bytes in one place were read. From time to time the pages that were read are let go, so that
  /// the memory of the process does not grow with what it has read; they stay in the system's cache. Thread-safe.
  void note_read(std::size_t count) const;
  /// Whether the process has such a file now. A handler of signals may ask.
  static bool any() { return mapped_.load() > 0; }

 private:
  static inline std::atomic<int> mapped_{0};
  std::span<const std::byte> bytes_{};
  mutable std::atomic<std::size_t> resident_{0};
};

}  // namespace draftproof
