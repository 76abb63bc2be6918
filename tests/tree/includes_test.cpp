// Tests of source files: their length, guards and first lines; and that the #include lines of each folder follow
// arrows() and layers(). Dependencies have one direction, and code that engines compile needs only the standard
// library and CUDA.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace draftproof::tree {
namespace {

struct Source {
  std::string path;  ///< path relative to the source tree
  std::string room;
  std::string text;

  bool is_header() const { return path.ends_with(".hpp") || path.ends_with(".cuh"); }
  auto lines() const { return std::count(text.begin(), text.end(), '\n'); }
};

bool is_source(const std::filesystem::path& path) {
  for (const char* extension : {".hpp", ".cpp", ".cuh", ".cu"})
    if (path.extension() == extension) return true;
  return false;
}

/// Returns every C++ and CUDA source below the folder `room`; an empty list if the folder does not exist.
std::vector<Source> sources(const std::string& room) {
  namespace fs = std::filesystem;
  const fs::path root(DRAFTPROOF_SOURCE_DIR);
  std::vector<Source> found;
  if (!fs::exists(root / room)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(root / room))
    if (entry.is_regular_file() && is_source(entry.path())) {
      std::ifstream file(entry.path());
      found.push_back({fs::relative(entry.path(), root).generic_string(),
                       room,
                       {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}});
    }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return found;
}

/// Returns the top-level folders of the tree, without hidden folders and build/.
std::set<std::string> folders() {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(DRAFTPROOF_SOURCE_DIR))
    if (const std::string name = entry.path().filename().string();
        entry.is_directory() && !name.starts_with(".") && name != "build")
      found.insert(name);
  return found;
}

std::vector<Source> all_sources() {
  std::vector<Source> all;
  for (const std::string& room : folders())
    for (Source& source : sources(room)) all.push_back(std::move(source));
  return all;
}

TEST(Files, HaveAtMost600Lines) {
  const auto all = all_sources();
  EXPECT_GT(all.size(), 80u) << "the source tree was not found";
  for (const Source& source : all) EXPECT_LE(source.lines(), 600) << source.path;
}

TEST(Files, HeadersAreGuarded) {
  for (const Source& source : all_sources()) {
    if (!source.is_header()) continue;
    // Files *_body.hpp have no guard, because they are included once per SIMD width (sim/simd/each_width.hpp).
    const bool once = !source.path.ends_with("_body.hpp") && !source.path.ends_with("/each_width.hpp");
    EXPECT_EQ(source.text.find("\n#pragma once\n") != std::string::npos, once) << source.path;
  }
}

TEST(Files, HeadersOpenWithWhatTheyAre) {
  for (const Source& source : all_sources()) {
    if (!source.is_header()) continue;
    EXPECT_TRUE(source.text.starts_with("// ")) << source.path;
  }
}

/// Whether `name`, a file name with or without folders, is in the tree, or is a file of an engine that comments
/// mention.
bool in_tree(const std::string& name) {
  static const std::set<std::string> paths = [] {
    std::set<std::string> all{"/llama.cpp"};
    for (const Source& source : all_sources())
      for (std::string tail = "/" + source.path; !tail.empty();
           tail = tail.substr(std::min(tail.find('/', 1), tail.size())))
        all.insert(tail);
    return all;
  }();
  return paths.contains("/" + name);
}

/// Returns the names of C++ and CUDA files in the comments of `text`.
std::vector<std::string> named_files(const std::string& text) {
  static const std::regex comment("//[^\n]*"), file("[A-Za-z0-9_/]*[A-Za-z0-9_]\\.(hpp|cpp|cuh|cu)\\b");
  std::vector<std::string> names;
  for (std::sregex_iterator line(text.begin(), text.end(), comment), end; line != end; ++line) {
    const std::string words = line->str().substr(2);
    for (std::sregex_iterator name(words.begin(), words.end(), file); name != end; ++name)
      names.push_back(name->str());
  }
  return names;
}

