// The search at one node whose draw is a pick or a race. The weights of a pick are in its log. The weights of a race
// are measured on pairs of entries: one entry has clock 1, the clock of the other is moved until the winner changes,
// and all other entries are late. The moved clock at which the winner changes is the ratio of the two weights.
//
// A program may compute uniforms u = exp(-clock) from its clocks. For long clocks u has few digits, and on a grid of
// 2^-24 a clock above 16 gives u = 0, which never wins. So all entries are paired with an entry of nearly the largest
// weight. Then the winner changes at a clock of at most `longest_clock`: exp(-4) has 18 bits of such a grid.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <draftproof/adapters/explorer/place_search.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof::adapters {
namespace {

constexpr double steps_of_one = 0x1p26;  // steps per unit of the logarithm to base 2
constexpr double lowest = -60;
constexpr std::uint64_t top = 120ull << 26;
constexpr double longest_clock = 4;
constexpr double near_hint = 32;  // in steps: several roundings of a float, so that both sides of a change are tested

}  // namespace

void PlaceSearch::step_cells(std::vector<Ask>& asks) {
  const bool pick = node_.draw.kind == DrawKind::pick;
  const bool drawable = !pick || drawable_total(node_.draw) > 0;
  std::vector<std::uint64_t> cells;
  for (std::uint64_t x = 0; drawable && x < values_of(node_.draw); ++x)
    if (!pick || node_.draw.weights[x] > 0) cells.push_back(x);
  if (cells.empty()) cells.push_back(0);  // If no weight can be drawn, the draw has one branch.
  for (std::size_t k = 0; k < scans_.size(); ++k) {
    std::vector<std::uint64_t> points = cells;
    want(k, points, asks);
    if (!asks.empty()) return;
  }
  std::vector<int> of = set_classes(cells);
  if (node_.branches.size() == 1 || only_one_may_win(of)) {
    node_.branches.front().share = 1;
    node_.branch_of = of;
  } else if (pick) {
    share_by(node_.draw.weights, of);
  } else {
    step_race(of, asks);
  }
}

/// Merges cells that no witness separates into one branch, whose probability is not yet set. Returns the branch of each
/// cell.
std::vector<int> PlaceSearch::set_classes(std::span<const std::uint64_t> cells) {
  const std::vector<TreeBranch> old = std::exchange(node_.branches, {});
  std::vector<int> of(values_of(node_.draw), -1);
  const auto alike = [&](std::uint64_t a, std::uint64_t b) {
    return std::all_of(scans_.begin(), scans_.end(),
                       [&](const Scan& scan) { return probe_at(scan, a)->after == probe_at(scan, b)->after; });
  };
  for (const std::uint64_t x : cells) {
    std::size_t c = 0;
    while (c < node_.branches.size() && !alike(node_.branches[c].first, x)) ++c;
    if (c == node_.branches.size()) node_.branches.push_back({.first = x, .last = x, .chosen = x});
    of[x] = static_cast<int>(c);
  }
  for (const TreeBranch& branch : old) {
    TreeBranch& now = node_.branches[static_cast<std::size_t>(of[branch.chosen])];
    now.chosen = branch.chosen;
    now.target = branch.target;
  }
  return of;
}

/// Whether all entries that may have weight are in one branch. If they are, removes the other branches.
bool PlaceSearch::only_one_may_win(std::vector<int>& of) {
  int only = -1;
  for (std::size_t x = 0; x < weightless_.size(); ++x) {
    if (weightless_[x]) continue;
    if (only >= 0 && of[x] != only) return false;
    only = of[x];
  }
  if (only < 0) return false;
  for (int& branch : of) branch = branch == only ? 0 : -1;
  node_.branches = {node_.branches[static_cast<std::size_t>(only)]};
  return true;
}

/// Gives branches the shares of their cells, and removes branches without weight.
void PlaceSearch::share_by(std::span<const double> weights, const std::vector<int>& of) {
  const double total = compensated_sum(weights);
  std::vector<NeumaierSum> sums(node_.branches.size());
  for (std::size_t x = 0; x < weights.size(); ++x)
    if (of[x] >= 0) sums[static_cast<std::size_t>(of[x])].add(weights[x]);
  std::vector<int> place(node_.branches.size(), -1);
  std::vector<TreeBranch> kept;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    if (!(sums[c].value() > 0)) continue;
    place[c] = static_cast<int>(kept.size());
    kept.push_back(node_.branches[c]);
    kept.back().share = sums[c].value() / total;
  }
  node_.branches = std::move(kept);
  node_.branch_of.assign(of.size(), -1);
  for (std::size_t x = 0; x < of.size(); ++x)
    if (of[x] >= 0 && weights[x] > 0) node_.branch_of[x] = place[static_cast<std::size_t>(of[x])];
}

