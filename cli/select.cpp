#include <draftproof/cli/select.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/session.hpp>

namespace draftproof {

namespace {

template <class... Lists>
[[noreturn]] void unknown(const std::string& what, const std::string& name, const Lists&... lists) {
  std::string known;
  const auto add = [&known](const auto& list) {
    for (const auto& item : list) known += fmt::format("{}{}", known.empty() ? "" : ", ", item->info().name);
  };
  (add(lists), ...);
  throw InputError({.file = what, .found = in_quotes(name), .wanted = "one of " + known});
}

}  // namespace

const AnyVerifier& need_verifier(const std::string& name) {
  if (const auto* verifier = registry().verifier(name)) return *verifier;
  unknown("verifier", name, registry().verifiers());
}

const AnyDrafter& need_drafter(const std::string& name) {
  if (const auto* drafter = registry().drafter(name)) return *drafter;
  unknown("draft law", name, registry().drafters());
}

std::vector<const AnyVerifier*> select_verifiers(const std::vector<std::string>& names, bool mutants) {
  std::vector<const AnyVerifier*> selected;
  for (const auto& name : names) selected.push_back(&need_verifier(name));
  if (!names.empty()) return selected;
  for (const auto& verifier : registry().verifiers())
    if (mutants || verifier->kind() == Kind::verifier) selected.push_back(verifier.get());
  return selected;
}

SelectedVerifiers select_of_both(const std::vector<std::string>& names, bool mutants) {
  SelectedVerifiers selected;
  for (const auto& name : names) {
    if (const auto* of_paths = path_registry().verifier(name))
      selected.paths.push_back(of_paths);
    else if (const auto* of_position = registry().verifier(name))
      selected.position.push_back(of_position);
    else
      unknown("verifier", name, registry().verifiers(), path_registry().verifiers());
  }
  if (!names.empty()) return selected;
  selected.position = select_verifiers({}, mutants);
  for (const auto& verifier : path_registry().verifiers())
    if (mutants || verifier->kind() == Kind::verifier) selected.paths.push_back(verifier.get());
  return selected;
}

SelectedSubjects select_of_all(const std::vector<std::string>& names, bool mutants) {
  SelectedSubjects selected;
  std::vector<std::string> verifiers;
  for (const auto& name : names) {
    const bool verifier = registry().verifier(name) || path_registry().verifier(name);
    if (const auto* component = verifier ? nullptr : component_registry().component(name))
      selected.components.push_back(component);
    else
      verifiers.push_back(name);
  }
  if (names.empty() || !verifiers.empty())
    static_cast<SelectedVerifiers&>(selected) = select_of_both(verifiers, mutants);
  if (names.empty())
    for (const auto& component : component_registry().components())
      if (mutants || component->kind() == Kind::verifier) selected.components.push_back(component.get());
  return selected;
}

void need_law(const std::string& name) {
  if (!registry().drafter(name) && !path_registry().drafter(name))
    unknown("draft law", name, registry().drafters(), path_registry().drafters());
}

void SourceChoice::declare(CLI::App& app) {
  const auto declare_filter = [&app](const std::string& of, Filter& filter) {
    app.add_option("--" + of + "-temperature", filter.temperature, "temperature of the " + of + " on loading")
        ->capture_default_str();
    app.add_option("--" + of + "-top-k", filter.top_k, "keep the k likeliest tokens of the " + of + "; 0 keeps all")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--" + of + "-top-p", filter.top_p, "keep the likeliest tokens of the " + of + " up to this mass");
  };
  declare_filter("target", options.target_filter);
  declare_filter("proposal", options.proposal_filter);
  app.add_option("--draft-temperatures", options.draft_temperatures,
                 "one proposal at several temperatures, as in 1.0,1.2,1.4: one proposal per draft")
      ->delimiter(',');
  app.add_option("--proposal", options.proposals, "proposal of the capture; several for several draft models")
      ->delimiter(',');
}

Source SourceChoice::open(const std::string& spec, std::uint64_t seed) const {
  registry();  // also registers the families
  SourceOptions with_seed = options;
  with_seed.seed = seed;
  return Source::open(spec, with_seed);
}

std::vector<Source> SourceChoice::open_whole(const std::vector<std::string>& specs, std::uint64_t seed) const {
  std::vector<Source> sources;
  for (const auto& spec : specs) sources.push_back(open(spec, seed));
  for (const Source& source : sources) {
    if (source.describe().value("kind", "") == "family") continue;  // computed, not stored
    for (std::size_t i = 0; i < source.positions() && !stop_requested(); ++i) source.pair(i);
  }
  return sources;
}

}  // namespace draftproof
