// Checks of samplers.
#pragma once

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/components/sampler/sampler_group.hpp>
#include <draftproof/sim/components/inverse_cdf.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::checks::sampler {

// Draws with random bits at boundaries: the smallest, the largest, the middle, and for samplers of one 64-bit draw
// both sides of every boundary between pieces. The drawn token must have a positive weight.
//
// Cost: one draw per value; 5^V draws for a race.
//
// Correctness: no random bits may lead to a token of weight 0.
struct BoundaryWords {
  static constexpr std::string_view name = "boundary_words";
  static constexpr std::string_view about =
      "random bits at the boundaries between tokens give tokens of positive weight";

  static constexpr int most_raced = 4;

  static Answer check(const Sampler& sampler, const SamplerCase& one, std::uint64_t& work) {
    if (one.form != SamplerCase::Form::listed) return Answer::not_applicable();
    // A race has 5^V sequences of boundary values, too many for longer rows.
    if (sampler.races() && one.vocabulary() > most_raced) return Answer::not_applicable();
    const std::vector<double> weights = one.row();
    std::vector<double> row = weights;
    constexpr std::uint64_t last = ~std::uint64_t{0}, middle = std::uint64_t{1} << 63;
    std::vector<std::uint64_t> words{0, 1, middle, last - 1, last};
    std::size_t drawn = 1;  // number of 64-bit values per draw
    if (sampler.races()) {
      drawn = row.size();
      words = all_of(words, drawn);
    } else {
      for (const WordPiece& piece : sampler.pieces(row))
        for (const std::uint64_t word : {piece.first - 1, piece.first, piece.first + 1}) words.push_back(word);
    }
    for (std::size_t n = 0; n < words.size(); n += drawn, ++work) {
      row = weights;
      const std::span<const std::uint64_t> script(words.data() + n, drawn);
      const Token x = sampler.draw(row, script).front();
      const bool token = x >= 0 && x < one.vocabulary();
      if (!token || !(weights[static_cast<std::size_t>(x)] > 0))
        return Answer::failed(fmt::format("random bits {:#x} give {} {}", fmt::join(script, ", "), x,
                                          token ? "of weight 0" : "which is not in the vocabulary"));
    }
    return Answer::passed();
  }

 private:
  /// Returns every sequence of `length` values from `words`, one after another.
  static std::vector<std::uint64_t> all_of(const std::vector<std::uint64_t>& words, std::size_t length) {
    std::vector<std::uint64_t> all;
    std::size_t count = 1;
    for (std::size_t i = 0; i < length; ++i) count *= words.size();
    for (std::size_t n = 0; n < count; ++n)
      for (std::size_t i = 0, rest = n; i < length; ++i, rest /= words.size())
        all.push_back(words[rest % words.size()]);
    return all;
  }
};

// The exact distribution of a sampler's program is within its budget of the weights, for small and large
// vocabularies. The distribution is computed from the declared pieces, which are confirmed by draws at their ends.
//
//   budget    ComponentInfo::budget, 1e-6 by default
//
// Cost: one pass over the pieces at V = 32,000, 128,256 and 262,144.
//
// Correctness: a piece's probability is its number of 64-bit values, divided by 2^64. Draws at the first and last value
// confirm every piece of a short row, and 64 pieces of a long row.

struct DistributionInBudget {
  static constexpr std::string_view name = "distribution_in_budget";
  static constexpr std::string_view about =
      "the sampler's distribution differs from the weights by at most its declared error";
  static constexpr Tier tier = Tier::proof;

