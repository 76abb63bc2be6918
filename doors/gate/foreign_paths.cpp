#include <draftproof/doors/gate/foreign_paths.hpp>

#include <utility>
#include <vector>

#include <fmt/format.h>

#include <draftproof/doors/gate/tree_batch.hpp>
#include <draftproof/doors/wire/result_reader.hpp>

namespace draftproof::doors {

namespace {

class ForeignSteps final : public PathDecider<RatioTable, Philox> {
 public:
  ForeignSteps(std::shared_ptr<Served> program, std::shared_ptr<std::mutex> mutex,
               const ConditionalModel<RatioTable>& conditionals)
      : program_{std::move(program)},
        mutex_{std::move(mutex)},
        conditionals_{conditionals},
        batch_{program_->declaration()} {}

  StepOutput decide(const DraftTree& tree, const VerifierState<double>&, Philox& random) override {
    batch_.clear();
    batch_.add(tree, conditionals_, static_cast<std::int64_t>(random.next(Purpose::flip) >> 1));
    const ServedBatch& batch = batch_.packed();
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
                                    program_->declaration().name, result_.tokens[static_cast<std::size_t>(i)], i));
    }
    return {node, {result_.tokens[static_cast<std::size_t>(result_.counts[0] - 1)], none_accepted}};
  }

 private:
  std::shared_ptr<Served> program_;
  std::shared_ptr<std::mutex> mutex_;
  const ConditionalModel<RatioTable>& conditionals_;
  TreeBatch batch_;
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
