// Wraps a verifier of paths or a tree drafter as a type-erased subject.
//
// A verifier of paths is a struct with a static Info named `info` and one of three forms of `verify`, all const:
//
//   without a plan    StepOutput verify(const DraftedTree<L>& at, R& random)
//   with a plan       auto prepare(const ConditionalModel<L>& conditionals, const TreeShape& shape)
//                     StepOutput verify(const DraftedTree<L>& at, Plan& plan, R& random)
//   with a state      StepOutput verify(const DraftedTree<L>& at, const VerifierState<Scalar>& carry, R& random)
//                     VerifierState<Scalar> after(const DraftedTree<L>& at, const VerifierState<Scalar>& carry,
//                                                 const StepOutput& step)
//
// `prepare` returns the plan, which `verify` may extend. `after` returns the state for the next iteration.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof {

/// Returns the result of the verifier's `prepare`, or NoPlan if the verifier does not have `prepare`.
template <class V, class L>
auto prepare_paths(const V& verifier, const ConditionalModel<L>& conditionals, const TreeShape& shape) {
  if constexpr (requires { verifier.prepare(conditionals, shape); })
    return verifier.prepare(conditionals, shape);
  else
    return NoPlan{};
}

/// Whether V carries state, i.e. has `after`.
template <class V, class L>
inline constexpr bool carries = requires(const V& verifier, const DraftedTree<L>& at,
                                         const VerifierState<typename L::Scalar>& carry, const StepOutput& step) {
  verifier.after(at, carry, step);
};

template <class V, class L, class R>
class PathDeciderOf final : public PathDecider<L, R> {
 public:
  PathDeciderOf(const V& verifier, const ConditionalModel<L>& conditionals, const TreeShape& shape)
      : verifier_{verifier}, conditionals_{conditionals}, plan_{prepare_paths(verifier, conditionals, shape)} {}

  StepOutput decide(const DraftTree& tree, [[maybe_unused]] const VerifierState<typename L::Scalar>& carry,
                    R& random) override {
    const DraftedTree<L> at(conditionals_, tree);
    if constexpr (carries<V, L>)
      return verifier_.verify(at, carry, random);
    else if constexpr (requires { verifier_.verify(at, plan_, random); })
      return verifier_.verify(at, plan_, random);
    else
      return verifier_.verify(at, random);
  }

 private:
  V verifier_;
  const ConditionalModel<L>& conditionals_;
  decltype(prepare_paths(std::declval<const V&>(), std::declval<const ConditionalModel<L>&>(), TreeShape{})) plan_;
};

template <class V, class L>
class PathProcessOf final : public PathProcess<L> {
 public:
  using Scalar = typename L::Scalar;

  PathProcessOf(const V& verifier, const ConditionalModel<L>& conditionals)
      : verifier_{verifier}, conditionals_{conditionals} {}
  VerifierState<Scalar> after(const DraftTree& tree, const VerifierState<Scalar>& carry,
                              const StepOutput& step) override {
    return verifier_.after(DraftedTree<L>(conditionals_, tree), carry, step);
  }

 private:
  V verifier_;
  const ConditionalModel<L>& conditionals_;
};

template <class V>
class PathVerifierOf final : public AnyPathVerifier {
 public:
  explicit PathVerifierOf(Kind kind, V verifier = {})
      : AnyPathVerifier(V::info, kind), verifier_{std::move(verifier)}, position_{position(kind, verifier_)} {}

  On<Rows<Rational>, Explorer<Rational>> prove_on(const ConditionalModel<Rows<Rational>>& conditionals,
                                                  const TreeShape& shape) const override {
    return make<explored, Explorer<Rational>>(conditionals, shape);
  }
  On<Rows<double>, Explorer<double>> explore_on(const ConditionalModel<Rows<double>>& conditionals,
                                                const TreeShape& shape) const override {
    return make < explored && (!lifted_mutant || audited), Explorer < double >> (conditionals, shape);
  }
  On<RatioTable, Explorer<double>> explore_on(const ConditionalModel<RatioTable>& conditionals,
                                              const TreeShape& shape) const override {
    return make < audited && V::info.unsupported.simulate.empty(), Explorer < double >> (conditionals, shape);
  }
  On<FreshRows<double>, Explorer<double>> explore_on(const ConditionalModel<FreshRows<double>>& conditionals,
                                                     const TreeShape& shape) const override {
    return make < audited && V::info.unsupported.fresh.empty(), Explorer < double >> (conditionals, shape);
  }
  On<RatioTable, Philox> simulate_on(const ConditionalModel<RatioTable>& conditionals,
                                     const TreeShape& shape) const override {
    return make<V::info.unsupported.simulate.empty(), Philox>(conditionals, shape);
  }
  On<Rows<double>, Scripted> scripted_on(const ConditionalModel<Rows<double>>& conditionals,
                                         const TreeShape& shape) const override {
    return make<true, Scripted>(conditionals, shape);
  }