  static std::vector<SamplerCase> cases(std::uint64_t seed, int rounds) {
    // Short rows test the declared pieces; accumulated rounding shows in the long rows alone.
    std::vector<SamplerCase> cases = SamplerGroup::cases(seed, rounds);
    cases.resize(20);
    for (const int vocabulary : {32'000, 128'256, 262'144})
      cases.push_back({.form = SamplerCase::Form::zipf, .size = vocabulary});
    return cases;
  }

  static Answer check(const Sampler& sampler, const SamplerCase& one, std::uint64_t& work) {
    if (sampler.races() || one.form == SamplerCase::Form::tail) return Answer::not_applicable();
    std::vector<double> row = one.row();
    const std::vector<WordPiece> pieces = sampler.pieces(row);
    work += pieces.size();
    if (pieces.empty() || pieces.front().first != 0)
      return Answer::failed("the sampler declares no token for the first random bits");
    if (auto untied = first_untied(sampler, row, pieces)) return Answer::failed(*untied);
    const double distance = program_distance(pieces, row);
    return Answer::passed_if(distance <= sampler.info().budget, [&] {
      return fmt::format("TV {:.3g} between the sampler's distribution and the weights, expected at most {:.3g}",
                         distance, sampler.info().budget);
    });
  }

 private:
  static std::optional<std::string> first_untied(const Sampler& sampler, std::vector<double>& row,
                                                 const std::vector<WordPiece>& pieces) {
    const std::size_t step = std::max<std::size_t>(pieces.size() / 64, 1);
    std::vector<std::uint64_t> words;
    std::vector<Token> tokens;
    for (std::size_t n = 0; n < pieces.size(); n += step) {
      const std::uint64_t end = n + 1 < pieces.size() ? pieces[n + 1].first : 0;
      for (const std::uint64_t word : {pieces[n].first, end - 1}) {
        words.push_back(word);
        tokens.push_back(pieces[n].token);
      }
    }
    const std::vector<Token> drawn = sampler.draw(row, words);
    for (std::size_t i = 0; i < words.size(); ++i)
      if (drawn[i] != tokens[i])
        return fmt::format("random bits {:#x} give {}, but the sampler declares {} for them", words[i], drawn[i],
                           tokens[i]);
    return std::nullopt;
  }
};

// A draw does not change its row, which is read again as the distribution of the drafts.
//
// Cost: one draw.
//
// Correctness: a verifier divides by the distribution of the drafts. Noise written to the row would destroy it.
struct RowUnchanged {
  static constexpr std::string_view name = "row_unchanged";
  static constexpr std::string_view about = "a draw does not write to its row";

  static Answer check(const Sampler& sampler, const SamplerCase& one, std::uint64_t& work) {
    const std::vector<double> before = one.row();
    std::vector<double> after = before;
    std::vector<std::uint64_t> words;
    for (std::size_t x = 0; x < (sampler.races() ? before.size() : 1); ++x)
      words.push_back(philox_pair(1, x, 0, 0).first);
    sampler.draw(after, words);
    ++work;
    return Answer::passed_if(before == after, [&] {
      return fmt::format("the row ({:.3g}) is ({:.3g}) after the draw", fmt::join(before, " "),
                         fmt::join(after, " "));
    });
  }
};

// In a race, rare tokens must win with their probability. The row has one head token and n tail tokens, whose logits
// are a fixed gap below the head's. The probability that a tail token wins is enclosed between two sums over strata of
// the head's random bits.
//
//   G(a)     share of 64-bit values whose clock is below a, by bisection: clocks are monotone in the value
//   t        clock of the head; the tail wins with 1 - (1 - G(t exp(-gap)))^n
//   true     n exp(-gap) / (1 + n exp(-gap))
//
// Cost: two bisections in each of 2^14 strata; a bisection computes 64 clocks.
//
// Correctness: the probability that the tail wins is monotone in the head's 64-bit value, so in each stratum it lies
// between its values at the two ends. Rounding of clocks in double moves both bounds by a relative 2^-40 at most
// (sim/numeric/exp.hpp).

struct TailMass {
  static constexpr std::string_view name = "tail_mass";
  static constexpr std::string_view about = "rare tokens are drawn with their probability";

  struct Bounds {
    double low = 0, high = 0;
  };

  static std::vector<SamplerCase> cases(std::uint64_t, int) {
    std::vector<SamplerCase> cases;
    for (const int gap : {18, 20}) cases.push_back({.form = SamplerCase::Form::tail, .size = 129'280, .gap = gap});
    return cases;
  }

  static Bounds bounds(const Sampler& sampler, const SamplerCase& one) {
    constexpr std::uint64_t strata = std::uint64_t{1} << 14, width = ~std::uint64_t{0} / strata + 1;
    Bounds sum;
    for (std::uint64_t n = 0; n < strata; ++n) {
      const double first = tail_wins(sampler, one, n * width),
                   last = tail_wins(sampler, one, n * width + (width - 1));
      sum.low += std::min(first, last);
      sum.high += std::max(first, last);
    }
    return {sum.low / static_cast<double>(strata), sum.high / static_cast<double>(strata)};
  }

  static double true_mass(const SamplerCase& one) {
    const double tail = (one.size - 1) * std::exp(-one.gap);
    return tail / (1 + tail);
  }

  static Answer check(const Sampler& sampler, const SamplerCase& one, std::uint64_t& work) {
    if (!sampler.races() || one.form != SamplerCase::Form::tail) return Answer::not_applicable();
    const Bounds found = bounds(sampler, one);
    const double wanted = true_mass(one);
    work += std::uint64_t{1} << 15;
    return Answer::passed_if(found.low * (1 - 0x1p-40) <= wanted && wanted <= found.high * (1 + 0x1p-40), [&] {
      return fmt::format("the tail has a probability between {:.4g} and {:.4g}, expected {:.4g}", found.low,
                         found.high, wanted);
    });
  }

 private:
  static double tail_wins(const Sampler& sampler, const SamplerCase& one, std::uint64_t head) {
    const double bound = sampler.clock(head) * std::exp(-one.gap);
    return -std::expm1((one.size - 1) * std::log1p(-share_below(sampler, bound)));
  }

  /// Returns G(bound), for clocks that are monotone in the 64-bit value.
  static double share_below(const Sampler& sampler, double bound) {
    constexpr std::uint64_t last = ~std::uint64_t{0};
    const bool rises = sampler.clock(0) < sampler.clock(last);
    const auto passed = first_word([&](std::uint64_t word) { return (sampler.clock(word) < bound) != rises; });
    const double before = passed ? static_cast<double>(*passed) * 0x1p-64 : 1.0;
    // Counts from the other end if clocks fall with the 64-bit value, so that a small share keeps its precision.
    return rises ? before : (passed ? static_cast<double>(last - *passed + 1) * 0x1p-64 : 0.0);
  }
};

}  // namespace draftproof::checks::sampler
