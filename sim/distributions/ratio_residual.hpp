// A residual on a ratio table: p - b q on the first tokens of its order, p (1 - b / c) from the first token with
// p <= c q on. It covers both residuals of the schemes: (p - b q)+, without a c, and p - b min(q, p / c).
//
//   c       clip_ratio       infinity for (p - b q)+
//   n       count            number of leading tokens of the order on which the residual may be positive
//   w_j     up_to(j)         sum over the first j of them
//   draw                     the j that bisection finds with w_(j+1) > u w_n
//
// Cost: O(log V) a draw; O(1) expected with a guide of the same residual.
// Correctness: a guide ends its range before the first comparison that words of one cell decide differently
// (residual_guide.hpp). So a draw with a guide gives the token of the plain bisection, also where rounding makes w_j
// fall with j.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/distributions/residual_guide.hpp>
#include <draftproof/sim/random/realised_weights.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// Refers to the table and, if it has one, to the guide. Both must outlive it.
template <class Table>
class RatioResidual {
 public:
  /// `bend`: place of the first token with p <= clip_ratio q; at least `count` if there is none.
  DRAFTPROOF_DEVICE RatioResidual(const Table& table, double b, double clip_ratio, std::size_t count,
                                  std::size_t bend)
      : table_{&table},
        b_{b},
        clip_ratio_{clip_ratio},
        count_{count},
        bend_{bend < count ? bend : count},
        tail_{1 - b / clip_ratio} {}

  double b() const { return b_; }
  double clip_ratio() const { return clip_ratio_; }
  /// Whether `other` is the same residual of the same table with the same guide.
  bool is(const RatioResidual& other) const {
    return b_ == other.b_ && clip_ratio_ == other.clip_ratio_ && guide_ == other.guide_ && table_ == other.table_;
  }

  /// Sets the guide that draws start from; it must be a guide of this residual.
  void lead(const ResidualGuide* guide) { guide_ = guide; }
  /// A new guide of this residual.
  ResidualGuide guide() const {
    return {count_, total(), [this](std::size_t j) { return up_to(j + 1); }};
  }

  DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
    Search search = start(word);
    while (search.range.low < search.range.high) step(search);
    return found(search);
  }

  /// A draw in steps, so that many draws can run side by side. It ends where low = high.
  struct Search {
    double threshold;
    ResidualGuide::Range range;  ///< the result lies in low .. high
  };
  DRAFTPROOF_DEVICE Search start(std::uint64_t word) const {
    const double all = total();
    if (!(all > 0)) return {0, {nowhere, nowhere}};
    const double threshold = unit_interval(word) * all;
#if !defined(__CUDA_ARCH__)
    if (guide_ != nullptr) return {threshold, guide_->range(word)};
#endif
    return {threshold, {0, static_cast<std::uint32_t>(count_ - 1)}};
  }
  DRAFTPROOF_DEVICE void step(Search& search) const {
    auto& [low, high] = search.range;
    const std::uint32_t middle = search.range.middle();
    // By a mask: a branch here would be mispredicted every other time.
    const std::uint32_t before = std::uint32_t{0} - static_cast<std::uint32_t>(up_to(middle + 1) > search.threshold);
    high = (middle & before) | (high & ~before);
    low = (low & before) | ((middle + 1) & ~before);
  }
  DRAFTPROOF_DEVICE Token found(const Search& search) const {
    return search.range.low == nowhere ? no_token : table_->order()[search.range.low];
  }
  /// Prefetches what the next step reads. Always inlined: g++ drops the call as one without effect otherwise.
  [[gnu::always_inline]] void prefetch(const Search& search) const {
    __builtin_prefetch(table_->prefix().data() + search.range.middle() + 1);
  }

  DRAFTPROOF_DEVICE double weight(Token x) const {
    const double p = table_->target(x), q = table_->proposal(x);
    const double left = bend_ == count_ || p > clip_ratio_ * q ? p - b_ * q : p * tail_;
    return left < 0.0 ? 0.0 : left;
  }
  DRAFTPROOF_DEVICE double total() const { return up_to(count_); }
  template <class Visit>
  DRAFTPROOF_DEVICE void for_each(Visit visit) const {
    for (std::size_t j = 0; j < count_; ++j) {
      const Token x = table_->order()[j];
      const double weight = j < bend_ ? table_->target(x) - b_ * table_->proposal(x) : table_->target(x) * tail_;
      if (weight > 0) visit(x, weight);
    }
  }
  template <class Visit>
  void for_each_realised(Visit visit) const {
    if (const double all = total(); all > 0)
      realise_bisection(
          0, count_ - 1, 0, all, [this](std::size_t j) { return up_to(j + 1); },
          [&](std::size_t j, double share) { visit(table_->order()[j], share); });
  }

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  DRAFTPROOF_DEVICE double up_to(std::size_t j) const {
    if (j <= bend_) return table_->prefix_residual(j, b_);
    return table_->prefix_residual(bend_, b_) + (table_->prefix()[j].target - table_->prefix()[bend_].target) * tail_;
  }

  const Table* table_;
  const ResidualGuide* guide_ = nullptr;
  double b_, clip_ratio_;
  std::size_t count_, bend_;
  double tail_;
};

}  // namespace draftproof
