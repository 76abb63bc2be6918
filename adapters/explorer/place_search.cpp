#include <draftproof/adapters/explorer/place_search.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace draftproof::adapters {
PlaceSearch::PlaceSearch(const SearchContext& context, std::vector<double> prefix, std::vector<Known> known)
    : context_(context), prefix_(std::move(prefix)) {
  const RunStore& store = context_.store;
  const auto goes_on =
      std::find_if(known.begin(), known.end(), [&](const Known& k) { return !store.ended(k.chain); });
  leaf_ = goes_on == known.end();
  if (!leaf_) {
    node_.draw_id = store.draw(goes_on->chain);
    node_.draw = store.draw_at(node_.draw_id);
    node_.place = static_cast<int>(prefix_.size());
  } else {
    for (const Known& k : known)
      function_ = function_ && (k.chain == known.front().chain || store.log_may_be_lost(store.outcome(k.chain)));
  }
  for (const Known& k : known) add(k);
}

void PlaceSearch::add(const Known& known) {
  const RunStore& store = context_.store;
  scans_.push_back({.witness = known.witness, .chain = known.chain});
  if (leaf_) return;
  // If the program is a function of the tape, runs with equal values before this place make the same draw here.
  if (store.ended(known.chain) ? !store.log_may_be_lost(store.outcome(known.chain))
                               : store.draw(known.chain) != node_.draw_id)
    function_ = false;
  if (!has_grid(node_.draw)) return;
  const double value = context_.witnesses[known.witness].value(prefix_.size());
  const auto at = static_cast<std::uint64_t>(value * static_cast<double>(values_of(node_.draw)));
  scans_.back().probes.push_back({at, store.after(known.chain, 1)});
}

/// Returns a clock with which an entry wins even if its weight is only a 2^-16 part of another's (2^-35 for draws of 40
/// bits or more). A program that clamps its uniforms at 2^-24 or 2^-54 has late clocks of at most 17 or 38, the -log of
/// the clamp, and a late clock can then win against a clock of 1 over a light weight. The early clocks 2^-12 and 2^-30
/// prevent this, because 2^-12 / 17 is below 2^-16, and 2^-30 / 38 is below 2^-35. Both clocks are above the grid of
/// their uniforms, and 2^-12 is a normal number in half precision (from 2^-14 on).
double early_clock(const Draw& draw) { return draw.bits >= 40 ? 0x1p-30 : 0x1p-12; }

void PlaceSearch::append_tape(const Ask& ask, std::vector<double>& tape) const {
  if (ask.pair || places_of(node_.draw) > 1) {
    constexpr double late = 0x1p100;  // within float's range, and so late that its entry loses whatever its weight
    const auto begin = static_cast<std::ptrdiff_t>(tape.size());
    tape.insert(tape.end(), static_cast<std::size_t>(places_of(node_.draw)), -late);
    const std::uint64_t early = ask.pair ? static_cast<std::uint64_t>(pairs_[ask.scan].fixed) : ask.value;
    const double clock = ask.pair ? pairs_[ask.scan].clock : early_clock(node_.draw);
    if (early < values_of(node_.draw)) tape[static_cast<std::size_t>(begin) + early] = -clock;  // else all are late
    if (ask.pair)
      tape[static_cast<std::size_t>(begin) + static_cast<std::size_t>(pairs_[ask.scan].moved)] =
          -clock * std::exp2(static_cast<double>(ask.value) * 0x1p-26 - 60);
    return;
  }
  if (node_.draw.kind == DrawKind::pick || node_.draw.kind == DrawKind::integer)
    tape.push_back(-static_cast<double>(ask.value) - 1);
  else
    tape.push_back(static_cast<double>(ask.value) / static_cast<double>(values_of(node_.draw)));
}

void PlaceSearch::take(const Ask& ask, RunStore::Chain run) {
  const RunStore& store = context_.store;
  const RunStore::Chain at_node = store.after(run, static_cast<int>(prefix_.size()));
  if (store.ended(at_node) ? !store.log_may_be_lost(store.outcome(at_node)) : store.draw(at_node) != node_.draw_id)
    function_ = false;
  const RunStore::Chain after = store.after(at_node, places_of(node_.draw));
  if (ask.pair) return take_pair(pairs_[ask.scan], ask.value, after);
  scans_[ask.scan].probes.push_back({ask.value, after});
}

void PlaceSearch::step(std::vector<Ask>& asks) {
  if (!resolved()) return;
  for (Scan& scan : scans_) {
    const auto earlier = [](const Probe& a, const Probe& b) { return a.value < b.value; };
    if (!std::is_sorted(scan.probes.begin(), scan.probes.end(), earlier))
      std::sort(scan.probes.begin(), scan.probes.end(), earlier);
  }
  if (has_grid(node_.draw)) return step_grid(asks);
  step_cells(asks);
}

const PlaceSearch::Probe* PlaceSearch::probe_at(const Scan& scan, std::uint64_t value) const {
  const auto found = std::lower_bound(scan.probes.begin(), scan.probes.end(), value,
                                      [](const Probe& probe, std::uint64_t x) { return probe.value < x; });
  return found != scan.probes.end() && found->value == value ? &*found : nullptr;
}

std::vector<Known> PlaceSearch::known_in(const TreeBranch& branch) const {
  std::vector<Known> known;
  for (const Scan& scan : scans_)
    if (const Probe* probe = probe_at(scan, branch.chosen)) known.push_back({scan.witness, probe->after});
  return known;
}

/// Requests the points that a scan lacks. If the first scan's run at a point ended with the draw of this node, the run
/// at that point ends there under every other witness too, so the first scan's probe is copied. Returns true if a run
/// is needed or a probe was copied.
bool PlaceSearch::want(std::size_t k, std::vector<std::uint64_t>& points, std::vector<Ask>& asks) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  Scan& scan = scans_[k];
  std::vector<Probe> copies;
  const std::size_t before = asks.size();
  for (const std::uint64_t value : points) {
    if (value >= values_of(node_.draw) || probe_at(scan, value)) continue;
    const Probe* first = k == 0 ? nullptr : probe_at(scans_.front(), value);
    if (first && context_.store.ended(first->after) &&
        !context_.store.log_may_be_lost(context_.store.outcome(first->after)))
      copies.push_back(*first);
    else
      asks.push_back({.scan = static_cast<std::uint32_t>(k), .value = value});
  }
  points.clear();
  if (!copies.empty()) {
    const auto middle = static_cast<std::ptrdiff_t>(scan.probes.size());
    scan.probes.insert(scan.probes.end(), copies.begin(), copies.end());
    std::inplace_merge(scan.probes.begin(), scan.probes.begin() + middle, scan.probes.end(),
                       [](const Probe& a, const Probe& b) { return a.value < b.value; });
  }
  return asks.size() > before || !copies.empty();
}

}  // namespace draftproof::adapters
