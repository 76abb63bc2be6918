// `draftproof list` and `draftproof describe NAME`: everything registered, and all information on one entry.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <draftproof/captures/family.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof::commands {

namespace detail {

/// Returns verifiers, samplings, properties, components, instances, families, and what other libraries have added.
/// Entries of one kind follow each other.
inline std::vector<Listed> inventory() {
  std::vector<Listed> all;
  const auto add = [&all](std::string kind, std::string_view name, std::string_view about) {
    all.push_back({std::move(kind), std::string(name), std::string(about)});
  };
  const auto plural = [](Kind kind) {
    return kind == Kind::lossy ? "lossy schemes" : std::string(name_of(kind)) + "s";
  };
  for (const auto& one : registry().verifiers()) add(plural(one->kind()), one->info().name, one->info().summary);
  for (const auto& one : registry().drafters()) add("draft samplings", one->info().name, one->info().summary);
  for (const auto& one : registry().wrong_drafters()) add("wrong drafters", one->info().name, one->info().summary);
  for (const auto& one : path_registry().wrong_drafters())
    if (one->info().wrong) add("wrong drafters", one->info().name, one->info().summary);
  for (const Property& one : registry().properties()) add("properties", one.name, one.about);
  for (const auto& one : path_registry().verifiers())
    add("path " + plural(one->kind()), one->info().name, one->info().summary);
  for (const auto& one : path_registry().drafters()) add("tree samplings", one->info().name, one->info().summary);
  for (const auto& one : path_registry().wrong_drafters())  // drafters in this list without `wrong` are correct
    if (!one->info().wrong) add("tree samplings", one->info().name, one->info().summary);
  for (const PathProperty& one : path_registry().properties()) add("path properties", one.name, one.about);
  for (const auto& one : component_registry().components())
    add(one->kind() == Kind::verifier ? "components" : "wrong components", one->qualified_name(),
        one->info().summary);
  for (const Generator& one : registry().generators()) add("instances", one.name, one.about);
  for (const FamilyInfo& one : known_families()) add("families", one.name, one.about);
  all.insert(all.end(), more_to_list().begin(), more_to_list().end());
  return all;
}

}  // namespace detail

struct List {
  static constexpr std::string_view name = "list";
  static constexpr std::string_view about =
      "lists verifiers, mutants, draft samplings, properties, families and studies";
  static constexpr std::string_view example = "list";

  void declare(CLI::App&) {}

  int run(const Session& session) const {
    Document document;
    document.data = {{"schema", "draftproof.list/3"}};
    const auto add = [&document](const std::string& kind, std::string_view item, std::string_view summary) {
      if (document.sections.empty() || document.sections.back().title != kind)
        document.sections.push_back({.title = kind, .table = {{{"name"}, {"what it is"}}, {}}});
      document.sections.back().table.rows.push_back({{std::string(item)}, {std::string(summary)}});
      std::string field = kind;
      std::replace(field.begin(), field.end(), ' ', '_');
      document.data[field].push_back({{"name", item}, {"summary", summary}});
    };
    for (const Listed& entry : detail::inventory()) add(entry.kind, entry.name, entry.about);
    session.write(document);
    return exit_passed;
  }
};

struct Describe {
  static constexpr std::string_view name = "describe";
  static constexpr std::string_view about = "prints one entry of `draftproof list` in full";
  static constexpr std::string_view example = "describe k_seq";

  std::string item;

  void declare(CLI::App& app) { app.add_option("name", item, "name as printed by `draftproof list`")->required(); }

  int run(const Session& session) const {
    Document document;
    document.data = {{"schema", "draftproof.describe/3"}};
    document.sections.push_back({.title = item, .table = {{{""}, {""}}, {}}});
    const auto families = known_families();
    const auto family =
        std::find_if(families.begin(), families.end(), [this](const auto& f) { return f.name == item; });
    if (family != families.end())
      describe_family(document, *family);
    else if (const auto* drafter = registry().drafter(item))
      describe_drafter(document, drafter->info());
    else if (const auto* tree_drafter = path_registry().drafter(item))
      describe_tree_drafter(document, tree_drafter->info());
    else if (const auto* verifier = path_registry().verifier(item))
      describe_path_verifier(document, *verifier);
    else if (const auto* of_position = registry().verifier(item))
      describe_verifier(document, *of_position);
    else
      describe_entry(document);
    session.write(document);
    return exit_passed;
  }

