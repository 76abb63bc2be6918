// Tests of text functions, and of every writer on the same small documents.
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include <draftproof/cli/report/page/page.hpp>
#include <draftproof/cli/report/registration.hpp>
#include <draftproof/cli/report/text.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/tests/support/stored_results.hpp>

namespace draftproof {
namespace {

struct TextCase {
  std::string got, wanted;
};

TEST(Text, WidthsGroupsAndCounts) {
  const std::vector<TextCase> cases{
      {padded("±1", 4, false), "±1  "},  // widths count columns, not bytes
      {padded("±1", 4, true), "  ±1"},
      {padded("", 2, true), "  "},
      {padded("longer", 3, false), "longer"},  // longer texts are not cut
      {grouped(0), "0"},
      {grouped(999), "999"},
      {grouped(1000), "1,000"},
      {grouped(100000), "100,000"},
      {grouped(1048576), "1,048,576"},
      {grouped(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615"},
      {counted(0, "tuple"), "0 tuples"},
      {counted(1, "tuple"), "1 tuple"},
      {counted(1500, "tuple"), "1,500 tuples"}};
  for (const auto& [got, wanted] : cases) EXPECT_EQ(got, wanted);
  for (const auto& [text, width] : {std::pair{"", 0u}, {"abc", 3u}, {"±0.1", 4u}, {"é…", 2u}})
    EXPECT_EQ(display_width(text), width) << text;
}

TEST(Text, WrapsAtSpacesAndBreaksLongWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("", 3), Lines{""});
  EXPECT_EQ(wrapped("exact_distribution, splitting", 19), (Lines{"exact_distribution,", "splitting"}));
  EXPECT_EQ(wrapped("a bc d", 4), (Lines{"a bc", "d"}));
  EXPECT_EQ(wrapped("abcdef", 4), (Lines{"abcd", "ef"}));
  EXPECT_EQ(wrapped("±1 ±2", 2), (Lines{"±1", "±2"})) << "columns, not bytes";
}

std::string written(const std::string& name, const Document& document, WriterOptions options = {}) {
  registry();  // the first call also registers the writers
  std::ostringstream out;
  for (const Writer& writer : found_writers())
    if (writer.name == name) writer.write(document, out, options);
  return out.str();
}

Document example() {
  Document document;
  document.data = {{"schema", "draftproof.example/1"}, {"none", nullptr}, {"rate", 0.25}};
  Section section{.title = "Title", .before = {"before"}};
  section.table.columns = {{"name"}, {"rate", true}};
  section.table.rows = {{{"a|b"}, {"±1", Tone::good}}, {{"longer"}, {"22.5", Tone::bad}}};
  section.after = {"after"};
  document.sections = {section, {.title = "Second"}};
  return document;
}

TEST(TableWriter, AlignsColumns) {
  EXPECT_EQ(written("table", example()),
            "Title\n"
            "before\n"
            "  name    rate\n"
            "  a|b       ±1\n"
            "  longer  22.5\n"
            "after\n"
            "\n"
            "Second\n");
}

TEST(Writers, TextsAreOfOneLineWithoutControlCharacters) {
  const std::string hostile =
      "a\x1b[31mred\nline\r\xc2\x9b"
      "b\x7f";
  Document document;
  document.data = {{"schema", "draftproof.example/1"}, {"rows", {{{hostile, hostile}}}}};
  Section section{.title = hostile, .before = {hostile}};
  section.table.columns = {{hostile}};
  section.table.rows = {{{hostile}}};
  section.after = {hostile};
  document.sections = {section};
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  for (const auto& [name, count] : {std::pair{"table", 5}, {"markdown", 10}, {"csv", 2}}) {
    const std::string text = written(name, document);
    EXPECT_EQ(text.find_first_of("\x1b\x7f\x9b"), std::string::npos) << text;
    EXPECT_EQ(lines(text), count) << text;
    EXPECT_NE(text.find("a [31mred line"), std::string::npos) << text;
  }
}

TEST(TableWriter, ColourAddsNothingButColour) {
  std::string text = written("table", example(), {.colour = true});
  EXPECT_NE(text.find("\033[32m  ±1\033[0m"), std::string::npos) << text;
  EXPECT_NE(text.find("\033[31m22.5\033[0m"), std::string::npos) << text;
  for (std::size_t at; (at = text.find('\033')) != std::string::npos;) text.erase(at, text.find('m', at) - at + 1);
  EXPECT_EQ(text, written("table", example()));
}

TEST(TableWriter, FitsTheTerminal) {
  Document document;
  document.sections = {{.title = "T",
                        .table = {{{"name"}, {"rate", true}, {"checks"}},
                                  {{{"one"}, {"1.5"}, {"exact_distribution, acceptance_bounds, splitting"}},
                                   {{"two"}, {"2"}, {"-"}}}}}};
  EXPECT_EQ(written("table", document, {.width = 34}),
            "T\n"
            "  name  rate  checks\n"
            "  one    1.5  exact_distribution,\n"
            "              acceptance_bounds,\n"
            "              splitting\n"
            "  two      2  -\n");
  EXPECT_EQ(written("table", document, {.width = 300}), written("table", document))
      << "where it fits, nothing changes";
}

TEST(TableWriter, UntitledColumnsHaveNoHeading) {
  Document document;
  document.sections = {{.title = "T", .table = {{{""}, {""}}, {{{"key"}, {"value"}}}}}};
  EXPECT_EQ(written("table", document), "T\n  key  value\n");
}

TEST(MarkdownWriter, EscapesAndAligns) {
  EXPECT_EQ(written("markdown", example(), {.colour = true}),
            "### Title\n\n"
            "before  \n\n"
            "| name | rate |\n"
            "| --- | ---: |\n"
            "| a\\|b | ±1 |\n"
            "| longer | 22.5 |\n\n"
            "after  \n\n"
            "### Second\n\n");
}

TEST(JsonWriter, WritesTheDataSchemaFirst) {
  const std::string text = written("json", example(), {.colour = true});
  EXPECT_EQ(text, "{\n  \"schema\": \"draftproof.example/1\",\n  \"none\": null,\n  \"rate\": 0.25\n}\n");
}

TEST(Writers, AllTakeAnEmptyDocument) {
  registry();
  EXPECT_GE(found_writers().size(), 3u);
  for (const Writer& found : found_writers()) {
    EXPECT_FALSE(found.about.empty()) << found.name;
    std::ostringstream out;
    EXPECT_NO_THROW(found.write({}, out, {})) << found.name;
  }
}

TEST(ResultRows, AreWrittenOnce) {
  Table table;
  auto records = nlohmann::ordered_json::array();
  for (const std::optional<double> rate : {std::optional(0.25), std::optional<double>()}) {
    ResultRow row;
    row.text("name", "scheme", {"a"}).count("tuples", "tuples", 1500).data("seed", 1).cell("note", {"n"});
    table.add(records, std::move(row.fixed("rate", "rate", rate, 3)));
  }
  EXPECT_EQ(records.dump(),
            R"([{"name":"a","tuples":1500,"seed":1,"rate":0.25},{"name":"a","tuples":1500,"seed":1,"rate":null}])");
  EXPECT_EQ(written("table", {{}, {{.title = "", .table = table}}}),
            "  scheme  tuples  note   rate\n  a        1,500  n     0.250\n  a        1,500  n         -\n");
}

using Json = page::Json;
using page::proof, page::proofs, page::survey;

std::string as(const std::string& format, const Json& data) { return written(format, {data, {}}); }

TEST(CsvWriter, QuotesAndKeepsDigits) {
  EXPECT_EQ(as("csv", survey(0.1, 0.05, 1.0 / 3)),
            "source,verifier,draft_sampling,drafts,draft_emitted.rate,draft_emitted.low,draft_emitted.high,accepted_"
            "by_draft,"
            "optimum\r\n"
            "\"s, \"\"t\"\"\",a,iid,2,0.1,0.05,0.3333333333333333,3 4,\r\n");
  EXPECT_EQ(as("csv", Json{{"schema", "draftproof.x/1"}}), "");
}

TEST(CsvWriter, OfAStudyHasItsLongestList) {
  const Json model{{"model", "a"}, {"passed", true}, {"lengths", {{{"length", 1}}, {{"length", 2}}}}};
  const Json study{{"schema", "draftproof.study.s/1"}, {"models", {model}}};
  EXPECT_EQ(as("csv", study), "model,passed,length\r\na,true,1\r\na,true,2\r\n");
}

TEST(JsonlWriter, HasARowALine) {
  EXPECT_EQ(as("jsonl", survey(0.1, 0.05, 0.2)),
            "{\"source\":\"s, "
            "\\\"t\\\"\",\"verifier\":\"a\",\"draft_sampling\":\"iid\",\"drafts\":2,\"draft_emitted.rate\":0.1,"
            "\"draft_emitted.low\":0.05,\"draft_emitted.high\":0.2,\"accepted_by_draft\":[3,4],\"optimum\":null}\n");
  EXPECT_EQ(as("jsonl", proofs({proof("a", "proved"), proof("b", "refuted")})).find("verifier"), 2u)
      << "without surveys the first table";
}

TEST(AnnotationsWriter, NamesSchemeAndCounterexample) {
  EXPECT_EQ(as("annotations", proofs({proof("a", "refuted"), proof("b", "proved"), proof("c", "lossy")})),
            "::error title=a (iid)%3A exact_distribution failed::on p=(1 1)/2 q=(0 1)/1 K=1: got (1/4 3/4), expected "
            "(1/2 1/2), TV 1/4%0Adraftproof replay a, b: 100 %25\n");
  const Json worse =
      page::compare({"", proofs({proof("a", "proved")})}, {"", proofs({proof("a", "undecided")})}).document.data;
  EXPECT_EQ(as("annotations", worse), "::error title=a (iid) got worse::proved -> undecided. \n");
  EXPECT_EQ(as("annotations", {{"schema", "draftproof.mutants/3"},
                               {"mutants", {{{"mutant", "m"}, {"with", "iid"}, {"caught", false}}}}}),
            "::error title=m (iid)%3A not caught::\n");
}

}  // namespace
}  // namespace draftproof
