#include <draftproof/captures/capture.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <draftproof/captures/json_input.hpp>
#include <draftproof/captures/npz.hpp>
#include <draftproof/captures/row.hpp>
#include <draftproof/captures/safetensors.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {
namespace {

/// Whether `name` has the form `draft*`.
bool is_proposal_array(std::string_view name) { return name.starts_with("draft"); }

/// Whether `name` is an array of the schema. Readers skip all other arrays.
bool is_capture_array(std::string_view name) {
  constexpr std::array<std::string_view, 5> single{"target", "ids", "rest_target", "tokens", "next_token"};
  return is_proposal_array(name) || name.starts_with("rest_draft") ||
         std::find(single.begin(), single.end(), name) != single.end();
}

/// Returns the metadata beside a capture, or an empty object.
nlohmann::json metadata_of(const std::filesystem::path& capture) {
  const auto file = metadata_file(capture);
  return file ? read_json_object(*file) : nlohmann::json::object();
}

std::string shape_of(const Array& array) { return shape_text({array.shape.begin(), array.shape.end()}); }
std::string type_and_shape(const Array& array) {
  return fmt::format("{} of shape {}", to_string(array.dtype), shape_of(array));
}

/// Returns a metadata value in quotes: its text if it is a string, else the name of its JSON type.
std::string text_in_quotes(const nlohmann::json& value) {
  return in_quotes(value.is_string() ? value.get<std::string>() : value.type_name());
}

/// Splits a [D, N, V] array into D arrays of the schema.
NamedArrays split_planes(const Array& planes, const std::string& file) {
  if (planes.shape.size() != 3 || planes.shape[0] < 2)
    throw file_error(file, "shape " + shape_of(planes), "[D, N, V] with D >= 2: a target, then proposals");
  const std::size_t count = planes.shape[0], bytes = planes.bytes.size() / count;
  NamedArrays arrays;
  for (std::size_t d = 0; d < count; ++d) {
    const auto part = std::span(planes.bytes).subspan(d * bytes, bytes);
    std::string name = d == 0 ? "target" : count == 2 ? "draft" : fmt::format("draft_{}", d);
    arrays.emplace_back(std::move(name), Array{.dtype = planes.dtype,
                                               .shape = {planes.shape[1], planes.shape[2]},
                                               .bytes = {part.begin(), part.end()}});
    // The loop ends at an empty plane: it takes no bytes, so a small file may declare any number of empty planes.
    if (bytes == 0) break;
  }
  return arrays;
}

std::string number_text(double number) { return std::isnan(number) ? "NaN" : fmt::format("{:.9g}", number); }

/// Returns the distribution [V] of a full row. Log-probabilities and logits may be -inf (probability 0); no entry may
/// be NaN or +inf; probabilities and exponentials must sum to 1 (tolerances in row.hpp). Throws: InputError.
std::vector<double> full_distribution(std::span<const double> stored, Values values, const Filter& filter,
                                      const RowPlace& place) {
  if (values == Values::Probability) return filtered_distribution(check_row(stored, place), filter);
  const bool logits = values == Values::Logit;
  const auto refuse = [&place](std::string found, std::string wanted, std::optional<std::size_t> token = {}) {
    return array_error(place.file, place.array, std::move(found), std::move(wanted), place.row, token);
  };
  const double largest = logits ? HUGE_VAL : log_probability_sum_tolerance;
  for (std::size_t token = 0; token < stored.size(); ++token)
    if (!(stored[token] <= largest && stored[token] < HUGE_VAL))
      throw refuse(number_text(stored[token]), logits ? "a finite logit or -inf" : "a log-probability <= 0 or -inf",
                   token);
  if (std::none_of(stored.begin(), stored.end(), [](double entry) { return std::isfinite(entry); }))
    throw refuse("-inf for every token", "a token that can occur");
  if (!logits) {
    std::vector<double> probabilities(stored.size());
    std::transform(stored.begin(), stored.end(), probabilities.begin(), [](double l) { return std::exp(l); });
    const double sum = compensated_sum(probabilities);
    if (!(std::abs(sum - 1) <= log_probability_sum_tolerance))
      throw refuse(
          fmt::format("log-probabilities whose exponentials sum to {:.9g}", sum),
          fmt::format("a sum within {:g} of 1 (or metadata \"values\": \"logit\")", log_probability_sum_tolerance));
  }
  return filtered_softmax(stored, filter);
}

/// Returns the distribution [K + 1] of a truncated row: K probabilities, which must be 0 where `padding` is true, and
/// the probability of all other tokens. Temperature, top-p and min-p of the full distribution cannot be computed from a
/// truncated row, so the filter must be the default.
/// Throws: InputError.
std::vector<double> truncated_distribution(std::vector<double> stored, const std::vector<bool>& padding, double rest,
                                           const Filter& filter, const RowPlace& place) {
  if (!filter.changes_nothing())
    throw array_error(place.file, place.array, to_text(filter) + " for a truncated capture",
                      "no filter: a truncated row does not list all tokens, so it cannot be filtered");
  for (std::size_t column = 0; column < stored.size(); ++column)
    if (padding[column] && stored[column] != 0)
      throw array_error(place.file, place.array, number_text(stored[column]) + " at padding (id -1)", "0", place.row,
                        column);
  if (!(rest >= 0 && rest <= 1 + probability_sum_tolerance))
    throw array_error(place.file, "rest_" + place.array, number_text(rest), "a probability", place.row);
  stored.push_back(rest);
  return check_row(stored, place);
}

}  // namespace

