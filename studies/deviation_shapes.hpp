// Laws at a given total variation from p in six shapes, and a verifier that emits such a law independently of the
// drafts: deviations that a gate must see without a law of paths.
//
//   d        distance     total variation, exactly half the L1 distance
//   shape    up, down     two sets of tokens; d moves from the second to the first, within each in proportion to p
//
// A set must not be emptied: d is at most the mass of `down`. Reference: as in wrong_programs.hpp, at d = 1e-3.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/sampling/alias_table.hpp>
#include <draftproof/studies/contrived_verifier.hpp>

namespace draftproof {

enum class Shape { along_ratio, random_signs, head_against_tail, top_to_second, one_rank, rare_signs };

struct ShapeReference {
  Shape shape;
  std::string_view about;
  double reference;  ///< log2
};

inline constexpr std::array<ShapeReference, 6> deviation_shapes{{
    {Shape::along_ratio, "along p/q, half up, half down", 25},
    {Shape::random_signs, "random signs, proportional to p", 27},
    {Shape::head_against_tail, "head against tail", 26},
    {Shape::top_to_second, "top token to second token", 22},
    {Shape::one_rank, "one mid-rank token", 15},
    {Shape::rare_signs, "random signs on the rare half", 25},
}};

/// +1: the token gains mass, -1: it loses mass, 0: neither.
inline std::vector<int> signs_of(Shape shape, const RatioTable& table, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(table.vocabulary());
  std::vector<Token> by_target(size);
  std::iota(by_target.begin(), by_target.end(), Token{0});
  std::stable_sort(by_target.begin(), by_target.end(),
                   [&](Token a, Token b) { return table.target(a) > table.target(b); });
  std::vector<int> signs(size, 0);
  const auto sign = [&signs](Token x) -> int& { return signs[static_cast<std::size_t>(x)]; };
  // The first tokens of an order up to half the mass gain, the others lose.
  const auto halves = [&](std::span<const Token> order) {
    double reached = 0;
    for (const Token x : order) {
      sign(x) = reached < 0.5 ? 1 : -1;
      reached += table.target(x);
    }
  };
  const auto random = [&](std::span<const Token> tokens) {
    for (const Token x : tokens)
      sign(x) = philox_pair(seed, static_cast<std::uint64_t>(x), 0, 0x53484150).first >> 63 ? 1 : -1;
  };
  switch (shape) {
    case Shape::along_ratio:
      halves(table.order());
      break;
    case Shape::random_signs:
      random(by_target);
      break;
    case Shape::head_against_tail:
      halves(by_target);
      break;
    case Shape::top_to_second:
      sign(by_target[0]) = -1;
      sign(by_target[1]) = 1;
      break;
    case Shape::one_rank:
      signs.assign(size, -1);
      sign(by_target[size / 2]) = 1;
      break;
    case Shape::rare_signs:
      random(std::span<const Token>(by_target).subspan(size / 2));
      break;
  }
  return signs;
}

inline std::vector<double> deviating_law(Shape shape, const RatioTable& table, double distance, std::uint64_t seed) {
  const std::vector<int> signs = signs_of(shape, table, seed);
  double up = 0, down = 0;
  for (std::size_t x = 0; x < signs.size(); ++x)
    if (signs[x] != 0) (signs[x] > 0 ? up : down) += table.target(static_cast<Token>(x));
  std::vector<double> law;
  for (std::size_t x = 0; x < signs.size(); ++x) {
    const double p = table.target(static_cast<Token>(x));
    law.push_back(signs[x] == 0 ? p : signs[x] > 0 ? p * (1 + distance / up) : p * (1 - distance / down));
  }
  return law;
}

/// A verifier that draws from `law` and ignores the drafts.
inline std::shared_ptr<const AnyVerifier> emitter_of(const std::vector<double>& law) {
  return std::make_shared<RuledVerifier>(
      [alias = AliasTable(quantise(law))](const RatioTable&, std::span<const Token>, Philox& random) {
        return Verdict{alias.draw(random.next(Purpose::emit)), none_accepted};
      });
}

}  // namespace draftproof
