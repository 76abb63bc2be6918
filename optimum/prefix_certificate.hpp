// The optimum of K drafts of one proposal between two numbers, at any V, in a form that a stranger can check: an
// order of the tokens. The least cut is a prefix of that order (docs/optimum.md proves it for both laws), so one
// prefix bounds the optimum from above and all of them bound it from below.
//
//   order    order        the tokens with q > 0 by rising p / q
//   S        cut          the first `cut` of them
//   lower    lower        <= p(S') + 1 - Pr(all drafts in S') for every prefix S'
//   upper    upper        >= p(S) + 1 - Pr(all drafts in S)
//
// Cost of a check: O(V) integer products for i.i.d. drafts; V K M operations in long double without replacement,
// a second or two at V = 131,072. Source: derived here. The check shares no code with the scans: masses of sets are
// integers, ratios are compared by cross products, powers near a bound are taken in integers, and the race is
// enclosed (optimum/race_enclosure.hpp).
#pragma once

#include <string>

#include <draftproof/optimum/cut_certificate.hpp>

namespace draftproof {

struct PrefixCertificate {
  std::vector<Token> order;
  std::size_t cut;
  double lower, upper;
};

/// For the table's first proposal. The bounds are the scan's value and its own error on both sides.
PrefixCertificate iid_prefix_certificate(const RatioTable& table, int drafts);
PrefixCertificate without_replacement_prefix_certificate(const RatioTable& table, int drafts);

/// Why the certificate does not prove its bounds for these rows as quantised; empty if it does.
std::string reject_iid(std::span<const double> target, std::span<const double> proposal, int drafts,
                       const PrefixCertificate& certificate);
std::string reject_without_replacement(std::span<const double> target, std::span<const double> proposal, int drafts,
                                       const PrefixCertificate& certificate);

}  // namespace draftproof
