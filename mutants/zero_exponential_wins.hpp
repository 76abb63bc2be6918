// Mutant: sample and match by a race whose clocks can be 0. A token with p = 0 and E = 0 has the key 0 / 0, and the
// greatest of keys with a NaN among them is the NaN.
//
//   E_x      -ln(1 - u)      0 if the uniform is 0
//   key      p(x) / E_x      greatest wins: the exponential race
//
// Source: pytorch/pytorch#192577, where it is one draw in some hundreds at V = 152,000.
// Error: an explorer finds it exact.
// Smallest: p=(1 0), all uniforms 0.
#pragma once

#include <cmath>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct ZeroExponentialWins {
  static constexpr Info info{
      .name = "zero_exponential_wins",
      .summary = "race for p with clocks that may be 0: 0 / 0 wins",
      .source = "pytorch/pytorch#192577",
      .drafts = DraftLaws{"iid"},
      .unsupported = {.simulate = "takes a logarithm a token at every draw", .device = "takes a logarithm a token"},
      .derived_from = "sample_and_match"};

  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    if constexpr (requires { random.next(Purpose::emit); })
      return matched(at, {winner(at, random), none_accepted});
    else
      return matched(at, random.emit(at.residual(at.zero())));
  }

 private:
  template <class P, class R>
  static Token winner(const P& at, R& random) {
    Token best = no_token;
    double greatest = -1;
    bool undefined = false;  // a NaN stays the greatest of all that follow
    for (Token x = 0; x < at.vocabulary(); ++x) {
      const double clock = -std::log1p(-unit_interval(random.next(Purpose::emit)));
      const double key = static_cast<double>(at.target(x)) / clock;
      if (undefined || key <= greatest) continue;
      undefined = std::isnan(key);
      greatest = key;
      best = x;
    }
    return best;
  }
};

}  // namespace draftproof::mutants
