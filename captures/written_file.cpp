#include <draftproof/captures/written_file.hpp>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace draftproof {
namespace {

namespace fs = std::filesystem;

/// A file descriptor that the destructor closes.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

std::string kind_of(fs::file_type type) {
  constexpr std::pair<fs::file_type, const char*> kinds[]{{fs::file_type::directory, "a directory"},
                                                          {fs::file_type::character, "a character device"},
                                                          {fs::file_type::block, "a block device"},
                                                          {fs::file_type::fifo, "a FIFO"},
                                                          {fs::file_type::socket, "a socket"}};
  for (const auto& [known, text] : kinds)
    if (known == type) return text;
  return "a special file";
}

/// Writes all of `text`. Returns whether that succeeded; if not, errno has the reason.
bool write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

WriteTarget write_target(const std::string& path) {
  std::error_code failed;
  const fs::file_status found = fs::status(path, failed);
  // A shell passes pipes and files that it opened for this process under the names below. Such a file is written
  // directly, because a rename would replace the name only.
  const bool own = path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
                   path.starts_with("/proc/self/fd/");
  if (fs::exists(found) && own) return {path, "an open file of this process", true};
  if (fs::exists(found) && !fs::is_regular_file(found))
    return {path, kind_of(found.type()), fs::is_character_file(found)};
  if (!fs::exists(found) && fs::is_symlink(fs::symlink_status(path, failed)))
    return {path, "a symbolic link to nothing"};
  WriteTarget target{fs::weakly_canonical(path, failed)};
  if (failed) target.file = path;  // weakly_canonical failed, e.g. with ENAMETOOLONG
  return target;
}

void write_whole(const std::string& path, const std::string& text) {
  const WriteTarget target = write_target(path);
  if (target.refused()) throw WriteFailure(fmt::format("{}: got {}, expected a regular file", path, target.special));
  const std::string part = fmt::format("{}.{}.part", target.file.string(), getpid());
  std::error_code ignored;
  const auto fail = [&](const char* what) {
    const int reason = errno;
    if (!target.stream) fs::remove(part, ignored);
    throw WriteFailure(fmt::format("{}: {}: {}{}", path, what, std::strerror(reason),
                                   target.stream ? "" : "; an earlier file is as it was"));
  };
  if (target.stream) {
    const Descriptor file{::open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC)};
    if (file.number < 0 || !write_all(file.number, text)) fail("cannot be written");
    return;
  }
  {
    const Descriptor file{::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666)};
    if (file.number < 0) fail("cannot be created");
    if (!write_all(file.number, text) || fsync(file.number) != 0) fail("cannot be written");
  }
  if (std::rename(part.c_str(), target.file.c_str()) != 0) fail("cannot be renamed");
  const Descriptor folder{::open(target.file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.number >= 0) fsync(folder.number);  // ignores errors: some file systems cannot sync folders
}

}  // namespace draftproof
