// The proposal on the bins from a break on, without some tokens: its mass and draws from it. Drafts without
// replacement go on from there after the race of a trial.
//
//   mass()        q-mass
//   draw(word)    a token, proportional to q
//
// Cost: O(n) and O(n + log V) for n tokens left out where the laws keep sums along their ranking. On fresh rows a
// pass in wide registers, but for the mass, which is O(n) while a sixteenth of the bins' mass is left. Else O(V).
// Correctness: where every token is left out the mass is exactly 0: sums are integers, or terms that are left out are
// not added in the first place.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/random/tape.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/path_bins.hpp>
#include <draftproof/verifiers/ladder/residual.hpp>

namespace draftproof {

/// Refers to its arguments. `seen`: n distinct tokens of bins from `first` on.
template <class L, class Bins>
class RemainingBins {
 public:
  using Scalar = typename L::Scalar;

  RemainingBins(const L& laws, const Bins& bins, int first, const Token* seen, int n)
      : laws_{laws}, bins_{bins}, first_{first}, seen_{seen}, n_{n} {}

  Scalar mass() const {
    return laws_.sum([this](Token x) { return weight(x); });
  }
  Token draw(std::uint64_t word) const { return weights().draw(word); }
  template <class Visit>
  void for_each(Visit visit) const {
    weights().for_each(visit);
  }
  template <class Visit>
  void for_each_realised(Visit visit) const {
    visit_realised(weights(), visit);
  }

 private:
  Scalar weight(Token x) const {
    const auto& q = laws_.proposal(x);
    const bool left = q > laws_.zero() && !(ladder_bin(laws_, bins_, x) < first_) && !among(x, seen_, n_);
    return left ? Scalar(q) : laws_.zero();
  }
  auto weights() const {
    return laws_.weights([this](Token x) { return weight(x); });
  }

  const L& laws_;
  const Bins& bins_;
  int first_;
  const Token* seen_;
  int n_;
};

/// Buckets of fresh rows: the residual of no target and of a selected law of -q on the bins from a break on.
template <ShowsRows L, class Bins>
requires(!Bins::single_tokens) class RemainingBins<L, Bins> {
 public:
  RemainingBins(const L& laws, const Bins& bins, int first, const Token* seen, int n)
      : laws_{laws},
        bins_{bins},
        first_{first},
        seen_{seen},
        n_{n},
        slope_(static_cast<std::size_t>(bins.size()), 0.0),
        weights_(laws, bins, slope_, 0.0) {
    std::fill(slope_.begin() + first, slope_.end(), -1.0);
    weights_.leave_out(seen, n);
  }
  RemainingBins(const RemainingBins&) = delete;
  RemainingBins& operator=(const RemainingBins&) = delete;

  double mass() const {  // by subtraction while that loses at most four bits
    const double all = bins_.proposal_below(bins_.size()) - bins_.proposal_below(first_);
    double left = all;
    for (int i = 0; i < n_; ++i) left -= laws_.proposal(seen_[i]);
    return left >= all * 0x1p-4 ? left : weights_.total();
  }
  Token draw(std::uint64_t word) const { return weights_.draw(word); }
  template <class Visit>
  void for_each(Visit visit) const {
    weights_.for_each(visit);
  }
  template <class Visit>
  void for_each_realised(Visit visit) const {
    weights_.for_each_realised(visit);
  }

 private:
  const L& laws_;
  const Bins& bins_;
  int first_;
  const Token* seen_;
  int n_;
  std::vector<double> slope_;
  LadderLeft<L, Bins> weights_;
};

/// Buckets of rows that a team reads: the integers of FreshRows by passes of the whole team. `all`: the mass of the bins
/// from `first` on.
template <PlannedByTeam L, class Bins>
class RemainingBins<L, Bins> {
 public:
  DRAFTPROOF_DEVICE RemainingBins(const L& laws, const Bins& bins, int first, const Token* seen, int n, double all)
      : laws_{laws}, bins_{bins}, first_{first}, seen_{seen}, n_{n}, all_{all} {}

