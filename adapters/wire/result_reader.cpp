#include <draftproof/adapters/wire/result_reader.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/nearest_names.hpp>

namespace draftproof::adapters {
namespace {

/// Returns the error for a field of a row of a result.
AdapterError row_fault(int row, std::string_view field, std::string_view found, std::string_view wanted) {
  return AdapterError(fmt::format("result: row {}: {}: got {}, expected {}", row, field, found, wanted));
}

template <class T>
std::span<const T> flat(const Message& reply, const char* name, std::size_t columns) {
  const Tensor* found = reply.find(name);
  const bool good = found && found->dtype == dtype_of<T> && found->shape.size() == (columns == 1 ? 1 : 2) &&
                    (columns == 1 || found->shape[1] == columns);
  if (!good)
    throw AdapterError(fmt::format("result: {}: got {}, expected {} of shape {}", name, array_text(found),
                                   to_string(dtype_of<T>), columns == 1 ? "[n]" : fmt::format("[n, {}]", columns)));
  return found->as<T>();
}

int whole_number(const nlohmann::json& entry, int row, std::string_view field) {
  const auto number = entry.is_number_integer() ? entry.get<std::int64_t>() : 0;
  const auto small = static_cast<std::int32_t>(number);
  // A number that exceeds 63 bits would be read as a negative number.
  if (!entry.is_number_integer() || small != number || (entry.is_number_unsigned() && small < 0))
    throw row_fault(row, field, shown_json(entry), "a whole number of 32 bits");
  return small;
}

/// Returns the draw in an element of JSON Lines. Throws: AdapterError.
Draw listed_draw(const nlohmann::json& listed, int row) {
  constexpr std::array<std::string_view, 4> kinds{"coin", "pick", "clock", "integer"};
  constexpr std::string_view wanted = "[kind, size, bits, stream] and, for a pick, its weights";
  if (!listed.is_array() || listed.size() < 3 || listed.size() > 5 || !listed[0].is_string())
    throw row_fault(row, "draws", shown_json(listed), wanted);
  const auto kind = std::find(kinds.begin(), kinds.end(), listed[0].get_ref<const std::string&>());
  if (kind == kinds.end()) throw row_fault(row, "draws: kind", shown_json(listed[0]), "coin, pick, clock or integer");
  Draw draw{.kind = static_cast<DrawKind>(kind - kinds.begin() + 1),
            .size = whole_number(listed[1], row, "draws: size"),
            .bits = whole_number(listed[2], row, "draws: bits")};
  if (listed.size() > 3 && !listed[3].is_null()) {
    if (!listed[3].is_string()) throw row_fault(row, "draws: stream", shown_json(listed[3]), "a text");
    draw.stream = one_line(listed[3].get_ref<const std::string&>());
  }
  if (draw.kind != DrawKind::pick) return draw;
  if (listed.size() != 5 || !listed[4].is_array() ||
      listed[4].size() != static_cast<std::size_t>(std::max(draw.size, 0)))
    throw row_fault(row, "draws: weights", listed.size() == 5 ? shown_json(listed[4]) : "nothing",
                    fmt::format("a list of {}", draw.size));
  for (const nlohmann::json& weight : listed[4]) {
    if (!weight.is_number() && !weight.is_null())
      throw row_fault(row, "draws: weights", shown_json(weight), "numbers");
    draw.weights.push_back(weight.is_null() ? std::nan("") : weight.get<double>());
  }
  return draw;
}

/// Checks draw `number` of a row, and sets the number of bits of a uniform to the declared number if the draw does not
/// state it. Requires weights that are finite and >= 0 unless `status` is no_mass.
void check_draw(Draw& draw, std::size_t number, int row, int coin_bits, std::int32_t status) {
  const auto in_range = [&](int found, int least, int most, std::string_view field) {
    if (found < least || found > most)
      throw row_fault(row, field, fmt::format("{}", found), fmt::format("{} .. {}", least, most));
  };
  constexpr int most = std::numeric_limits<std::int32_t>::max(), most_bits = 53;
  in_range(static_cast<int>(draw.kind), 1, 4, "draws: kind");
  if (draw.kind == DrawKind::coin) {
    if (draw.bits == 0) draw.bits = coin_bits;
    in_range(draw.bits, 1, most_bits, "draws: bits of a coin");
  }
  if (draw.kind == DrawKind::pick) in_range(draw.size, 1, most, "draws: size of a pick");
  if (draw.kind == DrawKind::clock) in_range(draw.size, 0, most, "draws: size of a clock's race");
  if (draw.kind == DrawKind::integer) in_range(draw.size, 1, most, "draws: size of an integer");
  if (status == static_cast<std::int32_t>(RowStatus::no_mass)) return;
  for (std::size_t cell = 0; cell < draw.weights.size(); ++cell)
    if (!(draw.weights[cell] >= 0 && std::isfinite(draw.weights[cell])))
      throw row_fault(row, fmt::format("weights of draw {}: cell {}", number, cell),
                      fmt::format("{}", draw.weights[cell]), "a finite number >= 0");
}

/// Reads the draws of rows from the arrays of a frame, one after another.
class DrawReader {
 public:
  explicit DrawReader(const Message& reply) {
    if (!reply.find("draws"))
      throw AdapterError(
          "result: draws: got nothing, expected the list of draws of a scripted batch, even if it is empty");
    counts_ = flat<std::int32_t>(reply, "draw_counts", 1);
    draws_ = flat<std::int32_t>(reply, "draws", 4);
    weights_ = flat<double>(reply, "weights", 1);
    const nlohmann::json* const streams = reply.field("streams");
    if (!streams) return;
    const bool texts = streams->is_array() &&
                       std::all_of(streams->begin(), streams->end(), [](const auto& e) { return e.is_string(); });
    if (!texts) throw AdapterError("result: streams: got " + shown_json(*streams) + ", expected a list of names");
    for (const nlohmann::json& name : *streams) streams_.push_back(one_line(name.get_ref<const std::string&>()));
  }
  std::size_t rows() const { return counts_.size(); }
  std::int32_t count(std::size_t row) const { return counts_[row]; }

