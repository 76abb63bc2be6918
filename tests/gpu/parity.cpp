#include <draftproof/tests/support/gpu/parity.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <draftproof/tests/support/gpu/parity_rows.hpp>

namespace draftproof::parity {
namespace {

constexpr std::uint64_t seed = 20240229;
constexpr int most_printed = 10;  ///< number of mismatches printed per comparison; all mismatches are counted

std::vector<Scheme>& schemes() {
  static std::vector<Scheme> all;
  return all;
}
std::vector<DraftSampling>& distributions() {
  static std::vector<DraftSampling> all;
  return all;
}

/// A batch with drafts drawn on the host, and the memory to which `batch` points.
struct Drafted {
  Drafted(const DraftSampling& distribution, int vocabulary, int most, const Sizes& sizes, std::uint64_t first_trial)
      : one_pair{sizes.one_pair},
        rows{vocabulary, distribution.info.several_proposals ? most : 1, one_pair ? 1 : sizes.positions, first_trial},
        fewest{one_pair ? most : std::min(distribution.info.fewest_drafts, most)},
        drafts(static_cast<std::size_t>(sizes.positions) * static_cast<std::size_t>(most), no_token),
        counts(static_cast<std::size_t>(sizes.positions)) {
    batch = rows.batch();
    if (one_pair) batch.target_stride = batch.proposal_stride = 0;
    batch.positions = sizes.positions;
    batch.seed = seed;
    batch.first_trial = first_trial;
    batch.drafts = drafts.data();
    batch.draft_stride = most;
    batch.counts = counts.data();
    for_positions([&](const HostRows& host, int i) {
      Token* out = drafts.data() + std::int64_t{i} * most;
      counts[static_cast<std::size_t>(i)] = distribution.draw(host, asked(i, most), drafting(i), out);
    });
  }

  /// Calls use(rows, i) for every position, on several threads if all positions share their rows.
  template <class Use>
  void for_positions(const Use& use) const {
    if (!one_pair) {
      for (int i = 0; i < batch.positions; ++i) use(rows.host(i), i);
      return;
    }
    const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        const HostRows own = rows.host(0);
        for (int i = t; i < batch.positions; i += threads) use(own, i);
      });
    for (std::thread& thread : running) thread.join();
  }

  /// Returns the number of drafts at position i: successive positions have all numbers of drafts that the sampling
  /// supports, in turn.
  int asked(int i, int most) const { return fewest + i % (most - fewest + 1); }
  std::uint64_t trial(int i) const { return batch.first_trial + static_cast<std::uint64_t>(i); }
  Philox drafting(int i) const { return {seed, trial(i), Philox::Role::draft}; }
  Philox verifying(int i) const { return {seed, trial(i), Philox::Role::verify}; }

  bool one_pair;
  ParityRows rows;
  int fewest;
  std::vector<Token> drafts;
  std::vector<std::int32_t> counts;
  gpu::Batch<float> batch;
};

int compare_verdicts(const Scheme& scheme, const DraftSampling& distribution, const Drafted& drafted) {
  const gpu::BatchVerdicts found = scheme.machine(drafted.batch);
  std::vector<Verdict> verdicts(static_cast<std::size_t>(drafted.batch.positions));
  drafted.for_positions([&](const HostRows& host, int i) {
    const auto at = static_cast<std::size_t>(i);
    verdicts[at] = scheme.host(host, drafted.batch.drafts_at(i), drafted.counts[at], drafted.verifying(i));
  });
  int mismatches = 0;
  for (int i = 0; i < drafted.batch.positions; ++i) {
    const int count = drafted.counts[static_cast<std::size_t>(i)];
    const Verdict wanted = verdicts[static_cast<std::size_t>(i)];
    const Verdict got = found.verdicts[static_cast<std::size_t>(i)];
    const bool unserved = std::ranges::binary_search(found.unserved, static_cast<std::size_t>(i));
    if (got.token == wanted.token && got.accepted == wanted.accepted && unserved == (wanted.token == no_token))
      continue;
    if (++mismatches > most_printed) continue;
    std::printf(
        "mismatch: %s on %s drafts, V = %d, K = %d, seed %llu, trial %llu: token %d, accepted %d; wanted token %d, "
        "accepted %d\n",
        std::string{scheme.info.name}.c_str(), std::string{distribution.info.name}.c_str(), drafted.batch.vocabulary,
        count, static_cast<unsigned long long>(seed), static_cast<unsigned long long>(drafted.trial(i)), got.token,
        got.accepted, wanted.token, wanted.accepted);
  }
  return mismatches;
}

