// Parity of steps: a scheme of paths, or NodeByNode of a verifier, on another machine must accept the host's nodes
// and emit the host's tokens for the same rows, trees and counters, in every iteration if it carries state. No
// mismatch is tolerated.
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

namespace draftproof::step_parity {

using HostDistributions = FreshRows<float>;
using HostAt = DraftedTree<HostDistributions>;
using HostCarry = VerifierState<double>;

struct Scheme {
  Info info;
  bool carries;  ///< whether the scheme carries state from one iteration to the next
  /// Runs a step on the host, and replaces the carry by the carry for the next iteration.
  std::function<StepOutput(const HostAt&, HostCarry&, Philox)> host;
  /// Runs the steps of a batch in host memory on the machine under test.
  std::function<void(const gpu::StepBatch<float>&, std::int64_t rows)> machine;
};

struct TreeSampling {
  TreeDrafterInfo info;
  std::function<void(const ConditionalModel<HostDistributions>&, const TreeShape&, Philox, DraftTree&)> draw;
};

void add(Scheme scheme);
void add(TreeSampling distribution);

struct Sizes {
  std::vector<int> vocabularies;
  int requests;        ///< requests per batch; there is one batch per scheme, tree sampling and vocabulary
  int iterations;      ///< number of iterations of schemes that carry state
  bool tells = false;  ///< whether to print a line when a scheme ends
};

/// Runs every registered scheme on every tree sampling that it supports. Prints each mismatch and a summary; returns
/// the number of mismatches, plus 1 if nothing was compared.
int run(const Sizes& sizes);

template <class V>
StepOutput host_step(const V& verifier, const HostAt& at, HostCarry& carry, Philox random) {
  if constexpr (gpu::Stateful<V, HostDistributions>) {
    const StepOutput step = verifier.verify(at, carry, random);
    if (step.extra.token >= 0) carry = verifier.after(at, carry, step);
    return step;
  } else if constexpr (requires { verifier.verify(at, random); }) {
    return verifier.verify(at, random);
  } else {
    auto plans = verifier.prepare(at.conditionals(), TreeShape{});
    return verifier.verify(at, plans, random);
  }
}

/// Registers V, which has kernels, with a machine.
template <class V>
void add(const Info& info, std::function<void(const gpu::StepBatch<float>&, std::int64_t rows)> machine) {
  if (info.unsupported.fresh.empty())
    add(Scheme{info, gpu::Stateful<V, HostDistributions>,
               [](const HostAt& at, HostCarry& carry, Philox random) { return host_step(V{}, at, carry, random); },
               std::move(machine)});
}

/// Registers a tree drafter, which runs on the host, if it draws from the rows of its nodes.
template <class D>
void add_trees() {
  if constexpr (D::info.row == DraftRow::context)
    add(TreeSampling{D::info, [](const ConditionalModel<HostDistributions>& conditionals, const TreeShape& shape,
                                 Philox random, DraftTree& out) { D{}.draw(conditionals, shape, random, out); }});
}

}  // namespace draftproof::step_parity
