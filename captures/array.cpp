#include <draftproof/captures/array.hpp>

#include <algorithm>
#include <cassert>
#include <type_traits>

#include <draftproof/sim/numeric/short_float.hpp>

namespace draftproof {
namespace {

template <class T>
T load(const Array& array, std::size_t i) {
  T value;
  const std::span<const std::byte> data = array.data();
  assert((i + 1) * sizeof(T) <= data.size());
  std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

std::size_t width(DType dtype) {
  switch (dtype) {
    case DType::I8:
    case DType::U8:
      return 1;
    case DType::F16:
    case DType::BF16:
      return 2;
    case DType::F32:
    case DType::I32:
      return 4;
    case DType::F64:
    case DType::I64:
      return 8;
  }
  return 0;
}

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::F16:
      return "f16";
    case DType::BF16:
      return "bf16";
    case DType::F32:
      return "f32";
    case DType::F64:
      return "f64";
    case DType::I8:
      return "i8";
    case DType::U8:
      return "u8";
    case DType::I32:
      return "i32";
    case DType::I64:
      return "i64";
  }
  return "unknown";
}

bool is_floating(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::F32 || dtype == DType::F64;
}

double Array::as_double(std::size_t i) const {
  switch (dtype) {
    case DType::F16:
      return static_cast<double>(load<Half>(*this, i));
    case DType::BF16:
      return static_cast<double>(load<Bfloat16>(*this, i));
    case DType::F32:
      return static_cast<double>(load<float>(*this, i));
    case DType::F64:
      return load<double>(*this, i);
    default:
      return static_cast<double>(as_integer(i));
  }
}

std::int64_t Array::as_integer(std::size_t i) const {
  assert(!is_floating(dtype));
  switch (dtype) {
    case DType::I8:
      return load<std::int8_t>(*this, i);
    case DType::U8:
      return load<std::uint8_t>(*this, i);
    case DType::I32:
      return load<std::int32_t>(*this, i);
    default:
      return load<std::int64_t>(*this, i);
  }
}

const Array* find_array(const NamedArrays& arrays, std::string_view name) {
  const auto found = std::find_if(arrays.begin(), arrays.end(), [name](const auto& a) { return a.first == name; });
  return found == arrays.end() ? nullptr : &found->second;
}

std::optional<std::size_t> array_bytes(DType dtype, std::span<const std::uint64_t> shape, std::uint64_t most) {
  // An empty dimension makes the array empty, even beside dimensions whose product would overflow.
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) return 0;
  std::uint64_t bytes = width(dtype);
  for (const std::uint64_t extent : shape) {
    if (extent > most / bytes) return std::nullopt;
    bytes *= extent;
  }
  return static_cast<std::size_t>(bytes);
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (const std::uint64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

template <class T>
Array make_array(std::vector<std::size_t> shape, std::span<const T> values) {
  constexpr bool floating = std::is_floating_point_v<T>;
  constexpr DType dtype =
      floating ? (sizeof(T) == 4 ? DType::F32 : DType::F64) : (sizeof(T) == 4 ? DType::I32 : DType::I64);
  Array array{.dtype = dtype, .shape = std::move(shape), .bytes = std::vector<std::byte>(values.size_bytes())};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), values.size_bytes());
  [[maybe_unused]] const auto wanted = array_bytes(dtype, {array.shape.begin(), array.shape.end()});
  assert(wanted && *wanted == array.bytes.size());
  return array;
}

template Array make_array<float>(std::vector<std::size_t>, std::span<const float>);
template Array make_array<double>(std::vector<std::size_t>, std::span<const double>);
template Array make_array<std::int32_t>(std::vector<std::size_t>, std::span<const std::int32_t>);
template Array make_array<std::int64_t>(std::vector<std::size_t>, std::span<const std::int64_t>);

}  // namespace draftproof
