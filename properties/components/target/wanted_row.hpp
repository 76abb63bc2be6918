// The row of p that a request specifies, from the definition of each setting, token by token: the reference for
// sources of target rows. It also reads settings as wrong sources do, so that cases can be chosen which show them.
//
//   v(x)     weight that a filter sees: the root of x, to the power of the temperature where that has come before
//
// Cost: O(V^2) a filter.
//
// Correctness: min-p, top-k, top-p and typical-p are statements about v(x), its maximum, its rank, and the mass ahead
// of x in the set that the filter sees.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/sim/components/target_filters.hpp>

namespace draftproof {

/// What a request may set, in the order of application where the temperature comes before the filters.
enum class Setting { bias, penalty, temperature, min_p, top_k, top_p, typical_p, mask };
inline constexpr std::array all_settings{Setting::bias,  Setting::penalty, Setting::temperature, Setting::min_p,
                                         Setting::top_k, Setting::top_p,   Setting::typical_p,   Setting::mask};

/// Whether the setting removes tokens by their weights.
constexpr bool is_filter(Setting one) { return one >= Setting::min_p && one <= Setting::typical_p; }

/// Takes the setting out of the request.
void switch_off(TargetRequest& request, Setting one);

/// How settings are read: in which order, and whether the filters all see the row before the first of them.
struct Reading {
  std::vector<Setting> order{all_settings.begin(), all_settings.end()};
  bool joint = false;
};

/// The reading that the request asks for.
Reading reading_of(const TargetRequest& request);

/// The row after `prefix` drafts, where the model's weights are `weights`; nothing if the settings leave no token.
std::optional<std::vector<Rational>> wanted_row(const std::vector<int>& weights, const TargetRequest& request,
                                                const std::vector<Token>& prefix, const Reading& reading);

}  // namespace draftproof
