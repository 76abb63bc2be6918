#include <draftproof/studies/pair_search.hpp>

#include <algorithm>

#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {

namespace {

using Law = std::vector<double>;

struct Point {
  double value;
  Law p, q;
};

/// All laws of V tokens whose masses are multiples of 1 / n.
std::vector<Law> grid(int vocabulary, int n) {
  std::vector<Law> laws;
  std::vector<int> parts(static_cast<std::size_t>(vocabulary), 0);
  const auto fill = [&](auto& self, std::size_t x, int left) -> void {
    if (x + 1 == parts.size()) {
      parts[x] = left;
      Law law;
      for (const int part : parts) law.push_back(static_cast<double>(part) / n);
      laws.push_back(std::move(law));
      return;
    }
    for (parts[x] = 0; parts[x] <= left; ++parts[x]) self(self, x + 1, left - parts[x]);
  };
  fill(fill, 0, n);
  return laws;
}

/// Random numbers, uniform in -1 .. 1.
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

Law moved(const Law& law, double step, Moves& moves) {
  Law next = law;
  double sum = 0;
  for (double& mass : next) {
    mass = std::max(0.0, mass + step * moves.next());
    sum += mass;
  }
  if (!(sum > 0)) return law;
  for (double& mass : next) mass /= sum;
  return next;
}

constexpr int rounds = 200, tries = 100;
constexpr std::size_t starts = 32, starts_of_one_target = 8;

/// Refines a point by random moves. The step shrinks after a round without improvement and grows after one with it,
/// since on a ridge few directions improve. Returns the number of evaluations of f.
std::uint64_t refine(Point& at, const PairFunction& f, double step, Moves moves, const StudyOptions& options) {
  constexpr double shrink = 0.7, grow = 1.5, smallest = 1e-12;
  constexpr double negligible = 1e-11;  // at a flat minimum, rounding alone improves the value for ever
  std::uint64_t evaluations = 0;
  for (int round = 0; round < rounds && step > smallest && !options.stopped(); ++round) {
    const double before = at.value;
    for (int n = 0; n < tries; ++n, ++evaluations) {
      Law p = moved(at.p, step, moves), q = moved(at.q, step, moves);
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
  const std::vector<Law> laws = grid(vocabulary, resolution);
  const int threads = options.threads > 0 ? options.threads : default_threads();
  const auto smaller = [](const Point& a, const Point& b) { return a.value < b.value; };
  std::vector<std::vector<Point>> of_target(laws.size());
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (options.stopped()) continue;
    for (const Law& q : laws) of_target[i].push_back({f(laws[i], q), laws[i], q});
    std::stable_sort(of_target[i].begin(), of_target[i].end(), smaller);
    of_target[i].resize(std::min(starts_of_one_target, of_target[i].size()));
  }
  LeastPair found;
  found.complete = !options.stopped();
  if (!found.complete) return found;
  std::vector<Point> best;
  for (const auto& points : of_target) best.insert(best.end(), points.begin(), points.end());
  std::stable_sort(best.begin(), best.end(), smaller);
  best.resize(std::min(starts, best.size()));
  std::uint64_t refinements = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads) reduction(+ : refinements)
  for (std::size_t i = 0; i < best.size(); ++i)
    refinements += refine(best[i], f, 1.0 / resolution, Moves(options.seed, i), options);
  const auto least = std::min_element(best.begin(), best.end(), smaller);
  found.value = least->value;
  found.p = least->p;
  found.q = least->q;
  found.evaluations = laws.size() * laws.size() + refinements;
  found.complete = !options.stopped();
  return found;
}

}  // namespace draftproof
