#include <draftproof/captures/trace.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/safetensors.hpp>

namespace draftproof {
namespace {

/// The arrays of a trace file by name, each checked for its type and shape.
class TraceArrays {
 public:
  TraceArrays(std::span<const std::byte> bytes, const std::string& file) : file_{file} {
    constexpr std::size_t length_size = sizeof(std::uint64_t);
    if (bytes.size() < length_size)
      throw InputError(
          {.file = file, .found = fmt::format("{} bytes", bytes.size()), .wanted = "a safetensors file"});
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), length_size);
    if (length > bytes.size() - length_size)
      throw InputError({.file = file,
                        .found = fmt::format("a header of {} bytes in a file of {}", length, bytes.size()),
                        .wanted = "a header inside the file"});
    const auto text = bytes.subspan(length_size, static_cast<std::size_t>(length));
    data_ = bytes.subspan(length_size + text.size());
    header_ = parse_safetensors_header({reinterpret_cast<const char*>(text.data()), text.size()}, data_.size(), file);
  }

  const nlohmann::json& metadata() const { return header_.metadata; }
  bool has(std::string_view name) const { return find(name) != nullptr; }

  const SafetensorsEntry& need(std::string_view name) const {
    if (const SafetensorsEntry* entry = find(name)) return *entry;
    throw refuse(name, "no such array", "one");
  }

  /// First byte of an array of one of `types` and the given number of dimensions.
  const std::byte* data(std::string_view name, std::vector<DType> types, std::size_t dimensions) const {
    const SafetensorsEntry& entry = need(name);
    std::string wanted;
    for (const DType type : types) wanted += (wanted.empty() ? "" : " or ") + std::string(safetensors_type(type));
    if (!entry.dtype || std::find(types.begin(), types.end(), *entry.dtype) == types.end())
      throw refuse(name, "elements of type " + in_quotes(entry.type), wanted);
    if (entry.shape.size() != dimensions)
      throw refuse(name, "shape " + shape_text(entry.shape), fmt::format("{} dimensions", dimensions));
    const std::byte* first = data_.data() + entry.begin;
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
    return InputError(
        {.file = file_, .array = std::string(name), .found = std::move(found), .wanted = std::move(wanted)});
  }

 private:
  const SafetensorsEntry* find(std::string_view name) const {
    for (const SafetensorsEntry& entry : header_.entries)
      if (entry.name == name) return &entry;
    return nullptr;
  }

  const std::string& file_;
  std::span<const std::byte> data_;
  SafetensorsHeader header_;
};

std::string text_of(const nlohmann::json& metadata, const char* key, const char* otherwise = "") {
  const auto found = metadata.find(key);
  return found == metadata.end() ? otherwise : found->get<std::string>();
}

/// Throws unless `starts` begins with 0, never falls and ends with `count`.
void check_starts(const std::string& file, const char* name, const std::vector<std::int64_t>& starts,
                  std::size_t blocks, std::size_t count) {
  const auto refuse = [&](std::string found, std::string wanted) {
    return InputError({.file = file, .array = name, .found = std::move(found), .wanted = std::move(wanted)});
  };
  if (starts.size() != blocks + 1)
    throw refuse(fmt::format("{} entries", starts.size()), fmt::format("{}, one more than blocks", blocks + 1));
  if (starts.front() != 0) throw refuse(fmt::format("{} at 0", starts.front()), "0");
  for (std::size_t b = 0; b < blocks; ++b)
    if (starts[b + 1] < starts[b])
      throw refuse(fmt::format("{} at {} after {}", starts[b + 1], b + 1, starts[b]), "numbers that never fall");
  if (static_cast<std::size_t>(starts.back()) != count)
    throw refuse(fmt::format("{} at the end", starts.back()), fmt::format("{}, the number of entries", count));
}

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
  for (const Values kind : {Values::LogProbability, Values::Logit, Values::Probability})
    if (values == to_string(kind)) values_ = kind;
  if (values != to_string(values_) || truncated_ != (values_ == Values::Probability))
    throw arrays.refuse("", "metadata \"values\": " + in_quotes(values),
                        truncated_ ? "\"probability\"" : "\"log_probability\" or \"logit\"");
  draft_law_ = text_of(metadata_, "draft_law", "unknown");

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
  const auto refuse = [this](const char* name, std::size_t row, std::string found, std::string wanted) {
    return InputError(
        {.file = file_, .array = name, .row = row, .found = std::move(found), .wanted = std::move(wanted)});
  };
  const auto check_count = [&](const char* name, std::size_t found, std::size_t wanted, const char* of) {
    if (found != wanted)
      throw InputError({.file = file_,
                        .array = name,
                        .found = fmt::format("{} entries", found),
                        .wanted = fmt::format("{}, as in {}", wanted, of)});
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
      throw refuse(name, row, std::to_string(value), fmt::format("a number from {} to {}", low, high - 1));
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
        throw refuse("emitted_q", r, fmt::format("row {} a second time", emitted_q_[r]), "each row once at most");
      named[static_cast<std::size_t>(emitted_q_[r])] = true;
    }
    for (std::size_t d = draft_start(b); d < draft_start(b + 1); ++d) {
      check_range("drafts", d, drafts_[d], 0, tokens);
      check_range("draft_q", d, draft_q_[d], first_q, end_q);
      check_range("draft_parent", d, draft_parent_[d], -1, static_cast<std::int64_t>(d - draft_start(b)));
    }
  }
}

}  // namespace draftproof
