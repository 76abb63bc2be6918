#include <draftproof/adapters/wire/result_reader.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>

namespace draftproof::adapters {
namespace {

/// What is wrong with a row of a result.
DoorError row_fault(int row, std::string_view field, std::string_view found, std::string_view wanted) {
  return DoorError(fmt::format("result: row {}: {}: found {}, wanted {}", row, field, found, wanted));
}

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

/// Appends the draws of `batch`, from tensors or from the lists of JSON Lines, to `log`: they are checked against the
/// tape, and weights are finite and >= 0 where `status` is not no_mass. `first` is the number of the first row in
/// messages. Throws: DoorError with row, draw, field, what was found and what was wanted.
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

/// The tensor `name` of int32, of `rows` by `columns`, or of `rows` if columns is negative.
std::span<const std::int32_t> table(const Tensor& tensor, int rows, int columns) {
  std::vector<std::uint64_t> wanted{static_cast<std::uint64_t>(rows)};
  if (columns >= 0) wanted.push_back(static_cast<std::uint64_t>(columns));
  if (tensor.dtype != DType::I32 || tensor.shape != wanted)
    throw DoorError(
        fmt::format("result: {}: found {}, wanted i32 {}", tensor.name, array_text(&tensor), shape_text(wanted)));
  return tensor.as<std::int32_t>();
}

/// Rows of fewer columns than `columns`, as JSON Lines may have them, filled up with -1.
std::vector<std::int32_t> widened(const Tensor& tensor, int rows, int columns) {
  const auto have = static_cast<std::size_t>(tensor.shape[1]), want = static_cast<std::size_t>(columns);
  const auto values = table(tensor, rows, static_cast<int>(have));
  std::vector<std::int32_t> result(static_cast<std::size_t>(rows) * want, -1);
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * have), have,
                result.begin() + static_cast<std::ptrdiff_t>(row * want));
  return result;
}

/// Texts by row, of the field `name`.
void read_texts(const Message& reply, std::string_view name, int rows, int first, std::map<int, std::string>& texts) {
  const auto found = reply.fields.find(name);
  if (found == reply.fields.end()) return;
  if (!found->is_object()) throw DoorError(fmt::format("result: {}: found no object, wanted texts by row", name));
  constexpr std::size_t longest = 4096;
  for (const auto& [key, text] : found->items()) {
    int row = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), row);
    if (error != std::errc{} || end != key.data() + key.size() || row < 0 || row >= rows || !text.is_string())
      throw DoorError(fmt::format("result: {}: found the key {}, wanted a row 0 .. {} and a text", name,
                                  in_quotes(key), rows - 1));
    texts[first + row] = text.get<std::string>().substr(0, longest);
  }
}

/// The states of rows whose status is ok.
void read_state(const Message& reply, int rows, int first, ServedResult& result) {
  const Tensor* state = reply.find("state");
  const std::vector<std::uint64_t> wanted{static_cast<std::uint64_t>(rows),
                                          static_cast<std::uint64_t>(result.state_size)};
  if (!state || state->dtype != DType::F64 || state->shape != wanted)
    throw DoorError(fmt::format("result: state: found {}, wanted f64 {}", array_text(state), shape_text(wanted)));
  const auto numbers = state->as<double>();
  const auto size = static_cast<std::size_t>(result.state_size);
  for (int row = 0; row < rows; ++row) {
    if (result.status[static_cast<std::size_t>(first + row)] != 0) continue;
    const auto from = numbers.subspan(static_cast<std::size_t>(row) * size, size);
    for (std::size_t i = 0; i < size; ++i)
      if (!std::isfinite(from[i]))
        throw row_fault(first + row, fmt::format("state: entry {}", i), fmt::format("{}", from[i]),
                        "a finite number");
    std::copy(from.begin(), from.end(), result.state_of(first + row).begin());
  }
}

struct RowTokens {
  std::span<const std::int32_t> tokens;
  std::int32_t count;
};

