// The pair p = (5/9, 4/9), q = (1/3, 2/3) with two drafts, in fractions. The optimum accepts always, K-SEQ at its
// root 4/3 accepts 8/9, recursive rejection and the naive tree 23/27, sample and match 19/27.
//
// K-SEQ's root is irrational on most pairs. Here it is 4/3, and its program is enumerated with that factor.
// Cost: microseconds.
// Correctness: each value is computed twice: by its closed form and by an enumeration of its program, or, for the
// optimum, by the scan and by all cuts.
#pragma once

#include <fmt/format.h>

#include <draftproof/optimum/k_seq_root.hpp>
#include <draftproof/optimum/set_law.hpp>
#include <draftproof/properties/proof/output_law.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/studies/study.hpp>
#include <draftproof/verifiers/k_seq.hpp>

namespace draftproof::worst {

/// K-SEQ with a rational factor that equals the root.
class KSeqAtRoot final : public Decider<Rows<Rational>, Explorer<Rational>> {
 public:
  KSeqAtRoot(const Rows<Rational>& laws, const Rational& root) : laws_{laws}, plan_{root, root} {}
  Verdict decide(std::span<const Token> drafts, Explorer<Rational>& random) const override {
    const DraftedPosition<Rows<Rational>> at(laws_, drafts.data(), static_cast<int>(drafts.size()));
    return verifiers::KSeq{}.verify(at, plan_, random);
  }

 private:
  const Rows<Rational>& laws_;
  verifiers::KSeq::Plan<Rational> plan_;
};

inline void add_pair(StudyResult& result) {
  constexpr int drafts = 2;
  const std::vector<Rational> p{{5, 9}, {4, 9}}, q{{1, 3}, {2, 3}};
  const Rational root{4, 3};
  const Rows<Rational> rows(p, q);
  const AnyDrafter& iid = *registry().drafter("iid");
  Section section{
      .title = "p = (5/9 4/9), q = (1/3 2/3), K = 2, in fractions",
      .table = {{{"scheme"}, {"closed form", true}, {"program walked", true}, {"reference", true}, {""}}, {}}};
  const auto add = [&](std::string_view scheme, const Rational& closed, const Rational& walked,
                       const Rational& wanted) {
    const bool held = closed == wanted && walked == wanted;
    result.held = result.held && held;
    section.table.rows.push_back({{std::string(scheme)},
                                  {to_text(closed)},
                                  {to_text(walked)},
                                  {to_text(wanted)},
                                  {held ? "agrees" : "differs", held ? Tone::plain : Tone::bad}});
    result.document.data["pair"].push_back({{"scheme", scheme},
                                            {"closed_form", to_text(closed)},
                                            {"walked", to_text(walked)},
                                            {"reference", to_text(wanted)},
                                            {"held", held}});
  };
  // A program whose output is not the target gets -1.
  const auto walked = [&](const Decider<Rows<Rational>, Explorer<Rational>>& decider) -> Rational {
    const auto law = explore_law(iid, decider, rows, drafts);
    return law.complete && law.output == p ? law.flag : Rational(-1);
  };
  const auto found = [&](std::string_view scheme) {
    return walked(*registry().verifier(scheme)->prove_on(rows, drafts));
  };
  const auto sets =
      set_law<Rational>([&](Explorer<Rational>& random, Token* out) { return iid.draw(rows, drafts, random, out); });
  add("optimum", acceptance::optimum(p, q, drafts), cut_optimum<Rational>(p, sets), 1);
  add("k_seq", 1 - acceptance::residual_mass(p, q, root), walked(KSeqAtRoot(rows, root)), {8, 9});
  add("recursive_rejection", acceptance::recursive_rejection(p, q, drafts), found("recursive_rejection"), {23, 27});
  add("naive_tree", acceptance::naive_tree(p, q, drafts), found("naive_tree"), {23, 27});
  add("sample_and_match", acceptance::sample_and_match(p, q, drafts), found("sample_and_match"), {19, 27});

  const bool is_root = acceptance::excess(p, q, drafts, root) == 0 &&
                       acceptance::compare_with_k_seq(Rational(8, 9), p, q, drafts) == 0;
  result.held = result.held && is_root;
  section.after = {is_root ? "K-SEQ's equation at the factor 4/3: 0, in fractions"
                           : "K-SEQ's equation at the factor 4/3 is NOT 0"};
  result.document.data["root"] = {{"factor", to_text(root)}, {"held", is_root}};
  result.document.sections.push_back(std::move(section));
}

}  // namespace draftproof::worst
