// An array as stored in a file: a type, a shape and little-endian bytes in row-major order. The readers of file
// formats produce it; the capture schema defines its meaning.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <draftproof/captures/mapped_file.hpp>

namespace draftproof {

static_assert(std::endian::native == std::endian::little, "captures are little-endian and read without swapping");

enum class DType { F16, BF16, F32, F64, I8, U8, I32, I64 };

/// Number of bytes of one element.
std::size_t width(DType dtype);

/// `f32`, `bf16`, `i64`, .., for messages and metadata.
std::string_view to_string(DType dtype);

/// Whether it is one of the four floating-point types.
bool is_floating(DType dtype);

struct Array {
  /// Values of one type and shape.
  DType dtype = DType::F32;
  std::vector<std::size_t> shape;  // empty: one element
  std::vector<std::byte> bytes;    // product of shape times width(dtype); empty if `mapped` has them
  std::span<const std::byte> mapped = {};            // the bytes of `file`
  std::shared_ptr<const MappedFile> file = nullptr;  // keeps the mapping

  /// The elements, wherever they are.
  std::span<const std::byte> data() const { return file ? mapped : std::span<const std::byte>(bytes); }
  /// Number of elements.
  std::size_t size() const { return data().size() / width(dtype); }

  /// Element `i` < size(), row-major. Exact for every type except integers beyond 2^53.
  double as_double(std::size_t i) const;

  /// Element `i` < size() of an integer array.
  std::int64_t as_integer(std::size_t i) const;
};

/// Named arrays in the order of their file.
using NamedArrays = std::vector<std::pair<std::string, Array>>;

/// The array called `name`, or null.
const Array* find_array(const NamedArrays& arrays, std::string_view name);

/// Selects the arrays of a file that are loaded. The others are checked as far as possible without reading them.
using WantArray = std::function<bool(std::string_view name)>;

/// Largest number of bytes of array data that a reader copies from one file. It suffices for 4096 float32 rows of
/// V = 262144 for a target and a draft. A larger claim is refused before memory is allocated.
inline constexpr std::uint64_t most_array_bytes = std::uint64_t{8} << 30;

/// Number of bytes of an array of `shape`; nothing if it exceeds `most` or the product overflows.
std::optional<std::size_t> array_bytes(DType dtype, std::span<const std::uint64_t> shape,
                                       std::uint64_t most = most_array_bytes);

/// The shape as `[3, 4]`.
std::string shape_text(std::span<const std::uint64_t> shape);

/// An array of float, double, std::int32_t or std::int64_t values. `values` has as many elements as `shape`.
template <class T>
Array make_array(std::vector<std::size_t> shape, std::span<const T> values);

}  // namespace draftproof
