// Writes files: a regular file is replaced as a whole or not at all, and other kinds of files are never replaced.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace draftproof {

/// Thrown if a file could not be written, for example because the disk is full (ENOSPC), the file is too large (EFBIG),
/// the folder is not writable (EACCES) or the path is a block device.
class WriteFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The kind of file at a path that is to be written. A symbolic link is kept, and its target is written.
struct WriteTarget {
  std::filesystem::path file;  ///< the path with all links resolved
  std::string special{};       ///< such as "a FIFO"; empty if the path is a regular file or does not exist
  bool stream = false;  ///< whether text can be written into it: a character device, or a name such as /dev/stdout

  /// Whether write_whole() refuses the path.
  bool refused() const { return !special.empty() && !stream; }
};

WriteTarget write_target(const std::string& path);

/// Writes `text` to a temporary file, calls fsync, renames the file to the target, and calls fsync on the folder. A
/// stream receives the text directly. Throws: WriteFailure; an existing file is then unchanged.
void write_whole(const std::string& path, const std::string& text);

}  // namespace draftproof
