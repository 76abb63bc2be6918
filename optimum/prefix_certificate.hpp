// An interval for the optimum of K drafts of one proposal, at any V, as an independently checkable certificate: an
// order of the tokens. The least cut is a prefix of that order (docs/optimum.md proves it for both laws), so one
// prefix bounds the optimum from above and all of them bound it from below.
//
//   order    order        the tokens with q > 0 by rising p / q
//   S        cut          the first `cut` tokens of the order
//   lower    lower        <= p(S') + 1 - Pr(all drafts in S') for every prefix S'
//   upper    upper        >= p(S) + 1 - Pr(all drafts in S)
//
// Cost: a check takes O(V) integer products for i.i.d. drafts; without replacement V K M operations in long double,
// a second or two at V = 131,072.
//
// Correctness: the check shares no code with the scans. Masses of sets are integers, ratios are compared by cross
// products, powers near a bound are computed in integers, and the race is enclosed (optimum/race_enclosure.hpp).
//
// Source: derived here.
#pragma once

#include <string>

#include <draftproof/optimum/cut_certificate.hpp>

namespace draftproof {

struct PrefixCertificate {
  std::vector<Token> order;
  std::size_t cut;
  double lower, upper;
};

/// The certificate for K i.i.d. drafts of the table's first proposal. The bounds are the scan's value and its own
/// error on both sides.
PrefixCertificate iid_prefix_certificate(const RatioTable& table, int drafts);
/// The same for K drafts without replacement.
PrefixCertificate without_replacement_prefix_certificate(const RatioTable& table, int drafts);

/// Why the certificate does not prove its bounds for i.i.d. drafts of these rows as quantised; empty if it does.
std::string reject_iid(std::span<const double> target, std::span<const double> proposal, int drafts,
                       const PrefixCertificate& certificate);
/// The same for drafts without replacement.
std::string reject_without_replacement(std::span<const double> target, std::span<const double> proposal, int drafts,
                                       const PrefixCertificate& certificate);

}  // namespace draftproof
