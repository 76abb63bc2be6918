#include <draftproof/captures/trace.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/captures/row.hpp>
#include <draftproof/captures/safetensors.hpp>
#include <draftproof/sim/distributions/softmax.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {
namespace {

/// The arrays of a trace file by name, each checked for its type and shape.
class TraceArrays {
 public:
  TraceArrays(std::span<const std::byte> bytes, const std::string& file)
      : file_{file}, view_{view_safetensors(bytes, file, most_array_bytes, "a header inside the file")} {}

  const nlohmann::json& metadata() const { return view_.header.metadata; }
  bool has(std::string_view name) const { return find(name) != nullptr; }

  const SafetensorsEntry& need(std::string_view name) const {
    if (const SafetensorsEntry* entry = find(name)) return *entry;
    throw refuse(name, "no such array", "one");
  }

  /// Returns a pointer to the first byte of an array. Throws unless the array has one of `types` and this number of
  /// dimensions.
  const std::byte* data(std::string_view name, std::vector<DType> types, std::size_t dimensions) const {
    const SafetensorsEntry& entry = need(name);
    std::string wanted;
    for (const DType type : types) wanted += (wanted.empty() ? "" : " or ") + std::string(safetensors_type(type));
    if (!entry.dtype || std::find(types.begin(), types.end(), *entry.dtype) == types.end())
      throw refuse(name, "elements of type " + in_quotes(entry.type), wanted);
    if (entry.shape.size() != dimensions)
      throw refuse(name, "shape " + shape_text(entry.shape), fmt::format("{} dimensions", dimensions));
    const std::byte* first = view_.data.data() + entry.begin;
    if (reinterpret_cast<std::uintptr_t>(first) % width(*entry.dtype) != 0)
      throw refuse(name, fmt::format("data at offset {}", entry.begin), "a multiple of the size of an element");
    return first;
  }

  template <class T>
  std::vector<T> integers(std::string_view name) const {
    const std::byte* first = data(name, {sizeof(T) == 4 ? DType::I32 : DType::I64}, 1);
    std::vector<T> values(static_cast<std::size_t>(need(name).shape[0]));
    if (!values.empty()) std::memcpy(values.data(), first, values.size() * sizeof(T));
    return values;
  }

  InputError refuse(std::string_view name, std::string found, std::string wanted) const {
    return array_error(file_, name, std::move(found), std::move(wanted));
  }

 private:
  const SafetensorsEntry* find(std::string_view name) const {
    for (const SafetensorsEntry& entry : view_.header.entries)
      if (entry.name == name) return &entry;
    return nullptr;
  }

  const std::string& file_;
  SafetensorsView view_;
};

std::string text_of(const nlohmann::json& metadata, const char* key, const char* otherwise = "") {
  const auto found = metadata.find(key);
  return found == metadata.end() ? otherwise : found->get<std::string>();
}

/// Throws unless `starts` begins with 0, never decreases and ends with `count`.
void check_starts(const std::string& file, const char* name, const std::vector<std::int64_t>& starts,
                  std::size_t blocks, std::size_t count) {
  const auto refuse = [&](std::string found, std::string wanted) {
    return array_error(file, name, std::move(found), std::move(wanted));
  };
  if (starts.size() != blocks + 1)
    throw refuse(fmt::format("{} entries", starts.size()), fmt::format("{}, one more than blocks", blocks + 1));
  if (starts.front() != 0) throw refuse(fmt::format("{} at 0", starts.front()), "0");
  for (std::size_t b = 0; b < blocks; ++b)
    if (starts[b + 1] < starts[b])
      throw refuse(fmt::format("{} at {} after {}", starts[b + 1], b + 1, starts[b]), "numbers that never decrease");
  if (static_cast<std::size_t>(starts.back()) != count)
    throw refuse(fmt::format("{} at the end", starts.back()), fmt::format("{}, the number of entries", count));
}

template <class T>
T element(const std::byte* first, std::size_t i) {
  T value;
  std::memcpy(&value, first + i * sizeof(T), sizeof(T));
  return value;
}

std::string trace_number(double number) { return std::isnan(number) ? "NaN" : fmt::format("{:.9g}", number); }

}  // namespace

Trace Trace::open(const std::filesystem::path& path) {
  const auto mapped = std::make_shared<const MappedFile>(path);
  Trace trace(mapped->bytes(), path.string());
  trace.mapped_ = mapped;
  return trace;
}

