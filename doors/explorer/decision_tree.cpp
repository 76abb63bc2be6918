#include <draftproof/doors/explorer/decision_tree.hpp>

#include <algorithm>
#include <cmath>

namespace draftproof::doors {
namespace {

int pick_at(const TreeNode& node, double value) {
  const double at = value * drawable_total(node.draw);
  // Weights and their sums may have the rounding of the program's type, so values near an end have no clear cell.
  const double near = drawable_total(node.draw) * 0x1p-20;
  double sum = 0;
  for (std::size_t x = 0; x < node.draw.weights.size(); ++x) {
    if (!(node.draw.weights[x] > 0)) continue;
    if (sum > 0 && std::abs(at - sum) <= near) return -1;
    sum += node.draw.weights[x];
    if (at < sum - near) return node.branch_of[x];
  }
  return -1;
}

int race_at(const TreeNode& node, const Sequence& sequence) {
  double best = INFINITY, second = INFINITY;  // least clock over weight of two branches
  int winner = -1;
  for (std::size_t x = 0; x < node.weights.size(); ++x) {
    if (node.branch_of[x] < 0) continue;
    const double time = -std::log1p(-sequence.value(static_cast<std::size_t>(node.place) + x)) / node.weights[x];
    if (node.branch_of[x] == winner) {
      best = std::min(best, time);
    } else if (time < best) {
      second = best;
      best = time;
      winner = node.branch_of[x];
    } else {
      second = std::min(second, time);
    }
  }
  return best < second * (1 - 0x1p-16) ? winner : -1;
}

}  // namespace

int places_of(const Draw& draw) { return draw.kind == DrawKind::clock ? std::max(draw.size, 1) : 1; }

bool has_grid(const Draw& draw) {
  return draw.kind == DrawKind::coin || draw.kind == DrawKind::integer ||
         (draw.kind == DrawKind::clock && draw.size <= 1);
}

std::uint64_t values_of(const Draw& draw) {
  if (draw.kind == DrawKind::coin) return std::uint64_t{1} << draw.bits;
  if (draw.kind == DrawKind::clock && draw.size <= 1) return std::uint64_t{1} << 24;
  return static_cast<std::uint64_t>(draw.size);
}

double drawable_total(const Draw& draw) {
  double total = 0;
  for (const double weight : draw.weights) {
    if (!(weight >= 0)) return 0;
    total += weight;
  }
  return std::isfinite(total) ? total : 0;
}

int TreeNode::branch_at(const Sequence& sequence) const {
  if (branches.size() == 1) return 0;
  const double value = sequence.value(static_cast<std::size_t>(place));
  if (draw.kind == DrawKind::pick) return pick_at(*this, value);
  if (!has_grid(draw)) return race_at(*this, sequence);
  const auto at = static_cast<std::uint64_t>(value * static_cast<double>(values_of(draw)));
  const auto after = std::upper_bound(branches.begin(), branches.end(), at,
                                      [](std::uint64_t x, const TreeBranch& branch) { return x < branch.first; });
  return static_cast<int>(after - branches.begin()) - 1;
}

DecisionTree::Fit DecisionTree::compare(const RunStore& store, const Sequence& sequence, RunStore::Chain run) const {
  const std::uint32_t outcome = store.end(run);
  const bool log_lost = store.log_may_be_lost(outcome);
  Target at = root;
  while (at.kind == Target::Kind::node) {
    const TreeNode& node = nodes[at.id];
    if (!node.explored) return Fit::unexplored;
    if (store.ended(run)) {
      if (!log_lost) return Fit::wrong;
    } else if (store.draw(run) != node.draw_id) {
      return Fit::wrong;
    }
    const int taken = node.branch_at(sequence);
    if (taken < 0) return Fit::unclear;
    at = node.branches[static_cast<std::size_t>(taken)].target;
    run = store.after(run, places_of(node.draw));
  }
  if (at.kind == Target::Kind::unexplored) return Fit::unexplored;
  return store.ended(run) && at.id == outcome ? Fit::right : Fit::wrong;
}

}  // namespace draftproof::doors
