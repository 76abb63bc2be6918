#include <draftproof/bench/studies/worst_pairs.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <boost/math/tools/minima.hpp>

#include <draftproof/bench/studies/positions.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof {

namespace worst {

namespace {

/// Returns the zero of a continuous function that is negative at `low` and positive at `high`, to neighbouring doubles.
template <class Function>
double zero_of(Function f, double low, double high) {
  for (double middle = low + (high - low) / 2; low < middle && middle < high; middle = low + (high - low) / 2)
    (f(middle) < 0 ? low : high) = middle;
  return high;
}

}  // namespace

Minimum k_seq(int drafts) {
  const double K = drafts;
  const auto tangent = [K](double q) {
    const double s = q * (K - 1) / K;
    return K * std::pow(q, K - 1) * (1 - s) - (1 - std::pow(s, K));
  };
  const double q = zero_of(tangent, 0, 1);
  return {q, 1 - std::pow(q * (K - 1) / K, K)};
}

double k_seq_limit() {
  const double e = std::exp(1.0);
  return 1 - std::exp(-zero_of([e](double x) { return std::exp(x) - 1 - e * x; }, 1, 2));
}

Minimum recursive_rejection(int drafts) {
  const double K = drafts;
  const double q = std::pow(K / (2 * K - 1), 1 / (K - 1));
  return {q, 1 - std::pow(q, K) * (K - 1) / (2 * K - 1)};
}

Minimum numerically(const Accepts& accepts, int drafts) {
  const auto pair_of = [drafts](double top) { return std::pow(top, 1.0 / drafts); };
  const auto at = [&](double top) {
    const double q = pair_of(top), rest = -std::expm1(std::log(top) / drafts);
    return accepts({1 - top, top}, {rest, q}, drafts);
  };
  std::uintmax_t steps = 200;
  const auto [top, value] = boost::math::tools::brent_find_minima(at, 0x1p-10, 1 - 0x1p-10, 26, steps);
  return {pair_of(top), value};
}

}  // namespace worst

namespace {

using Distribution = std::vector<double>;

struct Point {
  double value;
  Distribution p, q;
};

/// Returns all distributions of V tokens whose masses are multiples of 1 / n.
std::vector<Distribution> grid(int vocabulary, int n) {
  std::vector<Distribution> distributions;
  std::vector<int> parts(static_cast<std::size_t>(vocabulary), 0);
  const auto fill = [&](auto& self, std::size_t x, int left) -> void {
    if (x + 1 == parts.size()) {
      parts[x] = left;
      Distribution distribution;
      for (const int part : parts) distribution.push_back(static_cast<double>(part) / n);
      distributions.push_back(std::move(distribution));
      return;
    }
    for (parts[x] = 0; parts[x] <= left; ++parts[x]) self(self, x + 1, left - parts[x]);
  };
  fill(fill, 0, n);
  return distributions;
}

/// Generates random numbers that are uniform in -1 .. 1.
class Moves {
 public:
  Moves(std::uint64_t seed, std::uint64_t start) : seed_{seed}, start_{start} {}
  double next() {
    constexpr std::uint32_t purpose = 0x200;
    const std::uint64_t bits = philox_pair(seed_, start_, slot_++, purpose).first >> 11;
    return static_cast<double>(bits) * 0x1p-52 - 1;
  }

 private:
  std::uint64_t seed_, start_;
  std::uint32_t slot_ = 0;
};

Distribution moved(const Distribution& distribution, double step, Moves& moves) {
  Distribution next = distribution;
  double sum = 0;
  for (double& mass : next) {
    mass = std::max(0.0, mass + step * moves.next());
    sum += mass;
  }
  if (!(sum > 0)) return distribution;
  for (double& mass : next) mass /= sum;
  return next;
}

constexpr int rounds = 200, tries = 100;
constexpr std::size_t starts = 32, starts_of_one_target = 8;

/// Refines a point by random moves. The step shrinks after a round without improvement and grows after a round with an
/// improvement, since on a ridge few directions improve. Returns the number of evaluations of f.
std::uint64_t refine(Point& at, const PairFunction& f, double step, Moves moves, const StudyOptions& options) {
  constexpr double shrink = 0.7, grow = 1.5, smallest = 1e-12;
  constexpr double negligible = 1e-11;  // smaller gains are rounding errors, which would go on forever
  std::uint64_t evaluations = 0;
  for (int round = 0; round < rounds && step > smallest && !options.stopped(); ++round) {
    const double before = at.value;
    for (int n = 0; n < tries; ++n, ++evaluations) {
      Distribution p = moved(at.p, step, moves), q = moved(at.q, step, moves);
      const double value = f(p, q);
      if (!(value < at.value)) continue;
      at = {value, std::move(p), std::move(q)};
    }
    step *= at.value < before - negligible ? grow : shrink;
  }
  return evaluations;
}

}  // namespace

LeastPair least_pair(const PairFunction& f, int vocabulary, int resolution, const StudyOptions& options) {
  const std::vector<Distribution> distributions = grid(vocabulary, resolution);
  const auto smaller = [](const Point& a, const Point& b) { return a.value < b.value; };
  const auto keep = [&](std::vector<Point>& points, std::size_t most) {
    std::stable_sort(points.begin(), points.end(), smaller);
    points.resize(std::min(most, points.size()));
  };
  std::vector<std::vector<Point>> of_target(distributions.size());
  for_each_position(options, distributions.size(), [&](std::size_t i) {
    for (const Distribution& q : distributions) of_target[i].push_back({f(distributions[i], q), distributions[i], q});
    keep(of_target[i], starts_of_one_target);
  });
  LeastPair found;
  found.complete = !options.stopped();
  if (!found.complete) return found;
  std::vector<Point> best;
  for (const auto& points : of_target) best.insert(best.end(), points.begin(), points.end());
  keep(best, starts);
  std::vector<std::uint64_t> refinements(best.size());
  for_each_position(options, best.size(), [&](std::size_t i) {
    refinements[i] = refine(best[i], f, 1.0 / resolution, Moves(options.seed, i), options);
  });
  const auto least = std::min_element(best.begin(), best.end(), smaller);
  found.value = least->value;
  found.p = least->p;
  found.q = least->q;
  found.evaluations = distributions.size() * distributions.size();
  for (const std::uint64_t moves : refinements) found.evaluations += moves;
  found.complete = !options.stopped();
  return found;
}

}  // namespace draftproof
