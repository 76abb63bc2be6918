#include <draftproof/tests/gpu/parity.hpp>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>

#include <draftproof/tests/gpu/parity_rows.hpp>

namespace draftproof::parity {
namespace {

constexpr std::uint64_t seed = 20240229;

std::vector<Scheme>& schemes() {
  static std::vector<Scheme> all;
  return all;
}
std::vector<DraftLaw>& laws() {
  static std::vector<DraftLaw> all;
  return all;
}

/// A batch with its drafts drawn on the host; keeps what the view points to.
struct Drafted {
  Drafted(const DraftLaw& law, int vocabulary, int most, int positions, std::uint64_t first_trial)
      : rows{vocabulary, law.info.several_proposals ? most : 1, positions, first_trial},
        drafts(static_cast<std::size_t>(positions * most), no_token),
        counts(static_cast<std::size_t>(positions)) {
    batch = rows.batch();
    batch.seed = seed;
    batch.first_trial = first_trial;
    for (int i = 0; i < positions; ++i) {
      Token* out = drafts.data() + i * most;
      counts[static_cast<std::size_t>(i)] = law.draw(rows.host(i), 1 + i % most, drafting(i), out);
    }
    batch.drafts = drafts.data();
    batch.draft_stride = most;
    batch.counts = counts.data();
  }

  std::uint64_t trial(int i) const { return batch.first_trial + static_cast<std::uint64_t>(i); }
  Philox drafting(int i) const { return {seed, trial(i), Philox::Role::draft}; }
  Philox verifying(int i) const { return {seed, trial(i), Philox::Role::verify}; }

  ParityRows rows;
  std::vector<Token> drafts;
  std::vector<std::int32_t> counts;
  gpu::Batch<float> batch;
};

int compare_verdicts(const Scheme& scheme, const DraftLaw& law, const Drafted& drafted) {
  const gpu::BatchVerdicts found = scheme.machine(drafted.batch);
  int mismatches = 0;
  for (int i = 0; i < drafted.batch.positions; ++i) {
    const int count = drafted.counts[static_cast<std::size_t>(i)];
    const Verdict wanted = scheme.host(drafted.rows.host(i), drafted.batch.drafts_at(i), count, drafted.verifying(i));
    const Verdict got = found.verdicts[static_cast<std::size_t>(i)];
    const bool unserved = std::ranges::binary_search(found.unserved, static_cast<std::size_t>(i));
    if (got.token == wanted.token && got.accepted == wanted.accepted && unserved == (wanted.token == no_token))
      continue;
    ++mismatches;
    std::printf(
        "mismatch: %s on %s drafts, V = %d, K = %d, seed %llu, trial %llu: token %d, accepted %d; wanted "
        "token %d, accepted %d\n",
        std::string{scheme.info.name}.c_str(), std::string{law.info.name}.c_str(), drafted.batch.vocabulary, count,
        static_cast<unsigned long long>(seed), static_cast<unsigned long long>(drafted.trial(i)), got.token,
        got.accepted, wanted.token, wanted.accepted);
  }
  return mismatches;
}

int compare_drafts(const DraftLaw& law, const Drafted& drafted) {
  int mismatches = 0;
  for (int i = 0; i < drafted.batch.positions; ++i) {
    const int count = drafted.counts[static_cast<std::size_t>(i)];
    std::vector<Token> found(static_cast<std::size_t>(drafted.batch.draft_stride), no_token);
    const int drawn =
        law.machine(drafted.batch.rows(i), 1 + i % static_cast<int>(found.size()), drafted.drafting(i), found.data());
    if (drawn == count && std::equal(found.begin(), found.begin() + count, drafted.batch.drafts_at(i))) continue;
    ++mismatches;
    std::printf("mismatch: drafts of %s, V = %d, %d drawn, wanted %d, seed %llu, trial %llu\n",
                std::string{law.info.name}.c_str(), drafted.batch.vocabulary, drawn, count,
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(drafted.trial(i)));
  }
  return mismatches;
}

}  // namespace

void add(Scheme scheme) { schemes().push_back(std::move(scheme)); }
void add(DraftLaw law) { laws().push_back(std::move(law)); }

int run(const Sizes& sizes) {
  long long decisions = 0, tuples = 0, mismatches = 0;
  std::uint64_t trial = 0;
  for (const int vocabulary : sizes.vocabularies)
    for (const DraftLaw& law : laws()) {
      const int most = law.info.needs_k_tokens ? std::min(sizes.drafts, vocabulary) : sizes.drafts;
      if (law.machine) {
        const Drafted drafted(law, vocabulary, most, sizes.positions, trial += 1000);
        mismatches += compare_drafts(law, drafted);
        tuples += sizes.positions;
      }
      for (const Scheme& scheme : schemes()) {
        if (!scheme.info.drafts.includes(law.info.name)) continue;
        const int limit = scheme.info.most_drafts > 0 ? std::min(most, scheme.info.most_drafts) : most;
        const Drafted drafted(law, vocabulary, limit, sizes.positions, trial += 1000);
        mismatches += compare_verdicts(scheme, law, drafted);
        decisions += sizes.positions;
      }
    }
  std::printf("parity: %zu schemes, %zu draft laws, %lld decisions, %lld draft tuples, %lld mismatches\n",
              schemes().size(), laws().size(), decisions, tuples, mismatches);
  return static_cast<int>(std::min<long long>(mismatches + (decisions == 0), 1'000'000));
}

}  // namespace draftproof::parity
