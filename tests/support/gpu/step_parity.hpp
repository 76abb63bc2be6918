// Parity of passages: a scheme of paths, or the walk of a verifier, run by another machine must accept the nodes and
// emit the tokens that it does on the host for the same rows, trees and counters, iteration after iteration where it
// carries state. Zero mismatches.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <draftproof/gpu/step_batch.hpp>
#include <draftproof/gpu/steps/pass.cuh>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::passage_parity {

using HostLaws = FreshRows<float>;
using HostAt = TreeAt<HostLaws>;
using HostCarry = Carry<double>;

struct Scheme {
  Info info;
  bool carries;  ///< state, from one iteration to the next
  /// A passage on the host; reads the carry and leaves that of the next iteration.
  std::function<Passage(const HostAt&, HostCarry&, Philox)> host;
  /// The passages of a batch in host memory by the machine under test.
  std::function<void(const gpu::PassageBatch<float>&, std::int64_t rows)> machine;
};

struct TreeLaw {
  TreeDrafterInfo info;
  std::function<void(const Contexts<HostLaws>&, const TreeShape&, Philox, DraftTree&)> draw;
};

void add(Scheme scheme);
void add(TreeLaw law);

struct Sizes {
  std::vector<int> vocabularies;
  int requests;    ///< of a batch; one batch per scheme, tree law and vocabulary
  int iterations;  ///< of schemes that carry state
};

/// Runs every registered scheme on every tree law it is written for. Prints each mismatch and a summary; returns the
/// number of mismatches, plus 1 if nothing was compared.
int run(const Sizes& sizes);

template <class V>
Passage host_passage(const V& verifier, const HostAt& at, HostCarry& carry, Philox random) {
  if constexpr (gpu::Carries<V, HostLaws>) {
    const Passage passage = verifier.verify(at, carry, random);
    if (passage.extra.token >= 0) carry = verifier.after(at, carry, passage);
    return passage;
  } else if constexpr (requires { verifier.verify(at, random); }) {
    return verifier.verify(at, random);
  } else {
    auto plans = verifier.prepare(at.contexts(), TreeShape{});
    return verifier.verify(at, plans, random);
  }
}

/// Registers V, which has kernels, with a machine.
template <class V>
void add(const Info& info, std::function<void(const gpu::PassageBatch<float>&, std::int64_t rows)> machine) {
  if (info.cannot.fresh.empty())
    add(Scheme{info, gpu::Carries<V, HostLaws>,
               [](const HostAt& at, HostCarry& carry, Philox random) { return host_passage(V{}, at, carry, random); },
               std::move(machine)});
}

/// Registers a tree drafter; it runs on the host.
template <class D>
void add_trees() {
  add(TreeLaw{D::info, [](const Contexts<HostLaws>& contexts, const TreeShape& shape, Philox random, DraftTree& out) {
                D{}.draw(contexts, shape, random, out);
              }});
}

}  // namespace draftproof::passage_parity
