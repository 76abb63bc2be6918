// Predictions of the tree: random sequences, and sequences at the ends of its stretches.
#include <algorithm>
#include <cmath>

#include <draftproof/doors/explorer/input_search.hpp>

namespace draftproof::doors {

/// Compares the predictions with their runs. True if more of them are to be made.
bool InputSearch::judge() {
  std::size_t right = 0, unjudged = 0;
  for (const Prediction& prediction : predictions_) {
    const auto fit = tree_.compare(store_, prediction.sequence, prediction.run);
    if (fit == DecisionTree::Fit::wrong) return follow_up(prediction);
    ++(fit == DecisionTree::Fit::right ? right : unjudged);
  }
  if (!refined_) {
    held_ += right;
    unjudged_ += unjudged;
  }
  predictions_.clear();
  refined_ = false;
  const auto wanted = static_cast<std::size_t>(options_.predictions);
  if (held_ < wanted && tried_ < 4 * wanted) return true;
  phase_ = Phase::done;
  return false;
}

/// Makes a wrong prediction a witness, or gives up. Returns false.
bool InputSearch::follow_up(const Prediction& prediction) {
  held_ = unjudged_ = tried_ = 0;
  const auto& sequence = prediction.sequence;
  const bool at_leaf = tree_.root.kind != Target::Kind::node;
  if (witnesses_.size() >= static_cast<std::size_t>(options_.most_witnesses) || !calls_left()) {
    settled_ = false;
    phase_ = Phase::done;
    remark(calls_left() ? "the witnesses were used up" : "the calls were used up");
    tape_.clear();
    for (int place = 0; place < store_.length(prediction.run); ++place)
      tape_.push_back(sequence.value(static_cast<std::size_t>(place)));
    return false;
  }
  const auto witness = static_cast<std::uint32_t>(witnesses_.size());
  at_root_.push_back({witness, prediction.run});
  witnesses_.push_back(sequence);
  refined_ = true;
  phase_ = Phase::building;
  if (at_leaf) {
    tree_.root = {};
    return false;
  }
  searches_[tree_.root.id]->add(at_root_.back());
  if (!searches_[tree_.root.id]->is_function()) {
    remark("the draw at a place depends on values of later places");
    refute_function({});
    return false;
  }
  passing_[tree_.root.id].push_back(witness);
  active_.push_back(tree_.root.id);
  return false;
}

void InputSearch::predict(std::vector<Request>& requests) {
  constexpr std::size_t first = 64;  // most wrong trees show in fewer
  const std::size_t count = std::min(static_cast<std::size_t>(options_.predictions) - held_, std::max(first, held_));
  for (std::size_t i = 0; i < count; ++i) {
    Sequence sequence{.seed = next_seed_++, .bits = std::min(24, options_.coin_bits)};
    if (i % 2 == 1) sequence = at_the_edges(sequence.seed);
    requests.push_back(
        {.what = Request::What::prediction, .number = static_cast<std::uint32_t>(predictions_.size())});
    predictions_.push_back({std::move(sequence), 0});
  }
  tried_ += count;
}

/// A sequence that takes branches of the tree at random, all alike, with a first, last or random value of each.
Sequence InputSearch::at_the_edges(std::uint64_t seed) const {
  Sequence sequence{.seed = seed, .bits = std::min(24, options_.coin_bits)};
  std::size_t turn = 1 << 20;  // words for choices come from places that no tape has
  const auto below = [&](std::uint64_t n) { return sequence.word(turn++) % n; };
  for (Target at = tree_.root; at.kind == Target::Kind::node && tree_.nodes[at.id].explored;) {
    const TreeNode& node = tree_.nodes[at.id];
    const TreeBranch* branch = &node.branches[below(node.branches.size())];
    at = branch->target;
    if (has_grid(node.draw)) {
      const std::uint64_t side = below(3), width = branch->last - branch->first + 1;
      const std::uint64_t value = side == 0 ? branch->first : side == 1 ? branch->last : branch->first + below(width);
      const double inside = node.draw.kind == DrawKind::integer ? 0.5 : 0;
      sequence.values.push_back((static_cast<double>(value) + inside) / static_cast<double>(values_of(node.draw)));
      continue;
    }
    // Entries of one branch are alike by the conjecture only: take any of them.
    std::vector<std::size_t> entries;
    for (std::size_t x = 0; x < node.branch_of.size(); ++x)
      if (node.branch_of[x] == branch - node.branches.data()) entries.push_back(x);
    const std::size_t entry = entries[below(entries.size())];
    if (node.draw.kind == DrawKind::pick) {
      double before = 0;
      for (std::size_t x = 0; x < entry; ++x) before += node.draw.weights[x];
      const double total = drawable_total(node.draw);
      const double middle = total > 0 ? (before + node.draw.weights[entry] / 2) / total : 0;
      // Behind all other weights a small one has its middle rounded up to 1.
      sequence.values.push_back(std::min(std::floor(middle * 0x1p24) * 0x1p-24, 1 - 0x1p-24));
      continue;
    }
    for (std::size_t x = 0; x < node.branch_of.size(); ++x) {
      const double late = 0.5 + std::ldexp(static_cast<double>(below(1 << 10)), -11);
      sequence.values.push_back(x == entry ? 0x1p-20 : late);
    }
  }
  return sequence;
}

}  // namespace draftproof::doors
