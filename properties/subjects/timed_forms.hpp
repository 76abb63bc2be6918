// Verifiers on fresh rows of floats, as an engine runs them. Only benchmarks use verifiers in this form, so other
// programs do not compile them.
#pragma once

#include <map>
#include <memory>
#include <string_view>

#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>

namespace draftproof {

/// Prepares a verifier of one position for the rows `distributions`.
using TimedForm = DeciderPtr<FreshRows<float>, Philox> (*)(const FreshRows<float>& distributions, int drafts);
/// Prepares a verifier of paths for a model whose rows are fresh rows of floats.
using TimedPathForm = PathDeciderPtr<FreshRows<float>, Philox> (*)(const ConditionalModel<FreshRows<float>>&,
                                                                   const TreeShape&);

/// Returns the registered preparing functions by verifier name; Form is TimedForm or TimedPathForm.
template <class Form>
std::map<std::string_view, Form>& timed_forms() {
  static std::map<std::string_view, Form> forms;
  return forms;
}

/// Returns the registered preparing function of the verifier `name`; null for mutants and for verifiers that do not
/// support fresh rows (Info::unsupported).
template <class Form>
Form timed_form(std::string_view name) {
  const auto found = timed_forms<Form>().find(name);
  return found == timed_forms<Form>().end() ? nullptr : found->second;
}

template <class V>
void register_timed_path_verifier() {
  if constexpr (V::info.unsupported.fresh.empty())
    timed_forms<TimedPathForm>()[V::info.name] =
        [](const ConditionalModel<FreshRows<float>>& conditionals,
           const TreeShape& shape) -> PathDeciderPtr<FreshRows<float>, Philox> {
      return std::make_unique<PathDeciderOf<V, FreshRows<float>, Philox>>(V{}, conditionals, shape);
    };
}
/// Registers the preparing functions of a verifier of one position, and of the verifier of trees that applies it node
/// by node.
template <class V>
void register_timed_verifier() {
  if constexpr (V::info.unsupported.fresh.empty())
    timed_forms<TimedForm>()[V::info.name] = [](const FreshRows<float>& distributions,
                                                int drafts) -> DeciderPtr<FreshRows<float>, Philox> {
      return std::make_unique<DeciderOf<V, FreshRows<float>, Philox>>(V{}, distributions, drafts);
    };
  if constexpr (node_liftable<V>) register_timed_path_verifier<LiftedToTrees<V>>();
}

}  // namespace draftproof
