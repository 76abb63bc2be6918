#include <draftproof/adapters/built_in/built_in_verifier.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <draftproof/adapters/built_in/drafted_input.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof::adapters {
namespace {

/// Number of inputs whose plans are cached, as many as a gate makes from one model.
constexpr std::size_t most_recent = 64;

AdapterError unfit(std::string_view name, const std::string& what, std::string_view found, std::string_view wanted) {
  return AdapterError(fmt::format("verifier {}: {}: got {}, expected {}", name, what, found, wanted));
}

/// Returns the default tree drafter of a verifier. Among the drafters that fit the verifier, this is the first whose
/// name the verifier's info lists, else iid_paths, else the first of all.
const AnyTreeDrafter* first_trees(const Info& info) {
  const auto fitting = path_registry().drafters_of(info);
  for (const AnyTreeDrafter* one : fitting)
    if (info.drafts.lists(one->info().name)) return one;
  for (const AnyTreeDrafter* one : fitting)
    if (one->info().name == "iid_paths") return one;
  return fitting.front();
}

/// Returns the default drafter of one position: i.i.d. drafts if the verifier takes drafts of any sampling, else the
/// first drafter that its info lists.
const AnyDrafter* first_drafts(const Info& info) {
  return registry().drafter(info.drafts.any() ? std::string_view{"iid"} : info.drafts.names[0]);
}

/// Whether the verifier reads random bits that its drafter reads too; a mutant may do so without declaring it.
template <class DrafterOrTrees>
bool reads_noise(const Info& info, const DrafterOrTrees& drafter) {
  return info.shared_noise || drafter.shared_noise();
}

Level default_level(const AnyPathVerifier& verifier) {
  return verifier.info().most_drafts == 1 ? Level::chain : Level::tree;
}

/// Throws: RowRefused for numbers that do not encode a state.
VerifierState<double> state_in(const std::vector<double>& numbers) {
  VerifierState<double> state;
  for (std::size_t i = 0; i + 1 < numbers.size() && numbers[i] != 0; i += 2) {
    if (!(numbers[i] >= 1 && numbers[i] <= max_path_length) || !(numbers[i + 1] >= 0))
      throw RowRefused(RowStatus::bad_input,
                       fmt::format("state: got the layer ({}, {}), expected 1 .. {} and a ratio", numbers[i],
                                   numbers[i + 1], max_path_length));
    state.push_back({static_cast<int>(numbers[i]), numbers[i + 1]});
  }
  return state;
}

/// Writes the state as finite numbers. An infinite ratio becomes the largest double, which has the same effect: a layer
/// with either ratio leaves every row as it is.
void write_state(const VerifierState<double>& state, std::span<double> numbers) {
  std::fill(numbers.begin(), numbers.end(), 0.0);
  for (std::size_t i = 0; i < state.size(); ++i) {
    numbers[2 * i] = state[i].remaining;
    numbers[2 * i + 1] = std::min(state[i].ratio, std::numeric_limits<double>::max());
  }
}

}  // namespace

/// An input, and the verifier's plan for it.
struct BuiltInVerifier::Prepared {
  Input input;
  std::optional<Rows<double>> rows{};
  DeciderPtr<Rows<double>, Scripted> decider{};
  std::optional<DraftedInput> drafted{};
  PathDeciderPtr<Rows<double>, Scripted> path_decider{};
  std::unique_ptr<PathProcess<Rows<double>>> process{};
  VerifierState<double> carry{};
};

BuiltInVerifier::~BuiltInVerifier() = default;

BuiltInVerifier::BuiltInVerifier(std::string_view name, BuiltInOptions options) : options_{std::move(options)} {
  declaration_.name = name;
  position_ = registry().verifier(name);
  path_ = position_ == nullptr ? path_registry().verifier(name) : nullptr;
  if (position_ == nullptr && path_ == nullptr)
    throw AdapterError(fmt::format("verifier: got \"{}\", expected a name from `draftproof list`", name));
  if (options_.coin_bits < 1 || options_.coin_bits > 53)
    throw unfit(name, "coin_bits", std::to_string(options_.coin_bits), "1 .. 53");
  choose_level();
  choose_distribution();
  declaration_.version = "draftproof";
  declaration_.dtypes = {Dtype::float64, Dtype::float32};
  declaration_.randomness = {Randomness::scripted, Randomness::seeded};
  if (shared_noise()) declaration_.randomness = {Randomness::seeded};
  if (position_ != nullptr) declaration_.functions.emplace_back("draft");
  declaration_.coin_bits = options_.coin_bits;
  if (stateful()) declaration_.state_size = 2 * max_path_length;
}

