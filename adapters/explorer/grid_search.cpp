// The search at one node whose draw is a coin, an integer or a lone clock. It finds the grid values at which the
// program's behaviour changes.
#include <algorithm>
#include <utility>

#include <draftproof/adapters/explorer/place_search.hpp>

namespace draftproof::adapters {
namespace {

constexpr std::uint64_t all_asked = 16;  // a draw with at most this many values is tested at each value

}  // namespace

void PlaceSearch::start(std::size_t k, std::vector<std::uint64_t>& points) {
  const std::uint64_t cells = values_of(node_.draw);
  scans_[k].started = true;
  if (cells <= all_asked) {
    for (std::uint64_t value = 0; value < cells; ++value) points.push_back(value);
    return;
  }
  points.insert(points.end(), {0, 1, cells - 1});
  // The scan of each later witness starts with half as many evenly spaced points as the scan of the first witness;
  // changes that it shows are then searched like the others.
  const auto even = static_cast<std::uint64_t>(std::max(context_.even_points / (k == 0 ? 1 : 2), 1));
  for (std::uint64_t i = 1; i < even; ++i) points.push_back(cells / even * i);
  for (const Scan& scan : scans_) {
    const double value = context_.witnesses[scan.witness].value(prefix_.size());
    points.push_back(static_cast<std::uint64_t>(value * static_cast<double>(cells)));
  }
  for (const TreeBranch& branch : node_.branches) points.push_back(branch.chosen);
}

/// Adds points between two neighbouring probes that behave differently: at a change that another witness showed, else
/// at a suggested threshold, else at growing distances from a suggestion nearby, else in the middle.
void PlaceSearch::near_interval(std::uint64_t a, std::uint64_t b, std::vector<std::uint64_t>& points) {
  const auto middle_of = [&](const std::vector<std::uint64_t>& list) -> const std::uint64_t* {
    const auto low = std::upper_bound(list.begin(), list.end(), a), high = std::lower_bound(low, list.end(), b);
    return low < high ? &*(low + (high - low) / 2) : nullptr;
  };
  if (const auto* change = middle_of(changes_)) {
    if (*change - 1 > a) points.push_back(*change - 1);
    return points.push_back(*change);
  }
  const auto& floors = context_.suggested.floors(values_of(node_.draw));
  if (const auto* floor = middle_of(floors)) {
    points.push_back(*floor);
    if (*floor + 1 < b) points.push_back(*floor + 1);
    return;
  }
  bool near = false;
  const auto above = std::upper_bound(floors.begin(), floors.end(), a);
  if (above != floors.begin() && (a - *(above - 1) + 1) * 32 < b - a) {
    points.push_back(a + (a - *(above - 1) <= 1 ? 1 : (a - *(above - 1)) * 8));
    near = true;
  }
  const auto below = std::lower_bound(floors.begin(), floors.end(), b);
  if (below != floors.end() && (*below - b + 1) * 32 < b - a) {
    points.push_back(b - (*below - b == 0 ? 1 : (*below - b) * 8));
    near = true;
  }
  if (!near) points.push_back(a + (b - a) / 2);
}

void PlaceSearch::between_changes(const Scan& scan, std::vector<std::uint64_t>& points) {
  for (std::size_t i = 0; i + 1 < scan.probes.size(); ++i) {
    const Probe &a = scan.probes[i], &b = scan.probes[i + 1];
    if (a.after != b.after && b.value - a.value > 1) near_interval(a.value, b.value, points);
  }
}

/// Refines a scan until all its changes lie between neighbouring grid values. Returns true if runs are needed.
bool PlaceSearch::settle(std::size_t k, std::vector<Ask>& asks) {
  Scan& scan = scans_[k];
  std::vector<std::uint64_t> points;
  const auto suggest = [&] {
    scan.suggested = true;
    for (const std::uint64_t floor : context_.suggested.floors(values_of(node_.draw)))
      points.insert(points.end(), {floor, floor + 1});
  };
  if (!scan.started) {
    start(k, points);
    if (k == 0) suggest();
    want(k, points, asks);
    if (!asks.empty()) return true;
  }
  for (;;) {
    between_changes(scan, points);
    const bool more = want(k, points, asks);
    if (!asks.empty()) return true;
    if (more) continue;
    // If only this witness shows a change, changes that lie close together may have been missed, so all suggested
    // thresholds are tested too.
    bool own = false;
    for (std::size_t i = 0; i + 1 < scan.probes.size(); ++i)
      own = own || (scan.probes[i].after != scan.probes[i + 1].after &&
                    !std::binary_search(changes_.begin(), changes_.end(), scan.probes[i + 1].value));
    if (!own || scan.suggested) return false;
    suggest();
    if (!want(k, points, asks)) return false;
    if (!asks.empty()) return true;
  }
}

void PlaceSearch::step_grid(std::vector<Ask>& asks) {
  for (bool again = true; again && resolved_;) {
    changes_.clear();
    for (std::size_t k = 0; k < scans_.size(); ++k) {
      if (settle(k, asks)) return;
      const Scan& scan = scans_[k];
      const auto middle = static_cast<std::ptrdiff_t>(changes_.size());
      for (std::size_t i = 0; i + 1 < scan.probes.size(); ++i)
        if (scan.probes[i].after != scan.probes[i + 1].after) changes_.push_back(scan.probes[i + 1].value);
      std::inplace_merge(changes_.begin(), changes_.begin() + middle, changes_.end());
      changes_.erase(std::unique(changes_.begin(), changes_.end()), changes_.end());
      if (changes_.size() >= context_.most_branches) {
        resolved_ = false;
        return;
      }
    }
    again = settle_stretches(asks);
    if (!asks.empty()) return;
  }
}

/// Cuts the grid at the changes and tests every witness at the representative value of each stretch.
bool PlaceSearch::settle_stretches(std::vector<Ask>& asks) {
  const std::uint64_t cells = values_of(node_.draw);
  const std::vector<TreeBranch> old = std::exchange(node_.branches, {});
  const double preferred = context_.witnesses[scans_.front().witness].value(prefix_.size());
  const auto first_witness = static_cast<std::uint64_t>(preferred * static_cast<double>(cells));
  bool more = false;
  std::vector<std::uint64_t> points;
  auto kept = old.begin();
  for (std::size_t i = 0; i <= changes_.size(); ++i) {
    TreeBranch branch{.first = i == 0 ? 0 : changes_[i - 1],
                      .last = (i == changes_.size() ? cells : changes_[i]) - 1};
    const auto within = [&](std::uint64_t x) { return x >= branch.first && x <= branch.last; };
    branch.chosen = within(first_witness) ? first_witness : branch.first + (branch.last - branch.first) / 2;
    while (kept != old.end() && kept->chosen < branch.first) ++kept;
    if (kept != old.end() && within(kept->chosen)) {
      branch.chosen = kept->chosen;
      branch.target = kept->target;
    }
    branch.share = static_cast<double>(branch.last - branch.first + 1) / static_cast<double>(cells);
    node_.branches.push_back(branch);
    for (std::size_t k = 0; k < scans_.size(); ++k) {
      points.push_back(branch.chosen);
      more = want(k, points, asks) || more;
    }
  }
  return more;
}

}  // namespace draftproof::adapters
