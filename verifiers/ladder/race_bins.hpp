// The tokens of bins as a race of clocks needs them (race_integral.hpp): light ones by sums of their powers, heavy ones
// one by one.
//
//   slowest       sum of q less its K - 1 largest
//   light         q <= slowest 2^-10, in bins of several tokens: their number and sums of q^m, m = 1 .. 7
//   tiny          q <= slowest 2^-17: m <= 3 only
//   heavy         the other tokens
//
// Cost: two passes over the tokens.
// Correctness: the sums that are left out, from q^(m + 1) on, weigh (q t)^m of the first, over (m + 1)!. With x =
// slowest t that is x^7 2^-70 and x^3 2^-51, at nodes of weight below e^-x x^(K - 1) / (K - 1)!: 2e-15 at most, K <= 8.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/path_bins.hpp>
#include <draftproof/verifiers/ladder/residual.hpp>

namespace draftproof {

struct RaceBins {
  static constexpr std::size_t powers = 7;
  static constexpr double light_share = 0x1p-10, tiny_share = 0x1p-17;
  using Powers = std::array<double, powers + 1>;

  /// Sum of (e^(qt) - 1)^m over light tokens: the sum over i of m! S(i, m) / i! t^i times the sum of q^i, S the
  /// Stirling numbers of the second kind. [m][i]
  static constexpr double stirling[powers + 1][powers + 1] = {
      {},
      {0, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040},
      {0, 0, 1, 1, 7. / 12, 1. / 4, 31. / 360, 1. / 40},
      {0, 0, 0, 1, 3. / 2, 5. / 4, 3. / 4, 43. / 120},
      {0, 0, 0, 0, 1, 2, 13. / 6, 5. / 3},
      {0, 0, 0, 0, 0, 1, 5. / 2, 10. / 3},
      {0, 0, 0, 0, 0, 0, 1, 3},
      {0, 0, 0, 0, 0, 0, 0, 1}};

  /// The bins of these laws; every bin has tokens.
  template <class L, class Bins>
  RaceBins(const L& laws, const Bins& bins, int drafts)
      : above(at(bins.size()), 0), tokens_from(above.size(), 0), light(above.size(), Powers{}),
        first_heavy(above.size() + 1, 0) {
    const Masses<L> q(laws);
    find_slowest(q, drafts);
    const double lightest = slowest * light_share, tiny = slowest * tiny_share;
    std::vector<std::pair<int, double>> heavier;
    for (std::size_t x = 0; x < q.size(); ++x) {
      const double one = q[x];
      if (!(one > 0)) continue;
      const int bin = q.bin(laws, bins, x);
      Powers& sum = light[at(bin)];
      if (one <= lightest && !Bins::single_tokens) {
        const double square = one * one, cube = square * one;
        sum[0] += 1;
        sum[1] += one;
        sum[2] += square;
        sum[3] += cube;
        if (!(one > tiny)) continue;
        sum[4] += square * square;
        sum[5] += square * cube;
        sum[6] += cube * cube;
        sum[7] += cube * cube * one;
      } else {
        heavier.emplace_back(bin, one);
        ++first_heavy[at(bin) + 1];
      }
    }
    for (std::size_t i = 0; i < light.size(); ++i) {
      tokens_from[i] = static_cast<std::size_t>(light[i][0]) + first_heavy[i + 1];
      first_heavy[i + 1] += first_heavy[i];
      mass.push_back(light[i][1]);
    }
    heavy.resize(heavier.size());
    auto place = first_heavy;
    for (const auto& [bin, one] : heavier) {
      heavy[place[at(bin)]++] = one;
      mass[at(bin)] += one;
    }
    for (std::size_t i = 0; i + 1 < mass.size(); ++i) above[i + 1] = above[i] + mass[i];
    for (std::size_t i = mass.size(); i-- > 1;) tokens_from[i - 1] += tokens_from[i];
  }

  std::size_t size() const { return mass.size(); }

  double slowest = 0;
  std::vector<double> mass, above;       ///< of each bin, and of the bins before it
  std::vector<std::size_t> tokens_from;  ///< tokens in the bin and those after it
  std::vector<Powers> light;             ///< [0]: their number
  std::vector<double> heavy;             ///< of bin i: first_heavy[i] .. first_heavy[i + 1] - 1
  std::vector<std::size_t> first_heavy;

 private:
  /// The masses as a pass reads them: the row where there is one, else token by token.
  template <class L>
  struct Masses {
    explicit Masses(const L& laws) : at_{laws} {}
    std::size_t size() const { return static_cast<std::size_t>(at_.vocabulary()); }
    double operator[](std::size_t x) const { return at_.proposal(static_cast<Token>(x)); }
    template <class Bins>
    int bin(const L& laws, const Bins& bins, std::size_t x) const {
      return ladder_bin(laws, bins, static_cast<Token>(x));
    }
    const L& at_;
  };
  template <ShowsRows L>
  struct Masses<L> {
    explicit Masses(const L& laws) : p_{laws.target_row()}, q_{laws.proposal_row()} { laws.count_visited(2 * size()); }
    std::size_t size() const { return q_.size(); }
    double operator[](std::size_t x) const { return q_[x]; }
    template <class Bins>
    int bin(const L&, const Bins& bins, std::size_t x) const {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(q_[x])>, float>)
        return bins.of_bucket(RatioBuckets::of(p_[x] / q_[x]));
      else
        return bins.of(p_[x], q_[x]);
    }
    decltype(std::declval<const L&>().target_row()) p_, q_;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  /// Sums what is below a threshold, and the rest less its largest. If fewer than K - 1 tokens are above it, the
  /// threshold stands for those that lack: `slowest` is then a lower bound, which is what a race needs.
  template <class Masses>
  void find_slowest(const Masses& q, int drafts) {
    constexpr double large = 0x1p-12;
    std::vector<double> above_it;
    std::array<double, 8> below{};
    for (std::size_t x = 0; x < q.size(); ++x) {
      const double one = q[x];
      if (one > large)
        above_it.push_back(one);
      else
        below[x % below.size()] += one;
    }
    std::sort(above_it.begin(), above_it.end());
    const auto heads = std::min(above_it.size(), at(drafts - 1));
    for (const double sum : below) slowest += sum;
    slowest -= static_cast<double>(at(drafts - 1) - heads) * large;
    for (std::size_t i = 0; i + heads < above_it.size(); ++i) slowest += above_it[i];
    if (!(slowest > 0)) {  // short rows
      above_it.clear();
      for (std::size_t x = 0; x < q.size(); ++x)
        if (const double one = q[x]; one > 0) above_it.push_back(one);
      std::sort(above_it.begin(), above_it.end());
      slowest = 0;
      for (std::size_t i = 0; i + at(drafts - 1) < above_it.size(); ++i) slowest += above_it[i];
    }
  }
};

}  // namespace draftproof