 private:
  static void add(Document& document, const std::string& key, const std::string& value) {
    document.sections.back().table.rows.push_back({{key}, {value}});
    std::string field = key;  // name of the field: spaces become underscores
    std::replace(field.begin(), field.end(), ' ', '_');
    document.data[field] = value;
  }

  static void describe_verifier(Document& document, const AnyVerifier& verifier) {
    const Info& info = verifier.info();
    add(document, "kind", std::string(name_of(verifier.kind())));
    std::string samplings;
    for (std::size_t i = 0; i < info.drafts.count; ++i)
      samplings += fmt::format("{}{}", i ? ", " : "", info.drafts.names[i]);
    describe_scheme(document, info, verifier.kind(), samplings);
    add_runs(document, "CUDA kernel", info.unsupported.device);
    if (!info.unsupported.device_trials.empty()) add_runs(document, "CUDA trials", info.unsupported.device_trials);
  }

  static void describe_path_verifier(Document& document, const AnyPathVerifier& verifier) {
    add(document, "kind", "path " + std::string(name_of(verifier.kind())));
    std::string trees;
    for (const AnyTreeDrafter* drafter : path_registry().drafters_of(verifier.info()))
      trees += fmt::format("{}{}", trees.empty() ? "" : ", ", drafter->info().name);
    describe_scheme(document, verifier.info(), verifier.kind(), trees);
    add(document, "carries state", verifier.stateful() ? "yes" : "no");
  }

  /// Adds the rows that schemes of positions and schemes of paths have in common.
  static void describe_scheme(Document& document, const Info& info, Kind kind, const std::string& samplings) {
    add(document, "what it does", std::string(info.summary));
    add(document, "source", std::string(info.source));
    add(document, "draft samplings", info.drafts.any() ? "any" : samplings);
    add(document, "promise", promise_text(info, kind));
    if (!info.derived_from.empty()) add(document, "a bug of", std::string(info.derived_from));
    add(document, "drafts", info.most_drafts == 0 ? "any number" : fmt::format("at most {}", info.most_drafts));
    const auto claim = [&document](bool claimed, const char* text) {
      if (claimed)
        document.sections.back().table.rows.push_back({{"claims"}, {text}}), document.data["claims"].push_back(text);
    };
    claim(info.claims.accepts_equal_distributions, "p = q: a draft is always accepted");
    claim(info.claims.one_draft_is_single_draft, "K = 1: acceptance is sum min(p, q)");
    claim(info.claims.emitted_drafts_are_accepted, "every emitted draft counts as accepted");
    claim(info.claims.more_drafts_never_hurt, "acceptance does not fall as K grows");
    claim(info.claims.drafter_invariant, "the token does not depend on the proposal or the drafts");
    if (info.shared_noise) add(document, "reads noise of the drafter", "yes");
    claim(info.claims.one_path_is_token_path, "on one path it accepts and emits exactly as token verification does");
    claim(info.claims.one_path_is_block, "on one path it accepts and emits exactly as block verification does");
    if (info.ranks_tokens) add(document, "breaks ties by token id", "yes");
    add_runs(document, "explored exactly", info.unsupported.explore);
    add_runs(document, "simulated on tables", info.unsupported.simulate);
    add_runs(document, "timed on fresh rows", info.unsupported.fresh);
  }

  /// Describes components, properties, and whatever has no information beyond its entry.
  void describe_entry(Document& document) const {
    const std::vector<Listed> all = detail::inventory();
    const auto entry = std::find_if(all.begin(), all.end(), [this](const Listed& one) { return one.name == item; });
    const AnyComponent* const component = component_registry().component(item);
    if (entry == all.end() && component == nullptr) unknown_entry(all, item);
    if (component != nullptr) {
      add(document, "kind", component->kind() == Kind::verifier ? "component" : "wrong component");
      add(document, "what it does", std::string(component->info().summary));
      add(document, "source", std::string(component->info().source));
      add(document, "group", std::string(component->group()));
      add(document, "judged by", fmt::format("draftproof check {}", component->qualified_name()));
      return;
    }
    const bool property = describe_property(document, registry().properties(), "positions");
    if (describe_property(document, path_registry().properties(), "paths") || property) return;
    const std::string kind = entry->kind == "studies"     ? "study"
                             : entry->kind == "instances" ? "instances"
                                                          : entry->kind;
    add(document, "kind", kind);
    add(document, "what it is", entry->about);
    if (kind == "study") add(document, "run by", "draftproof reproduce " + item);
    if (kind == "instances")
      add(document, "used by", "draftproof prove, check and mutants: a family of small distributions");
  }

