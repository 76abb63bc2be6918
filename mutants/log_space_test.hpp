// Mutant: single-draft sampling whose ratio test is a sum of logarithms in single precision.
//
//   keep     log p > log u + log q     floats next to log q are up to |log q| 2^-23 apart: a log u nearer to 0 than
//                                      half of that is lost in the sum, and p = q is refused
//
// Source: vLLM 0.33.0, second model runner (docs/findings/engine-vllm-second-runner.md).
// Error: an explorer finds it exact, and it is too rare for samples. After such a refusal at p = q the residual is
// empty and the draw has no weights.
// Visible: at p = q below 1/2 with uniforms beside 1.
// Hidden: where q = 1, as log q = 0 loses nothing.
#pragma once

#include <cmath>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct LogSpaceTest {
  static constexpr Info info{.name = "log_space_test",
                             .summary = "accept while log u + log q < log p, in single precision",
                             .source = "vllm-project/vllm 0.33.0; rule of arXiv:2211.17192",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (keeps(at.target(x), at.proposal(x), random)) return accepted(x, 0);
    return random.emit(at.residual(at.one()));
  }

 private:
  template <class Scalar, class R>
  DRAFTPROOF_DEVICE static bool keeps(const Scalar& p, const Scalar& q, R& random) {
    if constexpr (requires { random.next(Purpose::flip); }) {
      const auto u = static_cast<float>(random.next(Purpose::flip) >> 40) * 0x1p-24f;
      const float sum = std::log(u) + std::log(static_cast<float>(q));
      return std::log(static_cast<float>(p)) > sum;
    } else {
      return random.flip(p, q);
    }
  }
};

}  // namespace draftproof::mutants
