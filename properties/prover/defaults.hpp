// Defaults: the draft law of a verifier, and the number of drafts.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

/// Name of the first law that the verifier is written for; "iid" if it takes any law.
inline std::string_view usual_law(const Info& info) {
  return info.drafts.any() ? std::string_view("iid") : info.drafts.names[0];
}

/// The drafter of usual_law(info). Throws: InputError if there is none; a consumer's verifier may name any law.
inline const AnyDrafter& usual_drafter(const Info& info) {
  if (const AnyDrafter* drafter = registry().drafter(usual_law(info))) return *drafter;
  throw InputError({.file = std::string(info.name),
                    .found = in_quotes(std::string(usual_law(info))),
                    .wanted = "a draft law that `draftproof list` shows"});
}

/// `wanted`, or the most drafts that verifier and drafter both take if that is less.
inline int drafts_taken(const AnyVerifier& verifier, const AnyDrafter& drafter, int wanted) {
  for (const int most : {verifier.info().most_drafts, drafter.info().most_drafts})
    if (most > 0) wanted = std::min(wanted, most);
  return wanted;
}

}  // namespace draftproof
