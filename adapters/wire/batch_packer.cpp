#include <draftproof/adapters/wire/batch_packer.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include <draftproof/sim/numeric/short_float.hpp>

namespace draftproof::adapters {

namespace {

std::uint64_t extent(int i) { return static_cast<std::uint64_t>(i); }
std::size_t many(int i) { return static_cast<std::size_t>(i); }

/// Returns the number of entries of an array with these extents that belong to one row; for p and q, the number of
/// bytes.
template <class T, class Extents>
std::size_t size_a_row(std::span<T>, Extents extents, Dtype dtype) {
  std::size_t size = std::is_same_v<T, const std::byte> ? width(dtype) : 1;
  for (const auto* const extent : extents) size *= many(*extent);
  return size;
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
  each_array(batch, ask, !batch.parents.empty(), [&](const char* name, auto values, auto extents, bool due) {
    using T = std::remove_const_t<typename decltype(values)::value_type>;
    if (!due) return;
    std::vector<std::uint64_t> shape{extent(batch.rows)};
    for (const int* const each : extents) shape.push_back(extent(*each));
    if constexpr (std::is_same_v<T, std::byte>)
      message.tensors.push_back({name, array_type(batch.dtype), std::move(shape), values});
    else
      message.tensors.push_back(tensor_of(name, std::move(shape), values));
  });
  return message;
}

ReplyLimit reply_limit(const ServedBatch& batch, WireFunction ask) {
  constexpr std::uint64_t words = std::uint64_t{1} << 20, words_a_row = 256, number = 4, draw = 16, weight = 8;
  const std::uint64_t cells = extent(std::max(batch.vocabulary, batch.drafts_a_row + 1));
  std::uint64_t row =
      number * (extent(tokens_a_row(batch, ask)) + 3) + words_a_row + weight * extent(batch.state_size);
  if (batch.randomness == Randomness::scripted) row += extent(batch.places) * (draw + weight * cells);
  const std::uint64_t frame = words + extent(batch.rows) * row;
  // In JSON, a 32-bit number with its comma takes up to 12 characters (4 bytes in a frame), a double 25 (8 bytes), and
  // a draw with two names about 100 (16 bytes), so a byte of a frame takes at most 8 characters.
  constexpr std::uint64_t characters_a_byte = 8;
  return {frame, characters_a_byte * frame};
}

ServedBatch slice(const ServedBatch& batch, int first, int rows) {
  ServedBatch part = batch;
  part.rows = rows;
  each_array(part, WireFunction::verify, true, [&](const char*, auto& values, auto extents, bool) {
    const std::size_t a_row = size_a_row(values, extents, batch.dtype);
    if (!values.empty()) values = values.subspan(many(first) * a_row, many(rows) * a_row);
  });
  return part;
}

void check_shapes(const ServedBatch& batch, WireFunction ask, Level level, const std::string& place) {
  const auto check = [&](std::string_view name, std::size_t found, std::size_t wanted) {
    if (found != wanted)
      throw AdapterError(fmt::format("{}: {}: got {} bytes or entries, expected {}", place, name, found, wanted));
  };
  const bool verify = ask == WireFunction::verify;
  const std::size_t n = many(batch.drafts_a_row);
  each_array(batch, ask, level == Level::tree, [&](const char* name, auto values, auto extents, bool due) {
    check(name, values.size(), due ? many(batch.rows) * size_a_row(values, extents, batch.dtype) : 0);
  });
  const bool single_target = verify && level == Level::position;
  check("rows of p", many(verify ? batch.target_rows : 0), verify ? (single_target ? 1 : n + 1) : 0);
  const bool single_proposal = !verify || (level == Level::position && batch.proposal_rows == 1);
  check("rows of q", many(batch.proposal_rows), single_proposal ? 1 : n);
  for (std::size_t i = 0; i < batch.lengths.size(); ++i)
    if (batch.lengths[i] < 0 || many(batch.lengths[i]) > n)
      throw AdapterError(fmt::format("{}: row {}: lengths: got {}, expected 0 .. {}", place, i, batch.lengths[i], n));
}

namespace {

/// Calls `act` with a zero whose type is the C++ type of `dtype`, and returns its result.
template <class Act>
auto with_type(Dtype dtype, Act act) {
  switch (dtype) {
    case Dtype::float64:
      return act(double{});
    case Dtype::float16:
      return act(Half{});
    case Dtype::bfloat16:
      return act(Bfloat16{});
    default:
      return act(float{});
  }
}

template <class T>
T stored(double value, RowKind kind) {
  return static_cast<T>(kind == RowKind::logits ? std::log(value) : value);
}

/// Stores `rows` one after another, and returns the end of the last one.
std::byte* store_rows(const std::vector<std::vector<double>>& rows, const RowForm& form, std::size_t distribution,
                      std::byte* to) {
  for (const std::vector<double>& row : rows) store_row(row, form, std::exchange(to, to + distribution));
  return to;
}

/// Returns a scripted batch of `rows` inputs of the shape of `input`, with up to `drafts` drafts. Its arrays are empty.
ServedBatch batch_like(const Input& input, int rows, int drafts, int places, const RowForm& form) {
  const bool position = form.level == Level::position;
  return {.rows = rows,
          .vocabulary = input.vocabulary(),
          .drafts_a_row = drafts,
          .target_rows = position ? 1 : drafts + 1,
          .proposal_rows = position && input.q.size() == 1 ? 1 : drafts,
          .places = places,
          .state_size = form.state_size,
          .grammar = form.grammar,
          .settings_size = form.settings ? setting_count : 0,
          .dtype = form.dtype,
          .kind = form.kind,
          .randomness = Randomness::scripted};
}

}  // namespace

void fill_unused(std::span<const std::byte> row, Dtype dtype, std::byte* from, const std::byte* to) {
  for (; from < to; from += row.size())
    std::rotate_copy(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(width(dtype)), row.end(), from);
}

void store_row(std::span<const double> row, const RowForm& form, std::byte* to) {
  with_type(form.dtype, [&](auto zero) {
    for (const double value : row) {
      const auto entry = stored<decltype(zero)>(value, form.kind);
      std::memcpy(to, &entry, sizeof entry);
      to += sizeof entry;
    }
  });
}

std::vector<double> stored_distribution(std::span<const double> row, const RowForm& form) {
  std::vector<double> distribution;
  double mass = 0;
  with_type(form.dtype, [&](auto zero) {
    using Wide = std::conditional_t<sizeof zero == sizeof(double), double, float>;
    for (const double value : row) {
      const double read = static_cast<Wide>(stored<decltype(zero)>(value, form.kind));
      mass += distribution.emplace_back(form.kind == RowKind::logits ? std::exp(read) : read);
    }
  });
  for (double& share : distribution) share /= mass;
  return distribution;
}

RowForm form_of_trials(const Declaration& declaration) {
  const auto usual = [](const auto& declared, auto wanted) {
    return std::find(declared.begin(), declared.end(), wanted) != declared.end() ? wanted : declared.front();
  };
  return {declaration.level,
          usual(declaration.dtypes, Dtype::float32),
          usual(declaration.rows, RowKind::probabilities),
          declaration.state_size,
          declaration.grammar,
          !declaration.settings.empty()};
}

void check_input(const Input& input, std::size_t number, Level level, int state_size) {
  const auto refuse = [number](std::string_view field, std::size_t found, const std::string& wanted) {
    return AdapterError(fmt::format("input {}: {}: got {}, expected {}", number, field, found, wanted));
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
  if (!input.legal.empty() && input.legal.size() != targets)
    throw refuse("rows of legal", input.legal.size(), fmt::format("{}", targets));
  for (const auto& mask : input.legal)
    if (mask.size() != v) throw refuse("entries of a row of legal", mask.size(), fmt::format("{}", v));
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
  batch = batch_like(one, static_cast<int>(chosen.size()), static_cast<int>(n), static_cast<int>(places), form);
  const std::size_t rows = chosen.size(),
                    distribution = static_cast<std::size_t>(batch.vocabulary) * width(form.dtype);
  const std::size_t p_size = static_cast<std::size_t>(batch.target_rows) * distribution,
                    q_size = static_cast<std::size_t>(batch.proposal_rows) * distribution;
  const bool tree = form.level == Level::tree;
  packed.p.resize(rows * p_size);
  packed.q.resize(rows * q_size);
  packed.drafts.assign(rows * n, -1);
  packed.parents.assign(tree ? rows * n : 0, -1);
  packed.legal.assign(form.grammar ? rows * p_size / width(form.dtype) : 0, 1);
  packed.settings.clear();
  packed.lengths.resize(rows);
  packed.tape.assign(rows * places, 0.0);
  packed.state.assign(rows * static_cast<std::size_t>(form.state_size), 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    const Call& call = calls[chosen[row]];
    const Input& input = inputs[call.input];
    std::byte* const p = packed.p.data() + row * p_size;
    std::byte* const q = packed.q.data() + row * q_size;
    if (row > 0 && calls[chosen[row - 1]].input == call.input) {
      std::copy_n(p - p_size, p_size, p);
      std::copy_n(q - q_size, q_size, q);
    } else {
      const std::span<const std::byte> first(p, distribution);
      fill_unused(first, form.dtype, store_rows(input.p, form, distribution, p), p + p_size);
      fill_unused(first, form.dtype, store_rows(input.q, form, distribution, q), q + q_size);
    }
    std::copy(input.drafts.begin(), input.drafts.end(), packed.drafts.begin() + static_cast<std::ptrdiff_t>(row * n));
    if (tree)
      std::copy(input.parents.begin(), input.parents.end(),
                packed.parents.begin() + static_cast<std::ptrdiff_t>(row * n));
    for (std::size_t i = 0; i < input.legal.size() && form.grammar; ++i)
      std::copy(
          input.legal[i].begin(), input.legal[i].end(),
          packed.legal.begin() + static_cast<std::ptrdiff_t>((row * p_size + i * distribution) / width(form.dtype)));
    if (form.settings) {
      const Filter& given = input.settings;
      packed.settings.insert(packed.settings.end(),
                             {given.temperature, static_cast<double>(given.top_k), given.top_p, given.min_p});
    }
    packed.lengths[row] = static_cast<std::int32_t>(input.drafts.size());
    if (!packed.state.empty())
      std::copy(input.state.begin(), input.state.end(),
                packed.state.begin() + static_cast<std::ptrdiff_t>(row) * form.state_size);
    std::copy(call.tape.begin(), call.tape.end(), packed.tape.begin() + static_cast<std::ptrdiff_t>(row * places));
  }
  batch.p = packed.p;
  batch.q = packed.q;
  batch.drafts = packed.drafts;
  batch.lengths = packed.lengths;
  batch.parents = packed.parents;
  batch.legal = packed.legal;
  batch.settings = packed.settings;
  batch.tape = packed.tape;
  batch.state = packed.state;
}

std::size_t bytes_a_row(const Input& input, int drafts_a_row, int places, const RowForm& form) {
  const auto reply = [&](int rows) {
    return reply_limit(batch_like(input, rows, drafts_a_row, places, form), WireFunction::verify).frame_bytes;
  };
  const ServedBatch row = batch_like(input, 1, drafts_a_row, places, form);
  std::size_t size = static_cast<std::size_t>(reply(1) - reply(0));
  each_array(row, WireFunction::verify, true, [&](const char*, auto values, auto extents, bool due) {
    if (due) size += size_a_row(values, extents, row.dtype) * sizeof(typename decltype(values)::value_type);
  });
  return size;
}

}  // namespace draftproof::adapters
