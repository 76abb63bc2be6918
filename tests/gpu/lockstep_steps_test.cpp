// Compares steps by the algorithms of gpu/ with the host, with fibers instead of a device's threads; it needs no
// device and no CUDA. It also tests that invalid trees are refused before they reach a device.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/gpu/tree_batch.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/step_parity.hpp>

namespace draftproof::found {
void lockstep_steps_everything();
}

namespace {

using draftproof::Token;

int expect_refused(const std::vector<Token>& tokens, const std::vector<std::int32_t>& parents,
                   const std::string& wanted) {
  draftproof::gpu::TreeBatch trees(10);
  trees.add(std::vector<Token>{1}, std::vector<std::int32_t>{-1}, 0);
  std::string said = "nothing";
  try {
    trees.add(tokens, parents, 0);
  } catch (const std::invalid_argument& error) {
    said = error.what();
  }
  const bool kept = trees.requests() == 1 && trees.rows() == 2;
  if (said == wanted && kept) return 0;
  std::printf("trees: said \"%s\", expected \"%s\"%s\n", said.c_str(), wanted.c_str(), kept ? "" : ", and kept it");
  return 1;
}

int refused_trees() {
  int wrong = 0;
  wrong += expect_refused({1, 2}, {-1, 1}, "trees: request 1: entry 1: the parent: got 1, expected -1 .. 0");
  wrong += expect_refused({1, 10}, {-1, 0}, "trees: request 1: entry 1: the token: got 10, expected a token below 10");
  wrong += expect_refused({1, -1}, {-1, 0}, "trees: request 1: entry 1: the token: got -1, expected a token below 10");
  wrong +=
      expect_refused({1, 2}, {-1}, "trees: request 1: entry 2: the number of parents: got 1, expected 2, one a token");
  std::vector<Token> tokens(65, 1);
  std::vector<std::int32_t> chain;
  for (int e = 0; e < 65; ++e) chain.push_back(e - 1);
  wrong += expect_refused(tokens, chain, "trees: request 1: node 65: the depth: got 65, expected at most 64");
  tokens.assign(33, 1);
  wrong += expect_refused(tokens, std::vector<std::int32_t>(33, -1),
                          "trees: request 1: node 0: the number of drafts: got 33, expected at most 32");
  return wrong;
}

}  // namespace

int main() {
  return draftproof::parity::outcome([] {
    draftproof::found::lockstep_steps_everything();
    // 2000 entries exceed 256 segments of one entry for each of four lanes, so a lane reads two entries of a segment.
    int mismatches = draftproof::step_parity::run({.vocabularies = {2, 7, 33}, .requests = 12, .iterations = 5});
    mismatches += draftproof::step_parity::run({.vocabularies = {2000}, .requests = 6, .iterations = 3});
    return mismatches + refused_trees() == 0 ? 0 : 1;
  });
}
