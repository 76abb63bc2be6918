#include <draftproof/adapters/gate/selection_checks.hpp>

#include <map>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include <draftproof/adapters/wire/selection_message.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/components/selection/selection_group.hpp>

namespace draftproof::adapters {
namespace {

std::vector<double> as_doubles(std::span<const Rational> values) {
  std::vector<double> result;
  for (const Rational& value : values) result.push_back(static_cast<double>(value));
  return result;
}

ServedSelection as_served(const SelectionView<Rational>& view) {
  ServedSelection selection{.vocabulary = 0, .budget = view.budget, .cost = as_doubles(view.cost)};
  for (const DraftedRequest<Rational>& from : view.requests) {
    ServedSelection::Request& request = selection.requests.emplace_back();
    selection.vocabulary = static_cast<int>(from.row.front().size());
    for (int u = 1; u < from.size(); ++u) {
      const auto at = static_cast<std::size_t>(u), parent = static_cast<std::size_t>(from.parent[at]);
      request.drafts.push_back(from.token[at]);
      request.parents.push_back(from.parent[at] - 1);
      request.q.push_back(as_doubles(from.row[parent]));
      request.legal.emplace_back(from.legal[parent].begin(), from.legal[parent].end());
    }
    request.confidence = as_doubles(from.confidence);
    request.accepted = from.accepted;
    request.past_confidence = as_doubles(from.past_confidence);
  }
  return selection;
}

/// The policy of a program, as a rule for the checks. It cannot be copied, because the rule refers to this object.
class ExternalPolicy {
 public:
  explicit ExternalPolicy(Served& program)
      : program_{program},
        name_{program.declaration().name},
        info_{.name = name_, .summary = "selection policy of an adapter", .source = name_} {}
  ExternalPolicy(const ExternalPolicy&) = delete;
  ExternalPolicy& operator=(const ExternalPolicy&) = delete;

  SelectionRule rule() {
    const DeclaredSelection& declared = program_.declaration().selection;
    return {&info_, declared.cut, declared.trees, declared.matching_alone,
            [this](const SelectionView<Rational>& view, Explorer<Rational>&) { return keep(as_served(view)); }};
  }

 private:
  using Flags = std::vector<std::vector<std::uint8_t>>;

  KeptDrafts keep(const ServedSelection& selection) {
    const std::string view = to_fields(selection).dump();
    auto found = known_.find(view);
    if (found == known_.end()) {
      if (known_.size() >= most_known) known_.clear();
      Flags flags = program_.select(selection);
      for (int again = asked_again(); again > 0; --again) draws_ |= program_.select(selection) != flags;
      found = known_.emplace(view, std::move(flags)).first;
    }
    // The checks need one choice for each view. A policy that draws its own random numbers may choose differently each
    // time, and its numbers cannot be scripted.
    if (draws_)
      throw EnumerationCut("two calls on one view chose differently: a policy must be a function of its view");
    KeptDrafts kept;
    for (const auto& flags : found->second) {
      kept.emplace_back(1, true);  // the context itself
      for (const std::uint8_t flag : flags) kept.back().push_back(flag != 0);
    }
    return kept;
  }

  /// Returns how many further times the choice for the next view is requested: more times for the first views, because
  /// the first case has few views.
  int asked_again() {
    constexpr int often = 8, twice = 64;
    ++views_;
    return views_ <= often ? often : views_ <= twice ? 1 : 0;
  }

  static constexpr std::size_t most_known = 100'000;

  Served& program_;
  std::string name_;
  ComponentInfo info_;
  std::map<std::string, Flags> known_{};
  int views_ = 0;
  bool draws_ = false;
};

void tell_replay(Finding& finding, const SelectionCheckOptions& options) {
  finding.replay =
      finding.instance.empty()
          ? replay_line("check", "",
                        {{"adapter", options.adapter}, {"tier", "proof"}, {"seed", std::to_string(options.seed)}})
          : replay_line(
                "replay", "",
                {{"adapter", options.adapter}, {"property", finding.property}, {"instance", finding.instance}});
}

}  // namespace

bool is_selection_case(const Declaration& declaration, std::string_view text) {
  return declaration.has("select") && text.starts_with("budget=");
}

std::vector<Finding> check_selection(Served& program, const SelectionCheckOptions& options) {
  ExternalPolicy policy(program);
  component_registry();  // registers the checks
  const ComponentOf<SelectionGroup> component(policy.rule(), Kind::verifier);
  std::vector<Finding> findings =
      component.examine({.seed = options.seed, .tries_alone = false, .cases = options.cases});
  for (Finding& finding : findings)
    for (const std::string& text : options.first) {
      auto here = component.examine_one(finding.property, text);
      if (here->status != Status::failed) continue;
      finding = std::move(*here);
      break;
    }
  for (Finding& finding : findings) tell_replay(finding, options);
  return findings;
}

std::vector<Finding> check_selection_on(Served& program, std::string_view property, const std::string& instance,
                                        const SelectionCheckOptions& options) {
  ExternalPolicy policy(program);
  component_registry();
  const ComponentOf<SelectionGroup> component(policy.rule(), Kind::verifier);
  std::vector<Finding> findings;
  std::string names;
  for (const auto& check : checks_of<SelectionGroup>().all()) {
    names += (names.empty() ? "" : " or ") + std::string(check.name);
    if (!property.empty() && check.name != property) continue;
    try {
      findings.push_back(*component.examine_one(check.name, instance));
    } catch (const std::invalid_argument& error) {
      throw InputError(
          {.file = "--instance", .got = error.what(), .expected = "a case as printed by the failed check"});
    }
    tell_replay(findings.back(), options);
  }
  if (findings.empty())
    throw InputError({.file = "--property", .got = in_quotes(std::string(property)), .expected = names});
  return findings;
}

}  // namespace draftproof::adapters
