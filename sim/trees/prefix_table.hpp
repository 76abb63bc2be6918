// Explicit tables of conditionals: laws at every prefix up to some length, and those of the last one beyond. The
// conditionals of toy models, where everything can be enumerated.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

template <class L>
class PrefixTable final : public ConditionalModel<L> {
 public:
  /// `laws` in breadth-first order: the empty prefix, (0), (1), .., (0, 0), (0, 1), ..; as many levels as are full.
  explicit PrefixTable(std::vector<L> laws) : laws_{std::move(laws)}, vocabulary_{laws_.front().vocabulary()} {}

  const L& laws(int context) const override { return laws_[static_cast<std::size_t>(context)]; }
  int next(int context, Token x) const override {
    const int child = context * vocabulary_ + 1 + x;
    return child < static_cast<int>(laws_.size()) ? child : context;
  }
  int vocabulary() const { return vocabulary_; }
  int size() const { return static_cast<int>(laws_.size()); }

 private:
  std::vector<L> laws_;
  int vocabulary_;
};

}  // namespace draftproof
