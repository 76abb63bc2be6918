// Tests of the page of results: approved pages, data read back from a page, hostile names, size; and of the
// comparison of two results. DRAFTPROOF_APPROVE=1 rewrites the approved pages.
#include <draftproof/cli/report/page/page.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include <gtest/gtest.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/report/page/data.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/tests/support/stored_results.hpp>

namespace draftproof::page {
namespace {

namespace fs = std::filesystem;

const fs::path here = fs::path(DRAFTPROOF_SOURCE_DIR) / "tests/report";

std::string file_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Json stored(const std::string& name) {
  registry();  // the first call also registers the figures
  return read_result((here / "results" / (name + ".json")).string());
}

/// Returns a path that no other process uses, because tests run in parallel.
fs::path file_of_its_own(const std::string& name) {
  return fs::path(testing::TempDir()) / (name + "." + std::to_string(::getpid()));
}

/// Returns the data that read_result reads from a page of `data`.
Json through_a_page(const Json& data) {
  const fs::path file = file_of_its_own("draftproof_page.html");
  std::ofstream(file) << html_page(data);
  Json read = read_result(file.string());
  fs::remove(file);
  return read;
}

std::size_t count_in(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

TEST(Page, AreTheApprovedOnes) {
  for (const char* name : {"prove", "optimum"}) {
    const fs::path approved = here / "approved" / (std::string(name) + ".html");
    const std::string page = html_page(stored(name));
    if (std::getenv("DRAFTPROOF_APPROVE") != nullptr) std::ofstream(approved) << page;
    EXPECT_EQ(page, file_text(approved)) << approved;
  }
}

TEST(Page, GivesItsDataBackByteForByte) {
  for (const auto& entry : fs::directory_iterator(here / "results")) {
    const std::string text = file_text(entry.path());
    const Json data = read_result(entry.path().string());
    ASSERT_EQ(data.dump(2) + "\n", text) << entry.path() << ": not as the program writes it";
    EXPECT_EQ(through_a_page(data).dump(2) + "\n", text) << entry.path();
  }
}

TEST(Page, HoldsSeveralResults) {
  const Json both = joined({{"a.json", stored("prove")}, {"b.json", stored("survey")}});
  EXPECT_EQ(both["schema"], "draftproof.report/2");
  EXPECT_EQ(through_a_page(both), both);
  EXPECT_EQ(results_in(both)[1].data, stored("survey"));
  const std::string page = html_page(both);
  EXPECT_EQ(count_in(page, "<section>"), 2u);
  EXPECT_NE(page.find("a.json"), std::string::npos);
  EXPECT_EQ(joined({{"a.json", stored("prove")}}), stored("prove")) << "one result stays what it is";
}

TEST(Page, ShowsWhatTheDataHas) {
  Json one_number = stored("survey");
  for (Json& source : one_number["sources"])
    std::erase_if(source["rows"].get_ref<Json::array_t&>(),
                  [](const Json& row) { return row["drafts"] != (row["verifier"] == "single_draft" ? 1 : 4); });
  const std::string bars = html_page(one_number);
  EXPECT_NE(bars.find("acceptance of lossless schemes, K = 4"), std::string::npos)
      << "bars, and no lines of one point";
  EXPECT_NE(bars.find(" K=1</text>"), std::string::npos) << "a scheme that takes fewer drafts";
  const struct {
    const char *name, *text;
    bool shown = true;
  } cases[] = {{"survey", "Is each scheme exact, and how much does it accept?"},
               {"survey", "gap closed"},
               {"survey", "iid drafts: acceptance of lossless schemes"},
               {"survey", "the price of lossiness"},
               {"survey", "V = 10, 4 positions"},
               {"survey", "optimum: no lossless scheme is above"},
               {"survey", "where acceptance is lost", false},
               {"survey_positions", "iid drafts: where acceptance is lost"},
               {"survey_paths", "block efficiency"},
               {"survey_paths", "steps that reach each position"},
               {"survey_paths", "L, drafted tokens of a path", false},
               {"survey_paths_lengths", "iid_paths: block efficiency<"},
               {"survey_paths_lengths", "L, drafted tokens of a path"},
               {"mutants", "Kill matrix, position"},
               {"audit", "alarm from 10^"},
               {"check", "Gates, tier proof"}};
  for (const auto& [name, text, shown] : cases)
    EXPECT_EQ(html_page(stored(name)).find(text) != std::string::npos, shown) << name << ": " << text;
}

TEST(Page, AnswersFirst) {
  Json data = stored("survey");
  data["complete"] = true;
  const std::string page = html_page(data);
  std::size_t before = 0;
  for (const char* part : {"<p class=\"answer\"><strong>", "<dt>gaussian_logits", "<dt>seed</dt>",
                           "<dt>complete</dt>", "<h3>Verdicts</h3>", "<th>scheme</th><th>exact?</th>",
                           "acceptance</th>", "<th>draft sampling</th>", "<h3>Plots</h3>"}) {
    const std::size_t at = page.find(part, before);
    EXPECT_NE(at, std::string::npos) << part << " after the parts before it";
    before = std::min(at, page.size());
  }
}

TEST(Page, OnlyAnExcessWithinTheIntervalIsShownAsTheWholeGap) {
  Json data = stored("survey");
  const auto page_with_low = [&data](double above_optimum) {
    for (Json& source : data["sources"])
      for (Json& row : source["rows"]) {
        if (row["gap_closed"].is_null()) continue;
        row["gap_closed"] = 1.13;
        row["draft_emitted"]["low"] = row["optimum"].get<double>() + above_optimum;
      }
    return html_page(data);
  };
  const std::string within = page_with_low(0);
  EXPECT_EQ(count_in(within, "113 %"), 0u);
  EXPECT_GT(count_in(within, "<td class=\"num \">100 %</td>"), 0u);
  EXPECT_GT(count_in(within, "100 % K="), 0u) << "the bars";
  EXPECT_GT(count_in(within, "noise of the trials"), 1u) << "the captions say what a point above the optimum may be";
  const std::string beyond = page_with_low(1e-6);
  EXPECT_EQ(count_in(beyond, "<td class=\"num \">100 %</td>"), 0u) << "also for schemes that nobody refuted";
  EXPECT_GT(count_in(beyond, "<td class=\"num \">113 %</td>"), 0u);
  EXPECT_GT(count_in(beyond, "113 % K="), 0u) << "the bars";
}

TEST(Page, HostileNamesComeOutAsText) {
  const std::string hostile = "</script><script>alert('x')</script><!-- \" & \xE2\x80\xA8 \xF0\x9F\x98\x80 \x01";
  Json data = stored("survey");
  data["sources"][0]["source"] = hostile;
  data["sources"][0]["about"]["file"] = hostile;
  data["sources"][0]["rows"][0]["verifier"] = hostile;
  data["proofs"][0]["verifier"] = hostile;
  data["proofs"][0]["findings"][0] = {{"property", hostile},
                                      {"status", "failed"},
                                      {"counterexample", hostile},
                                      {"evidence", "got " + hostile},
                                      {"replay", hostile}};
  data[hostile] = hostile;
  const std::string page = html_page(data);
  EXPECT_EQ(count_in(page, "<script"), 1u) << "the data alone";
  EXPECT_EQ(count_in(page, "</script"), 1u);
  EXPECT_EQ(count_in(page, "<!--"), 0u);
  EXPECT_EQ(count_in(page, "\x01"), 0u);
  EXPECT_GT(count_in(page, "&lt;script&gt;alert(&#39;x&#39;)"), 3u);
  EXPECT_EQ(through_a_page(data), data);
}

TEST(Page, TakesAnyDocument) {
  registry();
  for (
      const char* text :
      {"{}",
       R"({"schema": "draftproof.survey/3", "sources": [{"rows": [{"draft_emitted": 3, "drafts": "x"}, 7]}, null]})",
       R"({"proofs": {"a": 1}, "gates": [[]], "mutants": "x", "families": [{"log10_e": 3}], "log10_threshold": 9})",
       R"({"sources": [{"rows": [{"verifier": "a", "drafts": 9000000000000000000, "draft_emitted": {"rate": 1e300}}]}]})",
       R"({"sources": [{"rows": [{"verifier": "a", "drafts": 2, "mean_accepted": 1e16, "accepted": [0, 0, 0]}]}]})"})
    EXPECT_NE(html_page(Json::parse(text)).find("</html>"), std::string::npos) << text;
}

TEST(Page, IsSmall) {
  Json data{{"schema", "draftproof.survey/3"},
            {"seed", 1},
            {"sources", Json::array()},
            {"proofs", stored("survey")["proofs"]}};
  Json row = stored("survey")["sources"][0]["rows"][0];
  for (int source = 0; source < 3; ++source) {
    Json rows = Json::array();
    for (int scheme = 0; scheme < 40; ++scheme)
      for (const int drafts : {2, 4, 8}) {
        row["verifier"] = "a_scheme_with_a_long_name_" + std::to_string(scheme);
        row["draft_sampling"] = scheme < 30 ? "iid" : "without_replacement";
        row["drafts"] = drafts;
        row["optimum"] = 0.9;
        row["gap_closed"] = scheme / 40.0;
        row["draft_emitted"]["rate"] = 0.5 + scheme / 100.0 + drafts / 100.0;
        rows.push_back(row);
      }
    data["sources"].push_back({{"source", "source_" + std::to_string(source)}, {"rows", rows}});
  }
  const std::string page = html_page(data);
  EXPECT_LT(page.size(), 1'500'000u);
  EXPECT_GE(count_in(page, "<figure"), 3u * (4 + 2 + 1))
      << "iid in four plots, the other distribution in two, the gap";
}

TEST(Page, FilesThatAreNoResultsAreRefused) {
  const fs::path file = file_of_its_own("draftproof_bad_result");
  const auto refusal = [&](const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
    try {
      read_result(file.string());
    } catch (const InputError& error) {
      return error.fault().got;
    }
    return std::string("taken");
  };
  EXPECT_EQ(refusal(""), "an empty file");
  EXPECT_EQ(refusal("{\"schema\": "), "text that is not JSON from byte 12 on");
  EXPECT_EQ(refusal("<html></html>"), "a page without draftproof data");
  EXPECT_EQ(refusal("[1]"), "JSON without a schema");
  EXPECT_EQ(refusal("{\"schema\": \"other/1\"}"), "schema \"other/1\"");
  EXPECT_EQ(refusal("{\"a\": 1e999}").substr(0, 28), "a value that cannot be read:");
  EXPECT_EQ(refusal("{\"schema\": \"draftproof.x/1\", \"a\": " + std::string(65, '[') + std::string(65, ']') + "}"),
            "JSON nested deeper than 64 levels");
  EXPECT_EQ(refusal("{\"schema\": \"draftproof.x/1\"}"), "a schema and nothing else");
  EXPECT_EQ(refusal("{\"schema\": \"draftproof.x/1\", \"seed\": 1}"), "taken");
  const std::string page = html_page(stored("prove"));
  EXPECT_EQ(refusal(page), "taken");
  EXPECT_EQ(refusal(page.substr(0, page.rfind("</script>"))), "a page without draftproof data");
  fs::remove(file);
}

TEST(Comparison, VerdictsFirst) {
  const Json before = proofs({proof("a", "proved"), proof("b", "refuted"), proof("c", "undecided"),
                              proof("d", "proved"), proof("e", "proved")});
  const Json after = proofs({proof("a", "refuted"), proof("b", "proved"), proof("c", "undecided"),
                             proof("e", "lossy"), proof("f", "proved")});
  const Comparison comparison = compare({"old.json", before}, {"new.json", after});
  EXPECT_EQ(comparison.worse, 2) << "a refuted, e lossy";
  EXPECT_EQ(comparison.gone, 1);
  const Json& data = comparison.document.data;
  std::string changes;
  for (const Json& entry : data["verdicts"])
    changes += entry["subject"].get<std::string>() + " " + entry["change"].get<std::string>() + ", ";
  EXPECT_EQ(changes, "a worse, e worse, d gone, b better, f new, ");
  EXPECT_EQ(data["same_verdicts"], 1);
  EXPECT_NE(data["verdicts"][0]["counterexample"].get<std::string>().find("got (1/4 3/4)"), std::string::npos);
  EXPECT_EQ(compare({"", before}, {"", before}).worse, 0);
  EXPECT_TRUE(compare({"", before}, {"", before}).document.data["verdicts"].empty());
}

TEST(Comparison, AcceptanceBeyondBothIntervals) {
  const auto change = [](const Json& after) {
    const Json data = compare({"", survey(0.5, 0.4, 0.6)}, {"", after}).document.data;
    return data["acceptance"].empty() ? std::string() : data["acceptance"][0]["change"].get<std::string>();
  };
  EXPECT_EQ(change(survey(0.65, 0.55, 0.75)), "") << "the intervals meet";
  EXPECT_EQ(change(survey(0.7, 0.61, 0.8)), "more");
  EXPECT_EQ(change(survey(0.3, 0.2, 0.39)), "less");
}

TEST(Comparison, RowsOfOtherLengthsAreOthers) {
  const auto of_length = [](int length) {
    Json data = survey(0.5, 0.4, 0.6);
    data["sources"][0]["rows"][0]["length"] = length;
    return data;
  };
  EXPECT_EQ(compare({"", of_length(2)}, {"", of_length(2)}).gone, 0);
  EXPECT_EQ(compare({"", of_length(2)}, {"", of_length(4)}).gone, 1);
}

TEST(Comparison, NamesWhatDiffersApartFromVerifiers) {
  Json before = survey(0.5, 0.4, 0.6), after = before;
  before["sources"][0]["about"] = {{"target_filter", {{"temperature", 1.0}}}, {"positions", 4}};
  after["sources"][0]["about"] = {{"target_filter", {{"temperature", 0.7}}}, {"positions", 4}};
  after["complete"] = false;
  const std::string source = before["sources"][0]["source"];
  const Json expected = {"new.json was interrupted", source + ": target_filter/temperature was 1, is 0.7"};
  const Document document = compare({"old.json", before}, {"new.json", after}).document;
  EXPECT_EQ(document.data["differences"], expected);
  EXPECT_EQ(document.sections[0].before.size(), 3u);
  EXPECT_TRUE(compare({"", before}, {"", before}).document.data["differences"].empty());
}

TEST(Comparison, ReadsVerdictsOfPolicies) {
  const auto policy = [](const char* verdict) -> Json {
    const Json row{{"policy", "best"}, {"verdict", verdict}};
    return {{"schema", "draftproof.survey-policies/1"}, {"sources", {{{"source", "a"}, {"rows", {row}}}}}};
  };
  EXPECT_EQ(compare({"", policy("passed")}, {"", policy("failed: non_anticipation")}).worse, 1);
  EXPECT_EQ(compare({"", policy("passed")}, {"", policy("passed")}).document.data["same_verdicts"], 1);
  Json two = policy("passed");
  auto& rows = two["sources"][0]["rows"];
  rows.push_back({{"policy", "best"}, {"verdict", "passed"}, {"verifier", "block"}});
  EXPECT_EQ(compare({"", two}, {"", two}).document.data["same_verdicts"], 2) << "one for each verifier";
}

TEST(Comparison, OfEqualNamesIsInTheirOrder) {
  Json data = survey(0.5, 0.4, 0.6);
  data["sources"].push_back(data["sources"][0]);
  for (const std::size_t i : {0u, 1u}) data["sources"][i]["about"] = {{"temperature", i}};
  EXPECT_TRUE(compare({"", data}, {"", data}).document.data["differences"].empty());
}

TEST(Comparison, ARateWithoutErrorIsNotCompared) {
  const auto one_step = [](double mean) -> Json {
    const Json row{{"verifier", "a"}, {"draft_sampling", "iid"}, {"drafts", 1},
                   {"length", 1},     {"mean_accepted", mean},   {"standard_error", nullptr}};
    return {{"schema", "draftproof.survey-paths/3"}, {"sources", {{{"source", "a"}, {"rows", {row}}}}}};
  };
  EXPECT_EQ(compare({"", one_step(0)}, {"", one_step(1)}).document.data["same_acceptance"], 1);
}

TEST(Comparison, RefusesResultsThatItDoesNotRead) {
  Json simulated{{"schema", "draftproof.simulate/3"}, {"draft_emitted", 5}};
  const Result read{"old.json", proofs({proof("a", "proved")})};
  EXPECT_THROW(compare(read, {"new.json", simulated}), InputError);
  EXPECT_THROW(compare({"new.json", simulated}, read), InputError);
  simulated["complete"] = false;  // an interrupted run may have no verdict yet
  EXPECT_EQ(compare(read, {"new.json", simulated}).gone, 1);
}

TEST(Comparison, OfJoinedResultsTakesTheWorstVerdict) {
  const Json joint = joined({{"1", proofs({proof("a", "refuted")})}, {"2", proofs({proof("a", "proved")})}});
  EXPECT_EQ(compare({"", proofs({proof("a", "proved")})}, {"", joint}).worse, 1);
}

TEST(WorkedTables, AreInReducedFractions) {
  const auto tables = worked_tables({.subject = "a",
                                     .where = "iid",
                                     .property = "exact_distribution",
                                     .instance = "p=(2 2)/4 q=(0 3)/3 K=2",
                                     .evidence = "got (1/4 3/4), expected (1/2 1/2), TV 1/4",
                                     .replay = ""});
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].caption, "K=2");
  ASSERT_EQ(tables[0].table.rows.size(), 2u);
  std::vector<std::string> texts;
  for (const Cell& cell : tables[0].table.rows[1]) texts.push_back(cell.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"1", "1/2", "1", "3/4 ≠", "1/2"}));
}

TEST(WorkedTables, OfPathsHaveAPairAContext) {
  Counterexample example{};
  example.instance = "L=2 K=1 [] p=(1 1)/2 q=(0 1)/1 [1] p=(1 3)/4 q=(1 1)/2";
  example.evidence = "after [0] got 1/4";
  const auto tables = worked_tables(example);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[1].table.columns.size(), 3u) << "no outcome";
  EXPECT_EQ(tables[1].table.rows[1][1].text, "3/4");
  example.instance = "a batch of 3 rows";
  EXPECT_TRUE(worked_tables(example).empty());
  EXPECT_NE(example_html(example).find("a batch of 3 rows"), std::string::npos);
}

}  // namespace
}  // namespace draftproof::page
