#include <draftproof/adapters/gate/edge_rows.hpp>

#include <cmath>
#include <utility>

#include <draftproof/captures/stored_format.hpp>
#include <draftproof/properties/instances/instance_text.hpp>

namespace draftproof::adapters {

namespace {

constexpr int period = 20, equal_at = 3, sure_at = 5, short_at = 13, short_over_sum_at = 16;
constexpr std::uint64_t apart = 1 << 30;  // makes the random numbers distinct from those of generated instances

WeightPair equal_rows(InstanceRng& dice, int turn) {
  std::vector<int> weights{0, 1};
  if (turn % 2 == 1) weights = {0, dice.between(1, 3), dice.between(1, 3)};
  return {weights, weights};
}

std::optional<WeightPair> short_rows(InstanceRng& dice, int turn, Dtype dtype, bool normalised) {
  // The running sum ends below 1 for one random triple of weights in 30 in float, and for one in 1,500 in double after
  // normalisation.
  constexpr int attempts = 20'000, largest = 30;
  for (int i = 0; i < attempts; ++i) {
    const int a = dice.between(1, largest), b = dice.between(1, largest), c = dice.between(1, largest);
    const std::vector<int> weights{a, b, c, 0};
    // Rows of 16 bits are tested in float too, because programs add them in float.
    if (!(dtype == Dtype::float64 ? ends_short<double>(weights, normalised) : ends_short<float>(weights, normalised)))
      continue;
    if (turn % 2 == 1) return WeightPair{weights, {a, b, c, a + b + c}};
    return WeightPair{weights, {0, 0, 0, 1}};
  }
  return std::nullopt;
}

WeightPair sure_rows(InstanceRng& dice, int turn) {
  WeightPair rows{{19, 1}, {99, 1}};
  if (turn > 1) {
    constexpr int sum = 200;
    const int less = dice.between(2, sum / 4 - 1), least = dice.between(1, less - 1);  // p and q of the other tokens
    rows = {{sum - less, less}, {sum - least, least}};
    if (dice.chance(1, 2))
      for (std::vector<int>* row : {&rows.target, &rows.proposal}) {
        const int part = dice.between(0, row->back());
        row->back() -= part;
        row->push_back(part);
      }
    const auto y = static_cast<std::size_t>(dice.between(0, static_cast<int>(rows.target.size()) - 1));
    std::swap(rows.target[0], rows.target[y]);
    std::swap(rows.proposal[0], rows.proposal[y]);
  }
  if (turn % 2 == 1) std::swap(rows.target, rows.proposal);
  return rows;
}

StoredFormat format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::float32:
      return float32;
    case Dtype::float16:
      return float16;
    case Dtype::bfloat16:
      return bfloat16;
    case Dtype::float64:
      break;
  }
  return float64;
}

/// Number of entries with p < q, and of entries with p > q, as the format stores them; `above` is 9 if p exceeds q by
/// more than a unit in the last place.
struct Differences {
  int below = 0, above = 0;
  bool operator==(const Differences&) const = default;
};

/// Weights that depend on n: n step + start.
struct Line {
  std::vector<int> step, start;
  int at(std::size_t x, int n) const { return start[x] + n * step[x]; }
  double total(int n) const {
    double sum = 0;
    for (std::size_t x = 0; x < start.size(); ++x) sum += at(x, n);
    return sum;
  }
  std::vector<int> row(int n) const {
    std::vector<int> weights;
    for (std::size_t x = 0; x < start.size(); ++x) weights.push_back(at(x, n));
    return weights;
  }
};

Differences differences(const Line& target, const Line& proposal, int n, const StoredFormat& format) {
  constexpr int none_wanted = 9;
  const double of_p = target.total(n), of_q = proposal.total(n);
  Differences found;
  for (std::size_t x = 0; x < target.start.size(); ++x) {
    const double p = format.round(target.at(x, n) / of_p), q = format.round(proposal.at(x, n) / of_q);
    found.below += p < q;
    found.above += p > q ? p == q + format.unit(q) ? 1 : none_wanted : 0;
  }
  return found;
}

/// Returns the weights p and q at the least n, or at an n within a thousandth of it, that have these differences;
/// nothing if there is no such n.
std::optional<WeightPair> least_pair(const Line& p, const Line& q, const Differences& wanted,
                                     const StoredFormat& format) {
  const int steepest = std::max(*std::ranges::max_element(p.step), *std::ranges::max_element(q.step));
  int last = InstanceReader::most_weight / steepest - 4, before = 1;
  const auto at = [&](int n) { return differences(p, q, n, format); };
  for (int n = 2; n <= last; before = n, n += 1 + n / 1024) {
    const Differences found = at(n);
    if (found == Differences{})
      last = std::min(last, 16 * std::min(n, last / 16));  // rows that are equal at n rarely differ at larger n
    if (found != wanted) continue;
    while (n - before > 1) {
      const int middle = before + (n - before) / 2;
      (at(middle) == wanted ? n : before) = middle;
    }
    return WeightPair{p.row(n), q.row(n)};
  }
  return std::nullopt;
}