  DRAFTPROOF_DEVICE double mass() const {
    double left = all_;
    for (int i = 0; i < n_; ++i) left -= laws_.proposal(seen_[i]);
    return left >= all_ * 0x1p-4 ? left : laws_.sum(Left{this});
  }
  DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const { return laws_.weights(Left{this}).draw(word); }
  template <class Visit>
  DRAFTPROOF_DEVICE void for_each(Visit visit) const {
    laws_.weights(Left{this}).for_each(visit);
  }

 private:
  struct Left {
    const RemainingBins* of;
    DRAFTPROOF_DEVICE double operator()(Token x) const {
      const double q = of->laws_.proposal(x);
      const bool left = q > 0 && of->laws_.bin(of->bins_, x) >= of->first_ && !among(x, of->seen_, of->n_);
      return left ? q : 0.0;
    }
  };

  const L& laws_;
  const Bins& bins_;
  int first_;
  const Token* seen_;
  int n_;
  double all_;
};

/// Stretches of a ranking with exact sums, or its single tokens.
template <RankedBySums L, class Bins>
class RemainingBins<L, Bins> {
 public:
  RemainingBins(const L& laws, const Bins& bins, int first, const Token* seen, int n)
      : laws_{laws}, ranking_{laws.ranking()}, first_{first_rank(bins, first)}, n_{n} {
    for (int i = 0; i < n; ++i) rank_[static_cast<std::size_t>(i)] = rank_of(bins, seen[i]);
    std::sort(rank_.begin(), rank_.begin() + n);
  }

  double mass() const { return static_cast<double>(left()) * unit; }
  Token draw(std::uint64_t word) const {
    if (left() == 0) return no_token;
    // The place among the integers of the tokens that are left; tokens left out before it push it on.
    std::uint64_t place = below(first_) + scale(word, left());
    for (int i = 0; i < n_ && below(rank(i)) <= place; ++i) place += below(rank(i) + 1) - below(rank(i));
    int low = first_, high = ranking_.size() - 1;  // last rank with below(rank) <= place
    while (low < high) {
      const int middle = low + (high - low + 1) / 2;
      if (below(middle) <= place)
        low = middle;
      else
        high = middle - 1;
    }
    return ranking_.token(low);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (int j = first_, i = 0; j < ranking_.size(); ++j) {
      if (i < n_ && rank(i) == j)
        ++i;
      else
        visit(ranking_.token(j), ranking_.proposal(j, j + 1));
    }
  }

 private:
  static constexpr double unit = 0x1p-62;

  static int first_rank(const Bins& bins, int bin) {
    if constexpr (Bins::single_tokens)
      return bin;
    else
      return bins.first(bin);
  }
  int rank_of(const Bins& bins, Token x) const {
    if constexpr (Bins::single_tokens)
      return bins.of(x);
    else
      return ranking_.of(x);
  }
  int rank(int i) const { return rank_[static_cast<std::size_t>(i)]; }
  /// q-mass of the ranks below j, in units of 2^-62.
  std::uint64_t below(int j) const {
    const auto sums = laws_.exact_prefix();
    return sums[sums.size() - 1 - static_cast<std::size_t>(ranking_.size() - j)].proposal;
  }
  std::uint64_t left() const {
    std::uint64_t sum = below(ranking_.size()) - below(first_);
    for (int i = 0; i < n_; ++i) sum -= below(rank(i) + 1) - below(rank(i));
    return sum;
  }

  using Ranking = decltype(std::declval<const L&>().ranking());

