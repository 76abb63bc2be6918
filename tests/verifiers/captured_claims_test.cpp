// Claims of schemes on captured distributions and prepared tables: they must hold in every trial.
#include <algorithm>

#include <gtest/gtest.h>

#include <draftproof/captures/source.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof {
namespace {

TEST(CapturedClaims, AFlagIsMembershipWhereClaimedAndNoTrialReachesNothing) {
  registry();
  int simulated = 0;
  for (const char* name : {"/data/stories512_positions.npz", "/data/mixed32k_positions.npz"}) {
    const Source source = Source::open(std::string(DRAFTPROOF_SOURCE_DIR) + name);
    for (std::size_t i = 0; i < source.positions(); i += std::max<std::size_t>(1, source.positions() / 32)) {
      const RowPair pair = source.pair(i);
      const RatioTable table(pair.target, pair.proposals);
      for (const auto& verifier : registry().verifiers()) {
        const Info& info = verifier->info();
        if (verifier->kind() == Kind::mutant || !info.unsupported.simulate.empty()) continue;
        for (const AnyDrafter* drafter : registry().drafters_of(info)) {
          const int drafts = verifier->takes(2) ? 2 : info.most_drafts;
          if (!drafter->defined(table.vocabulary(), drafts, table.proposals())) continue;
          // A race passes over the vocabulary per draft and side: milliseconds per trial at V = 32,000.
          const bool races = info.shared_noise || drafter->info().shared_noise();
          const Tally tally = simulate({*verifier, *drafter, drafts, 5, first_trial(i)}, table,
                                       {.trials = races ? 8u : 2000u, .threads = 1});
          EXPECT_EQ(tally.impossible, 0u) << info.name << ", position " << i;
          if (info.claims.flag_is_membership) {
            EXPECT_EQ(tally.flagged, tally.members)
                << info.name << " on " << drafter->info().name << ", " << name << ", position " << i;
          }
          ++simulated;
        }
      }
    }
  }
  EXPECT_GT(simulated, 500);
}

}  // namespace
}  // namespace draftproof
