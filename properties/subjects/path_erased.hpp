// Turns a verifier of paths or a tree drafter into a subject of the framework.
//
// A verifier of paths is a struct with a static Info named `info` and
//     Passage verify(const TreeAt<L>& at, R& random) const                              or, with a plan that may
//     grow, auto prepare(const Contexts<L>&, const TreeShape&) const                          and then Passage
//     verify(const TreeAt<L>& at, Plan& plan, R& random) const                  or, carrying state, Passage
//     verify(const TreeAt<L>& at, const Carry<Scalar>& carry, R& random) const  and Carry<Scalar> after(const
//     TreeAt<L>& at, const Carry<Scalar>& carry, const Passage& passage) const
#pragma once

#include <utility>

#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof {

template <class V, class L>
auto prepare_paths(const V& verifier, const Contexts<L>& contexts, const TreeShape& shape) {
  if constexpr (requires { verifier.prepare(contexts, shape); })
    return verifier.prepare(contexts, shape);
  else
    return NoPlan{};
}

/// Whether V carries state.
template <class V, class L>
inline constexpr bool carries = requires(const V& verifier, const TreeAt<L>& at,
                                         const Carry<typename L::Scalar>& carry, const Passage& passage) {
  verifier.after(at, carry, passage);
};

template <class V, class L, class R>
class PathDeciderOf final : public PathDecider<L, R> {
 public:
  PathDeciderOf(const V& verifier, const Contexts<L>& contexts, const TreeShape& shape)
      : verifier_{verifier}, contexts_{contexts}, plan_{prepare_paths(verifier, contexts, shape)} {}

  Passage decide(const DraftTree& tree, [[maybe_unused]] const Carry<typename L::Scalar>& carry, R& random) override {
    const TreeAt<L> at(contexts_, tree);
    if constexpr (carries<V, L>)
      return verifier_.verify(at, carry, random);
    else if constexpr (requires { verifier_.verify(at, plan_, random); })
      return verifier_.verify(at, plan_, random);
    else
      return verifier_.verify(at, random);
  }

 private:
  V verifier_;
  const Contexts<L>& contexts_;
  decltype(prepare_paths(std::declval<const V&>(), std::declval<const Contexts<L>&>(), TreeShape{})) plan_;
};

template <class V, class L>
class PathProcessOf final : public PathProcess<L> {
 public:
  using Scalar = typename L::Scalar;

  PathProcessOf(const V& verifier, const Contexts<L>& contexts) : verifier_{verifier}, contexts_{contexts} {}
  Carry<Scalar> after(const DraftTree& tree, const Carry<Scalar>& carry, const Passage& passage) override {
    return verifier_.after(TreeAt<L>(contexts_, tree), carry, passage);
  }

 private:
  V verifier_;
  const Contexts<L>& contexts_;
};

template <class V>
class PathVerifierOf final : public AnyPathVerifier {
 public:
  explicit PathVerifierOf(Kind kind, V verifier = {})
      : AnyPathVerifier(V::info, kind), verifier_{std::move(verifier)} {}

  On<Rows<Rational>, Explorer<Rational>> prove_on(const Contexts<Rows<Rational>>& contexts,
                                                  const TreeShape& shape) const override {
    return make<V::info.cannot.explore.empty(), Explorer<Rational>>(contexts, shape);
  }
  On<Rows<double>, Explorer<double>> explore_on(const Contexts<Rows<double>>& contexts,
                                                const TreeShape& shape) const override {
    return make<V::info.cannot.explore.empty(), Explorer<double>>(contexts, shape);
  }
  On<RatioTable, Philox> simulate_on(const Contexts<RatioTable>& contexts, const TreeShape& shape) const override {
    return make<V::info.cannot.simulate.empty(), Philox>(contexts, shape);
  }
  On<FreshRows<float>, Philox> simulate_on(const Contexts<FreshRows<float>>& contexts,
                                           const TreeShape& shape) const override {
    return make < V::info.cannot.fresh.empty() && V::info.distorts.empty(), Philox > (contexts, shape);
  }
  On<Rows<double>, Scripted> play_on(const Contexts<Rows<double>>& contexts, const TreeShape& shape) const override {
    return make<true, Scripted>(contexts, shape);
  }

  bool stateful() const override { return carries<V, Rows<double>>; }
  std::unique_ptr<PathProcess<Rows<Rational>>> process_on(const Contexts<Rows<Rational>>& contexts) const override {
    return process(contexts);
  }
  std::unique_ptr<PathProcess<Rows<double>>> process_on(const Contexts<Rows<double>>& contexts) const override {
    return process(contexts);
  }
  std::unique_ptr<PathProcess<RatioTable>> process_on(const Contexts<RatioTable>& contexts) const override {
    return process(contexts);
  }

 private:
  template <bool possible, class R, class L>
  PathDeciderPtr<L, R> make(const Contexts<L>& contexts, const TreeShape& shape) const {
    if constexpr (possible)
      return std::make_unique<PathDeciderOf<V, L, R>>(verifier_, contexts, shape);
    else
      return nullptr;
  }
  template <class L>
  std::unique_ptr<PathProcess<L>> process(const Contexts<L>& contexts) const {
    if constexpr (carries<V, L>)
      return std::make_unique<PathProcessOf<V, L>>(verifier_, contexts);
    else
      return nullptr;
  }

  V verifier_;
};

template <class D>
class TreeDrafterOf final : public AnyTreeDrafter {
 public:
  TreeDrafterOf() : AnyTreeDrafter(D::info) {
    if constexpr (D::info.shared_noise()) static_assert(D::Law::info.name == D::info.noise_form_of);
  }

  void draw(const Contexts<Rows<Rational>>& contexts, const TreeShape& shape, Explorer<Rational>& random,
            DraftTree& out) const override {
    WalkedDrafter<D>{}.draw(contexts, shape, random, out);
  }
  void draw(const Contexts<Rows<double>>& contexts, const TreeShape& shape, Explorer<double>& random,
            DraftTree& out) const override {
    WalkedDrafter<D>{}.draw(contexts, shape, random, out);
  }
  void draw(const Contexts<RatioTable>& contexts, const TreeShape& shape, Philox& random,
            DraftTree& out) const override {
    D{}.draw(contexts, shape, random, out);
  }
  void draw(const Contexts<Rows<double>>& contexts, const TreeShape& shape, Scripted& random,
            DraftTree& out) const override {
    D{}.draw(contexts, shape, random, out);
  }
};

}  // namespace draftproof
