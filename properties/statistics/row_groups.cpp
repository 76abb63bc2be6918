#include <draftproof/properties/statistics/row_groups.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {

std::vector<std::uint32_t> mass_groups(std::span<const double> key, std::span<const double> target, int groups) {
  std::vector<std::uint32_t> order(key.size()), group(key.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto x, auto y) { return key[x] < key[y]; });
  double reached = 0;
  for (const std::uint32_t x : order) {
    reached += target[x];
    const double place = std::floor((reached - target[x] / 2) * groups);
    group[x] = static_cast<std::uint32_t>(std::clamp(place, 0.0, static_cast<double>(groups - 1)));
  }
  return group;
}

std::vector<double> ratio_key(std::span<const double> target, std::span<const double> proposal) {
  std::vector<double> key(target.size());
  for (std::size_t x = 0; x < key.size(); ++x)
    key[x] = proposal[x] > 0 ? target[x] / proposal[x] : std::numeric_limits<double>::infinity();
  return key;
}

std::vector<double> folded(std::span<const std::uint32_t> group, std::span<const double> distribution, int groups) {
  std::vector<NeumaierSum> sums(static_cast<std::size_t>(groups));
  for (std::size_t x = 0; x < distribution.size(); ++x) sums[group[x]].add(distribution[x]);
  std::vector<double> out;
  for (const NeumaierSum& sum : sums) out.push_back(sum.value());
  return out;
}

std::vector<std::uint64_t> folded(std::span<const std::uint32_t> group, std::span<const std::uint64_t> counts,
                                  int groups) {
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(groups));
  for (std::size_t x = 0; x < counts.size(); ++x) sums[group[x]] += counts[x];
  return sums;
}

namespace {

/// Returns the log of the smallest p of a depth group. In the last group this is -88, since p below e^-87 is read as 0.
double least_log(int group) {
  if (group == depth_groups - 1) return -88;
  return std::log(group % 2 == 1 ? 1.5 : 1.0) - (group + 1) / 2 * std::log(2.0);
}

struct Quad {
  double p = 0, q = 0, slack_p = 0, slack_q = 0;
};
struct Pair {
  double mass = 0, slack = 0;
};

constexpr std::size_t piece = 256;  // number of tokens that are grouped together

/// Four tables used in rotation, so that an addition seldom waits for the previous one.
template <class Sum, int groups>
using Fourfold = std::array<std::array<Sum, groups>, 4>;

/// Returns the first token of an id group.
std::size_t first_of(int group, std::size_t symbols) {
  return (static_cast<std::size_t>(group) * symbols + id_groups - 1) / id_groups;
}

/// Sums of one row: for each depth group over the whole row, and in total over the current block of ids. `groups`,
/// `values` and `moved` have an entry for each token of the last piece.
struct RowSums {
  Fourfold<double, depth_groups> depth{};
  std::array<Pair, 2> of_block{};
  std::array<std::int32_t, piece> groups{};
  std::array<double, piece> values{}, moved{};

  /// Computes groups and rounding errors of the `count` entries at `from` and adds the entries to the sums.
  void prepare(const float* from, std::size_t count, const DepthSlack& slack) {
    for (std::size_t i = 0; i < count; ++i) groups[i] = depth_group(from[i]);
    for (std::size_t i = 0; i < count; ++i) values[i] = double{from[i]};
    for (std::size_t i = 0; i < count; ++i) moved[i] = values[i] * slack[static_cast<std::size_t>(groups[i])];
    for (std::size_t i = 0; i < count; ++i) {
      depth[i % 4][static_cast<std::size_t>(groups[i])] += values[i];
      of_block[i % 2].mass += values[i];
      of_block[i % 2].slack += moved[i];
    }
  }

  void end_block(int block, GroupMasses<id_groups>& id) {
    id.mass[static_cast<std::size_t>(block)] = of_block[0].mass + of_block[1].mass;
    id.slack[static_cast<std::size_t>(block)] = of_block[0].slack + of_block[1].slack;
    of_block = {};
  }

