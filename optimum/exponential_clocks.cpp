#include <draftproof/optimum/exponential_clocks.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace draftproof {
namespace {

/// First time of the grid. Below it Pr(N < K) e^(-ct) is replaced by 1, which is off by at most t (some clock may
/// have rung). The geometric series that replaces those nodes is therefore off by at most c t^2 = 2^-48 c.
constexpr double first_time = 0x1p-24;
/// Beyond c t = 40 the integrand has weight below e^-40 = 4e-18.
constexpr double longest_race = 40;
/// A node with Pr(N < K) below this adds less than this to any later integral, because Pr(N < K) falls as S grows.
constexpr double spent = 1e-18;

/// Nodes per factor of two in time: the fewest with a relative error of 1e-14. Off the real axis by an angle d the
/// integrand is at most (sec d)^K times its value at t cos d, so the trapezoid rule in log t errs by at most
/// 2 (sec d)^K e^(-2 pi d / h) of the integral for every d < pi / 2. The best d has tan d = 2 pi / (h K).
int nodes_per_octave(int drafts) {
  for (int nodes = 2;; ++nodes) {
    const double frequency = 2 * std::numbers::pi * nodes / std::numbers::ln2;
    const double angle = std::atan(frequency / drafts);
    if (2 * std::pow(std::cos(angle), -drafts) * std::exp(-frequency * angle) <= 1e-14) return nodes;
  }
}

/// The law of min(N_S(t), K) at every node, as S grows.
class Race {
 public:
  /// `slowest`: the smallest positive mass outside S with which `missed` will be called.
  Race(int drafts, double slowest)
      : drafts_{static_cast<std::size_t>(drafts)}, per_octave_{static_cast<std::size_t>(nodes_per_octave(drafts))} {
    do {
      const double octaves = static_cast<double>(times_.size()) / static_cast<double>(per_octave_);
      times_.push_back(first_time * std::exp2(octaves));
    } while (times_.back() * slowest < longest_race);
    live_ = times_.size();
    bin_.resize(live_);
    counts_.assign(drafts_ * live_, 0);
    std::fill_n(counts_.begin(), live_, 1);
  }

  /// Adds a token of rate q to S.
  void add(double q) {
    // 1 - e^(-qt) by doubling t: y (2 - y) adds one and a half roundings to the relative error of y and does not
    // amplify it.
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

  /// Pr(not all drafts in S), with mass c > 0 outside S.
  double missed(double c) const {
    const double step = std::numbers::ln2 / static_cast<double>(per_octave_);
    const double ratio = std::exp(-step);
    double sum = first_time * ratio / (1 - ratio);  // the nodes before the first
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
  std::size_t live_ = 0;             ///< number of nodes with Pr(N < K) >= spent: a leading part of the grid
  std::vector<double> times_, bin_;  ///< t, and Pr(the clock of the added token has rung by t) = 1 - e^(-qt)
  std::vector<double> counts_;       ///< Pr(N = k) at node n: [k][n]
};

/// Grows S from the end of the order. Calls `at(j, missed)` for S = the tokens from j on; `missed()` computes the
/// integral. Ends when `at` returns false, or at the first S with all of q's mass.
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
  Optimum best{1, table.order().size()};  // S empty
  // For S = the support, nothing is missed.
  std::size_t support = 0;
  while (support + 1 < prefix.size() && prefix[support + 1].proposal == 0) ++support;
  if (const double all = 1 - prefix[support].target; all < best.acceptance) best = {all, support};
  sweep(table, drafts, [&](std::size_t j, auto missed) {
    const double inside = 1 - prefix[j].target;
    if (inside >= best.acceptance) return false;
    // Pr(all in S) without replacement is at most q(S)^K. This skips the integral for most sets.
    if (inside + (1 - std::pow(1 - prefix[j].proposal, drafts)) >= best.acceptance) return true;
    if (const double value = inside + missed(); value < best.acceptance) best = {value, j};
    return true;
  });
  return best;
}

}  // namespace draftproof
