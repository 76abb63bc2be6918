#include <draftproof/doors/gate/foreign_paths.hpp>

#include <utility>
#include <vector>

#include <fmt/format.h>

#include <draftproof/doors/wire/result_reader.hpp>

namespace draftproof::doors {

namespace {

class ForeignSteps final : public PathDecider<RatioTable, Philox> {
 public:
  ForeignSteps(std::shared_ptr<Served> program, std::shared_ptr<std::mutex> mutex,
               const ConditionalModel<RatioTable>& conditionals)
      : program_{std::move(program)}, mutex_{std::move(mutex)}, conditionals_{conditionals} {}

  StepOutput decide(const DraftTree& tree, const VerifierState<double>&, Philox& random) override {
    const Declaration& declaration = program_->declaration();
    p_.clear();
    q_.clear();
    drafts_.clear();
    parents_.clear();
    entry_of_.assign(static_cast<std::size_t>(tree.size()), -2);
    entry_of_[DraftTree::root] = -1;
    append(tree.context(DraftTree::root), p_, true);
    for (const TreeDraw& draw : tree.all_draws()) {
      const int child = draw.child, parent = tree.parent(child);
      int& entry = entry_of_[static_cast<std::size_t>(child)];
      if (entry == -2) entry = static_cast<int>(drafts_.size());
      drafts_.push_back(tree.token(child));
      parents_.push_back(entry_of_[static_cast<std::size_t>(parent)]);
      append(tree.context(parent), q_, false);
      append(tree.context(child), p_, true);
    }
    const auto count = static_cast<std::int32_t>(drafts_.size());
    const auto seed = static_cast<std::int64_t>(random.next(Purpose::flip) >> 1);
    const bool seeded = declaration.can(Randomness::seeded);
    ServedBatch batch{.rows = 1,
                      .vocabulary = conditionals_.laws(tree.context(DraftTree::root)).vocabulary(),
                      .drafts_a_row = count,
                      .target_rows = count + 1,
                      .proposal_rows = count,
                      .randomness = seeded ? Randomness::seeded : Randomness::opaque,
                      .p = std::as_bytes(std::span(p_)),
                      .q = std::as_bytes(std::span(q_)),
                      .drafts = drafts_,
                      .lengths = std::span(&count, 1)};
    if (declaration.level == Level::tree) batch.parents = parents_;
    if (seeded) batch.seeds = std::span(&seed, 1);
    size_result(batch, WireFunction::verify, result_);
    {
      const std::lock_guard guard(*mutex_);
      program_->verify(batch, result_);
    }
    if (result_.status[0] != 0 || result_.counts[0] < 1) return {DraftTree::root, {no_token, none_accepted}};
    int node = DraftTree::root;
    for (int i = 0; i + 1 < result_.counts[0]; ++i) {
      node = tree.find(node, result_.tokens[static_cast<std::size_t>(i)]);
      if (node < 0)
        throw DoorError(fmt::format("{}: found token {} accepted after {} drafts, wanted a draft that stands there",
                                    declaration.name, result_.tokens[static_cast<std::size_t>(i)], i));
    }
    return {node, {result_.tokens[static_cast<std::size_t>(result_.counts[0] - 1)], none_accepted}};
  }

 private:
  void append(int context, std::vector<float>& rows, bool target) const {
    // No laws follow a leaf beyond the model: the root's stand in, and no rule reads them.
    const RatioTable& laws = conditionals_.laws(context < 0 ? 0 : context);
    for (Token x = 0; x < laws.vocabulary(); ++x)
      rows.push_back(static_cast<float>(target ? laws.target(x) : laws.proposal(x)));
  }

  std::shared_ptr<Served> program_;
  std::shared_ptr<std::mutex> mutex_;
  const ConditionalModel<RatioTable>& conditionals_;
  std::vector<float> p_, q_;
  std::vector<std::int32_t> drafts_, parents_;
  std::vector<int> entry_of_;
  ServedResult result_;
};

}  // namespace

ForeignPathVerifier::ForeignPathVerifier(std::shared_ptr<Served> program, std::string name)
    : ForeignInfo(program->declaration(), std::move(name), true),
      AnyPathVerifier(ForeignInfo::info(), Kind::verifier),
      program_{std::move(program)} {}

AnyPathVerifier::On<RatioTable, Philox> ForeignPathVerifier::simulate_on(
    const ConditionalModel<RatioTable>& conditionals, const TreeShape&) const {
  return std::make_unique<ForeignSteps>(program_, one_at_a_time_, conditionals);
}

}  // namespace draftproof::doors
