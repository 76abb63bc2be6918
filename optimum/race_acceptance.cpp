#include <draftproof/optimum/race_acceptance.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

namespace draftproof {

namespace {

/// First time of the grid. N is the number of tokens drawn from S by time t, and c is the mass outside S. At times t
/// before the first time, the factor Pr(N < K) e^(-ct) is replaced by 1. The error is at most t, because Pr(some clock
/// has rung by t) is at most t. The nodes before the grid then form a geometric series, whose error is at most c
/// t^2 = 2^-48 c for the first time t.
constexpr double first_time = 0x1p-24;
/// Beyond c t = 40 the integrand has weight below e^-40 = 4e-18.
constexpr double longest_race = 40;
/// Nodes with Pr(N < K) below this bound are dropped for all larger S. They add less than the bound to an integral,
/// because Pr(N < K) falls as S grows.
constexpr double spent = 1e-18;

/// Returns the least number of nodes per factor of two in time with which the trapezoid rule in log t, of step h, has a
/// relative error of at most 1e-14. At a complex time t e^(i d) the integrand is at most (sec d)^K times its value at
/// t cos d, so the relative error is at most 2 (sec d)^K e^(-2 pi d / h) for every d < pi / 2. This is least for
/// tan d = 2 pi / (h K).
int nodes_per_octave(int drafts) {
  for (int nodes = 2;; ++nodes) {
    const double frequency = 2 * std::numbers::pi * nodes / std::numbers::ln2;
    const double angle = std::atan(frequency / drafts);
    if (2 * std::pow(std::cos(angle), -drafts) * std::exp(-frequency * angle) <= 1e-14) return nodes;
  }
}

/// The distribution of min(N, K) at every node (time of the grid), as S grows.
class Race {
 public:
  /// `slowest`: the smallest positive mass outside S with which `missed` will be called.
  Race(int drafts, double slowest)
      : drafts_{static_cast<std::size_t>(drafts)}, per_octave_{static_cast<std::size_t>(nodes_per_octave(drafts))} {
    do {
      const double octave_count = static_cast<double>(times_.size()) / static_cast<double>(per_octave_);
      times_.push_back(first_time * std::exp2(octave_count));
    } while (times_.back() * slowest < longest_race);
    live_ = times_.size();
    bin_.resize(live_);
    counts_.assign(drafts_ * live_, 0);
    std::fill_n(counts_.begin(), live_, 1);
  }

  /// Adds a token of rate q to S.
  void add(double q) {
    // From the second octave (factor of two in t) on, y = 1 - e^(-qt) is computed from its value at t / 2, as y
    // (2 - y). This does not amplify the relative error of y, and adds one and a half roundings.
    for (std::size_t n = 0; n < std::min(per_octave_, live_); ++n) bin_[n] = -std::expm1(-q * times_[n]);
    for (std::size_t n = per_octave_; n < live_; ++n) {
      const double y = bin_[n - per_octave_];
      bin_[n] = y * (2 - y);
    }
    for (std::size_t k = drafts_; k-- > 1;) shift(counts(k), counts(k - 1));
    double* none = counts(0);
    for (std::size_t n = 0; n < live_; ++n) none[n] -= none[n] * bin_[n];
    while (live_ > 0 && fewer(live_ - 1) < spent) --live_;
  }

  /// Returns Pr(not all drafts in S), with mass c > 0 outside S.
  double missed(double c) const {
    const double step = std::numbers::ln2 / static_cast<double>(per_octave_);
    const double ratio = std::exp(-step);
    double sum = first_time * ratio / (1 - ratio);  // geometric series of the nodes before the grid
    for (std::size_t n = 0; n < live_ && c * times_[n] <= longest_race; ++n)
      sum += times_[n] * std::exp(-c * times_[n]) * fewer(n);
    return std::min(1.0, c * step * sum);
  }

 private:
  double* counts(std::size_t k) { return counts_.data() + k * times_.size(); }
  void shift(double* __restrict to, const double* __restrict from) const {
    const double* y = bin_.data();
    for (std::size_t n = 0; n < live_; ++n) to[n] += y[n] * (from[n] - to[n]);
  }
  double fewer(std::size_t n) const {
    double sum = 0;
    for (std::size_t k = 0; k < drafts_; ++k) sum += counts_[k * times_.size() + n];
    return sum;
  }

