// Type-erased verifiers of paths and trees, and drafters of trees: the counterpart of any_verifier.hpp for iterations
// that emit more than one token. Also the class that applies a verifier of one position to a tree.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof {

/// A verifier prepared for a model. A PathDecider may cache plans, so each thread needs a separate object.
template <class L, class R>
class PathDecider {
 public:
  using Scalar = typename L::Scalar;

  virtual ~PathDecider() = default;
  /// Runs one iteration on `tree`; `carry` is the state that the previous iteration returned.
  virtual StepOutput decide(const DraftTree& tree, const VerifierState<Scalar>& carry, R& random) = 0;
};

/// Updates the state of a stateful scheme from one iteration to the next.
template <class L>
class PathProcess {
 public:
  using Scalar = typename L::Scalar;

  virtual ~PathProcess() = default;
  /// Returns the state for the next iteration after the iteration on `tree` gave `step`, with its extra token drawn.
  virtual VerifierState<Scalar> after(const DraftTree& tree, const VerifierState<Scalar>& carry,
                                      const StepOutput& step) = 0;
};

template <class L, class R>
using PathDeciderPtr = std::unique_ptr<PathDecider<L, R>>;

/// A registered verifier of paths. A function that returns a decider returns null if Info::unsupported excludes this
/// combination of rows and random source, or the verifier does not override the function.
class AnyPathVerifier : public RegisteredVerifier {
 public:
  using RegisteredVerifier::RegisteredVerifier;

  template <class L, class R>
  using On = PathDeciderPtr<L, R>;
  /// Returns a decider for exact enumeration in fractions.
  virtual On<Rows<Rational>, Explorer<Rational>> prove_on(const ConditionalModel<Rows<Rational>>&,
                                                          const TreeShape&) const {
    return {};
  }
  /// Returns a decider for enumeration in double on plain rows, prepared tables or fresh rows.
  virtual On<Rows<double>, Explorer<double>> explore_on(const ConditionalModel<Rows<double>>&,
                                                        const TreeShape&) const {
    return {};
  }
  virtual On<RatioTable, Explorer<double>> explore_on(const ConditionalModel<RatioTable>&, const TreeShape&) const {
    return {};
  }
  virtual On<FreshRows<double>, Explorer<double>> explore_on(const ConditionalModel<FreshRows<double>>&,
                                                             const TreeShape&) const {
    return {};
  }
  /// Returns a decider for trials on prepared tables.
  virtual On<RatioTable, Philox> simulate_on(const ConditionalModel<RatioTable>&, const TreeShape&) const = 0;
  /// Returns a decider for scripted random bits, which logs every draw.
  virtual On<Rows<double>, Scripted> scripted_on(const ConditionalModel<Rows<double>>&, const TreeShape&) const {
    return {};
  }

  /// Whether the scheme carries state from one iteration to the next.
  virtual bool stateful() const { return false; }
  /// Returns an object that updates the state; null unless stateful().
  virtual std::unique_ptr<PathProcess<Rows<Rational>>> process_on(const ConditionalModel<Rows<Rational>>&) const {
    return {};
  }
  virtual std::unique_ptr<PathProcess<Rows<double>>> process_on(const ConditionalModel<Rows<double>>&) const {
    return {};
  }
  virtual std::unique_ptr<PathProcess<RatioTable>> process_on(const ConditionalModel<RatioTable>&) const {
    return {};
  }
};

/// A registered drafter of trees.
class AnyTreeDrafter {
 public:
  explicit AnyTreeDrafter(const TreeDrafterInfo& info) : info_{info} {}
  virtual ~AnyTreeDrafter() = default;

  const TreeDrafterInfo& info() const { return info_; }

  /// Adds the drafted nodes to the given tree. The overloads differ in the form of the rows and the random source.
  virtual void draw(const ConditionalModel<Rows<Rational>>&, const TreeShape&, Explorer<Rational>&,
                    DraftTree&) const = 0;
  virtual void draw(const ConditionalModel<Rows<double>>&, const TreeShape&, Explorer<double>&, DraftTree&) const = 0;
  virtual void draw(const ConditionalModel<RatioTable>&, const TreeShape&, Explorer<double>&, DraftTree&) const = 0;
  virtual void draw(const ConditionalModel<FreshRows<double>>&, const TreeShape&, Explorer<double>&,
                    DraftTree&) const = 0;
  virtual void draw(const ConditionalModel<RatioTable>&, const TreeShape&, Philox&, DraftTree&) const = 0;
  virtual void draw(const ConditionalModel<Rows<double>>&, const TreeShape&, Scripted&, DraftTree&) const = 0;

 private:
  const TreeDrafterInfo& info_;
};

// Applies a type-erased verifier of one position node by node to a tree, as described in sim/trees/node_by_node.hpp.
// One class serves all verifiers, compiled or external; schemes that read shared noise use NodeByNode instead.

/// The decider for proofs, enumeration in double and scripted random bits.
template <class L, class R>
class DecidedByNode final : public PathDecider<L, R> {
 public:
  DecidedByNode(std::shared_ptr<const AnyVerifier> verifier, const ConditionalModel<L>& conditionals)
      : verifier_{std::move(verifier)}, conditionals_{conditionals} {}

  StepOutput decide(const DraftTree& tree, const VerifierState<typename L::Scalar>&, R& random) override;

 private:
  const Decider<L, R>& decider_at(int context, const L& distributions, int drafts);

  std::shared_ptr<const AnyVerifier> verifier_;
  const ConditionalModel<L>& conditionals_;
  int forgotten_ = 0;
  std::unordered_map<std::uint64_t, DeciderPtr<L, R>> deciders_;  ///< keyed by context and number of drafts
};

}  // namespace draftproof
