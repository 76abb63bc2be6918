// Distributions prepared for millions of trials: tokens sorted by p / q, with prefix sums. Every residual of drafts
// from one proposal is (p - b q)+ for some b, which is positive on a prefix of this order, so a residual mass is a
// look-up and a residual draw is a bisection.
//
//   r_j        ratio_[j]           p / q of the j-th token in descending order; +infinity where q = 0 < p
//   P_j, Q_j   prefix_[j]          p- and q-mass of the first j tokens
//   i(b)       prefix_length(b)    number of tokens with p / q > b
//   F(b)       residual_mass(b)    P_i - b Q_i
//   draw       residual(b).draw    smallest j with P_{j+1} - b Q_{j+1} > u F(b)
//
// Cost: O(V log V) once; then O(1) expected for F, O(log V) for a draw, O(1) for a draft.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_bins.hpp>
#include <draftproof/sim/distributions/ratio_residual.hpp>
#include <draftproof/sim/distributions/ratio_table_view.hpp>
#include <draftproof/sim/numeric/radix_sort.hpp>
#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/random/tape.hpp>
#include <draftproof/sim/sampling/alias_table.hpp>
#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/sampling/without_replacement.hpp>

namespace draftproof {

/// The distributions of one position, from rows of V probabilities that sum to 1 in double precision. Tokens are
/// sorted by p over the first proposal; other proposals have look-ups and draws only. A table is immutable after its
/// construction, so threads can share it.
class RatioTable {
 public:
  using Scalar = double;

  RatioTable(std::span<const double> target, std::span<const std::vector<double>> proposals) {
    stride_ = 1 + proposals.size();
    probabilities_.resize(target.size() * stride_);
    const auto p = read(target, 0);
    std::vector<std::uint64_t> first;
    for (std::size_t k = 0; k < proposals.size(); ++k) {
      auto q = read(proposals[k], 1 + k);
      aliases_.emplace_back(q);
      cumulatives_.emplace_back(q);
      if (k == 0) first = std::move(q);
    }
    sort_by_ratio(p, first);
    if (!proposals.empty())
      top_ = top_tokens(vocabulary(), [&row = proposals.front()](Token x) { return row[index(x)]; });
  }
  RatioTable(std::span<const double> target, const std::vector<double>& proposal)
      : RatioTable(target, std::span{&proposal, 1}) {}

  int vocabulary() const { return static_cast<int>(probabilities_.size() / stride_); }
  int proposals() const { return static_cast<int>(aliases_.size()); }
  double zero() const { return 0; }
  double one() const { return 1; }
  double target(Token x) const { return probabilities_[index(x) * stride_]; }
  double proposal(Token x, int k = 0) const { return probabilities_[index(x) * stride_ + 1 + row_of(k)]; }
  Token kth_most_probable(int j) const { return top_[index(j)]; }

  /// Tokens in the order of the table, and p- and q-mass of the first j tokens in this order. Tokens with p = q = 0 are
  /// left out.
  std::span<const Token> order() const { return order_; }
  using Mass = TableMass;
  std::span<const Mass> prefix() const { return prefix_; }
  /// The masses of prefix() without rounding, in units of 2^-62.
  struct ExactMass {
    std::uint64_t target, proposal;
  };
  std::span<const ExactMass> exact_prefix() const { return mass_below_; }

  /// Returns the number of leading tokens with p > b q.
  std::size_t prefix_length(double b) const { return guide_.prefix_length(ratio_, b); }

  double residual_mass(double b) const { return prefix_residual(prefix_length(b), b); }
  MassAndSlope<double> mass_and_slope(double b) const {
    const std::size_t j = prefix_length(b);
    return {prefix_residual(j, b), prefix_[j].proposal};
  }

  using Residual = RatioResidual<RatioTable>;
  Residual residual(double b) const { return residual(b, prefix_length(b)); }
  Residual clipped(double b, double clip_ratio) const {
    return {*this, b, clip_ratio, order_.size(), std::isinf(clip_ratio) ? order_.size() : prefix_length(clip_ratio)};
  }

  /// These overloads are for a caller that has already computed reached = prefix_length(b).
  double residual_mass(double b, std::size_t reached) const { return prefix_residual(reached, b); }
  Residual residual(double b, std::size_t reached) const {
    return {*this, b, std::numeric_limits<double>::infinity(), reached, reached};
  }
  /// Returns p-mass minus b times q-mass of the first j tokens; a result that rounding made negative becomes 0.
  double prefix_residual(std::size_t j, double b) const {
    return std::max(prefix_[j].target - b * prefix_[j].proposal, 0.0);
  }