/// Returns the k-th near rows of a seed.
std::optional<EdgeRows> near_rows(InstanceRng& dice, int k, Dtype dtype) {
  constexpr int attempts = 64;
  enum Kind { one_hot, beside, balanced } kind = static_cast<Kind>(k % 3);
  if (dtype == Dtype::float64) kind = balanced;  // the other kinds need an n of 2^54, or a rare n near 10^8
  for (int i = 0; i < attempts; ++i) {
    const auto size = static_cast<std::size_t>(k == 0 ? 2 : dice.between(2, 4));
    std::vector<int> first(size), step(size), start(size);
    first[0] = 1;
    for (int& u : step) u = dice.between(1, 3);
    for (std::size_t x = kind == balanced ? 0 : 1; x < size; ++x)
      start[x] = dice.between(x + 1 == size, k == 0 ? 1 : 2);
    const int others = static_cast<int>(std::ranges::count_if(start, [](int a) { return a > 0; }));
    Differences wanted{.below = others, .above = k < 2 || kind == one_hot ? 0 : dice.between(0, 1)};
    if (kind == balanced) wanted.below = dice.between(1, static_cast<int>(size) - std::max(1, wanted.above));
    const Line p{kind == one_hot  ? std::vector<int>(size)
                 : kind == beside ? first
                                  : step,
                 kind == one_hot ? first : start};
    Line q{kind == balanced ? step : first, start};
    if (kind != one_hot)
      for (std::size_t x = 0; x < size; ++x) q.start[x] -= q.step[x];
    auto rows = least_pair(p, q, wanted, format_of(dtype));
    if (!rows) continue;
    for (std::size_t x = size; x > 1; --x) {  // the first rows are reversed, the others shuffled
      const auto y = static_cast<std::size_t>(k == 0 ? 0 : dice.between(0, static_cast<int>(x) - 1));
      std::swap(rows->target[x - 1], rows->target[y]);
      std::swap(rows->proposal[x - 1], rows->proposal[y]);
    }
    return EdgeRows{std::move(*rows), k > 0 && dice.chance(1, 2), k % 2 == 1};
  }
  return std::nullopt;
}

}  // namespace

std::optional<EdgeRows> edge_rows(std::uint64_t seed, int n, Dtype dtype) {
  const int turn = n / period;
  InstanceRng dice(seed, apart + static_cast<std::uint64_t>(n));
  if (has_near_rows(n)) return near_rows(dice, n / near_every, dtype);
  if (n % period == equal_at) return EdgeRows{equal_rows(dice, turn)};
  if (n % period == sure_at)
    return EdgeRows{.rows = sure_rows(dice, turn), .most_drafts = turn % 4 == 3, .below_root = turn % 4 == 2};
  if (const int at = n % period; at == short_at || at == short_over_sum_at)
    if (auto rows = short_rows(dice, turn, dtype, at == short_over_sum_at)) return EdgeRows{std::move(*rows)};
  return std::nullopt;
}

std::optional<EdgeRows> edge_rows(const Declaration& declaration, std::uint64_t seed, int n) {
  const Dtype dtype = declaration.dtypes.front();
  const int at = n % period, turn = n / period;
  // Every second turn has the short rows, unless the program draws nothing.
  const bool always = declaration.always_greedy();
  if (!always && turn % 2 == 1) return edge_rows(seed, n, dtype);
  const bool odd = turn / (always ? 1 : 2) % 2 == 1;
  const bool fine = dtype == Dtype::float32 || dtype == Dtype::float64;
  if (declaration.greedy != Greedy::no && fine && (at == short_at || (at == short_over_sum_at && always))) {
    constexpr int many = 1 << 16;
    EdgeRows rows{.rows = {{many, many + 1, many}, {1, 1, 1}}, .below_root = (at == short_at) == odd};
    // Of two tokens an argmax that takes equal ones for the first, or for the last, emits the wrong one.
    if (declaration.most_vocabulary == 2)
      rows.rows = {declaration.greedy == Greedy::last ? std::vector{many + 1, many} : std::vector{many, many + 1},
                   {1, 1}};
    return rows;
  }
  const bool truncates =
      declaration.takes(Setting::top_k) || declaration.takes(Setting::top_p) || declaration.takes(Setting::min_p);
  if (truncates && at == short_over_sum_at)
    return EdgeRows{odd ? WeightPair{{2, 0, 1, 1}, {1, 1, 1, 1}} : WeightPair{{1, 2, 0}, {1, 1, 1}}};
  return edge_rows(seed, n, dtype);
}

int number_without_edges(int n) {
  const auto before = [n](int at) { return (n + period - 1 - at) / period; };
  return n - before(equal_at) - before(short_at) - before(short_over_sum_at);
}

}  // namespace draftproof::adapters
