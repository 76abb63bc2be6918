// Every draw is logged and serves one purpose: a verifier reads random bits at addresses used by nothing else,
// logs every read, and no draw depends on bits that were read after it.
//
//   separate    no random bits are also read by the drafter, for another purpose or in another trial (DrawCount);
//               only schemes that declare shared noise read the drafter's bits
//   logged      the addresses read are the draws logged; a run on the recorded bits gives the same result
//   in order    other bits from the n-th draw on change no earlier draw, and other bits after the last change nothing
//   terminal    nothing is drawn after the emitted token (positions)
//   count       an iteration reads as many random numbers on a plan that made other decisions as on a new one (paths)
//
// Seeded trials with addressed random bits, along paths one iteration after the other. Deterministic.
#pragma once

#include <algorithm>

#include <draftproof/properties/paths/path_scripted.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>
#include <draftproof/properties/scripted/scripted_trials.hpp>

namespace draftproof::checks {

template <class Level>
struct DrawCount {
  static constexpr std::string_view name = "draw_count";
  static constexpr std::string_view about =
      on_level<Level>("no random bits are used for two purposes; every draw is logged and can be replayed",
                      "no random bits are used in two iterations or for two purposes; every draw can be replayed");
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t trials = 4;

  static bool applies(const typename Level::Verifier& verifier, const typename Level::Drafter&) {
    return positions || !verifier.info().shared_noise;
  }
  static Answer check(typename Level::InstanceAnalysis& at) {
    const auto distributions = double_distributions(at.instance());
    const auto plan = plan_on(at, distributions);
    draftproof::DrawCount count;
    const Wrong wrong = first_fault(
        at, distributions, *plan, trials,
        [&](std::uint64_t t, const auto& trial, const AddressedWords& drafting, const AddressedWords& words) {
          count.enter("draft", t, drafting);
          count.enter("verify", t, words);
          const auto fresh = positions ? nullptr : plan_on(at, distributions);
          auto& again = fresh ? *fresh : *plan;
          Wrong fault = count.conflict();
          if (!fault) fault = fault_on_record(at.verifier().info(), again, trial, words, t);
          if (!fault) fault = fault_in_replay(again, trial, words);
          if (!fault) fault = fault_in_order(again, trial, t);
          if (fault) fault = place_of(t, trial) + ": " + *fault;
          return fault;
        });
    return Answer::passed_if(!wrong, [&] { return *wrong; });
  }

 private:
  using Wrong = std::optional<std::string>;
  static constexpr bool positions = std::is_same_v<Level, TokenLevel>;

  static Wrong fault_on_record(const Info& info, auto& plan, const auto& trial, const AddressedWords& words,
                               std::uint64_t t) {
    const auto& draws = trial.played.draws;
    if (words.noise_blocks() > 0 && !info.shared_noise)
      return on_level<Level>("reads noise that its drafter may have read", "reads random bits of its drafter");
    if (const auto read = words.addressed().size() + 2 * words.noise_blocks(); read != draws.size())
      return "reads " + std::to_string(read) + " random numbers, draws logged: " + std::to_string(draws.size());
    if constexpr (positions) {
      const auto emits = [](const Draw& draw) { return draw.purpose == Purpose::emit; };
      // A race logs several draws with the purpose `emit` for one token, so only the last draw is tested.
      if (std::any_of(draws.begin(), draws.end(), emits) && !emits(draws.back()))
        return "draws again after the draw of its token";
    } else {
      TrialWords again(1, t, Philox::Role::verify);
      run_scripted(plan, trial, again);
      if (again.addressed().size() != words.addressed().size())
        return "reads " + std::to_string(words.addressed().size()) + " random numbers after other iterations, and " +
               std::to_string(again.addressed().size()) + " on a new plan";
    }
    return std::nullopt;
  }

  static Wrong fault_in_replay(auto& plan, const auto& trial, const AddressedWords& words) {
    // A replay returns recorded bits in the order of reading, but noise is read by address.
    if (words.noise_blocks() > 0) return std::nullopt;
    RecordedWords recorded(words);
    Wrong wrong =
        difference(trial, run_scripted(plan, trial, recorded), on_level<Level>(" draws, replayed ", " draws, and "));
    if (wrong) wrong = on_level<Level>("emits ", "replayed, ") + *wrong;
    return wrong;
  }

  static Wrong fault_in_order(auto& plan, const auto& trial, std::uint64_t t) {
    const auto& draws = trial.played.draws;
    if (std::any_of(draws.begin(), draws.end(), [](const Draw& draw) { return draw.purpose == Purpose::noise; }))
      return std::nullopt;
    for (std::size_t n = 0; n < draws.size(); ++n) {
      TrialWords changed(1, t, Philox::Role::verify);
      changed.change_after(n, t + trials);
      const auto other = run_scripted(plan, trial, changed).draws;
      if (!same_draws(other, draws, n))
        return "new random bits from draw " + std::to_string(n) + " on change a draw before it";
      if (other.size() <= n || other[n].purpose != draws[n].purpose || other[n].num != draws[n].num ||
          other[n].den != draws[n].den)
        return "draw " + std::to_string(n) +
               " has another purpose or probability if random bits from this draw on are changed";
    }
    return std::nullopt;
  }
};

}  // namespace draftproof::checks
