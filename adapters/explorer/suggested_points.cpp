#include <draftproof/adapters/explorer/suggested_points.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace draftproof::adapters {
namespace {

double total_of(std::span<const double> row) { return std::accumulate(row.begin(), row.end(), 0.0); }

bool normalise(std::vector<double>& row) {
  const double total = total_of(row);
  if (!(total > 0) || !std::isfinite(total)) return false;
  for (double& weight : row) weight /= total;
  return true;
}

/// Returns (p - q)+, normalised; empty if it is zero everywhere.
std::vector<double> residual(const std::vector<double>& p, const std::vector<double>& q) {
  if (p.size() != q.size()) return {};
  std::vector<double> left(p.size());
  for (std::size_t x = 0; x < p.size(); ++x) left[x] = std::max(p[x] - q[x], 0.0);
  return normalise(left) ? left : std::vector<double>{};
}

}  // namespace

SuggestedPoints::SuggestedPoints(const Input& input, std::span<const double> more)
    : thresholds_(more.begin(), more.end()) {
  for (const auto& row : input.p) add_row(row);
  for (const auto& row : input.q) add_row(row);
  // Drafts with one parent are siblings; a chain's draft i is the only child of draft i - 1.
  for (std::size_t r = 0; r < input.p.size(); ++r) {
    std::vector<std::size_t> siblings;
    for (std::size_t i = 0; i < input.drafts.size(); ++i) {
      const std::size_t row = input.p.size() == 1        ? 0
                              : i < input.parents.size() ? static_cast<std::size_t>(input.parents[i] + 1)
                                                         : i;
      if (row == r) siblings.push_back(i);
    }
    add_siblings(input.p[r], input, siblings);
    if (!input.settings.changes_nothing()) {
      const std::vector<double> target = filtered_distribution(input.p[r], input.settings);
      add_row(target);
      add_siblings(target, input, siblings);
    }
    if (r >= input.legal.size()) continue;
    std::vector<double> masked = input.p[r];
    for (std::size_t x = 0; x < std::min(masked.size(), input.legal[r].size()); ++x)
      if (input.legal[r][x] == 0) masked[x] = 0;
    if (!normalise(masked)) continue;
    add_row(masked);
    add_siblings(masked, input, siblings);
  }
  std::erase_if(thresholds_, [](double t) { return !(t > 0 && t < 1); });
  std::sort(thresholds_.begin(), thresholds_.end());
  thresholds_.erase(std::unique(thresholds_.begin(), thresholds_.end()), thresholds_.end());
}

void SuggestedPoints::add_siblings(std::vector<double> target, const Input& input,
                                   std::span<const std::size_t> drafts) {
  std::vector<Token> removed;
  for (const std::size_t i : drafts) {
    if (input.q.empty()) return;
    std::vector<double> q = input.q[input.q.size() == 1 ? 0 : std::min(i, input.q.size() - 1)];
    const Token x = input.drafts[i];
    const auto at = static_cast<std::size_t>(x);
    if (x < 0 || at >= q.size() || q.size() != target.size()) return;
    thresholds_.push_back(target[at] / q[at]);
    std::vector<double> left = residual(target, q);
    std::vector<double> shorter = q;
    for (const Token gone : removed) shorter[static_cast<std::size_t>(gone)] = 0;
    if (!removed.empty() && normalise(shorter)) {
      thresholds_.push_back(target[at] / shorter[at]);
      if (input.q.size() == 1) left = residual(target, shorter);
      add_row(residual(target, q));
    }
    removed.push_back(x);
    if (left.empty()) return;
    add_row(left);
    target = std::move(left);
  }
}

void SuggestedPoints::add_row(std::vector<double> row) {
  if (row.empty() || !normalise(row) || std::find(rows_.begin(), rows_.end(), row) != rows_.end()) return;
  double sum = 0;
  for (const double weight : row) thresholds_.push_back(sum += weight);
  rows_.push_back(std::move(row));
}

const std::vector<std::uint64_t>& SuggestedPoints::floors(std::uint64_t cells) {
  const auto [found, added] = floors_.try_emplace(cells);
  auto& list = found->second;
  if (!added) return list;
  for (const double t : thresholds_)
    list.push_back(std::min(cells - 1, static_cast<std::uint64_t>(t * static_cast<double>(cells))));
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::vector<double> SuggestedPoints::log_ratios(int a, int b, int size) const {
  std::vector<double> ratios;
  for (const auto& row : rows_) {
    if (row.size() != static_cast<std::size_t>(size)) continue;
    const double of_a = row[static_cast<std::size_t>(a)], of_b = row[static_cast<std::size_t>(b)];
    if (of_a > 0 && of_b > 0) ratios.push_back(std::log2(of_b / of_a));
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

}  // namespace draftproof::adapters