bool BuiltInVerifier::shared_noise() const {
  if (position_ != nullptr) return reads_noise(position_->info(), drafter_->info());
  return reads_noise(path_->info(), tree_drafter_->info());
}

void BuiltInVerifier::choose_level() {
  const Level fallback = position_ != nullptr ? Level::position : default_level(*path_);
  declaration_.level = options_.level.value_or(fallback);
  const bool at_position = declaration_.level == Level::position;
  if (at_position != (position_ != nullptr))
    throw unfit(declaration_.name, "level", to_text(declaration_.level),
                position_ != nullptr ? "position" : "chain or tree");
  const Info& info = position_ != nullptr ? position_->info() : path_->info();
  declaration_.fewest_drafts = at_position ? info.fewest_drafts : 1;
  declaration_.tolerance = info.promise == Promise::lossless_up_to ? info.tau : 0;
  const int most = info.most_drafts;
  // A tree of at most max_path_length drafts has no node with more than max_path_length children.
  declaration_.most_drafts = declaration_.level == Level::chain ? max_path_length : most;
  if (at_position && most == 0) declaration_.most_drafts = max_drafts;
}

void BuiltInVerifier::choose_distribution() {
  const auto refuse = [&] {
    return unfit(declaration_.name, "drafter", options_.drafter, "a draft sampling that the verifier supports");
  };
  const Info& info = position_ != nullptr ? position_->info() : path_->info();
  if (position_ == nullptr) {
    tree_drafter_ = options_.drafter.empty() ? first_trees(info) : path_registry().drafter(options_.drafter);
    if (tree_drafter_ == nullptr || !takes_trees(info, tree_drafter_->info())) throw refuse();
    declaration_.draft_sampling = tree_drafter_->info().name;
    return;
  }
  drafter_ = options_.drafter.empty() ? first_drafts(info) : registry().drafter(options_.drafter);
  if (drafter_ == nullptr) throw refuse();
  declaration_.draft_sampling = drafter_->info().misdeclares() ? drafter_->info().declared_as : drafter_->info().name;
  if (!info.drafts.includes(declaration_.draft_sampling)) throw refuse();
  if (const int most = drafter_->info().most_drafts; most > 0)
    declaration_.most_drafts = std::min(declaration_.most_drafts, most);
}

std::unique_ptr<BuiltInVerifier::Prepared> BuiltInVerifier::prepare(const Input& input) const {
  check_rows(input);
  auto made = std::make_unique<Prepared>(Prepared{.input = input});
  const int count = static_cast<int>(input.drafts.size());
  if (position_ != nullptr) {
    if (count > max_drafts || !position_->takes(count))
      throw RowRefused(RowStatus::unsupported,
                       fmt::format("{} is not defined for {} drafts", declaration_.name, count));
    if (input.p.size() != 1 || (input.q.size() != 1 && input.q.size() != input.drafts.size()))
      throw RowRefused(RowStatus::bad_input, fmt::format("rows: got {} of p and {} of q, expected 1, and 1 or {}",
                                                         input.p.size(), input.q.size(), count));
    made->rows.emplace(input.p.front(), input.q);
    made->decider = position_->scripted_on(*made->rows, count);
    return made;
  }
  made->drafted.emplace(input, declaration_.level == Level::chain, tree_drafter_->info());
  const int most = made->drafted->most_at_node();
  if (most > max_drafts || (most > 0 && !path_->takes(most)))
    throw RowRefused(RowStatus::unsupported,
                     fmt::format("{} is not defined for {} drafts at one node", declaration_.name, most));
  const TreeShape shape{.drafts = std::max(most, 1), .length = made->drafted->tree().length()};
  made->path_decider = path_->scripted_on(*made->drafted, shape);
  made->process = path_->process_on(*made->drafted);
  made->carry = state_in(input.state);
  return made;
}

