// The permitted includes of each top-level folder, checked against the #include lines of its files. Dependencies have
// one direction, and code in an engine's build needs the standard library and CUDA only.
#include <map>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/tests/tree/sources.hpp>

namespace draftproof::tree {
namespace {

using Rooms = std::set<std::string>;

/// The top-level folders that each folder may include beside itself.
const std::map<std::string, Rooms>& arrows() {
  static const std::map<std::string, Rooms> map = [] {
    const Rooms schemes{"sim", "verifiers", "mutants"};
    Rooms middle = schemes;
    middle.insert({"statistics", "optimum", "captures"});
    Rooms report = middle;
    report.insert("properties");
    Rooms studies = report;
    studies.insert("report");
    Rooms top = studies;
    top.insert("studies");
    Rooms bench = top;  // a command of its own
    bench.insert("cli");
    Rooms devices = schemes;
    devices.insert({"gpu", "properties"});
    Rooms device_bench = schemes;                    // bench/gpu is built where only the toolkit is
    device_bench.insert({"gpu", "bench", "found"});  // what the build found, in a header that it writes
    return std::map<std::string, Rooms>{
        {"sim", {}},           {"verifiers", {"sim"}},      {"mutants", {"sim", "verifiers"}},
        {"gpu", schemes},      {"statistics", schemes},     {"optimum", schemes},
        {"captures", schemes}, {"properties", middle},      {"report", report},
        {"studies", studies},  {"devices", devices},        {"cli", top},
        {"bench", bench},      {"bench/gpu", device_bench}, {"plugin", top}};
  }();
  return map;
}

/// The folders that engines compile. They include no external headers except CUDA's and the compiler's intrinsics.
const Rooms engine_rooms{"sim", "verifiers", "mutants", "gpu", "bench/gpu"};
bool standard_or_cuda(const std::string& header) {
  static const std::regex allowed(
      "[a-z_0-9]+|immintrin\\.h|cuda[a-z_0-9]*(\\.h)?|cuda/.*|cub/.*|thrust/.*|cooperative_groups(\\.h|/.*)");
  return std::regex_match(header, allowed);
}

/// Complaints about the #include lines of one file of `room`.
std::vector<std::string> complaints(const std::string& room, const std::string& text) {
  static const std::regex line("(?:^|\n)[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]");
  static const std::regex own("draftproof/([a-z_]+)/.*");
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), line), end; match != end; ++match) {
    const std::string header = (*match)[2];
    std::smatch parts;
    if ((*match)[1] == "\"") {
      found.push_back("\"" + header + "\": headers are included as <draftproof/room/file.hpp>");
    } else if (std::regex_match(header, parts, own)) {
      const std::string target = parts[1];
      if (target != room && !arrows().at(room).contains(target))
        found.push_back(room + " may not include <" + header + ">");
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
      const bool on_device = room == "bench" && source.path.find("bench/gpu/") != std::string::npos;
      if (on_device) continue;  // a room of its own
      for (const std::string& complaint : complaints(room, source.text))
        ADD_FAILURE() << source.path << ": " << complaint;
      ++includes_seen;
    }
  EXPECT_GT(includes_seen, 50) << "the source tree was not found";
}

TEST(Includes, EveryRoomOfTheTreeIsUnderTheRule) {
  namespace fs = std::filesystem;
  const Rooms elsewhere{"tests", "examples", "build"};
  for (const auto& entry : fs::directory_iterator(fs::path(DRAFTPROOF_SOURCE_DIR))) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || name.starts_with(".") || elsewhere.contains(name) || arrows().contains(name))
      continue;
    EXPECT_TRUE(sources(name).empty()) << name << " has sources, but no place in the design";
  }
}

TEST(Includes, ComplainWhereTheyShould) {
  const auto wrong = [](const char* room, const char* text) { return !complaints(room, text).empty(); };
  EXPECT_TRUE(wrong("sim", "#include <draftproof/verifiers/k_seq.hpp>\n"));
  EXPECT_TRUE(wrong("verifiers", "// x\n  # include <draftproof/mutants/a.hpp>\n"));
  EXPECT_TRUE(wrong("properties", "#include <draftproof/report/table.hpp>\n"));
  EXPECT_TRUE(wrong("optimum", "#include <draftproof/captures/row.hpp>\n"));
  EXPECT_TRUE(wrong("captures", "#include <draftproof/gpu/launch.hpp>\n"));
  EXPECT_TRUE(wrong("gpu", "#include <draftproof/properties/simulation/trial_device.hpp>\n"));
  EXPECT_TRUE(wrong("properties", "#include <draftproof/cuda_trials/cuda_device.hpp>\n"));
  EXPECT_TRUE(wrong("cli", "#include <draftproof/gpu/launch.hpp>\n"));
  EXPECT_FALSE(wrong("devices", "#include <draftproof/gpu/simulate.hpp>\n"));
  EXPECT_TRUE(wrong("sim", "#include <boost/math/distributions.hpp>\n"));
  EXPECT_TRUE(wrong("gpu", "#include <fmt/format.h>\n"));
  EXPECT_TRUE(wrong("bench/gpu", "#include <benchmark/benchmark.h>\n"));
  EXPECT_TRUE(wrong("bench/gpu", "#include <draftproof/properties/prover/registry.hpp>\n"));
  EXPECT_FALSE(
      wrong("bench/gpu", "#include <draftproof/gpu/batch.hpp>\n#include <draftproof/bench/gpu/floors.cuh>\n"));
  EXPECT_TRUE(wrong("verifiers", "#include \"k_seq.hpp\"\n"));
  EXPECT_FALSE(wrong("sim", "#include <vector>\n#include <draftproof/sim/token.hpp>\n"));
  EXPECT_FALSE(wrong(
      "gpu", "#include <cub/block/block_reduce.cuh>\n#include <cuda_runtime.h>\n#include <cooperative_groups.h>\n"));
  EXPECT_FALSE(wrong("captures", "#include <zip.h>\n"));
}

}  // namespace
}  // namespace draftproof::tree
