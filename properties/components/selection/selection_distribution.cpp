#include <draftproof/properties/components/selection/selection_distribution.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <draftproof/optimum/paths/tree_certificate.hpp>
#include <draftproof/properties/paths/carried_target.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>

namespace draftproof {

namespace {

constexpr std::size_t most_joint_sequences = 1'000'000;

Rational tenths(int value) { return value < 0 ? Rational(1) : Rational(value, 10); }

/// Throws: std::logic_error, which fails the check, if the choice has the wrong shape or skips a parent.
void need_kept(const KeptDrafts& kept, const std::vector<DraftTree>& drafts) {
  if (kept.size() != drafts.size()) throw std::logic_error("the policy chose for another number of requests");
  for (std::size_t r = 0; r < kept.size(); ++r) {
    if (std::ssize(kept[r]) != drafts[r].size())
      throw std::logic_error(fmt::format("the policy returned {} nodes for request {}, expected {}", kept[r].size(),
                                         r, drafts[r].size()));
    for (int u = 1; u < drafts[r].size(); ++u)
      if (kept[r][index(u)] && drafts[r].parent(u) > 0 && !kept[r][index(drafts[r].parent(u))])
        throw std::logic_error(fmt::format("draft {} of request {} is kept without the draft before it", u, r));
  }
}

/// Appends to `masses`, in lexical order, the probability of every sequence of `left` more tokens after `prefix`, if
/// outputs that end earlier are continued by the target. `emitted` has the mass of the outputs; `ended` is the mass of
/// outputs that ended before this prefix and were continued to it.
void complete(const std::map<Tokens, Rational>& emitted, const PrefixTable<Rows<Rational>>& model, Tokens& prefix,
              int context, int left, Rational ended, std::vector<Rational>& masses) {
  if (const auto here = emitted.find(prefix); here != emitted.end()) ended += here->second;
  if (left == 0) return masses.push_back(std::move(ended));
  for (Token x = 0; x < model.vocabulary(); ++x) {
    prefix.push_back(x);
    complete(emitted, model, prefix, model.next(context, x), left - 1, ended * model.distributions(context).target(x),
             masses);
    prefix.pop_back();
  }
}

}  // namespace

std::string SelectionInput::text() const {
  constexpr std::array<std::string_view, 4> kinds{"token at", "confidence after", "row of q after", "grammar after"};
  return fmt::format("the {} position {} of request {}", kinds[static_cast<std::size_t>(what)], position, request);
}

SelectionAnalysis::SelectionAnalysis(const SelectionRule& policy, const SelectionCase& one)
    : policy_{policy}, case_{one} {
  for (const SelectionCaseRequest& given : one.requests) requests_.push_back(request_of(given));
}

SelectionAnalysis::Request SelectionAnalysis::request_of(const SelectionCaseRequest& given) {
  Request request{.given = &given, .conditionals = given.model.conditionals()};
  for (const Tokens& prefix : prefixes_up_to(given.model.vocabulary(), given.model.listed_length())) {
    const PrefixWeights& rows = given.model.after(prefix);
    request.rows.push_back(normalised(rows.proposal));
    auto& legal = request.legal.emplace_back();
    for (const int weight : rows.target) legal.push_back(weight > 0);
    request.confidence.push_back(tenths(rows.confidence));
  }
  for (const int value : given.past) request.past.push_back(tenths(value));
  request.past.resize(index(given.model.shape.length), Rational(1));
  return request;
}

bool SelectionAnalysis::has(VerifyRule rule) const {
  return std::all_of(case_.requests.begin(), case_.requests.end(),
                     [rule](const auto& request) { return !verifier_of(rule, request.chain()).empty(); });
}

using Input = SelectionInput::What;

std::vector<SelectionInput> SelectionAnalysis::inputs() const {
  std::vector<SelectionInput> inputs;
  for (std::size_t r = 0; r < requests_.size(); ++r)
    for (int position = 1; position <= requests_[r].given->model.shape.length; ++position)
      for (const Input kind : {Input::token, Input::confidence, Input::row, Input::grammar})
        if (position < requests_[r].given->model.shape.length || kind == Input::token || kind == Input::confidence)
          inputs.push_back({kind, static_cast<int>(r), position});
  return inputs;
}

SelectionView<Rational> SelectionAnalysis::view_of(const std::vector<DraftTree>& drafts,
                                                   const std::vector<DraftTree>& redrawn,
                                                   const Masked& masked) const {
  SelectionView<Rational> view{.requests = {}, .budget = case_.budget, .cost = {}};
  for (const int cost : case_.cost) view.cost.push_back(tenths(cost));
  if (view.cost.empty()) view.cost.push_back(1);
  for (std::size_t r = 0; r < requests_.size(); ++r) {
    const Request& from = requests_[r];
    const DraftTree& tree = drafts[r];
    DraftedRequest<Rational> request;
    for (int u = 0; u < tree.size(); ++u) {
      const auto source = [&](Input kind) -> const DraftTree& {
        const SelectionInput input{kind, static_cast<int>(r), tree.depth(u)};
        return std::find(masked.begin(), masked.end(), input) == masked.end() ? tree : redrawn[r];
      };
      const auto context = [&](Input kind) { return index(source(kind).context(u)); };
      request.parent.push_back(std::max(tree.parent(u), 0));
      request.depth.push_back(tree.depth(u));
      request.token.push_back(source(Input::token).token(u));
      request.confidence.push_back(from.confidence[context(Input::confidence)]);
      if (tree.leaf(u)) {
        request.row.emplace_back();
        request.legal.emplace_back();
      } else {
        request.row.emplace_back(from.rows[context(Input::row)]);
        request.legal.emplace_back(from.legal[context(Input::grammar)]);
      }
    }
    request.accepted = from.given->accepted;
    request.past_confidence = from.past;
    view.requests.push_back(std::move(request));
  }
  return view;
}

void SelectionAnalysis::each_choice(const Masked& masked, const Visit& visit) {
  std::vector<DraftTree> drafts(requests_.size()), redrawn(requests_.size());
  KeptDrafts kept;
  Explorer<Rational> explorer;
  const auto draw = [&](std::size_t r, Explorer<Rational>& random, DraftTree& tree) {
    tree.clear(0);
    drafter_of_cases().draw(requests_[r].conditionals, requests_[r].given->model.shape, random, tree);
  };
  const bool whole = explorer.explore(
      [&](Explorer<Rational>& random) {
        for (std::size_t r = 0; r < drafts.size(); ++r) draw(r, random, drafts[r]);
        for (std::size_t r = 0; r < drafts.size(); ++r)
          if (std::any_of(masked.begin(), masked.end(), [r](const auto& input) { return index(input.request) == r; }))
            draw(r, random, redrawn[r]);
        kept = policy_.keep(view_of(drafts, redrawn, masked), random);
        need_kept(kept, drafts);
        return Verdict{0, none_accepted};
      },
      [&](const Leaf<Rational>& leaf) { visit(drafts, kept, leaf.probability); });
  work_ += explorer.leaves();
  if (!whole) throw EnumerationCut(fmt::format("more than {} tuples of drafts", explorer.leaves()));
}

std::optional<std::string> SelectionAnalysis::anticipation() {
  struct Share {
    Rational kept = 0, all = 0;
  };
  std::map<std::tuple<std::size_t, int, Tokens>, std::map<Token, Share>> shares;
  const bool next = policy_.cut == SelectionCut::after_with_token;
  each_choice({}, [&](const std::vector<DraftTree>& drafts, const KeptDrafts& kept, const Rational& probability) {
    for (std::size_t r = 0; r < drafts.size(); ++r) {
      Tokens before;
      for (int u = 1; u < drafts[r].size(); ++u) {
        Share& share = shares[{r, u, before}][drafts[r].token(u)];
        const int decides = next ? drafts[r].parent(u) : u;
        share.all += probability;
        if (decides == 0 || kept[r][index(decides)]) share.kept += probability;
        before.push_back(drafts[r].token(u));
      }
    }
  });
  for (const auto& [draft, by_token] : shares) {
    const auto& [request, u, before] = draft;
    Share sum;
    for (const auto& [token, share] : by_token) sum.kept += share.kept, sum.all += share.all;
    for (const auto& [token, share] : by_token)
      if (share.kept * sum.all != sum.kept * share.all)
        return fmt::format(
            "draft {} of request {}, after {}, is {} with probability {}, and with {} given its token {}", u, request,
            prefix_text(before), next ? "reached" : "kept", to_text(Rational(sum.kept / sum.all)),
            to_text(Rational(share.kept / share.all)), token);
  }
  return std::nullopt;
}

SelectionAnalysis::Verified SelectionAnalysis::verified(const DraftTree& tree, const std::vector<bool>& kept) const {
  const bool cut_before = policy_.cut == SelectionCut::before_verification;
  Verified verified{tree.size()};  // an output limit that has no effect
  if (!cut_before)
    verified[0] = static_cast<int>(std::count(kept.begin() + 1, kept.end(), true)) +
                  (policy_.cut == SelectionCut::after_with_token ? 1 : 0);
  std::vector<int> renamed(index(tree.size()));
  for (int u = 1, next = 1; u < tree.size(); ++u)
    if (!cut_before || kept[index(u)]) {
      renamed[index(u)] = next++;
      verified.insert(verified.end(), {renamed[index(tree.parent(u))], tree.token(u)});
    }
  return verified;
}

SelectionAnalysis::Choices SelectionAnalysis::choices(const Masked& masked) {
  Choices found;
  each_choice(masked, [&](const std::vector<DraftTree>& drafts, const KeptDrafts& kept, const Rational& probability) {
    std::vector<Verified> batch;
    for (std::size_t r = 0; r < drafts.size(); ++r) batch.push_back(verified(drafts[r], kept[r]));
    found[std::move(batch)] += probability;
  });
  return found;
}

const SelectionAnalysis::Emitted& SelectionAnalysis::emitted(Request& request, VerifyRule rule,
                                                             const Verified& verified) {
  Emitted& distribution = request.emitted[{rule, verified}];
  if (!distribution.empty()) return distribution;
  auto& decider = request.deciders[static_cast<std::size_t>(rule)];
  if (!decider)
    decider = path_registry()
                  .verifier(verifier_of(rule, request.given->chain()))
                  ->prove_on(request.conditionals, request.given->model.shape);
  DraftTree tree(0);
  for (std::size_t i = 1; i < verified.size(); i += 2) {
    const int parent = verified[i], token = verified[i + 1];
    tree.draw(parent, token, request.conditionals.next(tree.context(parent), token));
  }
  const auto add = [&](int node, Token extra, const Rational& probability) {
    Tokens tokens = path_to(tree, node);
    tokens.push_back(extra);
    tokens.resize(std::min(tokens.size(), index(verified[0])));
    distribution[std::move(tokens)] += probability;
  };
  if (!explore_steps<Distributions, Rational>(*decider, tree, {}, ExplorerLimits{}, add, &work_))
    throw EnumerationCut("too many branches of the verifier");
  return distribution;
}

std::optional<std::string> SelectionAnalysis::wrong_output(VerifyRule rule, const Masked& masked) {
  Choices masked_choices;
  if (!masked.empty())
    masked_choices = choices(masked);
  else if (!unmasked_)
    unmasked_ = choices({});
  const Choices& all = masked.empty() ? *unmasked_ : masked_choices;
  for (std::size_t r = 0; r < requests_.size(); ++r) {
    std::map<Verified, Rational> own;
    for (const auto& [batch, probability] : all) own[batch[r]] += probability;
    Emitted distribution;
    for (const auto& [tree, probability] : own)
      for (const auto& [tokens, mass] : emitted(requests_[r], rule, tree)) distribution[tokens] += probability * mass;
    if (const auto wrong = first_wrong_prefix(distribution, requests_[r].conditionals))
      return fmt::format("request {}: {}", r, wrong->text());
  }
  return requests_.size() > 1 ? dependence(rule, all) : std::nullopt;
}

std::optional<std::string> SelectionAnalysis::dependence(VerifyRule rule, const Choices& choices) {
  // The output lengths of requests that share a budget depend on each other, so every output is first extended with
  // tokens of the target to the largest length that a step emits.
  const auto completed = [](const Request& request, const Emitted& distribution) {
    std::vector<Rational> masses;
    Tokens prefix;
    complete(distribution, request.conditionals, prefix, 0, request.given->model.shape.length + 1, 0, masses);
    return masses;
  };
  std::vector<std::map<Verified, std::vector<Rational>>> outputs(requests_.size());
  std::vector<Rational> wanted{1}, got;
  const auto times = [](const std::vector<Rational>& a, const std::vector<Rational>& b) {
    if (a.size() * b.size() > most_joint_sequences) throw EnumerationCut("too many outputs of all requests together");
    std::vector<Rational> product;
    for (const Rational& x : a)
      for (const Rational& y : b) product.push_back(x * y);
    return product;
  };
  for (const Request& request : requests_) wanted = times(wanted, completed(request, {{{}, 1}}));
  got.resize(wanted.size());
  for (const auto& [batch, probability] : choices) {
    std::vector<Rational> together{probability};
    for (std::size_t r = 0; r < requests_.size(); ++r) {
      auto& distribution = outputs[r][batch[r]];
      if (distribution.empty()) distribution = completed(requests_[r], emitted(requests_[r], rule, batch[r]));
      together = times(together, distribution);
    }
    for (std::size_t i = 0; i < got.size(); ++i) got[i] += together[i];
  }
  if (got == wanted) return std::nullopt;
  return fmt::format(
      "each request has the right distribution but they are not independent: TV {} between their joint "
      "outputs and the product of the targets",
      brief(total_variation(got, wanted)));
}

std::string SelectionAnalysis::seen(VerifyRule rule) {
  constexpr std::size_t most = 3;
  const std::vector<SelectionInput> all = inputs();
  Masked chosen;
  // Tries the subsets of one size, in the order of the inputs.
  const std::function<bool(std::size_t, std::size_t)> search = [&](std::size_t from, std::size_t left) {
    if (left == 0) return !wrong_output(rule, chosen);
    for (std::size_t i = from; i + left <= all.size(); ++i) {
      chosen.push_back(all[i]);
      if (search(i + 1, left - 1)) return true;
      chosen.pop_back();
    }
    return false;
  };
  if (wrong_output(rule, all)) return "drafts, and keeps some without siblings that were drawn before them";
  std::size_t size = 1;
  while (size <= most && !search(0, size)) ++size;
  if (size > most) return fmt::format("more than {} of its inputs", most);
  std::string text;
  for (const SelectionInput& input : chosen) text += (text.empty() ? "" : " and ") + input.text();
  return text;
}

}  // namespace draftproof
