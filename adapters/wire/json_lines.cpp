#include <draftproof/adapters/wire/json_lines.hpp>

#include <fmt/format.h>
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
  switch (tensor.dtype) {
    case DType::F64:
      return print_number(out, element<double>(tensor, i));
    case DType::F32:
      return print_number(out, static_cast<double>(element<float>(tensor, i)));
    case DType::F16:
      return print_number(out, static_cast<double>(element<Half>(tensor, i)));
    case DType::BF16:
      return print_number(out, static_cast<double>(element<Bfloat16>(tensor, i)));
    case DType::I64:
      fmt::format_to(std::back_inserter(out), "{}", element<std::int64_t>(tensor, i));
      return;
    case DType::I32:
      fmt::format_to(std::back_inserter(out), "{}", element<std::int32_t>(tensor, i));
      return;
    default:
      throw DoorError("sending: " + tensor.name + ": found bytes, wanted numbers of 16 bits or more");
  }
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

constexpr std::array<KnownArray, 14> known_arrays{{{"p", DType::F64, 3},
                                                   {"q", DType::F64, 3},
                                                   {"tape", DType::F64, 2},
                                                   {"state", DType::F64, 2},
                                                   {"target", DType::F64, 2},
                                                   {"proposal", DType::F64, 2},
                                                   {"seeds", DType::I64, 1},
                                                   {"drafts", DType::I32, 2},
                                                   {"lengths", DType::I32, 1},
                                                   {"parents", DType::I32, 2},
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
  DoorError refuse(const nlohmann::json& found, std::string_view wanted) const {
    return DoorError(
        fmt::format("{}: {}: found {}, wanted {}", place_, known_.name, in_quotes(json_text(found)), wanted));
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
    for (const nlohmann::json& entry : list) fill(entry, dimension + 1);
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
    throw DoorError(fmt::format("{}; the line is {}", error.what(), in_quotes(line)));
  }
  for (const KnownArray& known : known_arrays) {
    const auto found = result.fields.find(known.name);
    if (found == result.fields.end() || !found->is_array()) continue;
    result.tensors.push_back(ListReader(known, place).read(*found, result));
    result.fields.erase(found);
  }
  return result;
}

namespace {

/// A log as it comes, in either form.
struct RawLog {
  std::span<const std::int32_t> counts, draws;
  std::span<const double> weights;
  std::vector<std::string> streams;
  std::vector<std::int32_t> own_counts, own_draws;  // of JSON Lines
  std::vector<double> own_weights;
};

std::string shown_json(const nlohmann::json& value) { return in_quotes(json_text(value)); }

template <class T>
std::span<const T> flat(const Message& reply, const char* name, DType dtype, std::size_t columns) {
  const Tensor* found = reply.find(name);
  const bool good = found && found->dtype == dtype && found->shape.size() == (columns == 1 ? 1 : 2) &&
                    (columns == 1 || found->shape[1] == columns);
  if (!good)
    throw DoorError(fmt::format("result: {}: found {}, wanted {} of shape {}", name, array_text(found),
                                to_string(dtype), columns == 1 ? "[n]" : fmt::format("[n, {}]", columns)));
  return found->as<T>();
}

int whole_number(const nlohmann::json& entry, int row, std::string_view field) {
  const auto number = entry.is_number_integer() ? entry.get<std::int64_t>() : 0;
  const auto small = static_cast<std::int32_t>(number);
  // An unsigned number beyond 63 bits would be read as a negative one.
  if (!entry.is_number_integer() || small != number || (entry.is_number_unsigned() && small < 0))
    throw row_fault(row, field, shown_json(entry), "a whole number of 32 bits");
  return small;
}

void read_listed_draw(const nlohmann::json& draw, int row, RawLog& log) {
  constexpr std::array<std::string_view, 4> kinds{"coin", "pick", "clock", "integer"};
  constexpr std::string_view wanted = "[kind, size, bits, stream] and, for a pick, its weights";
  if (!draw.is_array() || draw.size() < 3 || draw.size() > 5 || !draw[0].is_string())
    throw row_fault(row, "draws", shown_json(draw), wanted);
  const auto kind = std::find(kinds.begin(), kinds.end(), draw[0].get_ref<const std::string&>());
  if (kind == kinds.end()) throw row_fault(row, "draws: kind", shown_json(draw[0]), "coin, pick, clock or integer");
  int stream = -1;
  if (draw.size() > 3 && !draw[3].is_null()) {
    if (!draw[3].is_string()) throw row_fault(row, "draws: stream", shown_json(draw[3]), "a text");
    const auto& name = draw[3].get_ref<const std::string&>();
    const auto at = std::find(log.streams.begin(), log.streams.end(), name);
    stream = static_cast<int>(at - log.streams.begin());
    if (at == log.streams.end()) log.streams.push_back(name);
  }
  const int size = whole_number(draw[1], row, "draws: size");
  for (const int part :
       {static_cast<int>(kind - kinds.begin()) + 1, size, whole_number(draw[2], row, "draws: bits"), stream})
    log.own_draws.push_back(part);
  if (*kind != "pick") return;
  if (draw.size() != 5 || !draw[4].is_array() || draw[4].size() != static_cast<std::size_t>(std::max(size, 0)))
    throw row_fault(row, "draws: weights", draw.size() == 5 ? shown_json(draw[4]) : "nothing",
                    fmt::format("a list of {}", size));
  for (const nlohmann::json& weight : draw[4]) {
    if (!weight.is_number() && !weight.is_null())
      throw row_fault(row, "draws: weights", shown_json(weight), "numbers");
    log.own_weights.push_back(weight.is_null() ? std::nan("") : weight.get<double>());
  }
}

RawLog listed_log(const nlohmann::json& rows, const ServedBatch& batch, int first) {
  RawLog log;
  if (!rows.is_array() || rows.size() != static_cast<std::size_t>(batch.rows))
    throw DoorError(
        fmt::format("result: draws: found {}, wanted a list for each of {} rows", shown_json(rows), batch.rows));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int row = first + static_cast<int>(i);
    if (!rows[i].is_array()) throw row_fault(row, "draws", shown_json(rows[i]), "a list of draws");
    for (const nlohmann::json& draw : rows[i]) read_listed_draw(draw, row, log);
    log.own_counts.push_back(static_cast<std::int32_t>(rows[i].size()));
  }
  log.counts = log.own_counts;
  log.draws = log.own_draws;
  log.weights = log.own_weights;
  return log;
}

RawLog tensor_log(const Message& reply) {
  RawLog log;
  if (!reply.find("draws"))
    throw DoorError("result: draws: found nothing, wanted the draws of a scripted batch, also where there are none");
  log.counts = flat<std::int32_t>(reply, "draw_counts", DType::I32, 1);
  log.draws = flat<std::int32_t>(reply, "draws", DType::I32, 4);
  log.weights = flat<double>(reply, "weights", DType::F64, 1);
  const auto streams = reply.fields.find("streams");
  if (streams == reply.fields.end()) return log;
  const bool texts = streams->is_array() && std::all_of(streams->begin(), streams->end(),
                                                        [](const nlohmann::json& name) { return name.is_string(); });
  if (!texts) throw DoorError("result: streams: found " + shown_json(*streams) + ", wanted a list of names");
  log.streams = streams->get<std::vector<std::string>>();
  return log;
}

/// Checks one draw; returns the number of its weights.
std::size_t check_draw(std::span<std::int32_t> draw, int row, int coin_bits, std::size_t streams) {
  const auto in_range = [&](std::size_t at, int least, int most, std::string_view field) {
    if (draw[at] < least || draw[at] > most)
      throw row_fault(row, field, fmt::format("{}", draw[at]), fmt::format("{} .. {}", least, most));
  };
  constexpr int most = std::numeric_limits<std::int32_t>::max(), most_bits = 53;
  in_range(0, 1, 4, "draws: kind");
  in_range(3, -1, static_cast<int>(streams) - 1, "draws: stream");
  switch (static_cast<DrawKind>(draw[0])) {
    case DrawKind::coin:
      if (draw[2] == 0) draw[2] = coin_bits;
      in_range(2, 1, most_bits, "draws: bits of a coin");
      return 0;
    case DrawKind::pick:
      in_range(1, 1, most, "draws: size of a pick");
      return static_cast<std::size_t>(draw[1]);
    case DrawKind::clock:
      in_range(1, 0, most, "draws: size of a clock's race");
      return 0;
    case DrawKind::integer:
      in_range(1, 1, most, "draws: size of an integer");
      return 0;
  }
  return 0;
}

}  // namespace