  std::size_t drafts_, per_octave_;
  std::size_t live_ = 0;             ///< number of nodes with Pr(N < K) >= spent, which are the first nodes
  std::vector<double> times_, bin_;  ///< t, and Pr(the clock of the added token has rung by t) = 1 - e^(-qt)
  std::vector<double> counts_;       ///< Pr(N = k) at node n: [k][n]
};

/// Grows S from the end of the order of tokens. Calls `at(j, missed)` for S = the tokens from j on; `missed()` computes
/// Pr(not all drafts in S) by the integral. Ends when `at` returns false, or at the first S with all of q's mass.
template <class At>
void sweep(const RatioTable& table, int drafts, At at) {
  assert(drafts >= 1);
  const auto order = table.order();
  const auto prefix = table.prefix();
  double slowest = 1;
  for (const auto& mass : prefix)
    if (mass.proposal > 0) slowest = std::min(slowest, mass.proposal);
  Race race(drafts, slowest);
  int tokens = 0;
  for (std::size_t j = order.size(); j-- > 0 && prefix[j].proposal > 0;) {
    race.add(table.proposal(order[j]));
    ++tokens;
    const auto missed = [&] { return tokens < drafts ? 1.0 : race.missed(prefix[j].proposal); };
    if (!at(j, missed)) return;
  }
}

}  // namespace

std::vector<double> missed_without_replacement(const RatioTable& table, int drafts) {
  std::vector<double> result(table.order().size() + 1, 0);
  result.back() = 1;
  sweep(table, drafts, [&](std::size_t j, auto missed) {
    result[j] = missed();
    return true;
  });
  return result;
}

Optimum without_replacement_optimum(const RatioTable& table, int drafts) {
  const auto prefix = table.prefix();
  Optimum best{1, table.order().size()};  // the cut of the empty S
  // For S = the support, all drafts are in S.
  std::size_t support = 0;
  while (support + 1 < prefix.size() && prefix[support + 1].proposal == 0) ++support;
  if (const double all = 1 - prefix[support].target; all < best.acceptance) best = {all, support};
  sweep(table, drafts, [&](std::size_t j, auto missed) {
    const double inside = 1 - prefix[j].target;
    if (inside >= best.acceptance) return false;
    // Pr(all drafts in S) without replacement is at most q(S)^K. This bound saves the integral for most sets S.
    if (inside + (1 - std::pow(1 - prefix[j].proposal, drafts)) >= best.acceptance) return true;
    if (const double value = inside + missed(); value < best.acceptance) best = {value, j};
    return true;
  });
  return best;
}

namespace {

constexpr long double half_ulp = std::numeric_limits<long double>::epsilon() / 2;
constexpr long double ln2 = 0.693147180559945309417232121458176568L;
constexpr long double pi = 3.141592653589793238462643383279502884L;
/// First time t of the grid. A geometric series replaces the nodes before t, with an error of at most c t^2.
constexpr long double earliest = 0x1p-32L;
/// Largest c t of a node. Later nodes add at most the integral of e^-s from latest / 2 on.
constexpr long double latest = 100;
constexpr long double after_the_race = 2e-22L;  // e^-50
constexpr long double least_survival = 1e-22L;

/// Returns a bound on the relative error of the trapezoid rule. The factor 1.0001 covers errors of the library
/// functions.
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
  // Times have a relative error of at most 8 u with u = half_ulp, even if exp2 has an error of 7 u. As a function of
  // log t, the integrand's slope is at most sqrt(K + 1), and the grid's length is the step times the number of nodes.
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
    const long double z = rate * times_[n];  // z < 2^-31, so the first omitted term is z^4 / 120 of the first term
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
  long double sum = step_ * c * earliest / (ratio - 1);  // geometric series of the nodes before the grid
  long double error_sum = c * earliest * earliest + after_the_race + dropped_ * 1.01L;
  for (std::size_t n = 0; n < live_ && c * times_[n] <= latest; ++n) {
    const long double weight = step_ * c * times_[n], silent = 1 - gone[n], few = fewer(n);
    sum += weight * silent * few;
    // The factor e^(-ct) is computed as 1 - y with y = gone[n], so it has the error of y and one rounding.
    error_sum += weight * (silent * error(n) + (few + error(n)) * (relative_error_of_bin() + half_ulp));
  }
  // All terms are positive and have at most 2 K + 8 roundings; the sum adds at most one rounding for each node.
  const auto roundings = static_cast<long double>(times_.size() + 2 * drafts_ + 16);
  const long double integral_error = 1.01L * error_sum + (sum * roundings) * half_ulp + step_error_;
  const long double share = 1.01L * rule_error(static_cast<int>(drafts_), per_octave_);
  const long double width = integral_error + share * (sum + integral_error);
  return {std::max(0.0L, sum - width), std::min(1.0L, sum + width)};
}

}  // namespace draftproof
