// The search behind `order_of_schemes`: every claimed order tried on many instances, compared in fractions, with the
// least ratio found and, should there be one, the smallest counterexample.
//
// Cost: 0.2 ms an instance for closed forms; one instance in twenty, of at most 256 draft tuples, also has programs
// walked, for some 3 ms. Same seed, same result for any number of threads: instances are counted in order.
#pragma once

#include <draftproof/studies/order_claims.hpp>
#include <draftproof/studies/study.hpp>

namespace draftproof {

struct OrderTally {
  std::uint64_t less = 0, equal = 0, greater = 0;
  double ratio = 1;          ///< least lower / upper seen, in double
  std::string least{};       ///< its instance, made smaller while the ratio does not rise
  std::string refutation{};  ///< shrunk; empty: none found
  std::uint64_t tried() const { return less + equal + greater; }
};

struct CrossingTally {
  std::uint64_t first_more = 0, equal = 0, second_more = 0;
};

struct OrderSearch {
  std::vector<OrderTally> orders;  ///< as many as claims, in their order
  std::vector<CrossingTally> crossings;
  std::uint64_t instances = 0;
  bool complete = true;
};

/// Tries the claims on `instances` instances.
OrderSearch search_orders(const std::vector<OrderClaim>& orders, const std::vector<CrossingClaim>& crossings,
                          std::uint64_t instances, const StudyOptions& options);

}  // namespace draftproof
