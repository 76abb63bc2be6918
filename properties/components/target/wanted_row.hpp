// The row that a request specifies, computed from the definitions of its settings, without code of the components but
// for the order of typical-p. Each token is evaluated by itself, as a statement about the tokens ahead of it.
//
//   u(x)     root of the weight after bias and penalty, as a fraction
//   v(x)     what filters see: u to the grain at temperature 1, to the inverse temperature otherwise
//   ahead    y before x: larger, or equal with a smaller id; of typical-p: nearer to the mean, then the same
//
// Cost: O(V^2) a filter.
//
// Correctness: min-p, top-k, top-p and typical-p are statements about v(x), its maximum, its rank, and the mass ahead of x
// in the set that the filter sees.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <draftproof/properties/components/target/target_group.hpp>

namespace draftproof {

class WantedRow {
 public:
  using Row = std::vector<Rational>;
  using Set = std::vector<bool>;

  WantedRow(const TargetSource& source, const TargetRequest& request, const std::vector<Token>& prefix)
      : request_{request}, place_{prefix.size()} {
    std::vector<Token> before = request.committed;
    before.insert(before.end(), prefix.begin(), prefix.end());
    for (Token x = 0; x < request.vocabulary(); ++x) {
      const int factor = request.bias.empty() ? 1 : request.bias[static_cast<std::size_t>(x)];
      Rational root(source.weight(request, static_cast<int>(place_), x) * factor);
      for (const Token y : before)
        if (y == x) root /= request.penalty;
      roots_.push_back(std::move(root));
    }
  }

  /// Nothing if the settings leave no token.
  std::optional<Row> row() const {
    Set kept = kept_of_filters();
    Row row;
    Rational total = 0;
    for (std::size_t x = 0; x < roots_.size(); ++x) {
      bool stays = kept[x] && roots_[x] > 0;
      for (std::size_t y = 0; request_.coldness == 0 && y < roots_.size(); ++y)
        stays = stays && !(kept[y] && heavier(roots_, y, x));
      if (!request_.masks.empty() && request_.masks[place_][x] == 0) stays = false;
      row.push_back(stays ? powered(x, std::max(request_.coldness, 1)) : Rational(0));
      total += row.back();
    }
    if (total == 0) return std::nullopt;
    for (Rational& mass : row) mass /= total;
    return row;
  }

 private:
  /// The root of x over the largest, to a power: ratios are what settings are about.
  Rational powered(std::size_t x, int exponent) const {
    const Rational largest = *std::max_element(roots_.begin(), roots_.end());
    const Rational base = largest > 0 ? Rational(roots_[x] / largest) : Rational(0);
    Rational power = base;
    for (int n = 1; n < exponent; ++n) power *= base;
    return power;
  }
  static bool heavier(const Row& row, std::size_t y, std::size_t x) {
    return row[y] > row[x] || (row[y] == row[x] && y < x);
  }

  Set kept_of_filters() const {
    Row seen;
    const int exponent = request_.cold_last ? request_.grain : request_.coldness;
    for (std::size_t x = 0; x < roots_.size(); ++x) seen.push_back(powered(x, std::max(exponent, 1)));
    if (exponent == 0)
      for (std::size_t x = 0; x < seen.size(); ++x)
        for (std::size_t y = 0; y < seen.size(); ++y)
          if (heavier(roots_, y, x)) seen[x] = 0;
    Set all;
    for (const Rational& weight : seen) all.push_back(weight > 0);
    Set kept = all;
    const auto narrow = [&](const auto& stays) {
      const Set from = request_.joint ? all : kept;
      for (std::size_t x = 0; x < seen.size(); ++x)
        if (from[x] && !stays(from, x)) kept[x] = false;
    };
    const auto largest = *std::max_element(seen.begin(), seen.end());
    if (request_.min_p_over > 0)
      narrow([&](const Set&, std::size_t x) { return seen[x] * request_.min_p_over >= largest; });
    if (request_.top_k > 0)
      narrow([&](const Set& from, std::size_t x) {
        int ahead = 0;
        for (std::size_t y = 0; y < seen.size(); ++y) ahead += from[y] && heavier(seen, y, x);
        return ahead < request_.top_k;
      });
    if (request_.top_p > 0)
      narrow([&](const Set& from, std::size_t x) {
        return reaches(seen, from, request_.top_p, [&](std::size_t y) { return heavier(seen, y, x); });
      });
    if (request_.typical_p > 0)
      narrow([&](const Set& from, std::size_t x) {
        std::vector<long double> weights;  // heaviest first, as the component adds them up
        std::vector<std::size_t> order;
        for (std::size_t y = 0; y < seen.size(); ++y)
          if (from[y]) order.push_back(y);
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return heavier(seen, a, b); });
        const auto share = [&](std::size_t y) {
          return static_cast<double>(Rational(seen[y] / seen[order.front()]));
        };
        for (const std::size_t y : order) weights.push_back(share(y));
        const TypicalDistance distance(weights);
        const auto at = [&](std::size_t y) { return distance.of(share(y)); };
        return reaches(seen, from, request_.typical_p, [&](std::size_t y) {
          return seen[y] == seen[x] ? y < x : at(y) < at(x) || (at(y) == at(x) && heavier(seen, y, x));
        });
      });
    return kept;
  }

  /// Whether less than the share lies ahead of a token.
  template <class Ahead>
  static bool reaches(const Row& seen, const Set& from, int percent, const Ahead& is_ahead) {
    Rational total = 0, ahead = 0;
    for (std::size_t y = 0; y < seen.size(); ++y)
      if (from[y]) {
        total += seen[y];
        if (is_ahead(y)) ahead += seen[y];
      }
    return ahead * 100 < total * percent;
  }

  const TargetRequest& request_;
  std::size_t place_;
  Row roots_;
};

/// The row after `prefix` drafts; nothing if the settings leave no token.
inline std::optional<std::vector<Rational>> wanted_row(const TargetSource& source, const TargetRequest& request,
                                                       const std::vector<Token>& prefix) {
  return WantedRow(source, request, prefix).row();
}

}  // namespace draftproof
