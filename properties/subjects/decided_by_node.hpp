// The tree form of a verifier of one position, through the type-erased verifier: one class for all verifiers, compiled
// or foreign. sim/trees/node_by_node.hpp says what it does; schemes that read shared noise have NodeByNode alone.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>

namespace draftproof {

/// Exists for the laws and sources of proofs, of walks in double and of scripted words.
template <class L, class R>
class DecidedByNode final : public PathDecider<L, R> {
 public:
  DecidedByNode(std::shared_ptr<const AnyVerifier> verifier, const ConditionalModel<L>& conditionals)
      : verifier_{std::move(verifier)}, conditionals_{conditionals} {}

  StepOutput decide(const DraftTree& tree, const VerifierState<typename L::Scalar>&, R& random) override;

 private:
  const Decider<L, R>& decider_at(int context, const L& laws, int drafts);

  std::shared_ptr<const AnyVerifier> verifier_;
  const ConditionalModel<L>& conditionals_;
  int forgotten_ = 0;
  std::unordered_map<std::uint64_t, DeciderPtr<L, R>> deciders_;  ///< by context and number of drafts
};

}  // namespace draftproof
