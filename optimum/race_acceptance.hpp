// Acceptance of the couplings through shared noise (verifiers gumbel_coupling, gls, gumbel_top_k_coupling,
// weighted_minhash) as finite sums of exponentials, in fractions or in double.
//
//   t          time at which the emitted token arrives in the race of p: density e^-t at K = 1
//   r_j        p_j / q_j
//   phi(r)     sum of max(p_i, r q_i)       phi(r_j) t: total rate of the clocks that must not ring for j to win both
//                                           races at t
//   G(r, t)    integral over s > r of e^(-t phi(s))   q_j t G(r_j, t): j wins a race of q although it arrived later
//
//   gumbel       sum_j p_j / phi(r_j)
//   list bound   sum_j K p_j / (phi(r_j) + K - 1)
//   gls          1 - sum_j p_j K integral of (e^-t - e^(-t phi(r_j))) (e^-t - q_j t G(r_j, t))^(K - 1) dt
//   shared race  sum_j p_j integral of Pr(no i before t under p, fewer than B i before r_j t under q) dt, B drafts;
//                i, with exponential clock E_i, is before j under q if p_i t < E_i < r_j q_i t (the first inequality
//                holds because j won under p): probability max(0, e^(-p_i t) - e^(-r_j q_i t))
//
// Cost: the number of terms grows like V^(K - 1) for gls and like 2^V for the shared race.
//
// Source: gumbel and MinHash Daliri et al., arXiv:2408.07978; list bound Rowan, Phan and Khisti, arXiv:2506.05632;
// gls and shared race derived in docs/couplings.md. Tests compare all formulas with reference values and with the
// programs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <draftproof/optimum/iid_acceptance.hpp>

namespace draftproof {

// Finite sums of exponentials c_1 e^(-r_1 t) + c_2 e^(-r_2 t) + ..: the form of probabilities in a race of
// exponential clocks as functions of time. Sums, products and the integral over t > 0 keep this form, exactly in
// fractions.
//
//   r, c    terms: rate -> coefficient     rates of equal value are one term
//
// Cost: a product has at most the product of the numbers of terms.
//
// Source: textbook.

template <class Scalar>
class ExponentialSum {
 public:
  ExponentialSum() = default;
  /// Constructs coefficient * e^(-rate t).
  ExponentialSum(Scalar rate, Scalar coefficient) { add(std::move(rate), std::move(coefficient)); }

  /// Adds coefficient * e^(-rate t).
  void add(Scalar rate, const Scalar& coefficient) {
    terms_.try_emplace(std::move(rate), 0).first->second += coefficient;
  }

  ExponentialSum& operator+=(const ExponentialSum& other) {
    for (const auto& [rate, coefficient] : other.terms_) add(rate, coefficient);
    return *this;
  }
  friend ExponentialSum operator*(const ExponentialSum& a, const ExponentialSum& b) {
    ExponentialSum product;
    for (const auto& [rate, coefficient] : a.terms_)
      for (const auto& [other_rate, other] : b.terms_)
        product.add(Scalar(rate + other_rate), Scalar(coefficient * other));
    return product;
  }

  /// Returns the integral over t > 0. Requires every rate to be positive.
  Scalar integral() const {
    Scalar sum = 0;
    for (const auto& [rate, coefficient] : terms_) sum += Scalar(coefficient / rate);
    return sum;
  }