void PlaceSearch::ask_ends(int fixed, int moved, double clock, std::vector<Ask>& asks) {
  const auto at = [&](const Scan& scan, int x) { return probe_at(scan, static_cast<std::uint64_t>(x))->after; };
  std::uint32_t scan = 0;
  while (at(scans_[scan], fixed) == at(scans_[scan], moved)) ++scan;
  const auto number = static_cast<std::uint32_t>(pairs_.size());
  pairs_.push_back({.fixed = fixed, .moved = moved, .clock = clock, .scan = scan, .low = 0, .high = top});
  asks.push_back({.scan = number, .pair = true, .value = 0});
  asks.push_back({.scan = number, .pair = true, .value = top});
}

/// Requests races between the reference and each entry of another class that may have weight.
void PlaceSearch::ask_others(const std::vector<int>& of, std::vector<Ask>& asks) {
  pairs_.clear();
  for (int x = 0; x < node_.draw.size; ++x)
    if (of[static_cast<std::size_t>(x)] != of[static_cast<std::size_t>(reference_)] && may_win(x))
      ask_ends(reference_, x, reference_clock_, asks);
}

/// Requests races of the next entry that can be the reference, or gives up if there is none.
void PlaceSearch::ask_reference(const std::vector<int>& of, std::vector<Ask>& asks) {
  // An entry of weight 0 never wins, so its run equals the run in which all entries are late, and it cannot be the
  // reference. This also holds for a program with finite late clocks, although there some entry wins both runs.
  const auto wins = [&](int x) {
    return std::any_of(scans_.begin(), scans_.end(), [&](const Scan& scan) {
      const Probe *early = probe_at(scan, static_cast<std::uint64_t>(x)),
                  *none = probe_at(scan, values_of(node_.draw));
      return none == nullptr || early->after != none->after;
    });
  };
  const auto next = [&] {
    while (reference_ < node_.draw.size && !wins(reference_)) ++reference_;
    return reference_ < node_.draw.size;
  };
  // A program may limit late clocks to a finite value, which may win against clock 1 of a light entry. So an earlier
  // clock is tried.
  if (!next() && reference_clock_ == 1) {
    reference_clock_ = early_clock(node_.draw);
    reference_ = 0;
  }
  if (!next()) {
    resolved_ = false;
    return;
  }
  ask_others(of, asks);
}

/// Returns the moved clock at which the winner changes.
double PlaceSearch::clock_of(const Pair& pair) {
  return pair.clock * std::exp2(static_cast<double>(pair.low) / steps_of_one + lowest);
}

/// Returns the pair with the largest clock_of() among the pairs that race.
const PlaceSearch::Pair& PlaceSearch::heaviest_pair() const {
  return *std::max_element(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) {
    return std::pair(a.races(), clock_of(a)) < std::pair(b.races(), clock_of(b));
  });
}

/// If some entry weighs far more than the reference, perhaps more than its clock shows, makes it the reference. Returns
/// whether there is such an entry; gives up if the reference has changed too often for a consistent order.
bool PlaceSearch::change_reference(const std::vector<int>& of, std::vector<Ask>& asks) {
  const Pair& heaviest = heaviest_pair();
  if (!heaviest.races() || !(clock_of(heaviest) > longest_clock)) return false;
  resolved_ = ++heavier_ < node_.draw.size;
  if (!resolved_) return true;
  reference_ = heaviest.moved;
  reference_clock_ = 1;  // late clocks of lighter entries cannot win against clock 1 of this heavy entry
  race_ = Race::others;
  ask_others(of, asks);
  return true;
}

/// If the reference wins against every entry of another class at any ratio of their clocks, only its class has weight.
/// Example: token 1 has all the weight, and argmax returns token 0 if every score is -inf. An entry without weight, with
/// an early clock alone, then has the outcome 0 and not 1, although it never beats the reference. Marks such entries.
/// Returns whether any was marked.
bool PlaceSearch::others_are_weightless() {
  const auto loses = [](const Pair& pair) { return pair.low_loses && pair.high_loses && !pair.third; };
  if (pairs_.empty() || !std::all_of(pairs_.begin(), pairs_.end(), loses)) return false;
  weightless_.resize(static_cast<std::size_t>(node_.draw.size), false);
  for (const Pair& pair : pairs_) weightless_[static_cast<std::size_t>(pair.moved)] = true;
  race_ = Race::late;  // a later witness may split the reference's class, whose entries then race again
  return true;
}

