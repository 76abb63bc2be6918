// Distributions read from an engine's rows without preparation: every residual mass is one read-only pass. Benchmarks
// of a verifier's time per token use them; CUDA kernels read rows in the same way, with all threads of a block.
//
//   F(b)        residual_mass(b)     one pass; no pass if the last pass was at the same b
//   r_b, q_k    residual(b), row(k)  a draw is a pass (no pass for r_b after F(b)) and a second read of 1024 tokens
//   visited     visited()            number of tokens that passes and draws have read so far
//
// Terms are computed in double, except the residuals of entries shorter than double, which are computed in float
// (short_float.hpp). Terms are added as 64-bit integers (fixed_point.hpp) in the widest registers of the processor
// (simd/block_sums.hpp). A pass stores the partial sum of every block of 1024 tokens, by which a draw finds its block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/sim/distributions/ratio_bins.hpp>
#include <draftproof/sim/numeric/sums.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/sampling/without_replacement.hpp>
#include <draftproof/sim/simd/mass_and_slope.hpp>
#include <draftproof/sim/simd/readers.hpp>

namespace draftproof {

/// Views on rows of V entries (double, float, Bfloat16 or Half) that the caller keeps alive. All rows have the same
/// length and sum to 1 within the rounding of their format (stored_row.hpp; docs/rows.md on coarse formats). Each
/// thread needs an object for itself, because a pass stores its partial sums for the next draw.
template <class Entry>
class FreshRows {
 public:
  using Scalar = double;
  static constexpr int block = static_cast<int>(simd::block);
  static constexpr bool fresh = true;

  FreshRows(std::span<const Entry> target, std::span<const Entry> proposal) : FreshRows(target, {proposal}, 1) {}
  FreshRows(std::span<const Entry> target, std::vector<std::span<const Entry>> proposals)
      : FreshRows(target, std::move(proposals), 1) {}

  int vocabulary() const { return static_cast<int>(target_.size()); }
  int proposals() const { return static_cast<int>(proposals_.size()); }
  double zero() const { return 0; }
  double one() const { return 1; }
  double target(Token x) const { return target_[index(x)]; }
  double proposal(Token x, int k = 0) const { return row_of(k)[index(x)]; }
  /// The rows, for passes that read target and proposal at once.
  std::span<const Entry> target_row() const { return target_; }
  std::span<const Entry> proposal_row() const { return proposals_.front(); }

  double residual_mass(double b) const { return from_fixed(residual_pass(b)); }
  MassAndSlope<double> mass_and_slope(double b) const {
    const simd::FixedCurve curve = simd::mass_and_slope(above(b), target_.size(), partial_.data());
    visited_ += target_.size();
    passed_ = b;
    total_ = curve.mass;
    return {from_fixed(curve.mass), from_fixed(curve.slope)};
  }

  auto residual(double b) const { return TermWeights<Above>{*this, above(b)}; }
  auto clipped(double b, double clip_ratio) const {
    return TermWeights<Clipped>{*this, Clipped{reader(target_), reader(proposals_.front()), b, clip_ratio}};
  }
  auto row(int k) const { return TermWeights<Entries>{*this, Entries{reader(row_of(k))}}; }
  auto row_without(int k, const Token* seen, int n) const { return RemainingWeights{*this, k, seen, n}; }

  /// Returns the q-mass of the tokens that are not in `seen`. The difference of 1 and the mass of `seen` is returned if
  /// it is at least 1/16, because the subtraction then loses at most four bits. Otherwise a pass adds up the remaining
  /// tokens, so the result is exactly 0 if all of them have q = 0; weights with a small sum are scaled
  /// (numeric/sums.hpp).
  double mass_without(int k, const Token* seen, int n) const {
    double left = 1;
    for (int i = 0; i < n; ++i) left -= proposal(seen[i], k);
    if (left >= 0x1p-4) return left;
    return row_without(k, seen, n).total();
  }