  const L& laws_;
  Ranking ranking_;
  int first_, n_;
  std::array<int, 2 * max_drafts> rank_{};
};

// The ladder for drafts that go on uniformly where q runs out (uniform_rest.hpp), on fresh rows and on a device: the
// tokens outside the support S are in buckets of p in place of an order.
//
//   scale        power of two that makes 2^-4 / V about 1: buckets of p scale, two of the ratio's to each
//   bins         buckets of R by p descending; then S, one bin of no bounded width
//   s_i          number of tokens of R in the first i bins
//   F_i          1 - C(r - s_i, k) / C(r, k); 1 with S
//
// Cost: one pass and a sweep over at most 512 bins.
// Correctness: as for single tokens: any bins are lossless, and the first draft of a group of R is uniform on it.
// Sums of p are integers. Chords are sums of products, so that nothing cancels.

/// The tokens outside S in buckets of p, and S.
template <class Workspace>
class RestBuckets {
 public:
  static constexpr bool single_tokens = false, open_end = true;
  static constexpr double least_spread = 0x1p-14;
  static constexpr int most_stretches = 512;

  /// `support`: the n tokens of S. A team makes it together, as the first of its plan.
  template <class L>
  [[gnu::noinline]] DRAFTPROOF_DEVICE RestBuckets(const Workspace& workspace, const L& laws, const Token* support,
                                                  int n)
      : bin_(workspace.template persistent<typename Workspace::Index>(count)),
        below_(workspace.template persistent<double>(count + 1)),
        target_(workspace.template scratch<double>(count + 1)),
        ratio_(workspace.template scratch<double>(count)),
        bucket_(workspace.template scratch<typename Workspace::Index>(count)) {
    scale_ = 0x1p4;
    for (int tokens = 1; tokens < laws.vocabulary(); tokens *= 2) scale_ *= 2;
    const auto term = [this, &laws, support, n](Token x) {
      return Term{among(x, support, n) ? count - 1 : place(laws.target(x)), to_fixed(laws.target(x)), 1};
    };
    if constexpr (PlannedByTeam<L>) {
      const unsigned mark = workspace.brief_so_far();
      fill(workspace, laws.sums_by_place(count, term));
      workspace.end_brief_after(mark);
    } else {
      std::vector<Fixed> sums(2 * static_cast<std::size_t>(count), 0);
      for (Token x = 0; x < laws.vocabulary(); ++x) {
        const Term one = term(x);
        sums[2 * static_cast<std::size_t>(one.place)] += one.first;
        sums[2 * static_cast<std::size_t>(one.place) + 1] += one.second;
      }
      if constexpr (requires { laws.count_visited(sums.size()); })
        laws.count_visited(static_cast<std::size_t>(laws.vocabulary()));
      fill(workspace, sums);
    }
  }

  DRAFTPROOF_DEVICE int size() const { return static_cast<int>(ratio_.size()); }
  /// The bin of S.
  DRAFTPROOF_DEVICE int outside() const { return size() - 1; }
  DRAFTPROOF_DEVICE double target_below(int i) const { return target_[at(i)]; }
  DRAFTPROOF_DEVICE double proposal_below(int i) const { return below_[at(i)]; }
  DRAFTPROOF_DEVICE const ListIn<Workspace, double>& tokens_below() const { return below_; }
  DRAFTPROOF_DEVICE const ListIn<Workspace, double>& ratios() const { return ratio_; }
  /// Bounds of p over the tokens of a bin; of S its own mass.
  DRAFTPROOF_DEVICE double highest(int i) const {
    if (i == outside()) return target_[at(i + 1)] - target_[at(i)];
    return RatioBuckets::end(2 * static_cast<int>(bucket_[at(i)]) + 1) / scale_;
  }
  DRAFTPROOF_DEVICE double lowest(int i) const {
    if (i == outside()) return highest(i);
    const int pair = static_cast<int>(bucket_[at(i)]);
    return (pair == 1 ? 0 : RatioBuckets::begin(2 * pair)) / scale_;
  }
  /// The bin of a token of R with this p.
  DRAFTPROOF_DEVICE int of(double target) const { return static_cast<int>(bin_[at(place(target))]); }

