#include <draftproof/captures/safetensors.hpp>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <draftproof/captures/json_input.hpp>

namespace draftproof {
namespace {

using json = nlohmann::json;

constexpr std::uint64_t length_size = 8, longest_header = 100'000'000;  // the header limit of the safetensors library

std::vector<std::uint64_t> whole_numbers(const std::string& file, const std::string& name, const json& entry,
                                         const char* key) {
  const auto list = entry.find(key);
  constexpr std::size_t most = 32;
  if (list == entry.end() || !list->is_array() || list->size() > most ||
      !std::all_of(list->begin(), list->end(), [](const json& number) { return number.is_number_unsigned(); }))
    throw array_error(file, name, fmt::format("no usable {}", key), "a list of at most 32 whole numbers >= 0");
  return list->get<std::vector<std::uint64_t>>();
}

SafetensorsEntry read_tensor(const std::string& file, const std::string& name, const json& entry,
                             std::uint64_t data_size, std::uint64_t most) {
  const auto refuse = [&](std::string found, std::string wanted) {
    return array_error(file, name, std::move(found), std::move(wanted));
  };
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry["dtype"].is_string())
    throw refuse("a malformed header entry", "dtype, shape and data_offsets");
  SafetensorsEntry result{.name = name, .type = entry["dtype"].get<std::string>(), .dtype = {}, .shape = {}};
  for (const TypeNames& type : type_names)
    if (type.safetensors == result.type) result.dtype = type.dtype;
  result.shape = whole_numbers(file, name, entry, "shape");
  const auto offsets = whole_numbers(file, name, entry, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_size)
    throw refuse("data_offsets " + shape_text(offsets), fmt::format("a range within {} bytes", data_size));
  result.begin = offsets[0];
  result.end = offsets[1];
  if (!result.dtype) return result;
  const auto bytes = array_bytes(*result.dtype, result.shape, most);
  if (!bytes || *bytes != result.end - result.begin)
    throw refuse(
        fmt::format("{} bytes of {} for shape {}", result.end - result.begin, result.type, shape_text(result.shape)),
        bytes ? fmt::format("{} bytes", *bytes) : fmt::format("at most {} bytes", most));
  return result;
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_size, const std::string& file,
                                           std::uint64_t most) {
  const json parsed = parse_json_object(text, file);
  SafetensorsHeader result;
  for (const auto& [name, entry] : parsed.items()) {
    if (name != "__metadata__") {
      result.entries.push_back(read_tensor(file, name, entry, data_size, most));
      continue;
    }
    const bool strings = entry.is_object() &&
                         std::all_of(entry.begin(), entry.end(), [](const json& value) { return value.is_string(); });
    if (!strings) throw file_error(file, "a malformed __metadata__", "an object of strings");
    result.metadata = entry;
  }
  std::sort(result.entries.begin(), result.entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t covered = 0;
  for (const SafetensorsEntry& tensor : result.entries) {
    if (tensor.begin != covered)
      throw array_error(file, tensor.name, fmt::format("data at offset {}", tensor.begin),
                        fmt::format("offset {}: arrays side by side, without overlap or hole", covered));
    covered = tensor.end;
  }
  if (covered != data_size)
    throw file_error(file, fmt::format("{} bytes of data", data_size), fmt::format("the {} of the header", covered));
  if (data_size > most)
    throw file_error(file, fmt::format("{} bytes of data", data_size), fmt::format("at most {}", most));
  return result;
}

SafetensorsView view_safetensors(std::span<const std::byte> bytes, const std::string& file, std::uint64_t most,
                                 const char* wanted) {
  if (bytes.size() < length_size) throw file_error(file, fmt::format("{} bytes", bytes.size()), "a safetensors file");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_size);
  if (length > longest_header || length > bytes.size() - length_size)
    throw file_error(file, fmt::format("a header of {} bytes in a file of {}", length, bytes.size()), wanted);
  const auto text = bytes.subspan(length_size, static_cast<std::size_t>(length));
  const auto data = bytes.subspan(length_size + text.size());
  return {
      parse_safetensors_header({reinterpret_cast<const char*>(text.data()), text.size()}, data.size(), file, most),
      data};
}

std::string safetensors_head(std::span<SafetensorsEntry> entries, const json& metadata) {
  json header = {{"__metadata__", metadata}};
  std::uint64_t offset = 0;
  for (SafetensorsEntry& entry : entries) {
    entry.begin = offset;
    offset += array_bytes(entry.dtype.value(), entry.shape).value();
    entry.end = offset;
    header[entry.name] = {{"dtype", safetensors_type(*entry.dtype)},
                          {"shape", entry.shape},
                          {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text = header.dump();
  constexpr std::size_t unit = 8;
  text.append((unit - text.size() % unit) % unit, ' ');
  const std::uint64_t length = text.size();
  std::string head(sizeof length, '\0');
  std::memcpy(head.data(), &length, sizeof length);
  return head + text;
}

Safetensors read_safetensors(const std::filesystem::path& path, const WantArray& want) {
  const std::string file = path.string();
  const auto mapped = std::make_shared<const MappedFile>(path);
  constexpr std::uint64_t most = std::uint64_t{1} << 46;  // bytes that any 64-bit machine can map
  SafetensorsView view = view_safetensors(mapped->bytes(), file, most, "a header inside the file, of at most 100 MB");
  Safetensors result;
  result.metadata = std::move(view.header.metadata);
  for (const SafetensorsEntry& tensor : view.header.entries) {
    if (!want(tensor.name)) continue;
    if (!tensor.dtype)
      throw array_error(file, tensor.name, "elements of type " + in_quotes(tensor.type),
                        "F16, BF16, F32, F64, I8, U8, I32 or I64");
    result.arrays.emplace_back(tensor.name,
                               Array{.dtype = *tensor.dtype,
                                     .shape = {tensor.shape.begin(), tensor.shape.end()},
                                     .bytes = {},
                                     .mapped = view.data.subspan(tensor.begin, tensor.end - tensor.begin),
                                     .file = mapped});
  }
  return result;
}

}  // namespace draftproof
