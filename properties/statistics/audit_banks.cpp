#include <draftproof/properties/statistics/audit_banks.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <draftproof/properties/statistics/error_budget.hpp>

namespace draftproof {
namespace {

constexpr int middle_group = ratio_groups / 2;
/// The cuts along p / q are at |t| = 2^-6, 2^-5, .., 1/2, 3/4, 1 on both sides of t = 0. These are their sizes, counted
/// in quarters of octaves of |t| from 2^-8, which has size 1.
constexpr std::array<int, 8> cut_sizes{9, 13, 17, 21, 25, 29, 31, 33};

/// Returns |t| at the lower end of a size: 2^-8 at 1.
double least_t(int size) {
  const int quarter = (size - 1) % 4;
  return std::exp2((size - 1) / 4 - 8) * (1 + quarter / 4.0);
}

std::vector<double> both_signs(std::vector<double> values) {
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  return values;
}

GroupCut ratio_cut(int first) {
  const int size = first > middle_group ? first - middle_group : middle_group - first;
  const double t = size > 0 ? least_t(size) : 0;
  if (first == middle_group) return {first, "p < q", "p >= q"};
  if (t == 1) return first > middle_group ? GroupCut{first, "q > 0", "q = 0"} : GroupCut{first, "p = 0", "p > 0"};
  const double ratio = first > middle_group ? (1 + t) / (1 - t) : (1 - t) / (1 + t);
  return {first, fmt::format("p/q < {:.3g}", ratio), fmt::format("p/q >= {:.3g}", ratio)};
}

constexpr std::array<double, 9> upward{1.02, 1.05, 1.1, 1.2, 1.5, 2, 4, 16, 256};

}  // namespace

GroupDesign ratio_design(std::string name) {
  GroupDesign design{.name = std::move(name), .groups = ratio_groups, .cuts = {}};
  for (auto size = cut_sizes.rbegin(); size != cut_sizes.rend(); ++size)
    if (least_t(*size) < 1) design.cuts.push_back(ratio_cut(middle_group - *size));
  design.cuts.push_back(ratio_cut(middle_group));
  for (const int size : cut_sizes) design.cuts.push_back(ratio_cut(middle_group + size));
  constexpr double farthest = 4;
  GroupScore along{"along log(p/q)", {}, both_signs({0.02, 0.05, 0.1, 0.2, 0.5, 1})}, away = along;
  away.name = "along |log(p/q)|";
  for (int g = 0; g < ratio_groups; ++g) {
    const int size = g < middle_group ? middle_group - 1 - g : g - middle_group;
    const double t = size == 0 ? 0 : (least_t(size) + std::min(least_t(size + 1), 1.0)) / 2;
    const double l = t < 1 ? std::min(2 * std::atanh(t), farthest) : farthest;
    along.score.push_back(g < middle_group ? -l : l);
    away.score.push_back(l);
  }
  design.scores = {std::move(along), std::move(away)};
  return design;
}

GroupDesign depth_design(std::string name, const std::string& letter) {
  GroupDesign design{.name = std::move(name), .groups = depth_groups, .cuts = {}};
  for (const int octave : {1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 16, 20})
    design.cuts.push_back(
        {2 * octave + 1, fmt::format("{} >= 2^-{}", letter, octave), fmt::format("{} < 2^-{}", letter, octave)});
  GroupScore temperature{"temperature of " + letter, {}, both_signs({0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32})};
  for (int g = 0; g < depth_groups; ++g) temperature.score.push_back(g * std::log(2.0) / 2);
  design.scores = {std::move(temperature)};
  return design;
}

GroupDesign top_design(std::string name) {
  return {.name = std::move(name), .groups = 2, .cuts = {{1, "most likely token", "other tokens"}}};
}

GroupDesign id_design(std::string name, std::size_t symbols) {
  GroupDesign design{.name = std::move(name), .groups = id_groups, .cuts = {}};
  constexpr int step = 4;
  for (int g = step; g < id_groups; g += step) {
    const std::size_t first = (static_cast<std::size_t>(g) * symbols + id_groups - 1) / id_groups;
    design.cuts.push_back({g, fmt::format("tokens below {}", first), fmt::format("tokens from {}", first)});
  }
  return design;
}

GroupDesign verdict_design(std::string name) {
  GroupDesign design{.name = std::move(name), .groups = 2 * ratio_groups, .cuts = {}};
  const std::vector<GroupCut> cuts = ratio_design("").cuts;
  for (const GroupCut& cut : cuts)
    design.cuts.push_back({cut.first, "rejected, " + cut.before, "accepted, or " + cut.behind});
  design.cuts.push_back({ratio_groups, "rejected", "accepted"});
  for (const GroupCut& cut : cuts)
    design.cuts.push_back({ratio_groups + cut.first, "rejected, or " + cut.before, "accepted, " + cut.behind});
  return design;
}

GroupDesign top_verdict_design(std::string name) {
  return {.name = std::move(name),
          .groups = 4,
          .cuts = {{1, "rejected, then the most likely token", "all else"},
                   {2, "rejected", "accepted"},
                   {3, "rejected, or the most likely token", "accepted, another token"}}};
}

GroupMasses<2 * ratio_groups> verdict_masses(const RowGroups& rows) {
  const auto &p = rows.ratio_p, &q = rows.ratio_q;
  const double all_p = std::accumulate(p.slack.begin(), p.slack.end(), 0.0);
  const double all_q = std::accumulate(q.slack.begin(), q.slack.end(), 0.0);
  GroupMasses<2 * ratio_groups> out;
  for (std::size_t g = 0; g < ratio_groups; ++g) {
    out.mass[ratio_groups + g] = std::min(p.mass[g], q.mass[g]);
    out.mass[g] = std::max(p.mass[g] - q.mass[g], 0.0);
    const double moved = p.slack[g] + all_p * p.mass[g] + q.slack[g] + all_q * q.mass[g];
    out.slack[g] = out.slack[ratio_groups + g] = moved;
  }
  return out;
}

GroupMasses<4> top_verdict_masses(const RowGroups& rows) {
  const double all_p = std::accumulate(rows.ratio_p.slack.begin(), rows.ratio_p.slack.end(), 0.0);
  const double all_q = std::accumulate(rows.ratio_q.slack.begin(), rows.ratio_q.slack.end(), 0.0);
  const double rejected_top = std::max(rows.top.mass[0] - rows.top_overlap, 0.0);
  GroupMasses<4> out;
  out.mass = {rejected_top, std::max(1 - rows.overlap - rejected_top, 0.0), rows.top_overlap,
              std::max(rows.overlap - rows.top_overlap, 0.0)};
  // The slack of the most likely tokens has the term all_q times their mass of q; this mass is bounded by 1 here.
  const double top =
      std::min(rows.top.slack[0] + all_p * rows.top.mass[0] + rows.top_slack_q + all_q, 2 * (all_p + all_q));
  out.slack = {top, 2 * (all_p + all_q) - top, top, 2 * (all_p + all_q) - top};
  return out;
}

AcceptedBets::AcceptedBets() {
  for (const GroupCut& cut : ratio_design("").cuts) {
    sides_.push_back({.count = {.where = "accepted, " + cut.before}, .from = 0, .to = cut.first});
    sides_.push_back({.count = {.where = "accepted, " + cut.behind}, .from = cut.first, .to = ratio_groups});
  }
  sides_.push_back({.count = {.where = "accepted"}, .from = 0, .to = ratio_groups});
  for (Side& side : sides_) {
    side.log_bound.assign(upward.size(), 0);
    side.product.assign(upward.size(), 1);
  }
}

void AcceptedBets::add(const RowGroups& rows, int drafts, int group, std::uint64_t record) {
  double slack_p = 0, slack_q = 0;
  for (std::size_t g = 0; g < ratio_groups; ++g) {
    slack_p += rows.ratio_p.slack[g];
    slack_q += rows.ratio_q.slack[g];
  }
  // True probabilities of a group are at most (stored + slack) / (1 - total slack), see row_groups.hpp.
  std::array<double, ratio_groups + 1> below{};
  for (std::size_t g = 0; g < ratio_groups; ++g) {
    const double p = (rows.ratio_p.mass[g] + rows.ratio_p.slack[g]) / (1 - slack_p);
    const double q = (rows.ratio_q.mass[g] + rows.ratio_q.slack[g]) / (1 - slack_q);
    below[g + 1] = below[g] + std::min(p, drafts * q);
  }
  for (Side& side : sides_) {
    const double m =
        std::min(below[static_cast<std::size_t>(side.to)] - below[static_cast<std::size_t>(side.from)], 1.0);
    for (std::size_t i = 0; i < upward.size(); ++i) side.product[i] *= 1 + (upward[i] - 1) * m;
    constexpr std::uint64_t longest = 64;  // 256^64 = 2^512 does not overflow
    if (draws_ % longest == longest - 1)
      for (std::size_t i = 0; i < upward.size(); ++i)
        side.log_bound[i] += std::log(std::exchange(side.product[i], 1));
    side.count.add(m, group >= side.from && group < side.to, record);
  }
  ++draws_;
}

double AcceptedBets::log_e() const {
  std::vector<double> logs;
  for (const Side& side : sides_)
    for (std::size_t i = 0; i < upward.size(); ++i)
      logs.push_back(static_cast<double>(side.count.seen) * std::log(upward[i]) - side.log_bound[i] -
                     std::log(side.product[i]));
  return log_mean_exp(logs);
}

GroupExcess AcceptedBets::worst() const {
  GroupExcess worst;
  for (const Side& side : sides_) worst.raise(side.count);
  return worst;
}

}  // namespace draftproof
