#include <draftproof/doors/gate/edge_rows.hpp>

namespace draftproof::doors {

namespace {

constexpr int period = 20, equal_at = 3, short_at = 13;
constexpr std::uint64_t apart = 1 << 30;  // from the dice of generated instances

WeightPair equal_rows(InstanceRng& dice, int turn) {
  std::vector<int> weights{0, 1};
  if (turn % 2 == 1) weights = {0, dice.between(1, 3), dice.between(1, 3)};
  return {weights, weights};
}

std::optional<WeightPair> short_rows(InstanceRng& dice, int turn, Dtype dtype) {
  // One triple in thirty has a short sum in float, one in 1,500 a short one over its sum in double.
  constexpr int attempts = 20'000, largest = 30;
  const bool normalised = turn % 2 == 1;
  for (int i = 0; i < attempts; ++i) {
    const int a = dice.between(1, largest), b = dice.between(1, largest), c = dice.between(1, largest);
    const std::vector<int> weights{a, b, c, 0};
    // Programs add rows of 16-bit numbers in float.
    if (!(dtype == Dtype::float64 ? ends_short<double>(weights, normalised) : ends_short<float>(weights, normalised)))
      continue;
    if (turn / 2 % 2 == 1) return WeightPair{weights, {a, b, c, a + b + c}};
    return WeightPair{weights, {0, 0, 0, 1}};
  }
  return std::nullopt;
}

}  // namespace

std::optional<WeightPair> edge_rows(std::uint64_t seed, int n, Dtype dtype) {
  const int turn = n / period;
  InstanceRng dice(seed, apart + static_cast<std::uint64_t>(n));
  if (n % period == equal_at) return equal_rows(dice, turn);
  if (n % period == short_at) return short_rows(dice, turn, dtype);
  return std::nullopt;
}

int number_without_edges(int n) {
  const auto before = [n](int at) { return (n + period - 1 - at) / period; };
  return n - before(equal_at) - before(short_at);
}

}  // namespace draftproof::doors