  /// Prefetches the entries that a test of x reads. Always inlined, because g++ removes calls that only prefetch.
  [[gnu::always_inline]] void prefetch(Token x) const { __builtin_prefetch(&probabilities_[index(x) * stride_]); }

  auto row(int k) const { return ProposalWeights{*this, row_of(k), nullptr, 0}; }
  auto row_without(int k, const Token* seen, int n) const { return ProposalWeights{*this, row_of(k), seen, n}; }
  double mass_without(int k, const Token* seen, int n) const {
    return probability(cumulatives_[row_of(k)].mass_without(seen, n));
  }

  /// Writes drafts from q_k without replacement for every trial of a batch (without_replacement.hpp).
  void draw_without(int k, int drafts, PhiloxBatch& words, Token* out, int stride, bool* complete) const {
    DrawsWithout draws(aliases_[row_of(k)], cumulatives_[row_of(k)]);
    draws.draw(drafts, words, out, stride, complete, [this](Token x) { prefetch(x); });
  }

  template <class F>
  auto sum(F f) const {
    tokens_passed() += probabilities_.size() / stride_;
    return fixed_sum(vocabulary(), f);
  }
  template <class F>
  auto weights(F f) const {
    return PassWeights<F>{vocabulary(), std::move(f)};
  }
  /// Returns weights(f) as a table of cumulative sums, whose draws give the same tokens for the same random bits as
  /// weights(f).
  template <class F>
  auto tabulated(F f) const {
    return CumulativeWeights<F>{vocabulary(), std::move(f)};
  }
  /// Returns weights(f) as an alias table, whose draws give other tokens than weights(f) for the same random bits.
  template <class F>
  auto alias_weights(F f) const {
    std::vector<double> values;
    for (Token x = 0; x < vocabulary(); ++x) values.push_back(f(x));
    return AliasWeights(std::move(values));
  }

  /// Returns the addresses of the table's arrays, in the layout that a device reads. The table must outlive the view.
  /// Throws: std::invalid_argument if there are more than max_drafts proposals.
  TableView view() const {
    if (proposals() > max_drafts)
      throw std::invalid_argument("a view of a table: more proposals than the largest number of drafts");
    TableView view;
    view.size = vocabulary();
    view.rows = proposals();
    view.probabilities = probabilities_.data();
    view.tokens = order_.data();
    view.masses = prefix_.data();
    view.likeliest = top_.data();
    view.ratios = guide_.search(ratio_);
    for (std::size_t k = 0; k < aliases_.size(); ++k)
      view.proposals[k] = {aliases_[k].cells().data(), aliases_[k].rests().data(), cumulatives_[k].search()};
    return view;
  }

  /// Returns one bin for each token with q > 0, in the order of the table.
  TokenBins<double> bins() const {
    const auto first = std::find_if(order_.begin(), order_.end(), [this](Token x) { return proposal(x) > 0; });
    const auto skipped = static_cast<std::size_t>(first - order_.begin());
    return {*this, std::vector<Token>(first, order_.end()), std::span(prefix_).subspan(skipped)};
  }
  int bin(const TokenBins<double>& bins, Token x) const { return bins.of(x); }

  /// Returns the ranking (ratio_bins.hpp), which refers to the table; masses of ranks are differences of integers.
  auto ranking() const { return Ranking(*this); }

 private:
  class Ranking {
   public:
    explicit Ranking(const RatioTable& table)
        : table_{&table}, skipped_{table.guide_.prefix_length(table.ratio_, std::numeric_limits<double>::max())} {}

    int size() const { return static_cast<int>(table_->order_.size() - skipped_); }
    Token token(int j) const { return table_->order_[at(j)]; }
    int of(Token x) const {
      const double ratio = ratio_of(x);
      const auto first =
          table_->order_.begin() + static_cast<std::ptrdiff_t>(table_->guide_.prefix_length(table_->ratio_, ratio));
      auto place = first;
      if (*first != x) {
        const auto equal = std::upper_bound(table_->ratio_.begin() + (first - table_->order_.begin()),
                                            table_->ratio_.end(), ratio, std::greater<double>{});
        place = std::lower_bound(first, table_->order_.begin() + (equal - table_->ratio_.begin()), x);
      }
      return static_cast<int>(place - table_->order_.begin()) - static_cast<int>(skipped_);
    }
    double ratio(int j) const { return table_->ratio_[at(j)]; }
    /// Returns the quotient by which the table is sorted.
    double ratio_of(Token x) const { return table_->target(x) / table_->proposal(x); }
    double target(int a, int b) const {
      return probability(table_->mass_below_[at(b)].target - table_->mass_below_[at(a)].target);
    }
    double proposal(int a, int b) const {
      return probability(table_->mass_below_[at(b)].proposal - table_->mass_below_[at(a)].proposal);
    }
    double undraftable() const { return table_->prefix_[skipped_].target; }
    Token draw_undraftable(double mass) const {
      const auto first = table_->prefix_.begin() + 1;
      const auto place = std::upper_bound(first, first + static_cast<std::ptrdiff_t>(skipped_) - 1, mass,
                                          [](double left, const Mass& below) { return left < below.target; });
      return table_->order_[index(place - first)];
    }