 private:
  std::map<Scalar, Scalar> terms_;
};

// The largest acceptance of any lossless verifier of K drafts without replacement, at any V. The probability that all
// drafts lie in a set S of tokens has no closed form for K > 2. A race of exponential clocks gives this probability as
// one integral, and one grid of times serves every set that can be the least cut.
//
//   c        prefix().proposal     q-mass outside S: the rate of the first clock outside S
//   N_S(t)   counts                number of tokens of S whose clock has rung by time t, each at rate q
//   missed   missed()              Pr(not all drafts in S) = integral over t > 0 of c e^(-ct) Pr(N_S(t) < K) dt
//   alpha*                         min over S of p(S) + missed(S), over the sets of lowest ratios p / q
//
// Cost: O(V K M) for M = 90 to 500 nodes, depending on K and on the spread of q.
//
// Source: derived in docs/optimum.md: the race, the sufficiency of these sets, and the errors.
//
// Error: the integral has a relative error below 1e-13, and rounding adds at most V 2^-53; measured below 1e-15 at
// V = 128,256.

/// Returns the optimum for K = `drafts` >= 1 draws of the table's first proposal without replacement. If the support of
/// q has fewer than K tokens, the tuple ends early.
Optimum without_replacement_optimum(const RatioTable& table, int drafts);

/// Returns Pr(not all drafts in S) for j = 0 .. size, where S has the tokens from position j on in the table's order of
/// p / q.
std::vector<double> missed_without_replacement(const RatioTable& table, int drafts);

// Lower and upper bound of Pr(not all drafts in S) without replacement, for checkers of an optimum: the integral above,
// computed in separate arithmetic that also bounds every rounding error. This computation is slow.
//
//   q, c      add, missed     masses in units of 2^-62: exact
//   u         half_ulp        half the spacing of long double at 1; 2^-64 on x86
//   y         bin_            1 - e^(-qt): a series on the first octave, y (2 - y) from octave to octave, without a
//                             library's exp
//   E         error()         l1 distance of a node's counts from the true counts
//
// Cost: O(K M) for each token and O(K M) for each enclosure, M = 200 to 600 nodes, in long double.
//
// Source: docs/optimum.md, "Bounds that can be checked", derives every term. The width at V = 131,072 is about 1e-13.

/// lower <= value <= upper.
struct Enclosure {
  long double lower, upper;
};

class RaceEnclosure {
 public:
  /// `slowest`: the smallest positive mass outside S with which `missed` will be called.
  RaceEnclosure(int drafts, std::uint64_t slowest);

  /// Adds a token of mass q > 0 to S.
  void add(std::uint64_t q);

  /// Returns bounds of Pr(not all drafts in S) if the mass outside S is `outside` > 0.
  Enclosure missed(std::uint64_t outside) const;

 private:
  /// Writes 1 - e^(-qt) at the first `count` nodes to `bin`, with a relative error of (4 + 2.01 octaves) u.
  void ring(std::uint64_t q, std::size_t count, std::vector<long double>& bin) const;
  long double fewer(std::size_t n) const;
  long double error(std::size_t n) const;
  long double relative_error_of_bin() const;

  std::size_t drafts_, per_octave_;
  long double step_ = 0, step_error_ = 0;  ///< grid step in log t, and the error from rounding the times
  std::size_t live_ = 0;                   ///< number of nodes with non-negligible Pr(N < K): the first nodes
  std::size_t tokens_ = 0;
  long double dropped_ = 0;  ///< upper bound of Pr(N < K) at the dropped nodes
  std::vector<long double> times_, bin_, counts_, bin_sum_;
};

}  // namespace draftproof

