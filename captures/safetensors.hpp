// The .safetensors format: eight bytes of header length, a JSON header of types, shapes and offsets, then raw
// elements. The offsets must tile the data exactly, without overlap, hole or excess; this is checked before data is
// read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include <draftproof/captures/array.hpp>

namespace draftproof {

struct Safetensors {
  NamedArrays arrays;                                  // in the order of their data
  nlohmann::json metadata = nlohmann::json::object();  // `__metadata__`: strings by name
};

/// The arrays that `want` accepts, of types F16, BF16, F32, F64, I8, U8, I32 and I64. Throws: InputError.
Safetensors read_safetensors(const std::filesystem::path& path, const WantArray& want);

}  // namespace draftproof