  /// Returns the j-th most probable token. The first call makes one pass, for all j < max_drafts.
  Token kth_most_probable(int j) const {
    if (top_.empty()) {
      top_ = top_tokens(vocabulary(), [this](Token x) { return proposal(x); });
      visited_ += target_.size();
    }
    return top_[index(j)];
  }

  template <class F>
  auto sum(F f) const {
    visited_ += target_.size();
    return fixed_sum(vocabulary(), f);
  }
  template <class F>
  auto weights(F f) const {
    return FixedWeights<F>{vocabulary(), std::move(f), &visited_};
  }
  /// Returns weights(f), because fresh rows make no alias table.
  template <class F>
  auto alias_weights(F f) const {
    return weights(std::move(f));
  }

  /// Returns the buckets of p / q, by one pass.
  BucketBins bins() const {
    visited_ += target_.size();
    return BucketBins(*this);
  }
  int bin(const BucketBins& bins, Token x) const { return bins.of(target(x), proposal(x)); }

  /// Number of tokens that passes, and draws after them, have read; single look-ups do not count.
  std::uint64_t visited() const { return visited_; }
  /// Adds `tokens` to visited(), for code that passes over the rows itself.
  void count_visited(std::size_t tokens) const { visited_ += tokens; }

 private:
  using Reader = simd::Reader<Entry>;
  using Above = std::conditional_t<std::is_same_v<Entry, double>, simd::ResidualTerm<Reader, Reader>,
                                   simd::FloatResidualTerm<Entry>>;
  using Clipped = simd::ClippedTerm<Reader, Reader>;
  using Entries = simd::RowTerm<Reader>;

  FreshRows(std::span<const Entry> target, std::vector<std::span<const Entry>> proposals, int)
      : target_{target},
        proposals_{std::move(proposals)},
        row_step_{proposals_.size() == 1 ? 0u : 1u},
        partial_((target.size() + block - 1) / block) {}

  /// Weights that are a term of simd/residual_terms.hpp or simd/float_residual_terms.hpp.
  template <class Term>
  class TermWeights {
   public:
    TermWeights(const FreshRows& rows, const Term& term) : rows_{rows}, term_{term} {}

    Token draw(std::uint64_t word) const {
      const Fixed total = rows_.pass(term_);
      if (total <= 0) return no_token;
      auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
      const auto [start, end] = rows_.find_block(left);
      return static_cast<Token>(simd::find(term_, start, end, left));
    }
    double weight(Token x) const { return term_.one(index(x)); }
    double total() const { return from_fixed(rows_.pass(term_)); }
    template <class Visit>
    void for_each(Visit visit) const {
      for (Token x = 0; x < rows_.vocabulary(); ++x)
        if (const double weight = term_.one(index(x)); weight > 0) visit(x, weight);
    }
    template <class Visit>
    void for_each_realised(Visit visit) const {
      for (Token x = 0; x < rows_.vocabulary(); ++x)
        if (const Fixed weight = to_fixed(term_.one(index(x))); weight > 0) visit(x, from_fixed(weight));
    }

   private:
    const FreshRows& rows_;
    Term term_;
  };

  /// A row without some tokens: the integer sums of the row, less the integers of the removed tokens.
  class RemainingWeights {
   public:
    RemainingWeights(const FreshRows& rows, int k, const Token* seen, int n)
        : rows_{rows}, k_{k}, seen_{seen}, n_{n} {}