std::optional<std::filesystem::path> metadata_file(const std::filesystem::path& capture) {
  const std::string stem = capture.stem().string();
  for (const std::string_view part : {"", "_positions", "_topk", "_trees", "_trees_full"}) {
    if (!stem.ends_with(part)) continue;
    const auto sidecar = capture.parent_path() / (stem.substr(0, stem.size() - part.size()) + ".json");
    if (std::filesystem::exists(sidecar)) return sidecar;
  }
  return std::nullopt;
}

Capture Capture::open(const std::filesystem::path& path) {
  const std::string file = path.string(), suffix = path.extension().string();
  Safetensors contents;
  if (suffix == ".npz") {
    bool trees = false;
    contents.arrays = read_npz(path, [&trees](std::string_view name) {
      trees = trees || name == "node_parent";
      return is_capture_array(name);
    });
    if (trees)
      throw file_error(file, "captured trees", "rows of positions; survey-paths and survey-policies read trees");
  } else if (suffix == ".safetensors") {
    contents = read_safetensors(path, is_capture_array);
  } else if (suffix == ".npy") {
    contents.arrays = split_planes(read_npy(path), file);
  } else {
    throw file_error(file, "suffix " + in_quotes(suffix), ".npz, .safetensors or .npy");
  }
  nlohmann::json metadata = metadata_of(path);
  metadata.update(contents.metadata);
  return Capture(file, std::move(contents.arrays), std::move(metadata));
}

Capture Capture::open_rows(const std::filesystem::path& path) {
  const auto row_array = [](std::string_view name) {
    return is_capture_array(name) && name != "tokens" && name != "next_token";
  };
  return Capture(path.string(), read_npz(path, row_array), metadata_of(path));
}

