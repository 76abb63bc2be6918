// Rows that random weights rarely give. Most of them reveal bugs on the smallest and largest uniforms of a number grid.
//
//   rows    target             proposal          reason
//   equal   (0 b ..), p = q    bit for bit       a uniform of 1 rejects a draft, and the residual is zero
//   short   (a b c 0)          (0 0 0 1) or      the running sum of p ends below 1 in the program's format: the
//                              (a b c a+b+c)     largest uniforms are beyond the last cell. In every second instance
//                                                p is first divided by its sum
//   sure    (19 1), or         (99 1), or        one token has more than 3/4 of p and of q: a rule for such tokens, such
//           (a b c)            (d e f)           as to accept every draft of p > 0.9, shows on no other rows. In every
//                              and reversed      second pair q is above p on that token, in the others p
//   near    (0 1), or          (1 n), or         after rounding to the type, p is below q on some tokens, and above
//           (n a b), or        (n-1 a b), or     it on no token or on one token by a unit in the last place: a draft
//           n u + a            (n - 1) u + a     is rejected, and the residual is zero or a unit
//
// For near rows n is the least number, or close to it, at which p - q has the required signs in the declared type. In
// float64 only the last kind is used, because an instance's text limits the weights. Near rows are the instances 8, 18,
// .. of a seed; the first of them has two tokens. In every second near instance a path first accepts a draft of equal
// rows.
//
// Programs that are greedy or take settings get two more kinds of rows in place of short rows. Unless a program is
// always greedy, and so has no use for short rows, this is so in every second turn of 20 instances only:
//
//   tied    (N N+1 N)          (1 1 1)           N = 2^16: in float32 and float64 the second token is the likeliest,
//                                                and in float16 and bfloat16 all three are equal, as probabilities and
//                                                as logarithms. An argmax in half precision emits another token
//   kept    (1 2 0) or         (1 1 1) or        a truncation keeps two or three tokens of a row without zeros, and the
//           (2 0 1 1)          (1 1 1 1)         least of them is below min-p itself, though not below min-p times the
//                                                largest
//
// With the first proposal of a short row every draft is rejected and the residual is p. With the second proposal half
// of the drafts are accepted, and the residual is proportional to p.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>

namespace draftproof::adapters {

struct EdgeRows {
  WeightPair rows{};
  bool most_drafts = false;  ///< whether to use the most drafts of generated instances, not the fewest
  bool below_root = false;   ///< in a path or tree: whether these are the rows after a first draft
};

/// Returns the rows of the n-th instance of a seed if it has equal, short, sure or near rows: three instances in ten.
/// Cost: up to some thousand sums of three numbers, or near rows of some ten thousand n.
std::optional<EdgeRows> edge_rows(std::uint64_t seed, int n, Dtype dtype);

/// Returns the rows for a program of this declaration: the tied or kept rows of its n-th instance, else the above.
std::optional<EdgeRows> edge_rows(const Declaration& declaration, std::uint64_t seed, int n);

/// Whether the n-th instance has near rows.
inline constexpr int near_every = 10, near_at = 8;
constexpr bool has_near_rows(int n) { return n % near_every == near_at; }

/// Returns the number of the n-th instance among those without equal or short rows. Some of these have sure or near
/// rows instead.
int number_without_edges(int n);

/// Whether the running sum of the probabilities, rounded to T, ends below 1; if `normalised`, after division by their
/// sum.
template <class T>
bool ends_short(const std::vector<int>& weights, bool normalised) {
  const int total = std::accumulate(weights.begin(), weights.end(), 0);
  T sum = 0, again = 0;
  const auto value = [&](int weight) { return static_cast<T>(static_cast<double>(weight) / total); };
  for (const int weight : weights) sum += value(weight);
  for (const int weight : weights) again += value(weight) / sum;
  return (normalised ? again : sum) < 1;
}

}  // namespace draftproof::adapters
