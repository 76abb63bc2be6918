// The published two-token example of block verification, with one path and several: every scheme by an enumeration of
// all drafts and all branches in fractions, the optimum by a linear program with a certificate, and a scheme that
// carries state over several iterations.
//
//   p, q       (1/3 2/3), (2/3 1/3)   after every prefix; V = 2, L = 2
//   E[tau]     accepted tokens of one iteration, the extra token not counted
//   one shot   optimum of all lossless verifiers; whole block: of one that knows the target's tokens in advance
//
// Cost: a second.
// Source: Sun et al., arXiv:2403.10444, for one path; the reference values of several paths and of iterations were
// enumerated independently of this program.
// Holds if all values agree and both certificates are valid and tight: fractions with ==, decimals to their digits.
// K-SEQ is compared as a decimal and explored in double: its factor is a root, which exact arithmetic rounds up to a
// short fraction.
#pragma once

#include <optional>

#include <fmt/format.h>

#include <draftproof/properties/paths/process_law.hpp>
#include <draftproof/properties/paths/tree_optimum.hpp>
#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/studies/path_models.hpp>
#include <draftproof/studies/reference.hpp>
#include <draftproof/studies/study.hpp>

namespace draftproof::studies {

struct PublishedPathExample {
  static constexpr std::string_view name = "published_path_example";
  static constexpr std::string_view about =
      "the two-token example: tokens per iteration of every scheme, and the most";
  static constexpr std::string_view source = "Sun et al., arXiv:2403.10444; several paths enumerated independently";

  static inline const WeightPair weights{{1, 2}, {2, 1}};
  struct Value {
    std::string_view what;
    int drafts;
    std::string_view reference;  ///< a fraction, or a decimal; empty: none
  };
  static constexpr Value accepted[] = {{"token_path", 1, "10/9"},
                                       {"block", 1, "11/9"},
                                       {"one shot", 1, "11/9"},
                                       {"greedy_block", 1, "12/9"},
                                       {"whole block", 1, "12/9"},
                                       {"sample_and_match_tree", 2, "82/81"},
                                       {"recursive_rejection_tree", 2, "4/3"},
                                       {"k_seq_tree", 2, "1.4054865457"},
                                       {"traversal", 2, "115/81"},
                                       {"greedy_multipath_block", 2, "131/81"},
                                       {"branch_reentry", 2, ""},
                                       {"ladder_block", 2, ""},
                                       {"one shot", 2, "131/81"},
                                       {"whole block", 2, "134/81"},
                                       {"sample_and_match_tree", 3, "8200/6561"},
                                       {"recursive_rejection_tree", 3, "1087/729"},
                                       {"k_seq_tree", 3, "1.5933063621"},
                                       {"traversal", 3, "1136/729"},
                                       {"greedy_multipath_block", 3, "1289/729"},
                                       {"branch_reentry", 3, ""},
                                       {"ladder_block", 3, ""},
                                       {"one shot", 3, "1351/729"},
                                       {"whole block", 3, "1351/729"}};

  static constexpr int iterations = 4;
  struct Process {
    std::string_view scheme;
    std::string_view references[iterations];
  };
  static constexpr Process processes[] = {{"token_path", {"2.1111", "4.2222", "6.3333", "8.4444"}},
                                          {"block", {"2.2222", "4.4444", "6.6667", "8.8889"}},
                                          {"greedy_block", {"2.3333", "4.4444", "6.5556", "8.6667"}}};

  static StudyResult run(const StudyOptions& options) {
    const auto toy = constant_model<Rational>(weights);
    StudyResult result;
    auto& data = result.document.data = {{"schema", "draftproof.study.published_path_example/1"}};
    Section one{.title = "one iteration: E[tau] on p = (1/3 2/3), q = (2/3 1/3), L = 2",
                .table = {{{"K", true}, {"scheme"}, {"fraction"}, {"decimal", true}, {"reference", true}, {""}}, {}}};
    const std::uint64_t total = std::size(accepted) + std::size(processes);
    std::uint64_t done = 0;
    for (const Value& value : accepted) {
      if (options.stopped()) break;
      const std::optional<Rational> found = computed(value, toy);
      options.tell(++done, total);
      if (!found) continue;
      const bool same = agrees(value.reference, *found);
      result.held = result.held && same;
      one.table.rows.push_back({{std::to_string(value.drafts)},
                                {std::string(value.what)},
                                {brief(*found)},
                                {fmt::format("{:.10f}", static_cast<double>(*found))},
                                {std::string(value.reference)},
                                verdict(value.reference, same)});
      data["values"].push_back({{"scheme", value.what},
                                {"drafts", value.drafts},
                                {"value", brief(*found)},
                                {"decimal", static_cast<double>(*found)},
                                {"reference", value.reference},
                                {"agrees", same}});
    }
    Section many{.title = "several iterations, one path: tokens so far, the extra ones counted",
                 .table = {{{"scheme"}}, {}},
                 .after = {"  greedy_block carries state: it wins the first iteration and pays in those after it"}};
    for (int i = 1; i <= iterations; ++i) many.table.columns.push_back({fmt::format("after {}", i), true});
    many.table.columns.push_back({"reference"});
    for (const Process& process : processes) {
      if (options.stopped()) break;
      add_process(process, toy, many, result);
      options.tell(++done, total);
    }
    result.complete = done == total;
    data["held"] = result.held;
    result.document.sections.push_back(std::move(one));
    result.document.sections.push_back(std::move(many));
    return result;
  }

