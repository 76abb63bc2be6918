// The vocabulary in bins: single tokens or buckets of tokens, ordered by p / q descending. Schemes that rank drafts
// read bins; each type of Distributions has single tokens or buckets.
//
//   n        size()               number of bins; each has q > 0
//   P_i      target_below(i)      p-mass of the first i bins and of the tokens with q = 0
//   s_i      proposal_below(i)    q-mass of the first i bins
//            ratios()             p-mass over q-mass of each bin
//            of(x)                bin of token x; q(x) > 0
//            single_tokens        every bin is one token
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/sim/simd/ratio_histogram.hpp>

namespace draftproof {

// A guide over descending ratios, which narrows the search for the number of ratios above b to a few entries.

/// Cells are equal steps of b / (1 + b), which maps the ratios 0 .. infinity onto 0 .. 1.
class RatioGuide {
 public:
  RatioGuide() = default;
  explicit RatioGuide(std::span<const double> descending)
      : cells_{std::bit_ceil(descending.size() + 1)}, start_(cells_ + 1) {
    // start_[c] is the number of ratios in cells above c, so prefix_length(b) is in [start_[c], start_[c - 1]].
    std::size_t j = 0;
    for (std::size_t cell = cells_ + 1; cell-- > 0;) {
      while (j < descending.size() && cell_of(descending[j]) > cell) ++j;
      start_[cell] = static_cast<std::uint32_t>(j);
    }
  }

  /// Returns the number of entries of `descending` greater than b; b >= 0. `descending` is the constructor's array.
  std::size_t prefix_length(std::span<const double> descending, double b) const {
    return search(descending).prefix_length(b);
  }

  /// Returns the search as a view: the addresses of `descending` and of the guide's array.
  RatioSearch search(std::span<const double> descending) const {
    return {descending.data(), descending.size(), start_.data(), cells_};
  }

 private:
  std::size_t cell_of(double b) const { return RatioSearch::cell_of(b, cells_); }

  std::size_t cells_ = 1;
  std::vector<std::uint32_t> start_{0, 0};
};

/// One bin per token with q > 0.
template <class Scalar>
class TokenBins {
 public:
  static constexpr bool single_tokens = true;

  /// `order` lists the tokens with q > 0 by descending ratio; `undraftable` is the p-mass of the tokens with q = 0.
  template <class L>
  TokenBins(const L& distributions, const std::vector<Token>& order, Scalar undraftable)
      : bin_(static_cast<std::size_t>(distributions.vocabulary()), -1), target_{undraftable}, proposal_{Scalar{0}} {
    for (const Token x : order) {
      bin_[static_cast<std::size_t>(x)] = size();
      target_.push_back(target_.back() + distributions.target(x));
      proposal_.push_back(proposal_.back() + distributions.proposal(x));
      ratio_.push_back(distributions.target(x) / distributions.proposal(x));
    }
  }

  /// `prefix` has the cumulative masses: entry i is the mass of the first i tokens of `order` and of the tokens with
  /// q = 0 together.
  template <class L, class Masses>
  TokenBins(const L& distributions, const std::vector<Token>& order, const Masses& prefix)
      : bin_(static_cast<std::size_t>(distributions.vocabulary()), -1) {
    for (const auto& mass : prefix) {
      target_.push_back(mass.target);
      proposal_.push_back(mass.proposal);
    }
    for (const Token x : order) {
      bin_[static_cast<std::size_t>(x)] = static_cast<int>(ratio_.size());
      ratio_.push_back(distributions.target(x) / distributions.proposal(x));
    }
  }

  int size() const { return static_cast<int>(target_.size()) - 1; }
  const Scalar& target_below(int i) const { return target_[static_cast<std::size_t>(i)]; }
  const Scalar& proposal_below(int i) const { return proposal_[static_cast<std::size_t>(i)]; }
  /// p / q of each bin, from the token's entries, because differences of cumulative sums would lose precision.
  const std::vector<Scalar>& ratios() const { return ratio_; }
  int of(Token x) const { return bin_[static_cast<std::size_t>(x)]; }
  /// of(x) for all x, [V]; -1 where q = 0.
  const std::vector<int>& by_token() const { return bin_; }

