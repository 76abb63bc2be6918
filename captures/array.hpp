// Types that all readers of array files share: a file that is read or mapped, and an array with a type, a shape and
// little-endian bytes in row-major order. capture.hpp defines the meaning of each array.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <draftproof/captures/input_error.hpp>

namespace draftproof {

static_assert(std::endian::native == std::endian::little, "captures are little-endian and read without swapping");

/// A regular file, read from front to back. Its size is known before memory is allocated.
class FileBytes {
 public:
  /// Throws: InputError if `path` is missing, is not a regular file, or cannot be opened.
  explicit FileBytes(const std::filesystem::path& path);

  /// Size of the file in bytes.
  std::uint64_t size() const { return size_; }
  /// Fills `bytes` with the next bytes. Throws: InputError if the file ends earlier.
  void read(std::span<std::byte> bytes);

 private:
  std::filesystem::path path_;
  std::ifstream stream_;
  std::uint64_t size_ = 0;
};

/// A regular file mapped into memory, read-only. Pages are read when they are used.
class MappedFile {
 public:
  /// Throws: InputError if `path` is missing, is not a regular file, or cannot be mapped.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Returns all bytes of the file; valid as long as the object.
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Counts `count` adjacent bytes as read. After every 256 MiB it releases the pages with madvise(MADV_DONTNEED), so
  /// that the resident memory of the process stays bounded; the pages stay in the page cache. Thread-safe.
  void note_read(std::size_t count) const;
  /// Whether this process has a file mapped now. Safe to call in a signal handler.
  static bool any() { return mapped_.load() > 0; }

 private:
  static inline std::atomic<int> mapped_{0};
  std::span<const std::byte> bytes_{};
  mutable std::atomic<std::size_t> resident_{0};
};

enum class DType { F16, BF16, F32, F64, I8, U8, I32, I64 };

/// The names of a type in messages, in .safetensors and in .npy files.
struct TypeNames {
  DType dtype;
  std::size_t width;                        ///< bytes of an element
  std::string_view text, safetensors, npy;  ///< bfloat16 has no NumPy type
};
/// Indexed by DType.
inline constexpr std::array<TypeNames, 8> type_names{{{DType::F16, 2, "f16", "F16", "<f2"},
                                                      {DType::BF16, 2, "bf16", "BF16", {}},
                                                      {DType::F32, 4, "f32", "F32", "<f4"},
                                                      {DType::F64, 8, "f64", "F64", "<f8"},
                                                      {DType::I8, 1, "i8", "I8", "|i1"},
                                                      {DType::U8, 1, "u8", "U8", "|u1"},
                                                      {DType::I32, 4, "i32", "I32", "<i4"},
                                                      {DType::I64, 8, "i64", "I64", "<i8"}}};

constexpr const TypeNames& names_of(DType dtype) { return type_names[static_cast<std::size_t>(dtype)]; }
/// Returns the number of bytes of one element.
constexpr std::size_t width(DType dtype) { return names_of(dtype).width; }
/// Returns `f32`, `bf16`, `i64`, .., for messages and metadata.
constexpr std::string_view to_string(DType dtype) { return names_of(dtype).text; }
/// Whether `dtype` is one of the four floating-point types.
constexpr bool is_floating(DType dtype) { return dtype <= DType::F64; }

/// Values of one type and shape.
struct Array {
  DType dtype = DType::F32;
  std::vector<std::size_t> shape;          // empty: one element
  std::vector<std::byte> bytes;            // product of shape times width(dtype) bytes; empty if `mapped` has them
  std::span<const std::byte> mapped = {};  // the bytes of `file`
  std::shared_ptr<const MappedFile> file = nullptr;  // keeps the mapping

  /// Returns the bytes of all elements, in `bytes` or in the mapped file.
  std::span<const std::byte> data() const { return file ? mapped : std::span<const std::byte>(bytes); }
  /// Number of elements.
  std::size_t size() const { return data().size() / width(dtype); }
  /// Returns element `i` < size(), row-major. Exact for every type except integers beyond 2^53.
  double as_double(std::size_t i) const;
  /// Returns element `i` < size() of an integer array.
  std::int64_t as_integer(std::size_t i) const;
};

/// Named arrays in the order of their file.
using NamedArrays = std::vector<std::pair<std::string, Array>>;

/// Returns the array called `name`, or null.
const Array* find_array(const NamedArrays& arrays, std::string_view name);

/// Selects the arrays of a file that are loaded. The other arrays are checked as far as possible without reading them.
using WantArray = std::function<bool(std::string_view name)>;

/// Largest number of bytes of array data that a reader copies from one file. It suffices for 4096 float32 rows of
/// V = 262144 for a target and a draft. A file that declares more bytes is refused before memory is allocated.
inline constexpr std::uint64_t most_array_bytes = std::uint64_t{8} << 30;

/// Returns the number of bytes of an array of `shape`; nullopt if it exceeds `most` or the product overflows.
std::optional<std::size_t> array_bytes(DType dtype, std::span<const std::uint64_t> shape,
                                       std::uint64_t most = most_array_bytes);

/// Returns the shape as `[3, 4]`.
std::string shape_text(std::span<const std::uint64_t> shape);

/// Returns the error that `file`, the name of a file, a specification or an option, has `found` in place of `wanted`.
InputError file_error(const std::string& file, std::string found, std::string wanted);

/// Returns the error that an array of a file has `found` in place of `wanted`, at the row and the token if given.
InputError array_error(const std::string& file, std::string_view array, std::string found, std::string wanted,
                       std::optional<std::size_t> row = {}, std::optional<std::size_t> token = {});

}  // namespace draftproof
