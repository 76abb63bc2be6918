// Claims about the order of schemes, with their acceptance on one instance in fractions, and the search that tests
// every claim on many instances and records the least ratio and the smallest counterexample, if any.
//
//   iid                   sample_and_match, naive_tree, recursive_rejection: closed forms; optimum_iid: a scan of all
//                         prefixes; recursive_rejection_distinct: enumeration of its program
//   without replacement   recursive_rejection_wor: enumeration of its program; sample_and_match_wor, optimum_wor:
//                         from the distribution of the drafted set; optimum_wor as the minimum over all cuts
//   greedy                greedy_drafts: enumeration of its program, which attains the optimum of its draft sampling
//
// K-SEQ at its root has an irrational acceptance on most instances; comparisons with this acceptance are exact too
// (optimum/iid_acceptance.hpp).
//
// Cost: 0.2 ms per instance for closed forms; for one instance in twenty, of at most 256 draft tuples, programs are
// enumerated too, in about 3 ms. The result depends on the seed and not on the number of threads, because instances
// are counted in order.
// Correctness: tests/verifiers compare programs with closed forms, and tests/optimum compare the scan of prefixes with
// the minimum over all cuts.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <draftproof/bench/studies/study.hpp>
#include <draftproof/optimum/set_distribution.hpp>
#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/instances/instance_text.hpp>

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

/// The acceptances on one instance. Values are computed at first use.
class Acceptances {
 public:
  explicit Acceptances(const Instance& instance);

  /// Whether the scheme's draft sampling exists on this instance.
  bool defined(Scheme scheme) const;
  /// Returns the acceptance of any scheme except K-SEQ.
  const Rational& of(Scheme scheme);
  /// Returns -1, 0 or 1 if `a` accepts less than, as much as or more than `b`. The comparison is exact.
  int compare(Scheme a, Scheme b);
  /// Returns the acceptance as a double, for reports.
  double approximately(Scheme scheme);

 private:
  Rational computed(Scheme scheme);
  const std::map<TokenSet, Rational>& sets_without_replacement();

  Rows<Rational> rows_;
  std::vector<Rational> p_, q_;
  int drafts_;
  std::array<std::optional<Rational>, scheme_count> known_;
  std::map<TokenSet, Rational> sets_;
};

/// The claim that `lower` never accepts more than `upper`: proved in docs/findings/order-of-schemes.md, or without a
/// known counterexample.
struct OrderClaim {
  Scheme lower, upper;
  bool proved;
};
inline const std::vector<OrderClaim> order_claims{
    {Scheme::sample_and_match, Scheme::naive_tree, true},
    {Scheme::naive_tree, Scheme::recursive_rejection, true},
    {Scheme::recursive_rejection, Scheme::k_seq, true},
    {Scheme::k_seq, Scheme::optimum_iid, true},
    {Scheme::sample_and_match, Scheme::sample_and_match_wor, true},
    {Scheme::recursive_rejection, Scheme::recursive_rejection_wor, true},
    {Scheme::recursive_rejection_wor, Scheme::optimum_wor, true},
    {Scheme::optimum_iid, Scheme::optimum_wor, true},
    {Scheme::sample_and_match_wor, Scheme::recursive_rejection_wor, false},
    {Scheme::naive_tree, Scheme::recursive_rejection_distinct, false},
    {Scheme::recursive_rejection_distinct, Scheme::k_seq, false},
};

/// Two schemes without an order: each accepts more than the other on one of two instances. Instances have full support
/// and were shrunk from instances of a search; the study computes their acceptances again.
struct CrossingClaim {
  Scheme first, second;
  std::string_view first_ahead, second_ahead;
};
inline const std::vector<CrossingClaim> crossing_claims{
    {Scheme::greedy_drafts, Scheme::recursive_rejection, "p=(2 1)/3 q=(1 1)/2 K=2", "p=(1 1 11)/13 q=(1 1 1)/3 K=2"},
    {Scheme::greedy_drafts, Scheme::k_seq, "p=(2 1)/3 q=(1 1)/2 K=2", "p=(1 1 7)/9 q=(1 1 1)/3 K=2"},
    {Scheme::greedy_drafts, Scheme::optimum_iid, "p=(1 1)/2 q=(1 3)/4 K=2", "p=(1 1 3)/5 q=(1 1 1)/3 K=2"},
    {Scheme::greedy_drafts, Scheme::optimum_wor, "p=(5 1 1)/7 q=(1 1 1)/3 K=2", "p=(1 1 3)/5 q=(1 1 1)/3 K=2"},
    {Scheme::k_seq, Scheme::recursive_rejection_wor, "p=(1 1 2)/4 q=(1 1 1)/3 K=2", "p=(2 1)/3 q=(1 1)/2 K=2"},
    {Scheme::optimum_iid, Scheme::recursive_rejection_wor, "p=(1 1 2)/4 q=(1 1 1)/3 K=2", "p=(2 1)/3 q=(1 2)/3 K=2"},
    {Scheme::recursive_rejection_distinct, Scheme::recursive_rejection, "p=(1 2 7)/10 q=(2 1 3)/6 K=3",
     "p=(1 1 2)/4 q=(3 1 1)/5 K=2"},
    {Scheme::sample_and_match_wor, Scheme::optimum_iid, "p=(2 1)/3 q=(1 2)/3 K=2", "p=(1 1)/2 q=(1 1)/2 K=1"},
};

/// Returns instance n of a seed, which is the same on every machine: V is 2 to 8, K is 1 to 4. The families of
/// instances that proofs use take turns with seven more, where inequalities between schemes become equalities, or where
/// the differences are largest:
///
///   tight       for every n, the first n tokens have the K-th power of their q-mass as p-mass: each such set attains
///               the optimum 1
///   nearly      as tight, with some weights off by one unit
///   one hot     q has nearly all its mass on one token
///   spiked      p has nearly all its mass on the most probable token of a flat q
///   reversed    p is q backwards
///   sharpened   p proportional to q^2
///   nudged      p is q with one unit of weight moved
Instance order_instance(std::uint64_t seed, std::uint64_t n);
WeightPair tight_pair(InstanceRng& dice, int vocabulary, int drafts);

/// The comparison of two schemes over instances: how often the first accepted less than, as much as or more than the
/// second.
struct OrderTally {
  std::uint64_t less = 0, equal = 0, greater = 0;
  double ratio = 1;                            ///< least ratio first / second in double; 1 if none is below 1
  std::uint64_t least_at = 0, greater_at = 0;  ///< first instance with `ratio`, and first instance of `greater`
  std::string least{};                         ///< instance `least_at`, shrunk while the ratio does not rise
  std::string refutation{};                    ///< instance `greater_at`, shrunk; empty if `greater` is 0

  static auto fields(auto& t) { return std::tie(t.less, t.equal, t.greater, t.ratio, t.least_at, t.greater_at); }
  std::uint64_t tried() const { return less + equal + greater; }
  /// Adds the tally of later instances.
  OrderTally& operator+=(const OrderTally& later);
};

struct OrderSearch {
  std::vector<OrderTally> orders, crossings;  ///< one per claim, in the order of claims
  std::uint64_t instances = 0;
  bool complete = true;
};

/// Tests the claims on `instances` instances.
OrderSearch search_orders(const std::vector<OrderClaim>& orders, const std::vector<CrossingClaim>& crossings,
                          std::uint64_t instances, const StudyOptions& options);

}  // namespace draftproof
