#include <draftproof/adapters/built_in/drafted_input.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <draftproof/adapters/built_in/built_in_verifier.hpp>

namespace draftproof::adapters {
namespace {

RowRefused bad(const std::string& what, const std::string& found, const std::string& wanted) {
  return {RowStatus::bad_input, fmt::format("{}: got {}, expected {}", what, found, wanted)};
}

/// Returns the number of the random stream of draft i of n below node u in a tree of `length` tokens, as the tree
/// drafter numbers its streams (sim/trees/tree_drafter.hpp, sim/drafters/trees/trees.hpp).
std::uint32_t stream_of(const TreeDrafterInfo& drafter, int i, int n, int length, int u) {
  if (!drafter.shared_noise()) return 0;
  if (drafter.distinct_siblings) return static_cast<std::uint32_t>(u);
  if (n % length != 0)
    throw bad("drafts", fmt::format("{} drafts by shared noise on paths of {}", n, length),
              "whole paths, one after the other");
  return static_cast<std::uint32_t>(i % length * (n / length) + i / length);
}

/// Returns the number of tokens of the longest path. Throws: RowRefused if a parent does not precede its children.
int length_of(const std::vector<int>& parents) {
  std::vector<int> depths;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const int parent = parents[i];
    if (parent < -1 || parent >= static_cast<int>(i))
      throw bad(fmt::format("parents[{}]", i), fmt::format("{}", parent),
                fmt::format("-1 .. {}", static_cast<int>(i) - 1));
    depths.push_back(parent < 0 ? 1 : depths[static_cast<std::size_t>(parent)] + 1);
  }
  return depths.empty() ? 0 : *std::max_element(depths.begin(), depths.end());
}

}  // namespace

void check_rows(const Input& input) {
  const auto check = [&](const char* name, const std::vector<std::vector<double>>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double total = 0;
      for (std::size_t x = 0; x < rows[i].size(); ++x) {
        if (!(rows[i][x] >= 0) || !std::isfinite(rows[i][x]))
          throw bad(fmt::format("{}[{}][{}]", name, i, x), fmt::format("{}", rows[i][x]), "a probability");
        total += rows[i][x];
      }
      if (!(total > 0)) throw bad(fmt::format("{}[{}]", name, i), "zeros only", "a distribution");
    }
  };
  check("p", input.p);
  check("q", input.q);
  const int vocabulary = input.vocabulary();
  for (std::size_t i = 0; i < input.drafts.size(); ++i)
    if (input.drafts[i] < 0 || input.drafts[i] >= vocabulary)
      throw bad(fmt::format("drafts[{}]", i), fmt::format("{}", input.drafts[i]),
                fmt::format("0 .. {}", vocabulary - 1));
}

DraftedInput::DraftedInput(const Input& input, bool chain, const TreeDrafterInfo& drafter) {
  const std::size_t n = input.drafts.size();
  std::vector<int> parents = input.parents;
  if (chain) {
    parents.resize(n);
    for (std::size_t i = 0; i < n; ++i) parents[i] = static_cast<int>(i) - 1;
  }
  if (input.p.size() != n + 1 || input.q.size() != n || parents.size() != n)
    throw bad("rows", fmt::format("{} of p, {} of q, {} parents", input.p.size(), input.q.size(), parents.size()),
              fmt::format("{}, {} and {}", n + 1, n, n));
  const int length = length_of(parents);
  if (length > max_path_length)
    throw RowRefused(RowStatus::unsupported,
                     fmt::format("a path of {} drafts, at most {} are taken", length, max_path_length));
  std::vector<const std::vector<double>*> proposals(n + 1, nullptr);  // by context
  std::vector<int> nodes;                                             // by draft
  for (std::size_t i = 0; i < n; ++i) {
    const int u = parents[i] < 0 ? DraftTree::root : nodes[static_cast<std::size_t>(parents[i])];
    const int child = tree_.draw(u, input.drafts[i], static_cast<int>(i) + 1,
                                 stream_of(drafter, static_cast<int>(i), static_cast<int>(n), length, u));
    nodes.push_back(child);
    auto& proposal = proposals[static_cast<std::size_t>(tree_.context(u))];
    if (proposal == nullptr) proposal = &input.q[i];
    if (*proposal != input.q[i])
      throw bad(fmt::format("q[{}]", i), "a row that differs from the row of a sibling",
                "equal rows of q after equal prefixes");
    if (input.p[static_cast<std::size_t>(tree_.context(child))] != input.p[i + 1])
      throw bad(fmt::format("p[{}]", i + 1), "a row that differs from the row after an equal prefix",
                "equal rows of p after equal prefixes");
  }
  for (std::size_t context = 0; context <= n; ++context)
    distributions_.emplace_back(input.p[context], proposals[context] != nullptr ? *proposals[context]
                                                  : context > 0                 ? input.q[context - 1]
                                                                                : input.p[context]);
}

int DraftedInput::next(int context, Token x) const {
  for (int u = 0; u < tree_.size(); ++u)
    if (tree_.context(u) == context)
      if (const int child = tree_.find(u, x); child >= 0) return tree_.context(child);
  return no_context;
}

int DraftedInput::most_at_node() const {
  int most = 0;
  for (int u = 0; u < tree_.size(); ++u) most = std::max(most, tree_.draw_count(u));
  return most;
}

}  // namespace draftproof::adapters
