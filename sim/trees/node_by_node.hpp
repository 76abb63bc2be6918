// The tree form of any verifier V of one position: V decides at each node on the tokens drafted there. If the token
// that V emits was drafted, the verification continues at that child, else the step ends.
//
//   drafts at u   draws(u), with repeats, if V is for i.i.d. drafts or reads shared noise; else children(u)
//   noise at u    the streams that the draws at u read
//   plan          V's plan for (context, number of drafts), made when first needed
//
// Cost: one decision of V for each level.
// Correctness: V's token at u has distribution p(.|u) if the drafts at u have the distribution that V requires, and
// the drafts below u were drawn independently of V's random bits at u. If V emits a draft that it has rejected, the
// token is still a drafted node, and the verification continues there.
// For schemes that read shared noise, V's token at u has distribution p(.|u) over the noise of the streams at u.
// Whether the verification reaches u, and which paths are drafts there, depends on streams of the nodes above u only,
// and no stream belongs to two depths, so the noise at u is independent of both. On paths this is the list coupling,
// given the paths that agree with the output so far.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof {

/// A verifier's plans for the contexts and numbers of drafts that were needed so far; not thread-safe.
template <class V, class L>
class NodePlans {
 public:
  explicit NodePlans(const V& verifier) : verifier_{verifier} {}

  /// Returns the plan for the distributions at node u of a tree and `drafts` drafts; makes it on the first call.
  const PlanOf<V, L>& of(const DraftedTree<L>& at, int u, const L& distributions, int drafts) {
    const ConditionalModel<L>& conditionals = at.conditionals();
    const int context = at.tree().context(u);
    if (conditionals.forgotten() != forgotten_) {
      plans_.clear();
      forgotten_ = conditionals.forgotten();
    }
    const auto key = (static_cast<std::uint64_t>(context) << 8) | static_cast<std::uint64_t>(drafts);
    auto& plan = plans_[key];
    if (!plan) plan = std::make_unique<PlanOf<V, L>>(prepare(verifier_, distributions, drafts));
    return *plan;
  }

 private:
  V verifier_;
  int forgotten_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<PlanOf<V, L>>> plans_;
};

/// Verifies node by node from the root: `decide(u, distributions, drafts, count, streams)` returns the verdict on the
/// `count` drafts at node u, and `random` draws the token after a leaf. `streams` holds the noise streams of the drafts
/// if `noise` is true; otherwise it is not set.
template <bool noise, class L, class R, class Decide>
DRAFTPROOF_DEVICE StepOutput verify_nodes(const DraftedTree<L>& at, bool sees_repeats, R& random,
                                          const Decide& decide) {
  const auto& tree = at.tree();
  for (int u = DraftTree::root;;) {
    const L& distributions = at.distributions(u);
    if (tree.leaf(u)) return {u, random.emit(distributions.residual(distributions.zero()))};
    Token drafts[max_drafts];
    [[maybe_unused]] std::uint32_t streams[max_drafts];
    int count = 0;
    if (sees_repeats) {
      const auto draws = tree.draws(u);
      for (auto draw = draws.begin(); !(draw == draws.end()); ++draw) {
        if constexpr (noise) streams[count] = draw.stream();
        drafts[count++] = tree.token(*draw);
      }
    } else {
      for (const int child : tree.children(u)) drafts[count++] = tree.token(child);
    }
    const Verdict verdict = decide(u, distributions, drafts, count, streams);
    const int child = verdict.token < 0 ? -1 : tree.find(u, verdict.token);
    if (child < 0) return {u, {verdict.token, none_accepted}};
    u = child;
  }
}

/// Whether the tree form passes repeated drafts at a node to the verifier. If not, each distinct draft is passed once.
constexpr bool sees_repeats(const Info& info) { return info.drafts.includes("iid") || info.shared_noise; }

/// The tree form of V: a verifier of drafted trees.
template <class V>
struct NodeByNode {
  V verifier{};
  static constexpr bool repeats = sees_repeats(V::info);