  /// Writes the sums by depth. All tokens of a depth group have the same relative slack.
  void end(const DepthSlack& slack, GroupMasses<depth_groups>& to) const {
    for (std::size_t g = 0; g < depth_groups; ++g) {
      to.mass[g] = depth[0][g] + depth[1][g] + depth[2][g] + depth[3][g];
      to.slack[g] = to.mass[g] * slack[g];
    }
  }
};

/// Computes all groups except for the most likely token, in one pass.
void group_all(std::span<const float> p, std::span<const float> q, const DepthSlack& slack_p,
               const DepthSlack& slack_q, RowGroups& out) {
  const bool pair = !p.empty() && !q.empty();
  const std::size_t symbols = std::max(p.size(), q.size());
  Fourfold<Quad, ratio_groups> sums{};
  std::array<std::int32_t, piece> groups{};
  RowSums of_p, of_q;
  for (int block = 0; block < id_groups; ++block) {
    const std::size_t end = first_of(block + 1, symbols);
    for (std::size_t first = first_of(block, symbols); first < end; first += piece) {
      const std::size_t count = std::min(piece, end - first);
      if (!p.empty()) of_p.prepare(p.data() + first, count, slack_p);
      if (!q.empty()) of_q.prepare(q.data() + first, count, slack_q);
      if (!pair) continue;
      for (std::size_t i = 0; i < count; ++i) groups[i] = ratio_group(p[first + i], q[first + i]);
      for (std::size_t i = 0; i < count; ++i) {
        Quad& sum = sums[i % 4][static_cast<std::size_t>(groups[i])];
        sum.p += of_p.values[i];
        sum.q += of_q.values[i];
        sum.slack_p += of_p.moved[i];
        sum.slack_q += of_q.moved[i];
      }
    }
    of_p.end_block(block, out.id_p);
    of_q.end_block(block, out.id_q);
  }
  of_p.end(slack_p, out.depth_p);
  of_q.end(slack_q, out.depth_q);
  for (std::size_t g = 0; pair && g < ratio_groups; ++g) {
    out.ratio_p.mass[g] = sums[0][g].p + sums[1][g].p + sums[2][g].p + sums[3][g].p;
    out.ratio_q.mass[g] = sums[0][g].q + sums[1][g].q + sums[2][g].q + sums[3][g].q;
    out.ratio_p.slack[g] = sums[0][g].slack_p + sums[1][g].slack_p + sums[2][g].slack_p + sums[3][g].slack_p;
    out.ratio_q.slack[g] = sums[0][g].slack_q + sums[1][g].slack_q + sums[2][g].slack_q + sums[3][g].slack_q;
    out.overlap += g < ratio_groups / 2 ? out.ratio_p.mass[g] : out.ratio_q.mass[g];
  }
}

}  // namespace

DepthSlack depth_slack(RowRounding rounding, double log_sum) {
  DepthSlack result;
  for (int g = 0; g < depth_groups; ++g) {
    const double log_p = -least_log(g), stored = log_p + std::abs(log_sum);
    // Below its smallest normal number, 2^-14, float16 has a spacing of 2^-24.
    const double half_unit = stored > 0x1p-14 ? std::exp2(std::floor(std::log2(stored)) - rounding.significant_bits)
                                              : std::exp2(-14 - rounding.significant_bits);
    const double h = (rounding.logarithms ? half_unit : 0x1p-24) + 0x1p-22 + 0x1p-24 * log_p;
    result[static_cast<std::size_t>(g)] = std::expm1(h);
  }
  return result;
}

void group_rows(std::span<const float> p, std::span<const float> q, const DepthSlack& slack_p,
                const DepthSlack& slack_q, RowGroups& out) {
  out = RowGroups{};
  group_all(p, q, slack_p, slack_q, out);
  if (!p.empty()) {
    // The bits of non-negative floats compare as the floats do, and compilers vectorise integer maxima.
    std::int32_t most = 0, count = 0;
    for (const float value : p) most = std::max(most, bit_cast<std::int32_t>(value));
    for (const float value : p) count += bit_cast<std::int32_t>(value) == most;
    out.largest_p = bit_cast<float>(most);
    const double total_slack = std::accumulate(out.id_p.slack.begin(), out.id_p.slack.end(), 0.0);
    const double total = std::accumulate(out.id_p.mass.begin(), out.id_p.mass.end(), 0.0);
    const double mass = count * double{out.largest_p};
    const double moved = mass * slack_p[static_cast<std::size_t>(depth_group(out.largest_p))];
    out.top.mass = {mass, std::max(total - mass, 0.0)};
    out.top.slack = {moved, std::max(total_slack - moved, 0.0)};
  }
  if (p.empty() || q.empty()) return;
  for (std::size_t x = 0; x < p.size(); ++x)
    if (p[x] == out.largest_p) {
      out.top_overlap += double{std::min(p[x], q[x])};
      out.top_q += double{q[x]};
      out.top_slack_q += double{q[x]} * slack_q[static_cast<std::size_t>(depth_group(q[x]))];
    }
}

}  // namespace draftproof
