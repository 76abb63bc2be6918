// The textbook sampler: running sums of a row, and the first token whose sum exceeds a uniform. Samplers have bugs in
// three parts: the type of the sums, the uniform, and the token that is returned if no sum exceeds the uniform.
//
//   F(x)     sums_[x]             running sum up to token x, in Sum
//   u        Steps::uniform       uniform from 64 random bits, in double
//   end      Steps::past_the_end  token if u >= F(V - 1)
//
// Cost: V additions to prepare, log V comparisons for a draw.
// Correctness: draw() returns token x for the random bits with F(x - 1) <= u < F(x), and pieces() lists these
// intervals, so their lengths are the exact distribution of draw().
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

// Bisection for the least 64-bit integer at which a monotone condition becomes true. In a sampler that uses 64 random
// bits, this integer is the boundary between two tokens.
//
// Cost: 65 calls of the condition.
// Correctness: exact for every condition that stays true once it is true.

/// Returns the least integer in low .. high for which the condition is true, nullopt if it is false at `high`.
template <class Condition>
std::optional<std::uint64_t> first_word(const Condition& condition, std::uint64_t low = 0,
                                        std::uint64_t high = ~std::uint64_t{0}) {
  if (!condition(high)) return std::nullopt;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (condition(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// The correct versions of the three parts: the type of the sums, the uniform, and the token past the end. A mutant
/// replaces one of them.
struct InverseCdfSteps {
  using Sum = double;
  static double uniform(std::uint64_t word) { return unit_interval(word); }
  /// Returns the last token of positive weight.
  template <class SumList>
  static Token past_the_end(const SumList& sums) {
    auto last = sums.size() - 1;
    while (last > 0 && !(sums[last] > sums[last - 1])) --last;
    return static_cast<Token>(last);
  }
};

template <class Steps>
class InverseCdfTable {
 public:
  explicit InverseCdfTable(std::span<const double> row) {
    double total = 0;
    for (const double weight : row) total += weight;
    typename Steps::Sum running{0};
    for (const double weight : row) {
      running += static_cast<typename Steps::Sum>(weight / total);
      sums_.push_back(running);
    }
  }

  Token draw(std::uint64_t word) const {
    const double u = Steps::uniform(word);
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), u,
                                        [](double value, auto sum) { return value < static_cast<double>(sum); });
    if (found == sums_.end()) return Steps::past_the_end(sums_);
    return static_cast<Token>(found - sums_.begin());
  }

  /// Calls visit(least, token) for every interval of random bits that give one token, in ascending order.
  template <class Visit>
  void pieces(Visit visit) const {
    std::uint64_t first = 0;
    double before = 0;
    for (std::size_t x = 0; x < sums_.size(); ++x) {
      const auto sum = static_cast<double>(sums_[x]);
      if (!(sum > before)) continue;
      before = sum;
      const auto next = first_word([sum](std::uint64_t word) { return !(Steps::uniform(word) < sum); }, first);
      if (next && *next == first) continue;  // the interval contains no uniform
      visit(first, static_cast<Token>(x));
      if (!next) return;
      first = *next;
    }
    visit(first, Steps::past_the_end(sums_));
  }

 private:
  std::vector<typename Steps::Sum> sums_;
};

}  // namespace draftproof
