// Helpers of the tests on bad files: a temporary directory, files built byte by byte with wrong contents, and the
// expectation that reading such a file throws an InputError with the right message.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/captures/input_error.hpp>

namespace draftproof::hostile {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            ("draftproof_" + std::to_string(::getpid()) + "_" + test->test_suite_name() + "_" + test->name());
    std::filesystem::create_directories(path_);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    const auto file = path_ / name;
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file;
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string read_all(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Expects that `read()` throws an InputError whose message contains all of `parts`.
template <class Read>
void expect_input_error(Read read, const std::vector<std::string>& parts) {
  try {
    read();
    ADD_FAILURE() << "nothing thrown; wanted an InputError with \"" << (parts.empty() ? "" : parts.back()) << '"';
  } catch (const InputError& error) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "message: " << error.what() << "\nlacks:   " << part;
  }
}

/// Returns `value` as `count` little-endian bytes.
inline std::string little(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i, value >>= 8) bytes += static_cast<char>(value & 255);
  return bytes;
}

template <class T>
std::string raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Returns a version 1 .npy file with `dict` as its header, valid or not.
inline std::string npy(const std::string& dict, const std::string& data) {
  return std::string("\x93NUMPY\x01\x00", 8) + little(dict.size(), 2) + dict + data;
}

inline std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  return npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n", data);
}

inline std::string safetensors(const std::string& header, const std::string& data) {
  return little(header.size(), 8) + header + data;
}

struct ZipEntry {
  std::string name, content;
  std::uint64_t claimed = ~std::uint64_t{0};  // uncompressed size in the directory; default: the true size
  int method = 0;                             // claimed method; the content is always stored uncompressed
  std::uint32_t checksum_error = 0;
};

inline std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

/// Returns a zip archive of uncompressed entries whose directory has the claimed sizes.
inline std::string zip(const std::vector<ZipEntry>& entries) {
  std::string file, directory;
  for (const ZipEntry& entry : entries) {
    const std::uint64_t claimed = entry.claimed == ~std::uint64_t{0} ? entry.content.size() : entry.claimed;
    const std::string common = little(20, 2) + little(0, 2) + little(static_cast<std::uint64_t>(entry.method), 2) +
                               little(0, 2) + little(33, 2) + little(crc32(entry.content) ^ entry.checksum_error, 4) +
                               little(entry.content.size(), 4) + little(claimed, 4) + little(entry.name.size(), 2) +
                               little(0, 2);
    directory += "PK\x01\x02" + little(20, 2) + common + little(0, 10) + little(file.size(), 4) + entry.name;
    file += "PK\x03\x04" + common + entry.name + entry.content;
  }
  const std::size_t start = file.size();
  return file + directory + "PK\x05\x06" + little(0, 4) + little(entries.size(), 2) + little(entries.size(), 2) +
         little(directory.size(), 4) + little(start, 4) + little(0, 2);
}

}  // namespace draftproof::hostile
