// The textbook sampler: running sums of a row, and the first token whose sum exceeds a uniform. Samplers go wrong in
// three places: the type of the sums, the uniform made from a word, and the token past the last sum.
//
//   F(x)     sums_[x]             running sum up to token x, in Sum
//   u        Steps::uniform       uniform of a word, in double
//   end      Steps::past_the_end  token where u >= F(V - 1)
//
// Cost: V additions to prepare, log V comparisons a draw.
// Correctness: the distribution is that of the program: token x has the words with F(x - 1) <= u < F(x).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

// The first of all 64-bit words at which a monotone condition becomes true: the boundary between the words of two
// tokens in a sampler of one word.
//
// Cost: 65 calls.
// Correctness: exact for conditions that stay true once they are true; nothing else is assumed of them.

/// The first word in low .. high for which the condition is true; nothing if it is false at `high`.
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

/// The three places; a wrong sampler replaces one of them.
struct InverseCdfSteps {
  using Sum = double;
  static double uniform(std::uint64_t word) { return unit_interval(word); }
  /// The last token with weight.
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

  /// Calls visit(first word, token) for every interval of words with one token, in order.
  template <class Visit>
  void pieces(Visit visit) const {
    std::uint64_t first = 0;
    double before = 0;
    for (std::size_t x = 0; x < sums_.size(); ++x) {
      const auto sum = static_cast<double>(sums_[x]);
      if (!(sum > before)) continue;
      before = sum;
      const auto next = first_word([sum](std::uint64_t word) { return !(Steps::uniform(word) < sum); }, first);
      if (next && *next == first) continue;  // narrower than the grid
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
