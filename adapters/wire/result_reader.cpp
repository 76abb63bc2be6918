#include <draftproof/adapters/wire/result_reader.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <draftproof/adapters/wire/json_lines.hpp>
#include <draftproof/captures/input_error.hpp>

namespace draftproof::adapters {
namespace {

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
