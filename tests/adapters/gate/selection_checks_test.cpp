// Selection policies of programs: correct and wrong ones, as a library with the C interface and as a child, by both
// checks.
#include <cstdlib>
#include <string>

#include <draftproof/adapters/gate/external_gate.hpp>
#include <draftproof/adapters/gate/selection_checks.hpp>
#include <draftproof/adapters/library/load_library.hpp>
#include <draftproof/adapters/open_adapter.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/tests/support/adapters_messages.hpp>

namespace draftproof::adapters {
namespace {

std::string child(const std::string& form, const std::string& policy) {
  return "exec:python3 '" DRAFTPROOF_SOURCE_DIR "/tests/adapters/children/policy.py' " + form + " " + policy;
}

GateResult proof_of(const std::string& text, GateOptions options = {}) {
  const OpenAdapter adapter = open_adapter(text);
  const ExternalGate gate(adapter.text, adapter.program, adapter.served, adapter.fresh);
  EXPECT_EQ(gate.refusal(Tier::proof), "");
  EXPECT_NE(gate.refusal(Tier::edge), "");
  EXPECT_NE(gate.refusal(Tier::sampled), "");
  return run_gate({.external = &gate, .tier = Tier::proof}, options);
}

/// Loads the library with the policy of this name.
std::unique_ptr<Served> library(const char* policy) {
  setenv("DRAFTPROOF_POLICY", policy, 1);
  return load_library(DRAFTPROOF_POLICIES);
}

std::vector<Status> statuses(const std::vector<Finding>& findings) {
  std::vector<Status> result;
  for (const Finding& finding : findings) result.push_back(finding.status);
  return result;
}

const SelectionCheckOptions few{.seed = 1, .cases = 60};
const std::vector<Status> passed(2, Status::passed), failed(2, Status::failed);

TEST(SelectionChecks, OfALibrary) {
  for (const char* right : {"keeps_all", "row_maximum"})
    EXPECT_EQ(statuses(check_selection(*library(right), few)), passed) << right;
  const std::vector<Finding> wrong = check_selection(*library("low_probability_stop"), few);
  EXPECT_EQ(statuses(wrong), failed);
  EXPECT_EQ(wrong[0].property, "non_anticipation");
  EXPECT_EQ(wrong[1].property, "output_distribution");
  EXPECT_EQ(wrong[1].instance.find("budget="), 0u) << wrong[1].instance;
  expect_words(wrong[1].evidence, "the choice depends on the token at position 1 of request 0");
}

TEST(SelectionChecks, OfAChildInBothForms) {
  for (const std::string form : {"frames", "lines"}) {
    EXPECT_EQ(statuses(proof_of(child(form, "before")).findings), passed) << form;
    const std::vector<Finding> wrong = proof_of(child(form, "token")).findings;
    ASSERT_EQ(statuses(wrong), failed) << form;
    expect_words(wrong[1].evidence, "the choice depends on");
    expect_words(wrong[1].replay, "draftproof replay --adapter 'exec:python3");
    expect_words(wrong[1].replay, "--property output_distribution --instance 'budget=");
  }
}

TEST(SelectionChecks, AnswersOfAnotherShapeBreakTheProtocol) {
  const std::vector<Finding> shape = proof_of(child("lines", "short")).findings;
  ASSERT_EQ(shape.size(), 1u);
  EXPECT_EQ(shape[0].property, "protocol");
  expect_words(shape[0].evidence, "result: kept: got \"[1]\", expected 2 flags for request 0");
  EXPECT_THROW(check_selection(*library("writes_outside"), few), AdapterError);
  // Only the reader of the wire protocol detects this invalid answer, so the library runs in a child process.
  expect_words(
      proof_of("exec:DRAFTPROOF_POLICY=orphans exec '" DRAFTPROOF_PROGRAM "' serve 'lib:" DRAFTPROOF_POLICIES "'")
          .findings[0]
          .evidence,
      "without the draft before it");
}

TEST(SelectionChecks, ALibraryMustNotChangeItsInputs) {
  for (const char* array : {"tokens", "parents", "q", "legal", "confidence", "past_confidence", "cost", "request"}) {
    const auto changes = library((std::string("changes_") + array).c_str());
    const ServedSelection asked{.vocabulary = 2,
                                .budget = 1,
                                .cost = {0, 1},
                                .requests = {{.drafts = {1},
                                              .parents = {-1},
                                              .q = {{0.5, 0.5}},
                                              .legal = {{1, 1}},
                                              .confidence = {1, 0.5},
                                              .past_confidence = {0.5}}}};
    try {
      changes->select(asked);
      ADD_FAILURE() << array;
    } catch (const AdapterError& error) {
      expect_words(error.what(), "select: got inputs changed by the call, expected unchanged inputs");
    }
  }
}

TEST(SelectionChecks, AnInstanceIsAskedAlone) {
  const auto wrong = library("low_probability_stop");
  const std::string biased = "budget=1 | L=1 K=1 [] p=(1 1)/2 q=(3 1)/4";
  const std::vector<Finding> one = check_selection_on(*wrong, "output_distribution", biased, {});
  ASSERT_EQ(one.size(), 1u);
  expect_words(one[0].evidence, "got (5/8 3/8), expected (1/2 1/2)");
  EXPECT_EQ(statuses(check_selection_on(*wrong, "", biased, {})), failed);
  EXPECT_THROW(check_selection_on(*wrong, "sampled", biased, {}), InputError);
  EXPECT_THROW(check_selection_on(*wrong, "", "budget=", {}), InputError);
  GateOptions options;
  options.adapter_instances = {biased};
  const std::string failing = "budget=1 | L=1 K=1 [] p=(1 1)/2 q=(1 1)/2 c=5 [1] p=(1 1)/2 q=(1 1)/2 c=0";
  options.adapter_instances = {biased, failing};
  for (const Finding& finding : proof_of(child("frames", "token"), options).findings)
    EXPECT_EQ(finding.instance, failing);
}

}  // namespace
}  // namespace draftproof::adapters