TEST(Files, NamedInCommentsExist) {
  std::size_t seen = 0;
  for (const Source& source : all_sources()) {
    // Python adapters name the files of engines; this file names files that do not exist.
    if (source.path.starts_with("python/") || source.path.starts_with("tests/tree/")) continue;
    for (const std::string& name : named_files(source.text)) {
      EXPECT_TRUE(in_tree(name)) << source.path << ": " << name;
      ++seen;
    }
  }
  EXPECT_GT(seen, 100u);
  EXPECT_EQ(named_files("int a;  // see sim/info.hpp, x.cu\n\"b.hpp\""),
            (std::vector<std::string>{"sim/info.hpp", "x.cu"}));
  EXPECT_TRUE(in_tree("sim/info.hpp") && in_tree("info.hpp") && !in_tree("fo.hpp") && !in_tree("m/info.hpp"));
}

using Rooms = std::set<std::string>;

/// Returns the folders that each folder may include in addition to itself. If an inner folder has an entry, its files
/// follow that entry and not the outer folder's.
const std::map<std::string, Rooms>& arrows() {
  static const std::map<std::string, Rooms> map = [] {
    const Rooms schemes{"sim", "verifiers", "verifiers/mutants"};
    const auto with = [](Rooms rooms, const Rooms& more) { return rooms.insert(more.begin(), more.end()), rooms; };
    const Rooms fractions = with(schemes, {"optimum/exact"});
    const Rooms middle = with(fractions, {"properties/statistics", "optimum", "captures"});
    const Rooms adapters = with(middle, {"properties"}), report = with(adapters, {"adapters"});
    const Rooms cli = with(report, {"cli/report"});
    const Rooms studies = with(cli, {"cli"});                             // registers commands
    const Rooms device_bench = with(schemes, {"gpu", "bench", "found"});  // built without the rest of draftproof
    return std::map<std::string, Rooms>{{"sim", {}},
                                        {"verifiers", {"sim"}},
                                        {"verifiers/mutants", {"sim", "verifiers"}},
                                        {"gpu", schemes},
                                        {"optimum/exact", {}},
                                        {"properties/statistics", schemes},
                                        {"optimum", fractions},
                                        {"captures", schemes},
                                        {"properties", middle},
                                        {"adapters", adapters},
                                        {"cli/report", report},
                                        {"cli", cli},
                                        {"bench/studies", studies},
                                        {"bench", studies},
                                        {"bench/gpu", device_bench},
                                        {"gpu/calls", with(schemes, {"gpu", "found"})},  // calls verifiers by name
                                        {"gpu/trials", with(schemes, {"gpu", "properties"})}};
  }();
  return map;
}

/// Returns the longest folder of arrows() that `path` is in, or the top-level folder if arrows() has no such folder.
std::string room_of(const std::string& path) {
  std::string room = path.substr(0, path.find('/'));
  for (const auto& [name, allowed] : arrows())
    if (path.starts_with(name + "/") && name.size() > room.size()) room = name;
  return room;
}

/// Returns the layers inside a top-level folder: a file may include files of its folder and of folders of lower layers.
/// "" stands for files directly in the top-level folder.
const std::map<std::string, std::map<std::string, int>>& layers() {
  static const std::map<std::string, std::map<std::string, int>> map{{"sim",
                                                                      {{"device", 0},
                                                                       {"", 1},
                                                                       {"numeric", 2},
                                                                       {"simd", 3},
                                                                       {"random", 4},
                                                                       {"sampling", 5},
                                                                       {"trees", 5},
                                                                       {"distributions", 6},
                                                                       {"drafters", 6},
                                                                       {"components", 6},
                                                                       {"trials", 7}}},
                                                                     {"properties",
                                                                      {{"instances", 0},
                                                                       {"blocks", 0},
                                                                       {"subjects", 1},
                                                                       {"proof", 2},
                                                                       {"estimation", 2},
                                                                       {"scripted", 3},
                                                                       {"paths", 4},
                                                                       {"checks", 5},
                                                                       {"prover", 6},
                                                                       {"replay", 7},
                                                                       {"simulation", 7},
                                                                       {"components", 7},
                                                                       {"precision", 8},
                                                                       {"survey", 8},
                                                                       {"gate", 9},
                                                                       {"mutation", 10}}}};
  return map;
}

