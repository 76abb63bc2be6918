// Tests that trials in batches equal single trials, which run one after the other on the same table, as replay runs
// them: for every scheme, draft sampling, SIMD width and division of a run into batches.
#include <gtest/gtest.h>

#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

constexpr std::uint64_t seed = 11;

struct DecidedTrials {
  std::vector<Token> drafts;
  std::vector<int> lengths;
  std::vector<Verdict> verdicts;
};

DecidedTrials prefix_consistent(const AnyVerifier& verifier, const AnyDrafter& drafter, int drafts,
                                const RatioTable& table, std::uint64_t first, int count) {
  const auto decider = verifier.scripted_on(table, drafts);
  DecidedTrials trials{std::vector<Token>(static_cast<std::size_t>(count * drafts), no_token), {}, {}};
  for (int t = 0; t < count; ++t) {
    const std::uint64_t trial = first + static_cast<std::uint64_t>(t);
    WordsOf<Philox> drafting(Philox(seed, trial, Philox::Role::draft)),
        verifying(Philox(seed, trial, Philox::Role::verify));
    Scripted draws(drafting), coins(verifying);
    Token* const tuple = trials.drafts.data() + t * drafts;
    trials.lengths.push_back(drafter.draw(table, drafts, draws, tuple));
    trials.verdicts.push_back(
        decider->decide(std::span(tuple, static_cast<std::size_t>(trials.lengths.back())), coins));
  }
  return trials;
}

void expect_equal(const DecidedTrials& found, const DecidedTrials& wanted, int drafts, int from) {
  for (std::size_t t = 0; t < found.lengths.size(); ++t) {
    const std::size_t n = static_cast<std::size_t>(from) + t;
    ASSERT_EQ(found.lengths[t], wanted.lengths[n]) << "trial " << n;
    for (int k = 0; k < found.lengths[t]; ++k)
      ASSERT_EQ(found.drafts[t * static_cast<std::size_t>(drafts) + static_cast<std::size_t>(k)],
                wanted.drafts[n * static_cast<std::size_t>(drafts) + static_cast<std::size_t>(k)])
          << "trial " << n << " draft " << k;
    ASSERT_EQ(found.verdicts[t].token, wanted.verdicts[n].token) << "trial " << n;
    ASSERT_EQ(found.verdicts[t].accepted, wanted.verdicts[n].accepted) << "trial " << n;
  }
}

struct Pair {
  std::vector<double> p;
  std::vector<std::vector<double>> q;
  int trials;
};

/// Returns flat and peaked rows, rows with zeros, and a q with fewer tokens than drafts.
std::vector<Pair> pairs() {
  using examples::random_row;
  return {{random_row(1, 37, 3), {random_row(2, 37, 3), random_row(3, 37, 2), random_row(4, 37, 4)}, 700},
          {random_row(5, 23, 9, 0.3), {random_row(6, 23, 12, 0.3), random_row(7, 23), random_row(8, 23)}, 300},
          {{0.4, 0.05, 0.25, 0.1, 0.2}, {{0.5, 0, 0.5, 0, 0}, {0.2, 0.2, 0.2, 0.2, 0.2}, {0, 0, 1, 0, 0}}, 300}};
}

template <class Visit>
void for_each_case(const Visit& visit) {
  for (const auto& pair : pairs())
    for (const auto& verifier : registry().verifiers())
      for (const AnyDrafter* drafter : registry().drafters_of(verifier->info()))
        for (const int drafts : {1, 3, 7}) {
          const int proposals = static_cast<int>(pair.q.size());
          const bool several = drafter->info().several_proposals;
          if (!verifier->info().unsupported.simulate.empty() || !verifier->takes(drafts) ||
              !drafter->defined(static_cast<int>(pair.p.size()), drafts, several ? proposals : 1) ||
              (several && drafts > proposals))
            continue;
          SCOPED_TRACE(std::string(verifier->info().name) + " on " + std::string(drafter->info().name) + ", " +
                       std::to_string(drafts) + " of " + std::to_string(pair.p.size()));
          const RatioTable table(
              pair.p, several ? pair.q : std::vector<std::vector<double>>(pair.q.begin(), pair.q.begin() + 1));
          visit(*verifier, *drafter, drafts, table, pair.trials);
          if (testing::Test::HasFatalFailure()) return;
        }
}

TEST(BatchedTrials, AreTheTrialsOneByOne) {
  for_each_case(
      [](const AnyVerifier& verifier, const AnyDrafter& drafter, int drafts, const RatioTable& table, int count) {
        // The lower 32 bits of the trial numbers wrap around during the run.
        const std::uint64_t first = (std::uint64_t{1} << 32) - 100;
        const DecidedTrials wanted = prefix_consistent(verifier, drafter, drafts, table, first, count);
        const auto decider = verifier.simulate_on(table, drafts);
        for (const simd::Width width : simd::widths_here()) {
          const simd::Using use(width);
          for (const int batch : {1, 5, 33, 128, count})
            for (int from = 0; from < count && (batch > 1 || from < 60); from += batch) {
              const int size = std::min(batch, count - from);
              DecidedTrials found{std::vector<Token>(static_cast<std::size_t>(size * drafts)),
                                  std::vector<int>(static_cast<std::size_t>(size)),
                                  std::vector<Verdict>(static_cast<std::size_t>(size))};
              const TrialBatch trials{seed,
                                      first + static_cast<std::uint64_t>(from),
                                      size,
                                      drafts,
                                      found.drafts.data(),
                                      found.lengths.data()};
              drafter.draw(table, drafts, trials);
              decider->decide(trials, found.verdicts.data());
              expect_equal(found, wanted, drafts, from);
              if (testing::Test::HasFatalFailure()) return;
            }
        }
      });
}

