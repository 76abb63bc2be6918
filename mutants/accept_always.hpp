// Mutant: keeps the draft without a test.
//
// Cost: none.
// Source: a wrong count of matches kept every draft: huggingface/transformers#28508; rule of arXiv:2211.17192.
// Error: the output law is q.
// Hidden: at p = q only.
// Smallest: p = (0 1), q = (1 0): law (1 0), TV 1.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct AcceptAlways {
  static constexpr Info info{.name = "accept_always",
                             .summary = "keep the draft without a test",
                             .source = "count of matches as in huggingface/transformers#28508",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R&) const {
    return accepted(at.draft(0), 0);
  }
};

}  // namespace draftproof::mutants
