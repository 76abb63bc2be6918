#include <draftproof/adapters/explorer/explore.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/explorer/input_search.hpp>

namespace draftproof::adapters {
namespace {

void check(const ExploreOptions& options) {
  const auto within = [](const char* name, double found, double least, double most) {
    if (!(found >= least && found <= most))
      throw std::invalid_argument(fmt::format("explore: {} is {}, expected {} to {}", name, found, least, most));
  };
  within("coin_bits", options.coin_bits, 1, 53);
  within("dtype_bits", options.dtype_bits, 1, 53);
  within("predictions", options.predictions, 1, 1 << 30);
  within("even_points", options.even_points, 1, 1 << 20);
  within("most_witnesses", options.most_witnesses, 3, 1 << 20);
  within("most_branches", static_cast<double>(options.most_branches), 2, 1 << 24);
  within("most_places", options.most_places, 1, 1 << 20);
  within("least_mass", options.least_mass, 0, 1);
  within("repeat_every", options.repeat_every, 0, 1 << 30);
}

/// Runs the requests of all inputs in batches.
class Exploration {
 public:
  Exploration(Program& program, std::span<const Input> inputs, const ExploreOptions& options)
      : program_(program),
        inputs_(inputs),
        options_(options),
        distributions_(inputs.size()),
        overwrote_(inputs.size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      searches_.push_back(std::make_unique<InputSearch>(inputs[i], options));
  }

  std::vector<ProgramDistribution> run() {
    try {
      explore();
    } catch (const ProgramSilent& silent) {
      for (std::size_t i = 0; i < searches_.size(); ++i) {
        if (!searches_[i]) continue;
        distributions_[i] = searches_[i]->distribution();
        distributions_[i].silent = silent.what();
        distributions_[i].remarks.push_back(distributions_[i].silent);
        if (distributions_[i].state != DistributionState::not_a_function)
          distributions_[i].state = DistributionState::unsettled;
      }
    }
    for (std::size_t i = 0; i < distributions_.size(); ++i) distributions_[i].overwrote = std::move(overwrote_[i]);
    return std::move(distributions_);
  }

 private:
  void explore() {
    std::size_t left = searches_.size();
    while (left > 0) {
      gather();
      while (!entries_.empty()) run_batch();
      for (std::size_t i = 0; i < searches_.size(); ++i) {
        if (!searches_[i] || busy_[i]) continue;
        distributions_[i] = searches_[i]->distribution();
        searches_[i].reset();
        --left;
      }
    }
  }

  /// A call that is run a second time, because equal calls must have equal results.
  struct Repeat {
    std::size_t input;
    std::vector<double> tape;
    RunStore::Chain expected;
  };
  struct Entry {
    std::size_t input;
    InputSearch::Request request;
    std::size_t length;  // of the tape
    const Repeat* repeat;
  };

  /// Collects the calls of one round in `entries_`: first the runs of the last round that have to be repeated, in
  /// reverse order, then the runs that the searches need.
  void gather() {
    busy_.assign(searches_.size(), false);
    entries_.clear();
    repeating_ = std::exchange(repeats_, {});
    std::reverse(repeating_.begin(), repeating_.end());
    for (const Repeat& repeat : repeating_) {
      entries_.push_back({repeat.input, {}, repeat.tape.size(), &repeat});
      busy_[repeat.input] = true;
    }
    for (std::size_t i = 0; i < searches_.size(); ++i) {
      if (!searches_[i]) continue;
      requests_.clear();
      searches_[i]->ask(requests_);
      for (const auto& request : requests_) entries_.push_back({i, request, searches_[i]->likely_length(), nullptr});
      if (!requests_.empty()) busy_[i] = true;
    }
  }

  /// Runs the entries. Entries that ran out of random numbers are queued again with a longer tape.
  void run_batch() {
    constexpr std::size_t most = 1 << 16;  // most calls in a batch, to bound the memory of tapes and logs
    const std::size_t count = std::min(entries_.size(), most);
    if (options_.stop && options_.stop->load(std::memory_order_relaxed)) throw ProgramSilent("stopped");
    if (calls_.size() < count) {
      calls_.resize(count);
      runs_.resize(count);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Entry& entry = entries_[i];
      calls_[i].input = entry.input;
      if (entry.repeat)
        calls_[i].tape = entry.repeat->tape;
      else
        searches_[entry.input]->write_tape(entry.request, entry.length, calls_[i].tape);
      runs_[i].status = RowStatus::ok;
      runs_[i].tokens.clear();
      runs_[i].draws.clear();
      runs_[i].message.clear();
      runs_[i].overwrote.clear();
    }
    program_.run(inputs_, std::span(calls_).first(count), std::span(runs_).first(count));
    std::vector<Entry> again;
    for (std::size_t i = 0; i < count; ++i) take(entries_[i], calls_[i].tape, runs_[i], again);
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(count));
    entries_.insert(entries_.end(), again.begin(), again.end());
  }

  void take(const Entry& entry, const std::vector<double>& tape, const Run& run, std::vector<Entry>& again) {
    InputSearch& search = *searches_[entry.input];
    search.count_calls(1);
    if (!run.overwrote.empty()) overwrote_[entry.input] = run.overwrote;
    const auto longest = static_cast<std::size_t>(options_.most_places);
    if (!entry.repeat && run.status == RowStatus::tape_short && tape.size() < longest) {
      again.push_back(entry);
      again.back().length = std::min(longest, 2 * tape.size());
      return;
    }
    const RunStore::Chain chain = search.store(run, tape.size());
    if (entry.repeat) {
      if (chain != entry.repeat->expected) search.refute_function(tape);
      return;
    }
    search.take(entry.request, chain, tape);
    if (options_.repeat_every > 0 && taken_++ % static_cast<std::size_t>(options_.repeat_every) == 0)
      repeats_.push_back({entry.input, tape, chain});
  }

  Program& program_;
  std::span<const Input> inputs_;
  const ExploreOptions& options_;
  std::vector<ProgramDistribution> distributions_;
  std::vector<std::string> overwrote_;  // by input
  std::vector<std::unique_ptr<InputSearch>> searches_;
  std::vector<bool> busy_;
  std::vector<Entry> entries_;
  std::vector<Repeat> repeats_, repeating_;
  std::size_t taken_ = 0;
  std::vector<InputSearch::Request> requests_;
  std::vector<Call> calls_;
  std::vector<Run> runs_;
};

}  // namespace

const char* to_text(DistributionState state) {
  switch (state) {
    case DistributionState::settled:
      return "settled";
    case DistributionState::cut:
      return "cut";
    case DistributionState::unsettled:
      return "unsettled";
    case DistributionState::not_a_function:
      return "not a function";
  }
  return "";
}

double ProgramDistribution::of(const std::vector<Token>& tokens) const {
  double sum = 0;  // over states
  for (const OutcomeMass& each : outcomes)
    sum += each.outcome.status == RowStatus::ok && each.outcome.tokens == tokens ? each.probability : 0;
  return sum;
}

double ProgramDistribution::of(RowStatus status) const {
  double sum = 0;
  for (const OutcomeMass& each : outcomes) sum += each.outcome.status == status ? each.probability : 0;
  return sum;
}

std::vector<ProgramDistribution> explore_program(Program& program, std::span<const Input> inputs,
                                                 const ExploreOptions& options) {
  check(options);
  return Exploration(program, inputs, options).run();
}

}  // namespace draftproof::adapters