void expect_equal(const Tally& found, const Tally& wanted) {
  EXPECT_EQ(found.trials, wanted.trials);
  EXPECT_EQ(found.draft_accepted, wanted.draft_accepted);
  EXPECT_EQ(found.draft_emitted, wanted.draft_emitted);
  EXPECT_EQ(found.impossible, wanted.impossible);
  EXPECT_EQ(found.by_draft, wanted.by_draft);
  EXPECT_EQ(found.histogram, wanted.histogram);
}

TEST(BatchedTrials, CountWhatOneByOneCounts) {
  for_each_case(
      [](const AnyVerifier& verifier, const AnyDrafter& drafter, int drafts, const RatioTable& table, int count) {
        const DecidedTrials wanted = prefix_consistent(verifier, drafter, drafts, table, 40, count);
        const Simulation what{
            .verifier = verifier, .drafter = drafter, .drafts = drafts, .seed = seed, .first = 40, .histogram = true};
        const Simulator<RatioTable> simulator(what, table);
        Tally counted = simulator.empty(), found = simulator.empty();
        for (int t = 0; t < count; ++t)
          counted.add(wanted.verdicts[static_cast<std::size_t>(t)], wanted.drafts.data() + t * drafts,
                      wanted.lengths[static_cast<std::size_t>(t)]);
        simulator.run(0, static_cast<std::uint64_t>(count), found);
        expect_equal(found, counted);
      });
}

// The run is long enough that a guide table for a recurring residual is built; any of the threads may build it.
TEST(BatchedTrials, AGuideMadeOnTheWayChangesNothing) {
  const RatioTable table(examples::random_row(1, 300, 4), examples::random_row(2, 300, 4));
  for (const char* name : {"single_draft", "recursive_rejection", "k_seq", "naive_tree"}) {
    const AnyVerifier& verifier = *registry().verifier(name);
    const AnyDrafter& drafter = *registry().drafter("iid");
    const int drafts = verifier.takes(4) ? 4 : 1;
    constexpr int count = 60'000;
    const DecidedTrials wanted = prefix_consistent(verifier, drafter, drafts, table, 0, count);
    const Simulation what{
        .verifier = verifier, .drafter = drafter, .drafts = drafts, .seed = seed, .histogram = true};
    Tally counted = Simulator<RatioTable>(what, table).empty();
    for (int t = 0; t < count; ++t)
      counted.add(wanted.verdicts[static_cast<std::size_t>(t)], wanted.drafts.data() + t * drafts,
                  wanted.lengths[static_cast<std::size_t>(t)]);
    for (const int threads : {1, 3})
      expect_equal(simulate(what, table, {.trials = count, .threads = threads}), counted);
  }
}

TEST(LazyDrafting, GivesTheSameVerdicts) {
  int cases = 0;
  for_each_case([&](const AnyVerifier& verifier, const AnyDrafter& drafter, int, const RatioTable& table, int count) {
    if (!can_be_lazy(verifier, drafter)) return;
    for (const int drafts : {1, 4, 5, 20}) {
      if (!verifier.takes(drafts)) continue;
      Simulation what{.verifier = verifier, .drafter = drafter, .drafts = drafts, .seed = seed, .histogram = true};
      const TrialBudget budget{.trials = static_cast<std::uint64_t>(4 * count + 1), .threads = 2};
      Token most_probable[max_drafts];
      for (int j = 0; j + 1 < std::min(drafts, table.vocabulary()); ++j)
        most_probable[j] = table.kth_most_probable(j);
      const bool enough = drafts <= table.vocabulary() && table.mass_without(0, most_probable, drafts - 1) > 0;
      if (!enough) {
        what.lazy = true;
        EXPECT_THROW(Simulator<RatioTable>(what, table), std::invalid_argument);
        continue;
      }
      const Tally all = simulate(what, table, budget);
      what.lazy = true;
      expect_equal(simulate(what, table, budget), all);
      ++cases;
    }
  });
  EXPECT_GT(cases, 20);
}

TEST(LazyDrafting, IsNotOfferedWhereAllDraftsCount) {
  const RatioTable table(examples::random_row(1, 30), examples::random_row(2, 30));
  for (const auto& [name, distribution] :
       {std::pair{"naive_tree", "iid"}, {"k_seq", "iid"}, {"sample_and_match", "iid"}}) {
    const Simulation what{.verifier = *registry().verifier(name),
                          .drafter = *registry().drafter(distribution),
                          .drafts = 4,
                          .seed = 1,
                          .lazy = true};
    EXPECT_FALSE(can_be_lazy(what.verifier, what.drafter));
    EXPECT_THROW(Simulator<RatioTable>(what, table), std::invalid_argument) << name;
  }
}

}  // namespace
}  // namespace draftproof