BuiltInVerifier::Prepared& BuiltInVerifier::prepared(const Input& input) {
  // A plan for one position does not depend on which drafts were drawn; a plan for a tree is valid for that tree only.
  const auto serves = [&](const Input& other) {
    if (position_ == nullptr) return other == input;
    return other.drafts.size() == input.drafts.size() && other.p == input.p && other.q == input.q;
  };
  const auto found =
      std::find_if(recent_.begin(), recent_.end(), [&](const auto& one) { return serves(one->input); });
  // A mutant's plan may keep random bits of an earlier run, so it is not reused.
  const bool keeps_words = path_ != nullptr && path_->kind() == Kind::mutant;
  if (found != recent_.end() && !keeps_words) {
    std::rotate(recent_.begin(), found, found + 1);
    return *recent_.front();
  }
  auto made = prepare(input);
  if (recent_.size() == most_recent) recent_.pop_back();
  return **recent_.insert(recent_.begin(), std::move(made));
}

std::vector<Token> BuiltInVerifier::verify(const Input& input, Words& words, std::span<double> state) {
  Prepared& at = prepared(input);
  Scripted random{WordsFrom(words)};
  std::vector<Token> tokens;
  if (position_ != nullptr) {
    tokens.push_back(at.decider->decide(input.drafts, random).token);
  } else {
    const DraftTree& tree = at.drafted->tree();
    const StepOutput step = at.path_decider->decide(tree, at.carry, random);
    if (step.node < 0 || step.node >= tree.size())
      throw RowRefused(RowStatus::failed,
                       fmt::format("ends at node {} of a tree of {} nodes", step.node, tree.size()));
    for (int u = step.node; u != DraftTree::root; u = tree.parent(u)) tokens.push_back(tree.token(u));
    std::reverse(tokens.begin(), tokens.end());
    tokens.push_back(step.extra.token);
    if (step.extra.token != no_token && at.process && !state.empty())
      write_state(at.process->after(tree, at.carry, step), state);
  }
  if (tokens.back() == no_token) throw RowRefused(RowStatus::no_mass, "a draw from weights that are all zero");
  return tokens;
}

std::vector<Token> BuiltInVerifier::draft(const std::vector<std::vector<double>>& q, int drafts, Words& words) const {
  if (drafter_ == nullptr)
    throw RowRefused(RowStatus::unsupported, declaration_.name + " drafts at the level of one position only");
  check_rows({.p = {q.front()}, .q = q, .drafts = {}});
  const int proposals = static_cast<int>(q.size());
  if (drafts > max_drafts || !drafter_->defined(static_cast<int>(q.front().size()), drafts, proposals))
    throw RowRefused(RowStatus::unsupported,
                     fmt::format("{} is not defined for {} drafts of {} tokens from {} proposals",
                                 drafter_->info().name, drafts, q.front().size(), proposals));
  const Rows<double> rows(q.front(), q);  // a drafter does not read p, so q is passed in its place
  Scripted random{WordsFrom(words)};
  std::vector<Token> out(max_drafts, no_token);
  out.resize(static_cast<std::size_t>(drafter_->draw(rows, drafts, random, out.data())));
  return out;
}

std::vector<BuiltInName> built_in_names() {
  std::vector<BuiltInName> names;
  for (const auto& one : registry().verifiers())
    names.push_back({std::string(one->info().name), one->kind(), Level::position,
                     reads_noise(one->info(), first_drafts(one->info())->info()), false});
  for (const auto& one : path_registry().verifiers())
    if (!first_trees(one->info())->info().has_fixed_children)  // no request has their number
      names.push_back({std::string(one->info().name), one->kind(), default_level(*one),
                       reads_noise(one->info(), first_trees(one->info())->info()), one->stateful()});
  return names;
}

}  // namespace draftproof::adapters
