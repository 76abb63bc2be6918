// The acceptance of schemes and optima on one instance, in fractions, and their comparison. K-SEQ at its root has an
// irrational acceptance on most instances; the comparison with it is exact too (optimum/k_seq_root.hpp).
//
//   iid                   sample_and_match, naive_tree, recursive_rejection: closed forms; optimum_iid: a scan of all
//                         prefixes; recursive_rejection_distinct: enumeration of its program
//   without replacement   recursive_rejection_wor: enumeration of its program; sample_and_match_wor, optimum_wor:
//                         from the law of the drafted set, the optimum by all cuts
//   greedy                greedy_drafts: enumeration of its program; it is the optimum of its law
//
// Cost: 0.1 ms for the closed forms, milliseconds for enumerations. Values are computed at first use.
// Correctness: tests/verifiers compare programs with closed forms, and tests/optimum the scan with all cuts.
#pragma once

#include <array>
#include <map>
#include <optional>

#include <draftproof/optimum/set_law.hpp>
#include <draftproof/properties/instances/instance.hpp>

namespace draftproof {

enum class Scheme {
  sample_and_match,
  naive_tree,
  recursive_rejection,
  recursive_rejection_distinct,
  k_seq,
  optimum_iid,
  sample_and_match_wor,
  recursive_rejection_wor,
  optimum_wor,
  greedy_drafts,
};
inline constexpr std::size_t scheme_count = 10;

std::string_view to_text(Scheme scheme);

/// Whether a value needs an enumeration of branches, whose number grows like V^K.
bool is_lifted(Scheme scheme);

class Acceptances {
 public:
  explicit Acceptances(const Instance& instance);

  /// Whether the draft law of the scheme exists on this instance.
  bool defined(Scheme scheme) const;
  /// The acceptance of any scheme except K-SEQ.
  const Rational& of(Scheme scheme);
  /// -1, 0 or 1: `a` accepts less than, as much as or more than `b`. Exact.
  int compare(Scheme a, Scheme b);
  /// The acceptance as a double, for reports.
  double approximately(Scheme scheme);

 private:
  Rational computed(Scheme scheme);
  Rational walked(std::string_view scheme, std::string_view law) const;
  const std::map<TokenSet, Rational>& sets_without_replacement();

  Rows<Rational> rows_;
  std::vector<Rational> p_, q_;
  int drafts_;
  std::array<std::optional<Rational>, scheme_count> known_;
  std::map<TokenSet, Rational> sets_;
};

}  // namespace draftproof
