// The residual (c p - chosen)+ of a target and the law of a chosen token, for many c: tokens sorted once by p /
// chosen, with prefix sums.
//
//   k_j       keys_[j]           p / chosen in descending order, after the `certain_` tokens with chosen = 0 < p
//   S         prefix_length(c)   the first tokens: the certain ones and those with c k_j > 1
//   excess    excess(c)          c p(S) - chosen(S)
//
// Cost: one sort; O(log V) an excess or a draw.
// Correctness: masses are added as integers if scalars are floating-point (exp.hpp). Weights are chosen (c
// k_j - 1), positive exactly on S, so a positive excess always leaves a token to emit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/numeric/radix_sort.hpp>
#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof {

template <class Scalar>
class ChosenTable {
 public:
  /// `chosen(x)` is the law of the chosen token.
  template <class L, class F>
  ChosenTable(const L& laws, F chosen) {
    std::vector<Keyed> keyed;
    for (Token x = 0; x < laws.vocabulary(); ++x) {
      const Scalar p = laws.target(x), law = chosen(x);
      if (law > laws.zero())
        keyed.push_back({Scalar(p / law), x});
      else if (p > laws.zero())
        order_.push_back(x);
    }
    certain_ = order_.size();
    if constexpr (rounds)
      sort_by_key(keyed);
    else
      std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.key > b.key; });
    for (const auto& [key, x] : keyed) {
      order_.push_back(x);
      keys_.push_back(key);
    }
    below_.push_back({});
    for (const Token x : order_)
      below_.push_back({below_.back().target + mass(laws.target(x)), below_.back().chosen + mass(chosen(x))});
  }

  /// Residual mass at factor c.
  Scalar excess(const Scalar& c) const { return up_to(prefix_length(c), c); }

  /// The token drawn from the residual by a random word; no_token if it is empty.
  Token draw(const Scalar& c, std::uint64_t word) const {
    const std::size_t count = prefix_length(c);
    const auto total = static_cast<double>(up_to(count, c));
    if (!(total > 0)) return no_token;
    const double threshold = unit_interval(word) * total;
    std::size_t low = 0, high = count - 1;  // the answer lies in [low, high]
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (static_cast<double>(up_to(middle + 1, c)) > threshold)
        high = middle;
      else
        low = middle + 1;
    }
    return order_[low];
  }

  /// Calls `visit(x, weight)` for each x of S. `laws` and `chosen` must be those the table was made with.
  template <class L, class F, class Visit>
  void for_each(const L& laws, F chosen, const Scalar& c, Visit visit) const {
    for (std::size_t j = 0, count = prefix_length(c); j < count; ++j) {
      const Token x = order_[j];
      visit(x,
            j < certain_ ? Scalar(c * laws.target(x)) : Scalar(chosen(x) * (c * keys_[j - certain_] - laws.one())));
    }
  }

  /// The table together with its laws and `chosen`, so that for_each needs neither.
  template <class L, class F>
  auto of(const L& laws, F chosen) const {
    return With<L, F>{*this, laws, chosen};
  }

 private:
  template <class L, class F>
  struct With {
    const ChosenTable& table;
    const L& laws;
    F chosen;

    Scalar excess(const Scalar& c) const { return table.excess(c); }
    Token draw(const Scalar& c, std::uint64_t word) const { return table.draw(c, word); }
    template <class Visit>
    void for_each(const Scalar& c, Visit visit) const {
      table.for_each(laws, chosen, c, visit);
    }
  };
  static constexpr bool rounds = std::is_floating_point_v<Scalar>;
  struct KeyedScalar {
    Scalar key;
    Token token;
  };
  using Keyed = std::conditional_t<rounds, KeyedToken, KeyedScalar>;
  using Sum = std::conditional_t<rounds, Fixed, Scalar>;
  struct Mass {
    Sum target{0}, chosen{0};
  };

  static Sum mass(const Scalar& value) {
    if constexpr (rounds)
      return to_fixed(value);
    else
      return value;
  }
  static Scalar value(const Sum& sum) {
    if constexpr (rounds)
      return static_cast<Scalar>(from_fixed(sum));
    else
      return sum;
  }

  std::size_t prefix_length(const Scalar& c) const {
    const auto end =
        std::partition_point(keys_.begin(), keys_.end(), [&c](const Scalar& k) { return c * k > Scalar{1}; });
    return certain_ + static_cast<std::size_t>(end - keys_.begin());
  }
  Scalar up_to(std::size_t j, const Scalar& c) const {
    const Scalar left = c * value(below_[j].target) - value(below_[j].chosen);
    return left > Scalar{0} ? left : Scalar{0};
  }

  std::vector<Token> order_;
  std::vector<Scalar> keys_;
  std::vector<Mass> below_;  ///< prefix sums over the order
  std::size_t certain_ = 0;
};

}  // namespace draftproof
