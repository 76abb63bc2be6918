// The same small document through every writer.
#include <sstream>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/report/register_writer.hpp>

namespace draftproof {
namespace {

const Writer& writer(std::string_view name) {
  registry();  // writers are found with everything else
  for (const Writer& found : found_writers())
    if (found.name == name) return found;
  throw std::logic_error("no writer " + std::string(name));
}

std::string written(const std::string& name, const Document& document, bool colour = false) {
  std::ostringstream out;
  writer(name).write(document, out, {.colour = colour});
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

TEST(TableWriter, ColoursOnlyWhenAsked) {
  EXPECT_EQ(written("table", example()).find('\033'), std::string::npos);
  const std::string coloured = written("table", example(), true);
  EXPECT_NE(coloured.find("\033[32m  ±1\033[0m"), std::string::npos) << coloured;
  EXPECT_NE(coloured.find("\033[31m22.5\033[0m"), std::string::npos) << coloured;
}

TEST(TableWriter, ColourAddsNothingButColour) {
  std::string text = written("table", example(), true);
  for (std::size_t at; (at = text.find('\033')) != std::string::npos;) text.erase(at, text.find('m', at) - at + 1);
  EXPECT_EQ(text, written("table", example()));
}

TEST(TableWriter, FitsTheTerminal) {
  Document document;
  document.sections = {
      {.title = "T",
       .table = {{{"name"}, {"rate", true}, {"checks"}},
                 {{{"one"}, {"1.5"}, {"exact_law, acceptance_bounds, splitting"}}, {{"two"}, {"2"}, {"-"}}}}}};
  std::ostringstream out;
  writer("table").write(document, out, {.width = 34});
  EXPECT_EQ(out.str(),
            "T\n"
            "  name  rate  checks\n"
            "  one    1.5  exact_law,\n"
            "              acceptance_bounds,\n"
            "              splitting\n"
            "  two      2  -\n");
  std::ostringstream wide;
  writer("table").write(document, wide, {.width = 300});
  EXPECT_EQ(wide.str(), written("table", document)) << "where it fits, nothing changes";
}

TEST(TableWriter, UntitledColumnsHaveNoHeading) {
  Document document;
  document.sections = {{.title = "T", .table = {{{""}, {""}}, {{{"key"}, {"value"}}}}}};
  EXPECT_EQ(written("table", document), "T\n  key  value\n");
}

TEST(MarkdownWriter, EscapesAndAligns) {
  EXPECT_EQ(written("markdown", example(), true),
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
  const std::string text = written("json", example(), true);
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

}  // namespace
}  // namespace draftproof
