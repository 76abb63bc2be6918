// Registers verifiers, mutants and drafters for the test of views of tables in host memory.
#pragma once

#include <draftproof/tests/support/gpu/table_parity.hpp>

namespace draftproof {

template <class V>
void register_table_parity() {
  if constexpr (parity::runs_on_views<V>)
    parity::add(
        parity::TableScheme{V::info, parity::verdicts_on<V, RatioTable>, parity::verdicts_on<V, TableView>, {}});
}
template <class V>
void register_mutant_table_parity() {
  register_table_parity<V>();
}
template <class D>
void register_table_distribution() {
  const auto draw = [](const auto& distributions, int drafts, Philox random, Token* out) {
    return D{}.draw(distributions, drafts, random, out);
  };
  parity::add(parity::TableDistribution{D::info, draw, draw});
}

}  // namespace draftproof