int compare_drafts(const DraftSampling& distribution, const Drafted& drafted) {
  const gpu::Batch<float>& batch = drafted.batch;
  std::vector<std::int32_t> wanted;
  for (int i = 0; i < batch.positions; ++i) wanted.push_back(drafted.asked(i, static_cast<int>(batch.draft_stride)));
  gpu::DraftBatch<float> asked;
  asked.positions = batch.positions;
  asked.vocabulary = batch.vocabulary;
  asked.proposals = batch.proposals;
  asked.proposal = batch.proposal;
  asked.proposal_stride = batch.proposal_stride;
  asked.proposal_row_stride = batch.proposal_row_stride;
  asked.wanted = wanted.data();
  asked.draft_stride = batch.draft_stride;
  asked.seed = seed;
  asked.first_trial = batch.first_trial;
  const gpu::DraftTuples found = distribution.machine(asked);
  int mismatches = 0;
  for (int i = 0; i < batch.positions; ++i) {
    const int count = drafted.counts[static_cast<std::size_t>(i)];
    const int drawn = found.counts[static_cast<std::size_t>(i)];
    const Token* const tuple = found.drafts.data() + i * batch.draft_stride;
    if (drawn == count && std::equal(tuple, tuple + count, batch.drafts_at(i))) continue;
    if (++mismatches > most_printed) continue;
    std::printf("mismatch: drafts of %s, V = %d, %d drawn, wanted %d, seed %llu, trial %llu\n",
                std::string{distribution.info.name}.c_str(), batch.vocabulary, drawn, count,
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(drafted.trial(i)));
  }
  return mismatches;
}

}  // namespace

void add(Scheme scheme) { schemes().push_back(std::move(scheme)); }
void add(DraftSampling distribution) { distributions().push_back(std::move(distribution)); }

int run(const Sizes& sizes) {
  long long decisions = 0, tuples = 0, mismatches = 0;
  std::uint64_t trial = sizes.first_trial;
  // The shape of a row is the trial number modulo 6. The step between batches is 1 modulo 6, so successive batches have
  // different shapes.
  const auto apart = static_cast<std::uint64_t>(std::max(1000, sizes.positions) / 6 * 6 + 7);
  for (const int vocabulary : sizes.vocabularies)
    for (const DraftSampling& distribution : distributions()) {
      int most = distribution.info.needs_k_tokens ? std::min(sizes.drafts, vocabulary) : sizes.drafts;
      if (distribution.info.most_drafts > 0) most = std::min(most, distribution.info.most_drafts);
      if (most < distribution.info.fewest_drafts) continue;
      const Drafted tuple_batch(distribution, vocabulary, most, sizes, trial += apart);
      mismatches += compare_drafts(distribution, tuple_batch);
      tuples += sizes.positions;
      for (const Scheme& scheme : schemes()) {
        if (!scheme.info.drafts.includes(distribution.info.name)) continue;
        const int limit = scheme.info.most_drafts > 0 ? std::min(most, scheme.info.most_drafts) : most;
        const Drafted drafted(distribution, vocabulary, limit, sizes, trial += apart);
        mismatches += compare_verdicts(scheme, distribution, drafted);
        decisions += sizes.positions;
      }
      if (sizes.one_pair) {
        std::printf("V = %d, K = %d, %s: %lld decisions so far, %lld mismatches\n", vocabulary, most,
                    std::string{distribution.info.name}.c_str(), decisions, mismatches);
        std::fflush(stdout);
      }
    }
  std::printf("parity: %zu schemes, %zu draft samplings, %lld decisions, %lld draft tuples, %lld mismatches\n",
              schemes().size(), distributions().size(), decisions, tuples, mismatches);
  return static_cast<int>(std::min<long long>(mismatches + (decisions == 0), 1'000'000));
}

}  // namespace draftproof::parity