   private:
    std::size_t at(int j) const { return skipped_ + index(j); }
    const RatioTable* table_;
    std::size_t skipped_;  ///< tokens with q = 0
  };

  class ProposalWeights {
   public:
    ProposalWeights(const RatioTable& table, std::size_t row, const Token* seen, int n)
        : table_{table}, row_{row}, seen_{seen}, n_{n} {}

    Token draw(std::uint64_t word) const {
      return n_ == 0 ? table_.aliases_[row_].draw(word) : table_.cumulatives_[row_].draw_without(seen_, n_, word);
    }
    /// Draws one token for each of `words`, `stride` apart in `out`, and prefetches the table's entries that a test
    /// of the drawn token reads.
    void draw(std::span<const std::uint64_t> words, Token* out, int stride) const {
      table_.aliases_[row_].draw(words, out, stride);
      for (std::size_t t = 0; t < words.size(); ++t) table_.prefetch(out[t * index(stride)]);
    }
    double weight(Token x) const { return among(x, seen_, n_) ? 0 : table_.proposal(x, static_cast<int>(row_)); }
    double total() const { return table_.mass_without(static_cast<int>(row_), seen_, n_); }
    template <class Visit>
    void for_each(Visit visit) const {
      for (Token x = 0; x < table_.vocabulary(); ++x)
        if (const double q = table_.proposal(x, static_cast<int>(row_)); q > 0 && !among(x, seen_, n_)) visit(x, q);
    }

   private:
    const RatioTable& table_;
    std::size_t row_;
    const Token* seen_;
    int n_;
  };

  static std::size_t index(std::integral auto x) { return static_cast<std::size_t>(x); }
  std::size_t row_of(int k) const { return aliases_.size() == 1 ? 0 : index(k); }

  /// Returns the integer masses of a row. Stores in `column` the probabilities that target() and proposal() return;
  /// RowRest makes entries that are equal in the row equal in `column`.
  std::vector<std::uint64_t> read(std::span<const double> row, std::size_t column) {
    const RowRest rest = rest_of(row);
    for (std::size_t x = 0; x < row.size(); ++x)
      probabilities_[x * stride_ + column] = probability(rest.read(truncated_mass(row[x])));
    return quantise(row, rest);
  }

  void sort_by_ratio(std::span<const std::uint64_t> p, std::span<const std::uint64_t> q) {
    std::vector<KeyedToken> keyed;
    keyed.reserve(p.size());
    for (Token x = 0; x < std::ssize(p); ++x)
      if (p[index(x)] != 0 || q[index(x)] != 0) keyed.push_back({target(x) / proposal(x), x});
    sort_by_key(keyed);
    std::uint64_t target_sum = 0, proposal_sum = 0;  // integer sums, so the order of equal ratios has no effect
    order_.reserve(keyed.size());
    ratio_.reserve(keyed.size());
    prefix_.reserve(keyed.size() + 1);
    mass_below_.reserve(keyed.size() + 1);
    prefix_.push_back({0, 0});
    mass_below_.push_back({0, 0});
    for (const auto& [ratio, x] : keyed) {
      order_.push_back(x);
      ratio_.push_back(ratio);
      target_sum += p[index(x)];
      proposal_sum += q[index(x)];
      prefix_.push_back({probability(target_sum), probability(proposal_sum)});
      mass_below_.push_back({target_sum, proposal_sum});
    }
    guide_ = RatioGuide{ratio_};
  }

  std::size_t stride_ = 1;
  std::vector<double> probabilities_;  ///< p and proposals of a token are adjacent, so a test reads one cache line
  std::vector<AliasTable> aliases_;
  std::vector<CumulativeTable> cumulatives_;
  std::vector<Token> order_, top_;
  std::vector<double> ratio_;
  std::vector<Mass> prefix_;
  RatioGuide guide_;
  std::vector<ExactMass> mass_below_;
};

}  // namespace draftproof
