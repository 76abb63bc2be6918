// Samplers under test: their rows, and the exact distribution of their programs. A sampler uses 64 random bits
// per draw with a prepared table, or 64 random bits per token in a race.
//
//   piece    interval of 64-bit values that give one token, up to the first value of the next piece
//   clock    a token's arrival time in a race at weight 1, a function of its 64 random bits
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/components/component.hpp>
#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_filters.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

// A row for a sampler: a short row of weights, a long Zipf row, or a head with a tail of rare tokens. It prints
// and parses as "w=(1 1 0)/2", "zipf V=32000" or "tail V=129280 gap=18".
//
//   zipf    weights (rank + 2.7)^-1.1 in shuffled order
//   tail    token 0 of weight 1, V - 1 tokens of weight exp(-gap)

struct SamplerCase {
  enum class Form { listed, zipf, tail };

  Form form = Form::listed;
  std::vector<int> weights{};  ///< for a listed row
  int size = 0;                ///< V, for the other forms
  int gap = 0;                 ///< logits between head and tail, for a tail

  int vocabulary() const { return form == Form::listed ? static_cast<int>(weights.size()) : size; }
  /// Returns the weights; they need not sum to 1.
  std::vector<double> row() const;
  bool valid() const;
  std::string text() const;
  /// The inverse of text(). Throws: std::invalid_argument, which names the text and the expected format.
  static SamplerCase parse(std::string_view text);
  static constexpr std::string_view example = "w=(1 1 0)/2";

  bool operator==(const SamplerCase&) const = default;
};

/// Returns a pointer to the weights of a listed row, for editing.
std::vector<std::vector<int>*> rows_of(SamplerCase& one);

/// Returns the cases one step smaller; none for a Zipf row or a tail.
std::vector<SamplerCase> shrinks(const SamplerCase& one);

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
  /// Whether the sampler is a race, with 64 random bits per token.
  bool races() const { return clock_ != nullptr; }
  /// Returns one token per value in `words`, or per V values for a race. A race may write to its row.
  std::vector<Token> draw(std::span<double> row, std::span<const std::uint64_t> words) const {
    return draws_(row, words);
  }
  /// Returns the pieces of the program in ascending order, for samplers with 64 random bits per draw.
  std::vector<WordPiece> pieces(std::span<double> row) const { return pieces_(row); }
  /// Returns the clock of a 64-bit value, for races.
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

  /// Returns short rows: 300 per round, and every row (a b c 0) with weights up to 3. A sum of three normalised weights
  /// is the shortest that rounding can move off 1, and rounding moves one such sum in twenty. Every second row is
  /// longer and ends with weight 0, because rounding moves more of the longer sums off 1.
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
inline constexpr auto register_sampler_component = add_component<SamplerGroup, sampler<C>, Kind::verifier>;
template <class C>
inline constexpr auto register_sampler_mutant = add_component<SamplerGroup, sampler<C>, Kind::mutant>;
template <class C>
inline constexpr auto register_sampler_check = add_check<C, SamplerGroup>;

// The exact distribution of a sampler's program, by counting 64-bit values, for any format of its sums and uniforms.
//
//   piece    interval of 64-bit values that give one token
//   TV       half the sum of |share of values - weight|
//
// Cost: the number of the sampler's pieces.
//
// Correctness: random bits are uniform on 0 .. 2^64 - 1 and a piece's share is its length; the sum over V
// shares is off by at most V 2^-53.

/// Returns the share of all 64-bit values in piece n.
inline double share_of(const std::vector<WordPiece>& pieces, std::size_t n) {
  if (pieces.size() == 1) return 1;
  const std::uint64_t end = n + 1 < pieces.size() ? pieces[n + 1].first : 0;  // 2^64 wraps to 0
  return static_cast<double>(end - pieces[n].first) * 0x1p-64;
}

/// Returns the total variation between the pieces and the weights; mass on ids outside the row counts in full.
inline double program_distance(const std::vector<WordPiece>& pieces, const std::vector<double>& row) {
  std::vector<double> excess = normalised_row(row);
  for (double& mass : excess) mass = -mass;
  double outside = 0;
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    const auto x = static_cast<std::size_t>(pieces[n].token);
    (pieces[n].token >= 0 && x < excess.size() ? excess[x] : outside) += share_of(pieces, n);
  }
  double sum = outside;
  for (const double mass : excess) sum += std::fabs(mass);
  return sum / 2;
}

}  // namespace draftproof