  /// Returns the next draw, which belongs to `row`.
  Draw next(int row) {
    if (draw_ == draws_.size())
      throw row_fault(row, "draws", fmt::format("{} draws in all", draw_ / 4), "the sum of draw_counts");
    const auto four = draws_.subspan(draw_, 4);
    draw_ += 4;
    Draw draw{.kind = static_cast<DrawKind>(four[0]), .size = four[1], .bits = four[2]};
    if (four[3] < -1 || four[3] >= std::ssize(streams_))
      throw row_fault(row, "draws: stream", fmt::format("{}", four[3]),
                      fmt::format("-1 .. {}", std::ssize(streams_) - 1));
    if (four[3] >= 0) draw.stream = streams_[static_cast<std::size_t>(four[3])];
    const std::size_t cells = draw.kind == DrawKind::pick ? static_cast<std::size_t>(std::max(draw.size, 0)) : 0;
    if (cells > weights_.size() - weight_)
      throw row_fault(row, "weights", fmt::format("{} weights in all", weights_.size()),
                      fmt::format("at least {}, for a pick of {} cells", weight_ + cells, cells));
    const auto weights = weights_.subspan(weight_, cells);
    draw.weights.assign(weights.begin(), weights.end());
    weight_ += cells;
    return draw;
  }
  void expect_end() const {
    if (draw_ != draws_.size() || weight_ != weights_.size())
      throw AdapterError(
          fmt::format("result: got {} draws and {} weights, expected the {} and {} of draw_counts and sizes",
                      draws_.size() / 4, weights_.size(), draw_ / 4, weight_));
  }

 private:
  std::span<const std::int32_t> counts_, draws_;
  std::span<const double> weights_;
  std::vector<std::string> streams_;
  std::size_t draw_ = 0, weight_ = 0;
};

/// Reads the draws of `batch`, from arrays or from the lists of JSON Lines, into the rows of `result` from `first`
/// on, and checks them against the tape. Throws: AdapterError with row, draw, field, found and expected value.
void read_draws(const Message& reply, const ServedBatch& batch, int coin_bits, int first, ServedResult& result) {
  const nlohmann::json* const lists = reply.field("draws");
  const auto rows = static_cast<std::size_t>(batch.rows);
  if (lists && (!lists->is_array() || lists->size() != rows))
    throw AdapterError(
        fmt::format("result: draws: got {}, expected a list for each of {} rows", shown_json(*lists), batch.rows));
  std::optional<DrawReader> arrays;
  if (!lists && arrays.emplace(reply).rows() != rows)
    throw AdapterError(fmt::format("result: draw_counts: got {} rows, expected {}", arrays->rows(), batch.rows));
  for (std::size_t i = 0; i < rows; ++i) {
    const int row = first + static_cast<int>(i);
    if (lists && !(*lists)[i].is_array()) throw row_fault(row, "draws", shown_json((*lists)[i]), "a list of draws");
    const std::int64_t count = lists ? std::ssize((*lists)[i]) : arrays->count(i);
    if (count < 0 || count > batch.places)
      throw row_fault(row, "draw_counts", fmt::format("{}", count),
                      fmt::format("0 .. {}, the places of the tape", batch.places));
    auto& draws = result.draws[static_cast<std::size_t>(row)];
    for (std::size_t at = 0; at < static_cast<std::size_t>(count); ++at) {
      draws.push_back(lists ? listed_draw((*lists)[i][at], row) : arrays->next(row));
      check_draw(draws.back(), at, row, coin_bits, result.status[static_cast<std::size_t>(row)]);
    }
  }
  if (arrays) arrays->expect_end();
}

/// Returns the array `name`. Throws: AdapterError if it is absent or does not have the expected shape.
template <class T>
std::span<const T> table(const Message& reply, const char* name, std::initializer_list<int> extents) {
  const Tensor* const found = reply.find(name);
  const std::vector<std::uint64_t> wanted(extents.begin(), extents.end());
  if (!found || found->dtype != dtype_of<T> || found->shape != wanted)
    throw AdapterError(fmt::format("result: {}: got {}, expected {} {}", name, array_text(found),
                                   to_string(dtype_of<T>), shape_text(wanted)));
  return found->as<T>();
}

/// Reads the texts of field `name`, each with the row that it belongs to.
void read_texts(const Message& reply, std::string_view name, int rows, int first, std::map<int, std::string>& texts) {
  const nlohmann::json* const found = reply.field(name);
  if (!found) return;
  if (!found->is_object()) throw AdapterError(fmt::format("result: {}: got no object, expected texts by row", name));
  constexpr std::size_t longest = 4096;
  for (const auto& [key, text] : found->items()) {
    int row = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), row);
    if (error != std::errc{} || end != key.data() + key.size() || row < 0 || row >= rows || !text.is_string())
      throw AdapterError(fmt::format("result: {}: got the key {}, expected a row 0 .. {} and a text", name,
                                     in_quotes(key), rows - 1));
    texts[first + row] = text.get<std::string>().substr(0, longest);
  }
}

