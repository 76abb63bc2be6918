// The law of a sampler's program is within its budget of the weights, at small and large vocabularies. The law is
// that of the pieces, compared with draws at both ends of pieces.
//
//   budget    ComponentInfo::budget, 1e-6 by default
//
// Cost: the pieces at V = 32,000, 128,256 and 262,144.
//
// Correctness: pieces are counted in words. A piece is tried at its first and last word: every piece of a short row
// and 64 of a long one.
#pragma once

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/properties/components/sampler/program_law.hpp>

namespace draftproof::checks::sampler {

struct LawInBudget {
  static constexpr std::string_view name = "law_in_budget";
  static constexpr std::string_view about = "the law of the program is within its budget of the weights";
  static constexpr Tier tier = Tier::proof;

  static std::vector<SamplerCase> cases(std::uint64_t seed, int rounds) {
    // Short rows test the statement of the law; what its draws add up to shows in the long ones alone.
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
      return Answer::violated("words before the first piece have no token");
    if (auto untied = first_untied(sampler, row, pieces)) return Answer::violated(*untied);
    const double distance = program_distance(pieces, row);
    return Answer::held_if(distance <= sampler.info().budget, [&] {
      return fmt::format("TV {:.3g} between the law of the program and the weights, budget {:.3g}", distance,
                         sampler.info().budget);
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
        return fmt::format("word {:#x} gives {}, but the law states {}", words[i], drawn[i], tokens[i]);
    return std::nullopt;
  }
};

}  // namespace draftproof::checks::sampler
