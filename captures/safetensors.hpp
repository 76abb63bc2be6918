// The .safetensors format: eight bytes of header length, a JSON header of types, shapes and offsets, then raw
// elements. The offsets must tile the data exactly, without overlap, hole or excess; this is checked before data is
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/captures/array.hpp>

namespace draftproof {

struct Safetensors {
  NamedArrays arrays;                                  // in the order of their data
  nlohmann::json metadata = nlohmann::json::object();  // `__metadata__`: strings by name
};

/// One array of a header: its type, its shape and its range of the data.
struct SafetensorsEntry {
  std::string name;
  std::string type;                  // as in the file, such as `F32`
  std::optional<DType> dtype;        // empty if this program does not read the type
  std::vector<std::uint64_t> shape;  // an array of this shape and dtype has end - begin bytes
  std::uint64_t begin = 0, end = 0;  // offsets into the data
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of their ranges, which tile the data
  nlohmann::json metadata = nlohmann::json::object();
};

/// Parses the JSON header `text` of a file with `data_size` bytes of data, which must be at most `most`. `file` is the
/// file's name in messages. Throws: InputError.
SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_size, const std::string& file,
                                           std::uint64_t most = most_array_bytes);

/// A whole file: its header, and the data that the header describes.
struct SafetensorsView {
  SafetensorsHeader header;
  std::span<const std::byte> data;
};

/// Parses the file in `bytes`, with at most `most` bytes of data. `wanted` describes a valid header in messages.
/// Throws: InputError.
SafetensorsView view_safetensors(std::span<const std::byte> bytes, const std::string& file, std::uint64_t most,
                                 const char* wanted);

/// Returns `F32`, `BF16`, .., the name of a type in a header.
constexpr std::string_view safetensors_type(DType dtype) { return names_of(dtype).safetensors; }

/// Returns the bytes before the data: eight bytes of length, then the header, padded with spaces to a multiple of
/// eight. Sets the ranges of `entries`, whose names must differ. `metadata` is an object of strings.
std::string safetensors_head(std::span<SafetensorsEntry> entries, const nlohmann::json& metadata);

/// Returns the arrays that `want` accepts, of types F16, BF16, F32, F64, I8, U8, I32 and I64. They are mapped and not
/// copied, so a file may be larger than memory. Throws: InputError.
Safetensors read_safetensors(const std::filesystem::path& path, const WantArray& want);

}  // namespace draftproof