    Token draw(std::uint64_t word) const {
      const Fixed total = rows_.remaining_pass(k_, seen_, n_);
      if (total < small_total) return small([word](const auto& scaled, double) { return scaled.draw(word); });
      auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
      auto x = static_cast<Token>(rows_.find_block(left).first);
      while ((left -= to_fixed(weight(x))) >= 0) ++x;
      return x;
    }
    double weight(Token x) const { return among(x, seen_, n_) ? 0.0 : rows_.proposal(x, k_); }
    double total() const {
      const Fixed total = rows_.remaining_pass(k_, seen_, n_);
      if (total >= small_total) return from_fixed(total);
      return small([](const auto& scaled, double scale) { return scaled.total() / scale; });
    }
    template <class Visit>
    void for_each(Visit visit) const {
      for (Token x = 0; x < rows_.vocabulary(); ++x)
        if (const double left = weight(x); left > 0) visit(x, left);
    }
    template <class Visit>
    void for_each_realised(Visit visit) const {
      const Fixed total = rows_.remaining_pass(k_, seen_, n_);
      if (total < small_total)
        return small([&visit](const auto& scaled, double) { scaled.for_each_realised(visit); });
      for (Token x = 0; x < rows_.vocabulary(); ++x)
        if (const Fixed left = to_fixed(weight(x)); left > 0) visit(x, from_fixed(left));
    }

   private:
    /// Returns use(weights, scale) for the scaled weights of the remaining tokens.
    template <class Use>
    auto small(const Use& use) const {
      double largest = 0;
      for (Token x = 0; x < rows_.vocabulary(); ++x) largest = std::max(largest, weight(x));
      const auto scaled = [this](double scale) {
        return rows_.weights([this, scale](Token x) { return weight(x) * scale; });
      };
      const double scale =
          scale_of_small(rows_.vocabulary(), largest, [&scaled](double by) { return to_fixed(scaled(by).total()); });
      rows_.visited_ += rows_.target_.size();
      return use(scaled(scale), scale);
    }

    const FreshRows& rows_;
    int k_;
    const Token* seen_;
    int n_;
  };

  static std::size_t index(auto x) { return static_cast<std::size_t>(x); }
  static Reader reader(std::span<const Entry> row) { return {row.data()}; }
  /// Returns the row of proposal k without a branch, so that passes over rows of several proposals are vectorised.
  std::span<const Entry> row_of(int k) const { return proposals_[index(k) * row_step_]; }
  Above above(double b) const {
    if constexpr (std::is_same_v<Entry, double>)
      return {reader(target_), reader(proposals_.front()), b};
    else
      return {target_.data(), proposals_.front().data(), b};
  }

  /// Computes the total and the partial sum of each block by one pass. Makes no pass if the last pass was at the same
  /// b.
  Fixed residual_pass(double b) const {
    if (b == passed_) return total_;
    total_ = sums(above(b));
    passed_ = b;
    return total_;
  }
  Fixed pass(const Above& term) const { return residual_pass(term.b); }
  template <class Term>
  Fixed pass(const Term& term) const {
    passed_ = never;
    return sums(term);
  }
  Fixed remaining_pass(int k, const Token* seen, int n) const {
    Fixed total = pass(Entries{reader(row_of(k))});
    for (int i = 0; i < n; ++i) {
      const Fixed gone = to_fixed(proposal(seen[i], k));
      partial_[index(seen[i]) / simd::block] -= gone;
      total -= gone;
    }
    return total;
  }
  template <class Term>
  Fixed sums(const Term& term) const {
    visited_ += target_.size();
    return simd::sums(term, target_.size(), partial_.data());
  }

  /// Returns begin and end of the block in which the running sum of the last pass exceeds `left`; subtracts the sums of
  /// the blocks before it from `left`.
  std::pair<std::size_t, std::size_t> find_block(Fixed& left) const {
    const std::size_t start = simd::block * simd::find_block(partial_.data(), left);
    const std::size_t end = std::min(start + simd::block, target_.size());
    visited_ += end - start;
    return {start, end};
  }

  static constexpr double never = -1;  ///< no b is negative

  std::span<const Entry> target_;
  std::vector<std::span<const Entry>> proposals_;
  std::size_t row_step_;  ///< 0 if all drafts have one proposal
  mutable std::vector<Fixed> partial_;
  mutable Fixed total_ = 0;
  mutable double passed_ = never;  ///< the b whose residual `partial_` has sums of; `never` if it has other sums
  mutable std::uint64_t visited_ = 0;
  mutable std::vector<Token> top_;  ///< empty before the first call of kth_most_probable
};

}  // namespace draftproof
