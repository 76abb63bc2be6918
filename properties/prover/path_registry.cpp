#include <draftproof/properties/prover/path_registry.hpp>

#include <algorithm>
#include <iterator>

#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

PathRegistry& PathRegistry::instance() {
  static PathRegistry registry;
  return registry;
}

void PathRegistry::add(std::unique_ptr<AnyPathVerifier> verifier) {
  if (find_named(verifiers_, verifier->info().name) || find_named(waiting_, verifier->info().name))
    throw std::logic_error("registered twice: " + std::string(verifier->info().name));
  const auto by_name = [](const auto& v) { return std::tuple(v->kind(), v->info().name); };
  insert_sorted(drafters_of(verifier->info()).empty() ? waiting_ : verifiers_, std::move(verifier), by_name);
}
void PathRegistry::add(std::unique_ptr<AnyTreeDrafter> drafter) {
  if (this->drafter(drafter->info().name))
    throw std::logic_error("registered twice: " + std::string(drafter->info().name));
  if (!drafter->info().declared_as.empty())
    return insert_sorted(by_name_, std::move(drafter), [](const auto& d) { return std::tuple(0, d->info().name); });
  insert_sorted(drafters_, std::move(drafter), [](const auto& d) { return std::tuple(0, d->info().name); });
  std::vector<std::unique_ptr<AnyPathVerifier>> waiting;
  waiting.swap(waiting_);
  for (auto& verifier : waiting) add(std::move(verifier));
}
void PathRegistry::add(const PathProperty& property) {
  insert_sorted(properties_, property, [](const auto& p) { return std::tuple(0, p.name); });
}

const AnyPathVerifier* PathRegistry::verifier(std::string_view name) const { return find_named(verifiers_, name); }
const AnyTreeDrafter* PathRegistry::drafter(std::string_view name) const {
  const AnyTreeDrafter* usual = find_named(drafters_, name);
  return usual ? usual : find_named(by_name_, name);
}

std::vector<const AnyTreeDrafter*> PathRegistry::drafters_of(const Info& info) const {
  std::vector<const AnyTreeDrafter*> matching;
  for (const auto& drafter : drafters_)
    if (takes_trees(info, drafter->info())) matching.push_back(drafter.get());
  return matching;
}

std::vector<const AnyTreeDrafter*> PathRegistry::wrong_drafters_of(const Info& info) const {
  std::vector<const AnyTreeDrafter*> matching;
  for (const auto& drafter : by_name_)
    if (takes_trees(info, drafter->info())) matching.push_back(drafter.get());
  return matching;
}

const PathRegistry& path_registry() {
  registry();  // fills all registries
  return PathRegistry::instance();
}

}  // namespace draftproof
