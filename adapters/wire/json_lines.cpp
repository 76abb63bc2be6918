#include <draftproof/adapters/wire/message.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/json_input.hpp>
#include <draftproof/sim/numeric/short_float.hpp>

namespace draftproof::adapters {

namespace {

void print_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "null";
  } else if (std::isinf(value)) {
    out += value > 0 ? "1e999" : "-1e999";
  } else {
    const std::size_t before = out.size();
    fmt::format_to(std::back_inserter(out), "{}", value);
    if (out.find_first_of(".e", before) == std::string::npos) out += ".0";
  }
}

template <class T>
T element(const Tensor& tensor, std::size_t i) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + i * sizeof value, sizeof value);
  return value;
}

void print_element(std::string& out, const Tensor& tensor, std::size_t i) {
  const auto integer = [&out](auto value) { fmt::format_to(std::back_inserter(out), "{}", value); };
  if (tensor.dtype == DType::F64) return print_number(out, element<double>(tensor, i));
  if (tensor.dtype == DType::F32) return print_number(out, static_cast<double>(element<float>(tensor, i)));
  if (tensor.dtype == DType::F16) return print_number(out, static_cast<double>(element<Half>(tensor, i)));
  if (tensor.dtype == DType::BF16) return print_number(out, static_cast<double>(element<Bfloat16>(tensor, i)));
  if (tensor.dtype == DType::I64) return integer(element<std::int64_t>(tensor, i));
  if (tensor.dtype == DType::I32) return integer(element<std::int32_t>(tensor, i));
  throw AdapterError("sending: " + tensor.name + ": got bytes, expected numbers of 16 bits or more");
}

void print_list(std::string& out, const Tensor& tensor, std::size_t dimension, std::size_t& at) {
  if (dimension == tensor.shape.size()) return print_element(out, tensor, at++);
  out += '[';
  for (std::uint64_t i = 0; i < tensor.shape[dimension]; ++i) {
    if (i > 0) out += ',';
    print_list(out, tensor, dimension + 1, at);
  }
  out += ']';
}

struct KnownArray {
  std::string_view name;
  DType dtype;
  std::size_t dimensions;
};

constexpr std::array<KnownArray, 16> known_arrays{{{"p", DType::F64, 3},
                                                   {"q", DType::F64, 3},
                                                   {"tape", DType::F64, 2},
                                                   {"state", DType::F64, 2},
                                                   {"target", DType::F64, 2},
                                                   {"proposal", DType::F64, 2},
                                                   {"seeds", DType::I64, 1},
                                                   {"drafts", DType::I32, 2},
                                                   {"lengths", DType::I32, 1},
                                                   {"parents", DType::I32, 2},
                                                   {"legal", DType::I32, 3},
                                                   {"request_settings", DType::F64, 2},
                                                   {"tokens", DType::I32, 2},
                                                   {"counts", DType::I32, 1},
                                                   {"status", DType::I32, 1},
                                                   {"draw_counts", DType::I32, 1}}};

/// Reads the nested lists of one array.
class ListReader {
 public:
  ListReader(const KnownArray& known, const std::string& place) : known_(known), place_(place) {}

  Tensor read(const nlohmann::json& list, Message& message) {
    measure(list, 0);
    std::size_t count = 1;
    for (const std::uint64_t extent : shape_) count *= static_cast<std::size_t>(extent);
    message.owned.push_back(
        std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(count, 1) * width(known_.dtype)));
    to_ = message.owned.back().get();
    fill(list, 0);
    return {.name = std::string(known_.name),
            .dtype = known_.dtype,
            .shape = shape_,
            .bytes = {message.owned.back().get(), count * width(known_.dtype)}};
  }

 private:
  AdapterError refuse(const nlohmann::json& found, std::string_view wanted) const {
    const std::string at = at_.empty() ? "" : fmt::format("[{}]", fmt::join(at_, ", "));
    return AdapterError(
        fmt::format("{}: {}{}: got {}, expected {}", place_, known_.name, at, shown_json(found), wanted));
  }
  bool padded(std::size_t dimension) const { return known_.dtype == DType::I32 && dimension == 1; }

  void measure(const nlohmann::json& list, std::size_t dimension) {
    if (dimension == known_.dimensions) return;
    if (!list.is_array()) throw refuse(list, fmt::format("lists, {} deep", known_.dimensions));
    if (shape_.size() == dimension) shape_.push_back(list.size());
    if (padded(dimension))
      shape_[1] = std::max<std::uint64_t>(shape_[1], list.size());
    else if (shape_[dimension] != list.size())
      throw refuse(list, fmt::format("{} entries, as in the rows before", shape_[dimension]));
    for (const nlohmann::json& entry : list) measure(entry, dimension + 1);
    if (dimension + 1 < known_.dimensions && list.empty()) shape_.resize(known_.dimensions, 0);
  }
  void fill(const nlohmann::json& list, std::size_t dimension) {
    if (dimension == known_.dimensions) return put(list);
    at_.push_back(0);
    for (const nlohmann::json& entry : list) {
      fill(entry, dimension + 1);
      ++at_.back();
    }
    at_.pop_back();
    if (padded(dimension))
      for (std::size_t i = list.size(); i < shape_[1]; ++i) store(std::int32_t{-1});
  }
  void put(const nlohmann::json& value) {
    if (known_.dtype == DType::F64) {
      if (!value.is_number() && !value.is_null()) throw refuse(value, "a number");
      return store(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
    }
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    const bool small =
        value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= most);
    if (!small) throw refuse(value, "whole numbers");
    const auto number = value.get<std::int64_t>();
    if (known_.dtype == DType::I64) return store(number);
    if (number != static_cast<std::int32_t>(number)) throw refuse(value, "whole numbers of 32 bits");
    store(static_cast<std::int32_t>(number));
  }
  template <class T>
  void store(T value) {
    std::memcpy(to_, &value, sizeof value);
    to_ += sizeof value;
  }

  const KnownArray& known_;
  const std::string& place_;
  std::vector<std::uint64_t> shape_;
  std::vector<std::size_t> at_;  ///< indices of the entry that is being filled in
  std::byte* to_ = nullptr;
};

}  // namespace

std::string encode_line(const Message& message) {
  std::string line = json_text(message.fields);
  line.pop_back();
  for (const Tensor& tensor : message.tensors) {
    line += (line.size() > 1 ? ",\"" : "\"") + tensor.name + "\":";
    std::size_t at = 0;
    print_list(line, tensor, 0, at);
  }
  return line + "}\n";
}

Message decode_line(std::string_view line, const std::string& place) {
  Message result;
  try {
    result.fields = parse_json_object(line, place);
  } catch (const InputError& error) {
    throw AdapterError(fmt::format("{}; the line is {}", error.what(), in_quotes(line)));
  }
  for (const KnownArray& known : known_arrays) {
    const auto found = result.fields.find(known.name);
    if (found == result.fields.end() || !found->is_array()) continue;
    result.tensors.push_back(ListReader(known, place).read(*found, result));
    result.fields.erase(found);
  }
  return result;
}

}  // namespace draftproof::adapters
