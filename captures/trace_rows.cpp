// The rows of a trace: stored numbers to normalised probabilities.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/row.hpp>
#include <draftproof/captures/trace.hpp>
#include <draftproof/sim/distributions/softmax_block.hpp>
#include <draftproof/sim/numeric/neumaier_sum.hpp>

namespace draftproof {
namespace {

template <class T>
T element(const std::byte* first, std::size_t i) {
  T value;
  std::memcpy(&value, first + i * sizeof(T), sizeof(T));
  return value;
}

std::string trace_number(double number) { return std::isnan(number) ? "NaN" : fmt::format("{:.9g}", number); }

}  // namespace

void Trace::check_ids() const {
  for (const RowsOf whose : {RowsOf::target, RowsOf::proposal}) {
    const Rows& of = rows(whose);
    for (std::size_t row = 0; row < of.count; ++row) {
      std::int32_t before = -1;
      for (std::size_t i = 0; i < columns_; ++i) {
        const auto id = element<std::int32_t>(of.ids, row * columns_ + i);
        if (id <= before || static_cast<std::size_t>(id) >= vocabulary_)
          throw InputError({.file = file_,
                            .array = whose == RowsOf::target ? "p_top_ids" : "q_top_ids",
                            .row = row,
                            .token = i,
                            .found = std::to_string(id),
                            .wanted = fmt::format("ascending tokens below {}", vocabulary_)});
        before = id;
      }
    }
  }
  for (std::size_t r = 0; r < records(); ++r) {
    if (emitted_q_[r] < 0) continue;
    const std::size_t bytes = columns_ * sizeof(std::int32_t);
    if (std::memcmp(rows_[0].ids + r * bytes, rows_[1].ids + static_cast<std::size_t>(emitted_q_[r]) * bytes, bytes))
      throw InputError({.file = file_,
                        .array = "q_top_ids",
                        .row = static_cast<std::size_t>(emitted_q_[r]),
                        .found = "other tokens than at its record",
                        .wanted = fmt::format("those of p_top_ids, row {}", r)});
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

double Trace::law(RowsOf whose, std::size_t row, std::span<float> out) const {
  const Rows& of = rows(whose);
  if (truncated_) return law_of_probabilities(of, row, out);
  return dtype_ == DType::F16 ? law_of_logits<Half>(of, row, out) : law_of_logits<float>(of, row, out);
}

template <class Entry>
double Trace::law_of_logits(const Rows& of, std::size_t row, std::span<float> out) const {
  constexpr float none = -std::numeric_limits<float>::infinity();
  const auto* stored = reinterpret_cast<const Entry*>(of.values) + row * columns_;
  const auto refuse = [&](std::optional<std::size_t> token, std::string found, std::string wanted) {
    return InputError({.file = file_,
                       .array = of.name,
                       .row = row,
                       .token = token,
                       .found = std::move(found),
                       .wanted = std::move(wanted)});
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
  double sum = 0;  // of positive terms: the relative error is below parts 2^-53
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

double Trace::law_of_probabilities(const Rows& of, std::size_t row, std::span<float> out) const {
  std::memcpy(out.data(), of.values + row * columns_ * sizeof(float), columns_ * sizeof(float));
  out[columns_] = element<float>(of.rest, row);
  NeumaierSum sum;
  for (std::size_t i = 0; i <= columns_; ++i) {
    if (!(out[i] >= 0 && out[i] < std::numeric_limits<float>::infinity()))
      throw InputError({.file = file_,
                        .array = i < columns_ ? of.name : of.name.substr(0, 1) + "_rest",
                        .row = row,
                        .token = i < columns_ ? std::optional(i) : std::nullopt,
                        .found = trace_number(out[i]),
                        .wanted = "a finite probability >= 0"});
    sum.add(out[i]);
  }
  if (!(std::abs(sum.value() - 1) <= probability_sum_tolerance))
    throw InputError({.file = file_,
                      .array = of.name,
                      .row = row,
                      .found = fmt::format("probabilities with sum {:.9g}", sum.value()),
                      .wanted = fmt::format("a sum within {:g} of 1", probability_sum_tolerance)});
  const auto factor = static_cast<float>(1 / sum.value());
  for (float& probability : out) probability *= factor;
  return std::log(sum.value());
}

}  // namespace draftproof
