// The row that a request specifies, computed from the definitions of its settings, without code of the components.
// Each token is evaluated by itself.
//
//   v(x)     weight after bias, penalty and temperature, as a fraction
//   rank     number of tokens before x: larger v, or equal v and smaller id
//
// Cost: O(V^2) a row.
//
// Correctness: min-p and top-k are statements about v(x), its maximum and its rank.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <draftproof/properties/components/target/target_group.hpp>

namespace draftproof {

/// The row after `prefix` drafts; nothing if the settings leave no token.
inline std::optional<std::vector<Rational>> wanted_row(const TargetSource& source, const TargetRequest& request,
                                                       const std::vector<Token>& prefix) {
  const int i = static_cast<int>(prefix.size()), size = request.vocabulary();
  std::vector<Token> before = request.committed;
  before.insert(before.end(), prefix.begin(), prefix.end());
  const auto warm = [&](Token x) -> Rational {
    const int factor = request.bias.empty() ? 1 : request.bias[static_cast<std::size_t>(x)];
    Rational value(source.weight(request, i, x) * factor);
    for (const Token y : before)
      if (y == x) value /= request.penalty;
    return value;
  };
  const auto ahead = [&](Token y, Token x) { return warm(y) > warm(x) || (warm(y) == warm(x) && y < x); };
  const int only = request.coldness == 0 ? 1 : size, kept = request.top_k > 0 ? std::min(request.top_k, only) : only;
  std::vector<Rational> row;
  Rational total = 0;
  for (Token x = 0; x < size; ++x) {
    int rank = 0;
    Rational largest = warm(x);
    for (Token y = 0; y < size; ++y) {
      rank += ahead(y, x);
      largest = std::max<Rational>(largest, warm(y));
    }
    // Powers of the ratio to the largest weight: the same law, and min-p bounds this ratio.
    Rational ratio = largest > 0 ? Rational(warm(x) / largest) : Rational(0);
    const Rational base = ratio;
    for (int n = 1; n < request.coldness; ++n) ratio *= base;
    const bool forbidden = !request.masks.empty() && request.masks[prefix.size()][static_cast<std::size_t>(x)] == 0;
    const bool unlikely = request.coldness > 0 && request.min_p_over > 0 && ratio * request.min_p_over < 1;
    row.push_back(rank >= kept || forbidden || unlikely ? Rational(0) : ratio);
    total += row.back();
  }
  if (total == 0) return std::nullopt;
  for (Rational& mass : row) mass /= total;
  return row;
}

}  // namespace draftproof
