// Samplers as subjects of checks. A sampler draws with one word from a prepared table, or with one word a token in a
// race.
//
//   piece    interval of words with one token, up to the first word of the next piece
//   clock    a racing token's time at weight 1, a function of its word
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <draftproof/properties/components/component_check.hpp>
#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/sampler/sampler_case.hpp>
#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

struct WordPiece {
  std::uint64_t first;
  Token token;
};

/// A type-erased sampler.
class Sampler {
 public:
  using Draws = std::vector<Token> (*)(std::span<double> row, std::span<const std::uint64_t> words);
  using Pieces = std::vector<WordPiece> (*)(std::span<double> row);
  using Clock = double (*)(std::uint64_t word);

  Sampler(const ComponentInfo& info, Draws draws_function, Pieces pieces_function, Clock clock_function)
      : info_{info}, draws_{draws_function}, pieces_{pieces_function}, clock_{clock_function} {}

  const ComponentInfo& info() const { return info_; }
  /// Whether it is a race, with one word a token.
  bool races() const { return clock_ != nullptr; }
  /// One token for each word, or for each V words of a race. A race may write to its row.
  std::vector<Token> draw(std::span<double> row, std::span<const std::uint64_t> words) const {
    return draws_(row, words);
  }
  /// The law of the program over all words, in ascending order, for samplers with one word a draw.
  std::vector<WordPiece> pieces(std::span<double> row) const { return pieces_(row); }
  /// The clock of a word, for races.
  double clock(std::uint64_t word) const { return clock_(word); }

 private:
  const ComponentInfo& info_;
  Draws draws_;
  Pieces pieces_;
  Clock clock_;
};

template <class S>
concept RacingSampler = requires(std::uint64_t word) {
  S::clock(word);
};

template <class S>
Sampler sampler() {
  if constexpr (RacingSampler<S>) {
    const auto draws = [](std::span<double> row, std::span<const std::uint64_t> words) {
      std::vector<Token> tokens;
      for (auto word = words.begin(); word != words.end();) {
        auto next = [&word] { return *word++; };
        tokens.push_back(S{}.draw(row, next));
      }
      return tokens;
    };
    return {S::info, draws, nullptr, &S::clock};
  } else {
    const auto draws = [](std::span<double> row, std::span<const std::uint64_t> words) {
      const auto table = S{}.prepare(row);
      std::vector<Token> tokens;
      for (const std::uint64_t word : words) tokens.push_back(table.draw(word));
      return tokens;
    };
    const auto pieces = [](std::span<double> row) {
      std::vector<WordPiece> found;
      S{}.prepare(row).pieces([&found](std::uint64_t first, Token token) { found.push_back({first, token}); });
      return found;
    };
    return {S::info, draws, pieces, nullptr};
  }
}

struct SamplerGroup {
  static constexpr std::string_view name = "sampler";
  using Subject = Sampler;
  using Case = SamplerCase;

  /// Short rows: 300 a round, and every (a b c 0) up to 3. Sums of three shares are the shortest that miss 1 by
  /// rounding; one in twenty does. Every second row is longer, and its last token has no weight: more sums miss 1.
  static std::vector<SamplerCase> cases(std::uint64_t seed, int rounds) {
    std::vector<SamplerCase> cases;
    for (int n = 0; n < 300 * rounds; ++n) {
      InstanceRng dice(seed, static_cast<std::uint64_t>(n));
      SamplerCase one;
      const bool longer = n % 2 == 1;
      for (int x = longer ? dice.between(5, 12) : dice.between(2, 4); x > 0; --x)
        one.weights.push_back(dice.chance(1, 3) ? 0 : dice.between(1, longer ? 60 : 3));
      if (longer) one.weights.back() = 0;
      repair_weights(one.weights, 1, dice);
      cases.push_back(std::move(one));
    }
    for (int n = 0; n < 27; ++n) cases.push_back({.weights = {1 + n / 9, 1 + n / 3 % 3, 1 + n % 3, 0}});
    return cases;
  }
};

// Registration of samplers and their checks.

template <class C>
void register_sampler_component() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<SamplerGroup>>(sampler<C>(), Kind::verifier));
}
template <class C>
void register_sampler_mutant() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<SamplerGroup>>(sampler<C>(), Kind::mutant));
}
template <class C>
void register_sampler_check() {
  add_check<C, SamplerGroup>();
}

}  // namespace draftproof
