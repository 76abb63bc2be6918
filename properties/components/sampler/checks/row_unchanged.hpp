// A draw does not change its row, which is read again as the law of the drafts.
//
// Cost: one draw.
//
// Correctness: a verifier divides by that law. Noise written to the row would destroy it.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/components/sampler/sampler_group.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::checks::sampler {

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
    return Answer::held_if(before == after, [&] {
      return fmt::format("the row ({:.3g}) is ({:.3g}) after the draw", fmt::join(before, " "),
                         fmt::join(after, " "));
    });
  }
};

}  // namespace draftproof::checks::sampler