Capture::Capture(std::string file, NamedArrays arrays, nlohmann::json metadata)
    : file_(std::move(file)), arrays_(std::move(arrays)), metadata_(std::move(metadata)) {
  truncated_ = find_array(arrays_, "ids") != nullptr;
  read_declared();
  for (const auto& [name, array] : arrays_)
    if (is_proposal_array(name)) proposals_.push_back(name);
  const Array& target = require("target");
  if (target.shape.size() != 2 || target.size() == 0)
    throw array_error(file_, "target", "shape " + shape_of(target), "[N, V], both at least 1");
  positions_ = target.shape[0];
  columns_ = target.shape[1];
  if (proposals_.empty()) throw file_error(file_, "no proposal", "an array whose name begins with draft");

  std::vector<std::string> rows = proposals_;
  rows.insert(rows.begin(), "target");
  for (const std::string& name : rows) {
    check_shape(name, columns_);
    if (truncated_) check_shape("rest_" + name, 0);
  }
  if (truncated_) check_ids();
  if (!truncated_ && vocabulary_ && *vocabulary_ != columns_)
    throw array_error(file_, "target", fmt::format("{} columns", columns_),
                      fmt::format("{}, the vocabulary of the metadata", *vocabulary_));
  check_context();
}

/// Reads the kind of values and V from the metadata. The default kind is log-probabilities, or probabilities for a
/// truncated capture, which has token ids.
void Capture::read_declared() {
  if (const auto schema = metadata_.find("schema"); schema != metadata_.end() && *schema != capture_schema)
    throw file_error(file_, "schema " + text_in_quotes(*schema),
                     fmt::format("\"{}\", the only version this program reads", capture_schema));
  values_ = truncated_ ? Values::Probability : Values::LogProbability;
  if (const auto declared = metadata_.find("values"); declared != metadata_.end()) {
    const auto known = values_named(declared->is_string() ? declared->get<std::string>() : "");
    if (!known)
      throw file_error(file_, "\"values\": " + text_in_quotes(*declared), "log_probability, logit or probability");
    values_ = *known;
  }
  if (truncated_ && values_ != Values::Probability)
    throw file_error(file_, fmt::format("{} values in a truncated capture (one with ids)", to_string(values_)),
                     "probability: only the probabilities of unlisted tokens can be summed");
  const auto vocabulary = metadata_.find("vocabulary");
  if (vocabulary == metadata_.end()) return;
  // The metadata of safetensors contains strings only.
  const std::string text = vocabulary->is_string() ? vocabulary->get<std::string>() : vocabulary->dump();
  const bool digits = !text.empty() && text.size() <= 10 &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || std::stoull(text) == 0)
    throw file_error(file_, "\"vocabulary\": " + in_quotes(text), "a whole number of tokens");
  vocabulary_ = static_cast<std::size_t>(std::stoull(text));
}

const Array& Capture::require(std::string_view name) const {
  if (const Array* array = find_array(arrays_, name)) return *array;
  throw array_error(file_, name, "no such array", "one");
}

/// Requires `name` to be [N, columns], or [N] if columns is 0, with elements that can represent the declared values.
void Capture::check_shape(std::string_view name, std::size_t columns) const {
  const Array& array = require(name);
  std::vector<std::size_t> wanted{positions_};
  if (columns > 0) wanted.push_back(columns);
  if (array.shape != wanted)
    throw array_error(file_, name, "shape " + shape_of(array), shape_text({wanted.begin(), wanted.end()}));
  // Probabilities in half precision have relative errors of up to 2^-8, too large to check that they sum to 1. The sum
  // of logits is not checked.
  const bool half = array.dtype == DType::F16 || array.dtype == DType::BF16;
  if (!is_floating(array.dtype) || (half && values_ != Values::Logit))
    throw array_error(file_, name, fmt::format("{} elements", to_string(array.dtype)),
                      half ? "f32 or f64 (half precision only for logits)" : "floating-point elements");
}

void Capture::check_ids() const {
  const Array& ids = require("ids");
  if (is_floating(ids.dtype) || ids.shape != std::vector<std::size_t>{positions_, columns_})
    throw array_error(file_, "ids", type_and_shape(ids),
                      fmt::format("integers of shape [{}, {}]", positions_, columns_));
  for (std::size_t i = 0; i < positions_; ++i) {
    std::int64_t last = -1;
    bool padding = false;
    for (std::size_t column = 0; column < columns_; ++column) {
      const std::int64_t id = ids.as_integer(i * columns_ + column);
      const bool known = !vocabulary_ || id < static_cast<std::int64_t>(*vocabulary_);
      if (id != -1 && (padding || id <= last || !known))
        throw array_error(file_, "ids", fmt::format("id {}{}", id, padding ? " after padding" : ""),
                          "ascending ids inside the vocabulary, then -1", i, column);
      padding = id == -1;
      last = id;
    }
  }
}

