#include <draftproof/captures/tiny_lm.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include <draftproof/captures/array.hpp>

namespace draftproof {

namespace {

/// Reads a file from front to back; a read past its end throws InputError.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string file) : bytes_{bytes}, file_{std::move(file)} {}

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text(std::size_t size) {
    const auto part = take(size);
    return {reinterpret_cast<const char*>(part.data()), size};
  }
  std::vector<float> floats(int rows, int columns = 1) {
    const std::size_t size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    // take() checks that the file has this many bytes before memory is allocated.
    const auto part = take(size * sizeof(float));
    std::vector<float> values(size);
    std::memcpy(values.data(), part.data(), part.size());
    for (const float value : values)
      if (!std::isfinite(value)) fail(fmt::format("the weight {}", value), "finite numbers");
    return values;
  }
  void go_to(std::size_t position) { position_ = position; }
  std::size_t left() const { return bytes_.size() - position_; }

  [[noreturn]] void fail(std::string found, std::string wanted) const {
    throw file_error(file_, std::move(found), std::move(wanted));
  }

 private:
  std::span<const std::byte> take(std::size_t size) {
    if (position_ > bytes_.size() || size > bytes_.size() - position_)
      fail(fmt::format("an end after {} bytes", bytes_.size()), "a whole story model");
    position_ += size;
    return bytes_.subspan(position_ - size, size);
  }

  std::span<const std::byte> bytes_;
  std::string file_;
  std::size_t position_ = 0;
};

/// The limit for the file of a small model: one gigabyte.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

using Vector = std::vector<double>;

/// Returns the product of matrix [rows, x.size()] and x, in four interleaved sums.
Vector times(const std::vector<float>& matrix, const Vector& x) {
  const std::size_t columns = x.size(), rows = matrix.size() / columns;
  Vector product(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const float* row = matrix.data() + r * columns;
    std::array<double, 4> sums{};
    std::size_t c = 0;
    for (; c + 4 <= columns; c += 4)
      for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += static_cast<double>(row[c + lane]) * x[c + lane];
    for (; c < columns; ++c) sums[0] += static_cast<double>(row[c]) * x[c];
    product[r] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  return product;
}

Vector normed(const Vector& x, const std::vector<float>& weights) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
  Vector result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = static_cast<double>(weights[i]) * (scale * x[i]);
  return result;
}

/// Rotary embedding: rotates adjacent pairs of every head by an angle that falls with their index in the head.
void rotate(Vector& x, std::size_t head_width, std::size_t position) {
  for (std::size_t i = 0; i < head_width; i += 2) {
    const double place = static_cast<double>(i) / static_cast<double>(head_width);
    const double angle = static_cast<double>(position) * std::pow(10000.0, -place);
    const double cosine = std::cos(angle), sine = std::sin(angle);
    for (std::size_t j = i; j < x.size(); j += head_width) {
      const double a = x[j], b = x[j + 1];
      x[j] = a * cosine - b * sine;
      x[j + 1] = a * sine + b * cosine;
    }
  }
}

void softmax(Vector& x) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& value : x) sum += value = std::exp(value - top);
  for (double& value : x) value /= sum;
}

void round_to(std::vector<float>& values, int bits) {
  const float steps = static_cast<float>((1 << (bits - 1)) - 1);
  for (std::size_t from = 0; from < values.size(); from += 32) {
    const auto group = std::span(values).subspan(from, std::min<std::size_t>(32, values.size() - from));
    float largest = 0;
    for (const float value : group) largest = std::max(largest, std::abs(value));
    if (largest == 0) continue;
    const float scale = largest / steps;
    for (float& value : group) value = std::nearbyint(value / scale) * scale;
  }
}

}  // namespace