void check_row(const RowTokens& row, int number, int least, int vocabulary) {
  const auto most = static_cast<std::int32_t>(row.tokens.size());
  if (row.count < least || row.count > most)
    throw row_fault(number, "counts", fmt::format("{}", row.count), fmt::format("{} .. {}", least, most));
  for (std::int32_t i = 0; i < most; ++i) {
    const std::int32_t token = row.tokens[static_cast<std::size_t>(i)];
    if (i < row.count ? static_cast<std::uint32_t>(token) >= static_cast<std::uint32_t>(vocabulary) : token != -1)
      throw row_fault(number, fmt::format("tokens: entry {}", i), fmt::format("{}", token),
                      i < row.count ? fmt::format("0 .. {}", vocabulary - 1)
                                    : fmt::format("-1 after the {} that counts has", row.count));
  }
}

}  // namespace

void size_result(const ServedBatch& batch, WireFunction ask, ServedResult& result) {
  const auto rows = static_cast<std::size_t>(batch.rows);
  result.tokens_a_row = tokens_a_row(batch, ask);
  result.tokens.assign(rows * static_cast<std::size_t>(result.tokens_a_row), -1);
  result.counts.assign(rows, 0);
  result.status.assign(rows, 0);
  result.state_size = ask == WireFunction::verify ? batch.state_size : 0;
  result.state.assign(rows * static_cast<std::size_t>(result.state_size), 0.0);
  result.messages.clear();
  result.overwrote.clear();
  result.log.clear();
}

void check_reply_type(const Message& reply) {
  const auto type = reply.fields.find("type");
  const std::string found = type != reply.fields.end() && type->is_string() ? type->get<std::string>() : "";
  if (found == "error") {
    const auto message = reply.fields.find("message"), stopped = reply.fields.find("stopped");
    const bool text = message != reply.fields.end() && message->is_string();
    const std::string why = text ? message->get<std::string>() : "no message";
    if (stopped != reply.fields.end() && *stopped == true) throw ProgramSilent(why);
    throw BatchRefused(why);
  }
  if (found != "result") throw DoorError("reply: type: found " + in_quotes(found) + ", wanted result or error");
}

void read_result(const Message& reply, Form form, const ServedBatch& batch, WireFunction ask, int coin_bits,
                 int first, ServedResult& result) {
  check_reply_type(reply);
  const Tensor* tokens = reply.find("tokens");
  const Tensor* counts = reply.find("counts");
  const Tensor* status = reply.find("status");
  if (!tokens || !counts)
    throw DoorError(fmt::format("result: {}: found nothing, wanted an array", tokens ? "counts" : "tokens"));
  const int width = result.tokens_a_row;
  const bool narrow =
      form == Form::lines && tokens->shape.size() == 2 && tokens->shape[1] < static_cast<std::uint64_t>(width);
  const std::vector<std::int32_t> wide = narrow ? widened(*tokens, batch.rows, width) : std::vector<std::int32_t>{};
  const auto all = narrow ? std::span<const std::int32_t>(wide) : table(*tokens, batch.rows, width);
  const auto numbers = table(*counts, batch.rows, -1);
  const auto states = status ? table(*status, batch.rows, -1) : std::span<const std::int32_t>{};
  const auto at = [first](int row) { return static_cast<std::size_t>(first + row); };
  for (int row = 0; row < batch.rows; ++row) {
    const auto i = static_cast<std::size_t>(row), w = static_cast<std::size_t>(width);
    const std::int32_t state = states.empty() ? 0 : states[i];
    if (state < 0 || state >= static_cast<std::int32_t>(RowStatus::crashed))
      throw row_fault(first + row, "status", fmt::format("{}", state), "0 .. 5");
    result.status[at(row)] = state;
    if (state != 0) continue;
    check_row({all.subspan(i * w, w), numbers[i]}, first + row, ask == WireFunction::verify ? 1 : 0,
              batch.vocabulary);
    result.counts[at(row)] = numbers[i];
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(i * w), w,
                result.tokens.begin() + static_cast<std::ptrdiff_t>(at(row) * w));
  }
  if (result.state_size > 0) read_state(reply, batch.rows, first, result);
  read_texts(reply, "messages", batch.rows, first, result.messages);
  read_texts(reply, "overwrote", batch.rows, first, result.overwrote);
  if (batch.randomness == Randomness::scripted)
    read_log(reply, batch, coin_bits, first, std::span(result.status).subspan(at(0)), result.log);
}

}  // namespace draftproof::adapters
