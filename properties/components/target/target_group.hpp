// Sources of target rows as subjects of checks: requests, and the rows that these specify.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/components/component.hpp>
#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_filters.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof {

// A readable request: weights at each position, the text before, settings and a proposal. It prints and parses as
// "w=(2 1)/3,(1 1)/2 q=(1 1)/2 text=(0) cold=2 grain=4 top_k=1 min_p=3 top_p=90 typical_p=50 joint cold_last
// bias=(1 2)/3 penalty=2 mask=(1 1)/2,(0 1)/1 generic".
//
//   w, cold, min_p, ...   settings of sim/components/target_filters.hpp; settings that are off are omitted
//   q                     law of the drafts at every position

struct TargetCase {
  TargetRequest request;
  std::vector<int> proposal;

  bool valid() const;
  std::string text() const;
  /// The inverse of text(). Throws: std::invalid_argument, which says what was found and what was expected.
  static TargetCase parse(std::string_view text);
  static constexpr std::string_view example = "w=(2 1)/3,(1 1)/2 q=(1 1)/2 text=(0) cold=2 penalty=2";

  bool operator==(const TargetCase&) const = default;
};

/// Pointers to the rows of weights and the proposal, for editing.
std::vector<std::vector<int>*> rows_of(TargetCase& one);

/// The cases one step smaller, most drastic first: one draft, token or setting less, smaller weights.
std::vector<TargetCase> shrinks(const TargetCase& one);

/// Case n of a seed: V 2 to 4, 0 to 3 drafts; each setting is on in some cases.
TargetCase generate_target_case(std::uint64_t seed, int n);

/// A type-erased source.
class TargetSource {
 public:
  using Row = std::vector<Rational> (*)(const TargetRequest&, const Token* drafts, int i);
  using Weight = int (*)(const TargetRequest&, int i, Token x);

  TargetSource(const ComponentInfo& info, Row row_function, Weight weight_function)
      : info_{info}, row_{row_function}, weight_{weight_function} {}
  const ComponentInfo& info() const { return info_; }
  /// The law of the next token after the chain's first i drafts.
  std::vector<Rational> row(const TargetRequest& request, const Token* drafts, int i) const {
    return row_(request, drafts, i);
  }
  /// The model's weight as this source reads it; settings are checked relative to it.
  int weight(const TargetRequest& request, int i, Token x) const { return weight_(request, i, x); }

 private:
  const ComponentInfo& info_;
  Row row_;
  Weight weight_;
};

template <class Source>
TargetSource target_source() {
  return {Source::info,
          [](const TargetRequest& request, const Token* drafts, int i) {
            return Source{}.template row<Rational>(request, drafts, i);
          },
          [](const TargetRequest& request, int i, Token x) { return Source{}.weight(request, i, x); }};
}

struct TargetGroup {
  static constexpr std::string_view name = "target";
  using Subject = TargetSource;
  using Case = TargetCase;

  /// 150 cases a round: each setting is on in a quarter of the cases and must differ from its default to have an
  /// effect.
  static std::vector<TargetCase> cases(std::uint64_t seed, int rounds) {
    std::vector<TargetCase> cases;
    for (int n = 0; n < 150 * rounds; ++n) cases.push_back(generate_target_case(seed, n));
    return cases;
  }
};

// Registration of sources of target rows and their checks.

template <class C>
void register_target_component() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<TargetGroup>>(target_source<C>(), Kind::verifier));
}
template <class C>
void register_target_mutant() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<TargetGroup>>(target_source<C>(), Kind::mutant));
}
template <class C>
void register_target_check() {
  add_check<C, TargetGroup>();
}

// The row that a request specifies, computed from the definitions of its settings, without code of the components but
// for the order of typical-p. Each token is evaluated by itself, as a statement about the tokens ahead of it.
//
//   u(x)     root of the weight after bias and penalty, as a fraction
//   v(x)     what filters see: u to the grain at temperature 1, to the inverse temperature otherwise
//   ahead    y before x: larger, or equal with a smaller id; of typical-p: nearer to the mean, then the same
//
// Cost: O(V^2) a filter.
//
// Correctness: min-p, top-k, top-p and typical-p are statements about v(x), its maximum, its rank, and the mass ahead
// of x in the set that the filter sees.

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
  /// The root of x over the largest, to a power: settings depend on ratios alone.
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

// Every chain of drafts up to a length, shorter ones first: the prefixes for which a source of target rows is
// checked.
//
// Cost: V^L chains. With this order the first violation has the shortest prefix.

/// All chains of at most `longest` tokens, beginning with the empty chain.
inline std::vector<std::vector<Token>> chains(int vocabulary, int longest) {
  std::vector<std::vector<Token>> all{{}};
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (static_cast<int>(all[n].size()) == longest) continue;
    for (Token x = 0; x < vocabulary; ++x) {
      std::vector<Token> longer = all[n];
      longer.push_back(x);
      all.push_back(std::move(longer));
    }
  }
  return all;
}

}  // namespace draftproof
