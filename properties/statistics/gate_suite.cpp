#include <draftproof/properties/statistics/gate_suite.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>

#include <cassert>
#include <limits>
#include <numeric>
#include <utility>

#include <draftproof/properties/statistics/count_models.hpp>
#include <draftproof/properties/statistics/e_table.hpp>
#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/properties/statistics/row_groups.hpp>

namespace draftproof {
namespace {

constexpr double leak_weight = 1.0 / 100;

std::vector<double> flattened(const std::vector<std::vector<double>>& rows) {
  std::vector<double> flat;
  for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return flat;
}

std::vector<std::vector<std::uint32_t>> groupings(const GateNull& null) {
  std::vector<std::vector<std::uint32_t>> groups;
  const auto& p = null.target;
  if (!null.proposal.empty()) groups.push_back(mass_groups(ratio_key(p, null.proposal), p));
  groups.push_back(mass_groups(p, p));
  std::vector<double> id(p.size());
  std::iota(id.begin(), id.end(), 0.0);
  groups.push_back(mass_groups(id, p));
  return groups;
}

}  // namespace

GateSuite::GateSuite(GateNull null)
    : null_{std::move(null)}, flat_paths_{flattened(null_.paths)}, groups_{groupings(null_)}, tokens_{null_.target} {
  assert(null_.proposal.empty() || null_.proposal.size() == null_.target.size());
  for (const auto& group : groups_) group_tables_.emplace_back(folded(group, null_.target));
  if (!has_paths()) return;
  assert(flat_paths_.size() == null_.paths.size() * null_.target.size());
  path_tables_.emplace_back(flat_paths_);
  std::vector<std::vector<double>> rows;
  for (const auto& row : null_.paths) rows.push_back(folded(groups_.front(), row));
  path_tables_.emplace_back(flattened(rows));
}

GateCounts GateSuite::empty_counts() const { return {has_paths() ? null_.paths.size() : 1, null_.target.size()}; }

std::vector<std::uint64_t> GateSuite::path_groups_of(const GateCounts& counts) const {
  std::vector<std::uint64_t> all;
  for (std::size_t k = 0; k < counts.paths(); ++k) {
    const auto row = folded(groups_.front(), counts.path(k));
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

GateEvidence GateSuite::evidence(const GateCounts& given, double exposure) const {
  const bool leaks = null_.leak > 0;
  std::uint64_t leaked = 0;
  GateCounts without_leak = leaks ? given : GateCounts(0, 1);
  if (leaks) leaked = without_leak.take_impossible(has_paths() ? std::span<const double>{flat_paths_} : null_.target);
  const GateCounts& counts = leaks ? without_leak : given;

  const auto tokens = counts.tokens();
  GateEvidence evidence;
  const double share = (leaks ? 1 - leak_weight : 1.0) / (has_paths() ? 5 : 3);
  const auto add = [&](std::string_view name, double log_e, double weight) {
    evidence.components.push_back({name, log_e, weight, true});
  };
  add("tokens", tokens_.log_e(tokens, exposure), share);
  add("spikes", log_e_single_cell(null_.target, tokens, exposure), share);
  std::vector<double> by_key;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    by_key.push_back(group_tables_[g].log_e(folded(groups_[g], tokens), exposure));
  add("groups", log_mean_exp(by_key), share);
  if (has_paths()) {
    add("paths", path_tables_[0].log_e(counts.cells(), exposure), share);
    add("path groups", path_tables_[1].log_e(path_groups_of(counts), exposure), share);
  }
  if (leaks) add("leak", log_e_impossible_cells(leaked, exposure, null_.leak), leak_weight);

  std::vector<double> logs, weights;
  for (const GateComponent& component : evidence.components) {
    logs.push_back(component.log_e);
    weights.push_back(component.weight);
  }
  evidence.log_e = log_weighted_mean_exp(logs, weights);
  return evidence;
}

WorstCell GateSuite::worst_cell(const GateCounts& counts, double exposure) const {
  const std::span<const double> distribution = has_paths() ? std::span<const double>{flat_paths_} : null_.target;
  const auto observed = counts.cells();
  WorstCell worst{-1, 0, 0, 0, -std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < distribution.size(); ++i) {
    if (distribution[i] == 0 && observed[i] == 0) continue;
    const double mean = exposure * distribution[i];
    const double log_e = distribution[i] == 0 ? std::numeric_limits<double>::infinity()
                                              : log_e_spike(static_cast<double>(observed[i]), mean);
    if (log_e > worst.log_e)
      worst = {has_paths() ? static_cast<int>(i / counts.vocabulary()) : -1, i % counts.vocabulary(), observed[i],
               mean, log_e};
  }
  return worst;
}

}  // namespace draftproof
