#include <draftproof/cli/select.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/properties/prover/register_verifier.hpp>

namespace draftproof {

namespace {

/// Returns `selection` with the positions a to b - 1 for the text "a:b".
Selection parse_positions(const std::string& text, Selection selection) {
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, selection.first);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == ':') {
    const auto last = std::from_chars(first.ptr + 1, end, selection.end);
    if (last.ec == std::errc() && last.ptr == end && selection.first < selection.end) return selection;
  }
  throw InputError({.file = "--positions", .got = in_quotes(text), .expected = "a:b with a < b, as in 0:1000"});
}

[[noreturn]] void refuse(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  throw InputError({.file = what,
                    .got = in_quotes(name),
                    .expected = fmt::format("one of the {} that draftproof list shows{}", known.size(),
                                            did_you_mean(known, name))});
}

template <class... Lists>
[[noreturn]] void unknown(const std::string& what, const std::string& name, const Lists&... lists) {
  std::vector<std::string> known;
  const auto add = [&known](const auto& list) {
    for (const auto& item : list) known.emplace_back(item->info().name);
  };
  (add(lists), ...);
  refuse(what, name, known);
}

/// Whether `name` is a drafter, a tree drafter, or the draft sampling of the siblings in a tree drafter's trees.
bool known_distribution(std::string_view name) {
  if (registry().drafter(name) || path_registry().drafter(name)) return true;
  const auto& trees = path_registry().drafters();
  return std::any_of(trees.begin(), trees.end(), [name](const auto& drafter) {
    return drafter->info().siblings.lists(name) || drafter->info().siblings_sequential.lists(name);
  });
}

void check_distributions(const Info& info) {
  for (std::size_t i = 0; i < info.drafts.count; ++i)
    if (!known_distribution(info.drafts.names[i]))
      unknown(std::string(info.name) + ": .drafts", std::string(info.drafts.names[i]), registry().drafters(),
              path_registry().drafters());
}

}  // namespace

const AnyVerifier& need_verifier(const std::string& name) {
  if (const auto* verifier = registry().verifier(name)) return *verifier;
  unknown("verifier", name, registry().verifiers());
}

const AnyDrafter& need_drafter(const std::string& name) {
  if (const auto* drafter = registry().drafter(name)) return *drafter;
  unknown("draft sampling", name, registry().drafters());
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

void unknown_entry(const std::vector<Listed>& known, const std::string& name) {
  std::vector<std::string> names;
  for (const Listed& one : known) names.push_back(one.name);
  refuse("name", name, names);
}

void check_registrations() {
  if (!registration_mistakes().empty())
    throw InputError({.file = "registration",
                      .got = registration_mistakes().front(),
                      .expected = "a name that no other verifier, drafter or scheme has"});
  for (const auto& verifier : registry().verifiers()) check_distributions(verifier->info());
  for (const auto& verifier : path_registry().verifiers()) check_distributions(verifier->info());
}

void need_draft_sampling(const std::string& name) {
  if (!registry().drafter(name) && !path_registry().drafter(name))
    unknown("draft sampling", name, registry().drafters(), path_registry().drafters());
}

void SourceChoice::declare(CLI::App& app) {
  const auto declare_filter = [&app](const std::string& of, Filter& filter) {
    app.add_option("--" + of + "-temperature", filter.temperature, "temperature applied to the " + of)
        ->check(not_negative())
        ->capture_default_str();
    app.add_option("--" + of + "-top-k", filter.top_k, "keep the k likeliest tokens of the " + of + "; 0 keeps all")
        ->check(not_negative());
    app.add_option("--" + of + "-top-p", filter.top_p,
                   "keep the likeliest tokens of the " + of + " until their mass reaches this")
        ->check(between(0, 1));
    app.add_option("--" + of + "-min-p", filter.min_p,
                   "keep tokens of the " + of + " with at least this share of the largest probability")
        ->check(between(0, 1));
  };
  declare_filter("target", options.target_filter);
  declare_filter("proposal", options.proposal_filter);
  app.add_option_function<std::string>(
         "--positions",
         [this](const std::string& text) { options.selection = parse_positions(text, options.selection); },
         "a:b, such as 0:1000: use positions a to b - 1, from 0; those past the last position are left out")
      ->type_name("TEXT");
  app.add_option("--sample", options.selection.sample, "use this many positions, evenly spaced")->check(many());
  app.add_option("--draft-temperatures", options.draft_temperatures,
                 "use one proposal at several temperatures, one per draft, such as 1.0,1.2,1.4")
      ->delimiter(',')
      ->check(not_negative());
  app.add_option("--proposal", options.proposals,
                 "name of a proposal in the capture; several names for several draft models")
      ->delimiter(',');
}

Source SourceChoice::open(const std::string& spec, std::uint64_t seed) const {
  registry();  // the first call also registers the families
  SourceOptions with_seed = options;
  with_seed.seed = seed;
  return Source::open(spec, with_seed);
}

std::vector<Source> SourceChoice::open_whole(const std::vector<std::string>& specs, std::uint64_t seed,
                                             bool rows_too) const {
  std::vector<Source> sources;
  for (const auto& spec : specs) sources.push_back(open(spec, seed));
  for (const Source& source : sources) {
    if (!rows_too) break;
    if (source.describe().value("kind", "") == "family") continue;  // computed rows need no check
    for (std::size_t i = 0; i < source.positions() && !stop_requested(); ++i) source.pair(i);
  }
  return sources;
}

CLI::Option* add_position(CLI::App& app, std::size_t& position) {
  return app.add_option("--position", position, "index of a position in the source, from 0")
      ->check(not_negative())
      ->capture_default_str();
}

void need_position(const Source& source, std::size_t position) {
  if (position >= source.positions())
    throw InputError({.file = "--position",
                      .got = std::to_string(position),
                      .expected = fmt::format("a number below {}", source.positions())});
}

void DeviceChoice::declare(CLI::App& app) {
  app.add_option("--device", name, "device that runs draft tuples: cpu, or cuda if built in; counts are the same")
      ->capture_default_str();
}

const TrialDevice* DeviceChoice::device() const {
  if (name == "cpu") return nullptr;
  if (const TrialDevice* device = trial_device(name)) return device;
  std::string known = "cpu";
  for (const auto& device : found_trial_devices()) known += ", " + std::string(device->name());
  const bool without = name == "cuda";  // the program is not linked with the library that has this device
  throw InputError({.file = "--device",
                    .got = in_quotes(name),
                    .expected = (found_trial_devices().empty() ? known : "one of " + known) +
                                (without ? ": this program was built without CUDA (draftproof::cuda_trials)" : "")});
}

std::optional<ExitCode> DeviceChoice::absent(const Session& session) const {
  const TrialDevice* const chosen = device();
  const std::string missing = chosen ? chosen->missing() : "";
  if (missing.empty()) return std::nullopt;
  Document document;
  document.data = {{"schema", "draftproof.skipped/1"}, {"device", name}, {"skipped", missing}};
  document.sections.push_back({.title = "", .before = {"skipped: " + missing}});
  session.write(document);
  return exit_skipped;
}

}  // namespace draftproof
