// Files that are written: a regular file is replaced whole or not at all, and nothing else is ever replaced.
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
  std::filesystem::path file;  ///< behind all links
  std::string special{};       ///< "a FIFO", for example; empty if a regular file or nothing stands there
  bool stream = false;  ///< whether text can be written into it: a character device, or /dev/stdout and its like

  /// Whether write_whole() refuses it.
  bool refused() const { return !special.empty() && !stream; }
};

WriteTarget write_target(const std::string& path);

/// Writes `text` to a temporary file, then renames it to the target, each followed by fsync; into a stream, writes it
/// as it is. Throws: WriteFailure; an earlier file of that name stays.
void write_whole(const std::string& path, const std::string& text);

}  // namespace draftproof
