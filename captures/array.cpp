#include <draftproof/captures/array.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cassert>
#include <system_error>

#include <fmt/format.h>

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

InputError unreadable(const std::filesystem::path& path, std::string found) {
  return file_error(path.string(), std::move(found), "a readable file");
}

}  // namespace

FileBytes::FileBytes(const std::filesystem::path& path) : path_(path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw unreadable(path, "no such file");
  if (!std::filesystem::is_regular_file(status)) throw unreadable(path, "something that is not a regular file");
  size_ = std::filesystem::file_size(path, error);
  stream_.open(path, std::ios::binary);
  if (error || !stream_) throw unreadable(path, "a file that cannot be opened");
}

void FileBytes::read(std::span<std::byte> bytes) {
  stream_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  const auto count = static_cast<std::size_t>(stream_.gcount());
  if (count != bytes.size())
    throw file_error(path_.string(), fmt::format("the end of the file after {} more bytes", count),
                     fmt::format("{} bytes", bytes.size()));
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  const auto size = static_cast<std::size_t>(FileBytes(path).size());
  if (size == 0) return;
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* const start = descriptor < 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (descriptor >= 0) close(descriptor);
  if (start == MAP_FAILED) throw unreadable(path, "a file that cannot be mapped");
  madvise(start, size, MADV_SEQUENTIAL);
  bytes_ = {static_cast<const std::byte*>(start), size};
  ++mapped_;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  --mapped_;
}

void MappedFile::note_read(std::size_t count) const {
  // A page fault also maps the cached pages around it (fault-around), 64 KiB by default.
  constexpr std::size_t around = 1 << 16, most = std::size_t{1} << 28;
  if (resident_.fetch_add(count + around, std::memory_order_relaxed) < most) return;
  resident_.store(0, std::memory_order_relaxed);
  madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
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

InputError file_error(const std::string& file, std::string found, std::string wanted) {
  return array_error(file, "", std::move(found), std::move(wanted));
}

InputError array_error(const std::string& file, std::string_view array, std::string found, std::string wanted,
                       std::optional<std::size_t> row, std::optional<std::size_t> token) {
  return InputError({file, std::string(array), row, token, std::move(found), std::move(wanted)});
}

}  // namespace draftproof
