// Rows that random weights hardly give, for slips at the ends of a coin's grid.
//
//   rows    target                   proposal               seen
//   equal   (0 b ..), p = q          bit for bit            a coin of 1 rejects a draft, and the residual is zero
//   short   (a b c 0)                (0 0 0 1) or           the running sum of p, or of p over its sum, ends below 1 in
//                                    (a b c a+b+c)          the program's format: the last coins run past the last cell
//
// With the first proposal of a short row every draft is rejected and the residual is p. With the second one draft in two is
// accepted, and the residual is in proportion to p.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include <draftproof/doors/declaration.hpp>
#include <draftproof/properties/instances/generator.hpp>

namespace draftproof::doors {

/// The rows of the n-th instance of a seed, if it is one of these: one instance in ten.
/// Cost: up to some thousand sums of three numbers.
std::optional<WeightPair> edge_rows(std::uint64_t seed, int n, Dtype dtype);

/// Number of the n-th instance among the others.
int number_without_edges(int n);

/// Whether a running sum from the left ends below 1: that of the weights over their total, rounded to T first, or of those
/// numbers over their sum.
template <class T>
bool ends_short(const std::vector<int>& weights, bool normalised) {
  const int total = std::accumulate(weights.begin(), weights.end(), 0);
  T sum = 0, again = 0;
  const auto value = [&](int weight) { return static_cast<T>(static_cast<double>(weight) / total); };
  for (const int weight : weights) sum += value(weight);
  for (const int weight : weights) again += value(weight) / sum;
  return (normalised ? again : sum) < 1;
}

}  // namespace draftproof::doors
