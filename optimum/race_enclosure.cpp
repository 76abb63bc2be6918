#include <draftproof/optimum/race_enclosure.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace draftproof {
namespace {

constexpr long double half_ulp = std::numeric_limits<long double>::epsilon() / 2;
constexpr long double ln2 = 0.693147180559945309417232121458176568L;
constexpr long double pi = 3.141592653589793238462643383279502884L;
/// A geometric series replaces the nodes before it, with an error of at most c t^2.
constexpr long double earliest = 0x1p-32L;
/// Nodes with larger ct add at most the integral of e^-s from latest / 2 on.
constexpr long double latest = 100;
constexpr long double after_the_race = 2e-22L;  // e^-50
constexpr long double least_survival = 1e-22L;

/// Relative error of the trapezoid rule. Library functions accurate to a millionth suffice here.
long double rule_error(int drafts, std::size_t nodes) {
  const long double frequency = 2 * pi * static_cast<long double>(nodes) / ln2;
  const long double angle = std::atan(frequency / static_cast<long double>(drafts));
  return 1.0001L * 2 * std::pow(std::cos(angle), -static_cast<long double>(drafts)) / std::expm1(frequency * angle);
}

}  // namespace

RaceEnclosure::RaceEnclosure(int drafts, std::uint64_t slowest)
    : drafts_{static_cast<std::size_t>(drafts)}, per_octave_{3} {
  while (rule_error(drafts, per_octave_) > 1e-17L) ++per_octave_;
  step_ = ln2 / static_cast<long double>(per_octave_);
  const long double rate = static_cast<long double>(slowest) * 0x1p-62L;
  do {
    const std::size_t n = times_.size();
    times_.push_back(n < per_octave_
                         ? earliest * std::exp2(static_cast<long double>(n) / static_cast<long double>(per_octave_))
                         : 2 * times_[n - per_octave_]);
  } while (times_.back() * rate < latest);
  // Times have a relative error of at most 8 u, even if exp2 is off by seven units. In log t the integrand's slope is
  // at most sqrt(K + 1), and the grid's length is step times nodes.
  const auto range = step_ * static_cast<long double>(times_.size());
  step_error_ = 8 * half_ulp * range * std::sqrt(static_cast<long double>(drafts + 1));
  live_ = times_.size();
  bin_.resize(live_);
  bin_sum_.assign(live_, 0);
  counts_.assign(drafts_ * live_, 0);
  std::fill_n(counts_.begin(), live_, 1);
}

void RaceEnclosure::ring(std::uint64_t q, std::size_t count, std::vector<long double>& bin) const {
  const long double rate = static_cast<long double>(q) * 0x1p-62L;
  for (std::size_t n = 0; n < std::min(per_octave_, count); ++n) {
    const long double z = rate * times_[n];  // below 2^-31: the next term is z^4 / 120 of the first
    bin[n] = z * (1 - z / 2 * (1 - z / 3 * (1 - z / 4)));
  }
  for (std::size_t n = per_octave_; n < count; ++n) {
    const long double y = bin[n - per_octave_];
    bin[n] = std::min(1.0L, y * (2 - y));
  }
}

void RaceEnclosure::add(std::uint64_t q) {
  ring(q, live_, bin_);
  const std::size_t stride = times_.size();
  for (std::size_t k = drafts_; k-- > 1;) {
    long double* to = counts_.data() + k * stride;
    const long double* from = to - stride;
    for (std::size_t n = 0; n < live_; ++n) to[n] = to[n] * (1 - bin_[n]) + from[n] * bin_[n];
  }
  for (std::size_t n = 0; n < live_; ++n) {
    counts_[n] *= 1 - bin_[n];
    bin_sum_[n] += bin_[n];
  }
  ++tokens_;
  while (live_ > 0 && fewer(live_ - 1) < least_survival) {
    --live_;
    dropped_ = std::max(dropped_, least_survival + error(live_));
  }
}

long double RaceEnclosure::fewer(std::size_t n) const {
  long double sum = 0;
  for (std::size_t k = 0; k < drafts_; ++k) sum += counts_[k * times_.size() + n];
  return sum;
}

long double RaceEnclosure::relative_error_of_bin() const {
  return (4 + 2.01L * (static_cast<long double>(times_.size()) / static_cast<long double>(per_octave_) + 1)) *
         half_ulp;
}

long double RaceEnclosure::error(std::size_t n) const {
  return 4.01L * static_cast<long double>(tokens_) * half_ulp + 2.01L * relative_error_of_bin() * bin_sum_[n];
}

Enclosure RaceEnclosure::missed(std::uint64_t outside) const {
  const long double c = static_cast<long double>(outside) * 0x1p-62L;
  std::vector<long double> gone(live_);
  ring(outside, live_, gone);
  const long double ratio = std::exp2(1 / static_cast<long double>(per_octave_));
  long double sum = step_ * c * earliest / (ratio - 1);  // the nodes before the first
  long double error_sum = c * earliest * earliest + after_the_race + dropped_ * 1.01L;
  for (std::size_t n = 0; n < live_ && c * times_[n] <= latest; ++n) {
    const long double weight = step_ * c * times_[n], silent = 1 - gone[n], few = fewer(n);
    sum += weight * silent * few;
    // The factor e^(-ct) is 1 - y, with the error of y and one rounding.
    error_sum += weight * (silent * error(n) + (few + error(n)) * (relative_error_of_bin() + half_ulp));
  }
  // All terms are positive and have at most 2 K + 8 roundings; the sum adds at most one a node.
  const auto roundings = static_cast<long double>(times_.size() + 2 * drafts_ + 16);
  const long double integral_error = 1.01L * error_sum + (sum * roundings) * half_ulp + step_error_;
  const long double share = 1.01L * rule_error(static_cast<int>(drafts_), per_octave_);
  const long double width = integral_error + share * (sum + integral_error);
  return {std::max(0.0L, sum - width), std::min(1.0L, sum + width)};
}

}  // namespace draftproof