TinyLm TinyLm::open(const std::filesystem::path& path) {
  FileBytes file(path);
  if (file.size() > most_bytes)
    throw file_error(path.string(), fmt::format("{} bytes", file.size()),
                     fmt::format("at most {}: a small model", most_bytes));
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.size()));
  file.read(bytes);
  Reader reader(bytes, path.string());
  TinyLm model;
  if (const int version = reader.number<std::uint8_t>(); version != 1)
    reader.fail(fmt::format("version {}", version), "a story model of version 1");
  const auto name_size = reader.number<std::int32_t>();
  if (name_size < 0 || name_size > 200) reader.fail(fmt::format("a name of {} bytes", name_size), "at most 200");
  reader.text(static_cast<std::size_t>(name_size));
  StoryShape& shape = model.shape_;
  for (int* field : {&shape.width, &shape.hidden, &shape.context, &shape.vocabulary, &shape.layers, &shape.heads,
                     &shape.key_heads}) {
    *field = reader.number<std::int32_t>();
    // With these bounds no product of two sizes overflows.
    if (*field < 1 || *field > (1 << 20)) reader.fail(fmt::format("the size {}", *field), "1 to 2^20");
  }
  const int d = shape.width;
  if (d % shape.heads != 0 || shape.heads % shape.key_heads != 0 || shape.head_width() % 2 != 0)
    reader.fail(fmt::format("{} heads of {} for width {}", shape.heads, shape.key_heads, d),
                "heads that divide the width, in groups");
  const bool shared = reader.number<std::uint8_t>() != 0;
  reader.go_to(256);
  for (int token = 0; token < shape.vocabulary; ++token) {
    reader.number<float>();
    const auto size = reader.number<std::int32_t>();
    if (size < 0 || size > 1000) reader.fail(fmt::format("a piece of {} bytes", size), "at most 1000");
    model.pieces_.push_back(reader.text(static_cast<std::size_t>(size)));
  }
  if (shape.layers > 1000) reader.fail(fmt::format("{} layers", shape.layers), "at most 1000");
  model.embedding_ = reader.floats(shape.vocabulary, d);
  model.layers_.resize(static_cast<std::size_t>(shape.layers));
  const auto each = [&](std::vector<float> Layer::*matrix, int rows, int columns = 1) {
    for (Layer& layer : model.layers_) layer.*matrix = reader.floats(rows, columns);
  };
  each(&Layer::attention_norm, d);
  each(&Layer::query, d, d);
  each(&Layer::key, shape.key_width(), d);
  each(&Layer::value, shape.key_width(), d);
  each(&Layer::output, d, d);
  each(&Layer::forward_norm, d);
  each(&Layer::gate, shape.hidden, d);
  each(&Layer::up, shape.hidden, d);
  each(&Layer::down, d, shape.hidden);
  model.final_norm_ = reader.floats(d);
  if (!shared) model.head_ = reader.floats(shape.vocabulary, d);
  if (reader.left() != 0) reader.fail(fmt::format("{} bytes too many", reader.left()), "the end of the model");
  return model;
}

TinyLm TinyLm::rounded(int bits) const {
  TinyLm copy = *this;
  round_to(copy.embedding_, bits);
  round_to(copy.head_, bits);
  for (Layer& layer : copy.layers_)
    for (auto* matrix : {&layer.query, &layer.key, &layer.value, &layer.output, &layer.gate, &layer.down, &layer.up})
      round_to(*matrix, bits);
  return copy;
}

TinyLm TinyLm::cut(int layers) const {
  TinyLm copy = *this;
  copy.layers_.resize(static_cast<std::size_t>(std::min(layers, shape_.layers)));
  copy.shape_.layers = static_cast<int>(copy.layers_.size());
  return copy;
}

std::vector<double> TinyLm::read(int token, std::span<const StoryMemory* const> before, StoryMemory& own) const {
  const auto d = static_cast<std::size_t>(shape_.width), key_width = static_cast<std::size_t>(shape_.key_width());
  const auto head_width = static_cast<std::size_t>(shape_.head_width());
  const std::size_t group = static_cast<std::size_t>(shape_.heads / shape_.key_heads), position = before.size();
  own.keys.clear();
  own.values.clear();
  const float* start = embedding_.data() + static_cast<std::size_t>(token) * d;
  Vector x(start, start + d);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const Vector in = normed(x, layer.attention_norm);
    Vector query = times(layer.query, in), key = times(layer.key, in);
    const Vector value = times(layer.value, in);
    rotate(query, head_width, position);
    rotate(key, head_width, position);
    own.keys.insert(own.keys.end(), key.begin(), key.end());
    own.values.insert(own.values.end(), value.begin(), value.end());

    Vector attended(d, 0.0), scores(position + 1);
    for (std::size_t head = 0; head < static_cast<std::size_t>(shape_.heads); ++head) {
      const double* q = query.data() + head * head_width;
      const std::size_t place = l * key_width + head / group * head_width;
      const auto memory = [&](std::size_t t) { return t < position ? before[t] : &own; };
      for (std::size_t t = 0; t <= position; ++t) {
        const double* k = memory(t)->keys.data() + place;
        double score = 0;
        for (std::size_t i = 0; i < head_width; ++i) score += q[i] * k[i];
        scores[t] = score / std::sqrt(static_cast<double>(head_width));
      }
      softmax(scores);
      for (std::size_t t = 0; t <= position; ++t) {
        const double* v = memory(t)->values.data() + place;
        for (std::size_t i = 0; i < head_width; ++i) attended[head * head_width + i] += scores[t] * v[i];
      }
    }
    const Vector mixed = times(layer.output, attended);
    for (std::size_t i = 0; i < d; ++i) x[i] += mixed[i];

    const Vector forward = normed(x, layer.forward_norm);
    Vector gate = times(layer.gate, forward);
    const Vector up = times(layer.up, forward);
    for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
    const Vector down = times(layer.down, gate);
    for (std::size_t i = 0; i < d; ++i) x[i] += down[i];
  }
  Vector logits = times(head_.empty() ? embedding_ : head_, normed(x, final_norm_));
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - top);
  for (double& logit : logits) logit -= top + std::log(sum);
  return logits;
}

}  // namespace draftproof
