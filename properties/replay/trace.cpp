#include <draftproof/properties/replay/trace.hpp>

#include <algorithm>
#include <span>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/paths/carried_target.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>

namespace draftproof {

namespace {

using Branches = std::vector<Branch<Rational>>;

std::string decisions_text(std::span<const Branch<Rational>> branches) {
  std::string text;
  for (const auto& step : branches) {
    if (!text.empty()) text += ", ";
    if (step.purpose == Purpose::flip)
      text += brief(step.probability) + (step.taken ? " yes" : " no");
    else
      text += fmt::format("picks {} of {}", step.taken, brief(step.probability));
  }
  return text.empty() ? "none" : text;
}

std::string spread_text(const Leaf<Rational>& leaf) {
  std::string text;
  for (const auto& [token, weight] : leaf.spread)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", token, brief(Rational(weight / leaf.spread_total)));
  return text;
}

/// Returns the emitted token, or the distribution from which it is drawn; a distribution on one token is shown as the
/// token.
std::string token_text(const Leaf<Rational>& leaf) {
  if (leaf.verdict.token >= 0) return std::to_string(leaf.verdict.token);
  if (leaf.spread.size() == 1) return std::to_string(leaf.spread.front().first);
  return "one of " + spread_text(leaf);
}

std::string accepted_text(const Verdict& verdict) {
  if (verdict.accepted >= 0) return fmt::format(", draft {} accepted", verdict.accepted + 1);
  return verdict.accepted == accepted_if_drafted ? ", accepted if drafted" : "";
}

std::string tokens_text(std::span<const Token> drafts) {
  return drafts.empty() ? "none" : fmt::format("{}", fmt::join(drafts, " "));
}

/// Returns the draws below node `u`. A child that was drawn several times is listed each time, but the draws below it
/// only once.
std::string draws_text(const DraftTree& tree, int u) {
  std::string text;
  std::vector<int> shown;
  for (const int child : tree.draws(u)) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", tree.token(child));
    if (tree.leaf(child) || std::find(shown.begin(), shown.end(), child) != shown.end()) continue;
    text += "(" + draws_text(tree, child) + ")";
    shown.push_back(child);
  }
  return text.empty() ? "none" : text;
}

std::string draw_text(const Draw& draw) {
  const double u = unit_interval(draw.word);
  switch (draw.purpose) {
    case Purpose::flip:
      return draw.den > 0 ? fmt::format("flip   u = {:.9f}   u * {:.9g} < {:.9g}: {}", u, draw.den, draw.num,
                                        draw.value ? "yes" : "no")
                          : fmt::format("flip   bits {:016x}", draw.word);
    case Purpose::pick:
      return fmt::format("pick   u = {:.9f}   token {}", u, draw.value);
    case Purpose::emit:
      return fmt::format("emit   u = {:.9f}   token {}", u, draw.value);
    case Purpose::noise:
      return fmt::format("noise  bits {:016x}", draw.word);
    default:
      return fmt::format("bits {:016x}", draw.word);
  }
}

/// Adds lines for at most 64 draws, because shared noise alone may be thousands of draws.
void add_draws(std::vector<std::string>& lines, std::string_view who, const Scripted& random) {
  constexpr std::size_t most = 64;
  for (std::size_t i = 0; i < random.draws().size() && i < most; ++i)
    lines.push_back(fmt::format("{}  {}", who, draw_text(random.draws()[i])));
  if (random.draws().size() > most)
    lines.push_back(fmt::format("{}  and {} more draws", who, random.draws().size() - most));
}

WordsOf<Philox> words_of(std::uint64_t seed, std::uint64_t trial, Philox::Role role) {
  return WordsOf<Philox>(Philox(seed, trial, role));
}

}  // namespace

DecisionTrace trace_instance(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance,
                             std::uint64_t most) {
  const auto rows = instance.rows();
  const auto decider = verifier.prove_on(rows, instance.drafts);
  DecisionTrace trace;
  Branches branches;
  Token tuple[max_drafts];
  int count = 0;
  std::size_t drawn = 0;
  Explorer<Rational> explorer({.leaves = most});
  explorer.watch(&branches);
  trace.whole = explorer.explore(
      [&](Explorer<Rational>& random) {
        count = drafter.draw(rows, instance.drafts, random, tuple);
        drawn = branches.size();
        return decider->decide({tuple, static_cast<std::size_t>(count)}, random);
      },
      [&](const Leaf<Rational>& leaf) {
        trace.lines.push_back({.drafts = tokens_text({tuple, static_cast<std::size_t>(count)}),
                               .decisions = decisions_text(std::span(branches).subspan(drawn)),
                               .emitted = token_text(leaf) + accepted_text(leaf.verdict),
                               .probability = brief(leaf.probability)});
      });
  return trace;
}

