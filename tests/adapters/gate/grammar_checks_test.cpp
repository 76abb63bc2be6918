// Verifiers of programs under a grammar: correct and wrong ones, as a library with the C interface and as a child.
#include <string>

#include <draftproof/adapters/gate/external_gate.hpp>
#include <draftproof/adapters/gate/small_model.hpp>
#include <draftproof/adapters/open_adapter.hpp>
#include <draftproof/tests/support/adapters_messages.hpp>

namespace draftproof::adapters {
namespace {

GateResult proof_under_grammar(const std::string& adapter_text) {
  const OpenAdapter adapter = open_adapter(adapter_text);
  const ExternalGate gate(adapter.text, adapter.program, adapter.served, adapter.fresh);
  expect_words(gate.refusal(Tier::sampled), "trials have no masks");
  EXPECT_EQ(gate.refusal(Tier::edge), "");
  const GateOptions options{.profile = profiles[2]};  // quick
  return run_gate({.external = &gate, .tier = Tier::proof}, options);
}

TEST(GrammarChecks, OfALibrary) {
  const auto library = [](const std::string& mask) {
    return "exec:DRAFTPROOF_MASK=" + mask + " exec '" DRAFTPROOF_PROGRAM "' serve 'lib:" DRAFTPROOF_MASKED "'";
  };
  const GateResult passed = proof_under_grammar(library("right"));
  EXPECT_EQ(passed.status, Status::passed);
  EXPECT_GE(passed.counts.front().second, 20u);
  for (const std::string wrong : {"bonus_without_mask", "bonus_mask_before", "mask_of_start", "drafts_removed"})
    EXPECT_EQ(proof_under_grammar(library(wrong)).status, Status::failed) << wrong;
}

TEST(GrammarChecks, OfTreesOfAChildInBothForms) {
  const auto child = [](const std::string& form, const std::string& rule) {
    return "exec:python3 '" DRAFTPROOF_SOURCE_DIR "/tests/adapters/children/masked.py' " + form + " " + rule;
  };
  for (const std::string form : {"frames", "lines"}) {
    EXPECT_EQ(proof_under_grammar(child(form, "right")).status, Status::passed) << form;
    for (const std::string wrong : {"sibling", "bonus"})
      EXPECT_EQ(proof_under_grammar(child(form, wrong)).status, Status::failed) << form << " " << wrong;
  }
}

/// The rows of p that a program receives are not masked: if the grammar forbids tokens, the forbidden tokens have half
/// of the row's mass, and the allowed tokens share the other half in proportion to their target probabilities.
TEST(GrammarChecks, RowsHaveNoMask) {
  const Declaration under_grammar{.name = "program", .grammar = true};
  const SmallModel model = small_model_of(
      PathInstance::parse("L=1 K=1 [] p=(1 0 3)/4 q=(1 1 0)/2 [0] p=(1 1 1)/3 q=(1 0 0)/1"), under_grammar);
  ASSERT_EQ(model.inputs.size(), 2u);
  const Input& input = model.inputs.front();
  ASSERT_EQ(input.drafts, std::vector<Token>{0});
  EXPECT_EQ(input.p[0], (std::vector{0.125, 0.5, 0.375}));
  EXPECT_EQ(input.legal[0], (std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_EQ(input.p[1], model.target({0}));
  EXPECT_EQ(input.legal[1], (std::vector<std::int32_t>{1, 1, 1}));
  EXPECT_EQ(model.target({}), (std::vector{0.25, 0.0, 0.75}));
}

}  // namespace
}  // namespace draftproof::adapters
