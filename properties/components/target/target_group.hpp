// Sources of target rows under test: requests, and the rows that the requests specify.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/components/component.hpp>
#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_filters.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof {

// The row of p that a request specifies, from the definition of each setting, token by token: the reference for
// sources of target rows. It can also apply settings wrongly, to choose cases that reveal wrong sources.
//
//   v(x)     weight of x in a filter's input: a root of the token's weight, raised to a power if the temperature was
//            applied before the filter
//
// Cost: O(V^2) per filter.
//
// Correctness: min-p, top-k, top-p and typical-p are defined by v(x), its maximum, its rank, and the mass ahead
// of x in the filter's input.

/// The settings of a request, in the order of application if the temperature comes before the filters.
enum class Setting { bias, penalty, temperature, min_p, top_k, top_p, typical_p, mask };
inline constexpr std::array all_settings{Setting::bias,  Setting::penalty, Setting::temperature, Setting::min_p,
                                         Setting::top_k, Setting::top_p,   Setting::typical_p,   Setting::mask};

/// Whether the setting removes tokens by their weights.
constexpr bool is_filter(Setting one) { return one >= Setting::min_p && one <= Setting::typical_p; }

/// Resets the setting of the request to its default.
void switch_off(TargetRequest& request, Setting one);

/// An interpretation of the settings: their order, and whether every filter reads the row as it was before the first
/// filter (joint) or the row that the previous filter left (chained).
struct Reading {
  std::vector<Setting> order{all_settings.begin(), all_settings.end()};
  bool joint = false;
};

/// Returns the interpretation that the request specifies.
Reading reading_of(const TargetRequest& request);

/// Returns the row after `prefix` drafts for a model with these weights; nullopt if the settings leave no token.
std::optional<std::vector<Rational>> wanted_row(const std::vector<int>& weights, const TargetRequest& request,
                                                const std::vector<Token>& prefix, const Reading& reading);

// A readable request: weights at each position, the text before, settings and a proposal. It prints and parses as
// "w=(2 1)/3,(1 1)/2 q=(1 1)/2 text=(0) cold=2 grain=4 top_k=1 min_p=3 top_p=90 typical_p=50 joint cold_last
// bias=(1 2)/3 penalty=2 mask=(1 1)/2,(0 1)/1 generic".
//
//   w, cold, min_p, ...   settings of sim/components/target_filters.hpp; settings that are off are omitted
//   q                     distribution of the draft at every position

struct TargetCase {
  TargetRequest request;
  std::vector<int> proposal;

  bool valid() const;
  std::string text() const;
  /// The inverse of text(). Throws: std::invalid_argument, which names the text and the expected format.
  static TargetCase parse(std::string_view text);
  static constexpr std::string_view example = "w=(2 1)/3,(1 1)/2 q=(1 1)/2 text=(0) cold=2 penalty=2";

  bool operator==(const TargetCase&) const = default;
};

/// Returns pointers to the rows of weights and the proposal, for editing.
std::vector<std::vector<int>*> rows_of(TargetCase& one);

/// Returns the cases one step smaller, most drastic first: one draft, token or setting less, smaller weights.
std::vector<TargetCase> shrinks(const TargetCase& one);

/// Returns case n of a seed: V 2 to 4, 0 to 3 drafts; each setting is on in some cases.
TargetCase generate_target_case(std::uint64_t seed, int n);

/// Returns small cases of each setting alone and of each pair, with filters chained and joint and the
/// temperature before and after them. Where possible, the values make the row differ from the row without one
/// of the settings, in the other order, and with filters chained instead of joint or the reverse.
///
/// Correctness: a source that makes one of these mistakes with a pair of settings, for all values of its other
/// settings, fails one of the cases at every seed.
std::vector<TargetCase> cases_of_two_settings(std::uint64_t seed);

/// A type-erased source.
class TargetSource {
 public:
  using Row = std::vector<Rational> (*)(const TargetRequest&, const Token* drafts, int i);
  using Weight = int (*)(const TargetRequest&, int i, Token x);

  TargetSource(const ComponentInfo& info, Row row_function, Weight weight_function)
      : info_{info}, row_{row_function}, weight_{weight_function} {}
  const ComponentInfo& info() const { return info_; }
  /// Returns the distribution of the next token after the chain's first i drafts.
  std::vector<Rational> row(const TargetRequest& request, const Token* drafts, int i) const {
    return row_(request, drafts, i);
  }
  /// Returns the weight of x at position i as this source reads it. The row that a check expects is computed from these
  /// weights, so a source may read them with an error in the last bits.
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

  /// Returns the cases of two settings, and 150 random cases per round with drafts and several settings: each
  /// setting is on in a quarter of them or more.
  static std::vector<TargetCase> cases(std::uint64_t seed, int rounds) {
    std::vector<TargetCase> cases = cases_of_two_settings(seed);
    for (int n = 0; n < 150 * rounds; ++n) cases.push_back(generate_target_case(seed, n));
    return cases;
  }
};

// Registration of sources of target rows and their checks.

template <class C>
inline constexpr auto register_target_component = add_component<TargetGroup, target_source<C>, Kind::verifier>;
template <class C>
inline constexpr auto register_target_mutant = add_component<TargetGroup, target_source<C>, Kind::mutant>;
template <class C>
inline constexpr auto register_target_check = add_check<C, TargetGroup>;

/// Returns the row after `prefix` drafts from the weights that the source reads; nullopt if the settings leave
/// no token.
inline std::optional<std::vector<Rational>> wanted_row(const TargetSource& source, const TargetRequest& request,
                                                       const std::vector<Token>& prefix) {
  std::vector<int> weights;
  for (Token x = 0; x < request.vocabulary(); ++x)
    weights.push_back(source.weight(request, static_cast<int>(prefix.size()), x));
  return wanted_row(weights, request, prefix, reading_of(request));
}

/// Returns all chains of at most `longest` tokens, beginning with the empty chain: the prefixes for which a
/// source of target rows is checked. Shorter chains are first, so the first failure has the shortest prefix.
/// Cost: V^L chains.
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
