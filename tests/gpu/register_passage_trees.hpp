// Registers a tree drafter as a source of trees for the parity tests of passages; it runs on the host.
#pragma once

#include <draftproof/tests/gpu/passage_parity.hpp>

namespace draftproof {

template <class D>
void register_passage_trees() {
  passage_parity::add_trees<D>();
}

}  // namespace draftproof
