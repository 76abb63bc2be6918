#include <draftproof/optimum/independent_bounds.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace draftproof {
namespace {

/// Tokens with their p / r, lowest first; tokens that cannot be drafted are in no least cut.
using Order = std::vector<std::pair<double, Token>>;

class Search {
 public:
  Search(const RatioTable& table, int drafts)
      : table_{table},
        drafts_{static_cast<std::size_t>(drafts)},
        weights_(drafts_, 1.0),
        // What V additions, a weighted mean and a power of numbers at most 1 can lose.
        margin_{(table.vocabulary() + 4.0 * drafts) * 0x1p-53} {
    for (std::size_t k = 0; k < drafts_; ++k) lower_ = std::max(lower_, single(k));
  }

  OptimumBounds run() {
    constexpr int most_iterations = 24;
    for (int i = 0; i < most_iterations && upper_ - lower_ > margin_; ++i)
      if (!reweigh(scan(sorted()), i)) break;
    return {std::max(0.0, lower_ - margin_), std::min(1.0, upper_ + margin_)};
  }

 private:
  double proposal(Token x, std::size_t k) const { return table_.proposal(x, static_cast<int>(k)); }

  /// One draft alone is worth sum min(p, q_k).
  double single(std::size_t k) const {
    double sum = 0;
    for (Token x = 0; x < table_.vocabulary(); ++x) sum += std::min(table_.target(x), proposal(x, k));
    return sum;
  }

  double mixture(Token x) const {
    double sum = 0;
    for (std::size_t k = 0; k < drafts_; ++k) sum += weights_[k] * proposal(x, k);
    return sum / static_cast<double>(drafts_);
  }

  Order sorted() const {
    Order order;
    for (Token x = 0; x < table_.vocabulary(); ++x)
      if (const double r = mixture(x); r > 0) order.emplace_back(table_.target(x) / r, x);
    std::sort(order.begin(), order.end());
    return order;
  }

  /// Tightens both bounds. Returns q_k(S) of the set S that gives the lower one.
  std::vector<double> scan(const Order& order) {
    std::vector<double> masses(drafts_, 0), of_least(drafts_, 0);
    double p = 0, r = 0, least = 1;  // S empty
    for (const auto& [ratio, x] : order) {
      const double p_before = p, r_before = r;
      p += table_.target(x);
      r += mixture(x);
      double product = 1;
      for (std::size_t k = 0; k < drafts_; ++k) product *= (masses[k] += proposal(x, k));
      upper_ = std::min(upper_, p + (1 - product));
      // Where r passes 1 on the way to this token the curve has a corner of its own: the power is held at 1.
      if (r_before < 1 && r > 1) {
        const double value = p_before + (p - p_before) * ((1 - r_before) / (r - r_before));
        if (value < least) least = value, of_least = masses;
      } else if (const double value = p + (1 - std::min(1.0, std::pow(r, static_cast<double>(drafts_))));
                 value < least) {
        least = value, of_least = masses;
      }
    }
    lower_ = std::max(lower_, least);
    return of_least;
  }

  /// Weights under which the factors of that set agree, approached in halves once the first steps have been taken.
  bool reweigh(const std::vector<double>& masses, int iteration) {
    double mean = 0;
    for (const double mass : masses) {
      if (!(mass > 0)) return false;
      mean += std::log(mass) / static_cast<double>(drafts_);
    }
    const double step = iteration < 3 ? 1 : 0.5;
    for (std::size_t k = 0; k < drafts_; ++k)
      weights_[k] = std::exp((1 - step) * std::log(weights_[k]) + step * (mean - std::log(masses[k])));
    return true;
  }

  const RatioTable& table_;
  std::size_t drafts_;
  std::vector<double> weights_;
  double margin_, lower_ = 0, upper_ = 1;
};

}  // namespace

OptimumBounds independent_bounds(const RatioTable& table, int drafts) { return Search(table, drafts).run(); }

}  // namespace draftproof
