#include <draftproof/adapters/wire/message.hpp>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/json_input.hpp>
#include <draftproof/captures/safetensors.hpp>

namespace draftproof::adapters {
namespace {

constexpr std::uint64_t length_size = sizeof(std::uint64_t);

Tensor place_tensor(const SafetensorsEntry& entry, std::span<const std::byte> data, Message& message,
                    const std::string& place) {
  if (!entry.dtype)
    throw DoorError(fmt::format("{}: {}: found elements of type {}, wanted F16, BF16, F32, F64, I32 or I64", place,
                                entry.name, in_quotes(entry.type)));
  const auto size = static_cast<std::size_t>(entry.end - entry.begin);
  const std::byte* first = data.data() + entry.begin;
  if (size > 0 && reinterpret_cast<std::uintptr_t>(first) % width(*entry.dtype) != 0) {
    message.owned.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    std::memcpy(message.owned.back().get(), first, size);
    first = message.owned.back().get();
  }
  return {.name = entry.name, .dtype = *entry.dtype, .shape = entry.shape, .bytes = {first, size}};
}

Message decode_checked(std::span<const std::byte> blob, const std::string& place) {
  std::uint64_t length = 0;
  if (blob.size() < length_size)
    throw DoorError(fmt::format("{}: found a frame of {} bytes, wanted a safetensors blob", place, blob.size()));
  std::memcpy(&length, blob.data(), length_size);
  if (length > blob.size() - length_size)
    throw DoorError(fmt::format("{}: found a header of {} bytes in a blob of {}", place, length, blob.size()) +
                    ", wanted a header inside it");
  const auto size = static_cast<std::size_t>(length);
  const std::string_view text(reinterpret_cast<const char*>(blob.data()) + length_size, size);
  const auto data = blob.subspan(static_cast<std::size_t>(length_size) + size);
  const SafetensorsHeader header = parse_safetensors_header(text, data.size(), place);
  Message result;
  const auto fields = header.metadata.find("message");
  if (fields == header.metadata.end())
    throw DoorError(place + ": found a blob without metadata `message`, wanted a JSON object there");
  result.fields = parse_json_object(fields->get_ref<const std::string&>(), place + ": message");
  for (const SafetensorsEntry& entry : header.entries)
    result.tensors.push_back(place_tensor(entry, data, result, place));
  return result;
}

}  // namespace

const Tensor* Message::find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [name](const auto& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

std::string array_text(const Tensor* tensor) {
  return tensor ? std::string(to_string(tensor->dtype)) + " " + shape_text(tensor->shape) : "nothing";
}

template <class T>
Tensor tensor_of(std::string name, std::vector<std::uint64_t> shape, std::span<const T> values) {
  constexpr bool floating = std::is_floating_point_v<T>;
  constexpr DType dtype =
      floating ? (sizeof(T) == 4 ? DType::F32 : DType::F64) : (sizeof(T) == 4 ? DType::I32 : DType::I64);
  return {.name = std::move(name), .dtype = dtype, .shape = std::move(shape), .bytes = std::as_bytes(values)};
}

template Tensor tensor_of<float>(std::string, std::vector<std::uint64_t>, std::span<const float>);
template Tensor tensor_of<double>(std::string, std::vector<std::uint64_t>, std::span<const double>);
template Tensor tensor_of<std::int32_t>(std::string, std::vector<std::uint64_t>, std::span<const std::int32_t>);
template Tensor tensor_of<std::int64_t>(std::string, std::vector<std::uint64_t>, std::span<const std::int64_t>);

DType array_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64:
      return DType::F64;
    case Dtype::float16:
      return DType::F16;
    case Dtype::bfloat16:
      return DType::BF16;
    default:
      return DType::F32;
  }
}

std::string frame_head(const Message& message, std::vector<const Tensor*>& order) {
  order.clear();
  for (const Tensor& tensor : message.tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(),
                   [](const Tensor* a, const Tensor* b) { return width(a->dtype) > width(b->dtype); });
  std::vector<SafetensorsEntry> entries;
  std::uint64_t size = 0;
  for (const Tensor* tensor : order) {
    const auto wanted = array_bytes(tensor->dtype, tensor->shape);
    if (wanted != tensor->bytes.size())
      throw DoorError(fmt::format("sending: {}: found {} bytes for shape {}, wanted {}", tensor->name,
                                  tensor->bytes.size(), shape_text(tensor->shape),
                                  wanted ? fmt::format("{}", *wanted) : "a smaller shape"));
    entries.push_back({.name = tensor->name, .type = {}, .dtype = tensor->dtype, .shape = tensor->shape});
    size += tensor->bytes.size();
  }
  const std::string text = message.fields.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::string head = safetensors_head(entries, {{"message", text}});
  const std::uint64_t length = head.size() + size;
  std::string result(length_size, '\0');
  std::memcpy(result.data(), &length, length_size);
  return result + head;
}

Message decode_blob(std::span<const std::byte> blob, const std::string& place) {
  try {
    return decode_checked(blob, place);
  } catch (const InputError& error) {
    throw DoorError(error.what());
  }
}

}  // namespace draftproof::adapters
