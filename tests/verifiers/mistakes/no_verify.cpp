// A verifier whose call has the wrong name: the compiler's message names the concept and the call.
#include <draftproof/properties/prover/register_verifier.hpp>

struct NoVerify {
  static constexpr draftproof::Info info{.name = "no_verify"};

  template <class P, class R>
  draftproof::Verdict decide(const P& at, R&) const {
    return draftproof::accepted(at.draft(0), 0);
  }
};

void mistake() { draftproof::register_verifier<NoVerify>(); }