Trace Trace::of_bytes(std::vector<std::byte> bytes, std::string name) {
  const auto held = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  Trace trace(*held, std::move(name));
  trace.held_ = held;
  return trace;
}

Trace::Trace(std::span<const std::byte> bytes, std::string name) : file_{std::move(name)} {
  const TraceArrays arrays(bytes, file_);
  metadata_ = arrays.metadata();
  const std::string stated = text_of(metadata_, "schema"), number = text_of(metadata_, "vocabulary");
  if (stated != schema) throw arrays.refuse("", "metadata \"schema\": " + in_quotes(stated), in_quotes(schema));
  constexpr std::size_t most_tokens = std::size_t{1} << 31;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), vocabulary_);
  if (error != std::errc{} || end != number.data() + number.size() || vocabulary_ < 1 || vocabulary_ > most_tokens)
    throw arrays.refuse("", "metadata \"vocabulary\": " + in_quotes(number), "a number of tokens");
  truncated_ = arrays.has("p_top");
  const std::string form = truncated_ ? "_top" : "_rows";
  const std::string values = text_of(metadata_, "values");
  values_ = values_named(values).value_or(values_);
  if (values != to_string(values_) || truncated_ != (values_ == Values::Probability))
    throw arrays.refuse("", "metadata \"values\": " + in_quotes(values),
                        truncated_ ? "\"probability\"" : "\"log_probability\" or \"logit\"");
  const std::string before_0_3 = text_of(metadata_, "draft_law", "unknown");  // the key in traces of version 0.2
  draft_sampling_ = one_line(text_of(metadata_, "draft_sampling", before_0_3.c_str()));

  emitted_ = arrays.integers<std::int32_t>("emitted");
  emitted_q_ = arrays.integers<std::int64_t>("emitted_q");
  drafts_ = arrays.integers<std::int32_t>("drafts");
  draft_parent_ = arrays.integers<std::int32_t>("draft_parent");
  draft_q_ = arrays.integers<std::int64_t>("draft_q");
  accepted_ = arrays.integers<std::int32_t>("accepted");
  request_ = arrays.integers<std::int64_t>("request");
  block_start_ = arrays.integers<std::int64_t>("block_start");
  draft_start_ = arrays.integers<std::int64_t>("draft_start");
  q_start_ = arrays.integers<std::int64_t>("q_start");

  for (const RowsOf whose : {RowsOf::target, RowsOf::proposal}) {
    Rows& rows = rows_[whose == RowsOf::target ? 0 : 1];
    const std::string letter = whose == RowsOf::target ? "p" : "q";
    rows.name = letter + form;
    rows.values =
        arrays.data(rows.name, truncated_ ? std::vector{DType::F32} : std::vector{DType::F32, DType::F16}, 2);
    const SafetensorsEntry& entry = arrays.need(rows.name);
    rows.count = static_cast<std::size_t>(entry.shape[0]);
    const auto columns = static_cast<std::size_t>(entry.shape[1]);
    if (whose == RowsOf::target) {
      columns_ = columns;
      dtype_ = *entry.dtype;
      if (truncated_ ? columns < 1 || columns > vocabulary_ : columns != vocabulary_)
        throw arrays.refuse(rows.name, fmt::format("{} columns", columns),
                            fmt::format("{}{}", truncated_ ? "1 to " : "", vocabulary_));
    } else if (columns != columns_ || *entry.dtype != dtype_) {
      throw arrays.refuse(rows.name, fmt::format("{} columns of {}", columns, entry.type),
                          fmt::format("the {} of {} of the target", columns_, safetensors_type(dtype_)));
    }
    if (!truncated_) continue;
    rows.ids = arrays.data(letter + "_top_ids", {DType::I32}, 2);
    rows.rest = arrays.data(letter + "_rest", {DType::F32}, 1);
    if (arrays.need(letter + "_top_ids").shape != entry.shape)
      throw arrays.refuse(letter + "_top_ids", "shape " + shape_text(arrays.need(letter + "_top_ids").shape),
                          shape_text(entry.shape));
    if (arrays.need(letter + "_rest").shape[0] != entry.shape[0])
      throw arrays.refuse(letter + "_rest", "shape " + shape_text(arrays.need(letter + "_rest").shape),
                          fmt::format("[{}]", rows.count));
  }
  check_indices();
  if (truncated_) check_ids();
}

