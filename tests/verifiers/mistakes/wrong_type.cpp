// A verifier that returns a token instead of a Verdict: the compiler's message names the concept and the call.
#include <draftproof/properties/prover/register_verifier.hpp>

struct WrongType {
  static constexpr draftproof::Info info{.name = "wrong_type"};

  template <class P, class R>
  draftproof::Token verify(const P& at, R&) const {
    return at.draft(0);
  }
};

void mistake() { draftproof::register_verifier<WrongType>(); }
