#include <draftproof/adapters/gate/external_verifier.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <draftproof/adapters/gate/path_checks.hpp>
#include <draftproof/adapters/gate/small_model.hpp>
#include <draftproof/adapters/wire/batch_packer.hpp>
#include <draftproof/adapters/wire/result_reader.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::adapters {

namespace {

// Most bytes of rows in a batch. When the rows of a batch exceed the caches, larger batches save no time.
constexpr std::size_t most_bytes = std::size_t{16} << 20;

/// A batch of one position, whose rows are repeated as often as a batch needs them.
class ExternalTrials final : public Decider<RatioTable, Philox> {
 public:
  ExternalTrials(std::shared_ptr<Served> program, std::shared_ptr<ExternalVerifier::Calls> shared,
                 const RatioTable& distributions, int drafts)
      : program_{std::move(program)}, calls_{std::move(shared)}, drafts_{drafts} {
    const Declaration& declaration = program_->declaration();
    chain_ = declaration.level == Level::chain;
    const Input input = input_on(distributions);
    const RowForm form = form_of_trials(declaration);
    const std::size_t fitting = most_bytes / bytes_a_row(input, drafts_, 0, form);
    rows_ = static_cast<int>(
        std::clamp<std::size_t>(fitting, 1, static_cast<std::size_t>(std::max(1, declaration.most_rows))));
    const std::vector<Call> calls(static_cast<std::size_t>(rows_));
    std::vector<std::size_t> all(calls.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    pack_calls(std::span(&input, 1), calls, all, form, packed_);
  }

  void decide(const TrialBatch& batch, Verdict* verdicts) const override {
    for (int start = 0; start < batch.count; start += rows_)
      decide_some(batch, start, std::min(rows_, batch.count - start), verdicts + start);
  }

 private:
  void decide_some(const TrialBatch& batch, int start, int count, Verdict* verdicts) const {
    const auto size = static_cast<std::size_t>(count), width = static_cast<std::size_t>(drafts_);
    std::vector<std::int32_t> drafts(size * width, -1), lengths(size);
    std::vector<std::int64_t> seeds(size);
    for (std::size_t i = 0; i < size; ++i) {
      const int t = start + static_cast<int>(i);
      lengths[i] = batch.lengths[t];
      std::copy_n(batch.drafts + t * batch.stride, lengths[i],
                  drafts.begin() + static_cast<std::ptrdiff_t>(i * width));
      constexpr std::uint32_t purpose = 0x200;
      seeds[i] = static_cast<std::int64_t>(philox_pair(batch.seed, trial_of(batch, t), 0, purpose).first >> 1);
    }
    ServedBatch request = packed_.batch;
    const auto first_rows = [&](std::span<const std::byte> bytes) {
      return bytes.first(bytes.size() / static_cast<std::size_t>(rows_) * size);
    };
    request.rows = count;
    request.p = first_rows(request.p);
    request.q = first_rows(request.q);
    request.drafts = drafts;
    request.lengths = lengths;
    request.tape = {};
    request.randomness = program_->declaration().can(Randomness::seeded) ? Randomness::seeded : Randomness::opaque;
    if (request.randomness == Randomness::seeded) request.seeds = seeds;
    request.state = request.state.first(size * static_cast<std::size_t>(request.state_size));
    ServedResult result;
    size_result(request, WireFunction::verify, result);
    {
      const std::lock_guard guard(calls_->one_at_a_time);
      program_->verify(request, result);
      note_unanswered(batch, start, result);
    }
    for (std::size_t i = 0; i < size; ++i) {
      const auto first = result.tokens_of(static_cast<int>(i)).front();
      if (result.status[i] != 0 || result.counts[i] < 1) {
        verdicts[i] = {no_token, none_accepted};
        continue;
      }
      const std::int32_t* const row = drafts.data() + i * width;
      const auto* const found = std::find(row, row + lengths[i], first);
      const bool drafted = found != row + lengths[i], flagged = drafted && (!chain_ || result.counts[i] > 1);
      verdicts[i] = {first, flagged ? static_cast<int>(found - row) : none_accepted};
    }
  }

  static std::uint64_t trial_of(const TrialBatch& batch, int t) {
    return batch.trials != nullptr ? batch.trials[t] : batch.first + static_cast<std::uint64_t>(t);
  }

  void note_unanswered(const TrialBatch& batch, int start, const ServedResult& result) const {
    Unanswered& all = calls_->unanswered;
    for (std::size_t i = 0; i < result.status.size(); ++i) {
      if (result.status[i] == 0) continue;
      const std::uint64_t trial = trial_of(batch, start + static_cast<int>(i));
      if (all.trials++ > 0 && all.first < trial) continue;
      all.first = trial;
      all.status = static_cast<RowStatus>(result.status[i]);
      const auto message = result.messages.find(static_cast<int>(i));
      all.message = message == result.messages.end() ? "" : message->second;
    }
  }

  /// Returns the position as the program receives it, with a row of q per draft if the draft sampling has several
  /// proposals.
  Input input_on(const RatioTable& distributions) const {
    const auto row = [&](auto value) {
      std::vector<double> values;
      for (Token x = 0; x < distributions.vocabulary(); ++x) values.push_back(value(x));
      return values;
    };
    const AnyDrafter* distribution = chain_ ? nullptr : registry().drafter(program_->declaration().draft_sampling);
    const int proposals = distribution != nullptr && distribution->info().several_proposals ? drafts_ : 1;
    Input input{.p = {}, .q = {}, .drafts = std::vector<Token>(static_cast<std::size_t>(drafts_), 0)};
    for (int i = 0; i < (chain_ ? 2 : 1); ++i)
      input.p.push_back(row([&](Token x) { return distributions.target(x); }));
    for (int k = 0; k < proposals; ++k) input.q.push_back(row([&](Token x) { return distributions.proposal(x, k); }));
    return input;
  }

  std::shared_ptr<Served> program_;
  std::shared_ptr<ExternalVerifier::Calls> calls_;
  int drafts_, rows_ = 1;
  bool chain_ = false;
  PackedBatch packed_;
};

}  // namespace

ExternalInfo::ExternalInfo(const Declaration& declaration, std::string name, bool of_paths)
    : name_{name.empty() ? declaration.name : std::move(name)},
      summary_{fmt::format("an external program{}{}", declaration.version.empty() ? "" : ", version ",
                           declaration.version)},
      distribution_{declaration.level != Level::chain ? declaration.draft_sampling
                    : of_paths                        ? std::string(chain_sampling)
                                                      : "iid"} {
  constexpr std::string_view called = "an external program can only be called";
  info_ = {.name = name_,
           .summary = summary_,
           .source = "external, through an adapter",
           .drafts = DraftSamplings(std::string_view(distribution_)),
           .fewest_drafts = declaration.level == Level::position ? std::max(1, declaration.fewest_drafts) : 1,
           .most_drafts = declaration.level == Level::chain ? 1 : declaration.most_drafts,
           .unsupported = {.explore = called, .fresh = called, .device = called}};
}

ExternalVerifier::ExternalVerifier(std::shared_ptr<Served> program, std::string name)
    : ExternalInfo(program->declaration(), std::move(name), false),
      AnyVerifier(ExternalInfo::info(), Kind::verifier),
      program_{std::move(program)} {}

DeciderPtr<RatioTable, Philox> ExternalVerifier::simulate_on(const RatioTable& distributions, int drafts) const {
  return std::make_unique<ExternalTrials>(program_, calls_, distributions, drafts);
}

namespace {

class ExternalSteps final : public PathDecider<RatioTable, Philox> {
 public:
  ExternalSteps(std::shared_ptr<Served> program, std::shared_ptr<std::mutex> mutex,
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
        throw AdapterError(
            fmt::format("{}: got token {} after {} accepted drafts, expected a draft that follows them in the tree",
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

ExternalPathVerifier::ExternalPathVerifier(std::shared_ptr<Served> program, std::string name)
    : ExternalInfo(program->declaration(), std::move(name), true),
      AnyPathVerifier(ExternalInfo::info(), Kind::verifier),
      program_{std::move(program)} {}

AnyPathVerifier::On<RatioTable, Philox> ExternalPathVerifier::simulate_on(
    const ConditionalModel<RatioTable>& conditionals, const TreeShape&) const {
  return std::make_unique<ExternalSteps>(program_, one_at_a_time_, conditionals);
}

}  // namespace draftproof::adapters
