// A user-defined property: a verifier lists the draft samplings that it takes.
#pragma once

#include <draftproof/properties/proof/property.hpp>

namespace mine {

using namespace draftproof;

struct DraftsAreNamed {
  static constexpr std::string_view name = "drafts_are_named";
  static constexpr std::string_view about = "the verifier names the distribution of its drafts";
  static constexpr int every = 1;

  static bool applies(const AnyVerifier&, const AnyDrafter&) { return true; }
  static Answer check(InstanceAnalysis& at) {
    return Answer::passed_if(!at.verifier().info().drafts.any(), [] { return std::string("it takes any"); });
  }
};

}  // namespace mine
