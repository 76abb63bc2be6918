// Registers a drafter for the parity test of kernels. Kernels verify the tuples that the host drew, and the tuples of
// the drafting kernels are compared with them.
#pragma once

#include <stdexcept>
#include <string>

#include <draftproof/tests/support/gpu/parity.hpp>

namespace draftproof {
namespace parity {

/// Returns the tuples drawn with the automatic mapping, after a check that all mappings of the device draw the same
/// tuples.
template <class D>
gpu::DraftTuples device_tuples(const gpu::DraftBatch<float>& host) {
  const gpu::DraftTuples chosen = gpu::draft_copied(D{}, host);
  for (const gpu::Mapping mapping : {gpu::Mapping::block, gpu::Mapping::split}) {
    const gpu::DraftTuples found = gpu::draft_copied(D{}, host, mapping);
    if (found.drafts != chosen.drafts || found.counts != chosen.counts)
      throw std::logic_error("mappings disagree on drafts: " + std::string(gpu::name_of(mapping)));
  }
  return chosen;
}

}  // namespace parity

template <class D>
void register_draft_sampling() {
  parity::add(parity::DraftSampling{D::info,
                                    [](const parity::HostRows& rows, int drafts, Philox random, Token* out) {
                                      return D{}.draw(rows, drafts, random, out);
                                    },
                                    parity::device_tuples<D>});
}

}  // namespace draftproof