  bool stateful() const override { return carries<V, Rows<double>>; }
  std::unique_ptr<PathProcess<Rows<Rational>>> process_on(
      const ConditionalModel<Rows<Rational>>& conditionals) const override {
    return process(conditionals);
  }
  std::unique_ptr<PathProcess<Rows<double>>> process_on(
      const ConditionalModel<Rows<double>>& conditionals) const override {
    return process(conditionals);
  }
  std::unique_ptr<PathProcess<RatioTable>> process_on(
      const ConditionalModel<RatioTable>& conditionals) const override {
    return process(conditionals);
  }

 private:
  /// Whether V applies a verifier of one position to trees. The deciders of V are then made from the deciders of the
  /// verifier of one position (DecidedByNode) if possible, so that less code is compiled.
  static constexpr bool lifted = requires { typename V::Position; };
  /// Such a V, if it is a mutant, has only the deciders that can refute it, so that less code is compiled.
  static constexpr bool lifted_mutant = V::info.is_mutant() && lifted;
  static constexpr bool explored = V::info.unsupported.explore.empty();
  static constexpr bool audited = explored && V::info.precision_audited();

  template <bool possible, class R, class L>
  PathDeciderPtr<L, R> make([[maybe_unused]] const ConditionalModel<L>& conditionals,
                            [[maybe_unused]] const TreeShape& shape) const {
    if constexpr (possible && lifted && !V::info.shared_noise && !std::same_as<R, Philox>)
      return std::make_unique<DecidedByNode<L, R>>(position_, conditionals);
    else if constexpr (possible)
      return std::make_unique<PathDeciderOf<V, L, R>>(verifier_, conditionals, shape);
    else
      return nullptr;
  }
  template <class L>
  std::unique_ptr<PathProcess<L>> process(const ConditionalModel<L>& conditionals) const {
    if constexpr (carries<V, L>)
      return std::make_unique<PathProcessOf<V, L>>(verifier_, conditionals);
    else
      return nullptr;
  }

  static std::shared_ptr<const AnyVerifier> position(Kind kind, const V& verifier) {
    if constexpr (lifted)
      return std::make_shared<VerifierOf<typename V::Position>>(kind, verifier.verifier);
    else
      return nullptr;
  }

  V verifier_;
  std::shared_ptr<const AnyVerifier> position_;  ///< the verifier of one position if `lifted`, else null
};

template <class D>
class TreeDrafterOf final : public AnyTreeDrafter {
 public:
  TreeDrafterOf() : AnyTreeDrafter(D::info) {
    if constexpr (D::info.shared_noise()) static_assert(D::Marginal::info.name == D::info.marginal_sampling_of);
  }

  void draw(const ConditionalModel<Rows<Rational>>& conditionals, const TreeShape& shape, Explorer<Rational>& random,
            DraftTree& out) const override {
    ExploredDrafter<D>{}.draw(conditionals, shape, random, out);
  }
  void draw(const ConditionalModel<Rows<double>>& conditionals, const TreeShape& shape, Explorer<double>& random,
            DraftTree& out) const override {
    ExploredDrafter<D>{}.draw(conditionals, shape, random, out);
  }
  void draw(const ConditionalModel<RatioTable>& conditionals, const TreeShape& shape, Explorer<double>& random,
            DraftTree& out) const override {
    ExploredDrafter<D>{}.draw(conditionals, shape, random, out);
  }
  void draw(const ConditionalModel<FreshRows<double>>& conditionals, const TreeShape& shape, Explorer<double>& random,
            DraftTree& out) const override {
    ExploredDrafter<D>{}.draw(conditionals, shape, random, out);
  }
  void draw(const ConditionalModel<RatioTable>& conditionals, const TreeShape& shape, Philox& random,
            DraftTree& out) const override {
    D{}.draw(conditionals, shape, random, out);
  }
  void draw(const ConditionalModel<Rows<double>>& conditionals, const TreeShape& shape, Scripted& random,
            DraftTree& out) const override {
    D{}.draw(conditionals, shape, random, out);
  }
};

}  // namespace draftproof
