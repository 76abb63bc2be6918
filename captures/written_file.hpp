// Writes of files: a regular file is replaced whole or not at all, and other kinds of files are never replaced.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace draftproof {

/// A file that could not be written: a full disk, a limit, a folder without permission, a device.
class WriteFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The kind of file at a path that is to be written. A symbolic link is kept, and its target is written.
struct WriteTarget {
  std::filesystem::path file;  ///< the path with all links resolved
  std::string special{};       ///< "a FIFO", for example; empty if the path is a regular file or does not exist
  bool stream = false;  ///< whether text can be written into it: a character device, or /dev/stdout and its like

  /// Whether write_whole() refuses it.
  bool refused() const { return !special.empty() && !stream; }
};

WriteTarget write_target(const std::string& path);

/// Writes `text` to a temporary file, then renames it to the target, each followed by fsync. A stream receives the
/// text directly. Throws: WriteFailure; an existing file then stays.
void write_whole(const std::string& path, const std::string& text);

}  // namespace draftproof
