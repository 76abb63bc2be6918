#include <draftproof/adapters/explorer/input_search.hpp>

#include <algorithm>
#include <cmath>

#include <draftproof/adapters/explorer/decision_tree.hpp>

namespace draftproof::adapters {

namespace {

constexpr std::size_t open_at_once = 64;  // most nodes searched at once; more would delay the nodes of largest mass

}  // namespace

InputSearch::InputSearch(const Input& input, const ExploreOptions& options)
    : input_(input), options_(options), suggested_(input, options.thresholds) {
  const int bits = std::min(24, options.coin_bits);
  for (const auto lean : {Sequence::Lean::none, Sequence::Lean::low, Sequence::Lean::high})
    witnesses_.push_back({.seed = options.seed + witnesses_.size(), .bits = bits, .lean = lean});
  next_seed_ = options.seed + 1000;
}

SearchContext InputSearch::context() {
  return {store_, suggested_, witnesses_, options_.even_points, options_.most_branches};
}

void InputSearch::remark(std::string_view text) {
  if (std::find(remarks_.begin(), remarks_.end(), text) == remarks_.end()) remarks_.emplace_back(text);
}

void InputSearch::ask(std::vector<Request>& requests) {
  if (phase_ == Phase::start) {
    for (std::uint32_t i = 0; i < witnesses_.size(); ++i)
      requests.push_back({.what = Request::What::start, .number = i});
    phase_ = Phase::building;
    return;
  }
  const std::size_t before = requests.size();
  while (phase_ != Phase::done && requests.size() == before) {
    if (phase_ == Phase::building) {
      if (tree_.root.kind == Target::Kind::unexplored) make_root();
      build(requests);
      if (phase_ == Phase::building && requests.size() == before) phase_ = Phase::predicting;
    } else if (judge()) {
      predict(requests);
    }
  }
}

void InputSearch::write_tape(const Request& request, std::size_t length, std::vector<double>& tape) const {
  tape.clear();
  const Sequence* rest = nullptr;
  if (request.what == Request::What::place) {
    const PlaceSearch& search = *searches_[request.number];
    tape = search.prefix();
    search.append_tape(request.ask, tape);
    rest = &witnesses_[search.witness(request.ask)];
  } else {
    rest =
        request.what == Request::What::start ? &witnesses_[request.number] : &predictions_[request.number].sequence;
  }
  while (tape.size() < length) tape.push_back(rest->value(tape.size()));
}

std::size_t InputSearch::likely_length() const {
  return std::min(std::max<std::size_t>(longest_ + 2, 8), static_cast<std::size_t>(options_.most_places));
}

void InputSearch::take(const Request& request, RunStore::Chain run, std::span<const double> tape) {
  if (phase_ == Phase::done) return;
  longest_ = std::max(longest_, static_cast<std::size_t>(store_.length(run)));
  switch (request.what) {
    case Request::What::start:
      at_root_.push_back({request.number, run});
      return;
    case Request::What::place:
      searches_[request.number]->take(request.ask, run);
      if (!searches_[request.number]->is_function()) refute_function(tape);
      return;
    case Request::What::prediction:
      predictions_[request.number].run = run;
      return;
  }
}

void InputSearch::refute_function(std::span<const double> tape) {
  function_ = false;
  phase_ = Phase::done;
  tape_.assign(tape.begin(), tape.end());
}

void InputSearch::make_root() { tree_.root = make_node({}, at_root_, 1); }

Target InputSearch::make_node(std::vector<double> prefix, std::vector<Known> known, double mass) {
  const std::uint32_t end = store_.end(known.front().chain);
  auto search = std::make_unique<PlaceSearch>(context(), std::move(prefix), std::move(known));
  if (!search->is_function()) {
    remark("a draw depends on values that the tape has at later places");
    refute_function(search->prefix());
  }
  if (search->is_leaf()) return {Target::Kind::outcome, end};
  const auto number = static_cast<std::uint32_t>(searches_.size());
  tree_.nodes.emplace_back();
  searches_.push_back(std::move(search));
  masses_.push_back(mass);
  passing_.emplace_back();
  frontier_.push({mass, number});
  return {Target::Kind::node, number};
}

/// Steps the open nodes until each waits for runs or is final, and opens more.
void InputSearch::build(std::vector<Request>& requests) {
  std::vector<std::uint32_t> nodes = std::exchange(active_, {});
  std::vector<Ask> asks;
  while (function_ && (!nodes.empty() || open_next(nodes))) {
    const std::uint32_t number = nodes.back();
    nodes.pop_back();
    if (!calls_left()) {
      remark("the limit of calls was reached");
      continue;
    }
    asks.clear();
    searches_[number]->step(asks);
    if (asks.empty()) {
      finish(number, nodes);
      continue;
    }
    if (asks.size() > options_.most_calls - tree_calls_) {
      searches_[number]->give_up();
      tree_.nodes[number].explored = false;
      remark("a draw needs more calls than are left");
      continue;
    }
    for (const Ask& ask : asks) requests.push_back({Request::What::place, number, ask});
    tree_calls_ += asks.size();
    active_.push_back(number);
  }
}

bool InputSearch::open_next(std::vector<std::uint32_t>& nodes) {
  while (!frontier_.empty() && calls_left() && active_.size() < open_at_once) {
    const auto [mass, number] = frontier_.top();
    if (mass < options_.least_mass) return remark("branches with too small a probability were cut"), false;
    frontier_.pop();
    const TreeNode& node = searches_[number]->node();
    if (node.place + places_of(node.draw) <= options_.most_places) return nodes.push_back(number), true;
    remark("branches that draw more numbers than a tape holds were cut");
  }
  if (!frontier_.empty() && !calls_left()) remark("the limit of calls was reached");
  return false;
}

void InputSearch::finish(std::uint32_t number, std::vector<std::uint32_t>& nodes) {
  PlaceSearch& search = *searches_[number];
  if (!search.resolved()) {
    tree_.nodes[number].explored = false;
    return remark(search.given_up()              ? "a draw needs more calls than are left"
                  : has_grid(search.node().draw) ? "a draw has more intervals with different results than the limit"
                                                 : race_undecided);
  }
  const std::size_t known_nodes = searches_.size();
  for (TreeBranch& branch : search.node().branches) {
    if (branch.target.kind != Target::Kind::unexplored) continue;
    std::vector<double> prefix = search.prefix();
    search.append_choice(branch, prefix);
    branch.target = make_node(std::move(prefix), search.known_in(branch), masses_[number] * branch.share);
  }
  tree_.nodes[number] = search.node();
  tree_.nodes[number].explored = true;
  for (const std::uint32_t witness : std::exchange(passing_[number], {}))
    pass_witness(number, witness, known_nodes, nodes);
}

/// Passes a witness to the child that its values lead to; a new child was created with its witnesses.
void InputSearch::pass_witness(std::uint32_t number, std::uint32_t witness, std::size_t known_nodes,
                               std::vector<std::uint32_t>& nodes) {
  const TreeNode& node = tree_.nodes[number];
  const int taken = node.branch_at(witnesses_[witness]);
  if (taken < 0) return;
  const TreeBranch& branch = node.branches[static_cast<std::size_t>(taken)];
  if (branch.target.kind != Target::Kind::node || branch.target.id >= known_nodes) return;
  for (const Known& known : searches_[number]->known_in(branch)) {
    if (known.witness != witness) continue;
    searches_[branch.target.id]->add(known);
    if (!tree_.nodes[branch.target.id].explored) return;
    passing_[branch.target.id].push_back(witness);
    nodes.push_back(branch.target.id);
  }
}

ProgramDistribution InputSearch::distribution() const {
  ProgramDistribution distribution;
  distribution.calls = calls_;
  distribution.predicted = held_;
  distribution.unjudged = unjudged_;
  distribution.witnesses = witnesses_.size();
  distribution.remarks = remarks_;
  distribution.tape = tape_;
  if (!function_) {
    distribution.state = DistributionState::not_a_function;
    return distribution;
  }
  read_distribution(tree_, store_, input_.p.empty() ? 0 : input_.vocabulary(), options_.dtype_bits,
                    options_.keep_stretches, distribution);
  distribution.state = !settled_                     ? DistributionState::unsettled
                       : distribution.unexplored > 0 ? DistributionState::cut
                                                     : DistributionState::settled;
  return distribution;
}

// Predictions of the tree: random sequences, and sequences at the ends of its stretches.

/// Compares the predictions with their runs. Returns whether more predictions are needed.
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

/// Makes a wrong prediction a witness, or ends the search if a limit is reached. Returns false, because the tree must
/// be refined before more predictions are made.
bool InputSearch::follow_up(const Prediction& prediction) {
  held_ = unjudged_ = tried_ = 0;
  const auto& sequence = prediction.sequence;
  const bool at_leaf = tree_.root.kind != Target::Kind::node;
  if (witnesses_.size() >= static_cast<std::size_t>(options_.most_witnesses) || !calls_left()) {
    settled_ = false;
    phase_ = Phase::done;
    remark(calls_left() ? "the limit of refinements was reached" : "the limit of calls was reached");
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
    remark("a draw depends on values that the tape has at later places");
    refute_function({});
    return false;
  }
  passing_[tree_.root.id].push_back(witness);
  active_.push_back(tree_.root.id);
  return false;
}

void InputSearch::predict(std::vector<Request>& requests) {
  constexpr std::size_t first = 64;  // size of the first group: 64 predictions already refute most wrong trees
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

/// Returns a sequence that takes branches of the tree at random, all equally likely, with the first, the last or a
/// random value of each.
Sequence InputSearch::at_the_edges(std::uint64_t seed) const {
  Sequence sequence{.seed = seed, .bits = std::min(24, options_.coin_bits)};
  std::size_t turn = 1 << 20;  // Choices use the random bits of places beyond any tape.
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
    // That the entries of one branch behave alike is only a conjecture, so a random entry of the branch is taken.
    std::vector<std::size_t> entries;
    for (std::size_t x = 0; x < node.branch_of.size(); ++x)
      if (node.branch_of[x] == branch - node.branches.data()) entries.push_back(x);
    const std::size_t entry = entries[below(entries.size())];
    if (node.draw.kind == DrawKind::pick) {
      double before = 0;
      for (std::size_t x = 0; x < entry; ++x) before += node.draw.weights[x];
      const double total = drawable_total(node.draw);
      const double middle = total > 0 ? (before + node.draw.weights[entry] / 2) / total : 0;
      // The minimum is needed because the middle of a small last weight may be rounded up to 1.
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

}  // namespace draftproof::adapters