/// Returns "random" for "sim/random/philox.hpp", "checks" for "properties/paths/checks/accepted_tokens.hpp", and ""
/// for "sim/info.hpp".
std::string layer_folder(const std::string& path) {
  const auto first = path.find('/'), second = path.find('/', first + 1);
  if (second == std::string::npos) return "";
  const std::string folder = path.substr(first + 1, second - first - 1);
  return folder == "paths" && path.find("/checks/") != std::string::npos ? "checks" : folder;
}

/// The folders that engines compile. They include no external headers except CUDA's and the compiler's intrinsics.
const Rooms engine_rooms{"sim", "verifiers", "verifiers/mutants", "gpu", "bench/gpu"};
bool standard_or_cuda(const std::string& header) {
  static const std::regex allowed(
      "[a-z_0-9]+|immintrin\\.h|cuda[a-z_0-9]*(\\.h)?|cuda/.*|cub/.*|thrust/.*|cooperative_groups(\\.h|/.*)");
  return std::regex_match(header, allowed);
}

/// Whether a path in an #include exists in a checkout, through the links in include/.
bool in_checkout(const std::string& header) {
  return std::filesystem::exists(std::filesystem::path(DRAFTPROOF_SOURCE_DIR) / "include" / header);
}

/// Returns the faults of the #include lines of the file at `path` in `room`.
std::vector<std::string> complaints(const std::string& room, const std::string& path, const std::string& text) {
  static const std::regex line("(?:^|\n)[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]");
  static const std::regex own("draftproof/(.*/.*)");
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), line), end; match != end; ++match) {
    const std::string header = (*match)[2];
    std::smatch parts;
    if ((*match)[1] == "\"") {
      found.push_back("\"" + header + "\": headers are included as <draftproof/room/file.hpp>");
    } else if (std::regex_match(header, parts, own)) {
      const std::string target = room_of(parts[1]);
      if (target != room && !arrows().at(room).contains(target))
        found.push_back(room + " may not include <" + header + ">");
      const auto inside = layers().find(room);
      if (target == room && inside != layers().end()) {
        const std::string from = layer_folder(path),
                          to = layer_folder(header.substr(std::string("draftproof/").size()));
        if (!inside->second.contains(from) || !inside->second.contains(to))
          found.push_back(room + "/" + (inside->second.contains(from) ? to : from) + " has no layer");
        else if (from != to && inside->second.at(from) <= inside->second.at(to))
          found.push_back(room + "/" + from + " may not include <" + header + ">");
      }
      if (target != "found" && !in_checkout(header)) found.push_back("<" + header + "> is not in the checkout");
    } else if (engine_rooms.contains(room) && !standard_or_cuda(header)) {
      found.push_back("<" + header + "> is neither the standard library nor CUDA");
    }
  }
  return found;
}

TEST(Includes, FollowTheArrowsOfTheDesign) {
  int includes_seen = 0;
  for (const auto& [room, allowed] : arrows())
    for (const Source& source : sources(room)) {
      if (room_of(source.path) != room) continue;
      for (const std::string& complaint : complaints(room, source.path, source.text))
        ADD_FAILURE() << source.path << ": " << complaint;
      ++includes_seen;
    }
  EXPECT_GT(includes_seen, 50) << "the source tree was not found";
}

TEST(Includes, EveryRoomOfTheTreeIsUnderTheRule) {
  const Rooms elsewhere{"tests", "examples", "python"};
  for (const std::string& name : folders())
    if (!elsewhere.contains(name) && !arrows().contains(name)) {
      EXPECT_TRUE(sources(name).empty()) << name << " has sources, but no entry in arrows()";
    }
}

TEST(Includes, OfTestsAndExamplesExist) {
  static const std::regex own("\\n[ \\t]*#[ \\t]*include[ \\t]*<(draftproof/([a-z_]+)/[^>]+)>");
  for (const char* room : {"tests", "examples"})
    for (const Source& source : sources(room))
      for (std::sregex_iterator match(source.text.begin(), source.text.end(), own), end; match != end; ++match)
        if ((*match)[2] != "found" && source.path != "tests/tree/includes_test.cpp") {
          EXPECT_TRUE(in_checkout((*match)[1])) << source.path << ": " << (*match)[1];
        }
}

