#include <draftproof/adapters/library/row_tape.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace draftproof::adapters {

void RowTape::fault(RowStatus status, std::string message) {
  if (verdict_ != RowStatus::ok) return;
  verdict_ = status;
  message_ = std::move(message);
}

const double* RowTape::next() {
  if (taken_ < values_.size()) return &values_[taken_++];
  fault(RowStatus::tape_short, fmt::format("the tape has {} places, the program draws more", values_.size()));
  return nullptr;
}

bool RowTape::valid(double value, const char* kind) {
  if (value < 1) return true;
  fault(RowStatus::failed,
        fmt::format("place {} of the tape: got {} for a {}, expected a value below 1", taken_ - 1, value, kind));
  return false;
}

double RowTape::coin(int bits, std::string_view stream) {
  if (bits < 1 || bits > 53) {
    fault(RowStatus::failed, fmt::format("draw {}: got a uniform of {} bits, expected 1 .. 53", draws_.size(), bits));
    return 0;
  }
  const double* const value = next();
  if (value == nullptr) return 0;
  draws_.push_back({.kind = DrawKind::coin, .size = 0, .bits = bits, .stream = std::string(stream)});
  if (!valid(*value, "coin") || *value < 0) return 0;
  return std::ldexp(std::floor(std::ldexp(*value, bits)), -bits);
}

int RowTape::pick(std::span<const double> weights, std::string_view stream) {
  if (weights.empty()) {
    fault(RowStatus::failed, fmt::format("draw {}: got a pick of no cells, expected at least 1", draws_.size()));
    return -1;
  }
  double total = 0;
  int first = -1, last = -1;
  bool finite = true;
  for (std::size_t x = 0; x < weights.size(); ++x) {
    finite = finite && weights[x] >= 0 && weights[x] <= std::numeric_limits<double>::max();
    total += weights[x];
    if (!(weights[x] > 0)) continue;
    last = static_cast<int>(x);
    if (first < 0) first = last;
  }
  const double* const value = next();
  if (value != nullptr)
    draws_.push_back({.kind = DrawKind::pick,
                      .size = static_cast<int>(weights.size()),
                      .bits = 0,
                      .stream = std::string(stream),
                      .weights = {weights.begin(), weights.end()}});
  if (first < 0 || !finite || !(total <= std::numeric_limits<double>::max())) {
    fault(RowStatus::no_mass, fmt::format("draw {}: weights of total {}{}", draws_.size(), total,
                                          finite ? "" : ", not all of them finite"));
    return -1;
  }
  if (value == nullptr || !valid(*value, "pick")) return first;
  if (*value < 0) {
    const double cell = -*value - 1;
    if (cell >= 0 && cell < static_cast<double>(weights.size())) return static_cast<int>(cell);
    fault(RowStatus::failed, fmt::format("place {} of the tape: got forced cell {} of a pick, expected 0 .. {}",
                                         taken_ - 1, cell, weights.size() - 1));
    return first;
  }
  double sum = 0;
  for (int x = first; x < last; ++x) {
    sum += weights[static_cast<std::size_t>(x)];
    if (*value * total < sum) return x;
  }
  return last;  // reached if v * total rounds up to the whole sum
}

void RowTape::race(std::span<double> out, std::string_view stream) {
  for (double& entry : out) {
    const double* const value = next();
    entry = 1;
    if (value == nullptr) continue;
    draws_.push_back({.kind = DrawKind::clock,
                      .size = &entry == out.data() ? static_cast<int>(out.size()) : 0,
                      .bits = 0,
                      .stream = std::string(stream)});
    if (valid(*value, "clock")) entry = *value < 0 ? -*value : -std::log1p(-*value);
  }
}

int RowTape::integer(int n, std::string_view stream) {
  if (n < 1) {
    fault(RowStatus::failed, fmt::format("draw {}: got an integer below {}, expected at least 1", draws_.size(), n));
    return 0;
  }
  const double* const value = next();
  if (value == nullptr) return 0;
  draws_.push_back({.kind = DrawKind::integer, .size = n, .bits = 0, .stream = std::string(stream)});
  if (!valid(*value, "integer")) return 0;
  if (*value >= 0) return std::min(n - 1, static_cast<int>(*value * n));
  const double forced = -*value - 1;
  if (forced >= 0 && forced < n) return static_cast<int>(forced);
  fault(RowStatus::failed,
        fmt::format("place {} of the tape: got forced integer {}, expected 0 .. {}", taken_ - 1, forced, n - 1));
  return 0;
}

}  // namespace draftproof::adapters
