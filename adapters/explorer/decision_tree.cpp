#include <draftproof/adapters/explorer/decision_tree.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof::adapters {

namespace {

int pick_at(const TreeNode& node, double value) {
  const double at = value * drawable_total(node.draw);
  // The program may have rounded weights and their sums to its type, so for a value near the end of a cell it is
  // uncertain which cell the program picks.
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
  double best = INFINITY, second = INFINITY;  // least clock / weight of the winning branch and of the others
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

namespace {

constexpr std::uint64_t edge_width = 2;

bool is_coin(const TreeNode& node) { return has_grid(node.draw) && node.draw.kind != DrawKind::integer; }
std::uint64_t width(const TreeBranch& branch) { return branch.last - branch.first + 1; }
int bits_of(const TreeNode& node) { return static_cast<int>(std::bit_width(values_of(node.draw))) - 1; }

class Collector {
 public:
  Collector(const DecisionTree& tree, const RunStore& store) : tree_(tree), store_(store) {}

  void add(Target target, double mass, int place) {
    if (target.kind == Target::Kind::outcome) return add_leaf(target.id, mass, place);
    if (target.kind == Target::Kind::unexplored || !tree_.nodes[target.id].explored) return unexplored_.add(mass);
    const TreeNode& node = tree_.nodes[target.id];
    const int next = place + places_of(node.draw);
    seen_.resize(std::max(seen_.size(), static_cast<std::size_t>(next)), false);
    if (node.branches.size() > 1)
      for (int at = place; at < next; ++at) seen_[static_cast<std::size_t>(at)] = true;
    for (const TreeBranch& branch : node.branches) {
      if (visit_ && is_coin(node)) visit_(node, branch, mass * branch.share, next);
      add(branch.target, mass * branch.share, next);
    }
  }

  std::vector<OutcomeMass> outcomes() const {
    std::vector<OutcomeMass> list;
    for (const auto& [id, sum] : sums_) list.push_back({store_.outcome_at(id), sum.value()});
    std::sort(list.begin(), list.end(), [](const OutcomeMass& a, const OutcomeMass& b) {
      return std::tie(a.outcome.status, a.outcome.tokens, a.outcome.state) <
             std::tie(b.outcome.status, b.outcome.tokens, b.outcome.state);
    });
    return list;
  }
  double unexplored() const { return unexplored_.value(); }
  std::size_t leaves() const { return leaves_; }
  int most_places() const { return most_places_; }
  const std::vector<bool>& seen() const { return seen_; }

  /// Sets the function `visit(node, branch, mass, next place)` that later enumerations call for each branch of a
  /// coin.
  void visit(std::function<void(const TreeNode&, const TreeBranch&, double, int)> function) {
    visit_ = std::move(function);
  }

 private:
  void add_leaf(std::uint32_t outcome, double mass, int place) {
    ++leaves_;
    most_places_ = std::max(most_places_, place);
    // Here the program read more numbers than a tape may have, so its outcome is unknown.
    if (store_.outcome_at(outcome).status == RowStatus::tape_short) return unexplored_.add(mass);
    sums_[outcome].add(mass);
  }

  const DecisionTree& tree_;
  const RunStore& store_;
  std::map<std::uint32_t, NeumaierSum> sums_;
  NeumaierSum unexplored_;
  std::size_t leaves_ = 0;
  int most_places_ = 0;
  std::vector<bool> seen_;
  std::function<void(const TreeNode&, const TreeBranch&, double, int)> visit_;
};

double allowed(const TreeNode& node, int vocabulary, int dtype_bits) {
  if (node.branches.size() < 2 || node.draw.kind == DrawKind::integer) return 0;
  const double rounding = std::ldexp(vocabulary, -dtype_bits);
  if (!is_coin(node)) return rounding + node.race_error;
  const auto wide = std::count_if(node.branches.begin(), node.branches.end(),
                                  [](const TreeBranch& branch) { return width(branch) > edge_width; });
  return static_cast<double>(std::max<std::ptrdiff_t>(wide - 1, 0)) * (std::ldexp(1, -bits_of(node)) + rounding);
}

double limit_below(const DecisionTree& tree, Target target, int vocabulary, int dtype_bits) {
  if (target.kind != Target::Kind::node) return 0;
  const TreeNode& node = tree.nodes[target.id];
  double most = 0;
  for (const TreeBranch& branch : node.branches)
    most = std::max(most, limit_below(tree, branch.target, vocabulary, dtype_bits));
  return most + allowed(node, vocabulary, dtype_bits);
}

}  // namespace

double deviation_limit(const DecisionTree& tree, int vocabulary, int dtype_bits) {
  return limit_below(tree, tree.root, vocabulary, dtype_bits);
}

void read_distribution(const DecisionTree& tree, const RunStore& store, int vocabulary, int dtype_bits,
                       bool keep_stretches, ProgramDistribution& distribution) {
  Collector all(tree, store);
  const auto note = [&](const TreeNode& node, const TreeBranch& branch, double mass, int next) {
    Stretch stretch{.place = node.place,
                    .kind = node.draw.kind,
                    .stream = node.draw.stream,
                    .bits = bits_of(node),
                    .first = branch.first,
                    .last = branch.last,
                    .probability = mass};
    const bool edge = width(branch) <= edge_width && node.branches.size() > 1;
    if (!edge && !keep_stretches) return;
    Collector below(tree, store);
    below.add(branch.target, mass, next);
    stretch.outcomes = below.outcomes();
    if (edge) distribution.edges.push_back(stretch);
    if (keep_stretches) distribution.stretches.push_back(std::move(stretch));
  };
  all.visit(note);
  all.add(tree.root, 1, 0);
  distribution.outcomes = all.outcomes();
  distribution.unexplored = all.unexplored();
  distribution.leaves = all.leaves();
  distribution.most_places = all.most_places();
  for (std::size_t place = 0; place < all.seen().size(); ++place)
    if (!all.seen()[place]) distribution.idle_places.push_back(static_cast<int>(place));
  distribution.limit = deviation_limit(tree, vocabulary, dtype_bits);
}

}  // namespace draftproof::adapters
