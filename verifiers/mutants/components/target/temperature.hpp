// Mutants of target rows: wrong temperatures. `Hidden` says where a bug does not show.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::mutants::components::target {

// Mutant: applies filters to the row at temperature 1, and the temperature after the filters, whatever order the
// request specifies.
//
// Hidden: at temperature 1, and with filters that a temperature does not move (top-k).
//
// sim/components/target_steps.hpp describes steps, symbols and cost.
struct FiltersBeforeTemperature : TargetRows<FiltersBeforeTemperature> {
  static constexpr ComponentInfo info{.name = "filters_before_temperature",
                                      .summary = "filters see the row at temperature 1 in either order",
                                      .source = "derived here"};

  bool cold_last(const TargetRequest&) const { return true; }
};

// Mutant: treats a temperature of at most one half as 0: the most probable token has all mass. Engines treat
// temperatures below 1e-5 as 0. The small models of the checks cannot represent such temperatures, so the threshold
// here is one half.
//
// Hidden: at temperature 0, and at temperatures above one half.
//
// sim/components/target_steps.hpp describes steps, symbols and cost.
struct LowTemperatureIsGreedy : TargetRows<LowTemperatureIsGreedy> {
  static constexpr ComponentInfo info{.name = "low_temperature_is_greedy",
                                      .summary = "temperatures of at most one half are treated as 0",
                                      .source = "derived here"};

  int coldness(const TargetRequest& request) const {
    return request.coldness >= 2 * request.grain ? 0 : request.coldness;
  }
};

// Mutant: if no specialised kernel is available, p becomes one-hot at its largest entry, and no error is reported.
//
// sim/components/target_steps.hpp describes steps, symbols and cost.
// Source: sgl-project/sglang#39253.
// Hidden: if a specialised kernel is available.
struct TargetArgmaxFallback : TargetSteps {
  static constexpr ComponentInfo info{.name = "target_argmax_fallback",
                                      .summary = "without a specialised kernel p is one-hot at its largest entry",
                                      .source = "sgl-project/sglang#39253"};

  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    std::vector<Scalar> distribution = target_row<Scalar>(*this, request, drafts, i);
    if (request.backend == TargetBackend::specialised) return distribution;
    const auto top = std::max_element(distribution.begin(), distribution.end());
    for (auto entry = distribution.begin(); entry != distribution.end(); ++entry)
      *entry = Scalar(entry == top ? 1 : 0);
    return distribution;
  }
};

// Mutant: computes rows of p at temperature 1 for every request.
//
// sim/components/target_steps.hpp describes steps, symbols and cost.
// Source: vllm-project/vllm#9834.
// Hidden: at temperature 1 and on rows whose weights are all equal.
struct TargetAtDefaultTemperature : TargetRows<TargetAtDefaultTemperature> {
  static constexpr ComponentInfo info{.name = "target_at_default_temperature",
                                      .summary = "p has temperature 1, whatever the request sets",
                                      .source = "vllm-project/vllm#9834"};

  int coldness(const TargetRequest& request) const { return request.grain; }
};

// Mutant: ignores a temperature within a quarter of 1, as engines do that compare it with 1 by a tolerance.
//
// Hidden: at temperature 1, and at temperatures further than a quarter from 1.
//
// sim/components/target_steps.hpp describes steps, symbols and cost.
struct TemperatureNearOneSkipped : TargetRows<TemperatureNearOneSkipped> {
  static constexpr ComponentInfo info{.name = "temperature_near_one_skipped",
                                      .summary = "temperatures within a quarter of 1 are treated as 1",
                                      .source = "derived here"};

  int coldness(const TargetRequest& request) const {
    const int beyond = request.coldness - request.grain;
    return request.coldness > 0 && 4 * beyond <= request.grain && -4 * beyond <= request.grain ? request.grain
                                                                                               : request.coldness;
  }
};

}  // namespace draftproof::mutants::components::target
