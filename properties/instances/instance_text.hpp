// Parts of instances: their text, and families of random weights. A row of weights is written as "(1 2 1)/4"; the
// reader consumes a text from the left, and its errors quote the text at the failing place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof {

/// The weights over their sum, as "(1 2 1)/4".
std::string weights_text(const std::vector<int>& weights);

/// The same of each row, with commas between them.
std::string rows_text(const std::vector<std::vector<int>>& rows);

/// Whether `weights` has `size` non-negative entries, at least one of them positive.
bool valid_weights(const std::vector<int>& weights, std::size_t size);

/// Each call consumes text. Throws: std::invalid_argument, which says what was found and what was expected.
class InstanceReader {
 public:
  static constexpr int most_weight = 100'000'000;
  static constexpr std::size_t most_tokens = 20;  ///< a row's weights then sum to an int

  explicit InstanceReader(std::string_view text) : text_{text} {}

  /// Consumes `literal`, which must come next.
  void expect(std::string_view literal);
  /// Whether `literal` comes next; consumes spaces only.
  bool starts_with(std::string_view literal);
  /// Consumes `literal` if it comes next, and returns whether it did.
  bool accept(std::string_view literal);
  /// A number in 0 .. `most`.
  int number(int most = most_weight);
  /// The number of "K=2", from `least` to `most`.
  int named_number(std::string_view name, int least, int most);
  /// The numbers between `open` and `close`.
  std::vector<int> numbers(std::string_view open, std::string_view close, int most = most_weight);
  /// The weights of "(1 2 1)/4" or "(1 2 1)".
  std::vector<int> weights();
  /// The rows of "(1 2 1)/4,(1 0 1)/2", at least one.
  std::vector<std::vector<int>> rows();
  /// Requires that no text is left.
  void end();

 private:
  void skip_spaces();
  [[noreturn]] void fail(std::string_view wanted) const;

  std::string_view text_;
};

// Families of random instances. A family fills p and q with small integer weights; the framework chooses V and K,
// repairs degenerate rows, and shrinks counterexamples.

/// Uniform integers from counters: a function of (seed, instance) and the number of calls alone.
class InstanceRng {
 public:
  InstanceRng(std::uint64_t seed, std::uint64_t instance) : seed_{seed}, instance_{instance} {}
  /// A uniform integer in low .. high.
  int between(int low, int high) {
    const auto range = static_cast<std::uint64_t>(high - low + 1);
    return low + static_cast<int>(philox_pair(seed_, instance_, slot_++, purpose).first % range);
  }
  /// True with probability numerator / denominator.
  bool chance(int numerator, int denominator) { return between(0, denominator - 1) < numerator; }

 private:
  static constexpr std::uint32_t purpose = 0x100;
  std::uint64_t seed_, instance_;
  std::uint32_t slot_ = 0;
};

/// Weights of target and proposal, V entries each.
struct WeightPair {
  std::vector<int> target, proposal;
};

/// A named family of instances.
struct Generator {
  std::string_view name;
  std::string_view about;
  std::function<WeightPair(InstanceRng&, int vocabulary)> weights;
  /// Whether the supports are the family's point: proposals are then repaired where they are empty, and nowhere else.
  bool keeps_supports = false;
};

// The repair of degenerate rows: families may produce rows of zeros, or supports that are too small.

/// Sets zero weights to 1, at random places, until the support has `support` tokens, or the whole row.
inline void repair_weights(std::vector<int>& row, int support, InstanceRng& dice) {
  const auto alive = [&row] { return std::count_if(row.begin(), row.end(), [](int w) { return w > 0; }); };
  const int wanted = std::clamp(support, 1, static_cast<int>(row.size()));
  while (alive() < wanted) {
    auto x = static_cast<std::size_t>(dice.between(0, static_cast<int>(row.size()) - 1));
    while (row[x] > 0) x = (x + 1) % row.size();
    row[x] = 1;
  }
}

}  // namespace draftproof
