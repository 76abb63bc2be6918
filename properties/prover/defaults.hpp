// What is taken where nobody says: the draft law of a verifier, and how many drafts.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

/// Name of the law a verifier is written for first; independent drafts if it takes any law.
inline std::string_view usual_law(const Info& info) {
  return info.drafts.any() ? std::string_view("iid") : info.drafts.names[0];
}

/// The drafter of that law. Throws InputError where none was found: a consumer's verifier may name any.
inline const AnyDrafter& usual_drafter(const Info& info) {
  if (const AnyDrafter* drafter = registry().drafter(usual_law(info))) return *drafter;
  throw InputError({.file = std::string(info.name),
                    .found = in_quotes(std::string(usual_law(info))),
                    .wanted = "a draft law that `draftproof list` shows"});
}

/// As many as wanted, or the most that both take.
inline int drafts_taken(const AnyVerifier& verifier, const AnyDrafter& drafter, int wanted) {
  for (const int most : {verifier.info().most_drafts, drafter.info().most_drafts})
    if (most > 0) wanted = std::min(wanted, most);
  return wanted;
}

}  // namespace draftproof
