// Pairs of distributions on which sequential schemes fall furthest below the optimum, as far as is known: two families
// of two tokens with closed forms, p = (1 - q^K, q^K) against (1 - q, q), and a search over all pairs for worse pairs.
// On the families the optimum is 1 for every q, and the acceptance of a scheme depends on one number.
//
//   q     proposal   mass of the second token
//   top   q^K        target mass of the second token; it spreads the q near the minimum evenly for every K
//   s     -          probability that K-SEQ at its root rejects one draft
//
// K-SEQ, derived here. At the factor rho it accepts one draft with probability beta = 1 - s = sum min(p / rho, q). From
// rho = 1 up to p_1 / q_1 = 1 + q + .. + q^(K-1) beta is 1 - q + q^K / rho, so s = q - q^K / rho. The root's equation
// 1 - s^K = rho (1 - s) gives rho = 1 + s + .. + s^(K-1). Together:
//
//   q^K = rho(s) (q - s),   acceptance 1 - s^K.
//
// For fixed s the left side is convex in q, and at q = s and at q = 1 it is above the right side, which is a line in
// q. The largest s with a solution q is the s whose line is a tangent: K q^(K-1) = rho and q = K (q - s). So the
// minimum has s = q (K - 1) / K with K q^(K-1) = 1 + s + .. + s^(K-1). At K = 2, q = 2/3 and the acceptance is 8/9; at
// K = 3, q = (3 + 6 sqrt 6) / 23. As K grows, s^K tends to e^-c with e^c = 1 + e c.
//
// Recursive rejection accepts 1 - q^K (1 - q^(K-1)), which is least where q^(K-1) = K / (2 K - 1); as K grows the
// minimum tends to 3/4.
#pragma once

#include <functional>

#include <draftproof/bench/studies/study.hpp>

namespace draftproof::worst {

struct Minimum {
  double q, acceptance;
};
Minimum k_seq(int drafts);
Minimum recursive_rejection(int drafts);

/// Returns the limit of K-SEQ's minimum as K grows.
double k_seq_limit();

using Accepts = std::function<double(const std::vector<double>& p, const std::vector<double>& q, int drafts)>;

/// Returns the minimum over q of accepts(p, q, K) on the family, by Brent's method on `top`. Brent's method locates a
/// minimum only to half of a double's digits.
Minimum numerically(const Accepts& accepts, int drafts);

}  // namespace draftproof::worst

namespace draftproof {

struct LeastPair {
  double value = 0;
  std::vector<double> p, q;
  std::uint64_t evaluations = 0;
  bool complete = true;  ///< false after a stop
};

using PairFunction = std::function<double(const std::vector<double>& p, const std::vector<double>& q)>;

/// Searches for the least value of f over all pairs of distributions on V tokens; the result is no proof that no value
/// is smaller. A grid holds all distributions whose masses are multiples of 1 / resolution, zeros included. Its best
/// points, at most 8 of one target, are refined by random moves of both distributions in steps that shrink; moves are
/// not along axes, because ratios have ridges (where the optimum reaches 1) on which every move of a single
/// coordinate is worse. The result depends on the seed and not on the number of threads, since every start has its
/// own counters.
///
/// Cost: C(n + V - 1, V - 1)^2 evaluations at resolution n and 32 starts of at most 20,000 moves.
LeastPair least_pair(const PairFunction& f, int vocabulary, int resolution, const StudyOptions& options);

}  // namespace draftproof