 private:
  using Model = PathModel<Rational>;

  static bool agrees(std::string_view reference, const Rational& value) {
    if (reference.empty()) return true;
    if (reference.find('.') == std::string_view::npos) return value == Rational(std::string(reference));
    // At most 2^12 branches in double, each the product of at most 16 rounded factors: a relative error of
    // (2^12 + 16) 2^-53, less than 2^-36 of a number below 16.
    return Reference{reference}.agrees(static_cast<double>(value), 0x1p-36);
  }
  static Cell verdict(std::string_view reference, bool same) {
    if (reference.empty()) return {""};
    return same ? Cell{"agrees"} : Cell{"differs", Tone::bad};
  }

  /// Nothing if the scheme does not exist; -1 if a proof of the value fails.
  static std::optional<Rational> computed(const Value& value, const Model& toy) {
    const TreeShape shape{.drafts = value.drafts, .length = 2};
    const AnyTreeDrafter& drafter = *path_registry().drafter("iid_paths");
    if (value.what == "one shot" || value.what == "whole block") {
      const Sight sight = value.what == "one shot" ? Sight::one_shot : Sight::whole_block;
      const TreeLaw law = enumerate_tree_law(drafter, toy, shape).value();
      const TreeCertificate certificate = tree_optimum(law, sight);
      // A rejected certificate, or one with a gap, gives -1, which equals no reference.
      const bool proved = reject(law, sight, certificate).empty() && certificate.lower == certificate.upper;
      return proved ? certificate.lower : Rational(-1);
    }
    const AnyPathVerifier* scheme = path_registry().verifier(value.what);
    if (!scheme) return std::nullopt;
    if (value.reference.find('.') != std::string_view::npos) {
      const auto doubles = constant_model<double>(weights);
      const auto decider = scheme->explore_on(doubles, shape);
      return Rational(explore_step_law<Rows<double>>(drafter, *decider, doubles, shape).mean_accepted());
    }
    const auto decider = scheme->prove_on(toy, shape);
    if (!decider) return std::nullopt;
    const auto law = explore_step_law<Rows<Rational>>(drafter, *decider, toy, shape);
    return law.complete && law.mass == 1 ? law.mean_accepted() : Rational(-1);
  }

  static void add_process(const Process& process, const Model& toy, Section& section, StudyResult& result) {
    const TreeShape shape{.drafts = 1, .length = 2};
    const AnyPathVerifier& scheme = *path_registry().verifier(process.scheme);
    const auto decider = scheme.prove_on(toy, shape);
    const auto carried = scheme.process_on(toy);
    const IteratedScheme<Rows<Rational>> iterated{*path_registry().drafter("iid_paths"), *decider, carried.get(), toy,
                                                  shape};
    const std::vector<Rational> tokens = expected_tokens(iterated, iterations);
    std::vector<Cell> cells{{std::string(process.scheme)}};
    nlohmann::ordered_json data{{"scheme", process.scheme}};
    bool held = true;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool same = agrees(process.references[i], tokens[i]);
      held = held && same;
      cells.push_back({fmt::format("{} = {:.4f}", brief(tokens[i]), static_cast<double>(tokens[i])),
                       same ? Tone::plain : Tone::bad});
      data["tokens"].push_back(brief(tokens[i]));
      data["references"].push_back(process.references[i]);
    }
    data["agrees"] = held;
    cells.push_back(verdict(process.references[0], held));
    result.held = result.held && held;
    result.document.data["iterations"].push_back(std::move(data));
    section.table.rows.push_back(std::move(cells));
  }
};

}  // namespace draftproof::studies
