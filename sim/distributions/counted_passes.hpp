// Passes over the vocabulary of a table, counted for the thread that makes them: what a trial with weights of its own
// costs, which sizes the gate that samples it. Look-ups and searches do not count.
#pragma once

#include <cstdint>
#include <utility>

#include <draftproof/sim/sampling/fixed_point_weights.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// Number of tokens that passes of this thread have read.
inline std::uint64_t& tokens_passed() {
  thread_local std::uint64_t tokens = 0;
  return tokens;
}

/// Weights of a function of `size` tokens, whose draws are passes.
template <class F>
class PassWeights : public FixedWeights<F> {
 public:
  PassWeights(int size, F f) : FixedWeights<F>(size, std::move(f)), size_{size} {}
  Token draw(std::uint64_t word) const {
    tokens_passed() += static_cast<std::uint64_t>(size_);
    return FixedWeights<F>::draw(word);
  }

 private:
  int size_;
};

}  // namespace draftproof
