// Tests proofs, gates and the kill matrix in blocks: shards that are merged in any order give the result of one
// process.
#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <draftproof/properties/blocks/checkpoint.hpp>
#include <draftproof/properties/gate/gate.hpp>
#include <draftproof/properties/mutation/kill_matrix.hpp>
#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>

namespace draftproof {
namespace {

const nlohmann::json divided_request{{"command", "divided"}};

/// Runs `work` as `count` shards and returns a checkpoint with their blocks, merged in random order.
std::unique_ptr<Checkpoint> from_parts(std::uint64_t count, const std::function<void(Checkpoint&)>& work) {
  std::vector<std::string> parts;
  for (std::uint64_t i = 0; i < count; ++i) {
    Checkpoint part(divided_request, {i, count}, Checkpoint::Kind::shard);
    work(part);
    part.finish();
    parts.push_back(part.to_bytes());
  }
  std::shuffle(parts.begin(), parts.end(), std::mt19937(count));
  auto all = std::make_unique<Checkpoint>();
  for (const auto& part : parts) all->add(part, "a part");
  EXPECT_EQ(all->missing(), "");
  return all;
}

template <class Level>
std::string text_of(const ProofOf<Level>& proof) {
  std::string text = std::to_string(proof.instances) + " " + std::to_string(proof.leaves) + "\n";
  for (const auto& f : proof.findings)
    text += fmt::format("{} {} {} {} {} {} {}\n", f.property, to_text(f.status), f.passed, f.undecided, f.evidence,
                        f.instance, f.replay);
  if (const auto& d = proof.distance)
    text += fmt::format("{} {} {}", d->off, d->largest.str(), d->largest > 0 ? d->instance.text() : "");
  return text;
}

/// Expects the same proof from the shards of 1, 3 and 7 processes as without a checkpoint.
template <class Prove>
void expect_divided(const Prove& prove_with) {
  ProofOptions options{.instances = 150, .threads = 2};
  const std::string whole = text_of(prove_with(options));
  for (const std::uint64_t count : {1u, 3u, 7u}) {
    const auto all = from_parts(count, [&](Checkpoint& part) {
      options.checkpoint = &part;
      prove_with(options);
    });
    options.checkpoint = all.get();
    EXPECT_EQ(text_of(prove_with(options)), whole) << count;
  }
}

TEST(Divided, ProofsOfPositions) {
  for (const char* name : {"k_seq", "accept_always", "typical_acceptance", "optimal_transport"}) {
    SCOPED_TRACE(name);
    const AnyVerifier& verifier = *registry().verifier(name);
    const AnyDrafter& drafter = *registry().drafters_of(verifier.info()).front();
    expect_divided([&](const ProofOptions& options) { return prove(verifier, drafter, options); });
  }
}

TEST(Divided, ProofsOfPaths) {
  for (const char* name : {"block", "accept_always_tree"}) {
    SCOPED_TRACE(name);
    const AnyPathVerifier& verifier = *path_registry().verifier(name);
    const AnyTreeDrafter& drafter = *path_registry().drafters_of(verifier.info()).front();
    expect_divided([&](const ProofOptions& options) { return prove(verifier, drafter, options); });
  }
}

TEST(Divided, Gates) {
  const auto quick =
      *std::find_if(profiles.begin(), profiles.end(), [](const Profile& p) { return p.name == "quick"; });
  GateOptions options{.profile = quick, .threads = 2};
  for (const char* name : {"single_draft", "accept_always", "gumbel_coupling"})
    for (const Tier tier : all_tiers) {
      const Gate gate{.verifier = registry().verifier(name), .tier = tier};
      if (!applies(gate)) continue;
      options.checkpoint = nullptr;
      const GateResult whole = run_gate(gate, options);
      const auto all = from_parts(3, [&](Checkpoint& part) {
        options.checkpoint = &part;
        run_gate(gate, options);
      });
      options.checkpoint = all.get();
      const GateResult merged = run_gate(gate, options);
      EXPECT_EQ(to_bytes(merged), to_bytes(whole)) << name << " at tier " << to_text(tier);
      EXPECT_EQ(merged.status, whole.status);
    }
}

TEST(Divided, ADistanceSetsTheTrials) {
  GateOptions options{.threads = 2};
  options.source = "zipf:vocabulary=50";
  const Gate gate{.verifier = registry().verifier("single_draft"), .tier = Tier::sampled};
  std::vector<std::uint64_t> trials;
  for (const double distance : {0.02, 0.01}) {
    options.distance = distance;
    trials.push_back(run_gate(gate, options).findings.back().work);
  }
  // A gate needs four times the trials to detect half the distance. Poisson batch sizes and rounding to 2^16 cause the
  // remaining difference.
  EXPECT_NEAR(static_cast<double>(trials[1]), 4.0 * static_cast<double>(trials[0]), 5 * 0x1p16);
}

TEST(Divided, TheKillMatrix) {
  KillOptions options{.instances = 4, .further = 1, .controls = 1, .components = false};
  const auto records = [](const KillMatrix& matrix) {
    std::string all;
    for (KillRow row : matrix.rows) row.seconds = 0, all += to_bytes(row);
    for (const ControlRow& row : matrix.controls) all += to_bytes(row);
    return all;
  };
  const std::string whole = records(kill_matrix(options));
  const auto parts = from_parts(3, [&](Checkpoint& part) {
    options.checkpoint = &part;
    EXPECT_TRUE(kill_matrix(options).rows.empty());
  });
  options.checkpoint = parts.get();
  EXPECT_EQ(records(kill_matrix(options)), whole);
}

}  // namespace
}  // namespace draftproof
