#include <draftproof/adapters/wire/batch_packer.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <draftproof/adapters/wire/shared_rows.hpp>
#include <draftproof/sim/numeric/short_float.hpp>

namespace draftproof::adapters {

namespace {

std::uint64_t extent(int i) { return static_cast<std::uint64_t>(i); }
std::size_t many(int i) { return static_cast<std::size_t>(i); }

template <class T>
void add_list(Message& message, const char* name, std::vector<std::uint64_t> shape, std::span<const T> values) {
  message.tensors.push_back(tensor_of(name, std::move(shape), values));
}

}  // namespace

std::size_t width(Dtype dtype) { return draftproof::width(array_type(dtype)); }

int tokens_a_row(const ServedBatch& batch, WireFunction ask) {
  return batch.drafts_a_row + (ask == WireFunction::verify ? 1 : 0);
}

Message batch_message(const ServedBatch& batch, WireFunction ask) {
  Message message;
  message.fields = {{"type", ask == WireFunction::verify ? "verify" : "draft"},
                    {"vocabulary", batch.vocabulary},
                    {"kind", to_text(batch.kind)},
                    {"randomness", to_text(batch.randomness)}};
  if (ask == WireFunction::draft) message.fields["drafts"] = batch.drafts_a_row;
  const std::uint64_t b = extent(batch.rows), n = extent(batch.drafts_a_row), v = extent(batch.vocabulary);
  const DType dtype = array_type(batch.dtype);
  if (ask == WireFunction::verify)
    message.tensors.push_back({"p", dtype, {b, extent(batch.target_rows), v}, batch.p});
  message.tensors.push_back({"q", dtype, {b, extent(batch.proposal_rows), v}, batch.q});
  if (ask == WireFunction::verify) {
    add_list(message, "drafts", {b, n}, batch.drafts);
    add_list(message, "lengths", {b}, batch.lengths);
    if (!batch.parents.empty()) add_list(message, "parents", {b, n}, batch.parents);
  }
  if (ask == WireFunction::verify && batch.state_size > 0)
    add_list(message, "state", {b, extent(batch.state_size)}, batch.state);
  if (batch.randomness == Randomness::scripted) add_list(message, "tape", {b, extent(batch.places)}, batch.tape);
  if (batch.randomness == Randomness::seeded) add_list(message, "seeds", {b}, batch.seeds);
  return message;
}

ReplyLimit reply_limit(const ServedBatch& batch, WireFunction ask) {
  constexpr std::uint64_t words = std::uint64_t{1} << 20, words_a_row = 256, number = 4, draw = 16, weight = 8;
  const std::uint64_t cells = extent(std::max(batch.vocabulary, batch.drafts_a_row + 1));
  std::uint64_t row =
      number * (extent(tokens_a_row(batch, ask)) + 3) + words_a_row + weight * extent(batch.state_size);
  if (batch.randomness == Randomness::scripted) row += extent(batch.places) * (draw + weight * cells);
  const std::uint64_t frame = words + extent(batch.rows) * row;
  // A number of 32 bits is up to 12 characters with its comma, a double 25, a draw with two names some hundred.
  constexpr std::uint64_t characters_a_byte = 8;
  return {frame, characters_a_byte * frame};
}

ServedBatch slice(const ServedBatch& batch, int first, int rows) {
  ServedBatch part = batch;
  part.rows = rows;
  const auto cut = [&](auto& span, std::size_t a_row) {
    if (!span.empty()) span = span.subspan(many(first) * a_row, many(rows) * a_row);
  };
  const std::size_t law = many(batch.vocabulary) * width(batch.dtype), n = many(batch.drafts_a_row);
  cut(part.p, many(batch.target_rows) * law);
  cut(part.q, many(batch.proposal_rows) * law);
  cut(part.drafts, n);
  cut(part.lengths, 1);
  cut(part.parents, n);
  cut(part.tape, many(batch.places));
  cut(part.seeds, 1);
  cut(part.state, many(batch.state_size));
  return part;
}

void check_shapes(const ServedBatch& batch, WireFunction ask, Level level, const std::string& place) {
  const auto check = [&](std::string_view name, std::size_t found, std::size_t wanted) {
    if (found != wanted)
      throw DoorError(fmt::format("{}: {}: found {} bytes or entries, wanted {}", place, name, found, wanted));
  };
  const bool verify = ask == WireFunction::verify;
  const std::size_t b = many(batch.rows), n = many(batch.drafts_a_row);
  const std::size_t law = many(batch.vocabulary) * width(batch.dtype);
  check("p", batch.p.size(), verify ? b * many(batch.target_rows) * law : 0);
  check("q", batch.q.size(), b * many(batch.proposal_rows) * law);
  check("drafts", batch.drafts.size(), verify ? b * n : 0);
  check("lengths", batch.lengths.size(), verify ? b : 0);
  check("parents", batch.parents.size(), verify && level == Level::tree ? b * n : 0);
  check("tape", batch.tape.size(), batch.randomness == Randomness::scripted ? b * many(batch.places) : 0);
  check("seeds", batch.seeds.size(), batch.randomness == Randomness::seeded ? b : 0);
  check("state", batch.state.size(), verify ? b * many(batch.state_size) : 0);
  const bool single_target = verify && level == Level::position;
  check("rows of p", many(verify ? batch.target_rows : 0), verify ? (single_target ? 1 : n + 1) : 0);
  const bool single_proposal = !verify || (level == Level::position && batch.proposal_rows == 1);
  check("rows of q", many(batch.proposal_rows), single_proposal ? 1 : n);
  for (std::size_t i = 0; i < batch.lengths.size(); ++i)
    if (batch.lengths[i] < 0 || many(batch.lengths[i]) > n)
      throw DoorError(fmt::format("{}: row {}: lengths: found {}, wanted 0 .. {}", place, i, batch.lengths[i], n));
}

namespace {

template <class T>
T stored(double value, RowKind kind) {
  return static_cast<T>(kind == RowKind::logits ? std::log(value) : value);
}

template <class T>
void store_row(std::span<const double> row, RowKind kind, std::byte* to) {
  for (const double value : row) {
    const T entry = stored<T>(value, kind);
    std::memcpy(to, &entry, sizeof entry);
    to += sizeof entry;
  }
}

double read_back(double value, const RowForm& form) {
  switch (form.dtype) {
    case Dtype::float64:
      return stored<double>(value, form.kind);
    case Dtype::float16:
      return static_cast<float>(stored<Half>(value, form.kind));
    case Dtype::bfloat16:
      return static_cast<float>(stored<Bfloat16>(value, form.kind));
    default:
      return stored<float>(value, form.kind);
  }
}

int proposal_rows_of(const Input& input, int drafts_a_row, Level level) {
  return level == Level::position && input.q.size() == 1 ? 1 : drafts_a_row;
}

/// Stores `rows`, and zeros up to `size` bytes.
void store_rows(const std::vector<std::vector<double>>& rows, const RowForm& form, std::size_t law, std::byte* to,
                std::size_t size) {
  for (std::size_t i = 0; i < rows.size(); ++i) store_row(rows[i], form, to + i * law);
  std::fill(to + rows.size() * law, to + size, std::byte{0});
}

/// Memory for p and q of `packed`, with any contents.
std::array<std::byte*, 2> room_for(PackedBatch& packed, std::size_t p_size, std::size_t q_size) {
  ServedBatch& batch = packed.batch;
  if (packed.region != nullptr && p_size + q_size >= least_shared_bytes) {
    const RowPlaces places = row_places(p_size, q_size);
    if (const auto room = packed.region->room(places.size); !room.empty()) {
      batch.p = room.first(p_size);
      batch.q = room.subspan(places.q);
      return {room.data(), room.data() + places.q};
    }
  }
  packed.p.resize(p_size);
  packed.q.resize(q_size);
  batch.p = packed.p;
  batch.q = packed.q;
  return {packed.p.data(), packed.q.data()};
}

}  // namespace

void store_row(std::span<const double> row, const RowForm& form, std::byte* to) {
  switch (form.dtype) {
    case Dtype::float32:
      return store_row<float>(row, form.kind, to);
    case Dtype::float64:
      return store_row<double>(row, form.kind, to);
    case Dtype::float16:
      return store_row<Half>(row, form.kind, to);
    case Dtype::bfloat16:
      return store_row<Bfloat16>(row, form.kind, to);
  }
}

std::vector<double> stored_law(std::span<const double> row, const RowForm& form) {
  std::vector<double> law;
  double mass = 0;
  for (const double value : row) {
    const double read = read_back(value, form);
    mass += law.emplace_back(form.kind == RowKind::logits ? std::exp(read) : read);
  }
  for (double& share : law) share /= mass;
  return law;
}

RowForm form_of_trials(const Declaration& declaration) {
  const auto usual = [](const auto& declared, auto wanted) {
    return std::find(declared.begin(), declared.end(), wanted) != declared.end() ? wanted : declared.front();
  };
  return {declaration.level, usual(declaration.dtypes, Dtype::float32),
          usual(declaration.rows, RowKind::probabilities), declaration.state_size};
}

void check_input(const Input& input, std::size_t number, Level level, int state_size) {
  const auto refuse = [number](std::string_view field, std::size_t found, const std::string& wanted) {
    return DoorError(fmt::format("input {}: {}: found {}, wanted {}", number, field, found, wanted));
  };
  const std::size_t n = input.drafts.size();
  const std::size_t targets = level == Level::position ? 1 : n + 1;
  if (input.p.size() != targets) throw refuse("rows of p", input.p.size(), fmt::format("{}", targets));
  const bool single = level == Level::position && input.q.size() == 1;
  if (!single && input.q.size() != n) throw refuse("rows of q", input.q.size(), fmt::format("{}", n));
  const std::size_t parents = level == Level::tree ? n : 0;
  if (input.parents.size() != parents) throw refuse("parents", input.parents.size(), fmt::format("{}", parents));
  if (!input.state.empty() && input.state.size() != static_cast<std::size_t>(state_size))
    throw refuse("numbers of the state", input.state.size(), fmt::format("{}, as declared", state_size));
  const std::size_t v = input.p.front().size();
  if (v == 0) throw refuse("p: entries", v, "at least 1");
  for (const auto* rows : {&input.p, &input.q})
    for (const auto& row : *rows)
      if (row.size() != v) throw refuse("entries of a row", row.size(), fmt::format("{}", v));
}

void pack_calls(std::span<const Input> inputs, std::span<const Call> calls, std::span<const std::size_t> chosen,
                const RowForm& form, PackedBatch& packed) {
  std::size_t n = 0, places = 0;
  for (const std::size_t i : chosen) {
    n = std::max(n, inputs[calls[i].input].drafts.size());
    places = std::max(places, calls[i].tape.size());
  }
  const Input& one = inputs[calls[chosen[0]].input];
  ServedBatch& batch = packed.batch;
  batch = {.rows = static_cast<int>(chosen.size()),
           .vocabulary = one.vocabulary(),
           .drafts_a_row = static_cast<int>(n),
           .target_rows = form.level == Level::position ? 1 : static_cast<int>(n) + 1,
           .proposal_rows = proposal_rows_of(one, static_cast<int>(n), form.level),
           .places = static_cast<int>(places),
           .state_size = form.state_size,
           .dtype = form.dtype,
           .kind = form.kind,
           .randomness = Randomness::scripted};
  const std::size_t rows = chosen.size(), law = static_cast<std::size_t>(batch.vocabulary) * width(form.dtype);
  const std::size_t p_size = static_cast<std::size_t>(batch.target_rows) * law,
                    q_size = static_cast<std::size_t>(batch.proposal_rows) * law;
  const bool tree = form.level == Level::tree;
  const auto [all_p, all_q] = room_for(packed, rows * p_size, rows * q_size);
  packed.drafts.assign(rows * n, -1);
  packed.parents.assign(tree ? rows * n : 0, -1);
  packed.lengths.resize(rows);
  packed.tape.assign(rows * places, 0.0);
  packed.state.assign(rows * static_cast<std::size_t>(form.state_size), 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    const Call& call = calls[chosen[row]];
    const Input& input = inputs[call.input];
    std::byte* const p = all_p + row * p_size;
    std::byte* const q = all_q + row * q_size;
    if (row > 0 && calls[chosen[row - 1]].input == call.input) {
      std::copy_n(p - p_size, p_size, p);
      std::copy_n(q - q_size, q_size, q);
    } else {
      store_rows(input.p, form, law, p, p_size);
      store_rows(input.q, form, law, q, q_size);
    }
    std::copy(input.drafts.begin(), input.drafts.end(), packed.drafts.begin() + static_cast<std::ptrdiff_t>(row * n));
    if (tree)
      std::copy(input.parents.begin(), input.parents.end(),
                packed.parents.begin() + static_cast<std::ptrdiff_t>(row * n));
    packed.lengths[row] = static_cast<std::int32_t>(input.drafts.size());
    if (!packed.state.empty())
      std::copy(input.state.begin(), input.state.end(),
                packed.state.begin() + static_cast<std::ptrdiff_t>(row) * form.state_size);
    std::copy(call.tape.begin(), call.tape.end(), packed.tape.begin() + static_cast<std::ptrdiff_t>(row * places));
  }
  batch.drafts = packed.drafts;
  batch.lengths = packed.lengths;
  batch.parents = packed.parents;
  batch.tape = packed.tape;
  batch.state = packed.state;
}

std::size_t bytes_a_row(const Input& input, int drafts_a_row, int places, const RowForm& form) {
  const auto many = [](int i) { return static_cast<std::size_t>(i); };
  ServedBatch row{.rows = 1,
                  .vocabulary = input.vocabulary(),
                  .drafts_a_row = drafts_a_row,
                  .target_rows = form.level == Level::position ? 1 : drafts_a_row + 1,
                  .proposal_rows = proposal_rows_of(input, drafts_a_row, form.level),
                  .places = places,
                  .state_size = form.state_size,
                  .randomness = Randomness::scripted};
  ServedBatch none = row;
  none.rows = 0;
  const std::size_t laws = many(row.target_rows + row.proposal_rows) * many(row.vocabulary) * width(form.dtype);
  const std::uint64_t reply =
      reply_limit(row, WireFunction::verify).frame_bytes - reply_limit(none, WireFunction::verify).frame_bytes;
  return laws + sizeof(double) * many(places + form.state_size) + sizeof(std::int32_t) * many(2 * drafts_a_row + 1) +
         static_cast<std::size_t>(reply);
}

}  // namespace draftproof::adapters
