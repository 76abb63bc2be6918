#include <draftproof/bench/peers/python.hpp>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <unistd.h>

#include <draftproof/bench/peers/child_process.hpp>
#include <draftproof/captures/input_error.hpp>

namespace draftproof::found {
std::string_view peer_script(std::string_view name);  // generated
}

namespace draftproof::benchmarks {

namespace {

std::vector<std::string> candidates() {
  if (!chosen_python().empty()) return {chosen_python()};
  if (const char* named = std::getenv("DRAFTPROOF_PYTHON"); named && *named) return {named};
  return {"python3", "/usr/bin/python3"};
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

/// A temporary file with p, then q, as little-endian float64; removed at the end.
class PairFile {
 public:
  PairFile(std::span<const double> target, std::span<const double> proposal) {
    static_assert(std::endian::native == std::endian::little, "the peers read little-endian float64");
    path_ = (std::filesystem::temp_directory_path() / "draftproof-pair-XXXXXX").string();
    const int descriptor = mkstemp(path_.data());
    if (descriptor >= 0) close(descriptor);
    std::ofstream file(path_, std::ios::binary);
    for (const auto row : {target, proposal})
      file.write(reinterpret_cast<const char*>(row.data()), static_cast<std::streamsize>(row.size_bytes()));
    file.close();
    written_ = descriptor >= 0 && file;
  }
  ~PairFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  PairFile(const PairFile&) = delete;
  PairFile& operator=(const PairFile&) = delete;

  bool written() const { return written_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool written_ = false;
};

}  // namespace

std::string& chosen_python() {
  static std::string chosen;
  return chosen;
}

std::string python_with(const std::string& module, std::string& why) {
  // For each module, the interpreter that has it, or the reason why none was found; stored so that each module is
  // tested once.
  static std::map<std::string, std::pair<std::string, std::string>> known;
  const auto [at, is_new] = known.try_emplace(module);
  auto& [python, reason] = at->second;
  if (is_new) {
    for (const std::string& candidate : candidates()) {
      const Finished finished = run_child({candidate, "-c", "import " + module});
      if (finished.code == 0) {
        python = candidate;
        break;
      }
      reason += (reason.empty() ? "" : "; ") + candidate + ": " + last_line(finished.err);
    }
  }
  why = reason;
  return python;
}

PeerAnswer ask_peer(std::string_view script, const std::string& module, std::span<const double> target,
                    std::span<const double> proposal, const std::vector<std::string>& words) {
  std::string why;
  const std::string python = python_with(module, why);
  if (python.empty()) return {.error = why};
  const PairFile file(target, proposal);
  if (!file.written()) return {.error = file.path() + " cannot be written"};
  std::vector<std::string> command{python, "-c", std::string(found::peer_script(script)), "--pq", file.path()};
  command.insert(command.end(), words.begin(), words.end());
  const Finished finished = run_child(command, {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1"});
  if (finished.code != 0) return {.error = python + ": " + last_line(finished.err)};
  PeerAnswer answer{.data = nlohmann::json::parse(finished.out, nullptr, false)};
  if (answer.data.is_discarded()) answer.error = std::string(script) + " printed no JSON";
  return answer;
}

}  // namespace draftproof::benchmarks
