#include <draftproof/properties/prover/registry.hpp>

#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace draftproof::found {
void everything();  // generated
}

namespace draftproof {

namespace {

bool takes_drafts(const Info& verifier, const DrafterInfo& drafter) {
  return verifier.drafts.includes(drafter.misdeclares() ? drafter.declared_as : drafter.name);
}
bool takes_drafts(const Info& verifier, const TreeDrafterInfo& trees) { return takes_trees(verifier, trees); }

template <class Drafter>
std::vector<const Drafter*> matching(const NamedList<std::unique_ptr<Drafter>>& drafters, const Info& info) {
  std::vector<const Drafter*> taken;
  for (const auto& drafter : drafters.all())
    if (takes_drafts(info, drafter->info())) taken.push_back(drafter.get());
  return taken;
}

}  // namespace

template <class Level>
RegistryOf<Level>& RegistryOf<Level>::instance() {
  static RegistryOf registry;
  return registry;
}

template <class Level>
void RegistryOf<Level>::add(std::unique_ptr<Verifier> verifier) {
  if (waiting_.find(verifier->info().name))
    throw std::logic_error("registered twice: " + std::string(verifier->info().name));
  const bool waits = std::is_same_v<Level, BlockLevel> && drafters_of(verifier->info()).empty();
  (waits ? waiting_ : verifiers_).add(std::move(verifier));
}

template <class Level>
void RegistryOf<Level>::add(std::unique_ptr<Drafter> drafter) {
  if (this->drafter(drafter->info().name))
    throw std::logic_error("registered twice: " + std::string(drafter->info().name));
  (drafter->info().declared_as.empty() ? drafters_ : by_name_).add(std::move(drafter));
  auto waiting = std::exchange(waiting_, {});
  for (auto& verifier : std::move(waiting).take()) add(std::move(verifier));
}

template <class Level>
const typename Level::Drafter* RegistryOf<Level>::drafter(std::string_view name) const {
  const Drafter* usual = drafters_.find(name);
  return usual ? usual : by_name_.find(name);
}

template <class Level>
std::vector<const typename Level::Drafter*> RegistryOf<Level>::drafters_of(const Info& info) const {
  return matching(drafters_, info);
}

template <class Level>
std::vector<const typename Level::Drafter*> RegistryOf<Level>::wrong_drafters_of(const Info& info) const {
  return matching(by_name_, info);
}

template class RegistryOf<TokenLevel>;
template class RegistryOf<BlockLevel>;

const Registry& registry() {
  static std::once_flag once;
  std::call_once(once, [] {
    detail::registering_builtin() = true;
    found::everything();
    detail::registering_builtin() = false;
  });
  return Registry::instance();
}

const PathRegistry& path_registry() {
  registry();  // fills all registries
  return PathRegistry::instance();
}

const std::vector<Property>& TokenLevel::properties() { return registry().properties(); }
const std::vector<PropertyOf<BlockLevel>>& BlockLevel::properties() { return path_registry().properties(); }

}  // namespace draftproof