namespace draftproof::acceptance {

/// Returns phi(r) for r = p_j / q_j. Requires p_j > 0 and q_j > 0.
template <class Scalar>
Scalar together(const std::vector<Scalar>& p, const std::vector<Scalar>& q, std::size_t j) {
  const Scalar ratio = p[j] / q[j];
  Scalar sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += i == j ? p[j] : std::max<Scalar>(p[i], ratio * q[i]);
  return sum;
}

/// Returns sum_j K p_j / (phi(r_j) + K - 1), a lower bound of the acceptance of K i.i.d. drafts by a list coupling,
/// exact at K = 1.
template <class Scalar>
Scalar list_bound(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  Scalar sum = 0;
  for (std::size_t j = 0; j < p.size(); ++j)
    if (p[j] > 0 && q[j] > 0) sum += Scalar(drafts * p[j] / (together(p, q, j) + (drafts - 1)));
  return sum;
}

/// Returns the acceptance of the Gumbel coupling at K = 1.
template <class Scalar>
Scalar gumbel(const std::vector<Scalar>& p, const std::vector<Scalar>& q) {
  return list_bound(p, q, 1);
}

/// Returns the acceptance of weighted MinHash, which throws uniform darts (x, height): the first one below p(x) gives
/// the token of p, and likewise for q. If the first dart below p or q is below both, the tokens are equal; otherwise a
/// later, independent dart gives the other token.
template <class Scalar>
Scalar minhash(const std::vector<Scalar>& p, const std::vector<Scalar>& q) {
  Scalar equal = 0, most = 0;
  for (std::size_t x = 0; x < p.size(); ++x) {
    const Scalar least = std::min<Scalar>(p[x], q[x]);
    equal += Scalar(least + (p[x] - least) * q[x] + (q[x] - least) * p[x]);
    most += std::max<Scalar>(p[x], q[x]);
  }
  return equal / most;
}

/// Returns the acceptance of gls as a finite sum: phi is linear between successive ratios p_i / q_i, so q_j t G is a
/// sum of exponentials.
template <class Scalar>
Scalar gls_exact(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  Scalar missed = 0;
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (!(p[j] > 0)) continue;
    if (!(q[j] > 0)) {
      missed += p[j];
      continue;
    }
    const Scalar ratio = p[j] / q[j];
    std::vector<Scalar> bends{ratio};
    for (std::size_t i = 0; i < p.size(); ++i)
      if (q[i] > 0 && p[i] > ratio * q[i]) bends.push_back(p[i] / q[i]);
    std::sort(bends.begin(), bends.end());
    ExponentialSum<Scalar> other{Scalar(1), Scalar(1)};  // e^-t - q_j t G
    Scalar left = 0;                                     // 1 / slope of the previous piece
    for (const Scalar& bend : bends) {
      Scalar value = 0, slope = 0;
      for (std::size_t i = 0; i < p.size(); ++i) {
        const bool q_leads = i == j || (q[i] > 0 && p[i] <= bend * q[i]);
        value += q_leads ? Scalar(bend * q[i]) : p[i];
        if (q_leads) slope += q[i];
      }
      other.add(value, Scalar(q[j] * (left - 1 / slope)));
      left = 1 / slope;
    }
    ExponentialSum<Scalar> miss{Scalar(1), Scalar(1)};
    miss.add(together(p, q, j), Scalar(-1));
    for (int k = 1; k < drafts; ++k) miss = miss * other;
    missed += Scalar(p[j] * drafts * miss.integral());
  }
  return 1 - missed;
}

/// Returns the acceptance of the shared race (gumbel_top_k_coupling) as a finite sum, by a table over the number of
/// tokens ahead of j, with sums of exponentials as entries.
template <class Scalar>
Scalar shared_race_exact(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  Scalar accepted = 0;
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (!(p[j] > 0 && q[j] > 0)) continue;
    const Scalar ratio = p[j] / q[j];
    std::vector<ExponentialSum<Scalar>> ahead(static_cast<std::size_t>(drafts));  // by number of tokens ahead of j
    ahead[0].add(p[j], Scalar(1));
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (i == j) continue;
      const Scalar late = ratio * q[i];
      const ExponentialSum<Scalar> behind{std::max<Scalar>(p[i], late), Scalar(1)};
      ExponentialSum<Scalar> passes;
      if (late > p[i]) {
        passes.add(p[i], Scalar(1));
        passes.add(late, Scalar(-1));
      }
      for (std::size_t n = ahead.size(); n-- > 0;) {
        ahead[n] = ahead[n] * behind;
        if (n > 0) ahead[n] += ahead[n - 1] * passes;
      }
    }
    for (const auto& chance : ahead) accepted += Scalar(p[j] * chance.integral());
  }
  return accepted;
}

}  // namespace draftproof::acceptance
