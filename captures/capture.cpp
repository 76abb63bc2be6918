#include <draftproof/captures/capture.hpp>

#include <algorithm>
#include <cassert>
#include <limits>

#include <fmt/format.h>

#include <draftproof/captures/capture_rows.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/json_input.hpp>
#include <draftproof/captures/npy.hpp>
#include <draftproof/captures/npz.hpp>
#include <draftproof/captures/safetensors.hpp>

namespace draftproof {
namespace {

std::string shape_of(const Array& array) { return shape_text({array.shape.begin(), array.shape.end()}); }

/// The planes of a [D, N, V] array as arrays of the schema.
NamedArrays split_planes(const Array& planes, const std::string& file) {
  if (planes.shape.size() != 3 || planes.shape[0] < 2)
    throw InputError({.file = file,
                      .found = "shape " + shape_of(planes),
                      .wanted = "[D, N, V] with D >= 2: a target, then proposals"});
  const std::size_t count = planes.shape[0], bytes = planes.bytes.size() / count;
  NamedArrays arrays;
  for (std::size_t d = 0; d < count; ++d) {
    const auto part = std::span(planes.bytes).subspan(d * bytes, bytes);
    std::string name = d == 0 ? "target" : count == 2 ? "draft" : fmt::format("draft_{}", d);
    arrays.emplace_back(std::move(name),
                        Array{.dtype = planes.dtype,
                              .shape = {planes.shape[1], planes.shape[2]},
                              .bytes = {part.begin(), part.end()}});
    // Empty planes cost no bytes, so a small file may claim very many of them.
    if (bytes == 0) break;
  }
  return arrays;
}

}  // namespace

Capture Capture::open(const std::filesystem::path& path) {
  const std::string file = path.string(), suffix = path.extension().string();
  Safetensors contents;
  if (suffix == ".npz") {
    contents.arrays = read_npz(path, is_capture_array);
  } else if (suffix == ".safetensors") {
    contents = read_safetensors(path, is_capture_array);
  } else if (suffix == ".npy") {
    contents.arrays = split_planes(read_npy(path), file);
  } else {
    throw InputError({.file = file, .found = "suffix " + in_quotes(suffix), .wanted = ".npz, .safetensors or .npy"});
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

nlohmann::json Capture::metadata_of(const std::filesystem::path& path) {
  const auto sidecar = sidecar_of(path);
  return sidecar ? read_json_object(*sidecar) : nlohmann::json::object();
}

Capture::Capture(std::string file, NamedArrays arrays, nlohmann::json metadata)
    : file_(std::move(file)), arrays_(std::move(arrays)), metadata_(std::move(metadata)) {
  truncated_ = find_array(arrays_, "ids") != nullptr;
  declared_ = read_declared(metadata_, truncated_, file_);
  for (const auto& [name, array] : arrays_)
    if (is_proposal_array(name)) proposals_.push_back(name);
  const Array& target = require("target");
  if (target.shape.size() != 2 || target.size() == 0)
    throw InputError({.file = file_,
                      .array = "target",
                      .found = "shape " + shape_of(target),
                      .wanted = "[N, V], both at least 1"});
  positions_ = target.shape[0];
  columns_ = target.shape[1];
  if (proposals_.empty())
    throw InputError({.file = file_, .found = "no proposal", .wanted = "an array whose name begins with draft"});

  std::vector<std::string> rows = proposals_;
  rows.insert(rows.begin(), "target");
  for (const std::string& name : rows) {
    check_shape(name, columns_);
    if (truncated_) check_shape("rest_" + name, 0);
  }
  if (truncated_) check_ids();
  if (!truncated_ && declared_.vocabulary && *declared_.vocabulary != columns_)
    throw InputError({.file = file_,
                      .array = "target",
                      .found = fmt::format("{} columns", columns_),
                      .wanted = fmt::format("{}, the vocabulary of the metadata", *declared_.vocabulary)});
  check_context();
}

const Array& Capture::require(std::string_view name) const {
  if (const Array* array = find_array(arrays_, name)) return *array;
  throw InputError({.file = file_, .array = std::string(name), .found = "no such array", .wanted = "one"});
}

/// Requires `name` to be [N, columns], or [N] if columns is 0, with elements that can represent the declared values.
void Capture::check_shape(std::string_view name, std::size_t columns) const {
  const Array& array = require(name);
  std::vector<std::size_t> wanted{positions_};
  if (columns > 0) wanted.push_back(columns);
  if (array.shape != wanted)
    throw InputError({.file = file_,
                      .array = std::string(name),
                      .found = "shape " + shape_of(array),
                      .wanted = shape_text({wanted.begin(), wanted.end()})});
  // Half precision moves a probability by up to 2^-8 of itself, which makes a check of the sum useless. Logits have
  // no such check.
  const bool half = array.dtype == DType::F16 || array.dtype == DType::BF16;
  if (!is_floating(array.dtype) || (half && declared_.values != Values::Logit))
    throw InputError({.file = file_,
                      .array = std::string(name),
                      .found = fmt::format("{} elements", to_string(array.dtype)),
                      .wanted = half ? "f32 or f64 (half precision only for logits)" : "floating-point elements"});
}

void Capture::check_ids() const {
  const Array& ids = require("ids");
  if (is_floating(ids.dtype) || ids.shape != std::vector<std::size_t>{positions_, columns_})
    throw InputError({.file = file_,
                      .array = "ids",
                      .found = fmt::format("{} of shape {}", to_string(ids.dtype), shape_of(ids)),
                      .wanted = fmt::format("integers of shape [{}, {}]", positions_, columns_)});
  for (std::size_t i = 0; i < positions_; ++i) {
    std::int64_t last = -1;
    bool padding = false;
    for (std::size_t column = 0; column < columns_; ++column) {
      const std::int64_t id = ids.as_integer(i * columns_ + column);
      const bool known = !declared_.vocabulary || id < static_cast<std::int64_t>(*declared_.vocabulary);
      const bool good = id == -1 || (!padding && id > last && known);
      if (!good)
        throw InputError({.file = file_,
                          .array = "ids",
                          .row = i,
                          .token = column,
                          .found = fmt::format("id {}{}", id, padding ? " after padding" : ""),
                          .wanted = "ascending ids inside the vocabulary, then -1"});
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
      throw InputError({.file = file_,
                        .array = std::string(name),
                        .found = fmt::format("{} of shape {}", to_string(array->dtype), shape_of(*array)),
                        .wanted = fmt::format("integers of shape [{}{}]", positions_, dimensions == 2 ? ", W" : "")});
    const std::size_t columns = dimensions == 2 ? array->shape[1] : 1;
    const std::size_t vocabulary =
        declared_.vocabulary.value_or(truncated_ ? std::numeric_limits<std::int32_t>::max() : columns_);
    for (std::size_t k = 0; k < array->size(); ++k) {
      const std::int64_t id = array->as_integer(k);
      if (id >= (dimensions == 2 ? -1 : 0) && id < static_cast<std::int64_t>(vocabulary)) continue;
      throw InputError({.file = file_,
                        .array = std::string(name),
                        .row = k / columns,
                        .token = k % columns,
                        .found = fmt::format("id {}", id),
                        .wanted = fmt::format("an id below {}", vocabulary)});
    }
  }
}

std::vector<double> Capture::law(std::string_view name, std::size_t i, const Filter& filter) const {
  assert(i < positions_);
  const Array& array = require(name);
  std::vector<double> stored(columns_);
  for (std::size_t token = 0; token < columns_; ++token) stored[token] = array.as_double(i * columns_ + token);
  if (array.file) array.file->note_read(columns_ * width(array.dtype));
  const RowPlace place{.file = file_, .array = std::string(name), .row = i};
  if (!truncated_) return full_law(stored, declared_.values, filter, place);
  std::vector<bool> padding(columns_);
  for (std::size_t column = 0; column < columns_; ++column) padding[column] = token_id(i, column) < 0;
  return truncated_law(stored, padding, require("rest_" + place.array).as_double(i), filter, place);
}

std::vector<double> Capture::target(std::size_t i, const Filter& filter) const { return law("target", i, filter); }

std::vector<double> Capture::proposal(std::string_view name, std::size_t i, const Filter& filter) const {
  require_proposal(name);
  return law(name, i, filter);
}

void Capture::require_proposal(std::string_view name) const {
  if (std::find(proposals_.begin(), proposals_.end(), name) != proposals_.end()) return;
  throw InputError({.file = file_,
                    .found = "no proposal " + in_quotes(name),
                    .wanted = fmt::format("one of {}", fmt::join(proposals_, ", "))});
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
