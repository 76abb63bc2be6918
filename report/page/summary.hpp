// The answer first: what was asked, on what, and a line of verdict for each scheme.
#pragma once

#include <string>

#include <draftproof/report/document.hpp>
#include <draftproof/report/page/read.hpp>
#include <draftproof/report/page/verdicts.hpp>

namespace draftproof::page {

/// The question that the data answers, by its schema.
std::string question_of(const Json& data);

/// "22 proved, 4 lossy": how many verdicts of each word.
std::string tally_of(const std::vector<Verdict>& verdicts);

/// Names and values of what was asked on what: seed, sources, vocabulary, positions, version, machine.
std::vector<std::pair<std::string, std::string>> facts_of(const Json& data);

/// A row a scheme: of surveys exactness, acceptance and optimum by source at the most drafts, of other data the verdicts.
Table verdict_table(const Json& data, const std::vector<Verdict>& verdicts);

}  // namespace draftproof::page
