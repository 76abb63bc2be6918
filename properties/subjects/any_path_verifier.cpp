#include <draftproof/properties/subjects/any_path_verifier.hpp>

#include <concepts>

namespace draftproof {

namespace {

/// While in scope, makes the random source perform final draws of the verifier of one position at once instead of
/// deferring them, because the decision on the tree continues after them.
template <class R>
class EmitsAtOnce {
 public:
  explicit EmitsAtOnce(R& random) : random_{random}, before_{set(true)} {}
  ~EmitsAtOnce() { set(before_); }
  EmitsAtOnce(const EmitsAtOnce&) = delete;
  EmitsAtOnce& operator=(const EmitsAtOnce&) = delete;

 private:
  bool set(bool at_once) {
    if constexpr (requires { R::spreads_emitted; }) return random_.emit_at_once(at_once);
    return true;
  }
  R& random_;
  bool before_;
};

}  // namespace

template <class L, class R>
const Decider<L, R>& DecidedByNode<L, R>::decider_at(int context, const L& distributions, int drafts) {
  if (conditionals_.forgotten() != forgotten_) {
    deciders_.clear();
    forgotten_ = conditionals_.forgotten();
  }
  const auto key = (static_cast<std::uint64_t>(context) << 8) | static_cast<std::uint64_t>(drafts);
  DeciderPtr<L, R>& decider = deciders_[key];
  if (!decider) {
    if constexpr (std::same_as<R, Scripted>)
      decider = verifier_->scripted_on(distributions, drafts);
    else if constexpr (std::same_as<R, Explorer<Rational>>)
      decider = verifier_->prove_on(distributions, drafts);
    else
      decider = verifier_->explore_on(distributions, drafts);
  }
  return *decider;
}

template <class L, class R>
StepOutput DecidedByNode<L, R>::decide(const DraftTree& tree, const VerifierState<typename L::Scalar>&, R& random) {
  const DraftedTree<L> at(conditionals_, tree);
  const EmitsAtOnce<R> at_once(random);
  return verify_nodes<false>(
      at, sees_repeats(verifier_->info()), random,
      [&](int u, const L& distributions, const Token* drafts, int count, const std::uint32_t*) {
        return decider_at(tree.context(u), distributions, count)
            .decide({drafts, static_cast<std::size_t>(count)}, random);
      });
}

template class DecidedByNode<Rows<Rational>, Explorer<Rational>>;
template class DecidedByNode<Rows<double>, Explorer<double>>;
template class DecidedByNode<RatioTable, Explorer<double>>;
template class DecidedByNode<FreshRows<double>, Explorer<double>>;
template class DecidedByNode<Rows<double>, Scripted>;

}  // namespace draftproof