 private:
  static constexpr int count =
      RatioBuckets::count / 2;  ///< places: pairs of buckets, the highest first; S is the last
  struct Term {
    int place;
    Fixed first, second;
  };

  DRAFTPROOF_DEVICE static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  DRAFTPROOF_DEVICE int place(double target) const {
    const int pair = static_cast<int>(RatioBuckets::of(static_cast<float>(target * scale_))) / 2;
    return count - 1 - (pair < 1 ? 1 : pair);
  }

  /// Places without tokens get no bin.
  template <class Sums>
  DRAFTPROOF_DEVICE void fill(const Workspace& workspace, const Sums& sums) {
    workspace.once([&] {
      Fixed above = 0, tokens = 0;
      int bins = 0;
      for (int i = 0; i < count; ++i) {
        const Fixed own = sums[2 * at(i)], its_tokens = i == count - 1 ? 1 : sums[2 * at(i) + 1];
        bin_[at(i)] = static_cast<typename Workspace::Index>(bins);
        if (its_tokens == 0) continue;
        target_[at(bins)] = from_fixed(above);
        below_[at(bins)] = static_cast<double>(tokens);
        ratio_[at(bins)] = i == count - 1 ? 0 : from_fixed(own) / static_cast<double>(its_tokens);
        bucket_[at(bins)] = static_cast<typename Workspace::Index>(count - 1 - i);
        above += own;
        tokens += its_tokens;
        ++bins;
      }
      target_[at(bins)] = 1;
      below_[at(bins)] = static_cast<double>(tokens);
    });
    // The last place has the last bin: that of S.
    const int bins = static_cast<int>(bin_[at(count - 1)]) + 1;
    if constexpr (requires { workspace.meet(); }) workspace.meet();  // before the lists' lengths change
    target_.resize(at(bins + 1));
    below_.resize(at(bins + 1));
    ratio_.resize(at(bins));
    bucket_.resize(at(bins));
  }

  double scale_ = 1;
  ListIn<Workspace, typename Workspace::Index> bin_;
  ListIn<Workspace, double> below_, target_, ratio_;
  ListIn<Workspace, typename Workspace::Index> bucket_;
};

/// F of k uniform drafts without replacement of r tokens, and its chords per token. `below` must outlive this.
template <class List>
class RestBucketCoverage {
 public:
  static constexpr bool by_place = true, open_end = true;

  DRAFTPROOF_DEVICE RestBucketCoverage(const List& below, int drafts)
      : below_{below}, drafts_{drafts}, last_{static_cast<int>(below.size()) - 1} {
    rest_ = below[static_cast<std::size_t>(last_) - 1];
  }

  DRAFTPROOF_DEVICE double covered(int i) const { return i == last_ ? 1 : 1 - missed(left(i)); }
  DRAFTPROOF_DEVICE double chord(int a, int b) const {
    if (b == last_) return 0;
    const double from = left(a), to = left(b);
    if (to < drafts_) return missed(from) / (from - to);
    // The difference of two products: the sum over m of those whose first m factors are of `to`.
    double sum = 0, product = 1;
    for (int m = drafts_; m-- > 0;) {  // product: the factors of `from` after m, or of `to` before it
      double term = 1 / (rest_ - m);
      for (int j = 0; j < m; ++j) term *= (to - j) / (rest_ - j);
      sum += term * product;
      product *= (from - m) / (rest_ - m);
    }
    return sum;
  }

 private:
  DRAFTPROOF_DEVICE double left(int i) const { return rest_ - below_[static_cast<std::size_t>(i)]; }
  /// C(left, k) / C(r, k).
  DRAFTPROOF_DEVICE double missed(double left) const {
    if (left < drafts_) return 0;
    double product = 1;
    for (int j = 0; j < drafts_; ++j) product *= (left - j) / (rest_ - j);
    return product;
  }

  const List& below_;
  int drafts_, last_;
  double rest_;
};

}  // namespace draftproof
