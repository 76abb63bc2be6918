// The residual (c p - q slope)+ of a target and the law of the draft that a ladder selected, on fresh rows: its sum
// and draws from it.
//
//   slope    by_bucket(bins, slope)    selected law over q for every bucket of p / q
//   total    total()                   one pass, which stores a partial sum a block
//   token    draw(word)                the same pass, and one block again
//   without  leave_out(seen, n)        tokens that do not count
//
// Cost: one pass, whose sums are kept for the life of the object.
// Correctness: it adds the same integers as weights(f) of the same function, in the same order of tokens. Those of
// tokens left out are subtracted, so nothing is left where all are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/function_weights.hpp>
#include <draftproof/verifiers/ladder/residual_sums.hpp>

namespace draftproof {

/// Laws that expose an engine's rows and count the entries read.
template <class L>
concept ShowsRows = requires(const L& laws) {
  laws.target_row();
  laws.proposal_row();
  laws.count_visited(std::size_t{});
};

/// The residual on one pair of rows. `bins` are in buckets; `bins`, `slope` and the laws must outlive this.
template <ShowsRows L, class Bins>
class LadderLeft {
 public:
  LadderLeft(const L& laws, const Bins& bins, const std::vector<double>& slope, double scale)
      : laws_{&laws},
        target_{laws.target_row()},
        proposal_{laws.proposal_row()},
        bins_{&bins},
        slope_{&slope},
        scale_{scale} {}

  /// n distinct tokens at `seen`, which must outlive this, count 0. To be called before the pass.
  void leave_out(const Token* seen, int n) { seen_ = seen, n_ = n; }

  /// Residual mass; makes the pass.
  double total() const { return from_fixed(pass()); }
  /// Residual at token x.
  double weight(Token x) const {
    fill();
    return among(x, seen_, n_) ? 0.0 : term().one(static_cast<std::size_t>(x));
  }
  /// The token drawn from the residual by a random word; no_token if it is empty.
  Token draw(std::uint64_t word) const {
    const Fixed total = pass();
    if (total <= 0) return no_token;
    auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
    const std::size_t block = simd::find_block(partial_.data(), left) * simd::block;
    const std::size_t end = std::min(block + simd::block, target_.size());
    laws_->count_visited(end - block);
    if (n_ == 0) return static_cast<Token>(simd::find(term(), block, end, left));
    auto x = static_cast<Token>(block);
    while ((left -= to_fixed(weight(x))) >= 0) ++x;
    return x;
  }
  /// Calls `visit(x, weight)` for each token x with a positive residual.
  template <class Visit>
  void for_each(Visit visit) const {
    fill();
    for (Token x = 0; x < laws_->vocabulary(); ++x)
      if (const double left = weight(x); left > 0) visit(x, left);
  }
  /// The same with the weights that draws realise, multiples of 2^-60.
  template <class Visit>
  void for_each_realised(Visit visit) const {
    for_each([&visit](Token x, double weight) {
      if (const Fixed served = to_fixed(weight); served > 0) visit(x, from_fixed(served));
    });
  }

 private:
  using Row = decltype(std::declval<const L&>().target_row());
  using Reader = simd::Reader<typename Row::value_type>;

  simd::LeftTerm<Reader> term() const { return {{target_.data()}, {proposal_.data()}, by_bucket_.data(), scale_}; }
  void fill() const {
    if (!by_bucket_.empty()) return;
    by_bucket_.resize(RatioBuckets::count + 1);  // the last stays 0: tokens that cannot be drafted are not selected
    for (std::size_t bucket = 0; bucket < RatioBuckets::count; ++bucket)
      by_bucket_[bucket] = (*slope_)[static_cast<std::size_t>(bins_->of_bucket(bucket))];
  }
  Fixed pass() const {
    if (!partial_.empty()) return total_;
    fill();
    partial_.resize((target_.size() + simd::block - 1) / simd::block);
    laws_->count_visited(target_.size());
    total_ = simd::left_sums(term(), target_.size(), nothing_left(), partial_.data());
    for (int i = 0; i < n_; ++i) {
      const auto x = static_cast<std::size_t>(seen_[i]);
      const Fixed gone = to_fixed(term().one(x));
      partial_[x / simd::block] -= gone;
      total_ -= gone;
    }
    return total_;
  }
  /// The longest run of buckets with c p <= slope q. No float lies between p / q and the end of its bucket, so the
  /// gap is at least half a last bit, 2^-25: more than all rounding errors.
  simd::RatioSpan nothing_left() const {
    int from = 0, to = 0;
    for (int bucket = 0, first = 0; bucket < RatioBuckets::count - 1; ++bucket) {
      if (by_bucket_[static_cast<std::size_t>(bucket)] < scale_ * RatioBuckets::end(bucket) * (1 - 0x1p-26))
        first = bucket + 1;
      else if (bucket + 1 - first > to - from)
        from = first, to = bucket + 1;
    }
    return {static_cast<float>(RatioBuckets::begin(from)), static_cast<float>(RatioBuckets::begin(to))};
  }

  const L* laws_;
  Row target_, proposal_;
  const Bins* bins_;
  const std::vector<double>* slope_;
  double scale_;
  const Token* seen_ = nullptr;
  int n_ = 0;
  mutable std::vector<double> by_bucket_;
  mutable std::vector<Fixed> partial_;
  mutable Fixed total_ = 0;
};

}  // namespace draftproof
