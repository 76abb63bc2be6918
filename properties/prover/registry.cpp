#include <draftproof/properties/prover/registry.hpp>

#include <mutex>

#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof::found {
void everything();  // generated
}

namespace draftproof {

Registry& Registry::instance() {
  static Registry registry;
  return registry;
}

void Registry::add(std::unique_ptr<AnyVerifier> verifier) {
  // Reports and look-ups use the name alone, so a mutant may not have a verifier's name.
  if (this->verifier(verifier->info().name))
    throw std::logic_error("registered twice: " + std::string(verifier->info().name));
  insert_sorted(verifiers_, std::move(verifier), [](const auto& v) { return std::tuple(v->kind(), v->info().name); });
}
void Registry::add(std::unique_ptr<AnyDrafter> drafter) {
  auto& among = drafter->info().misdeclares() ? wrong_drafters_ : drafters_;
  // Look-ups use the name alone, as for verifiers.
  if (this->drafter(drafter->info().name))
    throw std::logic_error("registered twice: " + std::string(drafter->info().name));
  insert_sorted(among, std::move(drafter), [](const auto& d) { return std::tuple(0, d->info().name); });
}
void Registry::add(const Generator& generator) {
  insert_sorted(generators_, generator, [](const auto& g) { return std::tuple(0, g.name); });
}
void Registry::add(const Property& property) {
  insert_sorted(properties_, property, [](const auto& p) { return std::tuple(0, p.name); });
}

const AnyVerifier* Registry::verifier(std::string_view name) const { return find_named(verifiers_, name); }
const AnyDrafter* Registry::drafter(std::string_view name) const {
  const AnyDrafter* right = find_named(drafters_, name);
  return right ? right : find_named(wrong_drafters_, name);
}

std::vector<const AnyDrafter*> Registry::drafters_of(const Info& info) const {
  std::vector<const AnyDrafter*> matching;
  for (const auto& drafter : drafters_)
    if (info.drafts.includes(drafter->info().name)) matching.push_back(drafter.get());
  return matching;
}

std::vector<const AnyDrafter*> Registry::wrong_drafters_of(const Info& info) const {
  std::vector<const AnyDrafter*> matching;
  for (const auto& drafter : wrong_drafters_)
    if (info.drafts.includes(drafter->info().declared_as)) matching.push_back(drafter.get());
  return matching;
}

const Registry& registry() {
  static std::once_flag once;
  std::call_once(once, [] {
    detail::registering_builtin() = true;
    found::everything();
    detail::registering_builtin() = false;
  });
  return Registry::instance();
}

}  // namespace draftproof