std::size_t Trace::row_bytes() const {
  return (rows_[0].count + rows_[1].count) * columns_ * (width(dtype_) + (truncated_ ? sizeof(std::int32_t) : 0));
}

void Trace::check_indices() const {
  const auto check_count = [&](const char* name, std::size_t found, std::size_t wanted, const char* of) {
    if (found != wanted)
      throw array_error(file_, name, fmt::format("{} entries", found), fmt::format("{}, as in {}", wanted, of));
  };
  check_count(rows_[0].name.c_str(), rows_[0].count, records(), "emitted");
  check_count("emitted_q", emitted_q_.size(), records(), "emitted");
  check_count("draft_parent", draft_parent_.size(), drafts(), "drafts");
  check_count("draft_q", draft_q_.size(), drafts(), "drafts");
  check_count("request", request_.size(), blocks(), "accepted");
  check_starts(file_, "block_start", block_start_, blocks(), records());
  check_starts(file_, "draft_start", draft_start_, blocks(), drafts());
  check_starts(file_, "q_start", q_start_, blocks(), proposal_rows());
  const auto check_range = [&](const char* name, std::size_t row, std::int64_t value, std::int64_t low,
                               std::int64_t high) {
    if (value < low || value >= high)
      throw array_error(file_, name, std::to_string(value), fmt::format("a number from {} to {}", low, high - 1),
                        row);
  };
  const auto tokens = static_cast<std::int64_t>(vocabulary_);
  std::vector<bool> named(proposal_rows());
  for (std::size_t b = 0; b < blocks(); ++b) {
    const auto first_q = q_start_[b], end_q = q_start_[b + 1];
    for (std::size_t r = block_start(b); r < block_start(b + 1); ++r) {
      check_range("emitted", r, emitted_[r], 0, tokens);
      if (emitted_q_[r] == -1) continue;
      check_range("emitted_q", r, emitted_q_[r], first_q, end_q);
      if (named[static_cast<std::size_t>(emitted_q_[r])])
        throw array_error(file_, "emitted_q", fmt::format("row {} a second time", emitted_q_[r]),
                          "each row at most once", r);
      named[static_cast<std::size_t>(emitted_q_[r])] = true;
    }
    for (std::size_t d = draft_start(b); d < draft_start(b + 1); ++d) {
      check_range("drafts", d, drafts_[d], 0, tokens);
      check_range("draft_q", d, draft_q_[d], first_q, end_q);
      check_range("draft_parent", d, draft_parent_[d], -1, static_cast<std::int64_t>(d - draft_start(b)));
    }
  }
}

void Trace::check_ids() const {
  for (const RowsOf whose : {RowsOf::target, RowsOf::proposal}) {
    const Rows& of = rows(whose);
    for (std::size_t row = 0; row < of.count; ++row) {
      std::int32_t before = -1;
      for (std::size_t i = 0; i < columns_; ++i) {
        const auto id = element<std::int32_t>(of.ids, row * columns_ + i);
        if (id <= before || static_cast<std::size_t>(id) >= vocabulary_)
          throw array_error(file_, whose == RowsOf::target ? "p_top_ids" : "q_top_ids", std::to_string(id),
                            fmt::format("ascending tokens below {}", vocabulary_), row, i);
        before = id;
      }
    }
  }
  for (std::size_t r = 0; r < records(); ++r) {
    if (emitted_q_[r] < 0) continue;
    const std::size_t bytes = columns_ * sizeof(std::int32_t);
    if (std::memcmp(rows_[0].ids + r * bytes, rows_[1].ids + static_cast<std::size_t>(emitted_q_[r]) * bytes, bytes))
      throw array_error(file_, "q_top_ids", "ids that differ from those of the target row of its record",
                        fmt::format("the ids of p_top_ids, row {}", r), static_cast<std::size_t>(emitted_q_[r]));
  }
}

std::size_t Trace::symbol(RowsOf whose, std::size_t row, std::int32_t token) const {
  if (!truncated_) return static_cast<std::size_t>(token);
  const std::byte* ids = rows(whose).ids + row * columns_ * sizeof(std::int32_t);
  std::size_t low = 0, high = columns_;  // ascending ids
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (element<std::int32_t>(ids, middle) < token)
      low = middle + 1;
    else
      high = middle;
  }
  return low < columns_ && element<std::int32_t>(ids, low) == token ? low : columns_;
}

