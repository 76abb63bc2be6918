// The same optimum without trees: what may be accepted depends on the draft only through how likely it is to meet a
// set of prefixes.
//
//   S              antichain       prefixes none of which is the start of another
//   h(S)           meets           chance that the tree holds one of them; K i.i.d. paths: 1 - (1 - q(S))^K
//   a(x)                           the program's columns; maximises their sum over x != ()
//   limits                         a(xy) <= p(y|x) a(x); sum of a(x) over x in S <= h(S) for every antichain S
//
// Cost: the number of antichains, 1 + c^V a level (2, 5, 26, 677, 458330 for V = 2; 2, 9, 730 for V = 3; 2, 17,
// 83522 for V = 4), each looked at a few times; the program holds those that bind. Source: derived in
// docs/optimum.md, "Trees", by Hall's theorem. A second opinion for tree_program.hpp, and for i.i.d. paths one that
// needs no enumeration of trees.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include <draftproof/optimum/paths/tree_law.hpp>

namespace draftproof {

/// Chance to meet an antichain, given by the numbers of its prefixes.
using Meets = std::function<double(std::span<const int> antichain)>;

/// Looks at all trees of the law.
Meets meets_of(const TreeLaw& law);
/// K independent paths, each of the law `path`.
Meets meets_of_paths(const TreeLaw& path, int drafts);

/// Calls `visit` for every antichain of non-empty prefixes, itself not empty.
void for_each_antichain(const TreeLaw& law, const std::function<void(std::span<const int>)>& visit);
/// How many calls that would be; held at `most` + 1.
double antichain_count(const TreeLaw& law, double most);

/// The optimum to 1e-9; nothing if there are more than `most` antichains. Of `law` only the prefixes count.
std::optional<double> antichain_optimum(const TreeLaw& law, const Meets& meets, double most = 200'000);

}  // namespace draftproof
