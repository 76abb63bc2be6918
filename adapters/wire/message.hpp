// A message of the wire: fields, and arrays by name. It is written as a frame or as a line of JSON.
//
//   frame   u64 little-endian length, then a safetensors blob; the fields are the metadata string `message`
//   line    one JSON object; arrays are nested lists under their names (json_lines.hpp)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/captures/array.hpp>

namespace draftproof::adapters {

enum class Form { frames, lines };

/// An array that lies elsewhere. Cost: of a copy, no bytes.
struct Tensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<std::uint64_t> shape;
  std::span<const std::byte> bytes;  ///< row-major, aligned to the elements

  /// The elements as T, which has the width of dtype.
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

struct Message {
  nlohmann::json fields = nlohmann::json::object();
  std::vector<Tensor> tensors{};
  std::vector<std::unique_ptr<std::byte[]>> owned{};  ///< what tensors of a decoded message may lie in

  const Tensor* find(std::string_view name) const;
};

/// "f32 [2, 3]", or "nothing" for null.
std::string array_text(const Tensor* tensor);

/// A tensor on values of float, double, std::int32_t or std::int64_t, which must outlive it.
template <class T>
Tensor tensor_of(std::string name, std::vector<std::uint64_t> shape, std::span<const T> values);

/// The type in arrays for a type in declarations.
DType array_type(Dtype dtype);

/// The first part of a frame, length included; the bytes of the tensors follow in the order of `order`, which is by
/// width of their elements, so that each is aligned where the blob is aligned to 8.
std::string frame_head(const Message& message, std::vector<const Tensor*>& order);

/// The message in the `blob` of a frame, without its length; tensors lie in it. Throws: DoorError that says `place`.
Message decode_blob(std::span<const std::byte> blob, const std::string& place);

}  // namespace draftproof::adapters
