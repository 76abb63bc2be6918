#include <draftproof/optimum/fresh_scan.hpp>
#include <draftproof/optimum/independent_bounds.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace draftproof {
namespace {

/// If lower and upper bound differ by less than this, the search ends, because no report shows so many digits.
constexpr double close_enough = 1e-8;
/// Limit on the number of tokens that the search reads, about a second of work; a branch reads all V tokens about ten
/// times.
constexpr double most_work = 1e7;
constexpr int least_branches = 100;

enum class Side : char { free, inside, outside };

/// The cuts (sets of tokens) that contain the tokens inside and exclude the tokens outside. The value of each of these
/// cuts is at least `lower`.
struct CutBranch {
  std::vector<Side> side;
  std::vector<double> weights;
  double lower;
};

class Search {
 public:
  Search(const RatioTable& table, int drafts)
      : table_{table},
        drafts_{static_cast<std::size_t>(drafts)},
        tokens_{static_cast<std::size_t>(table.vocabulary())},
        // Bounds the rounding error of V additions, a weighted mean and a power, all of numbers of at most 1.
        margin_{(table.vocabulary() + 4.0 * drafts) * 0x1p-53} {}

  OptimumBounds run() {
    const auto later = [](const CutBranch& a, const CutBranch& b) { return a.lower > b.lower; };
    std::vector<CutBranch> open{{std::vector<Side>(tokens_, Side::free), std::vector<double>(drafts_, 1.0), 0}};
    tighten(open.front());
    int branches = 0;
    const double most = std::max<double>(least_branches, most_work / static_cast<double>(tokens_) / 10);
    while (open.front().lower < upper_ - close_enough && ++branches < most) {
      std::pop_heap(open.begin(), open.end(), later);
      CutBranch inside = std::move(open.back());
      open.pop_back();
      const std::size_t x = heaviest(inside);
      CutBranch outside = inside;
      inside.side[x] = Side::inside;
      outside.side[x] = Side::outside;
      for (CutBranch* branch : {&inside, &outside}) {
        tighten(*branch);
        open.push_back(std::move(*branch));
        std::push_heap(open.begin(), open.end(), later);
      }
    }
    return bounds(open.front().lower);
  }

 private:
  OptimumBounds bounds(double lower) const {
    return {std::max(0.0, std::min(lower, upper_) - margin_), std::min(1.0, upper_ + margin_)};
  }
  double target(std::size_t x) const { return table_.target(static_cast<Token>(x)); }
  double proposal(std::size_t x, std::size_t k) const {
    return table_.proposal(static_cast<Token>(x), static_cast<int>(k));
  }
  double mixture(const CutBranch& branch, std::size_t x) const {
    double sum = 0;
    for (std::size_t k = 0; k < drafts_; ++k) sum += branch.weights[k] * proposal(x, k);
    return sum / static_cast<double>(drafts_);
  }

  /// Returns the free token with the largest min(p, r), where r is the mixture (independent_bounds.hpp), because fixing
  /// its side changes the relaxation most.
  std::size_t heaviest(const CutBranch& branch) const {
    std::size_t best = 0;
    double most = -1;
    for (std::size_t x = 0; x < tokens_; ++x)
      if (branch.side[x] == Side::free)
        if (const double mass = std::min(target(x), mixture(branch, x)); mass > most) best = x, most = mass;
    return best;
  }

  void tighten(CutBranch& branch) {
    constexpr int most_iterations = 12;
    for (int i = 0; i < most_iterations && upper_ - branch.lower > margin_; ++i)
      if (!reweigh(branch, scan(branch), i)) return;
  }

  /// Tightens the lower bound of the branch and the upper bound of the search. Returns q_k(S), the mass of S in
  /// proposal k, for each k, where S is the set that gives the lower bound.
  std::vector<double> scan(CutBranch& branch) {
    std::vector<double> masses(drafts_, 0), of_least;
    MixedMass start{0, 0};
    const auto add = [&](std::size_t x) {
      for (std::size_t k = 0; k < drafts_; ++k) masses[k] += proposal(x, k);
    };
    order_.clear();
    for (std::size_t x = 0; x < tokens_; ++x) {
      if (branch.side[x] == Side::outside) continue;
      const double mixed = mixture(branch, x);
      if (branch.side[x] == Side::inside) {
        add(x);
        start.target += target(x);
        start.mixture += mixed;
      } else if (mixed > 0) {  // a token without r-mass is in no least cut
        order_.emplace_back(target(x) / mixed, x);
      }
    }
    std::sort(order_.begin(), order_.end());
    rising_.clear();
    for (const auto& [ratio, x] : order_) rising_.push_back({target(x), mixture(branch, x)});
    const MixtureCut relaxed = least_mixture_cut(start, rising_, drafts_);
    double least = relaxed.value, p = start.target, exact = 0;
    for (std::size_t i = 0;; ++i) {
      double product = 1;
      for (const double mass : masses) product *= mass;
      exact = p + (1 - product);
      upper_ = std::min(upper_, exact);
      if (i == relaxed.tokens) of_least = masses;
      if (i == order_.size()) break;
      add(order_[i].second);
      p += rising_[i].target;
    }
    if (order_.empty()) least = exact;  // one cut is left
    branch.lower = std::max(branch.lower, least);
    return of_least;
  }

  /// Moves the mixture's weights l_k towards the weights for which all factors l_k masses[k] are equal: all the way in
  /// the first iterations, then half the way. Returns false if a mass is 0.
  bool reweigh(CutBranch& branch, const std::vector<double>& masses, int iteration) const {
    double mean = 0;
    for (const double mass : masses) {
      if (!(mass > 0)) return false;
      mean += std::log(mass) / static_cast<double>(drafts_);
    }
    const double step = iteration < 3 ? 1 : 0.5;
    for (std::size_t k = 0; k < drafts_; ++k)
      branch.weights[k] = std::exp((1 - step) * std::log(branch.weights[k]) + step * (mean - std::log(masses[k])));
    return true;
  }

  const RatioTable& table_;
  std::size_t drafts_, tokens_;
  double margin_, upper_ = 1;
  std::vector<std::pair<double, std::size_t>> order_;  ///< free tokens by p / r
  std::vector<MixedMass> rising_;                      ///< masses of the tokens of order_, in the same order
};

}  // namespace

OptimumBounds independent_bounds(const RatioTable& table, int drafts) { return Search(table, drafts).run(); }

}  // namespace draftproof