DecisionTrace trace_instance(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                             const PathInstance& instance, std::uint64_t most) {
  const auto conditionals = declared_instance(drafter.info(), instance).conditionals();
  const auto decider = verifier.prove_on(conditionals, instance.shape);
  DecisionTrace trace;
  Branches branches;
  DraftTree tree;
  StepOutput output;
  std::size_t drawn = 0;
  Explorer<Rational> explorer({.leaves = most});
  explorer.watch(&branches);
  trace.whole = explorer.explore(
      [&](Explorer<Rational>& random) {
        tree.clear(0);
        drafter.draw(conditionals, instance.shape, random, tree);
        drawn = branches.size();
        output = decider->decide(tree, {}, random);
        return output.extra;
      },
      [&](const Leaf<Rational>& leaf) {
        trace.lines.push_back({.drafts = draws_text(tree, DraftTree::root),
                               .decisions = decisions_text(std::span(branches).subspan(drawn)),
                               .emitted = prefix_text(path_to(tree, output.node)) + " then " + token_text(leaf),
                               .probability = brief(leaf.probability)});
      });
  return trace;
}

template <class L>
std::vector<std::string> trace_trial(const AnyVerifier& verifier, const AnyDrafter& drafter, const L& distributions,
                                     int drafts, std::uint64_t seed, std::uint64_t trial) {
  const auto decider = verifier.scripted_on(distributions, drafts);
  if (!decider) throw std::invalid_argument(std::string(verifier.info().unsupported.simulate));
  auto draft_words = words_of(seed, trial, Philox::Role::draft);
  auto verify_words = words_of(seed, trial, Philox::Role::verify);
  Scripted drafting(draft_words), verifying(verify_words);
  Token tuple[max_drafts];
  const int count = drafter.draw(distributions, drafts, drafting, tuple);
  const Verdict verdict = decider->decide({tuple, static_cast<std::size_t>(count)}, verifying);
  std::vector<std::string> lines;
  add_draws(lines, "drafter ", drafting);
  for (int k = 0; k < count; ++k) {
    const double p = static_cast<double>(distributions.target(tuple[k])),
                 q = static_cast<double>(distributions.proposal(tuple[k], k));
    lines.push_back(fmt::format("draft {}   token {}   p = {:.9g}   q = {:.9g}   p/q = {:.9g}", k + 1, tuple[k], p, q,
                                q > 0 ? p / q : 0));
  }
  add_draws(lines, "verifier", verifying);
  lines.push_back(verdict.token < 0 ? std::string("a branch of probability zero was reached")
                                    : fmt::format("emits     token {}   p = {:.9g}{}", verdict.token,
                                                  static_cast<double>(distributions.target(verdict.token)),
                                                  verdict.accepted >= 0 ? accepted_text(verdict) : ""));
  return lines;
}

template std::vector<std::string> trace_trial(const AnyVerifier&, const AnyDrafter&, const Rows<double>&, int,
                                              std::uint64_t, std::uint64_t);
template std::vector<std::string> trace_trial(const AnyVerifier&, const AnyDrafter&, const RatioTable&, int,
                                              std::uint64_t, std::uint64_t);

std::vector<std::string> trace_trial(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                                     const PathInstance& instance, std::uint64_t seed, std::uint64_t trial) {
  const auto conditionals = as_doubles(declared_instance(drafter.info(), instance).conditionals());
  const auto decider = verifier.scripted_on(conditionals, instance.shape);
  if (!decider) throw std::invalid_argument(std::string(verifier.info().unsupported.simulate));
  auto draft_words = words_of(seed, trial, Philox::Role::draft);
  auto verify_words = words_of(seed, trial, Philox::Role::verify);
  Scripted drafting(draft_words), verifying(verify_words);
  DraftTree tree(0);
  drafter.draw(conditionals, instance.shape, drafting, tree);
  const StepOutput output = decider->decide(tree, {}, verifying);
  std::vector<std::string> lines;
  add_draws(lines, "drafter ", drafting);
  lines.push_back("drafts    " + draws_text(tree, DraftTree::root));
  add_draws(lines, "verifier", verifying);
  lines.push_back(fmt::format("emits     {} then {}", prefix_text(path_to(tree, output.node)), output.extra.token));
  return lines;
}

}  // namespace draftproof
