// An optimum with its proof: a token set whose cut is an upper bound of every verifier's acceptance, and a plan of
// emissions that reaches this bound. The checker uses neither the solver nor its network, so a certificate can be
// trusted if the checker is correct.
//
//   value       acceptance   claimed optimum
//   S           cut          p(S) + 1 - Pr(all drafts in S) = value: no verifier accepts more
//   f(A, x)     plan         probability that the drafted set is A and token x of A is emitted; sums to value
//
// Cost: a check takes O(sets + entries of the plan) additions.
//
// Source: max-flow and min-cut of the network in docs/optimum.md.
#pragma once

#include <map>
#include <string>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/optimum/set_distribution.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>

namespace draftproof {

/// One entry of a plan: `mass` is the probability that `set` is drafted and `token` of it is emitted.
template <class Weight>
struct Shipment {
  TokenSet set;
  Token token;
  Weight mass;
};

/// `plan` reaches `acceptance`, and the cut at the set `cut` has the same value.
template <class Weight>
struct Certificate {
  Weight acceptance;
  TokenSet cut;
  std::vector<Shipment<Weight>> plan;
};

/// Returns the reason why the certificate does not prove that `acceptance` is the optimum of these distributions, or
/// an empty string if it does. Every comparison is exact. Requires V <= 64; other sizes are rejected.
std::string reject(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts,
                   const Certificate<Rational>& certificate);

// An interval for the optimum of K drafts of one proposal, at any V, as an independently checkable certificate: an
// order of the tokens. The least cut is a prefix of that order (docs/optimum.md proves it for i.i.d. drafts and for
// drafts without replacement). So the cut of any prefix is an upper bound of the optimum, and a number that is at most
// the cut of every prefix is a lower bound.
//
//   order    order        the tokens with q > 0 by rising p / q
//   S        cut          the first `cut` tokens of the order
//   lower    lower        <= p(S') + 1 - Pr(all drafts in S') for every prefix S'
//   upper    upper        >= p(S) + 1 - Pr(all drafts in S)
//
// Cost: a check takes O(V) integer products for i.i.d. drafts; without replacement V K M operations in long double,
// with M = 200 to 600 nodes (optimum/race_acceptance.hpp), a second or two at V = 131,072.
//
// Correctness: the check shares no code with the scans. Masses of sets are integers, ratios are compared by cross
// products, powers near a bound are computed in integers, and the race is enclosed (optimum/race_acceptance.hpp).
//
// Source: derived here.

struct PrefixCertificate {
  std::vector<Token> order;
  std::size_t cut;
  double lower, upper;
};

/// Returns the certificate for K i.i.d. drafts of the table's first proposal. The bounds are the scan's value minus and
/// plus the scan's error.
PrefixCertificate iid_prefix_certificate(const RatioTable& table, int drafts);
/// Returns the certificate for K drafts of the table's first proposal without replacement. The bounds are the scan's
/// value minus and plus the scan's error.
PrefixCertificate without_replacement_prefix_certificate(const RatioTable& table, int drafts);

/// Returns the reason why the certificate does not prove its bounds for i.i.d. drafts of the quantised rows, or an
/// empty string.
std::string reject_iid(std::span<const double> target, std::span<const double> proposal, int drafts,
                       const PrefixCertificate& certificate);
/// Returns the reason why the certificate does not prove its bounds for drafts without replacement of the quantised
/// rows, or an empty string.
std::string reject_without_replacement(std::span<const double> target, std::span<const double> proposal, int drafts,
                                       const PrefixCertificate& certificate);

}  // namespace draftproof