void PlaceSearch::step_race(const std::vector<int>& of, std::vector<Ask>& asks) {
  if (race_ == Race::classes) {
    race_ = Race::late;
    for (std::size_t k = 0; k < scans_.size(); ++k)
      asks.push_back({.scan = static_cast<std::uint32_t>(k), .value = values_of(node_.draw)});
    return;
  }
  if (race_ == Race::late) {
    race_ = Race::reference;
    return ask_reference(of, asks);
  }
  if (race_ == Race::reference) {
    const auto found = std::find_if(pairs_.begin(), pairs_.end(), [](const Pair& pair) { return pair.races(); });
    if (found == pairs_.end()) {
      if (others_are_weightless()) return step_cells(asks);
      ++reference_;
      return ask_reference(of, asks);
    }
    race_ = Race::others;
  }
  if (race_ == Race::others) {
    if (bisect_pairs(asks)) return;
    if (change_reference(of, asks)) return;
    const Pair& heaviest = heaviest_pair();
    other_ = heaviest.moved;
    race_ = Race::rest;
    for (int x = 0; x < node_.draw.size; ++x)
      if (x != reference_ && of[static_cast<std::size_t>(x)] == of[static_cast<std::size_t>(reference_)] &&
          may_win(x))
        ask_ends(other_, x, std::min(1.0, clock_of(heaviest)), asks);
    if (!asks.empty()) return;
  }
  if (race_ == Race::rest) {
    if (bisect_pairs(asks) || change_reference(of, asks)) return;
    // An entry that neither wins nor loses against another entry is not part of a race.
    resolved_ = std::all_of(pairs_.begin(), pairs_.end(), [](const Pair& pair) { return pair.decided(); });
    if (!resolved_) return;
    read_weights();
    race_ = Race::done;
  }
  share_by(node_.weights, of);
}

void PlaceSearch::take_pair(Pair& pair, std::uint64_t value, RunStore::Chain after) {
  const Scan& scan = scans_[pair.scan];
  const bool wins = after == probe_at(scan, static_cast<std::uint64_t>(pair.moved))->after;
  const bool loses = after == probe_at(scan, static_cast<std::uint64_t>(pair.fixed))->after;
  if (value == 0) {
    pair.low_wins = wins;
    pair.low_loses = loses;
  } else if (value == top) {
    pair.high_loses = loses;
  } else {
    pair.third |= !wins && !loses;
    (wins ? pair.low : pair.high) = value;
  }
}

bool PlaceSearch::bisect_pairs(std::vector<Ask>& asks) {
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    if (!pair.races() || pair.third || pair.high - pair.low == 1) continue;
    std::uint64_t middle = pair.low + (pair.high - pair.low) / 2;
    std::vector<std::uint64_t> hints;
    for (const double ratio : context_.suggested.log_ratios(pair.fixed, pair.moved, node_.draw.size))
      for (const double side : {-near_hint, near_hint}) {
        const double step = (ratio - lowest) * steps_of_one + side;
        if (step > static_cast<double>(pair.low) && step + 1 < static_cast<double>(pair.high))
          hints.push_back(static_cast<std::uint64_t>(step) + 1);
      }
    std::sort(hints.begin(), hints.end());
    if (!hints.empty()) middle = hints[hints.size() / 2];
    asks.push_back({.scan = static_cast<std::uint32_t>(i), .pair = true, .value = middle});
  }
  return !asks.empty();
}

void PlaceSearch::read_weights() {
  node_.weights.assign(static_cast<std::size_t>(node_.draw.size), 0);
  const auto weight = [&](int x) -> double& { return node_.weights[static_cast<std::size_t>(x)]; };
  weight(reference_) = 1;
  // Each pair measures the weight of `moved` divided by the weight of `fixed`; pairs are in an order in which the
  // weight of `fixed` is known when the weight of `moved` is computed.
  for (const Pair& pair : pairs_) {
    const double step = (static_cast<double>(pair.low) + static_cast<double>(pair.high)) / 2;
    weight(pair.moved) = pair.races() ? weight(pair.fixed) * std::exp2(step / steps_of_one + lowest) : 0;
  }
  // A weight is measured through at most two pairs, each with an error of half a step, ln 2 * 2^-26 in all. The
  // program's comparison adds eight roundings: of the clocks, their logarithms or quotients, and the weights, for
  // both entries.
  const int bits = std::clamp(node_.draw.bits, 8, 53);
  node_.race_error = std::log(2.0) * 0x1p-26 + std::ldexp(16, -bits);
  // The logarithm of a uniform has a bounded relative error for clocks >= 2^-8, and a bounded absolute error below. The
  // relative error of a weight changes the distribution by at most its product with the share of the weight.
  const double total = compensated_sum(node_.weights);
  for (const Pair& pair : pairs_)
    if (pair.clock < 0x1p-8) node_.race_error += std::ldexp(2, -bits - 8) / pair.clock * (weight(pair.moved) / total);
}

}  // namespace draftproof::adapters
