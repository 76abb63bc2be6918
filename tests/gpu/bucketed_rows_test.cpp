// Compares BucketedRow on a team of fibers, in place of a device's threads, with the host: the distribution of the
// greatest path's next token, masses below tokens, the target's residual and draws from the residual. The rows are of
// two rare kinds: some have more buckets at crossings than the list of such buckets holds, the others have a single
// ratio.
#include <cmath>
#include <cstdio>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <draftproof/gpu/steps/node_distributions.cuh>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/tests/support/gpu/host_team.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/verifiers/paths/greatest/bucketed_row.hpp>

namespace {

using namespace draftproof;

enum class Shape { apart, equal, tangent, outer };

/// Returns p followed by q.
std::vector<float> rows_of(Shape shape, int vocabulary, const MaxOfKPaths<double>& max_of_k) {
  std::mt19937 words(static_cast<std::uint32_t>(vocabulary));
  std::normal_distribution<double> normal;
  std::vector<double> p, q;
  double p_sum = 0, q_sum = 0;
  for (int x = 0; x < vocabulary; ++x) {
    const double logit = normal(words), shift = (shape == Shape::outer ? 12 : 0.7) * normal(words);
    q_sum += q.emplace_back(x % 13 == 5 ? 0 : std::exp(logit));
    p_sum += p.emplace_back(shape == Shape::equal ? q.back() : x % 11 == 3 ? 0 : std::exp(logit + shift));
  }
  if (shape == Shape::tangent) {  // p is the distribution of the greatest of K draws of q
    double below = 0;
    p_sum = 0;
    for (int x = 0; x < vocabulary; ++x) {
      const double own = q[static_cast<std::size_t>(x)] / q_sum;
      p_sum += p[static_cast<std::size_t>(x)] = max_of_k.skewed(own, below);
      below += own;
    }
  }
  std::vector<float> rows;
  for (const double weight : p) rows.push_back(static_cast<float>(weight / p_sum));
  for (const double weight : q) rows.push_back(static_cast<float>(weight / q_sum));
  return rows;
}

struct Seen {
  double below = 0, total = 0, distribution = 0, below_again = 0;
  Fixed excess = 0;
  int crossing = 0, end = 0;
  Token drawn[4] = {};
  bool operator==(const Seen&) const = default;
};

template <class L>
Seen seen(const L& distributions, const MaxOfKPaths<double>& max_of_k, Token x, double c) {
  const PlacedToken placed = BucketedRow<L>::placed(distributions, max_of_k, x);
  const BucketedRow<L> row(distributions, placed);
  typename BucketedRow<L>::Excess excess;
  row.excess(c, excess);
  Seen seen{placed.below,       placed.total,
            row.distribution(), 0,
            excess.total,       excess.lowest.crossing.size,
            excess.lowest.end,  {}};
  for (std::uint64_t i = 0; i < std::size(seen.drawn); ++i) {
    seen.drawn[i] = row.draw(c, excess, i << 62 | 0x123456789abcdef);
    if (seen.drawn[i] >= 0) seen.below_again += BucketedRow<L>::placed(distributions, max_of_k, seen.drawn[i]).below;
  }
  return seen;
}

struct Counts {
  int looks = 0, mismatches = 0, full_lists = 0;
};

void compare(Shape shape, int vocabulary, const MaxOfKPaths<double>& max_of_k, double c,
             const parity::TeamShape& team_shape, Counts& counts) {
  const std::vector<float> rows = rows_of(shape, vocabulary, max_of_k);
  const auto size = static_cast<std::size_t>(vocabulary);
  const std::span<const float> both{rows};
  const FreshRows<float> host(both.first(size), both.last(size));
  const Token x = vocabulary / 2;
  const Seen wanted = seen(host, max_of_k, x, c);

  gpu::StepBatch<float> batch;
  const gpu::TreeSpan span;
  batch.vocabulary = vocabulary;
  batch.trees = &span;
  batch.target = rows.data();
  batch.proposal = rows.data() + vocabulary;
  parity::HostTeam team(team_shape);
  std::vector<Seen> found(static_cast<std::size_t>(team_shape.threads()));
  team.run([&](const parity::HostThread& thread) {
    using Rows = gpu::TreeRows<float, parity::HostThread>;
    const Rows node_rows(batch, 0, thread);
    found[static_cast<std::size_t>(thread.index())] =
        seen(gpu::NodeDistributions<float, parity::HostThread>(node_rows, 0), max_of_k, x, c);
  });
  ++counts.looks;
  counts.full_lists += wanted.end < OrderBuckets::count;
  for (const Seen& thread : found)
    if (!(thread == wanted)) {
      std::printf("mismatch: shape %d, V = %d, K = %d, c = %g, team %d x %d x %d: excess %lld, expected %lld\n",
                  static_cast<int>(shape), vocabulary, max_of_k.paths, c, team_shape.partitions, team_shape.warps,
                  team_shape.lanes, static_cast<long long>(thread.excess), static_cast<long long>(wanted.excess));
      ++counts.mismatches;
      return;
    }
}

}  // namespace

int main() {
  return draftproof::parity::outcome([] {
    Counts counts;
    // The last team has so many warps that buckets are processed in pairs.
    const std::vector<parity::TeamShape> teams{{1, 2, 4}, {1, 1, 4}, {4, 2, 4}, {1, 2, 16}, {16, 8, 1}};
    const std::vector<MaxOfKPaths<double>> fans{{2, 0, 1}, {8, 0, 1}, {4, 0.05, 0.95}};
    for (const Shape shape : {Shape::apart, Shape::equal, Shape::tangent, Shape::outer})
      for (const auto& max_of_k : fans)
        for (const int vocabulary : {3, 97, 600})
          for (const double c : {0.6, 1.0})
            compare(shape, vocabulary, max_of_k, c, teams[static_cast<std::size_t>(counts.looks) % teams.size()],
                    counts);
    std::printf("bucketed rows: %d looks, %d with a full list of crossing buckets, %d mismatches\n", counts.looks,
                counts.full_lists, counts.mismatches);
    return counts.mismatches == 0 && counts.full_lists > 0 ? 0 : 1;
  });
}
