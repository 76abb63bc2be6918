// Acceptance of the couplings through shared noise (verifiers gumbel_coupling, gls, gumbel_top_k_coupling,
// weighted_minhash): in fractions as finite sums of exponentials, in double at larger sizes by one integral over the
// token's arrival time.
//
//   t          time at which Y arrives in the race of p: density e^-t at K = 1
//   r_j        p_j / q_j
//   phi(r)     sum of max(p_i, r q_i)       phi(r_j) t: total rate of the clocks that must not ring for j to win both
//                                           races at t
//   G(r, t)    integral over s > r of e^(-t phi(s))   q_j t G(r_j, t): j wins a race of q although it arrived later
//
//   gumbel       sum_j p_j / phi(r_j)
//   list bound   sum_j K p_j / (phi(r_j) + K - 1)
//   gls          1 - sum_j p_j K integral of (e^-t - e^(-t phi(r_j))) (e^-t - q_j t G(r_j, t))^(K - 1) dt
//   shared race  sum_j p_j integral of Pr(no i before t under p, fewer than B of them before r_j t under q) dt;
//                i is ahead of j under q if E_i < r_j q_i t, and E_i > p_i t since j won: probability e^(-p_i t) less
//                e^(-r_j q_i t) if that is positive
//
// Cost: in fractions, the number of terms grows like V^(K - 1) and 2^V. Integrals: O(V M) for gls, O(V^2 B M) for the
// shared race, M about 300 nodes.
//
// Source: gumbel and MinHash Daliri et al., arXiv:2408.07978; list bound Rowan, Phan and Khisti, arXiv:2506.05632;
// gls and shared race derived in docs/couplings.md. Tests compare all with reference values and with the programs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <draftproof/optimum/exponential_sum.hpp>

namespace draftproof::acceptance {

/// phi(r) with r = p_j / q_j. Requires p_j > 0 and q_j > 0.
template <class Scalar>
Scalar together(const std::vector<Scalar>& p, const std::vector<Scalar>& q, std::size_t j) {
  const Scalar ratio = p[j] / q[j];
  Scalar sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += i == j ? p[j] : std::max<Scalar>(p[i], ratio * q[i]);
  return sum;
}

/// sum_j K p_j / (phi + K - 1): a lower bound of the acceptance of K i.i.d. drafts of a list coupling, exact at K =
/// 1.
template <class Scalar>
Scalar list_bound(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  Scalar sum = 0;
  for (std::size_t j = 0; j < p.size(); ++j)
    if (p[j] > 0 && q[j] > 0) sum += Scalar(drafts * p[j] / (together(p, q, j) + (drafts - 1)));
  return sum;
}

/// Acceptance of the Gumbel coupling at K = 1.
template <class Scalar>
Scalar gumbel(const std::vector<Scalar>& p, const std::vector<Scalar>& q) {
  return list_bound(p, q, 1);
}

/// Acceptance if both sides take the same dart: sum min / sum max.
template <class Scalar>
Scalar minhash_same_dart(const std::vector<Scalar>& p, const std::vector<Scalar>& q) {
  Scalar least = 0, most = 0;
  for (std::size_t x = 0; x < p.size(); ++x) {
    least += std::min<Scalar>(p[x], q[x]);
    most += std::max<Scalar>(p[x], q[x]);
  }
  return least / most;
}

/// Acceptance of weighted MinHash. The first dart below either curve is below both, or decides one side; the other
/// side then draws again.
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

/// Acceptance of gls as a finite sum: phi is linear between ratios, so q_j t G is a sum of exponentials.
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

/// Acceptance of the shared race (gumbel_top_k_coupling) as a finite sum: a table over the number of tokens ahead of
/// j, with sums of exponentials as entries.
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

/// Acceptance of gls by the trapezoid rule in log t, at any V and K. Error below 1e-13, and V 2^-53 of rounding.
double gls(const std::vector<double>& p, const std::vector<double>& q, int drafts);
/// Acceptance of the shared race, with the same rule and error.
double gumbel_top_k_coupling(const std::vector<double>& p, const std::vector<double>& q, int drafts);

}  // namespace draftproof::acceptance
