// What the schemes and optima accept on one instance, in fractions, and which of two accepts more. K-SEQ at its root
// has an irrational acceptance on most instances; it is compared exactly all the same (optimum/k_seq_root.hpp).
//
//   iid                   sample_and_match, naive_tree, recursive_rejection: closed forms; optimum_iid: a scan of all
//                         prefixes; recursive_rejection_distinct: its program walked
//   without replacement   recursive_rejection_wor: its program walked; sample_and_match_wor, optimum_wor: from the
//   law
//                         of the drafted set, the optimum by all cuts
//   greedy                greedy_drafts: its program walked; it is the optimum of its law
//
// Cost: 0.1 ms for the closed forms, milliseconds for what is walked. Values are computed when first asked for.
// Right because tests/verifiers hold programs to closed forms and tests/optimum the scan to all cuts.
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

/// Whether a value needs branches walked, whose number grows like V^K.
bool is_lifted(Scheme scheme);

class Acceptances {
 public:
  explicit Acceptances(const Instance& instance);

  /// Whether the draft law behind the scheme exists here.
  bool defined(Scheme scheme) const;
  /// Any scheme but K-SEQ.
  const Rational& of(Scheme scheme);
  /// -1, 0, 1: `a` accepts less than, as much as or more than `b`. Exact.
  int compare(Scheme a, Scheme b);
  /// For reports.
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
