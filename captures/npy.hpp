// The .npy format of NumPy (versions 1 to 3): magic, a Python dict literal with type, order and shape, then raw
// elements. The parser trusts nothing: the header must account for every byte of the file before memory is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/captures/array.hpp>

namespace draftproof {

/// Fills the span with the next bytes of a stream; throws if it cannot.
using ReadBytes = std::function<void(std::span<std::byte>)>;

struct NpyHeader {
  DType dtype = DType::F32;
  std::vector<std::uint64_t> shape;
};

/// Parses the header dict, e.g. `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`. Throws: InputError,
/// with `file` and `array`, on any other text, on Fortran order, and on big-endian, object and structured types.
NpyHeader parse_npy_dict(std::string_view text, const std::string& file, const std::string& array);

/// Reads one .npy stream of `total` bytes, which its header must match exactly. Throws: InputError.
Array read_npy(const ReadBytes& read, std::uint64_t total, const std::string& file, const std::string& array);

/// Reads a plain .npy file. Throws: InputError.
Array read_npy(const std::filesystem::path& path);

/// The header (version 1) that precedes the bytes of `array`.
std::string npy_header(const Array& array);

}  // namespace draftproof
