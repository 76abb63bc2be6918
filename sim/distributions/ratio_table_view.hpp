// The arrays of a ratio table given by their addresses: distributions that one thread reads, on the host or on a
// device. Draws give the same tokens as draws from RatioTable for the same random bits.
//
//   r_j         ratios         p / q of the j-th token in descending order, with a guide   [n]
//   x_j         order()[j]     the j-th token                                              [n]
//   P_j, Q_j    prefix()[j]    p- and q-mass of the first j tokens                         [n + 1]
//               proposals[k]   alias cells, their rests and cumulative sums of the k-th q  (alias_table.hpp,
//                                                                                          guide_table.hpp)
//
// Cost: as for RatioTable for masses and draws of residuals and rows. A sum of a function and a draw from weights of a
// function are passes over V by one thread.
// Correctness: the view runs the same code as the table. Sums that the table stores and a view does not
// (CumulativeWeights) are sums of integers, so the view computes the same sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <draftproof/sim/distributions/ratio_residual.hpp>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/sampling/alias_table.hpp>
#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/sim/sampling/weights.hpp>

namespace draftproof {

/// p- and q-mass of some tokens.
struct TableMass {
  double target, proposal;
};

/// Arrays of one proposal.
struct ProposalView {
  const std::uint64_t* cells;  ///< [V]
  const std::uint32_t* rests;  ///< [V]
  SumSearch sums;
};

/// Weights f(x), x = 0 .. size - 1, with the same sum and draws as FixedWeights and CumulativeWeights, by one thread.
template <class F>
class ScannedWeights {
 public:
  DRAFTPROOF_DEVICE ScannedWeights(int size, F f) : size_{size}, f_{std::move(f)} {}

  DRAFTPROOF_DEVICE double total() const { return from_fixed(sum()); }
  DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
    const Fixed all = sum();
    if (all <= 0) return no_token;
    auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(all)));
    for (Token x = 0; x < size_; ++x)
      if (const Fixed term = to_fixed(f_(x)); left < term)
        return x;
      else
        left -= term;
    return no_token;
  }
  template <class Visit>
  DRAFTPROOF_DEVICE void for_each(Visit visit) const {
    for (Token x = 0; x < size_; ++x)
      if (const double weight = f_(x); weight > 0) visit(x, weight);
  }

 private:
  DRAFTPROOF_DEVICE Fixed sum() const {
    Fixed all = 0;
    for (Token x = 0; x < size_; ++x) all += to_fixed(f_(x));
    return all;
  }

  int size_;
  F f_;
};

/// The view. Kernels copy it by value; it owns no memory.
struct TableView {
  using Scalar = double;
  using Residual = RatioResidual<TableView>;

  DRAFTPROOF_DEVICE int vocabulary() const { return size; }
  DRAFTPROOF_DEVICE double zero() const { return 0; }
  DRAFTPROOF_DEVICE double one() const { return 1; }
  DRAFTPROOF_DEVICE double target(Token x) const { return probabilities[index(x) * stride()]; }
  DRAFTPROOF_DEVICE double proposal(Token x, int k = 0) const {
    return probabilities[index(x) * stride() + 1 + index(row_of(k))];
  }
  DRAFTPROOF_DEVICE Token kth_most_probable(int j) const { return likeliest[j]; }

  DRAFTPROOF_DEVICE const Token* order() const { return tokens; }
  DRAFTPROOF_DEVICE const TableMass* prefix() const { return masses; }

  DRAFTPROOF_DEVICE double prefix_residual(std::size_t j, double b) const {
    const double left = masses[j].target - b * masses[j].proposal;
    return left < 0.0 ? 0.0 : left;
  }
  DRAFTPROOF_DEVICE double residual_mass(double b) const { return prefix_residual(ratios.prefix_length(b), b); }
  DRAFTPROOF_DEVICE MassAndSlope<double> mass_and_slope(double b) const {
    const std::size_t j = ratios.prefix_length(b);
    return {prefix_residual(j, b), masses[j].proposal};
  }
  DRAFTPROOF_DEVICE Residual residual(double b) const {
    const std::size_t reached = ratios.prefix_length(b);
    return {*this, b, infinity, reached, reached};
  }
  DRAFTPROOF_DEVICE Residual clipped(double b, double clip_ratio) const {
    return {*this, b, clip_ratio, ratios.size,
            clip_ratio == infinity ? ratios.size : ratios.prefix_length(clip_ratio)};
  }

  class Row {
   public:
    DRAFTPROOF_DEVICE Row(const TableView& table, int row, const Token* seen, int n)
        : table_{table}, row_{row}, seen_{seen}, n_{n} {}

    DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
      const ProposalView& own = table_.proposals[row_];
      if (n_ == 0) return alias_draw(own.cells, own.rests, index(table_.size), word);
      const std::uint64_t left = table_.units_without(row_, seen_, n_);
      if (left == 0) return no_token;
      Token sorted[max_drafts];
      for (int i = 0; i < n_; ++i) {
        int place = i;
        for (; place > 0 && sorted[place - 1] > seen_[i]; --place) sorted[place] = sorted[place - 1];
        sorted[place] = seen_[i];
      }
      return own.sums.find_outside(sorted, n_, scale(word, left));
    }
    template <class Visit>
    DRAFTPROOF_DEVICE void for_each(Visit visit) const {
      for (Token x = 0; x < table_.size; ++x)
        if (const double q = table_.proposal(x, row_); q > 0 && !among(x, seen_, n_)) visit(x, q);
    }

   private:
    const TableView& table_;
    int row_;
    const Token* seen_;
    int n_;
  };
  DRAFTPROOF_DEVICE Row row(int k) const { return {*this, row_of(k), nullptr, 0}; }
  DRAFTPROOF_DEVICE Row row_without(int k, const Token* seen, int n) const { return {*this, row_of(k), seen, n}; }
  DRAFTPROOF_DEVICE double mass_without(int k, const Token* seen, int n) const {
    return static_cast<double>(units_without(row_of(k), seen, n)) * 0x1p-62;
  }

  template <class F>
  DRAFTPROOF_DEVICE double sum(F f) const {
    return ScannedWeights<F>(size, std::move(f)).total();
  }
  template <class F>
  DRAFTPROOF_DEVICE auto weights(F f) const {
    return ScannedWeights<F>(size, std::move(f));
  }

  int size = 0, rows = 1;                 ///< V, and the number of proposals
  const double* probabilities = nullptr;  ///< [V, 1 + rows]
  const Token* tokens = nullptr;          ///< [n]
  const TableMass* masses = nullptr;      ///< [n + 1]
  const Token* likeliest = nullptr;       ///< [min(V, max_drafts)], most probable tokens of q, in descending order
  RatioSearch ratios{};
  ProposalView proposals[max_drafts] = {};

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  DRAFTPROOF_DEVICE static constexpr std::size_t index(int x) { return static_cast<std::size_t>(x); }
  DRAFTPROOF_DEVICE std::size_t stride() const { return index(rows) + 1; }
  DRAFTPROOF_DEVICE int row_of(int k) const { return rows == 1 ? 0 : k; }
  /// Returns the mass outside `seen` in units of 2^-62, exactly.
  DRAFTPROOF_DEVICE std::uint64_t units_without(int row, const Token* seen, int n) const {
    std::uint64_t left = std::uint64_t{1} << 62;
    for (int i = 0; i < n; ++i) left -= proposals[row].sums.mass(seen[i]);
    return left;
  }
};

}  // namespace draftproof