 private:
  std::vector<int> bin_;
  std::vector<Scalar> target_, proposal_, ratio_;
};

/// Largest number of groups of adjacent bins in a plan: more than rows of real models need (docs/ladder.md), few
/// enough for the shared memory of a team on a device.
inline constexpr int most_plan_stretches = 512;

/// Buckets of equal steps of the ratio (ratio_buckets.hpp), in lists of a workspace (cooperative_memory.hpp). On a
/// device only the lists that of() reads are persistent. The masses are fixed-point sums, computed by one pass over the
/// rows.
template <class Workspace>
class BucketBinsIn {
 public:
  static constexpr bool single_tokens = false;
  /// Largest number of groups of bins in a plan (verifiers/ladder/selected_distribution.hpp).
  static constexpr int most_stretches = most_plan_stretches;
  /// A plan joins adjacent bins as long as the q-mass of the group times its range of p / q is at most this value, or a
  /// quarter of it if one token decides and there is no surplus (verifiers/ladder/selected_distribution.hpp). The value
  /// was chosen by measurement, docs/ladder.md.
  double least_spread = 0x1p-14;

  /// Constructs an object without bins, which must be assigned to before use.
  BucketBinsIn() = default;
  /// `rows` has target_row() and proposal_row().
  template <class Rows>
  requires requires(const Rows& rows) { rows.target_row(); }
  explicit BucketBinsIn(const Rows& rows) : BucketBinsIn(simd::RatioMasses(rows.target_row(), rows.proposal_row())) {}
  explicit BucketBinsIn(const simd::RatioMasses& masses) : BucketBinsIn(Workspace{}, RatioBuckets::count) {
    fill(Workspace{}, masses);
  }
  /// Allocates lists for at most `most` bins, which fill() must fill.
  DRAFTPROOF_DEVICE BucketBinsIn(const Workspace& workspace, int most)
      : bin_(workspace.template persistent<typename Workspace::Index>(RatioBuckets::count)),
        bucket_(workspace.template scratch<typename Workspace::Index>(most)),
        target_(workspace.template scratch<double>(most + 1)),
        proposal_(workspace.template scratch<double>(most + 1)),
        ratio_(workspace.template scratch<double>(most)) {}

  /// Fills the bins from the masses of all buckets. Buckets are ordered by the ratios of their tokens.
  template <class Masses>
  [[gnu::noinline]] DRAFTPROOF_DEVICE void fill(const Workspace& workspace, const Masses& masses) {
    const Fixed undraftable = masses.of(RatioBuckets::outside).target;
    constexpr auto descending = [](int i) { return static_cast<std::size_t>(RatioBuckets::count - 1 - i); };
    const auto own = [&](int i) {
      const simd::RatioMass mass = masses.of(descending(i));
      return Above{mass.target, mass.proposal, mass.proposal != 0};
    };
    // The p-mass of a bucket without q-mass is included in target_below of the next bin.
    const auto enter = [&](int i, const Above& above, const Above& mass) {
      const auto bin = static_cast<std::size_t>(above.bins);
      // Tokens in a bucket without q-mass may have a q that was truncated to 0; of() maps them to the bin with the next
      // higher ratio.
      const std::int64_t place = above.bins - (mass.bins == 0);
      bin_[descending(i)] = static_cast<typename Workspace::Index>(place < 0 ? 0 : place);
      if (mass.bins == 0) return;
      target_[bin] = from_fixed(undraftable + above.target);
      proposal_[bin] = from_fixed(above.proposal);
      ratio_[bin] = static_cast<double>(mass.target) / static_cast<double>(mass.proposal);
      bucket_[bin] = static_cast<typename Workspace::Index>(descending(i));
    };
    const Above all = workspace.scan(RatioBuckets::count, Above{}, own, Plus{}, enter);
    const auto n = static_cast<std::size_t>(all.bins);
    target_.resize(n + 1);
    proposal_.resize(n + 1);
    ratio_.resize(n);
    bucket_.resize(n);
    // The last cumulative masses are set to 1, so the last bin gets the mass lost by truncation, less than V 2^-60.
    workspace.each(1, [&](int) { target_[n] = proposal_[n] = 1; });
  }

