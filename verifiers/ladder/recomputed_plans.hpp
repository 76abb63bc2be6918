// The ladders of one path's nodes where a team has memory for the plan of one: the last stays there, any other is
// made again when block verification comes back to it. Kept is the law of the number of paths at a node, which a plan
// follows from.
//
//   begin, start, below     as LadderPaths has them (ladder_paths.hpp)
//   node(at, steps, i)      ladder at step i of the chosen path: the last one, or planned again
//   place.law               where the law of a node's paths begins in laws_, which outlasts plans
//
// Cost: a plan a node while the path is chosen, none for the first test, one for each further test at a node that is
// not plain: below the point where paths part no test plans. Laws take K entries a node, most_kept at most; a longer
// path, such as one of more than 16 nodes that 32 paths may share, walks to a node from the last law before it that
// is kept. Right because a plan is a function of rows and law: made again, it has the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/verifiers/ladder/path_node.hpp>

namespace draftproof {

/// Entries of laws that are kept, and of the two that are worked on.
inline constexpr int most_kept_of_laws = 512, laws_worked_on = 2 * max_drafts;
/// Memory of a team for them.
inline constexpr std::size_t planned_again_bytes = (most_kept_of_laws + laws_worked_on) * sizeof(double);

/// Of laws that a team looks at. One object a thread, for one output; all threads make the same calls.
template <class L>
class PlanRecomputer {
 public:
  using Scalar = typename L::Scalar;
  using Node = LadderNode<L>;

  /// Of a node's ladder.
  struct Place {
    static constexpr int plain = -1, starts = -2, not_kept = -3;  ///< in the place of a law
    std::int16_t law = plain, paths = 0;
  };
  DRAFTPROOF_DEVICE static bool plain(const Place& place) { return place.law == Place::plain; }

  DRAFTPROOF_DEVICE void begin(const DraftedTree<L>& at) {
    laws_ = at.laws(DraftTree::root).workspace().template retained<Scalar>(most_kept + laws_worked_on);
  }

  // Calls of their own, for every place that asks: inlined there they would spill what a walk over nodes holds.

  /// At u, where all paths that leave it start together.
  [[gnu::noinline]] DRAFTPROOF_DEVICE Place start(const DraftedTree<L>& at, int u) {
    const int paths = at.tree().draw_count(u);
    if (paths > 1) plan(at, u, all_of(at, u, paths));
    return place(paths > 1 ? Place::starts : Place::plain, paths);
  }
  /// At u, which the last node's choice led to by a token of this bin.
  [[gnu::noinline]] DRAFTPROOF_DEVICE Place below(const DraftedTree<L>& at, int u, const Place& before, int bin) {
    const L from = at.laws(at.tree().parent(u));
    const Token y = at.tree().token(u);
    if (plain(before) || last_.plain_after(from, y, bin)) return {};
    const int paths = before.paths;
    const bool keeps = kept_ + paths <= most_kept;
    Active law = keeps ? list(kept_, paths) : other_law(paths);
    last_.active_after(from, y, bin, law);
    if (Node::no_choice(at.laws(u), law)) return {};
    plan(at, u, law);
    if (!keeps) return place(Place::not_kept, paths);
    kept_ += paths;
    return place(kept_ - paths, paths);
  }
  /// The node at `place`, which is the last or plain.
  DRAFTPROOF_DEVICE const Node& last(const Place& place) const { return plain(place) ? plain_ : last_; }
  /// At u, whose ladder is that.
  template <class R>
  [[gnu::noinline]] DRAFTPROOF_DEVICE auto choose(const DraftedTree<L>& at, int u, const Place& place, R& random) {
    return last(place).choose(at.tree(), u, at.laws(u), group_, random);
  }

  /// Not of a plain node.
  template <class Steps>
  [[gnu::noinline]] DRAFTPROOF_DEVICE const Node& node(const DraftedTree<L>& at, const Steps& steps, int i) {
    if (last_at_ == steps.node(i)) return last_;
    int from = i;
    while (steps.place(from).law == Place::not_kept) --from;
    const auto [kept, paths] = steps.place(from);
    const int start = steps.node(from);
    plan(at, start, kept == Place::starts ? all_of(at, start, paths) : list(kept, paths));
    for (; from < i; ++from) {
      const L laws = at.laws(steps.node(from));
      const Token y = steps.token(from);
      Active law = other_law(paths);
      last_.active_after(laws, y, last_.bin(laws, y), law);
      plan(at, steps.node(from + 1), law);
    }
    return last_;
  }

 private:
  using Active = typename Node::Active;

  static constexpr int most_kept = most_kept_of_laws;

  DRAFTPROOF_DEVICE static Place place(int law, int paths) {
    return {static_cast<std::int16_t>(law), static_cast<std::int16_t>(paths)};
  }
  DRAFTPROOF_DEVICE Active list(int begin, int paths) const { return {laws_.data() + begin, paths}; }
  /// That the last node's law does not lie in.
  DRAFTPROOF_DEVICE Active other_law(int paths) {
    working_ = !working_;
    return list(most_kept + (working_ ? max_drafts : 0), paths);
  }
  DRAFTPROOF_DEVICE Active all_of(const DraftedTree<L>& at, int u, int paths) {
    Active law = other_law(paths);
    at.laws(u).workspace().each(paths, [&](int i) { law[static_cast<std::size_t>(i)] = i + 1 == paths ? 1 : 0; });
    return law;
  }
  [[gnu::noinline]] DRAFTPROOF_DEVICE void plan(const DraftedTree<L>& at, int u, const Active& law) {
    const L laws = at.laws(u);
    last_.plan(laws, law, [&laws](bool coarse) { return ladder_bins(laws, coarse); });
    last_at_ = u;
  }

  const Node plain_{};
  Node last_;
  int last_at_ = -1;  ///< the node it is of
  Active laws_;
  int kept_ = 0;
  bool working_ = false;
  ListAt<L, int, max_drafts> group_;  ///< for the choice at one node
};

}  // namespace draftproof
