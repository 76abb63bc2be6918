// Scripted words at the boundaries: the smallest, the largest, the middle, and for samplers of one word both sides of
// every boundary between pieces. The drawn token must have weight.
//
// Cost: a draw a word; 5^V draws of a race.
//
// Correctness: a token without weight has no word.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/components/sampler/sampler_group.hpp>

namespace draftproof::checks::sampler {

struct BoundaryWords {
  static constexpr std::string_view name = "boundary_words";
  static constexpr std::string_view about = "edge words give tokens with weight";

  static constexpr int most_raced = 4;

  static Answer check(const Sampler& sampler, const SamplerCase& one, std::uint64_t& work) {
    if (one.form != SamplerCase::Form::listed) return Answer::not_applicable();
    // A race has 5^V sequences of edge words; longer rows are for samplers of one word.
    if (sampler.races() && one.vocabulary() > most_raced) return Answer::not_applicable();
    const std::vector<double> weights = one.row();
    std::vector<double> row = weights;
    constexpr std::uint64_t last = ~std::uint64_t{0}, middle = std::uint64_t{1} << 63;
    std::vector<std::uint64_t> words{0, 1, middle, last - 1, last};
    std::size_t drawn = 1;  // number of words a draw
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
        return Answer::violated(fmt::format("word {:#x} gives {} {}", fmt::join(script, ", "), x,
                                            token ? "of weight 0" : "which is no token"));
    }
    return Answer::held();
  }

 private:
  /// Every sequence of `length` words from `words`, one after another.
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

}  // namespace draftproof::checks::sampler