void Capture::check_context() const {
  for (const std::string_view name : {"tokens", "next_token"}) {
    const Array* array = find_array(arrays_, name);
    if (array == nullptr) continue;
    const std::size_t dimensions = name == "tokens" ? 2 : 1;
    if (is_floating(array->dtype) || array->shape.size() != dimensions || array->shape[0] != positions_)
      throw array_error(file_, name, type_and_shape(*array),
                        fmt::format("integers of shape [{}{}]", positions_, dimensions == 2 ? ", W" : ""));
    const std::size_t columns = dimensions == 2 ? array->shape[1] : 1;
    const std::size_t vocabulary =
        vocabulary_.value_or(truncated_ ? std::numeric_limits<std::int32_t>::max() : columns_);
    for (std::size_t k = 0; k < array->size(); ++k) {
      const std::int64_t id = array->as_integer(k);
      if (id < (dimensions == 2 ? -1 : 0) || id >= static_cast<std::int64_t>(vocabulary))
        throw array_error(file_, name, fmt::format("id {}", id), fmt::format("an id below {}", vocabulary),
                          k / columns, k % columns);
    }
  }
}

std::vector<double> Capture::distribution(std::string_view name, std::size_t i, const Filter& filter) const {
  assert(i < positions_);
  const Array& array = require(name);
  std::vector<double> stored(columns_);
  for (std::size_t token = 0; token < columns_; ++token) stored[token] = array.as_double(i * columns_ + token);
  if (array.file) array.file->note_read(columns_ * width(array.dtype));
  const RowPlace place{.file = file_, .array = std::string(name), .row = i};
  if (!truncated_) return full_distribution(stored, values_, filter, place);
  std::vector<bool> padding(columns_);
  for (std::size_t column = 0; column < columns_; ++column) padding[column] = token_id(i, column) < 0;
  return truncated_distribution(std::move(stored), padding, require("rest_" + place.array).as_double(i), filter,
                                place);
}

std::vector<double> Capture::target(std::size_t i, const Filter& filter) const {
  return distribution("target", i, filter);
}

std::vector<double> Capture::proposal(std::string_view name, std::size_t i, const Filter& filter) const {
  require_proposal(name);
  return distribution(name, i, filter);
}

void Capture::require_proposal(std::string_view name) const {
  if (std::find(proposals_.begin(), proposals_.end(), name) != proposals_.end()) return;
  throw file_error(file_, "no proposal " + in_quotes(name), fmt::format("one of {}", fmt::join(proposals_, ", ")));
}

std::int64_t Capture::token_id(std::size_t i, std::size_t symbol) const {
  assert(i < positions_ && symbol < vocabulary());
  if (!truncated_) return static_cast<std::int64_t>(symbol);
  return symbol == columns_ ? -1 : require("ids").as_integer(i * columns_ + symbol);
}

std::vector<std::int64_t> Capture::context(std::size_t i) const {
  assert(i < positions_);
  const Array* tokens = find_array(arrays_, "tokens");
  if (tokens == nullptr) return {};
  std::vector<std::int64_t> context;
  for (std::size_t k = i * tokens->shape[1]; k < (i + 1) * tokens->shape[1]; ++k)
    if (tokens->as_integer(k) >= 0) context.push_back(tokens->as_integer(k));
  return context;
}

std::optional<std::int64_t> Capture::next_token(std::size_t i) const {
  assert(i < positions_);
  const Array* next = find_array(arrays_, "next_token");
  return next == nullptr ? std::nullopt : std::optional(next->as_integer(i));
}

}  // namespace draftproof
