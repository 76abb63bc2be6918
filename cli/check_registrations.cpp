#include <draftproof/cli/check_registrations.hpp>

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/properties/prover/registration.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

namespace {

/// Whether there are drafts, or trees, of this law.
bool known_law(std::string_view name) {
  if (registry().drafter(name) || path_registry().drafter(name)) return true;
  const auto& trees = path_registry().drafters();
  return std::any_of(trees.begin(), trees.end(), [name](const auto& drafter) {
    return drafter->info().siblings.lists(name) || drafter->info().siblings_sequential.lists(name);
  });
}

void check_laws(const Info& info) {
  for (std::size_t i = 0; i < info.drafts.count; ++i)
    if (!known_law(info.drafts.names[i])) unknown_law_of(std::string(info.name), std::string(info.drafts.names[i]));
}

}  // namespace

void check_registrations() {
  const auto& verifiers = registry().verifiers();
  const auto& of_paths = path_registry().verifiers();
  if (!registration_mistakes().empty())
    throw InputError({.file = "registration",
                      .found = registration_mistakes().front(),
                      .wanted = "a name that no other verifier, drafter or scheme has"});
  for (const auto& verifier : verifiers) check_laws(verifier->info());
  for (const auto& verifier : of_paths) check_laws(verifier->info());
}

}  // namespace draftproof
