#include <draftproof/doors/gate/batch_checks.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <draftproof/properties/proof/finding.hpp>

#include <draftproof/doors/gate/toy.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::doors {

namespace {

constexpr int coarsest_bits = 23;

/// Rows of one vocabulary, each with a tape.
struct BatchRows {
  std::vector<Input> inputs;
  std::vector<Call> calls;
};

class Batches {
 public:
  Batches(Program& program, const Declaration& declaration, const BatchCheckOptions& options)
      : program_{program}, declaration_{declaration}, options_{options} {}

  void examine(int round) {
    const int vocabulary = 2 + round % 3;
    const BatchRows rows = draw(vocabulary, round), others = draw(vocabulary, round + 1000);
    const std::vector<Run> whole = run(rows.inputs, rows.calls);
    const std::size_t count = rows.calls.size();

    for (std::size_t i = 0; i < count; ++i)
      compare("row_alone", rows, i, whole[i], run(rows.inputs, {rows.calls[i]}).front(), "in a batch of its own");

    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[word(round, i, 3) % i]);
    std::vector<Call> permuted;
    for (const std::size_t i : order) permuted.push_back(rows.calls[i]);
    const std::vector<Run> moved = run(rows.inputs, permuted);
    for (std::size_t i = 0; i < count; ++i)
      compare("slots_permuted", rows, order[i], whole[order[i]], moved[i], fmt::format("in slot {}", i));

    // Every second row is another one: both inputs and both tapes in one batch.
    std::vector<Input> inputs = rows.inputs;
    inputs.insert(inputs.end(), others.inputs.begin(), others.inputs.end());
    std::vector<Call> mixed = rows.calls;
    for (std::size_t i = 1; i < std::min(count, others.calls.size()); i += 2)
      mixed[i] = {rows.inputs.size() + others.calls[i].input, others.calls[i].tape};
    const std::vector<Run> among = run(inputs, mixed);
    for (std::size_t i = 0; i < count; i += 2) compare("neighbours", rows, i, whole[i], among[i], "among other rows");

    const std::vector<Run> again = run(rows.inputs, rows.calls);
    for (std::size_t i = 0; i < count; ++i) compare("repetition", rows, i, whole[i], again[i], "the second time");

    for (std::size_t i = 0; i < count; ++i)
      for (const Draw& draw : whole[i].draws)
        if (draw.kind == DrawKind::coin && draw.bits < coarsest_bits)
          fail("number_grid", fmt::format("{} is a multiple of 2^-{}, wanted 2^-{} or finer",
                                          draw.stream.empty() ? "a uniform" : "the uniform " + draw.stream, draw.bits,
                                          coarsest_bits));
  }

  std::vector<GateFinding> findings() const {
    std::vector<GateFinding> result;
    for (const char* check : {"row_alone", "slots_permuted", "neighbours", "repetition", "number_grid"}) {
      GateFinding finding{.check = check, .tier = Tier::edge, .status = Status::held, .work = runs_};
      if (const auto failed = failed_.find(check); failed != failed_.end()) {
        finding.status = Status::violated;
        finding.evidence = failed->second;
        finding.replay =
            fmt::format("{} check --door '{}' --tier edge --seed {}", program_name(), options_.door, options_.seed);
      }
      result.push_back(std::move(finding));
    }
    return result;
  }

 private:
  std::uint64_t word(int round, std::size_t slot, std::uint32_t purpose) const {
    return philox_pair(options_.seed, static_cast<std::uint64_t>(round), static_cast<std::uint32_t>(slot), purpose)
        .first;
  }

  /// Inputs of generated instances with this vocabulary; of one number of drafts unless the program takes ragged rows.
  BatchRows draw(int vocabulary, int round) const {
    constexpr int places = 64;
    BatchRows rows;
    std::optional<std::size_t> drafts;
    for (int n = 0; std::ssize(rows.calls) < options_.rows && n < 4096; ++n) {
      const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(round);
      const Toy toy =
          declaration_.level == Level::position
              ? toy_of(foreign_instance(declaration_, seed, n), declaration_.law)
              : toy_of(foreign_path_instance(declaration_, seed, n), declaration_.law, declaration_.level);
      if (toy.vocabulary != vocabulary) continue;
      const Input& input = toy.inputs[word(round, static_cast<std::size_t>(n), 1) % toy.inputs.size()];
      if (!declaration_.ragged && drafts.value_or(input.drafts.size()) != input.drafts.size()) continue;
      drafts = input.drafts.size();
      Call call{.input = rows.inputs.size(), .tape = {}};
      for (int place = 0; place < places; ++place) {
        const auto slot = static_cast<std::size_t>(n * places + place);
        call.tape.push_back(static_cast<double>(word(round, slot, 2) >> 40) * 0x1p-24);
      }
      rows.inputs.push_back(input);
      rows.calls.push_back(std::move(call));
    }
    return rows;
  }

  std::vector<Run> run(std::span<const Input> inputs, const std::vector<Call>& calls) {
    std::vector<Run> runs(calls.size());
    program_.run(inputs, calls, runs);
    runs_ += calls.size();
    return runs;
  }

  void compare(const char* check, const BatchRows& rows, std::size_t i, const Run& whole, const Run& other,
               const std::string& how) {
    if (whole.tokens == other.tokens && whole.status == other.status && whole.state == other.state &&
        whole.draws == other.draws)
      return;
    const Input& input = rows.inputs[rows.calls[i].input];
    const auto said = [](const Run& run) {
      return run.status == RowStatus::ok ? fmt::format("({})", fmt::join(run.tokens, " "))
                                         : fmt::format("status {} {}", static_cast<int>(run.status), run.message);
    };
    fail(check, fmt::format("row {} of {}, drafts ({}): emits {}, {} {}", i, rows.calls.size(),
                            fmt::join(input.drafts, " "), said(whole), how,
                            whole.tokens != other.tokens || whole.status != other.status ? said(other)
                            : whole.state != other.state                                 ? "another state"
                                                                                         : "other draws"));
  }

  void fail(const char* check, std::string evidence) { failed_.emplace(check, std::move(evidence)); }

  Program& program_;
  const Declaration& declaration_;
  const BatchCheckOptions& options_;
  std::map<std::string, std::string> failed_;
  std::uint64_t runs_ = 0;
};

}  // namespace

std::vector<GateFinding> check_batches(Program& program, const Declaration& declaration,
                                       const BatchCheckOptions& options) {
  Batches batches(program, declaration, options);
  for (int round = 0; round < options.rounds; ++round) batches.examine(round);
  return batches.findings();
}

}  // namespace draftproof::doors