DoorError row_fault(int row, std::string_view field, std::string_view found, std::string_view wanted) {
  return DoorError(fmt::format("result: row {}: {}: found {}, wanted {}", row, field, found, wanted));
}

void read_log(const Message& reply, const ServedBatch& batch, int coin_bits, int first,
              std::span<const std::int32_t> status, ServedLog& log) {
  const auto listed = reply.fields.find("draws");
  const RawLog raw = listed == reply.fields.end() ? tensor_log(reply) : listed_log(*listed, batch, first);
  if (raw.counts.size() != static_cast<std::size_t>(batch.rows))
    throw DoorError(fmt::format("result: draw_counts: found {} rows, wanted {}", raw.counts.size(), batch.rows));
  std::vector<std::int32_t> draws(raw.draws.begin(), raw.draws.end());
  std::size_t draw = 0, weight = 0;
  for (int i = 0; i < batch.rows; ++i) {
    const auto count = raw.counts[static_cast<std::size_t>(i)];
    if (count < 0 || count > batch.places)
      throw row_fault(first + i, "draw_counts", fmt::format("{}", count),
                      fmt::format("0 .. {}, the places of the tape", batch.places));
    const bool any_weights = status[static_cast<std::size_t>(i)] == static_cast<std::int32_t>(RowStatus::no_mass);
    for (const std::size_t end = draw + 4 * static_cast<std::size_t>(count); draw < end; draw += 4) {
      if (draw == draws.size())
        throw row_fault(first + i, "draws", fmt::format("{} draws in all", draw / 4), "those that draw_counts has");
      const std::size_t cells =
          check_draw(std::span(draws).subspan(draw, 4), first + i, coin_bits, raw.streams.size());
      if (cells > raw.weights.size() - weight)
        throw row_fault(first + i, "weights", fmt::format("{} weights in all", raw.weights.size()),
                        fmt::format("at least {}, for a pick of {} cells", weight + cells, cells));
      for (std::size_t cell = 0; cell < cells; ++cell, ++weight)
        if (!any_weights && !(raw.weights[weight] >= 0 && std::isfinite(raw.weights[weight])))
          throw row_fault(
              first + i,
              fmt::format("weights of draw {}: cell {}",
                          static_cast<std::size_t>(raw.counts[static_cast<std::size_t>(i)]) - (end - draw) / 4, cell),
              fmt::format("{}", raw.weights[weight]), "a finite number >= 0");
    }
  }
  if (draw != draws.size() || weight != raw.weights.size())
    throw DoorError(
        fmt::format("result: found {} draws and {} weights, wanted the {} and {} of draw_counts and sizes",
                    draws.size() / 4, raw.weights.size(), draw / 4, weight));
  log.append(raw.counts, draws, raw.weights, raw.streams);
}

}  // namespace draftproof::adapters
