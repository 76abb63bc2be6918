#include <draftproof/captures/safetensors.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include <draftproof/captures/file_bytes.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/json_input.hpp>

namespace draftproof {
namespace {

using json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, DType>, 8> safetensors_types{{{"F16", DType::F16},
                                                                               {"BF16", DType::BF16},
                                                                               {"F32", DType::F32},
                                                                               {"F64", DType::F64},
                                                                               {"I8", DType::I8},
                                                                               {"U8", DType::U8},
                                                                               {"I32", DType::I32},
                                                                               {"I64", DType::I64}}};

std::optional<DType> parse_dtype(std::string_view text) {
  for (const auto& [name, dtype] : safetensors_types)
    if (name == text) return dtype;
  return std::nullopt;
}

class HeaderReader {
 public:
  HeaderReader(const std::string& file, std::uint64_t data_size, std::uint64_t most)
      : file_(file), data_size_(data_size), most_(most) {}

  SafetensorsEntry tensor(const std::string& name, const json& entry) const {
    SafetensorsEntry result{.name = name, .type = {}, .dtype = {}, .shape = {}};
    if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry["dtype"].is_string())
      throw refuse(name, "a header entry of another form", "dtype, shape and data_offsets");
    result.type = entry["dtype"].get<std::string>();
    result.dtype = parse_dtype(result.type);
    result.shape = whole_numbers(name, entry, "shape");
    const auto offsets = whole_numbers(name, entry, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_size_)
      throw refuse(name, "data_offsets " + shape_text(offsets), fmt::format("a range within {} bytes", data_size_));
    result.begin = offsets[0];
    result.end = offsets[1];
    if (!result.dtype) return result;
    const auto bytes = array_bytes(*result.dtype, result.shape, most_);
    if (!bytes || *bytes != result.end - result.begin)
      throw refuse(name,
                   fmt::format("{} bytes of {} for shape {}", result.end - result.begin, result.type,
                               shape_text(result.shape)),
                   bytes ? fmt::format("{} bytes", *bytes) : fmt::format("at most {} bytes", most_));
    return result;
  }

  InputError refuse(const std::string& name, std::string found, std::string wanted) const {
    return InputError({.file = file_, .array = name, .found = std::move(found), .wanted = std::move(wanted)});
  }

 private:
  std::vector<std::uint64_t> whole_numbers(const std::string& name, const json& entry, const char* key) const {
    const auto list = entry.find(key);
    constexpr std::size_t most = 32;
    bool good = list != entry.end() && list->is_array() && list->size() <= most;
    for (std::size_t i = 0; good && i < list->size(); ++i) good = (*list)[i].is_number_unsigned();
    if (!good) throw refuse(name, fmt::format("no usable {}", key), "a list of at most 32 whole numbers >= 0");
    return list->get<std::vector<std::uint64_t>>();
  }

  const std::string& file_;
  std::uint64_t data_size_, most_;
};

void check_tiling(const std::vector<SafetensorsEntry>& tensors, std::uint64_t data_size, const HeaderReader& header) {
  std::uint64_t covered = 0;
  for (const SafetensorsEntry& tensor : tensors) {
    if (tensor.begin != covered)
      throw header.refuse(tensor.name, fmt::format("data at offset {}", tensor.begin),
                          fmt::format("offset {}: arrays side by side, without overlap or hole", covered));
    covered = tensor.end;
  }
  if (covered != data_size)
    throw header.refuse("", fmt::format("{} bytes of data", data_size), fmt::format("the {} of the header", covered));
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_size, const std::string& file,
                                           std::uint64_t most) {
  const json parsed = parse_json_object(text, file);
  const HeaderReader header(file, data_size, most);
  SafetensorsHeader result;
  for (const auto& [name, entry] : parsed.items()) {
    if (name != "__metadata__") {
      result.entries.push_back(header.tensor(name, entry));
      continue;
    }
    const bool strings = entry.is_object() &&
                         std::all_of(entry.begin(), entry.end(), [](const json& value) { return value.is_string(); });
    if (!strings) throw header.refuse("", "a __metadata__ of another form", "an object of strings");
    result.metadata = entry;
  }
  std::sort(result.entries.begin(), result.entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  check_tiling(result.entries, data_size, header);
  if (data_size > most)
    throw header.refuse("", fmt::format("{} bytes of data", data_size), fmt::format("at most {}", most));
  return result;
}

std::string_view safetensors_type(DType dtype) {
  return std::find_if(safetensors_types.begin(), safetensors_types.end(),
                      [dtype](const auto& pair) { return pair.second == dtype; })
      ->first;
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
  FileBytes bytes(path);
  constexpr std::uint64_t length_size = 8,
                          longest_header = 100'000'000;  // the limit of the format's own library
  if (bytes.size() < length_size)
    throw InputError({.file = file, .found = fmt::format("{} bytes", bytes.size()), .wanted = "a safetensors file"});
  std::uint64_t length = 0;
  bytes.read(std::as_writable_bytes(std::span(&length, 1)));
  if (length > longest_header || length > bytes.size() - length_size)
    throw InputError({.file = file,
                      .found = fmt::format("a header of {} bytes in a file of {}", length, bytes.size()),
                      .wanted = "a header inside the file, of at most 100 MB"});
  std::string text(static_cast<std::size_t>(length), '\0');
  bytes.read(std::as_writable_bytes(std::span(text)));
  const auto mapped = std::make_shared<const MappedFile>(path);
  const std::size_t start = length_size + static_cast<std::size_t>(length);
  constexpr std::uint64_t most = std::uint64_t{1} << 46;  // of address space, on any 64-bit machine
  SafetensorsHeader header = parse_safetensors_header(text, mapped->bytes().size() - start, file, most);
  Safetensors result;
  result.metadata = std::move(header.metadata);
  for (const SafetensorsEntry& tensor : header.entries) {
    if (!want(tensor.name)) continue;
    if (!tensor.dtype)
      throw InputError({.file = file,
                        .array = tensor.name,
                        .found = "elements of type " + in_quotes(tensor.type),
                        .wanted = "F16, BF16, F32, F64, I8, U8, I32 or I64"});
    result.arrays.emplace_back(
        tensor.name, Array{.dtype = *tensor.dtype,
                           .shape = {tensor.shape.begin(), tensor.shape.end()},
                           .bytes = {},
                           .mapped = mapped->bytes().subspan(start + tensor.begin, tensor.end - tensor.begin),
                           .file = mapped});
  }
  return result;
}

}  // namespace draftproof
