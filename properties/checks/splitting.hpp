// A token is a name for some mass: splitting one into two halves, of p and of every q, leaves their summed law alone.
//
// Rules that compare probabilities with constants, or count tokens, see the difference.
#pragma once

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

struct Splitting {
  static constexpr std::string_view name = "splitting";
  static constexpr std::string_view about = "a token split in two, p and q alike, keeps its mass in the output law";
  static constexpr int every = 4;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().promise == Promise::lossless;
  }
  static Answer check(InstanceAnalysis& at) {
    // The likeliest token of p: the lowest of equals, so that the instance alone decides.
    const auto& target = at.instance().target;
    std::size_t x = 0;
    for (std::size_t y = 1; y < target.size(); ++y)
      if (target[y] > target[x]) x = y;
    Instance split = at.instance();
    for (auto* row : rows_of(split)) {
      for (int& weight : *row) weight *= 2;
      (*row)[x] /= 2;
      row->push_back((*row)[x]);
    }
    const auto law = at.law_of(split);
    if (!law.complete || !at.law().complete) return Answer::undecided("the tree was not walked whole");
    auto merged = law.output;
    merged[x] += merged.back();
    merged.pop_back();
    return Answer::held_if(merged == at.law().output, [&] {
      return "got " + to_text(at.law().output) + ", with token " + std::to_string(x) + " split in two " +
             to_text(merged);
    });
  }
};

}  // namespace draftproof::checks
