#include <draftproof/captures/file_bytes.hpp>

#include <system_error>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>

namespace draftproof {

FileBytes::FileBytes(const std::filesystem::path& path) : path_(path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    throw InputError({.file = path.string(), .found = "no such file", .wanted = "a readable file"});
  if (!std::filesystem::is_regular_file(status))
    throw InputError({.file = path.string(), .found = "something else than a file", .wanted = "a readable file"});
  size_ = std::filesystem::file_size(path, error);
  stream_.open(path, std::ios::binary);
  if (error || !stream_)
    throw InputError({.file = path.string(), .found = "a file that cannot be opened", .wanted = "a readable file"});
}

void FileBytes::read(std::span<std::byte> bytes) {
  stream_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  const auto count = static_cast<std::size_t>(stream_.gcount());
  if (count != bytes.size())
    throw InputError({.file = path_.string(),
                      .found = fmt::format("the end of the file after {} more bytes", count),
                      .wanted = fmt::format("{} bytes", bytes.size())});
}

}  // namespace draftproof