  /// Adds the description of the property with this name. Returns whether there is one.
  template <class Properties>
  bool describe_property(Document& document, const Properties& properties, const std::string& level) const {
    const auto found =
        std::find_if(properties.begin(), properties.end(), [this](const auto& one) { return one.name == item; });
    if (found == properties.end()) return false;
    if (!document.data.contains("kind")) {
      add(document, "kind", "property");
      add(document, "what it says", std::string(found->about));
      add(document, "tier", std::string(to_text(found->tier)));
    }
    add(document, "checked on " + level,
        fmt::format("{} generated instances{}", found->every == 1 ? "all" : fmt::format("one in {}", found->every),
                    found->explores ? "" : ", also of verifiers that cannot be enumerated"));
    return true;
  }

  static void add_runs(Document& document, const char* interpreter, std::string_view reason) {
    add(document, interpreter, reason.empty() ? "yes" : "no: " + std::string(reason));
  }

  static void describe_tree_drafter(Document& document, const TreeDrafterInfo& info) {
    add(document, "kind", "tree sampling");
    add(document, "what it does", std::string(info.summary));
    add(document, "drafts at a node",
        info.fixed                ? "a function of the context"
        : info.has_fixed_children ? "the most probable tokens, then without replacement from the rest"
        : info.shared_suffix      ? "the most probable tokens at the root, then one path that they share"
        : info.distinct_siblings  ? "without replacement"
                                  : "independent");
    add(document, "takes a stem", info.has_stem ? "yes" : "no");
    add(document, "takes numbers of children by depth", info.branches ? "yes" : "no");
    add(document, "takes a number of fixed children", info.has_fixed_children ? "yes" : "no");
    if (info.prunes) add(document, "takes a number of nodes", "yes");
    add(document, "breaks ties by token id", info.ranks_tokens ? "yes" : "no");
    if (info.row == DraftRow::last_token)
      add(document, "drafts from the row of", "the last token, which it declares");
    if (!info.declared_as.empty())
      add(document, info.wrong ? "wrong: declares the sampling of" : "given that row, the sampling of",
          std::string(info.declared_as));
    if (info.shared_noise())
      add(document, "through shared noise, the sampling of", std::string(info.marginal_sampling_of));
  }

  static std::string promise_text(const Info& info, Kind kind) {
    if (info.promise == Promise::lossless_up_to) return fmt::format("lossless up to {}", info.tau);
    const auto shown = fmt::format("draftproof prove {} shows its distribution and distance", info.name);
    if (info.promise == Promise::lossy) return "lossy by design: " + shown;
    return kind == Kind::verifier ? "lossless" : "lossless, and broken: " + shown;
  }

  static void describe_drafter(Document& document, const DrafterInfo& info) {
    add(document, "kind", "draft sampling");
    add(document, "what it does", std::string(info.summary));
    add(document, "proposals", info.several_proposals ? "one per draft" : "one for all drafts");
    add(document, "needs as many tokens as drafts", info.needs_k_tokens ? "yes" : "no");
    add(document, "breaks ties by token id", info.ranks_tokens ? "yes" : "no");
    if (info.misdeclares()) add(document, "wrong: declares the sampling of", std::string(info.declared_as));
    if (info.shared_noise())
      add(document, "through shared noise, the sampling of", std::string(info.marginal_sampling_of));
  }

  static void describe_family(Document& document, const FamilyInfo& family) {
    add(document, "kind", "family");
    add(document, "what it is", family.about);
    for (const ParameterInfo& parameter : family.parameters)
      add(document, parameter.name,
          fmt::format("{} (default {}, {} to {})", parameter.about, parameter.initial, parameter.low,
                      parameter.high));
    add(document, "positions", "number of positions to generate");
  }
};

}  // namespace draftproof::commands
