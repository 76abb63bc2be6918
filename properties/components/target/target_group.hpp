// Sources of target rows as subjects of checks.
#pragma once

#include <string_view>
#include <vector>

#include <draftproof/exact/rational.hpp>
#include <draftproof/properties/components/component_check.hpp>
#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/target/target_case.hpp>
#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof {

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

}  // namespace draftproof