  template <class L>
  NodePlans<V, L> prepare(const ConditionalModel<L>&, const TreeShape&) const {
    return NodePlans<V, L>(verifier);
  }

  template <class L, class R>
  DRAFTPROOF_DEVICE StepOutput verify(const DraftedTree<L>& at, NodePlans<V, L>& plans, R& random) const {
    ImmediateEmit<R> immediate(random);
    return verify_nodes<V::info.shared_noise>(at, repeats, immediate,
                                              [&](int u, const L& distributions, const Token* drafts, int count,
                                                  [[maybe_unused]] const std::uint32_t* streams) {
                                                const auto& plan = plans.of(at, u, distributions, count);
                                                const DraftedPosition<L> position(distributions, drafts, count);
                                                if constexpr (V::info.shared_noise) {
                                                  NodeNoise noise(immediate, streams);
                                                  return draftproof::verify(verifier, position, plan, noise);
                                                } else {
                                                  return draftproof::verify(verifier, position, plan, immediate);
                                                }
                                              });
  }
};

// The Info of the tree form of V, derived from the Info of V.

namespace detail {

/// The characters of `text` followed by `suffix`, in static storage.
template <const std::string_view& text, const std::string_view& suffix>
struct Joined {
  static constexpr auto characters = [] {
    std::array<char, text.size() + suffix.size()> joined{};
    std::copy(text.begin(), text.end(), joined.begin());
    std::copy(suffix.begin(), suffix.end(), joined.begin() + text.size());
    return joined;
  }();
  static constexpr std::string_view value{characters.data(), characters.size()};
};

template <class V>
struct LiftedTexts {
  static constexpr std::string_view name = V::info.name;
  static constexpr std::string_view derived_from = V::info.derived_from;
  static constexpr std::string_view name_suffix = "_tree";
  static constexpr std::string_view summary = V::info.summary;
  static constexpr std::string_view summary_suffix = ", at every node of a tree";
};

}  // namespace detail

/// Whether V has a tree form: it supports a single draft, its promise is not lossless_up_to, and it can be explored
/// or reads the noise of its drafter.
template <class V>
inline constexpr bool node_liftable =
    V::info.fewest_drafts <= 1 &&
    (V::info.unsupported.explore.empty() || V::info.shared_noise) && V::info.promise != Promise::lossless_up_to;

/// The tree form of V, under the name of V with "_tree".
template <class V>
struct LiftedToTrees : NodeByNode<V> {
  using Position = V;  ///< the verifier of one position

 private:
  using Texts = detail::LiftedTexts<V>;

 public:
  static constexpr Info info{.name = detail::Joined<Texts::name, Texts::name_suffix>::value,
                             .summary = detail::Joined<Texts::summary, Texts::summary_suffix>::value,
                             .source = V::info.source,
                             .drafts = V::info.drafts,
                             .promise = V::info.promise,
                             .most_drafts = V::info.most_drafts,
                             .claims = {.accepts_equal_distributions = V::info.claims.accepts_equal_distributions,
                                        // drafter_invariant holds for shared noise only: other draws read tables that
                                        // are sorted by p / q, so they depend on q.
                                        .drafter_invariant = V::info.claims.drafter_invariant && V::info.shared_noise,
                                        .one_path_is_token_path = V::info.claims.one_draft_is_single_draft &&
                                                                  V::info.promise == Promise::lossless},
                             .unsupported = V::info.unsupported,
                             .shared_noise = V::info.shared_noise,
                             .sequential = V::info.sequential,
                             .ranks_tokens = V::info.ranks_tokens,
                             .derived_from = V::info.derived_from.empty()
                                                 ? std::string_view{}
                                                 : detail::Joined<Texts::derived_from, Texts::name_suffix>::value,
                             .wrong_by_rounding = V::info.wrong_by_rounding};
};

}  // namespace draftproof
