// Registers a drafter as a source of drafts for the parity test of kernels; it runs on the host.
#pragma once

#include <draftproof/tests/gpu/parity.hpp>

namespace draftproof {

template <class D>
void register_draft_law() {
  parity::add(parity::DraftLaw{D::info,
                               [](const parity::HostRows& rows, int drafts, Philox random, Token* out) {
                                 return D{}.draw(rows, drafts, random, out);
                               },
                               {}});
}

}  // namespace draftproof