TEST(Includes, ComplainWhereTheyShould) {
  const auto wrong = [](const char* room, const char* text, std::string path = {}) {
    return !complaints(room, path.empty() ? std::string(room) + "/some.hpp" : path, text).empty();
  };
  EXPECT_TRUE(wrong("sim", "#include <draftproof/verifiers/k_seq.hpp>\n"));
  EXPECT_TRUE(wrong("verifiers", "// x\n  # include <draftproof/verifiers/mutants/accept_test.hpp>\n"));
  EXPECT_TRUE(wrong("properties", "#include <draftproof/cli/report/text.hpp>\n"));
  EXPECT_TRUE(wrong("optimum", "#include <draftproof/captures/row.hpp>\n"));
  EXPECT_TRUE(wrong("captures", "#include <draftproof/gpu/launch.hpp>\n"));
  EXPECT_TRUE(wrong("gpu", "#include <draftproof/properties/simulation/trial_device.hpp>\n"));
  EXPECT_TRUE(wrong("properties", "#include <draftproof/gpu/trials/cuda_device.hpp>\n"));
  EXPECT_TRUE(wrong("cli", "#include <draftproof/bench/studies/study.hpp>\n"));
  EXPECT_TRUE(wrong("bench", "#include <draftproof/bench/studies/study.hpp>\n"));
  EXPECT_FALSE(wrong("gpu/trials", "#include <draftproof/gpu/simulate.hpp>\n"));
  EXPECT_TRUE(wrong("sim", "#include <boost/math/distributions.hpp>\n"));
  EXPECT_TRUE(wrong("gpu", "#include <fmt/format.h>\n"));
  EXPECT_TRUE(wrong("bench/gpu", "#include <benchmark/benchmark.h>\n"));
  EXPECT_TRUE(wrong("bench/gpu", "#include <draftproof/properties/prover/registry.hpp>\n"));
  EXPECT_FALSE(wrong("bench/gpu", "#include <draftproof/gpu/batch.hpp>\n#include <draftproof/bench/gpu/run.cuh>\n"));
  EXPECT_TRUE(wrong("verifiers", "#include \"k_seq.hpp\"\n"));
  EXPECT_FALSE(wrong("sim", "#include <vector>\n#include <draftproof/sim/token.hpp>\n"));
  EXPECT_FALSE(wrong(
      "gpu", "#include <cub/block/block_reduce.cuh>\n#include <cuda_runtime.h>\n#include <cooperative_groups.h>\n"));
  EXPECT_FALSE(wrong("captures", "#include <zip.h>\n"));
  // Layers inside a folder, and paths that a checkout does not have.
  const char* const philox = "#include <draftproof/sim/random/philox.hpp>\n";
  EXPECT_TRUE(wrong("sim", philox, "sim/numeric/exp.hpp"));
  EXPECT_TRUE(wrong("sim", philox, "sim/info.hpp"));
  EXPECT_FALSE(wrong("sim", philox, "sim/trials/run_trials.hpp"));
  EXPECT_TRUE(wrong("sim", "#include <draftproof/sim/drafters/sampled.hpp>\n", "sim/distributions/ratio_table.hpp"));
  EXPECT_TRUE(wrong("sim", "#include <draftproof/sim/token.hpp>\n", "sim/unknown/a.hpp"));
  EXPECT_TRUE(
      wrong("properties", "#include <draftproof/properties/gate/gate.hpp>\n", "properties/checks/same_results.hpp"));
  EXPECT_FALSE(wrong("properties", "#include <draftproof/properties/proof/proof.hpp>\n", "properties/gate/gate.hpp"));
  EXPECT_TRUE(wrong("sim", "#include <draftproof/sim/no_such_file.hpp>\n"));
}

}  // namespace
}  // namespace draftproof::tree