bool Trace::is_zero(RowsOf whose, std::size_t row, std::size_t symbol) const {
  const Rows& of = rows(whose);
  if (symbol == columns_) return element<float>(of.rest, row) == 0;
  if (values_ == Values::Probability) return element<float>(of.values, row * columns_ + symbol) == 0;
  constexpr float none = -std::numeric_limits<float>::infinity();
  return dtype_ == DType::F16 ? static_cast<float>(element<Half>(of.values, row * columns_ + symbol)) == none
                              : element<float>(of.values, row * columns_ + symbol) == none;
}

double Trace::distribution(RowsOf whose, std::size_t row, std::span<float> out) const {
  const Rows& of = rows(whose);
  if (truncated_) return distribution_of_probabilities(of, row, out);
  return dtype_ == DType::F16 ? distribution_of_logits<Half>(of, row, out)
                              : distribution_of_logits<float>(of, row, out);
}

template <class Entry>
double Trace::distribution_of_logits(const Rows& of, std::size_t row, std::span<float> out) const {
  constexpr float none = -std::numeric_limits<float>::infinity();
  const auto* stored = reinterpret_cast<const Entry*>(of.values) + row * columns_;
  const auto refuse = [&](std::optional<std::size_t> token, std::string found, std::string wanted) {
    return array_error(file_, of.name, std::move(found), std::move(wanted), row, token);
  };
  constexpr std::size_t step = SoftmaxBlock::size;
  const simd::Width registers = simd::in_use();
  thread_local std::vector<SoftmaxBlock> parts;
  parts.resize((columns_ + step - 1) / step);
  float greatest = none;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t first = i * step, count = std::min(step, columns_ - first);
    parts[i] = softmax_powers(stored + first, count, 1.0f, out.data() + first, registers);
    if (!parts[i].sound) {
      std::size_t bad = first;
      while (static_cast<float>(stored[bad]) < -none) ++bad;
      throw refuse(bad, trace_number(static_cast<float>(stored[bad])), "a finite number or -inf");
    }
    greatest = std::max(greatest, parts[i].greatest);
  }
  if (greatest == none) throw refuse({}, "-inf for every token", "a token that can occur");
  double sum = 0;  // All terms are positive, so the sum's relative error is below 2^-53 times their number.
  for (const SoftmaxBlock& part : parts)
    sum += static_cast<double>(part.sum) * 0x1p-46 * std::exp(double{part.greatest} - double{greatest});
  const double log_sum = double{greatest} + std::log(sum);
  if (values_ == Values::LogProbability && !(std::abs(std::expm1(log_sum)) <= log_probability_sum_tolerance))
    throw refuse({}, fmt::format("log-probabilities whose exponentials sum to {:.9g}", std::exp(log_sum)),
                 fmt::format("a sum within {:g} of 1", log_probability_sum_tolerance));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t first = i * step, count = std::min(step, columns_ - first);
    const double factor =
        parts[i].greatest == none ? 0 : std::exp(double{parts[i].greatest} - double{greatest}) / sum;
    softmax_scale(out.data() + first, count, static_cast<float>(factor), 0.0f, registers);
  }
  return log_sum;
}

double Trace::distribution_of_probabilities(const Rows& of, std::size_t row, std::span<float> out) const {
  std::memcpy(out.data(), of.values + row * columns_ * sizeof(float), columns_ * sizeof(float));
  out[columns_] = element<float>(of.rest, row);
  NeumaierSum sum;
  for (std::size_t i = 0; i <= columns_; ++i) {
    if (!(out[i] >= 0 && out[i] < std::numeric_limits<float>::infinity()))
      throw array_error(file_, i < columns_ ? of.name : of.name.substr(0, 1) + "_rest", trace_number(out[i]),
                        "a finite probability >= 0", row, i < columns_ ? std::optional(i) : std::nullopt);
    sum.add(out[i]);
  }
  if (!(std::abs(sum.value() - 1) <= probability_sum_tolerance))
    throw array_error(file_, of.name, fmt::format("probabilities with sum {:.9g}", sum.value()),
                      fmt::format("a sum within {:g} of 1", probability_sum_tolerance), row);
  const auto factor = static_cast<float>(1 / sum.value());
  for (float& probability : out) probability *= factor;
  return std::log(sum.value());
}

}  // namespace draftproof