  DRAFTPROOF_DEVICE int size() const { return static_cast<int>(ratio_.size()); }
  DRAFTPROOF_DEVICE double target_below(int i) const { return target_[static_cast<std::size_t>(i)]; }
  DRAFTPROOF_DEVICE double proposal_below(int i) const { return proposal_[static_cast<std::size_t>(i)]; }
  /// p-mass over q-mass of each bin.
  DRAFTPROOF_DEVICE const ListIn<Workspace, double>& ratios() const { return ratio_; }
  /// Bounds of p / q over the tokens of a bin.
  DRAFTPROOF_DEVICE double highest(int i) const { return RatioBuckets::end(bucket_[static_cast<std::size_t>(i)]); }
  DRAFTPROOF_DEVICE double lowest(int i) const { return RatioBuckets::begin(bucket_[static_cast<std::size_t>(i)]); }
  DRAFTPROOF_DEVICE int of(double target, double proposal) const {
    return of_bucket(RatioBuckets::of(target, proposal));
  }
  DRAFTPROOF_DEVICE int of_bucket(std::size_t bucket) const { return bin_[bucket]; }

 private:
  /// For a bucket: the masses of the buckets with a higher ratio, and how many of them are bins.
  struct Above {
    Fixed target = 0, proposal = 0;
    std::int64_t bins = 0;
    DRAFTPROOF_DEVICE Above operator+(const Above& other) const {
      return {target + other.target, proposal + other.proposal, bins + other.bins};
    }
  };

  ListIn<Workspace, typename Workspace::Index> bin_, bucket_;
  ListIn<Workspace, double> target_, proposal_, ratio_;
};

using BucketBins = BucketBinsIn<HostWorkspace>;

// The ranking of the tokens with q > 0 by descending p / q, with the masses of any range of ranks. The ranking of a
// ratio table reads the table's order without copying it.
//
//   n           size()                   tokens with q > 0; their ranks are 0 .. n - 1
//               token(j), of(x)          token of rank j, rank of token x; ties of p / q to the lower id
//   r_j         ratio(j)                 p / q, never rising with j
//               target(a, b)             p-mass of ranks a .. b - 1
//               proposal(a, b)           q-mass of ranks a .. b - 1
//               undraftable()            p-mass of the tokens with q = 0
//               draw_undraftable(mass)   the first token at which the running p-mass of the tokens with q = 0 exceeds
//                                        `mass`

/// Distributions that rank single tokens. Other types of Distributions have buckets.
template <class L>
concept Ranked = requires(const L& distributions) {
  distributions.ranking();
};

/// The ranking of plain rows. It refers to the rows.
template <class L>
class TokenRanking {
 public:
  using Scalar = typename L::Scalar;

  /// `bins` has one token in each bin, in an order in which p / q never rises.
  TokenRanking(const L& distributions, TokenBins<Scalar> bins)
      : distributions_{&distributions}, bins_{std::move(bins)}, order_(static_cast<std::size_t>(bins_.size())) {
    for (Token x = 0; x < distributions.vocabulary(); ++x)
      if (bins_.of(x) >= 0) order_[static_cast<std::size_t>(bins_.of(x))] = x;
  }

  int size() const { return bins_.size(); }
  Token token(int j) const { return order_[static_cast<std::size_t>(j)]; }
  int of(Token x) const { return bins_.of(x); }
  Scalar ratio(int j) const { return distributions_->target(token(j)) / distributions_->proposal(token(j)); }
  Scalar target(int a, int b) const { return bins_.target_below(b) - bins_.target_below(a); }
  Scalar proposal(int a, int b) const { return bins_.proposal_below(b) - bins_.proposal_below(a); }
  Scalar undraftable() const { return bins_.target_below(0); }
  Token draw_undraftable(Scalar mass) const {
    Token last = no_token;
    for (Token x = 0; x < distributions_->vocabulary(); ++x)
      if (of(x) < 0 && distributions_->target(x) > distributions_->zero()) {
        last = x;
        mass -= distributions_->target(x);
        if (mass < distributions_->zero()) break;
      }
    return last;
  }

 private:
  const L* distributions_;
  TokenBins<Scalar> bins_;
  std::vector<Token> order_;
};

}  // namespace draftproof