/// Reads the states of rows whose status is ok.
void read_state(const Message& reply, int rows, int first, ServedResult& result) {
  const auto numbers = table<double>(reply, "state", {rows, result.state_size});
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

void check_row(std::span<const std::int32_t> tokens, std::int32_t count, int number, int least, int most,
               int vocabulary) {
  if (count < least || count > most)
    throw row_fault(number, "counts", fmt::format("{}", count), fmt::format("{} .. {}", least, most));
  for (std::int32_t i = 0; i < std::ssize(tokens); ++i) {
    const std::int32_t token = tokens[static_cast<std::size_t>(i)];
    if (i < count ? static_cast<std::uint32_t>(token) >= static_cast<std::uint32_t>(vocabulary) : token != -1)
      throw row_fault(
          number, fmt::format("tokens: entry {}", i), fmt::format("{}", token),
          i < count ? fmt::format("0 .. {}", vocabulary - 1) : fmt::format("-1, because counts is {}", count));
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
  result.draws.assign(batch.randomness == Randomness::scripted ? rows : 0, {});
}

void check_reply_type(const Message& reply) {
  const nlohmann::json* const type = reply.field("type");
  const std::string found = type && type->is_string() ? type->get<std::string>() : "";
  if (found == "error") {
    const nlohmann::json *const message = reply.field("message"), *const stopped = reply.field("stopped");
    const std::string why = message && message->is_string() ? message->get<std::string>() : "no message";
    if (stopped && *stopped == true) throw ProgramSilent(one_line(why));
    throw BatchRefused(why);
  }
  if (found != "result") throw AdapterError("reply: type: got " + in_quotes(found) + ", expected result or error");
}

void read_result(const Message& reply, Form form, const ServedBatch& batch, WireFunction ask, int coin_bits,
                 int first, ServedResult& result) {
  check_reply_type(reply);
  const Tensor* const tokens = reply.find("tokens");
  if (!tokens || !reply.find("counts")) {
    const char* const name = tokens ? "counts" : "tokens";
    const nlohmann::json* const read = reply.field(name);
    throw AdapterError(
        fmt::format("result: {}: got {}, expected an array", name, read ? shown_json(*read) : "nothing"));
  }
  const int width = result.tokens_a_row;
  const bool narrow =
      form == Form::lines && tokens->shape.size() == 2 && tokens->shape[1] < static_cast<std::uint64_t>(width);
  const int have = narrow ? static_cast<int>(tokens->shape[1]) : width;
  const auto all = table<std::int32_t>(reply, "tokens", {batch.rows, have});
  const auto counts = table<std::int32_t>(reply, "counts", {batch.rows});
  const bool any_status = reply.find("status") != nullptr;
  const auto states =
      any_status ? table<std::int32_t>(reply, "status", {batch.rows}) : std::span<const std::int32_t>{};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const int row = first + static_cast<int>(i);
    const std::int32_t state = any_status ? states[i] : 0;
    if (state < 0 || state >= static_cast<std::int32_t>(RowStatus::crashed))
      throw row_fault(row, "status", fmt::format("{}", state), "0 .. 5");
    result.status[static_cast<std::size_t>(row)] = state;
    if (state != 0) continue;
    const auto given = all.subspan(i * static_cast<std::size_t>(have), static_cast<std::size_t>(have));
    std::copy(given.begin(), given.end(), result.tokens_of(row).begin());
    const bool verifies = ask == WireFunction::verify;
    const int most = verifies && !batch.lengths.empty() ? batch.lengths[i] + width - batch.drafts_a_row : width;
    check_row(result.tokens_of(row), counts[i], row, verifies ? 1 : 0, most, batch.vocabulary);
    result.counts[static_cast<std::size_t>(row)] = counts[i];
  }
  if (result.state_size > 0) read_state(reply, batch.rows, first, result);
  read_texts(reply, "messages", batch.rows, first, result.messages);
  read_texts(reply, "overwrote", batch.rows, first, result.overwrote);
  if (batch.randomness == Randomness::scripted) read_draws(reply, batch, coin_bits, first, result);
}

}  // namespace draftproof::adapters
