// The search of `order_of_schemes`: tests every claimed order on many instances in fractions, and records the least
// ratio and the smallest counterexample, if any.
//
// Cost: 0.2 ms per instance for closed forms; for one instance in twenty, of at most 256 draft tuples, programs are
// enumerated too, in some 3 ms. The result depends on the seed and not on the number of threads, because instances
// are counted in order.
#pragma once

#include <tuple>

#include <draftproof/studies/order_claims.hpp>
#include <draftproof/studies/study.hpp>

namespace draftproof {

struct OrderTally {
  std::uint64_t less = 0, equal = 0, greater = 0;
  double ratio = 1;          ///< least lower / upper seen, in double
  std::string least{};       ///< its instance, shrunk while the ratio does not rise
  std::string refutation{};  ///< shrunk; empty: none found
  std::uint64_t tried() const { return less + equal + greater; }
};

struct CrossingTally {
  std::uint64_t first_more = 0, equal = 0, second_more = 0;

  static auto fields(auto& t) { return std::tie(t.first_more, t.equal, t.second_more); }
};

struct OrderSearch {
  std::vector<OrderTally> orders;  ///< one per claim, in their order
  std::vector<CrossingTally> crossings;
  std::uint64_t instances = 0;
  bool complete = true;
};

/// Tests the claims on `instances` instances.
OrderSearch search_orders(const std::vector<OrderClaim>& orders, const std::vector<CrossingClaim>& crossings,
                          std::uint64_t instances, const StudyOptions& options);

}  // namespace draftproof
