#include <draftproof/captures/npy.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include <draftproof/captures/file_bytes.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/npy_dict.hpp>

namespace draftproof {
namespace {

constexpr std::string_view magic{"\x93NUMPY", 6};

struct Descr {
  std::string_view text;
  DType dtype;
};
constexpr std::array<Descr, 7> descrs{{{"<f2", DType::F16},
                                       {"<f4", DType::F32},
                                       {"<f8", DType::F64},
                                       {"|i1", DType::I8},
                                       {"|u1", DType::U8},
                                       {"<i4", DType::I32},
                                       {"<i8", DType::I64}}};

}  // namespace

NpyHeader parse_npy_dict(std::string_view text, const std::string& file, const std::string& array) {
  const NpyDict dict = NpyDictParser(text, file, array).parse();
  const auto refuse = [&](std::string found, std::string wanted) {
    return InputError({.file = file, .array = array, .found = std::move(found), .wanted = std::move(wanted)});
  };
  const auto known = std::find_if(descrs.begin(), descrs.end(), [&](const Descr& d) { return d.text == dict.descr; });
  if (known == descrs.end())
    throw refuse("elements of type " + in_quotes(dict.descr), "<f2, <f4, <f8, |i1, |u1, <i4 or <i8 (little-endian)");
  if (dict.fortran_order) throw refuse("Fortran order", "rows stored one after another (C order)");
  return {known->dtype, dict.shape};
}

Array read_npy(const ReadBytes& read, std::uint64_t total, const std::string& file, const std::string& array) {
  const auto refuse = [&](std::string found, std::string wanted) {
    return InputError({.file = file, .array = array, .found = std::move(found), .wanted = std::move(wanted)});
  };
  std::uint64_t left = total;
  const auto take = [&](std::span<std::byte> bytes, std::string_view what) {
    if (bytes.size() > left) throw refuse(fmt::format("{} bytes", total), fmt::format("a whole .npy {}", what));
    left -= bytes.size();
    read(bytes);
  };

  std::array<std::byte, 8> start{};
  take(start, "magic string");
  if (!std::equal(magic.begin(), magic.end(), start.begin(), [](char a, std::byte b) { return std::byte(a) == b; }))
    throw refuse("no .npy magic string", "\"\\x93NUMPY\"");
  const int version = std::to_integer<int>(start[6]);
  if (version < 1 || version > 3 || start[7] != std::byte{0})
    throw refuse(fmt::format(".npy version {}.{}", version, std::to_integer<int>(start[7])),
                 "version 1.0, 2.0 or 3.0");

  std::array<std::byte, 4> length_bytes{};
  take(std::span(length_bytes).first(version == 1 ? 2 : 4), "header length");
  std::size_t length = 0;
  for (std::size_t i = 4; i-- > 0;) length = length << 8 | std::to_integer<std::size_t>(length_bytes[i]);
  // NumPy refuses more than 10000 bytes unless it is told to trust the file.
  constexpr std::size_t longest_header = 10000;
  if (length > longest_header || length > left)
    throw refuse(fmt::format("a header of {} bytes", length),
                 fmt::format("at most {} and within the array's {} bytes", longest_header, total));
  std::string text(length, '\0');
  take(std::as_writable_bytes(std::span(text)), "header");

  const NpyHeader header = parse_npy_dict(text, file, array);
  const auto bytes = array_bytes(header.dtype, header.shape);
  if (!bytes || *bytes != left)
    throw refuse(fmt::format("{} bytes of {} for shape {}", left, to_string(header.dtype), shape_text(header.shape)),
                 bytes ? fmt::format("{} bytes", *bytes) : fmt::format("at most {} bytes", most_array_bytes));

  Array result{.dtype = header.dtype, .shape = {header.shape.begin(), header.shape.end()}, .bytes = {}};
  // Grown as data arrives, so that memory is proportional to the data present and not to the claimed size.
  constexpr std::size_t chunk = std::size_t{1} << 24;
  while (result.bytes.size() < *bytes) {
    const std::size_t done = result.bytes.size();
    result.bytes.resize(std::min(*bytes, std::max(chunk, 2 * done)));
    take(std::span(result.bytes).subspan(done), "body");
  }
  return result;
}

Array read_npy(const std::filesystem::path& path) {
  FileBytes file(path);
  return read_npy([&file](std::span<std::byte> bytes) { file.read(bytes); }, file.size(), path.string(), "");
}

std::string npy_header(const Array& array) {
  std::string_view descr = "|V2";  // bfloat16 has no NumPy type; callers do not write it
  for (const Descr& known : descrs)
    if (known.dtype == array.dtype) descr = known.text;
  std::string shape;
  for (const std::size_t extent : array.shape) shape += fmt::format("{},", extent);
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  constexpr std::size_t fixed = 10,
                        alignment = 64;  // magic, version and length before the dict; aligned data after
  dict.append(alignment - (fixed + dict.size() + 1) % alignment, ' ');
  dict += '\n';
  std::string header(magic);
  header += {'\1', '\0', static_cast<char>(dict.size() & 255), static_cast<char>(dict.size() >> 8)};
  return header + dict;
}

}  // namespace draftproof
